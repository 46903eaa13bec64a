// Says to the console what the page has really painted and when. It knows nothing of the product's acknowledgements.
(() => {
  let last = "", at = 0, under = false;
  const text = (selector) => (document.querySelector(selector)?.textContent || "").trim();
  function seen() {
    const body = document.body;
    if (!body) return null;
    return {
      seq: Number(body.dataset.seq || body.dataset.camewith || -1),
      hand: Number(body.dataset.hand || 0),
      phase: body.dataset.phase || "",
      notlive: body.dataset.notlive || "",
      covered: Boolean(document.querySelector("dialog[open]")),
      stage: text("#bar .stage"),
      amount: text("#centre .amount"),
      alert: text("#bar .alert b"),
    };
  }
  // What the first frame's script finds is painted by that frame; the second frame begins after it.
  function look() {
    if (under) return;
    under = true;
    requestAnimationFrame(() => {
      const one = seen();
      requestAnimationFrame(() => {
        under = false;
        const said = JSON.stringify(one), now = Date.now();
        if (!one || (said === last && now - at < 1000)) return;
        last = said;
        at = now;
        console.debug(`witness ${JSON.stringify({ ...one, at_ms: now })}`);
      });
    });
  }
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
  setInterval(look, 200);
})();
