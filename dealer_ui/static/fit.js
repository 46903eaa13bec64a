// Makes what is shown as large as there is room for it: it is measured, never counted in letters.
"use strict";
(() => {
  const STEPS = ["", "1", "1 2", "1 2 3", "1 2 3 4"]; // feltwatch.css says what each makes smaller

  // What is too high, or too wide a line: each step takes less room, the last one leaves something out.
  function sizes() {
    for (const box of document.querySelectorAll("[data-fit]")) {
      for (const steps of STEPS) {
        box.dataset.tight = steps;
        if (box.scrollHeight <= box.clientHeight + 1 && (box.dataset.fit !== "width" || box.scrollWidth <= box.clientWidth + 1)) break;
      }
    }
  }

  // A title that is too wide loses whole words from its end.
  function words() {
    for (const line of document.querySelectorAll("[data-whole]")) {
      const all = line.dataset.whole.split(" ");
      for (let count = all.length; count > 0; count--) {
        const text = all.slice(0, count).join(" ").replace(/[\s,;:(（·–-]+$/u, "");
        line.textContent = count < all.length && text.includes("(") && !text.includes(")") ? `${text})` : text;
        if (line.scrollWidth <= line.clientWidth + 1) break;
      }
    }
  }

  function fit() {
    sizes();
    words();
    changes.takeRecords(); // what was changed here
  }

  const changes = new MutationObserver(fit);
  changes.observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", fit);
  document.fonts.ready.then(fit);
  fit();
})();
