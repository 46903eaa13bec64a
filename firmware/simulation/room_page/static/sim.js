"use strict";
// Sends what a person does to the room, and shows how the room stands. The table is not asked; its view is only shown.
const token = document.querySelector("meta[name=csrf-token]").content;
const all = (selector) => document.querySelectorAll(selector);
const error = document.getElementById("error");
const WELL = [
  { do: "puck", what: "thaw" }, { do: "antenna", seat: 3, ok: true }, { do: "panel", plugged: true }, { do: "mains", on: true },
  { do: "let_go", button: "next" }, { do: "camera", what: "replug" }, { do: "camera", what: "thaw" },
  { do: "camera", what: "clear" }, { do: "drift", value: 0 }, { do: "knob", name: "glare", value: 0 },
  { do: "knob", name: "light", value: 1 }, { do: "knob", name: "bands", value: 0 }, { do: "knob", name: "late_s", value: 0 },
];
let room = null;
let hideError = 0;
let orders = 0; // what was asked for before one of them is old by the time it comes

function complain(sentence) {
  error.textContent = sentence;
  error.hidden = false;
  clearTimeout(hideError);
  hideError = setTimeout(() => { error.hidden = true; }, 4000);
}

async function order(what) {
  orders += 1;
  try {
    const answer = await fetch("/sim/do", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": token },
      body: JSON.stringify(what),
    });
    const said = await answer.json();
    orders += 1;
    if (said.ok) show(said.room); else complain(said.error);
  } catch {
    complain("The demo does not answer.");
  }
}

const at = (path) => path.split(".").reduce((part, name) => part[name], room);

function show(now) {
  room = now;
  for (const button of all("[data-seat]")) {
    const seat = Number(button.dataset.seat);
    const lies = [["D", room.puck.dealer], ["A", room.puck.action], ["?", room.puck.strangers]];
    button.querySelector("i").textContent = lies.filter(([, seats]) => seats.includes(seat)).map(([name]) => name).join(" ");
    button.classList.toggle("wrong", room.puck.dead.includes(seat));
  }
  for (const button of all("[data-toggle], [data-has]")) {
    const { toggle, has, item, words } = button.dataset;
    const on = toggle ? Boolean(at(toggle)) : at(has).map(String).includes(item);
    button.textContent = words.split("|")[on ? 0 : 1];
    button.dataset.order = on ? button.dataset.on : button.dataset.off;
    const well = toggle === "puck.plugged" || toggle === "panel.plugged" || toggle === "camera.plugged" || toggle === "panel.mains" || toggle === "dealer.plays";
    button.classList.toggle("wrong", on !== well);
  }
  for (const lamp of all("[data-lamp]")) lamp.classList.toggle("lit", room.panel.lit.includes(lamp.dataset.lamp));
  for (const button of all("[data-push]")) button.classList.toggle("down", room.panel.down.includes(button.dataset.push));
  for (const button of all(".mine")) button.disabled = room.dealer.plays;
  for (const knob of all("[data-knob]")) {
    if (document.activeElement !== knob || !knob.matches(":active")) knob.value = room.camera[knob.dataset.knob];
    label(knob);
  }
}

function label(knob) {
  const percent = knob.dataset.unit === "%";
  knob.previousElementSibling.textContent = percent ? `${Math.round(knob.value * 100)} %` : `${knob.value} s`;
}

async function follow() {
  const asked = orders;
  try {
    const [now, view] = await Promise.all(["/sim/room.json", "/view.json"].map(async (path) => (await fetch(path)).json()));
    if (!now.ok) complain(now.error); else if (asked === orders) show(now.room);
    document.getElementById("phase").textContent = view.phase_title || "";
    document.getElementById("said").replaceChildren(...view.devices.map((device) => {
      const item = document.createElement("li");
      item.className = device.ok === null ? "unknown" : device.ok ? "" : "fault";
      item.textContent = device.ok ? `● ${device.name}` : `${device.ok === null ? "?" : "▲"} ${device.name}: ${device.text || "not known"}`;
      return item;
    }));
  } catch {
    complain("The demo does not answer.");
  }
  setTimeout(follow, 400);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-order]");
  if (!button) return;
  const what = JSON.parse(button.dataset.order);
  if (what.do !== "all_well") { order(what); return; }
  if (!room.puck.plugged) await order({ do: "puck", what: "replug" });
  for (const one of WELL) await order(one);
});
for (const button of all("[data-push]")) {
  const push = (what) => order({ do: what, button: button.dataset.push });
  button.addEventListener("pointerdown", (event) => { button.setPointerCapture(event.pointerId); push("push"); });
  for (const end of ["pointerup", "pointercancel"]) button.addEventListener(end, () => push("let_go"));
  button.addEventListener("contextmenu", (event) => event.preventDefault());
}
for (const knob of all("[data-knob]")) {
  knob.addEventListener("input", () => { label(knob); order({ do: "knob", name: knob.dataset.knob, value: Number(knob.value) }); });
}
follow();
