// The on-screen keyboard (parts/letters.html), for names. `letters.ask(title, done, offers)` shows them and calls
// `done(name)`; an offer is a whole name, one touch away. Chinese characters come by their pinyin (names/*.txt).
"use strict";
// biome-ignore lint/correctness/noUnusedVariables: other scripts use it
const letters = (() => {
  const LONGEST = 40; // the table's limit
  const ABREAST = 8; // offers and Chinese characters shown at once
  const dialog = document.getElementById("letters");
  const said = document.getElementById("lettered");
  const hand = document.getElementById("letters-done");
  const shift = dialog.querySelector("[data-shift]");
  const others = dialog.querySelector("[data-others]");
  const row = document.getElementById("letters-offers");
  const spelled = new Map(); // a script's address → its syllables and their letters
  let text = "";
  let done = () => {};
  let names = [];
  let capital = null; // null: as at the beginning of a name
  let other = false;
  let script = "";
  let syllable = "";
  let first = 0; // index of the first Chinese character shown

  const upper = () => (capital === null ? /(^|[\s'-])$/.test(text) : capital) && !script;

  // The letters of a syllable, and the likeliest letter of each longer syllable.
  function chinese() {
    const known = spelled.get(script);
    if (!known || !syllable) return [];
    const longer = [...known].filter(([one]) => one !== syllable && one.startsWith(syllable));
    return [...new Set([...(known.get(syllable) || []), ...longer.flatMap(([, some]) => some.slice(0, 3))])];
  }

  function showOffers() {
    const found = chinese();
    const shown = found.slice(first, first + ABREAST).map((letter) => feltwatch.button(letter, { chinese: letter }));
    if (found.length > ABREAST) {
      const more = feltwatch.button("›", { further: "" });
      more.setAttribute("aria-label", row.dataset.more);
      shown.push(more);
    }
    if (!syllable && !text) shown.push(...names.slice(0, ABREAST).map((name) => feltwatch.button(name, { offered: name })));
    row.lang = script && dialog.querySelector(`[data-script="${script}"]`).lang;
    row.classList.toggle("names", !syllable);
    row.replaceChildren(...shown);
  }

  function show() {
    said.textContent = `${text}${syllable}` || "\u00a0";
    hand.disabled = text.trim() === "" || syllable !== "";
    shift.setAttribute("aria-pressed", upper());
    others.setAttribute("aria-pressed", other);
    for (const key of dialog.querySelectorAll("[data-script]")) key.setAttribute("aria-pressed", key.dataset.script === script);
    for (const key of dialog.querySelectorAll("[data-letter]")) {
      const letter = other && key.dataset.other ? key.dataset.other : key.dataset.letter;
      if (letter.length === 1 && letter !== " ") key.firstElementChild.textContent = upper() ? letter.toLocaleUpperCase() : letter;
    }
    showOffers();
  }

  function add(letter) {
    text = `${text}${letter}`.replace(/^\s+|\s(?=\s)/g, "").slice(0, LONGEST);
    capital = null;
    syllable = "";
    first = 0;
    show();
  }

  function type(letter) {
    if (script && /^[a-z]$/.test(letter)) {
      syllable = `${syllable}${letter}`.slice(0, 6);
      first = 0;
      show();
    } else if (syllable && letter === " ") {
      if (chinese().length) add(chinese()[0]);
    } else add(upper() ? letter.toLocaleUpperCase() : letter);
  }

  function back() {
    if (syllable) syllable = syllable.slice(0, -1);
    else text = text.slice(0, -1);
    first = 0;
    capital = null;
    show();
  }

  async function write(address) {
    script = script === address ? "" : address;
    syllable = "";
    other = false;
    show();
    if (!script || spelled.has(address)) return;
    const lines = (await (await fetch(address)).text()).trim().split("\n").map((line) => line.split(" "));
    spelled.set(address, new Map(lines.map(([sound, some]) => [sound, [...some]])));
    show();
  }

  function finish(name) {
    dialog.close();
    done(name);
  }

  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const data = button.dataset;
    if (button === shift) { capital = !upper(); show(); }
    else if (button === others) { other = !other; show(); }
    else if (data.script) write(data.script);
    else if (data.chinese) add(data.chinese);
    else if ("further" in data) { first = first + ABREAST < chinese().length ? first + ABREAST : 0; showOffers(); }
    else if (data.offered) finish(data.offered);
    else if (data.letter === "back") back();
    else if (data.letter) type(other && data.other ? data.other : data.letter);
    else if (button === hand) finish(text.trim());
  });

  // A hardware keyboard works too; space and enter press the focused key.
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Backspace") back();
    else if (event.key.length === 1 && event.key !== " ") { capital = false; type(event.key); }
    else return;
    event.preventDefault();
  });

  return {
    ask(title, then, offers = []) {
      document.getElementById("letters-title").textContent = title;
      text = "";
      capital = null;
      other = false;
      script = "";
      syllable = "";
      names = offers;
      done = then;
      show();
      dialog.showModal();
    },
  };
})();
