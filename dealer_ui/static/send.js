// How a page beside the glance page speaks to its server: one command or one order of the page, one answer.
"use strict";
const feltwatch = (() => {
  const body = document.body;
  const token = document.querySelector("meta[name=csrf-token]").content;
  let timer = 0;

  function complain(sentence) {
    const box = document.getElementById("error");
    box.textContent = sentence;
    box.hidden = false;
    clearTimeout(timer);
    timer = setTimeout(() => { box.hidden = true; }, 7000);
  }

  async function post(address, order, within = 15000) {
    try {
      const response = await fetch(address, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": token, Accept: "application/json" },
        body: JSON.stringify(order),
        signal: AbortSignal.timeout(within),
      });
      return await response.json();
    } catch {
      return { ok: false, error: body.dataset.unreachable };
    }
  }

  // Give a command; a refusal is shown and returned all the same.
  async function send(command) {
    const answer = await post(body.dataset.commands, command);
    if (!answer.ok) complain(answer.error);
    return answer;
  }

  const minutes = (seconds) => {
    const whole = Math.ceil(seconds);
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  };

  return { complain, post, send, minutes };
})();
