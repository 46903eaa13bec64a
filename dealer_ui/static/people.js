// The page of people: a name from the on-screen keyboard, a PIN keyed twice, removal after confirmation.
"use strict";
(() => {
  const page = document.getElementById("people");
  if (!page) return;
  const words = page.dataset;
  const dialog = document.getElementById("new-pin");
  const title = document.getElementById("new-pin-title");
  const keyed = document.getElementById("new-pin-keyed");
  let first = "";
  let who = "";
  let done = () => {};

  const pad = figures(dialog.querySelector("[data-keys]"), {
    least: 6,
    most: 12,
    show(text) { keyed.textContent = "\u2022".repeat(text.length); },
    async done(text) {
      pad.clear();
      if (!first) {
        pad.enable(false);
        const answer = await feltwatch.post("/pin/new", { new_pin: text });
        pad.enable(true);
        if (!answer.ok) { feltwatch.complain(answer.error); return; }
        first = text;
        title.textContent = words.again;
      } else if (first !== text) {
        begin(words.differ);
      } else {
        first = "";
        dialog.close();
        done(text);
      }
    },
  });

  function begin(says) {
    first = "";
    pad.clear();
    title.textContent = says;
  }

  function askPin(name, then) {
    who = name;
    done = then;
    begin(words.newPin.replace("{name}", who));
    dialog.showModal();
  }

  // Errors of a new PIN are shown at its keypad, which asks again.
  async function give(command, name) {
    const answer = await feltwatch.send(command);
    if (answer.ok) return true;
    if (answer.ask) location.reload();
    else if (command.new_pin) {
      askPin(name, done);
      feltwatch.complain(answer.error); // again: the last opened element is on top
    }
    return false;
  }

  function add(button) {
    const role = button.dataset.add;
    letters.ask(words.name.replace("{role}", button.dataset.words), (name) => {
      const order = { do: "list_person", person: name, role };
      if (role === "dealer") give(order, name).then((taken) => { if (taken) location.reload(); });
      else askPin(name, async (pin) => {
        if (!await give({ ...order, new_pin: pin }, name)) return;
        if (words.first === "yes") await feltwatch.send({ do: "unlock", by: name, pin });
        location.reload();
      });
    });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const data = button.dataset;
    if (data.add) add(button);
    else if (data.pinOf) askPin(data.pinOf, async (pin) => {
      if (await give({ do: "set_pin", person: data.pinOf, new_pin: pin }, data.pinOf)) location.reload();
    });
    else if (data.badge) {
      give({ do: "list_badge", person: data.badge, off: "off" in data }).then((taken) => { if (taken) location.reload(); });
    } else if (data.strike) {
      document.getElementById("strike-title").textContent = data.words;
      document.getElementById("strike-done").dataset.person = data.strike;
      document.getElementById("strike").showModal();
    } else if (button.id === "strike-done") {
      document.getElementById("strike").close();
      give({ do: "remove_person", person: data.person }).then((taken) => { if (taken) location.reload(); });
    }
  });
})();
