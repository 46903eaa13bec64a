// A zoomable camera picture: pinch or double-tap to zoom, drag to move, show or hide the reading.
"use strict";
(() => {
  const NEAREST = 8; // times
  const TAPPED_TWICE = 3; // times
  const TWICE_MS = 300;
  const STILL_PX = 10; // a smaller movement is a tap

  const within = (value, least, most) => Math.min(Math.max(value, least), most);

  function closely(frame) {
    const [left, top, width, height] = frame.getAttribute("viewBox").split(" ").map(Number);
    const fingers = new Map();
    let box = [left, top, width];
    let moved = false;
    let tapped = null; // the last tap: when and where
    let leaving = 0;

    function show(x, y, wide) {
      const high = wide * height / width;
      box = [within(x, left, left + width - wide), within(y, top, top + height - high), wide];
      frame.setAttribute("viewBox", `${box[0]} ${box[1]} ${wide} ${high}`);
      frame.classList.toggle("near", wide < width);
    }
    const spot = ([x, y]) => new DOMPoint(x, y).matrixTransform(frame.getScreenCTM().inverse());

    function zoom(at, times) { // the point `at` stays fixed
      const [x, y, wide] = box;
      const now = within(wide / times, width / NEAREST, width);
      show(at.x - (at.x - x) * now / wide, at.y - (at.y - y) * now / wide, now);
    }
    function drag(from, to) {
      const [a, b] = [spot(from), spot(to)];
      show(box[0] + a.x - b.x, box[1] + a.y - b.y, box[2]);
    }

    const hand = () => { // the middle of the touches, and their distance
      const [a, b = a] = [...fingers.values()];
      return { middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], apart: Math.hypot(a[0] - b[0], a[1] - b[1]) };
    };

    frame.addEventListener("pointerdown", (event) => {
      if (!fingers.size) moved = false;
      if (fingers.size < 2) fingers.set(event.pointerId, [event.clientX, event.clientY]);
      moved ||= fingers.size > 1;
    });
    addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const place = [event.clientX, event.clientY];
      if (!moved && Math.hypot(place[0] - before[0], place[1] - before[1]) < STILL_PX) return;
      moved = true;
      const from = hand();
      fingers.set(event.pointerId, place);
      const to = hand();
      if (from.apart && to.apart) zoom(spot(from.middle), to.apart / from.apart);
      drag(from.middle, to.middle);
    });
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, (event) => fingers.delete(event.pointerId));

    // A tap on a card opens it, after a delay: it may be the first tap of two.
    frame.addEventListener("click", (event) => {
      if (!event.detail) return; // from a key
      event.preventDefault();
      clearTimeout(leaving);
      if (moved) return;
      const place = [event.clientX, event.clientY];
      const twice = tapped && event.timeStamp - tapped.at < TWICE_MS && Math.hypot(place[0] - tapped.place[0], place[1] - tapped.place[1]) < 4 * STILL_PX;
      tapped = twice ? null : { at: event.timeStamp, place };
      const link = event.target.closest("a");
      if (twice) { if (box[2] < width) show(left, top, width); else zoom(spot(place), TAPPED_TWICE); }
      else if (link) leaving = setTimeout(() => location.assign(link.href.baseVal), TWICE_MS);
    });
  }

  const frames = [...document.querySelectorAll("svg.frame")];
  frames.forEach(closely);

  // Stays on the page, to keep the zoom.
  const marks = [...document.querySelectorAll("[data-marks]")];
  for (const one of marks) one.addEventListener("click", (event) => {
    event.preventDefault();
    for (const frame of frames) frame.classList.toggle("bare", one.dataset.marks === "off");
    for (const other of marks) if (other === one) other.setAttribute("aria-current", "true"); else other.removeAttribute("aria-current");
    history.replaceState(null, "", one.href);
  });
})();
