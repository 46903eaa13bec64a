// The page's script: follows the table by server-sent events, sends the dealer's commands, shows when it is not
// live. It knows no rules and no commands: the server renders every part and every button's command.
"use strict";
(() => {
  const HOLD_MS = 900;
  const SETTLE_MS = 450; // replaced parts take touches after this
  const PAID_MS = 1200; // after a payment was marked, the next one and the next hand take touches after this
  const GUARDED = ["next", "mark_paid", "confirm"]; // the table refuses them for an older view, by the push-buttons' rule
  const TWICE_MS = 350; // a second touch this soon on the same button is the same touch

  const $ = (id) => document.getElementById(id);
  const body = document.body;

  // following the table

  const shown = new Map();
  const rendered = new Map([...document.querySelectorAll("[data-part]")].map((part) => [part.id, part.innerHTML])); // before fit.js
  let justPaid = 0;

  function show(message) {
    if (message.language !== document.documentElement.lang) { location.reload(); return; } // the language has changed
    if (!message.set_up) { location.reload(); return; } // the table answers now, and the address leads to the set-up
    for (const [id, html] of Object.entries(message.parts)) {
      const part = $(id);
      if (!part || shown.get(id) === html) continue;
      shown.set(id, html);
      const fresh = document.createElement("template");
      fresh.innerHTML = html;
      if (fresh.innerHTML === rendered.get(id)) continue; // unchanged since the page was rendered
      rendered.delete(id);
      part.replaceChildren(fresh.content);
      settle(part);
    }
    document.title = message.title;
    tableLost = message.answering ? null : { since: message.since, why: message.why };
    kiosk.cues(message.cues);
    if (String(message.seq) !== (body.dataset.seq || body.dataset.camewith)) kiosk.wake(); // not the first view
    body.dataset.seq = message.seq;
    body.dataset.sums = message.sums;
    body.dataset.mode = message.mode;
    if (message.hand === body.dataset.hand && Number(message.paid) > Number(body.dataset.paid)) {
      body.setAttribute("data-justpaid", "");
      clearTimeout(justPaid);
      justPaid = setTimeout(() => body.removeAttribute("data-justpaid"), PAID_MS);
    }
    body.dataset.paid = message.paid;
    if (message.hand !== body.dataset.hand || message.phase !== body.dataset.phase) {
      body.dataset.hand = message.hand;
      body.dataset.phase = message.phase;
      closeDialogs(); // the input belongs to the previous view
      release();
    }
    if (holding && !holding.button.isConnected) release(); // the held button is gone
    markUsed();
    goOnKeying();
  }

  // A button that has just appeared ignores the touch that was meant for the previous one.
  const settling = new Map();
  function settle(part) {
    part.classList.add("fresh");
    clearTimeout(settling.get(part));
    settling.set(part, setTimeout(() => part.classList.remove("fresh"), SETTLE_MS));
  }

  // Not live: the stream is lost ("page"), or the table process does not answer the page's server ("table").
  const bar = $("notlive");
  function notLive(kind, since, why) {
    const words = bar.querySelector("[data-since]");
    words.textContent = since ? words.dataset.since.replace("{time}", since) : words.dataset.never;
    const reason = bar.querySelector("[data-why]");
    reason.textContent = why || reason.dataset[kind];
    if (body.dataset.notlive === kind) return;
    body.dataset.notlive = kind;
    bar.hidden = false;
    closeDialogs();
    release();
  }

  let tableLost = body.dataset.notlive === "table" ? { since: body.dataset.since, why: bar.querySelector("[data-why]").textContent } : null;
  function alive() {
    if (tableLost) notLive("table", tableLost.since, tableLost.why);
    else if (body.dataset.notlive) {
      delete body.dataset.notlive;
      bar.hidden = true;
    }
  }

  let lostSince = "";
  function lost(why, ms) {
    if (body.dataset.notlive !== "page") lostSince = new Date(Date.now() - ms).toTimeString().slice(0, 8);
    notLive("page", lostSince, why);
  }

  // sending commands

  let lastSent = "";
  let lastSentAt = -Infinity;

  async function send(command) {
    const text = JSON.stringify(command);
    const now = performance.now();
    if (text === lastSent && now - lastSentAt < TWICE_MS) return false;
    lastSent = text;
    lastSentAt = now;
    $("error").hidden = true;
    body.setAttribute("data-sending", "");
    const seen = GUARDED.includes(command.do) ? { seen: Number(body.dataset.seq || body.dataset.camewith) } : {};
    const answer = await feltwatch.send({ ...command, ...seen }, { within: 5000, asked: (refusal) => askPin(command, refusal) });
    body.removeAttribute("data-sending");
    return answer.ok;
  }

  // A button's commands: the first, and the others while the table accepts them.
  async function act(button) {
    for (const command of [JSON.parse(button.dataset.command), ...JSON.parse(button.dataset.also || "[]")]) {
      if (!await send(command)) return;
    }
  }

  // the card pad

  let pad = null; // {title, command, count, have}
  let picked = []; // a code or null at each spot of the row
  let declined = ""; // the row whose pad was closed without its cards
  let keyed = ""; // the row sent last without a camera: the next row's pad opens by itself

  function goOnKeying() {
    const next = document.querySelector(keyed ? "#need [data-follow]" : "#need [data-begins]");
    if (!next || document.querySelector("dialog[open]")) return;
    const asks = JSON.stringify(JSON.parse(next.dataset.pad).command);
    if (asks === keyed || asks === declined) return; // not yet accepted, or closed without a card
    keyed = "";
    openPad(next);
    if (pad.left) sendPicked(); // the deck's last row is what is left
  }

  function markUsed() {
    const used = new Map($("used").textContent.trim().split(" ").map((one) => [one.slice(0, 2), one]));
    for (const key of document.querySelectorAll("#pad [data-card]")) {
      const one = used.get(key.dataset.card) || "";
      key.classList.toggle("used", one !== "");
      key.classList.toggle("swaps", one.length > 3);
      key.dataset.at = one.slice(2, 3);
    }
  }

  function openPad(button) {
    pad = JSON.parse(button.dataset.pad);
    pad.follow = button.hasAttribute("data-follow");
    const left = [...document.querySelectorAll("#pad [data-card]:not(.used)")].map((key) => key.dataset.card);
    const have = left.length === pad.count && !pad.have.length ? left : pad.have; // the deck's last row fills itself
    pad.left = have === left;
    picked = Array.from({ length: pad.count }, (_, i) => have[i] ?? null);
    showLikely();
    $("pad-title").textContent = pad.title;
    $("pad").classList.toggle("several", pad.count > 1);
    $("pad").classList.toggle("swapping", Boolean(pad.command.swap)); // a card from elsewhere swaps both
    showPicked();
    $("pad").showModal();
  }

  // What it probably is stands before the fifty-two.
  function showLikely() {
    const keys = (pad.likely || []).map((code) => document.querySelector(`.padcards [data-card="${code}"]`).cloneNode(true));
    for (const key of keys) { key.dataset.likely = key.dataset.card; delete key.dataset.card; }
    $("pad-likely").replaceChildren(...keys);
    $("pad-likely").hidden = keys.length === 0;
  }

  // All that are left of a rank, where the row has room for them: a pair that is the last of its rank is one touch.
  const leftOf = (rank) => [...document.querySelectorAll(`.padcards [data-card^="${rank}"]:not(.used)`)].map((key) => key.dataset.card).filter((code) => !picked.includes(code));

  function pickRank(rank) {
    const free = picked.flatMap((code, at) => (code ? [] : [at]));
    leftOf(rank).forEach((code, i) => { picked[free[i]] = code; });
    showPicked();
    if (!picked.includes(null)) sendPicked();
  }

  function showPicked() {
    const room = picked.filter((code) => code === null).length;
    for (const key of document.querySelectorAll("#pad [data-rank]")) {
      const left = leftOf(key.dataset.rank).length;
      key.disabled = left < 2 || left > room;
    }
    for (const key of document.querySelectorAll("#pad [data-card]")) {
      key.setAttribute("aria-pressed", picked.includes(key.dataset.card));
    }
    const slots = $("picked");
    slots.replaceChildren();
    for (let i = 0; i < pad.count; i++) {
      const key = picked[i] && document.querySelector(`#pad [data-card="${picked[i]}"]`);
      const slot = document.createElement("span");
      slot.className = key ? key.className.replace(/used|swaps/g, "") : "card empty";
      if (key) slot.append(...[...key.childNodes].map((node) => node.cloneNode(true)));
      slots.append(slot);
    }
    $("pad-done").disabled = picked.includes(null);
  }

  function pick(code) {
    if (pad.count === 1) {
      $("pad").close();
      send({ ...pad.command, card: code });
      return;
    }
    const at = picked.includes(code) ? picked.indexOf(code) : picked.indexOf(null);
    if (at < 0) return;
    picked[at] = picked[at] ? null : code;
    showPicked();
    if (picked[at] && !picked.includes(null)) sendPicked(); // the last touch of a row is its end
  }

  $("pad").addEventListener("cancel", () => { declined = JSON.stringify(pad.command); });
  $("pad").querySelector("[data-close]").addEventListener("click", () => { declined = JSON.stringify(pad.command); });

  function sendPicked() {
    $("pad").close();
    keyed = pad.follow ? JSON.stringify(pad.command) : "";
    send({ ...pad.command, cards: picked.join(" ") }).then((taken) => { if (!taken) keyed = ""; });
  }

  // the keypad: sums and PINs

  let sum = null; // {title, command, base, least, most}, all in cents
  let asked = null; // the command that asks for somebody's PIN
  let figures = "";

  const said = (name, words) => $("keyed-says").dataset[name].replace(/\{(\w+)\}/g, (_, key) => words[key]);

  function openKeypad(what) {
    sum = what;
    asked = null;
    showKeypad(sum.title);
  }

  // A name and the next input go into the same command.
  function openLetters(button) {
    const { title, command, into, then, offers } = JSON.parse(button.dataset.name);
    letters.ask(title, (name) => {
      const named = { ...command, [into]: name };
      if (then) openKeypad({ ...then, title: `${name}: ${then.title}`, command: named });
      else send(named);
    }, offers);
  }

  const hundredths = () => (sum.into === "past" ? 1 : 100);
  const spelled = (number) => (sum.into === "past" ? String(number) : written(number));

  // The table says that a PIN would do: a person enters name and PIN, and the same command is sent again in that name.
  function askPin(command, answer) {
    const { by, pin, ...bare } = command;
    asked = bare;
    showKeypad(answer.error);
    entry.name(by || "");
    entry.note(answer);
    showKeyed();
  }

  const entry = pinEntry($("keypad-who"), () => { if (asked) showKeyed(); });

  function showKeypad(title) {
    figures = "";
    const done = $("keypad-done");
    done.removeAttribute("data-hold");
    done.removeAttribute("data-command");
    $("keyed-change").hidden = asked !== null || sum.into === "past";
    $("keypad-title").textContent = title;
    $("keypad-who").hidden = asked === null;
    $("keyed-chips").replaceChildren(...(asked ? [] : sum.chips || []).map((cents) => {
      const key = document.createElement("button");
      key.type = "button";
      key.className = "action plain";
      key.dataset.chip = cents;
      key.append(Object.assign(document.createElement("span"), { textContent: `+${written(cents)}` }));
      return key;
    }));
    $("keypad").querySelector("[data-key='00']").disabled = asked !== null; // only for sums
    showKeyed();
    if (!$("keypad").open) $("keypad").showModal();
  }

  function showKeyed() {
    if (asked) {
      $("keyed").textContent = entry.dots(figures);
      const left = entry.left();
      if (left > 0) figures = "";
      $("keyed-says").textContent = said(left > 0 ? "waits" : "pin", { left: feltwatch.minutes(left) });
      $("keyed-says").classList.toggle("lockout", left > 0);
      $("keypad-done").disabled = figures.length < 4 || left > 0 || !entry.isNamed();
      return;
    }
    $("keyed-says").classList.remove("lockout");
    const cents = Number(figures || 0) * hundredths();
    $("keyed").textContent = spelled(cents);
    const after = sum.base + cents;
    const beyond = Boolean(sum.limit) && after > sum.limit && figures !== "";
    let says = beyond ? said("limit", { limit: written(sum.limit), sum: written(after) }) : "";
    if (cents < sum.least && sum.least > hundredths()) says = said("least", { amount: spelled(sum.least) });
    if (after > sum.most) says = said("most", { amount: spelled(sum.most - sum.base) });
    $("keyed-says").textContent = says;
    const change = $("keyed-change");
    const old = change.querySelector("[data-old]");
    old.textContent = sum.old === null ? old.dataset.unknown : written(sum.old);
    change.querySelector("[data-new]").textContent = figures === "" ? "" : written(after);
    change.querySelector("[data-more]").textContent = figures === "" ? "" : `${after < sum.old ? "\u2212" : "+"}${written(Math.abs(after - sum.old))}`;
    $("keyed-says").classList.toggle("beyond", beyond);
    const done = $("keypad-done");
    done.toggleAttribute("data-hold", beyond); // sums beyond the limit need a held touch
    if (beyond) done.dataset.command = JSON.stringify(keyedCommand());
    else done.removeAttribute("data-command");
    done.disabled = figures === "" || cents < sum.least || after > sum.most;
  }

  // A sum of chips that players often bring: one touch, unless it has to be asked.
  function keyChip(cents) {
    figures = String(cents / 100);
    showKeyed();
    if (!$("keypad-done").disabled && !$("keypad-done").hasAttribute("data-hold")) $("keypad-done").click();
  }

  const keyedCommand = () => (asked ? { ...asked, ...entry.signed(figures) }
    : { ...sum.command, [sum.into]: (sum.into === "stack" ? sum.base : 0) + Number(figures) * hundredths() });

  function key(what) {
    if (what === "back") figures = figures.slice(0, -1);
    else if (asked) figures = entry.left() > 0 ? "" : (figures + what).slice(0, 12);
    else figures = (figures + what).replace(/^0+(?=.)/, "").slice(0, 7);
    showKeyed();
  }

  async function open(id) {
    const dialog = $(id);
    dialog.showModal();
    const part = dialog.querySelector("[data-load]");
    if (!part) return;
    if (await feltwatch.load(part, part.dataset.load)) return;
    dialog.close();
    feltwatch.complain(body.dataset.noRules);
  }

  function closeDialogs() {
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  }

  // touches

  let holding = null;

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button || body.dataset.notlive === "page") return;
    if (button.dataset.open) open(button.dataset.open);
    else if (button.dataset.pad) { closeDialogs(); openPad(button); }
    else if (button.dataset.card || button.dataset.likely) pick(button.dataset.card || button.dataset.likely);
    else if (button.dataset.rank) pickRank(button.dataset.rank);
    else if (button.dataset.chip) keyChip(Number(button.dataset.chip));
    else if (button.dataset.amount) { closeDialogs(); openKeypad(JSON.parse(button.dataset.amount)); }
    else if (button.dataset.name) { closeDialogs(); openLetters(button); }
    else if (button.dataset.key) key(button.dataset.key);
    else if (button.id === "keypad-done") {
      if (button.hasAttribute("data-hold") && event.detail !== 0) return;
      $("keypad").close();
      send(keyedCommand());
      figures = "";
    }
    else if (button.id === "pad-done") sendPicked();
    else if (button.dataset.command) {
      if (button.hasAttribute("data-hold") && event.detail !== 0) return; // from a keyboard
      closeDialogs();
      act(button);
    }
  });

  document.addEventListener("pointerdown", (event) => {
    const button = event.target.closest("button[data-hold]");
    if (!button || body.hasAttribute("data-notlive")) return;
    button.classList.add("holding");
    holding = { button, timer: setTimeout(() => { release(); closeDialogs(); act(button); }, HOLD_MS) };
  });

  function release() {
    if (!holding) return;
    clearTimeout(holding.timer);
    holding.button.classList.remove("holding");
    holding = null;
  }
  for (const end of ["pointerup", "pointercancel", "pointerleave", "blur"]) addEventListener(end, release);
  document.addEventListener("contextmenu", (event) => event.preventDefault()); // a long touch opens no menu of the browser

  markUsed();
  goOnKeying();
  followPage("feltwatch", { show, live: alive, lost });
})();
