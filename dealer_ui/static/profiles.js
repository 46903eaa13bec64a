// The pages of rule profiles: a reason and a PIN for changes, and the form of a house's own profile. The server checks
// the form field by field; input is never lost.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);

  // ---- a reason, then the command; if the table asks for a PIN, the same again in that person's name ----

  const reasonBox = $("reason-dialog");
  let order = null; // {address, command, done}
  const pin = reasonBox && pinPad(document.querySelector("#pin-dialog [data-pin]"), (signed) => give(signed));

  function askWhy(what, address, command, done) {
    order = { address, command, done };
    reasonBox.querySelector("[data-what]").textContent = what;
    choose("");
    reasonBox.showModal();
  }

  function choose(text) {
    $("reason").value = text;
    for (const one of reasonBox.querySelectorAll("[data-reason]")) one.setAttribute("aria-pressed", one.dataset.reason === text);
    $("reason-done").disabled = !text.trim();
  }

  async function give(signed = {}) {
    const answer = await feltwatch.post(order.address, { ...order.command, ...signed });
    if (answer.ok) { order.done(answer); return; }
    if (answer.ask?.length) { askPin(answer); return; }
    if ($("pin-dialog").open) $("pin-dialog").close();
    if (answer.errors) order.wrong(answer.errors);
    else feltwatch.complain(answer.error);
  }

  function askPin(answer) {
    pin.says.textContent = answer.error;
    if (!$("pin-dialog").open) {
      pin.entry.name(""); // the name that was keyed before is not offered to the next person
      $("pin-dialog").showModal();
    }
    pin.entry.note(answer);
  }

  if (reasonBox) {
    reasonBox.addEventListener("click", (event) => {
      const button = event.target.closest("[data-reason]");
      if (button) choose(button.dataset.reason);
    });
    $("reason").addEventListener("input", () => { $("reason-done").disabled = !$("reason").value.trim(); });
    $("reason-done").addEventListener("click", () => {
      order.command.reason = $("reason").value.trim();
      reasonBox.close();
      give();
    });
  }

  for (const button of document.querySelectorAll("[data-ask]")) {
    const command = { do: button.dataset.ask, version: button.dataset.version };
    button.addEventListener("click", () => askWhy(button.dataset.what, location.pathname, command, () => location.replace(location.pathname)));
  }

  // ---- texts from the on-screen keyboard; a hardware keyboard types directly ------------------------------------

  for (const box of document.querySelectorAll("input[data-keyboard]")) {
    box.addEventListener("click", (event) => {
      if (!event.detail) return;
      box.blur();
      letters.ask(box.getAttribute("aria-label") || box.closest("label").innerText, (text) => {
        box.value = box.name === "name" ? text.toLowerCase().replaceAll(" ", "-") : text;
        box.dispatchEvent(new Event("input", { bubbles: true }));
      });
    });
  }

  // ---- a profile's text from a file ------------------------------------------------------------------------------

  const file = $("file");
  if (file) {
    const text = $("file-text");
    const kept = "feltwatch-profile-file"; // what was chosen or typed survives a reload

    const put = (value) => {
      text.value = value;
      text.dispatchEvent(new Event("input"));
    };

    function show(mistakes) {
      const rows = mistakes.map((one) => {
        const row = document.createElement("li");
        const where = document.createElement("button");
        where.type = "button";
        where.className = "action quiet";
        where.textContent = one.line ? file.dataset.line.replace("{num}", one.line) : file.dataset.whole;
        where.addEventListener("click", () => select(one.line));
        const says = document.createElement("p");
        says.textContent = one.says;
        const key = document.createElement("small");
        key.translate = false;
        key.textContent = one.says.includes(one.key) ? "" : one.key;
        says.append(key);
        row.append(where, says);
        return row;
      });
      $("file-mistakes").replaceChildren(...rows);
      $("saying").textContent = mistakes.length ? file.dataset.mistakes.replace("{num}", mistakes.length) : "";
    }

    function select(line) {
      if (!line) return;
      const lines = text.value.split("\n");
      const from = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
      text.focus();
      text.setSelectionRange(from, from + lines[line - 1].length);
      text.scrollTop = (text.scrollHeight / lines.length) * Math.max(0, line - 3);
    }

    text.addEventListener("input", () => {
      show([]);
      try { sessionStorage.setItem(kept, text.value); } catch { /* then until it is reloaded */ }
    });

    $("file-chosen")?.addEventListener("change", async (event) => {
      const [chosen] = event.target.files;
      event.target.value = ""; // the same file may be chosen again, once it is changed
      if (!chosen) return;
      if (chosen.size > 4 * Number(file.dataset.most)) { feltwatch.complain(file.dataset.unreadable); return; }
      try {
        put(new TextDecoder("utf-8", { fatal: true }).decode(await chosen.arrayBuffer()));
        await check();
      } catch { feltwatch.complain(file.dataset.unreadable); }
    });

    // The table has the stick read by another program, and says at once that it was asked.
    const BEGUN_WITHIN = 15000;
    $("file-stick").addEventListener("click", () => {
      order = { address: document.body.dataset.commands, command: { do: "read_stick" }, done: follow };
      give();
    });

    async function follow({ stick }) {
      if ($("pin-dialog").open) $("pin-dialog").close();
      const says = $("file-says");
      const since = performance.now();
      let progress = { step: "asked", over: false };
      $("file-found").replaceChildren();
      while (!progress.over) {
        const answer = await feltwatch.get(`${file.dataset.address}/stick?job=${encodeURIComponent(stick)}`);
        if (answer.step) progress = answer; // else the next look tells
        if (progress.step === "asked" && performance.now() - since > BEGUN_WITHIN) progress = { over: true, says: file.dataset.silent };
        says.textContent = progress.says || "";
        says.hidden = !says.textContent;
        if (!progress.over) await new Promise((done) => setTimeout(done, 300));
      }
      $("file-found").replaceChildren(...(progress.files || []).map((one) => {
        const row = document.createElement("li");
        const button = document.createElement("button");
        button.type = "button";
        button.className = "action plain";
        button.translate = false;
        button.textContent = one.name;
        button.addEventListener("click", () => {
          if (one.text === null) { feltwatch.complain(file.dataset.unreadable); return; }
          put(one.text);
          check();
        });
        row.append(button);
        return row;
      }));
    }

    async function check() {
      const answer = await feltwatch.post(file.dataset.address, { do: "check", text: text.value });
      show(answer.mistakes || []);
      if (answer.ok) $("saying").textContent = answer.says;
      else if (!answer.mistakes) feltwatch.complain(answer.error);
      return answer;
    }

    $("file-check").addEventListener("click", check);
    $("file-keep").addEventListener("click", async () => {
      const sound = await check();
      if (!sound.ok) return;
      askWhy(file.dataset.what, file.dataset.address, { do: "keep", text: text.value }, () => {
        sessionStorage.removeItem(kept);
        location.assign(`/profiles/${sound.name}`);
      });
    });

    try { text.value = sessionStorage.getItem(kept) || ""; } catch { /* nothing is kept */ }
  }

  // ---- the form --------------------------------------------------------------------------------------------------

  const form = $("profile");
  if (!form) return;
  const draft = `feltwatch-profile-${form.dataset.draft}`;
  const fields = () => [...new FormData(form)];
  const untouched = JSON.stringify(fields());

  // Input survives a reload, the end of a session, and an update of the page.
  function remember() {
    try {
      const now = JSON.stringify(fields());
      if (now === untouched) sessionStorage.removeItem(draft);
      else sessionStorage.setItem(draft, now);
    } catch { /* then until it is reloaded */ }
  }

  function restore() {
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem(draft)); } catch { /* nothing is kept */ }
    if (!kept) return;
    const values = new Map();
    for (const [name, value] of kept) values.set(name, [...(values.get(name) || []), value]);
    for (const list of form.querySelectorAll(".rates")) {
      const rows = (values.get("collection.schedule:option") || []).length;
      while (list.children.length > rows) list.lastElementChild.remove();
      while (list.children.length < rows) list.append($("blank-rate").content.cloneNode(true));
    }
    const used = new Map();
    for (const input of form.elements) {
      if (!input.name || !values.has(input.name)) continue;
      const nth = used.get(input.name) || 0;
      if (input.type === "radio") input.checked = values.get(input.name)[0] === input.value;
      else { input.value = values.get(input.name)[nth] ?? ""; used.set(input.name, nth + 1); }
    }
    for (const list of form.querySelectorAll(".kinds")) { // in their original order
      const rows = new Map([...list.children].map((row) => [row.querySelector("input").name, row]));
      for (const [name] of kept) if (rows.has(name)) list.append(rows.get(name));
    }
    $("restored").hidden = false;
  }

  $("forget").addEventListener("click", () => {
    sessionStorage.removeItem(draft);
    form.reset();
    location.reload();
  });

  // The meaning of a number, a choice, an order of suits is shown next to it while it is changed.
  function say() {
    for (const one of form.querySelectorAll("[data-some]")) {
      const value = one.closest("fieldset").querySelector("input").value.trim();
      const money = one.closest("fieldset").classList.contains("is-money");
      if (/^\d{1,10}$/.test(value)) one.textContent = Number(value) ? one.dataset.some.split("{}").join(money ? written(Number(value)) : value) : one.dataset.none;
    }
    for (const one of form.querySelectorAll(".sum")) {
      const value = one.previousElementSibling.value.trim();
      one.textContent = /^\d{1,10}$/.test(value) ? written(Number(value)) : "";
    }
    for (const one of form.querySelectorAll("[data-chosen]")) {
      one.textContent = one.closest("details").querySelector("input:checked + span")?.textContent || "";
    }
    for (const one of form.querySelectorAll("[data-suits]")) {
      const order_ = one.previousElementSibling.value.split(" ").filter(Boolean);
      for (const button of one.querySelectorAll("[data-suit]")) {
        const place = order_.indexOf(button.dataset.suit) + 1;
        button.querySelector("b").textContent = place || "";
        button.setAttribute("aria-pressed", place > 0);
      }
      one.querySelector("[data-no-suits]").setAttribute("aria-pressed", order_.length === 0);
    }
  }

  function changed(event) {
    const wrong = event?.target.closest("fieldset")?.querySelector(".wrong");
    if (wrong) { wrong.hidden = true; wrong.closest("fieldset").removeAttribute("data-wrong"); }
    say();
    remember();
  }

  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const box = event.target.closest("input[data-figures]");
    if (box && event.detail) openFigures(box); // a hardware keyboard types directly
    if (!button) return;
    const row = button.closest("[data-row]");
    const suits = button.closest("[data-suits]");
    if (button.hasAttribute("data-up") && row.previousElementSibling) row.previousElementSibling.before(row);
    else if (button.hasAttribute("data-down") && row.nextElementSibling) row.nextElementSibling.after(row);
    else if (button.hasAttribute("data-remove")) { const list = row.parentElement; row.remove(); changed({ target: list }); return; }
    else if (button.hasAttribute("data-add")) button.previousElementSibling.append($("blank-rate").content.cloneNode(true));
    else if (button.dataset.suit) {
      const value = suits.previousElementSibling;
      const order_ = value.value.split(" ").filter(Boolean);
      value.value = (order_.includes(button.dataset.suit) ? order_.filter((one) => one !== button.dataset.suit) : [...order_, button.dataset.suit]).join(" ");
    } else if (button.hasAttribute("data-no-suits")) suits.previousElementSibling.value = "";
    else return;
    button.focus();
    changed(event);
  });

  // ---- the keypad of a number ------------------------------------------------------------------------------------

  const keypad = $("figures-dialog");
  let box_ = null;
  const numbers = figures(keypad.querySelector("[data-keys]"), {
    least: 0,
    most: 9,
    show(text) {
      const value = text.replace(/^0+(?=\d)/, "");
      $("figures").textContent = box_ && box_.dataset.figures === "money" ? written(Number(value || 0)) : value || "–";
    },
    done(text) {
      box_.value = text.replace(/^0+(?=\d)/, "");
      keypad.close();
      changed({ target: box_ });
    },
  });

  function openFigures(box) {
    box_ = box;
    $("figures-title").textContent = box.getAttribute("aria-label");
    numbers.clear();
    keypad.showModal();
  }

  // ---- checking and storing ---------------------------------------------------------------------------------

  function mark(errors) {
    for (const one of form.querySelectorAll("[data-field]")) {
      const sentence = errors[one.dataset.field] || "";
      const wrong = one.querySelector(".wrong");
      wrong.textContent = sentence;
      wrong.hidden = !sentence;
      one.toggleAttribute("data-wrong", Boolean(sentence));
    }
    const count = Object.keys(errors).length;
    $("saying").textContent = count ? form.dataset.mistakes.replace("{num}", count) : "";
    form.querySelector("[data-wrong]")?.scrollIntoView({ block: "center" });
  }

  async function check() {
    const answer = await feltwatch.post(form.dataset.address, { do: "check", version: form.dataset.version, fields: fields() });
    mark(answer.errors || {});
    if (!answer.ok && !answer.errors) feltwatch.complain(answer.error);
    return answer.ok;
  }

  $("check").addEventListener("click", async () => { if (await check()) $("saying").textContent = $("check").dataset.sound; });
  $("keep").addEventListener("click", async () => {
    if (!await check()) return;
    const command = { do: "keep", version: form.dataset.version, fields: fields() };
    askWhy(form.dataset.what, form.dataset.address, command, () => {
      sessionStorage.removeItem(draft);
      location.assign(`/profiles/${form.elements.name.value.trim()}`);
    });
    order.wrong = mark;
  });

  restore();
  say();
})();
