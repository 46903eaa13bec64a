// How a page other than the glance page speaks to its server: one command or one order of the page, one answer.
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

  // Give a command; a refusal is shown and returned all the same. Each has an id of its own: given again before it was
  // answered for certain it is the same command, and the table, which may have done it already, does it once.
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
