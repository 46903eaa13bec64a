// What every page's script uses: requests to the server, errors, buttons that close a dialog.
"use strict";
// biome-ignore lint/correctness/noUnusedVariables: other scripts use it
const feltwatch = (() => {
  const body = document.body;
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

  // A sentence for the person whose PIN was just right. It is shown again on the page to which the answer leads.
  const TOLD_MS = 10000;
  function tell(sentence) {
    sessionStorage.setItem("told", JSON.stringify([sentence, Date.now()]));
    complain(sentence);
  }
  addEventListener("DOMContentLoaded", () => {
    const [sentence, since] = JSON.parse(sessionStorage.getItem("told") || "[]");
    sessionStorage.removeItem("told");
    if (Date.now() - since < TOLD_MS) complain(sentence);
  });

  async function ask(address, within, more) {
    try {
      const response = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(within), ...more });
      const answer = await response.json();
      if (answer.told) tell(answer.told);
      return response.status === 503 ? { ...answer, uncertain: true } : answer;
    } catch {
      return { ok: false, error: body.dataset.unreachable, uncertain: true };
    }
  }

  const get = (address, within = 8000) => ask(address, within, { headers: { Accept: "application/json" } });

  const post = (address, order, within = 15000) => ask(address, within, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": document.querySelector("meta[name=csrf-token]").content, Accept: "application/json" },
    body: JSON.stringify(order),
  });

  const command = (order, within) => post(body.dataset.commands, order, within);

  // The ids of commands that have no answer yet, by the command's text. They outlive a reload of the page, for as long as
  // somebody may repeat the touch; a command with a PIN is kept in no storage.
  const KEPT_MS = 600000;
  const secret = new Map();
  function idOf(text) {
    const kept = JSON.parse(sessionStorage.getItem("unanswered") || "{}");
    const [id, since] = secret.get(text) || kept[text] || [];
    return Date.now() - since < KEPT_MS ? id : crypto.randomUUID();
  }
  function keep(order, text, id) {
    if ("pin" in order || "new_pin" in order) return id ? secret.set(text, [id, Date.now()]) : secret.delete(text);
    const kept = JSON.parse(sessionStorage.getItem("unanswered") || "{}");
    if (id) kept[text] = [id, Date.now()];
    else delete kept[text];
    sessionStorage.setItem("unanswered", JSON.stringify(kept));
  }

  // Send a command; a refusal is shown and returned, or given to `asked` if a PIN would do. Each has its own id. If it is
  // sent again before an answer has arrived, it keeps its id, so that the table runs it only once.
  async function send(order, { within, asked } = {}) {
    const text = JSON.stringify(order);
    const id = idOf(text);
    keep(order, text, id);
    const answer = await command({ id, ...order }, within);
    if (!answer.uncertain) keep(order, text, null);
    if (!answer.ok) {
      if (asked && answer.ask?.length) asked(answer);
      else complain(answer.error);
    }
    return answer;
  }

  // Fill a part of the page from the server; returns whether it could be read.
  async function load(part, address) {
    try {
      const response = await fetch(address, { headers: { Accept: "application/json" }, cache: "no-store", signal: AbortSignal.timeout(5000) });
      if (response.ok) part.innerHTML = await response.text();
      return response.ok;
    } catch { return false; }
  }

  const minutes = (seconds) => {
    const whole = Math.ceil(seconds);
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  };

  function button(words, data) {
    const made = document.createElement("button");
    const span = document.createElement("span");
    made.type = "button";
    made.className = "action plain";
    Object.assign(made.dataset, data);
    span.textContent = words;
    made.append(span);
    return made;
  }

  document.addEventListener("click", (event) => event.target.closest("dialog [data-close]")?.closest("dialog").close());

  return { button, command, complain, get, load, minutes, post, send };
})();
