// Training: sends answers, and keeps the band above everything, dialogs included. The server asks and judges.
"use strict";
(() => {
  const band = document.getElementById("band");
  const quiz = document.getElementById("quiz");

  // Only the top layer is above an open dialog: the band moves there again whenever one opens.
  function above() {
    if (band.matches(":popover-open")) band.hidePopover();
    band.showPopover();
  }
  above();
  new MutationObserver((changes) => {
    if (changes.some((change) => change.target.open)) above();
  }).observe(document.body, { subtree: true, attributeFilter: ["open"] });

  if (!quiz) return;

  async function send(order) {
    document.getElementById("error").hidden = true;
    const answer = await feltwatch.post(quiz.dataset.address, order, 5000);
    if (!answer.ok) feltwatch.complain(answer.error);
  }

  quiz.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const asked = button?.closest("[data-quiz-key]");
    if (!asked) return;
    const figure = asked.querySelector("[data-quiz-figure]");
    const done = asked.querySelector("[data-quiz='answer']:not([data-answer])");
    if (button.dataset.quizChoice) {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      done.firstElementChild.textContent = asked.querySelector("[aria-pressed='true']") ? done.dataset.these : done.dataset.none;
    } else if (button.dataset.quizKeyOf) {
      const before = figure.dataset.figures || "";
      const now = button.dataset.quizKeyOf === "back" ? before.slice(0, -1) : `${before}${button.dataset.quizKeyOf}`.replace(/^0+(?=\d)/, "").slice(0, 4);
      figure.dataset.figures = now;
      figure.textContent = now || "–";
      done.disabled = now === "";
    } else if (button.dataset.quiz) {
      const chosen = [...asked.querySelectorAll("[data-quiz-choice][aria-pressed='true']")].map((one) => one.dataset.quizChoice).join(" ");
      const answer = button.dataset.answer ?? figure?.dataset.figures ?? chosen;
      send({ do: button.dataset.quiz, key: asked.dataset.quizKey, answer });
    }
  });
})();
