// Requests of all pages except the glance page: one command or order, one answer.
"use strict";
const feltwatch = (() => {
  const body = document.body;
  const token = document.querySelector("meta[name=csrf-token]").content;
  let timer = 0;

  function complain(sentence) {
    const box = document.getElementById("error");
    box.textContent = sentence;
    box.hidden = false;
    box.hidePopover();
    box.showPopover(); // above a dialog, too
    clearTimeout(timer);
    timer = setTimeout(() => { box.hidden = true; box.hidePopover(); }, 7000);
  }

  async function post(address, order, within = 15000) {
    try {
      const response = await fetch(address, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": token, Accept: "application/json" },
        body: JSON.stringify(order),
        signal: AbortSignal.timeout(within),
      });
      const answer = await response.json();
      return response.status === 503 ? { ...answer, uncertain: true } : answer;
    } catch {
      return { ok: false, error: body.dataset.unreachable, uncertain: true };
    }
  }

  // Send a command; a refusal is shown and returned. Each has its own id. If it is sent again before an answer has
  // arrived, it keeps its id, so that the table runs it only once.
  const unanswered = new Map(); // a command's text → its id
  async function send(command) {
    const text = JSON.stringify(command);
    const id = unanswered.get(text) || crypto.randomUUID();
    unanswered.set(text, id);
    const answer = await post(body.dataset.commands, { id, ...command });
    if (!answer.uncertain) unanswered.delete(text);
    if (!answer.ok) complain(answer.error);
    return answer;
  }

  const minutes = (seconds) => {
    const whole = Math.ceil(seconds);
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  };

  return { complain, post, send, minutes };
})();
