// The PIN page: a person, then figures. A lock-out is counted down at the keypad. It is requested as soon as a person
// is chosen, so that it also shows after a restart.
"use strict";
(() => {
  const root = document.querySelector("[data-pin]");
  if (!root) return;
  const keyed = document.getElementById("keyed");
  const says = document.getElementById("keyed-says");
  const waits = document.getElementById("pin-waits");
  const opens = new Map(); // name → end of the lock-out, in this page's clock
  let who = "";
  let sending = false;

  const pad = figures(root.querySelector("[data-keys]"), {
    least: 4,
    most: 12,
    show(text) { keyed.textContent = "\u2022".repeat(text.length); },
    done: (text) => enter(text),
  });

  async function order(command) {
    const answer = await feltwatch.post(document.body.dataset.commands, command);
    if (answer.wait_s > 0) opens.set(command.by, performance.now() + answer.wait_s * 1000);
    look();
    return answer;
  }

  async function choose(name) {
    who = name;
    for (const one of root.querySelectorAll("[data-who]")) one.setAttribute("aria-pressed", one.dataset.who === who);
    says.textContent = root.dataset.of.replace("{name}", who);
    pad.clear();
    look();
    await order({ do: "unlock", by: who });
  }

  async function enter(pin) {
    if (sending) return;
    sending = true;
    const answer = await order({ do: "unlock", by: who, pin });
    sending = false;
    pad.clear();
    if (answer.ok) location.replace(root.dataset.back);
    else feltwatch.complain(answer.error);
  }

  function look() {
    const left = ((opens.get(who) || 0) - performance.now()) / 1000;
    waits.hidden = left <= 0;
    if (left > 0) waits.textContent = root.dataset.waits.replace("{left}", feltwatch.minutes(left));
    if (root.dataset.locked !== String(left > 0)) { root.dataset.locked = left > 0; pad.enable(left <= 0); }
  }

  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-who]");
    if (button) choose(button.dataset.who);
  });
  setInterval(look, 250);
  choose(root.querySelector("[data-who]").dataset.who);
})();
