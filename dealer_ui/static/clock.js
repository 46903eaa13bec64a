// The box's clock: date and time are keyed as figures, the time zone is chosen by name.
"use strict";
(() => {
  const FORM = "____-__-__ __:__";
  const CLOCK = "/set-up/clock";

  async function set(order) {
    const answer = await feltwatch.post(`${CLOCK}/set`, order);
    if (answer.ok) location.assign(CLOCK);
    else if (answer.ask) location.reload();
    else feltwatch.complain(answer.error);
  }

  function shown(figures) {
    let at = 0;
    return FORM.replace(/_/g, () => figures[at++] || "_");
  }

  const moment = document.getElementById("moment");
  if (moment) {
    figures(document.querySelector("#wrong [data-keys]"), {
      least: 12,
      most: 12,
      show(text) { moment.textContent = shown(text); },
      done(text) {
        const [date, time] = shown(text).split(" ");
        set({ date, time });
      },
    });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-zone]");
    if (button) set({ zone: button.dataset.zone });
  });
})();
