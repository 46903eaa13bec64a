// The letters of our own (parts/letters.html), for names. `letters.ask(title, done)` shows them and calls `done(name)`.
"use strict";
const letters = (() => {
  const LONGEST = 40; // as the table has it
  const dialog = document.getElementById("letters");
  const said = document.getElementById("lettered");
  const hand = document.getElementById("letters-done");
  const shift = dialog.querySelector("[data-shift]");
  const others = dialog.querySelector("[data-others]");
  let text = "";
  let done = () => {};
  let capital = null; // null: as a name begins
  let other = false;

  const upper = () => (capital === null ? /(^|[\s'-])$/.test(text) : capital);

  function show() {
    said.textContent = text || "\u00a0";
    hand.disabled = text.trim() === "";
    shift.setAttribute("aria-pressed", upper());
    others.setAttribute("aria-pressed", other);
    for (const key of dialog.querySelectorAll("[data-letter]")) {
      const letter = other && key.dataset.other ? key.dataset.other : key.dataset.letter;
      if (letter.length === 1 && letter !== " ") key.firstElementChild.textContent = upper() ? letter.toLocaleUpperCase() : letter;
    }
  }

  function type(letter) {
    text = `${text}${upper() ? letter.toLocaleUpperCase() : letter}`.replace(/^\s+|\s(?=\s)/g, "").slice(0, LONGEST);
    capital = null;
    show();
  }

  function back() {
    text = text.slice(0, -1);
    capital = null;
    show();
  }

  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button === shift) { capital = !upper(); show(); }
    else if (button === others) { other = !other; show(); }
    else if (button.dataset.letter === "back") back();
    else if (button.dataset.letter) type(other && button.dataset.other ? button.dataset.other : button.dataset.letter);
    else if (button === hand) { dialog.close(); done(text.trim()); }
  });

  // Where there is a keyboard it may be used; space and enter stay what presses the key that has the focus.
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Backspace") back();
    else if (event.key.length === 1 && event.key !== " ") { capital = false; type(event.key); }
    else return;
    event.preventDefault();
  });

  return {
    ask(title, then) {
      document.getElementById("letters-title").textContent = title;
      text = "";
      capital = null;
      other = false;
      done = then;
      show();
      dialog.showModal();
    },
  };
})();
