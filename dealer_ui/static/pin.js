// Entering a PIN: whose it is, dots for its figures, and a lock-out, counted down. The lock-out is requested as soon as a
// person is chosen, so that it also shows after a restart. `changed` is called whenever something is to be shown again.
"use strict";
function pinEntry(people, changed) {
  const opens = new Map(); // name → end of the lock-out, in this page's clock
  const entry = {
    who: "",
    dots: (text) => "\u2022".repeat(text.length),
    left: () => ((opens.get(entry.who) || 0) - performance.now()) / 1000,
    note({ wait_s: left }, name = entry.who) { if (left > 0) opens.set(name, performance.now() + left * 1000); },
    mark() { for (const one of people.children) one.setAttribute("aria-pressed", one.dataset.who === entry.who); },
    // Offer these people; the one chosen before stays chosen.
    offer(names, name) {
      people.replaceChildren(...names.map((one) => feltwatch.button(one, { who: one })));
      return entry.choose(names.includes(name) ? name : names[0]);
    },
    async choose(name) {
      entry.who = name;
      entry.mark();
      changed(true);
      entry.note(await feltwatch.command({ do: "unlock", by: name }), name);
      changed(false);
    },
  };
  people.addEventListener("click", (event) => {
    const button = event.target.closest("[data-who]");
    if (button) entry.choose(button.dataset.who);
  });
  setInterval(() => { if (opens.size) changed(false); }, 250);
  return entry;
}

// The parts of parts/pin.html; `enter({by, pin})` is called when a PIN is entered.
function pinPad(root, enter) {
  const [says, keyed, waits] = ["keyed-says", "keyed", "pin-waits"].map((id) => document.getElementById(id));
  let open = true;
  const entry = pinEntry(root.querySelector(".people"), (anew) => {
    if (anew) pad.clear();
    if (root.dataset.of) says.textContent = root.dataset.of.replace("{name}", entry.who);
    const left = entry.left();
    waits.hidden = left <= 0;
    if (left > 0) waits.textContent = root.dataset.waits.replace("{left}", feltwatch.minutes(left));
    if (open !== left <= 0) { open = left <= 0; pad.enable(open); }
  });
  const pad = figures(root.querySelector("[data-keys]"), {
    least: 4,
    most: 12,
    show(text) { keyed.textContent = entry.dots(text); },
    done(pin) { pad.clear(); enter({ by: entry.who, pin }); },
  });
  return { entry, says };
}

// The page /pin.
for (const root of document.querySelectorAll("main [data-pin]")) {
  let sending = false;
  const { entry } = pinPad(root, async (signed) => {
    if (sending) return;
    sending = true;
    const answer = await feltwatch.command({ do: "unlock", ...signed });
    sending = false;
    entry.note(answer, signed.by);
    if (answer.ok) location.replace(root.dataset.back);
    else feltwatch.complain(answer.error);
  });
  entry.choose(root.querySelector("[data-who]").dataset.who);
}
