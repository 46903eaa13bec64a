// This screen's own settings, sounds and sleep. Nothing here is sent.
"use strict";
// biome-ignore lint/correctness/noUnusedVariables: other scripts use it
const kiosk = (() => {
  const ASLEEP_AFTER_MS = 10 * 60 * 1000; // without a touch or a change at the table
  const body = document.body;

  // settings: stored in the browser, shared by all dealers at this screen

  const kept = {
    get(name) { try { return localStorage.getItem(`feltwatch-${name}`); } catch { return null; } },
    set(name, value) { try { localStorage.setItem(`feltwatch-${name}`, value); } catch { /* then until it is reloaded */ } },
  };
  function apply(button, value) {
    body.dataset[button.dataset.setting] = value;
    const words = button.dataset.words.split("|");
    button.querySelector("b").textContent = words[button.dataset.values.split(" ").indexOf(value)];
  }

  for (const button of document.querySelectorAll("[data-setting]")) {
    const values = button.dataset.values.split(" ");
    const before = kept.get(button.dataset.setting);
    apply(button, values.includes(before) ? before : values[0]);
    button.addEventListener("click", () => {
      const value = values[(values.indexOf(body.dataset[button.dataset.setting]) + 1) % values.length];
      kept.set(button.dataset.setting, value);
      apply(button, value);
      if (value === "on") play("natural");
    });
  }

  // sounds: short, different in melody and not only in height

  const MELODIES = { // [hertz, seconds]
    natural: [[660, 0.12], [880, 0.12], [1100, 0.22]],
    foul: [[392, 0.16], [262, 0.3]],
    fault: [[520, 0.1], [0, 0.08], [520, 0.1], [0, 0.08], [520, 0.1]],
  };
  let audio = null;
  let free = 0; // end of the current melody, in the audio's seconds

  function play(name) {
    if (body.dataset.sounds !== "on" || !self.AudioContext) return;
    body.dataset.sounded = name;
    audio ||= new AudioContext();
    if (audio.state === "suspended") audio.resume().catch(() => {}); // browsers may require a touch first
    let at = Math.max(audio.currentTime, free);
    for (const [hertz, seconds] of MELODIES[name]) {
      if (hertz) {
        const tone = audio.createOscillator();
        const loud = audio.createGain();
        tone.type = "triangle";
        tone.frequency.value = hertz;
        loud.gain.setValueAtTime(0.0001, at);
        loud.gain.exponentialRampToValueAtTime(0.25, at + 0.015);
        loud.gain.exponentialRampToValueAtTime(0.0001, at + seconds);
        tone.connect(loud).connect(audio.destination);
        tone.start(at);
        tone.stop(at + seconds);
      }
      at += seconds;
    }
    free = at + 0.2;
  }

  let known = new Set(body.dataset.cues.split(" ").filter(Boolean)); // cues of the first view do not sound

  function cues(text) {
    const now = new Set(text.split(" ").filter(Boolean));
    const kinds = new Set([...now].filter((cue) => !known.has(cue)).map((cue) => cue.split("-")[0]));
    known = now;
    if (kinds.has("dead") && body.dataset.dead === "shown") kinds.add("foul");
    for (const kind of ["fault", "foul", "natural"]) if (kinds.has(kind)) play(kind);
  }

  // sleep: a dark screen; the touch that wakes it does nothing else

  const asleep = document.getElementById("asleep");
  let timer = 0;

  function awake() {
    clearTimeout(timer);
    timer = setTimeout(() => asleep.showPopover(), ASLEEP_AFTER_MS);
  }
  function wake() {
    if (asleep.matches(":popover-open")) asleep.hidePopover();
    awake();
  }
  asleep.addEventListener("click", (event) => { event.stopPropagation(); wake(); });
  addEventListener("pointerdown", awake, true);
  awake();

  return { cues, wake };
})();
