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

  const acknowledge = (seq, at_ms, leaving) => fetch("/painted", {
    method: "POST",
    keepalive: leaving, // outlives the page
    cache: "no-store",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": token.content, Accept: "application/json" },
    body: JSON.stringify({ seq, at_ms, leaving }),
    signal: AbortSignal.timeout(5000),
  }).catch(() => {}); // without an answer the page is not live, and says so by itself

  // One pixel changes its shade, unseen, with each report. A browser or compositor that hangs takes no frames; where nothing is to
  // be drawn, nobody would notice.
  const pixel = document.createElement("i");
  pixel.ariaHidden = "true";
  Object.assign(pixel.style, { position: "fixed", right: 0, bottom: 0, width: "1px", height: "1px", pointerEvents: "none" });
  document.documentElement.append(pixel);
  let shade = 0;

  // The second frame begins after the first was painted.
  let under = false;
  function report() {
    if (under || left) return;
    under = true;
    requestAnimationFrame(() => {
      const seq = visible();
      shade ^= 1;
      pixel.style.backgroundColor = `rgb(10 16 ${14 + shade})`;
      requestAnimationFrame(() => {
        under = false;
        if (!left) acknowledge(seq, Date.now(), false);
        if (seq !== visible()) report();
      });
    });
  }

  new MutationObserver(report).observe(body, { attributes: true, attributeFilter: ["data-seq", "data-notlive"] });
  setInterval(report, EVERY_MS);
  // The other page of this machine, training, has a name and cookies of its own: it is told that this is the screen.
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='http']");
    if (!link || link.host === location.host) return;
    const to = new URL(link.href);
    to.searchParams.set("kiosk", "");
    link.href = to;
  }, true);

  addEventListener("pagehide", () => { left = true; acknowledge(null, Date.now(), true); });
  addEventListener("pageshow", () => { left = false; report(); });
  report();
})();
