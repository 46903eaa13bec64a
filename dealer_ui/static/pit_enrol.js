// The page of a code: what comes of it is asked for every second.
"use strict";
(() => {
  const EVERY_MS = 1000;
  const part = document.querySelector("[data-part]");
  let shown = "";

  async function follow() {
    try {
      const response = await fetch(part.dataset.part, { cache: "no-store", signal: AbortSignal.timeout(8000) });
      if (response.redirected || response.status === 401) { location.reload(); return; }
      const html = await response.text();
      if (response.ok && shown && html !== shown) part.innerHTML = html;
      if (response.ok) shown = html;
    } catch { /* the pit is asked again */ }
    setTimeout(follow, EVERY_MS);
  }

  follow();
})();
