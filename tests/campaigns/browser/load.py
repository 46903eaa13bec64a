"""The page under load: many streams, several tabs, a settlement every second.

    python -m tests.campaigns.browser.load                       29 streams, 4 tabs, 60 s
    python -m tests.campaigns.browser.load --write docs/page-load.md

The page is `feltwatch ui`, a process of its own, on a real journal. A settlement's way is measured from the moment its
commit returned to the moment it stands in the tab's document (and, for the streams, to its arrival); a touch from the
finger's event to the page that shows what the table made of it.
"""

from __future__ import annotations

import os
import platform
import selectors
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click
from playwright.sync_api import Browser, Page, sync_playwright

from firmware.table import Phase
from tests.browser.chrome import launched
from tests.browser.conftest import PageServer
from tests.dealer_ui.felt import Felt
from tests.waiting import DEADLINE, until

WATCH: Final = """() => {
  const now = () => performance.timeOrigin + performance.now();
  window.arrived = {};
  window.dead = 0;
  window.touches = [];
  let touched = 0;
  new MutationObserver(() => {
    const seq = document.body.dataset.seq;
    if (seq && !(seq in arrived)) {
      arrived[seq] = now();
      if (touched) { touches.push(arrived[seq] - touched); touched = 0; }
    }
    if (document.body.hasAttribute("data-notlive")) dead += 1;
  }).observe(document.body, { attributes: true });
  document.addEventListener("pointerdown", () => { touched = now(); }, true);
}"""
PAY: Final = "button[data-command*='mark_paid']:not([data-command*='false'])"


@dataclass
class Times:
    """Milliseconds, and how many never came."""

    ms: list[float] = field(default_factory=list)
    missing: int = 0

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.ms)

    def text(self) -> str:
        """Say it as the cells of a table's line."""
        ordered = sorted(self.ms)
        if not ordered:
            return f"0 | – | – | – | {self.missing}"
        late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        return f"{len(ordered)} | {self.median:.0f} | {late:.0f} | {ordered[-1]:.0f} | {self.missing}"


@dataclass
class Result:
    """What a run found."""

    seconds: int
    streams: int
    tabs: int
    page: Times
    stream: Times
    touch: Times
    not_live: int
    """How often a tab said so."""
    load: float

    def text(self) -> str:
        """Say it as Markdown."""
        cpu = f"{platform.machine()}, {os.cpu_count()} cores, load {self.load:.1f} at the end"
        busy = self.load > (os.cpu_count() or 1)
        also = " Other programs took the processors meanwhile: an idle machine is quicker." if busy else ""
        return "\n".join(
            (
                f"{self.streams} streams next to one Chromium with {self.tabs} tabs, a settlement every second for "
                f"{self.seconds} s. On {cpu}; Python {platform.python_version()}.{also}",
                "",
                "| | measured | median, ms | 95 %, ms | longest, ms | never came |",
                "|---|---|---|---|---|---|",
                f"| durable → in each tab's document | {self.page.text()} |",
                f"| durable → at each stream's client | {self.stream.text()} |",
                f"| touch → the page shows what the table did | {self.touch.text()} |",
                "",
                f"“Not live” was shown {self.not_live} times.",
            )
        )


class Clients:
    """Clients of the stream, read by one thread; `arrived[n][seq]` is when client n had a view."""

    def __init__(self, port: int, count: int) -> None:
        self.arrived: list[dict[int, float]] = [{} for _ in range(count)]
        self._selector = selectors.DefaultSelector()
        self._rest = [b""] * count
        for number in range(count):
            line = socket.create_connection(("127.0.0.1", port))
            line.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            self._selector.register(line, selectors.EVENT_READ, number)
        self._ends = False
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while not self._ends:
            for key, _ in self._selector.select(0.2):
                assert isinstance(key.fileobj, socket.socket)
                data = key.fileobj.recv(1 << 18)
                now = time.time() * 1000
                if not data:
                    self._selector.unregister(key.fileobj)
                    continue
                number: int = key.data
                whole = self._rest[number] + data
                start = 0
                while (at := whole.find(b'data: {"seq":', start)) >= 0 and b"\n\n" in whole[at:]:
                    self.arrived[number].setdefault(int(whole[at + 13 :].split(b",", 1)[0]), now)
                    start = whole.find(b"\n\n", at)
                self._rest[number] = whole[max(start, len(whole) - (1 << 18)) :]

    def close(self) -> None:
        """Hang up."""
        self._ends = True
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
        self._selector.close()


@contextmanager
def _tabs(browser: Browser, address: str, count: int) -> Iterator[Sequence[Page]]:
    context = browser.new_context(viewport={"width": 800, "height": 480}, has_touch=True)
    context.set_default_timeout(1000 * DEADLINE)
    pages = [context.new_page() for _ in range(count)]
    for page in pages:
        page.goto(address)
        page.wait_for_selector("body[data-seq]")
        page.evaluate(WATCH)
    yield pages
    context.close()


def run(browser: Browser, seconds: int, streams: int, tabs: int) -> Result:
    """Load the page and measure it."""
    with ExitStack() as stack:
        felt = Felt(Path(stack.enter_context(tempfile.TemporaryDirectory())), stack=None)
        stack.callback(felt.journal.close)
        felt.to_settled()
        stack.enter_context(felt.answering())
        server = PageServer(felt.folder)
        stack.callback(server.kill)
        server.start()
        clients = Clients(server.port, streams)
        stack.callback(clients.close)
        pages = stack.enter_context(_tabs(browser, server.address, tabs))
        durable: dict[int, float] = {}
        front = pages[-1]
        due = time.monotonic() + 1
        for _ in range(seconds):
            _deal_on(felt)
            front.wait_for_timeout(max(0.0, due - time.monotonic()) * 1000)
            felt.read()
            durable[felt.seq] = time.time() * 1000
            assert felt.state.phase is Phase.SETTLED
            front.wait_for_timeout(600)  # a button that was just replaced takes no touch at once
            front.locator(PAY).first.tap()
            until(lambda: felt.state.paid, lambda seconds: front.wait_for_timeout(1000 * seconds))
            front.wait_for_selector(f"body[data-seq='{felt.seq}']")
            due += 1
        for page in pages:
            page.wait_for_selector(f"body[data-seq='{felt.seq}']")
        until(lambda: all(felt.seq in client for client in clients.arrived))
        arrived: list[dict[str, float]] = [page.evaluate("() => window.arrived") for page in pages]
        touches: list[float] = front.evaluate("() => window.touches")
        not_live = sum(int(page.evaluate("() => window.dead")) for page in pages)
        return Result(
            seconds,
            streams,
            tabs,
            _times(durable, [{int(seq): at for seq, at in one.items()} for one in arrived]),
            _times(durable, clients.arrived),
            Times(touches, seconds - len(touches)),
            not_live,
            os.getloadavg()[0],
        )


def _deal_on(felt: Felt) -> None:
    felt.to_setting(None)
    felt.to_reading()


def _times(durable: dict[int, float], arrived: Sequence[dict[int, float]]) -> Times:
    """Set arrivals against commits. A view that is newer than the settlement brought it, too."""
    times = Times()
    for one in arrived:
        for seq, at in durable.items():
            later = [when for number, when in one.items() if number >= seq]
            if later:
                times.ms.append(max(0.0, min(later) - at))
            else:
                times.missing += 1
    return times


@click.command()
@click.option("--seconds", default=60, show_default=True, help="How long.")
@click.option("--streams", default=29, show_default=True, help="Clients in addition to the browser.")
@click.option("--tabs", default=4, show_default=True, help="Tabs of the browser.")
@click.option("--write", type=click.Path(path_type=Path), help="Write the result there, too.")
def main(seconds: int, streams: int, tabs: int, write: Path | None) -> None:
    """Load the page and say how quickly it follows."""
    with sync_playwright() as playwright, launched(playwright) as browser:
        result = run(browser, seconds, streams, tabs)
    click.echo(result.text())
    if write:
        write.write_text(f"# The page under load\n\n`make page-load`. {result.text()}\n")


if __name__ == "__main__":
    main()
