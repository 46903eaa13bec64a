// A keypad of figures (parts/keys.html). `figures(root, {most, show, done})` calls `show(text)` at every key and
// `done(text)` when they are entered; it returns {clear, enable}.
"use strict";
// biome-ignore lint/correctness/noUnusedVariables: other scripts use it
function figures(root, { least = 1, most, show, done }) {
  const hand = root.querySelector("[data-done]");
  let text = "";
  let on = true;

  function changed() {
    show(text);
    hand.disabled = !on || text.length < least;
    for (const key of root.querySelectorAll("[data-key]")) key.disabled = !on;
  }

  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button || !on) return;
    if (button.dataset.key === "back") text = text.slice(0, -1);
    else if (button.dataset.key) text = (text + button.dataset.key).slice(0, most);
    else if (button === hand) { done(text); return; }
    changed();
  });

  changed();
  return {
    clear() { text = ""; changed(); },
    enable(is) { on = is; changed(); },
  };
}
