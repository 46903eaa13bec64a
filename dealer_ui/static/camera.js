// The camera's pages: send orders, follow their jobs to the end, and show the server's rendered results. A live picture
// requests one reading after another, until the screen has not been touched for some minutes.
"use strict";
(() => {
  const bench = document.querySelector("[data-bench]");
  if (!bench) return;
  const BETWEEN_LOOKS_MS = 700;
  const AFTER_TROUBLE_MS = 1500;
  const ASK_EVERY_MS = 120;
  const NOBODY_MS = 5 * 60 * 1000;
  const SAID_MS = 8000;
  const GIVE_UP_MS = 120000;

  const $ = (selector) => document.querySelector(selector);
  const progress = $("#progress");
  const result = $("#said");
  const begun = new Set();
  let busy = false; // a user's order is pending: the live picture waits
  let touched = performance.now();
  let saying = 0;
  let taken = ""; // the order that the live picture gave last

  const wait = (ms) => new Promise((done) => setTimeout(done, ms));

  // Follow a job to its end; `tell` is called with its progress.
  async function follow(number, tell) {
    const until = performance.now() + GIVE_UP_MS;
    for (;;) {
      const answer = await feltwatch.get(bench.dataset.jobs + number);
      if (!answer.ok || answer.state !== "running" || performance.now() > until) return answer;
      tell(answer);
      await wait(ASK_EVERY_MS);
    }
  }

  // Load the picture before showing it: a live picture must not blink.
  async function show(into, answer) {
    if (answer.picture) {
      const picture = new Image();
      picture.src = answer.picture;
      await picture.decode().catch(() => {});
    }
    into.innerHTML = answer.html;
    into.dataset.job = answer.state;
    const where = into.querySelector("template[data-where]");
    if (where) $(".where").textContent = where.content.textContent;
  }

  function allow(answer) {
    if (answer.enough === undefined) return;
    for (const button of document.querySelectorAll("[data-needs]")) button.disabled = !answer.enough;
  }

  function hold(is) {
    busy = is;
    document.body.toggleAttribute("data-sending", is);
    progress.hidden = !is;
    progress.removeAttribute("value");
  }

  async function give(order) {
    const answer = await feltwatch.command(order);
    if (!answer.ok) { feltwatch.complain(answer.error); return null; }
    if (answer.job === undefined) return answer;
    const end = await follow(answer.job, ({ done, of }) => { progress.max = of; progress.value = done; });
    if (!end.ok) { feltwatch.complain(end.error); return null; }
    if (end.state === "running") { feltwatch.complain(document.body.dataset.unreachable); return null; }
    return end;
  }

  async function sendButton(button) {
    if (busy) return;
    hold(true);
    try {
      const first = button.dataset.first;
      if (first && !begun.has(first)) {
        if (!await give(JSON.parse(first))) return;
        begun.add(first);
      }
      const end = await give(JSON.parse(button.dataset.order));
      if (!end) return;
      const box = document.getElementById("error");
      box.hidden = true;
      if (end.state === "failed" && !end.html) feltwatch.complain(end.why);
      if (end.html) await show(button.dataset.into ? $(button.dataset.into) : result, end);
      allow(end);
      clearTimeout(saying);
      saying = setTimeout(() => result.replaceChildren(), SAID_MS); // the message is outdated by now
      if (end.state === undefined) {
        result.textContent = result.dataset.done || "";
        for (const open of document.querySelectorAll("dialog[open]")) open.close();
        if (end.join) location.assign(bench.dataset.then + end.join);
        else if (result.dataset.done === undefined) location.reload();
        for (const other of document.querySelectorAll("[data-needs]")) other.disabled = true;
      }
    } finally {
      hold(false);
    }
  }

  // ---- the live picture ----

  async function live() {
    const into = $(bench.dataset.live);
    const paused = $("#paused");
    for (;;) {
      const nobody = performance.now() - touched > NOBODY_MS;
      paused.hidden = !nobody;
      if (nobody) paused.textContent = bench.dataset.paused;
      if (busy || nobody || document.hidden) { await wait(200); continue; }
      const asked = await feltwatch.post(bench.dataset.look, {});
      const answer = asked.ok ? await follow(asked.job, () => {}) : asked;
      const why = answer.error || (answer.state === "failed" ? answer.why : "");
      if (busy) continue;
      if (why) {
        const sentence = document.createElement("p");
        sentence.className = "waits-for ill";
        sentence.textContent = why;
        into.replaceChildren(sentence);
        into.dataset.job = "failed";
      } else if (answer.html) {
        await show(into, answer);
        const now = into.querySelector("[data-at-once]"); // both hands hold what the camera sees
        if (now && now.dataset.order !== taken) {
          taken = now.dataset.order;
          await sendButton(now);
        }
      }
      await wait(why ? AFTER_TROUBLE_MS : BETWEEN_LOOKS_MS);
    }
  }

  // ---- touches ----

  let repeating = 0;
  function repeat(button) {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", on);
    clearInterval(repeating);
    if (on) {
      const shutter = document.querySelector("[data-order][data-first]");
      sendButton(shutter);
      repeating = setInterval(() => sendButton(shutter), Number(button.dataset.again));
    }
  }

  async function compare() {
    const into = $("#compared");
    if (await feltwatch.load(into, into.dataset.address)) $("#compare").showModal();
    else feltwatch.complain(document.body.dataset.unreachable);
  }

  addEventListener("pointerdown", () => { touched = performance.now(); }, true);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.order) {
      const dialog = button.closest("dialog");
      if (dialog && button.dataset.into) dialog.close();
      sendButton(button);
    }
    else if (button.dataset.openDialog) $(`#${button.dataset.openDialog}`).showModal();
    else if (button.hasAttribute("data-compare")) compare();
    else if (button.dataset.again) repeat(button);
  });

  if (bench.dataset.live) live();
})();
