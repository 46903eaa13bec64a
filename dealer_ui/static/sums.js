// Formats a sum of hundredths, as firmware/rules/currency.py does. `data-sums` of the page's body is the house's
// format, with {} for the figure.
"use strict";
// biome-ignore lint/correctness/noUnusedVariables: other scripts use it
const written = (cents) => {
  const rest = cents % 100 ? `.${String(cents % 100).padStart(2, "0")}` : "";
  const figure = `${Math.floor(cents / 100).toLocaleString("en-US")}${rest}`;
  return document.body.dataset.sums.split("{}").join(figure);
};
