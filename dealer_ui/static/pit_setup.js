// The page that enrols the table at a pit: letters that are typed, and how far it is. The live picture is camera.js's.
"use strict";
(() => {
  const LOOK_EVERY_MS = 700;
  const TAKEN_UP_MS = 20000; // the program that asks the pit is started by then
  const begun = performance.now();

  async function send(order) {
    const answer = await feltwatch.send(order);
    if (answer.ok) location.assign(document.querySelector("[data-then-join]").dataset.thenJoin + answer.join);
    else if (answer.ask) location.reload(); // the page's own address leads to the PIN page and back
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if ("typeCode" in button.dataset) {
      const { first, then } = button.dataset;
      letters.ask(first, (code) => letters.ask(then, (address) => send({ do: "join_pit", code: `${code} ${address}` })));
    } else if (button.dataset.order && !document.querySelector("[data-bench]")) feltwatch.send(JSON.parse(button.dataset.order));
  });

  // ---- how far it is ----

  const part = document.querySelector("[data-following]");
  let shown = "";

  async function follow() {
    try {
      const response = await fetch(part.dataset.following, { cache: "no-store", signal: AbortSignal.timeout(8000) });
      if (response.redirected || response.status === 403) { location.reload(); return; }
      const html = await response.text();
      if (response.ok && html !== shown) {
        shown = html;
        part.innerHTML = html;
      }
    } catch { /* the page is asked again */ }
    const idle = part.querySelector("[data-asked]");
    if (idle && performance.now() - begun > TAKEN_UP_MS) idle.textContent = part.dataset.silent;
    if (!part.querySelector("[data-over]")) setTimeout(follow, LOOK_EVERY_MS);
  }

  if (part) follow();
})();
