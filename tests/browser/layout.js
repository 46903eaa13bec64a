// What of a page does not fit: overflow, text, cards or buttons that are cut, text or a button that lies on another.
// Returns sentences.
// `scrolls`: the page may be longer than the screen (a phone's).
({ scrolls }) => {
  const found = new Set();
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth + 1) found.add(`the page is ${root.scrollWidth} px wide`);
  if (!scrolls && root.scrollHeight > innerHeight + 1) found.add(`the page is ${root.scrollHeight} px high`);

  const titles = [...document.querySelectorAll("h1")].filter((e) => e.checkVisibility()).length;
  if (titles !== 1) found.add(`${titles} titles (h1)`);

  const open = [...document.querySelectorAll("dialog[open]")].pop();
  const alerts = open ? [] : [...document.querySelectorAll("[role=alert]")].filter((e) => e.checkVisibility());
  const seen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const meet = (a, b) => ({ left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) });
  const area = (box, least) => box.right - box.left > least && box.bottom - box.top > least;

  // Where an element's text may be seen, and whether what is beyond can be scrolled to or ends in an ellipsis.
  function window_(element) {
    let box = { left: -1e6, top: -1e6, right: 1e6, bottom: 1e6 };
    let reached = false, dotted = false;
    for (let e = element; e && e !== document.body; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const own = e.getBoundingClientRect();
      box = meet(box, own);
      reached ||= ["auto", "scroll"].includes(style.overflowY) && e.closest(`dialog, .page > main, .why${scrolls ? ", .between" : ""}`) !== null;
      dotted ||= style.textOverflow === "ellipsis";
    }
    return { box, reached, dotted };
  }

  const texts = [];
  const walk = document.createTreeWalker(open || document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !seen(element) || element.closest("svg, template, noscript, script")) continue;
    const view = window_(element);
    if (!area(view.box, 2)) continue; // for screen readers only
    const text = node.data.trim().replace(/\s+/g, " ").slice(0, 40);
    const size = parseFloat(getComputedStyle(element).fontSize);
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
      if (!area(line, 0.5)) continue;
      // the ink of a line: from its capitals' height to its base line, whatever room the font's metrics take
      const middle = (line.top + line.bottom) / 2;
      const ink = { left: line.left + 1, right: line.right - 1, top: middle - 0.33 * size, bottom: middle + 0.33 * size };
      if (alerts.some((alert) => !alert.contains(element) && area(meet(ink, alert.getBoundingClientRect()), 0))) continue;
      const shown = meet(ink, view.box);
      if (!view.reached) {
        if (!view.dotted && (ink.right > view.box.right + 2 || ink.left < view.box.left - 2)) found.add(`cut at its side: ${text}`);
        if (ink.bottom > view.box.bottom + 2 || ink.top < view.box.top - 2) found.add(`cut above or below: ${text}`);
      }
      if (!area(shown, 0)) continue;
      if (shown.right > innerWidth + 1 || shown.left < -1) found.add(`off the screen's side: ${text}`);
      if (!scrolls && !view.reached && (shown.bottom > innerHeight + 1 || shown.top < -1)) found.add(`off the screen: ${text}`);
      texts.push({ text, shown, node });
    }
  }
  texts.forEach((a, i) => {
    for (const b of texts.slice(i + 1)) {
      if (a.node !== b.node && area(meet(a.shown, b.shown), 1)) found.add(`${a.text} lies on ${b.text}`);
    }
  });

  // Cards and buttons: nothing of them is cut, and no button lies on foreign text or on another button.
  const boxes = [];
  for (const element of (open || document.body).querySelectorAll(".card, .action, .candidate, .flag")) {
    if (!seen(element) || element.closest("template, .used, #asleep")) continue;
    const box = element.getBoundingClientRect();
    const view = window_(element.parentElement);
    if (!area(box, 2) || !area(view.box, 2)) continue;
    const name = (element.getAttribute("aria-label") || element.textContent).trim().replace(/\s+/g, " ").slice(0, 40);
    if (alerts.some((alert) => area(meet(box, alert.getBoundingClientRect()), 0))) continue;
    if (!view.reached) {
      const shown = meet(box, view.box);
      if (shown.right < box.right - 2 || shown.left > box.left + 2 || shown.bottom < box.bottom - 2 || shown.top > box.top + 2) found.add(`cut: ${name}`);
      if (box.right > innerWidth + 1 || box.left < -1 || (!scrolls && (box.bottom > innerHeight + 1 || box.top < -1))) found.add(`off the screen: ${name}`);
    }
    boxes.push({ element, box: meet(box, view.box), name, button: !element.matches(".card") });
  }
  boxes.forEach((a, i) => {
    for (const { text, shown, node } of texts) {
      if (!a.element.contains(node) && !node.parentElement.closest("[role=alert], [popover]") && area(meet(a.box, shown), 1)) found.add(`${a.name} lies on ${text}`);
    }
    for (const b of boxes.slice(i + 1)) {
      const other = !a.element.contains(b.element) && !b.element.contains(a.element);
      if (other && (a.button || b.button) && area(meet(a.box, b.box), 1)) found.add(`${a.name} lies on ${b.name}`);
    }
  });
  return [...found];
}
