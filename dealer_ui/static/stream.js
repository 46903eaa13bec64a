// Follows the table by server-sent events, once for all tabs of a browser: as a shared worker, which outlives the tab
// that started it. A browser without shared workers loads it as a script; each tab then has its own stream.
// Its messages: {name: "hello" | "view" | "beat" | "stale", data}, and {name: "lost", data: sentence} when the stream breaks.
"use strict";
(() => {
  const QUIET_LIMIT_MS = 2300; // the heartbeat comes every second; after two missed ones the stream is broken
  const PAGE_QUIET_MS = 2500; // after two missed ones the page is not live
  const DEAD_LIMIT_MS = 12000; // the worker reports each attempt; a silent one is gone
  const FIRST_RETRY_MS = 250;
  const LONGEST_RETRY_MS = 4000;

  // fetch instead of EventSource, which hides the server's message and gives up after an HTTP error.
  async function follow(address, tell, ended) {
    for (let wait = FIRST_RETRY_MS; !(ended?.aborted); wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
      try {
        await read(address, (event) => { wait = FIRST_RETRY_MS / 2; tell(event); }, ended);
        tell({ name: "lost", data: "" }); // the page has its own message
      } catch (error) {
        tell({ name: "lost", data: error.sentence || "" });
      }
      await new Promise((done) => setTimeout(done, wait * (0.8 + 0.4 * Math.random())));
    }
  }

  async function read(address, tell, ended) {
    const stop = new AbortController();
    if (ended) ended.addEventListener("abort", () => stop.abort());
    let quiet = setTimeout(() => stop.abort(), QUIET_LIMIT_MS);
    try {
      const response = await fetch(address, { signal: stop.signal, cache: "no-store", headers: { Accept: "application/json" } });
      if (!response.ok) throw Object.assign(new Error(), { sentence: (await response.json()).error });
      const text = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await text.read();
        if (done) return;
        clearTimeout(quiet);
        quiet = setTimeout(() => stop.abort(), QUIET_LIMIT_MS);
        const events = (rest + value).split("\n\n");
        rest = events.pop();
        for (const event of events) {
          const fields = Object.fromEntries(event.split("\n").map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]));
          tell({ name: fields.event, data: fields.data });
        }
      }
    } finally {
      clearTimeout(quiet);
      stop.abort();
    }
  }

  // Follows the page's stream by the shared worker of this name, else in this tab. The page's own part: `hello(message)`,
  // `show(view)`, `live()` after all but a hello, and `lost(sentence, ms)`, with the time since it was live.
  function followPage(name, { hello = () => {}, show, live, lost }) {
    const address = document.body.dataset.events;
    const build = document.querySelector("meta[name=build]").content;
    let lastHeard = performance.now();
    let lastSpoken = lastHeard;
    let worker = null;

    const notHeard = (sentence) => lost(sentence, performance.now() - lastHeard);
    const HEAR = {
      hello: (data) => {
        const message = JSON.parse(data);
        if (message.build !== build) location.reload(); // the box was updated
        document.querySelector("meta[name=csrf-token]").content = message.token;
        hello(message);
      },
      view: (data) => show(JSON.parse(data)),
      beat: () => {},
      stale: () => notHeard(""),
      lost: notHeard,
    };
    function hear({ name, data }) {
      lastSpoken = performance.now();
      HEAR[name](data);
      if (name === "lost" || name === "stale") return;
      lastHeard = lastSpoken;
      if (name !== "hello") live(); // hello brings no new view
    }

    setInterval(() => {
      const now = performance.now();
      if (now - lastHeard > PAGE_QUIET_MS) notHeard("");
      if (worker && now - lastSpoken > DEAD_LIMIT_MS) {
        worker.port.close();
        worker = null;
        follow(address, hear);
      }
    }, 250);
    if (!self.SharedWorker) { follow(address, hear); return; }
    worker = new SharedWorker(document.querySelector("script[src*='stream.js']").src, name);
    worker.port.onmessage = ({ data }) => hear(data);
    worker.port.postMessage(new URL(address, location).href);
    addEventListener("pagehide", () => worker?.port.postMessage(""));
    addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  }

  if (typeof SharedWorkerGlobalScope === "undefined") {
    self.followPage = followPage;
    return;
  }

  const tabs = new Set();
  let hello = null; // the message for later tabs; null while the stream is broken
  let view = null;
  let following = null; // {address, ended}: a tab in another language asks for another address, and the others follow it
  self.onconnect = ({ ports: [tab] }) => {
    tab.onmessage = ({ data: address }) => {
      if (!address) { tabs.delete(tab); return; } // the tab is being closed
      tabs.add(tab);
      if (following && following.address !== address) { following.ended.abort(); following = hello = view = null; }
      if (view) { tab.postMessage(hello); tab.postMessage({ name: "view", data: JSON.stringify(view) }); }
      if (following) return;
      const ended = new AbortController();
      following = { address, ended };
      follow(address, (event) => {
        if (ended.signal.aborted) return;
        if (event.name === "lost") view = null; // "stale" keeps it: the next view holds only what has changed
        else if (event.name === "hello") hello = event;
        else if (event.name === "view") {
          const news = JSON.parse(event.data); // first all parts, later the changed ones
          view = { ...news, parts: { ...(view?.parts), ...news.parts } };
        }
        for (const one of tabs) one.postMessage(event);
      }, ended.signal);
    };
  };
})();
