// The session of a user other than the dealer: its time left, a warning before its end, and signing off.
// On a page for a role, every touch extends it. On the table's page touches are the dealer's: only commands that need
// the role extend it there. A past hand's evidence may be looked at for longer without a touch; leaving it ends that.
"use strict";
(() => {
  const chip = document.getElementById("session");
  if (!chip) return;
  const ends = document.getElementById("session-ends");
  const WARN_S = 10;
  const STAY_EVERY_MS = 5000;
  const evidence = document.querySelector("[data-evidence]") !== null;
  let until = 0; // in this page's clock
  let who = "";
  let stayed = 0;

  async function ask() {
    const session = await feltwatch.get(chip.dataset.address, 5000);
    if (session.error) return; // the next look tells
    take(session.name, session.left_s);
    if (who && !stayed && evidence !== session.left_s > session.usual_s) stay(); // evidence was opened, or left
  }

  function take(name, left) {
    const before = who;
    who = name;
    until = performance.now() + left * 1000;
    if (before && !who) over();
    look();
  }

  // A page for a role redirects to the PIN page by itself; any other continues as the dealer's.
  function over() {
    if (document.body.classList.contains("page")) location.reload();
  }

  async function stay() {
    stayed = performance.now();
    const answer = await feltwatch.command({ do: "stay", evidence }, 5000);
    if (answer.ok) take(who, answer.expires_s);
    else await ask();
  }

  function look() {
    const left = Math.max(0, (until - performance.now()) / 1000);
    chip.hidden = !who;
    for (const button of document.querySelectorAll("[data-lock]")) button.hidden = !who;
    ends.hidden = !who || left > WARN_S;
    if (!who) return;
    chip.querySelector("[data-who]").textContent = who;
    const clock = feltwatch.minutes(Math.floor(left));
    const span = chip.querySelector("[data-left]");
    span.textContent = span.dataset.left.replace("{left}", clock);
    const words = ends.querySelector("[data-words]");
    words.textContent = words.dataset.words.replace("{left}", clock);
    if (left <= 0) ask();
  }

  addEventListener("pointerdown", () => {
    if (document.body.classList.contains("glance")) return;
    if (who && performance.now() - stayed > STAY_EVERY_MS) stay();
  }, true);
  ends.querySelector("[data-stay]").addEventListener("click", stay);
  for (const button of document.querySelectorAll("[data-lock]")) {
    button.addEventListener("click", async () => {
      await feltwatch.command({ do: "lock" }, 5000);
      if (document.body.classList.contains("page")) location.replace("/");
      else ask();
    });
  }
  setInterval(look, 1000);
  setInterval(ask, 20000); // another tab of this browser may have ended it
  ask();
})();
