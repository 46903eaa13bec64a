// A page with a part that is asked for every second: of a code, of releases.
"use strict";
(() => {
  const EVERY_MS = 1000;
  const part = document.querySelector("[data-part]");
  let shown = part?.innerHTML; // as it came: a question that is open would make the page itself differ

  // Put what is new in place; a question that somebody has open stays as it is, with its ticks.
  function replace(now) {
    const open = part.querySelector("details[open]");
    const focused = open?.contains(document.activeElement) ? document.activeElement : null;
    const action = (question) => question?.querySelector("form")?.getAttribute("action");
    const again = [...now.querySelectorAll("details")].find((question) => action(question) === action(open));
    if (open && again) again.replaceWith(open);
    part.replaceChildren(now);
    focused?.focus();
  }

  async function follow() {
    try {
      const response = await fetch(part.dataset.part, { cache: "no-store", signal: AbortSignal.timeout(8000) });
      if (response.redirected || response.status === 401) { location.reload(); return; }
      const now = document.createElement("template");
      now.innerHTML = await response.text();
      // Compared with the page itself: it may have changed between the page and the first question.
      const phase = (of) => of.querySelector("[data-phase]")?.dataset.phase;
      if (response.ok && phase(now.content) !== phase(part)) { location.reload(); return; } // the rest of the page, too
      const html = now.innerHTML;
      if (response.ok && html !== shown) { replace(now.content); shown = html; }
    } catch { /* the pit is asked again */ }
    setTimeout(follow, EVERY_MS);
  }

  if (part) follow();
})();
