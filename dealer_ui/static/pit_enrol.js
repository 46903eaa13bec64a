// A page with a part that is asked for every second: of a code, of a wave.
"use strict";
(() => {
  const EVERY_MS = 1000;
  const part = document.querySelector("[data-part]");

  async function follow() {
    try {
      const response = await fetch(part.dataset.part, { cache: "no-store", signal: AbortSignal.timeout(8000) });
      if (response.redirected || response.status === 401) { location.reload(); return; }
      const now = document.createElement("template");
      now.innerHTML = await response.text();
      // Compared with the page itself: it may have changed between the page and the first question.
      const phase = (of) => of.querySelector("[data-phase]")?.dataset.phase;
      if (response.ok && phase(now.content) !== phase(part)) { location.reload(); return; } // the rest of the page, too
      if (response.ok && now.innerHTML !== part.innerHTML) part.replaceChildren(now.content);
    } catch { /* the pit is asked again */ }
    setTimeout(follow, EVERY_MS);
  }

  follow();
})();
