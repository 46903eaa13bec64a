// The setup pages. Every button carries its commands and the next address, rendered by the server.
"use strict";
(() => {
  const POLL_MS = 600;
  const body = document.body;
  let busy = false;

  const go = (address) => { if (address === location.pathname) location.reload(); else location.assign(address); };

  // If the table asks for a PIN, reload: the page's own address leads to the PIN page and back.
  function refused(answer) {
    if (answer.ask) location.reload();
  }

  async function all(commands, then) {
    if (busy) return;
    busy = true;
    body.setAttribute("data-sending", "");
    let answer = { ok: true };
    for (const command of commands) {
      answer = await feltwatch.send(command);
      if (!answer.ok) break;
    }
    body.removeAttribute("data-sending");
    busy = false;
    if (answer.ok) go(then);
    else refused(answer);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const data = button.dataset;
    if (data.open) document.getElementById(data.open).showModal();
    else if (data.commands) all(JSON.parse(data.commands), data.then);
    else if (data.letters) {
      const done = (text) => all([{ ...JSON.parse(data.command), [data.letters]: text }], data.then);
      letters.ask(data.title, done, JSON.parse(data.offers || "[]"));
    }
  });

  // ---- figures: the table's number, and what a point is worth ---------------------------------------------------

  const keying = document.querySelector("[data-keying]");
  if (keying) {
    const field = keying.dataset.keying;
    const keyed = keying.querySelector("[data-keyed]");
    const cents = field === "unit";
    const before = keyed.dataset.now || keying.dataset.value || "\u2013";
    figures(keying.querySelector("[data-keys]"), {
      most: Number(keying.dataset.most),
      show(text) {
        keyed.textContent = text === "" ? before : cents ? written(Number(text)) : text;
      },
      done(text) {
        if (cents && Number(text) === 0) return;
        const next = cents ? [] : [{ do: "settle_step", step: field }];
        const then = keying.dataset.then || document.querySelector("[data-then]").dataset.then;
        all([{ ...JSON.parse(keying.dataset.command), [field]: cents ? Number(text) : text }, ...next], then);
      },
    });
  }

  // ---- a device test: the page polls it, or the table ends it ---------------------------------

  const trial = document.querySelector("[data-trial]");
  let shown = "";
  let troubled = false;
  let order = Promise.resolve(); // one request at a time, in the order of the touches

  // A refused poll is shown in the test's place; a refused touch like any other.
  function refuse(answer, what) {
    if (Object.keys(what).length) { feltwatch.complain(answer.error); return; }
    shown = "";
    const said = document.createElement("p");
    said.className = "notice";
    said.textContent = answer.error;
    trial.replaceChildren(said);
  }

  function ask(what) {
    order = order.then(async () => {
      const answer = await feltwatch.post(trial.dataset.trial, what);
      if (!answer.ok) {
        refuse(answer, what);
        refused(answer);
      } else if (answer.html !== shown) {
        shown = answer.html;
        trial.innerHTML = shown;
      }
      troubled = !answer.ok;
      return answer;
    });
    return order;
  }

  async function act(button) {
    const answer = await ask(JSON.parse(button.dataset.act));
    if (!answer.ok || !button.dataset.then) return;
    const more = JSON.parse(trial.dataset.commandsAfter || "[]");
    await all([...more, { do: "end_trial" }], button.dataset.then);
  }

  async function poll() {
    if (!document.hidden) await ask({});
    setTimeout(poll, troubled ? 4 * POLL_MS : POLL_MS);
  }

  if (trial) {
    trial.addEventListener("click", (event) => {
      const button = event.target.closest("[data-act]");
      if (button) act(button);
    });
    poll();
  } else if (document.querySelector("[data-on-trial=yes]")) {
    feltwatch.command({ do: "end_trial" }); // no test on this page
  }
})();
