"""Freezes parts of a played evening at random; no payment may be confirmed that was not painted.

    python -m tests.campaigns.appliance.freeze_campaign --freezes 100 --seed 7 --write docs/freeze-report.md

A simulated dealer plays with mock push-buttons at a table in a process of its own (`simulated_table`), its page is
`feltwatch ui`, and a headless Chromium is the kiosk. A second finger presses white at any moment while a payment is
due. SIGSTOP freezes one part or two at once: table process, page process, reading process, renderers, browser. A
witness in the browser (`witness.js`) says by itself what was painted and when. Afterwards every row that a push-button
wrote is compared with it (`freeze_report`).
"""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, cast

import click
from playwright.sync_api import BrowserContext, ConsoleMessage, sync_playwright

from firmware.record.journal.journal import JournalReader
from firmware.simulation.habits import Habits
from firmware.simulation.house import make_config
from firmware.simulation.live.players import Players
from firmware.simulation.live.run import LiveRun
from firmware.table import Phase
from firmware.table.errors import TableError
from firmware.table_client import TableLink
from tests.appliance.simulated_table import PROFILE, STACK_UNITS, Hands, simulated_table
from tests.browser.chrome import launched
from tests.campaigns.appliance.freeze_report import TARGETS, Freeze, Observations, judge, report
from tests.processes import children, command_line, free_port

SHORTEST_S: Final = 1.0
LONGEST_S: Final = 20.0
TWO_AT_ONCE: Final = 0.5
"""The share of rounds in which two parts are frozen at once."""
ON_A_PAYMENT: Final = 0.7
"""The share of rounds that begin while a payment is shown."""
PATIENCE_S: Final = 120.0
PACE: Final = 3.0
WITNESS: Final = Path(__file__).with_name("witness.js")
PRESSING: Final = Habits(puck_forgotten=0.04, paid=0.0)
"""Every payment is confirmed by push-button."""


class Evening:
    """The processes, the witnesses and what is frozen."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.data, self.room = folder / "data", folder / "room"
        self.room.mkdir(parents=True)
        self.port = free_port()
        self.seen = Observations()
        self.freezes: list[Freeze] = []
        self.over = threading.Event()
        self.hands = Hands(self.room, PATIENCE_S)
        self.reader = JournalReader(self.data)
        self._run: LiveRun | None = None
        self._pids: dict[str, Callable[[], list[int]]] = {}

    # ---- the parts ----

    def play(self, freezes: int, told: Callable[[str], None]) -> None:
        """Play until so many freezes are over."""
        with ExitStack() as stack:
            table = stack.enter_context(simulated_table(self.data, self.room, self.seed))
            page = stack.enter_context(self._page())
            self._wait(lambda: self._get("/view.json") is not None and (self.room / "hands.sock").exists())
            context = stack.enter_context(self._browser())
            browser = context.browser
            assert browser is not None
            found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]

            def of_type(name: str) -> list[int]:
                return [int(one["id"]) for one in found if one["type"] == name]

            self._pids = {
                "table": lambda: [table.pid],
                "page": lambda: [page.pid],
                "reading": lambda: [c for c in children(table.pid) if "spawn_main" in command_line(c)],
                "renderer": lambda: of_type("renderer"),
                "browser": lambda: of_type("browser"),
            }
            threads = [
                threading.Thread(target=self._guarded, args=(work,), daemon=True)
                for work in (self._deal, self._finger, self._look_at_lamps, self._look_at_health)
            ]
            for thread in threads:
                thread.start()
            freezer = threading.Thread(target=self._freeze_all, args=(freezes, told), daemon=True)
            freezer.start()
            while freezer.is_alive():
                context.pages[0].wait_for_timeout(200)
            self.over.set()
            if self._run is not None:
                self._run.stop()
            for thread in threads:
                thread.join(PATIENCE_S)
            context.pages[0].wait_for_timeout(2000)  # what the witness still says

    @contextmanager
    def _page(self) -> Iterator[subprocess.Popen[bytes]]:
        arguments = ["ui", "--data", str(self.data), "--port", str(self.port)]
        with (self.room / "page.log").open("wb") as log:
            page = subprocess.Popen(
                [sys.executable, "-m", "firmware.cli", *arguments], stdout=log, stderr=log
            )
        try:
            yield page
        finally:
            page.kill()
            page.wait()

    @contextmanager
    def _browser(self) -> Iterator[BrowserContext]:
        with sync_playwright() as playwright, launched(playwright) as browser:
            context = browser.new_context(viewport={"width": 800, "height": 480}, has_touch=True)
            context.add_init_script(path=WITNESS)
            page = context.new_page()
            page.on("console", self._said)
            page.goto(f"http://127.0.0.1:{self.port}/?kiosk")
            try:
                yield context
            finally:
                context.close()

    def _said(self, message: ConsoleMessage) -> None:
        if message.text.startswith("witness "):
            self.seen.painted.append(json.loads(message.text.removeprefix("witness ")))

    # ---- in threads ----

    def _guarded(self, work: Callable[[], None]) -> None:
        while not self.over.is_set():
            try:
                work()
            except (OSError, TableError, ValueError) as error:  # its other end was frozen too long, or ends
                if not self.over.wait(0.5):
                    self.seen.problems.append(f"{work.__name__}: {error}")

    def _deal(self) -> None:
        config = make_config(self.data, PROFILE, STACK_UNITS)
        link = TableLink(config.socket, timeout=PATIENCE_S)
        self._wait(lambda: self.reader.recover()[0].people)
        rules = Players(self.seed, rules_of(config))
        table = cast(Any, self.hands)
        run = LiveRun(table, rules, self.reader, link, self.seed, PACE, among_people=True, habits=PRESSING)
        self._run = run
        for _ in run.play(None):
            pass

    def _finger(self) -> None:
        """Press white at any moment while a payment is due, sooner than a person would."""
        rng = random.Random(f"finger {self.seed}")
        while not self.over.wait(rng.uniform(0.6, 2.5)):
            state = self.reader.recover()[0]
            if state.phase is Phase.SETTLED and state.unpaid:
                self.seen.presses += 1
                self.hands.press("next")

    def _look_at_lamps(self) -> None:
        while not self.over.wait(0.2):
            self.seen.lamps.append((time.time(), self.hands.lit()))

    def _look_at_health(self) -> None:
        while not self.over.wait(0.2):
            well = self._get("/healthz") is not None
            self.seen.healthz.append((time.time(), well))

    def _get(self, path: str) -> bytes | None:
        with (
            suppress(urllib.error.URLError, OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=3) as answer,
        ):
            return cast(bytes, answer.read())
        return None

    def _wait(self, condition: Callable[[], object]) -> None:
        ends = time.monotonic() + PATIENCE_S
        while not self.over.is_set() and time.monotonic() < ends:
            with suppress(TableError):
                if condition():
                    return
            time.sleep(0.1)
        if not self.over.is_set():
            raise TimeoutError("It did not come.")

    # ---- freezing ----

    def _freeze_all(self, count: int, told: Callable[[str], None]) -> None:
        rng = self.rng
        while len(self.freezes) < count:
            with suppress(TimeoutError):
                self._wait(lambda: self.seen.painted and not self.seen.painted[-1]["notlive"])
            self.over.wait(rng.uniform(1.0, 4.0))
            if rng.random() < ON_A_PAYMENT:
                ends = time.monotonic() + 15
                while not self.seen.painted[-1]["amount"] and time.monotonic() < ends:
                    self.over.wait(0.05)
                self.over.wait(rng.uniform(0, 1.2))
            several = 2 if rng.random() < TWO_AT_ONCE and len(self.freezes) + 2 <= count else 1
            chosen = rng.sample(TARGETS, several)
            pieces = [
                threading.Thread(
                    target=self._freeze,
                    args=(
                        one,
                        rng.uniform(0, 2) if k else 0.0,
                        rng.uniform(SHORTEST_S, LONGEST_S),
                        " and ".join(c for c in chosen if c != one),
                    ),
                )
                for k, one in enumerate(chosen)
            ]
            for piece in pieces:
                piece.start()
            for piece in pieces:
                piece.join()
            told(f"{len(self.freezes)} of {count}: {' and '.join(chosen)}")

    def _freeze(self, target: str, after: float, seconds: float, beside: str) -> None:
        time.sleep(after)
        pids = self._pids[target]()
        began = time.time()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        for pid in pids:
            with suppress(ProcessLookupError):  # it was replaced
                os.kill(pid, signal.SIGCONT)
        if pids:
            self.freezes.append(Freeze(target, began, time.time() - began, beside))


def rules_of(config: Any) -> Any:
    """Return the rules of a simulated house."""
    from firmware.runtime.house_config import house_rules

    return house_rules(config)[1]


def _plain(thing: Any) -> Any:
    return vars(thing) if isinstance(thing, Freeze) else sorted(thing)


@click.command()
@click.option("--freezes", type=click.IntRange(1), default=100, show_default=True)
@click.option(
    "--seed", type=int, default=7, show_default=True, help="The same seed chooses the same freezes."
)
@click.option("--write", type=click.Path(path_type=Path), help="Write the report into this file.")
@click.option(
    "--keep", type=click.Path(path_type=Path), help="Keep record, logs and what was seen in this folder."
)
def main(freezes: int, seed: int, write: Path | None, keep: Path | None) -> None:
    """Freeze parts of a played evening, and compare what was confirmed with what was painted."""
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-freeze-")))
        evening = Evening(folder, seed)
        loads: list[float] = []

        def told(what: str) -> None:
            loads.append(os.getloadavg()[0] / (os.cpu_count() or 1))
            click.echo(what, err=True)

        evening.play(freezes, told)
        if keep:
            known = {"freezes": evening.freezes, **vars(evening.seen)}
            (keep / "seen.json").write_text(json.dumps(known, default=_plain))
        verdict = judge(evening.data, evening.seen, evening.freezes)
        text = report(seed, evening.seen, evening.freezes, verdict, statistics.mean(loads))
        click.echo(text)
        if write:
            write.write_text(text, encoding="utf-8")
        if verdict.problems:
            raise click.ClickException(f"{len(verdict.problems)} problems")


if __name__ == "__main__":
    main()
