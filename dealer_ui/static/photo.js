// The phones' page: sends a picture, takes answers, and shows what comes of them. The server decides everything.
"use strict";
(() => {
  const main = () => document.getElementById("photo");
  const words = () => document.body.dataset;
  let timer = 0;

  function complain(sentence) {
    const box = document.getElementById("error");
    box.textContent = sentence;
    box.hidden = false;
    clearTimeout(timer);
    timer = setTimeout(() => { box.hidden = true; }, 9000);
  }

  async function show() {
    const answer = await fetch("/", { headers: { Accept: "text/html" }, cache: "no-store" });
    if (answer.redirected) { location.reload(); return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    main().replaceWith(page.getElementById("photo"));
  }

  async function post(address, what) {
    try {
      const answer = await fetch(address, { method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" }, body: JSON.stringify(what) });
      if (answer.status === 401) { location.reload(); return; }
      const said = await answer.json();
      if (said.ok) await show();
      else complain(said.error);
    } catch { complain(words().unreachable); }
  }

  const say = (kind, is, key = "") => post("/answer", { kind, key, is: String(is) });

  // ---- a picture ----

  function progress(share) {
    const part = document.querySelector(".progress");
    const said = part.querySelector("span");
    const bar = part.querySelector("progress");
    part.hidden = share === null;
    if (share !== null && share < 1) bar.value = share;
    else bar.removeAttribute("value");
    said.textContent = share === null ? "" : share < 1 ? said.dataset.sending : said.dataset.reading;
    for (const way of document.querySelectorAll(".ways :is(input, button)")) way.disabled = share !== null;
    document.querySelector(".ways").hidden = share !== null;
  }

  function send(file) {
    if (file.size > Number(words().most)) { complain(words().tooLarge); return; }
    const request = new XMLHttpRequest();
    request.open("POST", "/picture");
    request.responseType = "json";
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", (event) => progress(event.lengthComputable ? event.loaded / event.total : 0));
    request.upload.addEventListener("load", () => progress(1));
    request.addEventListener("loadend", () => {
      progress(null);
      if (request.status === 401) location.reload();
      else if (request.response?.ok) show();
      else complain(request.response?.error || words().unreachable);
    });
    progress(0);
    request.send(file);
  }

  function takeFile(field) {
    const file = field.files?.[0];
    if (!file) return false;
    send(file);
    field.value = "";
    return true;
  }

  document.addEventListener("change", ({ target }) => {
    if (!takeFile(target) && target.dataset.kind) say(target.dataset.kind, target.value);
  });
  [...document.querySelectorAll("input[type=file]")].some(takeFile); // chosen before this script was there

  // ---- cards ----

  const pad = () => document.getElementById("pad");
  let asked = null; // {kind, key}

  function choose(kind, key, title, likely) {
    asked = { kind, key };
    document.getElementById("pad-which").textContent = title;
    const keys = likely.split(" ").filter(Boolean).map((code) => document.querySelector(`.padcards [data-card="${code}"]`).cloneNode(true));
    const part = document.getElementById("pad-likely");
    part.replaceChildren(...keys);
    part.hidden = keys.length === 0;
    pad().querySelector("[data-card=none]").hidden = kind !== "card";
    pad().showModal();
  }

  function mark(card) {
    card.setAttribute("aria-pressed", card.getAttribute("aria-pressed") !== "true");
    const count = marked().length;
    document.querySelector("[data-one-row]").disabled = count !== 3 && count !== 5;
  }

  const marked = () => [...document.querySelectorAll("svg [aria-pressed=true]")].map((card) => card.dataset.number);

  function touch(target) {
    const { number, likely, missing, answer, card } = target.dataset;
    const title = target.dataset.title ?? target.getAttribute("aria-label");
    if (number && target.closest("[data-rows]")) mark(target);
    else if (number) choose("card", number, title, likely);
    else if (missing) choose("missing", missing, title, "");
    else if (answer) post("/answer", JSON.parse(answer));
    else if (card) { pad().close(); say(asked.kind, card, asked.key); }
    else if ("oneRow" in target.dataset) say("rows", marked().join(" "));
    else if ("declared" in target.dataset) say("declared", [...document.querySelectorAll("[name=declared]:checked")].map((one) => one.value).join(" ") || "none");
    else if ("forget" in target.dataset) post("/forget", {});
    else if ("close" in target.dataset) pad().close();
    else if ("larger" in target.dataset) target.setAttribute("aria-pressed", document.querySelector(".seen").classList.toggle("larger"));
  }

  const TOUCHED = "button, g[data-number]";
  document.addEventListener("click", (event) => {
    const target = event.target.closest(TOUCHED);
    if (target?.type !== "submit") touch(target ?? document.body);
  });
  document.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.closest?.("g[data-number]")) {
      event.preventDefault();
      touch(event.target.closest("g[data-number]"));
    }
  });
})();
