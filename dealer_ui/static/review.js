// The review's buttons: a command to the table, then a page anew or another one; a file asked for and fetched.
"use strict";
(() => {
  let busy = false;

  async function deed(button) {
    const answer = await feltwatch.send(JSON.parse(button.dataset.command));
    if (answer.ok) location.assign(!button.dataset.then || button.dataset.then === "here" ? location.pathname : button.dataset.then);
    return answer.ok;
  }

  async function fetchFile(button) {
    const says = document.getElementById("exported");
    says.textContent = button.dataset.making;
    const answer = await feltwatch.post(document.body.dataset.commands, JSON.parse(button.dataset.export), 60000);
    if (!answer.ok) { says.textContent = answer.error; return; }
    const link = document.createElement("a");
    link.href = button.dataset.file;
    link.textContent = answer.file;
    link.className = "action plain";
    link.setAttribute("download", answer.file);
    says.replaceChildren(link);
    link.click();
  }

  // One list of reasons for all that may be done about a hand.
  function choose(chosen) {
    for (const one of document.querySelectorAll("[data-reason]")) one.setAttribute("aria-pressed", one === chosen);
    for (const one of document.querySelectorAll(".does [data-command]")) {
      one.dataset.command = JSON.stringify({ ...JSON.parse(one.dataset.command), reason: chosen.dataset.reason });
    }
  }

  document.addEventListener("click", async (event) => {
    const reason = event.target.closest("button[data-reason]");
    if (reason) choose(reason);
    const button = event.target.closest("button[data-command], button[data-export]");
    if (!button || busy) return;
    busy = true;
    try {
      if (button.dataset.export) await fetchFile(button);
      else await deed(button);
    } finally { busy = false; }
  });
  document.body.setAttribute("data-ready", ""); // touches are heard from here on
})();
