// The review's buttons: send a command, then reload or go to another page; request and fetch a file.
"use strict";
(() => {
  let busy = false;

  async function deed(button) {
    const answer = await feltwatch.send(JSON.parse(button.dataset.command));
    if (answer.ok) location.assign(button.dataset.then || location.pathname);
    return answer.ok;
  }

  // ---- the dispute file ----

  const says = document.getElementById("exported");
  const proof = document.getElementById("proof");
  const MADE_WITHIN = 60000; // ms
  const BEGUN_WITHIN = 15000; // ms; a request not started by then has failed

  async function made(button, command) {
    says.textContent = button.dataset.making;
    const answer = await feltwatch.command(JSON.parse(command), MADE_WITHIN);
    if (answer.ok) await feltwatch.load(proof, proof.dataset.proof); else says.textContent = answer.error;
    return answer;
  }

  async function putOnStick(button) {
    const answer = await made(button, button.dataset.stick);
    if (answer.ok) await follow(button, answer.stick);
  }

  async function follow(button, job) {
    const bar = document.getElementById("on-its-way");
    const since = performance.now();
    let progress = { step: "asked", over: false };
    while (!progress.over) {
      const answer = await feltwatch.get(`${button.dataset.progress}?job=${encodeURIComponent(job)}`);
      if (answer.step) progress = answer; // else the next look tells
      if (progress.step === "asked" && performance.now() - since > BEGUN_WITHIN) progress = { over: true, percent: 0, says: button.dataset.silent };
      if (progress.says && says.textContent !== progress.says) says.textContent = progress.says;
      says.dataset.step = progress.step || "failed";
      bar.hidden = progress.over;
      bar.value = progress.percent || 0;
      if (!progress.over) await new Promise((done) => setTimeout(done, 300));
    }
  }

  async function fetchFile(button) {
    const answer = await made(button, button.dataset.export);
    if (!answer.ok) return;
    if (!button.dataset.file) { says.textContent = button.dataset.made; return; }
    const link = document.createElement("a");
    link.href = button.dataset.file;
    link.textContent = answer.file;
    link.className = "action plain";
    link.setAttribute("download", answer.file);
    says.replaceChildren(link);
    link.click();
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-command], button[data-export], button[data-stick]");
    if (!button || busy) return;
    busy = true;
    try {
      if (button.dataset.stick) await putOnStick(button);
      else if (button.dataset.export) await fetchFile(button);
      else await deed(button);
    } finally { busy = false; }
  });
  // A reloaded page continues the request.
  const stick = document.querySelector("button[data-stick]");
  if (stick?.dataset.job) follow(stick, stick.dataset.job);
  document.body.setAttribute("data-ready", ""); // touches work from here on
})();
