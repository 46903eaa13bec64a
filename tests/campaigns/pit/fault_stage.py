"""A pit with tables that deal while something is wrong, somebody who looks at its pages, and what must hold then.

A table is a thread that writes a journal and its pulse; its uplink, nginx, the pit and PostgreSQL are real processes.
The looks are the floor page's own function, the list of tables' own, and that page over HTTP.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from firmware.record.journal.reader import JournalReader
from firmware.record.report_span import Span as OwnSpan
from firmware.record.report_span import report_of_span
from pit.errors import DatabaseError
from pit.follow.totals import Span, by_table
from pit.pages.app import create_app
from pit.pages.people import PitRole
from pit.pages.services import pit
from pit.status.freshness import FOLLOWED_MS, SILENT_MS
from pit.status.tables import list_tables, strike
from pit.store.database import Database
from tests.campaigns.pit.compare import Difference, compare, has_all, is_listed
from tests.pit.dealing_table import Deal, DealingTable, dealt
from tests.pit.house import House, house
from tests.pit.pages.conftest import House as Visited
from tests.waiting import until

LATEST_S: Final = (SILENT_MS + FOLLOWED_MS) / 1000
"""So long a table may be shown as live while a row of it is not shown: to be missed, then to be not followed."""
BEAT_S: Final = 0.5
"""Seconds between two pulses of a table, as `feltwatch run` writes them."""
DEAL_S: Final = 1.0
AT_ONCE: Final = 3
"""Hands that a table writes each `DEAL_S` while it deals."""
LOOK_S: Final = 0.4
_ROW: Final = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_FAULTY: Final = re.compile(r"this is an error of Feltwatch|Traceback|Exception on /")


@dataclass(frozen=True)
class Look:
    """What the pages showed. `live`: tables of which they said nothing; `shown`: the last row they know of."""

    began: float
    live: frozenset[str] = frozenset()
    shown: Mapping[str, int] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """All that each tile says, by table."""


class Watcher(threading.Thread):
    """Looks at the pages all the time, and counts looks at which something old was shown as live."""

    def __init__(self, database: Database, folder: Path, tables: list[DealingTable]) -> None:
        """`tables`: of which nothing old may be shown as live; some may be added."""
        super().__init__(name="watcher", daemon=True)
        self._tables, self._database = tables, database
        app = create_app(database, folder, secure=False)
        self._live = pit(app).live
        self._visitor = Visited(app, database).logged_in(PitRole.OWNER)
        self._end = threading.Event()
        self.recent: deque[Look] = deque([Look(0.0)], 200)
        self.said: Counter[str] = Counter()
        self.stale: list[str] = []
        self.looks = 0
        self.failure: BaseException | None = None

    @property
    def last(self) -> Look:
        return self.recent[-1]

    def since(self, began: float) -> list[Look]:
        """Return the last looks that began after a time."""
        return [look for look in list(self.recent) if look.began > began]

    def page(self, address: str) -> tuple[int, str]:
        answer = self._visitor.get(address)
        return answer.status_code, answer.text

    def run(self) -> None:
        try:
            while not self._end.wait(LOOK_S):
                self.recent.append(self._look())
                self.said.update(self.last.said)
                self.looks += 1
        except BaseException as error:
            self.failure = error
            raise

    def _look(self) -> Look:
        began = time.monotonic()
        floor = self._live.now()
        if floor.trouble:
            status, text = self.page("/tables")
            answered = [f"503: {_plain(text)}"] if status == 503 else []
            return Look(began, said=(*answered, _plain(str(floor.trouble))))
        live = {one.name for one in floor.tiles if not one.tile.silent}
        status, text = self.page("/tables")
        said = [_plain(text)] if status == 503 else []
        if status == 200:
            well = [row for row in _ROW.findall(text) if ">well<" in row]
            live |= {one.name for one in self._tables if any(f">{one.name}<" in row for row in well)}
        try:
            fresh = {one.table.name: one.fresh for one in list_tables(self._database)}
        except DatabaseError as error:
            return Look(began, said=(*said, _plain(str(error))))
        said += [_plain(str(note)) for one in floor.tiles if one.tile.silent for note in one.tile.notes[-1:]]
        of = {one.name: tuple(map(str, (one.tile.title, *one.tile.notes))) for one in floor.tiles}
        shown = {name: one.followed for name, one in fresh.items()}
        look = Look(began, frozenset(live), shown, tuple(dict.fromkeys(said)), of)
        self.stale += [f"{what} ({fresh})" for what in stale_in(look, self._tables)]
        return look

    def stop(self) -> None:
        self._end.set()
        self.join()


def stale_in(look: Look, tables: list[DealingTable]) -> list[str]:
    """Return what was shown as live though a row is missing that was written long enough ago."""
    return [
        f"{one.name} was shown as live with row {look.shown.get(one.name, 0)} of {due}"
        for one in tables
        if one.name in look.live and look.shown.get(one.name, 0) < (due := one.due(look.began - LATEST_S))
    ]


def _plain(text: str) -> str:
    """Return a sentence without its figures, so that the same is counted once."""
    text = re.sub(r"^503\n", "", text).strip().partition("\n")[0]
    text = re.sub(r"/\S+", "…", text)
    return re.sub(r"\d[\d,]*(\.\d+)?", "N", text)[:150]


@dataclass
class Stage:
    """The pit with its tables. `tables`: those that are compared at the end of each round."""

    house: House
    tables: list[DealingTable]
    watcher: Watcher
    database: Database
    everyone: list[DealingTable]
    """Those, and those that a round adds for a while: they deal and are looked at, too."""
    line: object = None
    """The proxy before nginx, where there is one."""
    clocks: list[Any] = field(default_factory=list)
    """The tables' clocks, where they can be set."""
    pair: object = None
    """Two PostgreSQL servers, where there are two."""
    second: House | None = None
    """Another pit on the same database, where there is one."""
    deals: bool = False
    _end: threading.Event = field(default_factory=threading.Event)
    trouble: BaseException | None = None

    def run_tables(self) -> None:
        """Let the tables beat, and deal while `deals`; until `stop`."""
        try:
            dealt_at = 0.0
            while not self._end.wait(BEAT_S):
                for one in list(self.everyone):
                    one.beat()
                if self.deals and time.monotonic() - dealt_at >= DEAL_S:
                    dealt_at = time.monotonic()
                    for one in list(self.everyone):
                        one.write(AT_ONCE)
                        one.beat()
        except BaseException as error:
            self.trouble = error
            raise

    def stop(self) -> None:
        self._end.set()

    def check_threads(self) -> None:
        """Raise what ended a thread of this campaign's own."""
        for failure in (self.trouble, self.watcher.failure):
            if failure is not None:
                raise failure

    def until(self, condition: Callable[[], object]) -> None:
        """Wait as `until` does, and end with whatever ended a thread."""

        def met() -> object:
            self.check_threads()
            return condition()

        until(met)

    def is_live(self, after: float, at_least: Mapping[str, int] | None = None) -> bool:
        """Return whether a look that began after a time found every table live, with all these rows."""
        look, least = self.watcher.last, at_least or {}
        return look.began > after and all(
            one.name in look.live and look.shown.get(one.name, 0) >= least.get(one.name, 0)
            for one in self.tables
        )

    def seqs(self) -> dict[str, int]:
        return {one.name: one.seq for one in self.tables}

    @contextmanager
    def joined(self, deal: Callable[[Path], Deal]) -> Iterator[DealingTable]:
        """Bring one more table in, with its uplink, for a while; then a person strikes it off."""
        self.house.add_tables(1)
        data, number = self.house.data[-1], len(self.house.data)
        one = DealingTable(f"Table {number}", data, self.house.folder / f"pulse-{number}.json", deal(data))
        one.write(2)
        one.beat()
        uplink = self.house.uplinks[-1]
        uplink.arguments += ["--pulse", str(one.pulse)]
        uplink.start()
        self.everyone.append(one)
        try:
            yield one
        finally:
            self.everyone.remove(one)
            uplink.kill()
            strike(self.database, one.name)

    def settle(self) -> None:
        """Let the tables stop, and wait until all they wrote is here and in the lists."""
        self.deals = False
        for one in self.tables:
            with one.writing:
                pass
        data = [one.data for one in self.tables]

        def is_settled() -> bool:
            try:
                return has_all(self.database, data) and is_listed(self.database)
            except DatabaseError:
                return False

        self.until(is_settled)

    def difference(self) -> tuple[Difference, list[str]]:
        """Compare rows, lists and totals of all tables; return what is wrong with the totals in words."""
        found = compare(self.database, [one.data for one in self.tables])
        pits = {group.name: group.counts for group in by_table(self.database, Span(0, 1 << 52))}
        wrong = []
        for one in self.tables:
            own = report_of_span(JournalReader(one.data), OwnSpan()).total
            if pits.get(one.name, type(own)()) != own:
                wrong.append(f"totals of {one.name}: {pits.get(one.name)} at the pit, {own} at the table")
        return found, wrong

    def faults_in_log(self) -> list[str]:
        """Return the lines of the processes' log that name an error of the code."""
        lines = (self.house.folder / "log").read_text(encoding="utf-8", errors="replace").splitlines()
        return [line for line in lines if _FAULTY.search(line)]


@contextmanager
def stage(
    tables: int = 2,
    *,
    prepare: Callable[[House, ExitStack], None] = lambda made, stack: None,
    dealing: Callable[[Path, int], Deal] = dealt,
    durable: bool = False,
) -> Iterator[Stage]:
    """Furnish a pit; `prepare` changes it before the tables are enrolled, `dealing` says how a table deals."""
    with ExitStack() as stack:
        made = stack.enter_context(house(durable=durable))
        prepare(made, stack)
        made.add_tables(tables)
        database = stack.enter_context(Database(made.url, connections=3))
        of_pages = stack.enter_context(Database(made.url, connections=4))
        all_tables = [
            DealingTable(
                f"Table {number + 1}", path, made.folder / f"pulse-{number}.json", dealing(path, number)
            )
            for number, path in enumerate(made.data)
        ]
        everyone = list(all_tables)
        watcher = Watcher(of_pages, made.folder / "pages", everyone)
        furnished = Stage(made, all_tables, watcher, database, everyone)
        thread = threading.Thread(target=furnished.run_tables, name="tables", daemon=True)
        for one in all_tables:
            one.write(2)
            one.beat()
        made.start()
        for uplink, one in zip(made.uplinks, all_tables, strict=True):
            uplink.arguments += ["--pulse", str(one.pulse)]
            uplink.start()
        thread.start()
        watcher.start()
        try:
            furnished.until(lambda: furnished.is_live(0.0, furnished.seqs()))
            yield furnished
        finally:
            watcher.stop()
            furnished.stop()
            thread.join()


def pause(rng: random.Random, least: float, most: float) -> None:
    time.sleep(rng.uniform(least, most))
