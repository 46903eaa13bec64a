// Entering a PIN: whose it is, dots for its figures, and the wait of this place after wrong PINs, counted down. Nobody's
// name is offered: it is keyed, or a badge lies on the table. The table is asked for both while the keypad is shown, so
// that the wait shows after a restart, too. `changed` is called whenever something is to be shown again.
"use strict";
function pinEntry(who, changed) {
  const LOOK_MS = 2000;
  const JITTER_MS = 1500; // the table says whole seconds
  const words = who.firstElementChild;
  let opens = 0; // end of the wait, in this page's clock
  let looked = -LOOK_MS; // it is asked at once
  const entry = {
    who: "",
    badge: false,
    dots: (text) => "\u2022".repeat(text.length),
    left: () => Math.max(0, (opens - performance.now()) / 1000),
    isNamed: () => entry.who !== "" || entry.badge,
    signed: (pin) => (entry.who ? { by: entry.who, pin } : { pin }),
    name(name) { entry.who = name; show(); },
    note(answer) {
      if (answer.wait_s === undefined) return;
      const ends = answer.wait_s ? performance.now() + answer.wait_s * 1000 : 0;
      if (!ends || Math.abs(ends - opens) > JITTER_MS) opens = ends;
      entry.badge = Boolean(answer.badge);
      show();
    },
  };
  function show() {
    words.textContent = entry.who || (entry.badge ? who.dataset.badge : who.dataset.nobody);
    changed();
  }
  setInterval(async () => {
    if (who.offsetParent === null) return; // not shown
    changed();
    if (performance.now() - looked < LOOK_MS) return;
    looked = performance.now();
    entry.note(await feltwatch.command({ do: "unlock" }));
  }, 250);
  who.addEventListener("click", () => letters.ask(who.dataset.title, (name) => entry.name(name)));
  show();
  return entry;
}

// The parts of parts/pin.html; `enter({by, pin})` is called when a PIN is entered.
function pinPad(root, enter) {
  const [says, keyed, waits] = ["keyed-says", "keyed", "pin-waits"].map((id) => document.getElementById(id));
  let open = true;
  let entry = null;
  const pad = figures(root.querySelector("[data-keys]"), {
    least: 4,
    most: 12,
    show(text) { if (entry) keyed.textContent = entry.dots(text); },
    done(pin) {
      pad.clear();
      if (entry.isNamed()) enter(entry.signed(pin));
      else feltwatch.complain(root.dataset.nameless);
    },
  });
  entry = pinEntry(root.querySelector("[data-who]"), () => {
    if (!entry) return;
    const left = entry.left();
    waits.hidden = left <= 0;
    if (left > 0) waits.textContent = root.dataset.waits.replace("{left}", feltwatch.minutes(left));
    if (open === left <= 0) return;
    open = left <= 0;
    if (!open) pad.clear();
    pad.enable(open);
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
    entry.note(answer);
    if (answer.ok) location.replace(root.dataset.back);
    else feltwatch.complain(answer.error);
  });
}
