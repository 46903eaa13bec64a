"""The floor: every table's tile, followed from the database by polling the tables' heads, and kept for the streams."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from flask import Flask, render_template

from dealer_ui.text.i18n import SOURCE, html_language, speaking
from dealer_ui.view.snapshot_follower import SnapshotFollower
from firmware.messages import Message, Text
from firmware.record.evidence.signing import fingerprint
from pit.channels import store
from pit.errors import DatabaseError
from pit.follow.search import Hour, last_hour
from pit.follow.totals import UnusualFigure, unusual
from pit.log.state import new_epoch
from pit.pages.certificates import ends, soon
from pit.pages.tile import Band, FloorVisit, TableSignal, Tile, is_closed, tile
from pit.status import freshness
from pit.status.table_facts import TableFacts
from pit.status.table_health import health_of
from pit.store.database import Database, rows_by_name

POLL_S: Final = 0.1
SUMS_S: Final = 10.0
"""Seconds between two queries of the house's totals."""
UNUSUAL_S: Final = 60.0
_HEADS: Final = f"""
SELECT t.table_id, t.name, h.record_id, n.seq, f.fork_seq,
       coalesce(n.stuck_why, p.stuck_why, '') AS stuck_why,
       CASE WHEN m.announced IS DISTINCT FROM t.device_key THEN m.announced END AS other_key, m.bad_seq,
       g.person, g.need, (extract(epoch FROM g.at) * 1000)::bigint AS going_ms, {freshness.COLUMNS}
FROM gaming_table t {freshness.FROM}
LEFT JOIN log_mark m ON m.record_id = h.record_id
LEFT JOIN going g ON g.table_id = t.table_id
WHERE t.struck_at IS NULL ORDER BY t.name
"""


@dataclass(frozen=True)
class TableTile:
    """A tile with its table."""

    table_id: int
    name: str
    record_id: int | None
    tile: Tile
    deals: bool = False


@dataclass(frozen=True)
class Floor:
    """The floor at a moment.

    `trouble`: why nothing is known. `epoch_ms`: when an epoch of the log began that nobody has looked into.
    """

    version: int = 0
    tiles: tuple[TableTile, ...] = ()
    hour: Hour = field(default_factory=Hour)
    trouble: Text = ""
    epoch_ms: int | None = None
    stopped: tuple[Message, ...] = ()
    """What is said of releases that were stopped."""
    certificates: tuple[Message, ...] = ()
    """What is said of certificates that end soon."""

    def band(self, band: Band) -> tuple[TableTile, ...]:
        """Return the tiles of a band, the longest wait first."""
        return tuple(one for one in self.tiles if one.tile.band is band)

    @property
    def dealing(self) -> int:
        """How many tables deal, whether they need somebody or not."""
        return sum(one.deals for one in self.tiles)

    def of(self, table_id: int) -> TableTile | None:
        """Return a table's tile."""
        return next((one for one in self.tiles if one.table_id == table_id), None)


class FloorLive(SnapshotFollower[Floor]):
    """Follows all tables."""

    poll_s = POLL_S
    language = SOURCE
    """The language of a browser that has chosen none."""

    def __init__(
        self, database: Database, clock: Callable[[], float] = time.time, certificate: Path | None = None
    ) -> None:
        """`clock`: seconds since 1970 as the database counts them; only a test gives another one.

        `certificate`: the folder of the pages' own (`pit.pages.certificates`).
        """
        super().__init__(Floor())
        self._database = database
        self._clock = clock
        self._certificate = certificate
        self._certificates: tuple[Message, ...] = ()
        self._refreshing = threading.Lock()
        self._facts: dict[int, tuple[int, TableFacts]] = {}
        self._hour, self._hour_at = Hour(), float("-inf")
        self._epoch_ms: int | None = None
        self._halted: tuple[Message, ...] = ()
        self._unusual: Mapping[int, tuple[UnusualFigure, ...]] = {}
        self._unusual_at = float("-inf")

    def clock_ms(self) -> int:
        """Return the pit's time, UTC milliseconds."""
        return round(self._clock() * 1000)

    def now(self) -> Floor:
        """Look, and return the current floor."""
        self.refresh()
        return self._snapshot

    def refresh(self) -> None:
        """Read the tables' heads, and publish a floor if any tile says something else."""
        with self._refreshing:
            try:
                tiles = self._tiles()
                hour = self._sums()
                self._publish(Floor(0, tiles, hour, "", self._epoch_ms, self._halted, self._certificates))
            except DatabaseError as error:
                self._publish(Floor(trouble=error.sentence))

    def publish_failure(self) -> None:
        """Show that the floor could not be made."""
        self._publish(
            Floor(trouble=Message("The page met an error of its own. The tables go on; look at the log."))
        )

    def _publish(self, floor: Floor) -> None:
        before = self._snapshot
        if replace(floor, version=before.version) != before or not before.version:
            self.publish(replace(floor, version=before.version + 1))

    def _tiles(self) -> tuple[TableTile, ...]:
        with self._database.transaction() as connection:
            heads = rows_by_name(connection, _HEADS)
            known = {record: seq for record, (seq, _) in self._facts.items()}
            news = [
                row["record_id"]
                for row in heads
                if row["seq"] is not None and known.get(row["record_id"]) != row["seq"]
            ]
            if news:
                query = "SELECT record_id, seq, facts FROM table_now WHERE record_id = ANY(%s)"
                for record_id, seq, text in connection.execute(query, (news,)):
                    self._facts[record_id] = seq, TableFacts.from_text(text)
        now_ms, unusual_now = self.clock_ms(), self._out_of_range()
        tiles = [self._tile(row, now_ms, unusual_now) for row in heads]
        return tuple(sorted(tiles, key=lambda one: (*one.tile.order, number_in(one.name))))

    def _tile(
        self, row: Mapping[str, Any], now_ms: int, found: Mapping[int, tuple[UnusualFigure, ...]]
    ) -> TableTile:
        record_id, key = row["record_id"], row["other_key"]
        _, facts = self._facts.get(record_id, (0, TableFacts()))
        signal = TableSignal(
            row["name"],
            freshness.of_row(row),
            health_of(row["fresh_health"]),
            row["fork_seq"],
            row["stuck_why"],
            fingerprint(bytes(key)) if key is not None else "",
            row["bad_seq"],
        )
        visit = FloorVisit(row["person"], row["need"], row["going_ms"]) if row["person"] is not None else None
        made = tile(facts, signal, now_ms, visit, found.get(record_id, ()))
        return TableTile(row["table_id"], row["name"], record_id, made, not is_closed(facts, now_ms))

    def _sums(self) -> Hour:
        if time.monotonic() - self._hour_at > SUMS_S:
            self._hour = last_hour(self._database, self.clock_ms())
            with self._database.transaction() as connection:
                found = new_epoch(connection)
            self._epoch_ms = found[1] if found else None
            self._halted = _find_halted(self._database)
            self._certificates = soon(ends(self._database, self._certificate), self._clock())
            self._hour_at = time.monotonic()
        return self._hour

    def _out_of_range(self) -> Mapping[int, tuple[UnusualFigure, ...]]:
        if time.monotonic() - self._unusual_at > UNUSUAL_S:
            self._unusual = unusual(self._database, self.clock_ms())
            self._unusual_at = time.monotonic()
        return self._unusual


def _find_halted(database: Database) -> tuple[Message, ...]:
    with database.transaction() as connection:
        found = {one.release: one.stopped for one in store.read_channels(connection).values() if one.stopped}
    return tuple(
        Message("%(release)s was stopped: %(why)s", release=release, why=why)
        for release, why in found.items()
    )


def number_in(name: str) -> tuple[str, int]:
    """Order "Table 9" before "Table 10"."""
    digits = name[len(name.rstrip("0123456789")) :]
    return (name[: len(name) - len(digits)], int(digits or 0))


# ---- the stream's messages ----


class FloorMessages:
    """The stream's message for each floor: rendered once for a language, however many screens follow it.

    A stream begins with every tile; later messages carry the tiles that changed, and the order of all.
    """

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._by_language: dict[str, _LanguageMessages] = {}

    def text(self, snapshot: Floor, has: int | None = None, language: str = SOURCE) -> tuple[str, int]:
        """Return the message for a receiver that `has` an earlier floor, and the floor that it then has."""
        with self._lock:
            in_language = self._by_language.setdefault(language, _LanguageMessages(self._app, language))
            return in_language.text(snapshot, has)


class _LanguageMessages:
    def __init__(self, app: Flask, language: str) -> None:
        self._app, self._language = app, language
        self._version = -1
        self._shown: dict[str, TableTile | tuple[Any, ...]] = {}
        self._parts: dict[str, str] = {}
        self._changed: dict[str, int] = {}
        self._texts: dict[int | None, str] = {}
        self._order: dict[str, list[str]] = {}

    def text(self, snapshot: Floor, has: int | None) -> tuple[str, int]:
        if self._version < snapshot.version:
            self._render(snapshot)
        if has not in self._texts:
            parts = {n: html for n, html in self._parts.items() if has is None or self._changed[n] > has}
            head = {"language": html_language(self._language), "order": self._order}
            self._texts[has] = json.dumps({**head, "parts": parts}, separators=(",", ":"))
        return self._texts[has], self._version

    def _render(self, snapshot: Floor) -> None:
        with self._app.app_context(), speaking(self._language):
            what: dict[str, Any] = {f"tile-{one.table_id}": one for one in snapshot.tiles}
            what["sums"] = (
                *(snapshot.hour, len(snapshot.tiles), snapshot.dealing),
                *(snapshot.trouble, snapshot.epoch_ms, snapshot.stopped, snapshot.certificates),
            )
            for name in self._parts.keys() - what.keys():
                del self._parts[name], self._shown[name]
            for name, one in what.items():
                if self._shown.get(name) == one:
                    continue
                self._shown[name] = one
                html = (
                    render_template("pit/sums.html", floor=snapshot)
                    if name == "sums"
                    else render_template("pit/tile.html", one=one)
                ).strip()
                if self._parts.get(name) != html:
                    self._parts[name], self._changed[name] = html, snapshot.version
        self._order = {band.value: [f"tile-{t.table_id}" for t in snapshot.band(band)] for band in Band}
        self._version, self._texts = snapshot.version, {}
