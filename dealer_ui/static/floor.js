// The floor page: follows every table by server-sent events. The server renders each tile; this script puts them in
// order, counts the time on them, and says "I go".
"use strict";
(() => {
  const QUIET_LIMIT_MS = 2500; // heartbeats come every second; after two missed ones the page is not live
  const DEAD_LIMIT_MS = 12000;
  const body = document.body;
  const token = document.querySelector("meta[name=csrf-token]");
  const build = document.querySelector("meta[name=build]").content;
  const $ = (id) => document.getElementById(id);
  const words = { live: $("live-words").content.textContent, lost: body.dataset.notliveWords };

  let ahead = Number(body.dataset.now) - Date.now(); // the pit's clock, seen from this machine's
  let lastHeard = -Infinity;
  let lastSpoken = performance.now();

  function elapsed(ms) {
    const seconds = Math.max(0, Math.floor(ms / 1000));
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    const two = (number) => String(number).padStart(2, "0");
    return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
  }

  function tick() {
    const now = Date.now() + ahead;
    for (const one of document.querySelectorAll("[data-since]")) {
      const text = elapsed(now - Number(one.dataset.since));
      if (one.textContent !== text) one.textContent = text;
    }
    $("clock").textContent = new Date(now).toTimeString().slice(0, 8);
    const heard = performance.now();
    if (heard - lastHeard > QUIET_LIMIT_MS) lost();
    if (worker && heard - lastSpoken > DEAD_LIMIT_MS) {
      worker.port.close();
      worker = null;
      followTable(body.dataset.events, hear);
    }
  }

  function lost() {
    body.setAttribute("data-notlive", "");
    $("live").textContent = words.lost;
  }

  function show(message) {
    if (message.language !== document.documentElement.lang) { location.reload(); return; }
    for (const [id, html] of Object.entries(message.parts)) {
      let part = $(id);
      if (!part) {
        part = document.createElement("li");
        part.id = id;
        $("dealing").append(part);
      }
      part.innerHTML = html;
    }
    const known = new Set(Object.values(message.order).flat());
    for (const part of document.querySelectorAll(".band li")) if (!known.has(part.id)) part.remove();
    for (const [band, ids] of Object.entries(message.order)) {
      const list = $(band);
      ids.forEach((id, place) => {
        const part = $(id);
        if (part && list.children[place] !== part) list.insertBefore(part, list.children[place] || null);
      });
      document.querySelector(`[data-count="${band}"]`).textContent = ids.length;
    }
    tick();
  }

  const HEAR = {
    hello: (data) => {
      const hello = JSON.parse(data);
      if (hello.build !== build) location.reload();
      token.content = hello.token;
      ahead = Number(hello.now) - Date.now();
    },
    view: (data) => show(JSON.parse(data)),
    beat: () => {},
    stale: lost,
    lost,
  };

  function hear({ name, data }) {
    lastSpoken = performance.now();
    HEAR[name](data);
    if (name === "lost" || name === "stale") return;
    lastHeard = lastSpoken;
    if (name === "hello") return;
    body.removeAttribute("data-notlive");
    $("live").textContent = words.live;
  }

  let worker = null;
  function follow() {
    if (!self.SharedWorker) { followTable(body.dataset.events, hear); return; }
    worker = new SharedWorker(document.querySelector("script[src*='stream.js']").src, "feltwatch-floor");
    worker.port.onmessage = ({ data }) => hear(data);
    worker.port.postMessage(new URL(body.dataset.events, location).href);
    addEventListener("pagehide", () => worker?.port.postMessage(""));
    addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-going]");
    if (!button) return;
    const answer = await feltwatch.post(`/going/${button.dataset.going}`, { need: button.dataset.need });
    if (!answer.ok) feltwatch.complain(answer.error);
  });

  lost();
  setInterval(tick, 250);
  tick();
  follow();
})();
