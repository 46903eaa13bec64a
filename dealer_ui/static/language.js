// This browser's language: stored in a cookie for the next page.
"use strict";
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-language]");
  if (!button) return;
  const { language } = button.dataset;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store is there over HTTPS alone
  document.cookie = `language=${language}; path=/; samesite=strict; max-age=${language ? 400 * 24 * 3600 : 0}`;
  location.reload();
});
