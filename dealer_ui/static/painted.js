// The screen at the table: acknowledges what it has painted, twice a second and after each change. A page that is frozen,
// crashed or covered acknowledges nothing, and push-buttons do nothing.
"use strict";
(() => {
  const EVERY_MS = 400;
  const body = document.body;
  const token = document.querySelector("meta[name=csrf-token]");
  let left = false;

  // The row whose view a person can see now, or null: not live, asleep, covered by a dialog, or another page.
  function visible() {
    if (!body.classList.contains("glance") || body.hasAttribute("data-notlive")) return null;
    if (document.querySelector("dialog[open], #asleep:popover-open")) return null;
    return Number(body.dataset.seq || body.dataset.camewith);
  }

  const acknowledge = (seq, leaving) => fetch("/painted", {
    method: "POST",
    keepalive: leaving, // outlives the page
    cache: "no-store",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": token.content, Accept: "application/json" },
    body: JSON.stringify({ seq, leaving }),
    signal: AbortSignal.timeout(5000),
  }).catch(() => {}); // without an answer the page is not live, and says so by itself

  // The second frame begins after the first was painted.
  let under = false;
  function report() {
    if (under || left) return;
    under = true;
    requestAnimationFrame(() => {
      const seq = visible();
      requestAnimationFrame(() => {
        under = false;
        if (!left) acknowledge(seq, false);
        if (seq !== visible()) report();
      });
    });
  }

  new MutationObserver(report).observe(body, { attributes: true, attributeFilter: ["data-seq", "data-notlive"] });
  setInterval(report, EVERY_MS);
  addEventListener("pagehide", () => { left = true; acknowledge(null, true); });
  addEventListener("pageshow", () => { left = false; report(); });
  report();
})();
