// The floor page: follows every table by server-sent events. The server renders each tile; this script puts them in
// order, counts the time on them, and says "I go".
"use strict";
(() => {
  const body = document.body;
  const $ = (id) => document.getElementById(id);
  const words = { live: $("live-words").content.textContent, lost: body.dataset.notliveWords };

  let ahead = Number(body.dataset.now) - Date.now(); // the pit's clock, seen from this machine's

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

  function live() {
    body.removeAttribute("data-notlive");
    $("live").textContent = words.live;
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
  followPage("feltwatch-floor", { hello: (message) => { ahead = Number(message.now) - Date.now(); }, show, live, lost });
})();
