"""A dealer's finger on the page of a real table process, and the cards that lie before its camera.

The finger knows the page by what its buttons say they do (`data-command`, `data-pad`, `data-open`), not by looks.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Locator, Page, TimeoutError, expect

from firmware.record.journal.journal import JournalReader
from firmware.runtime.reading.messages import CameraJob, ReaderSetup, ReadingDone, ReadingJob
from firmware.table import State
from tests.firmware.running_table import reading_json
from tests.waiting import until

Rows = Mapping[str, str]
PIN: Final = "258053"


@dataclass
class Cards:
    """Stands where the reading process stands: it sees what `lay` has laid. `unsure`: codes it is not sure of."""

    laid: dict[str, Rows] = field(default_factory=dict)
    unsure: frozenset[str] = frozenset()
    put: Callable[[Any], None] = lambda answer: None
    _waits: ReadingJob | None = None
    _seen: object = None
    """What lay there at the last look."""
    _felt: threading.RLock = field(default_factory=threading.RLock)
    """Held by anyone who lays or looks: what is laid between two looks must not be missed."""

    def start(self, put: Callable[[Any], None]) -> None:
        """Begin."""
        self.put = put

    def use(self, setup: ReaderSetup) -> None:
        """Nothing is calibrated here."""

    def request(self, job: ReadingJob | CameraJob) -> None:
        """Read at once, or wait for the next change where nothing new lies there."""
        if isinstance(job, CameraJob):
            return  # nobody sets this table up
        with self._felt:
            self._waits = None  # the reading process takes one job at a time: the one before is over
            if job.watch is not None and not job.watch.fresh and self._seen == (self.laid, self.unsure):
                self._waits = job
            else:
                self._answer(job)

    def lay(self, hands: Mapping[str, Rows], unsure: frozenset[str] = frozenset()) -> None:
        """Lay these cards, by place."""
        with self._felt:
            self.laid.update(hands)
            self.unsure = unsure
            waits, self._waits = self._waits, None
            if waits is not None:
                self._answer(waits)

    def collect(self) -> None:
        """Take all cards off the felt."""
        with self._felt:
            self.laid.clear()

    def _answer(self, job: ReadingJob) -> None:
        self._seen = (dict(self.laid), self.unsure)
        seen = {place: dict(rows) for place, rows in self.laid.items() if place in job.places}
        self.put(ReadingDone(job.number, reading_json(seen, self.unsure)))

    def close(self) -> None:
        """Nothing to end."""


FIND = """([kind, wanted]) => [...document.querySelectorAll(`button[data-${kind}]`)].find((button) => {
  const told = JSON.parse(button.dataset[kind]);
  const command = kind === "pad" ? told.command : told;
  return Object.entries(wanted).every(([key, value]) => command[key] === value);
})?.dataset[kind]"""


def hold(button: Locator) -> None:
    """Hold a button until the page has taken the hold, however long a busy machine takes over it."""
    button.hover()
    page = button.page
    page.mouse.down()
    expect(page.locator("button.holding")).to_have_count(0)
    page.mouse.up()


def key_name(page: Page, name: str) -> None:
    """Key the first letters of a name where a PIN is asked for."""
    page.locator("button[data-who]").wait_for()
    page.wait_for_load_state()  # the page that a link has led to: before its script runs a touch says nothing
    page.locator("button[data-who]").tap()
    for letter in name.lower():
        page.locator(f"#letters [data-letter='{letter}']").tap()
    page.locator("#letters-done").tap()
    expect(page.locator("button[data-who]")).to_have_text(name, ignore_case=True)


def key_pin(page: Page, pin: str, name: str = "") -> None:
    """Key a name and a PIN on the page that asks for them: once it has loaded, as before a touch says nothing to it."""
    if name:
        key_name(page, name)
    page.locator("[data-key='1']").wait_for()
    page.wait_for_load_state()
    for count, figure in enumerate(pin, start=1):
        page.locator(f"[data-key='{figure}']").tap()
        expect(page.locator("#keyed")).to_have_text("\u2022" * count)
    page.locator("[data-done]").tap()


class Dealer:
    """Touches buttons and looks at the record.

    `look`: called before each touch; it lets pass what the table's own clock demands that a view has stood.
    """

    def __init__(self, page: Page, data: Path, look: Callable[[], object] = lambda: None) -> None:
        self.page = page
        self._look = look
        self._reader = JournalReader(data)

    @property
    def state(self) -> State:
        """What the record says."""
        return self._reader.recover()[0]

    def until(self, so: Callable[[State], object]) -> State:
        """Wait for the table, then for the page to show it."""
        state, seq = self._reader.recover()

        def is_so() -> object:
            nonlocal state, seq
            state, seq = self._reader.recover()
            return so(state)

        self._until(is_so)
        self._until(lambda: int(self.page.get_attribute("body", "data-seq") or 0) >= seq)
        return state

    def _until(self, condition: Callable[[], object]) -> None:
        until(condition, lambda seconds: self.page.wait_for_timeout(1000 * seconds))

    def until_phase(self, phase: str) -> State:
        """Wait until the hand is in a phase, on the table and on the page."""
        state = self.until(lambda state: state.phase == phase)
        self.page.wait_for_selector(f"body[data-phase='{phase}']")
        return state

    def touch(self, **command: Any) -> None:
        """Touch the button that sends such a command; hold it where it wants to be held."""
        button = self._find("command", command)
        self._look()
        if button.get_attribute("data-hold") is None:
            button.tap()
        else:
            hold(button)

    def key(self, cards: str, **command: Any) -> None:
        """Open the pad for such a command, if the page has not opened it by itself, and touch the cards."""
        button = self._find("pad", command)
        pad = self.page.locator("#pad")

        def is_open() -> bool:
            if not pad.is_visible():
                with suppress(TimeoutError):  # the page has opened the pad by itself meanwhile
                    button.tap(timeout=1000)
            return pad.is_visible()

        self._until(is_open)
        codes = cards.split()
        picked = self.page.locator("#pad [data-card][aria-pressed=true]")
        there = [str(one.get_attribute("data-card")) for one in picked.all()] if len(codes) > 1 else []
        for code in [*(code for code in there if code not in codes), *(c for c in codes if c not in there)]:
            self.page.locator(f"#pad [data-card='{code}']").tap()
        if there and set(there) == set(codes):
            self.page.locator("#pad-done").tap()  # a whole row stood there already

    def offers(self, **command: Any) -> bool:
        """Say whether the page has a button for such a command."""
        return self.page.evaluate(FIND, ["command", command]) is not None

    def _find(self, kind: str, wanted: dict[str, Any]) -> Locator:
        """Return the button, once it is there; what it lies in is opened. (A touch waits until it takes touches.)"""
        self._until(lambda: self.page.evaluate(FIND, [kind, wanted]) is not None)
        told = self.page.evaluate(FIND, [kind, wanted])
        # by all that it says: the page may gain and lose buttons meanwhile
        button = self.page.locator(f"button[data-{kind}={json.dumps(told, ensure_ascii=False)}]").first
        dialog = button.locator("xpath=ancestor::dialog[not(@open)]")
        if dialog.count():
            self.page.locator(f"[data-open='{dialog.first.get_attribute('id')}']").first.tap()
        return button
