"""Tables that send rows of no release, each meant for a part of the code that reads rows; no other table may notice."""

from __future__ import annotations

import random
import time
from typing import Any, Final

from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.journal import Journal
from firmware.record.journal.reader import JournalReader
from firmware.table.entry import Entry
from pit.authority import LOG_FOLDER
from pit.channels.facts import Facts
from pit.log.verify import verify
from tests.campaigns.pit.compare import has_all
from tests.campaigns.pit.fault_kind import LONG_S, Kind
from tests.campaigns.pit.fault_stage import Stage
from tests.pit.dealing_table import Deal, dealt
from tests.pit.test_hostile_rows import SPOILT, Spoiler, then

_DEEP: Final = "[" * 990 + "]" * 990
_NOT_SIGNED: Final[tuple[Any, ...]] = (
    "x",
    "{}",
    "[]",
    "null",
    _DEEP,
    {"key": "zz"},
    {"key": 7},
    {"seq": 1e300},
)
_NO_START: Final[tuple[Any, ...]] = (
    *("x", "[]", "null", _DEEP),
    *({"software": value} for value in (5, None, "feltwatch a\0b", "\ud800", ["feltwatch"])),
)
_MORE: Final = {
    **dict.fromkeys(("head_signed", "key_announced"), _NOT_SIGNED),
    "table_started": _NO_START,
}
POISON: Final[dict[str, Spoiler]] = {
    **SPOILT,
    **{f"{kind} {n}": then(kind, value) for kind, values in _MORE.items() for n, value in enumerate(values)},
}


def _meant(*first: str) -> tuple[str, ...]:
    return tuple(name for name in POISON if name.split()[0] in first)


READERS: Final = {
    "the list of hands": _meant("points", "seat", "size", "name", "hash"),
    "what a table does now": _meant("house_set", "hand", "down", "dealer"),
    "the log": _meant("head_signed", "key_announced"),
    "channels": _meant("table_started"),
    "the pages of a hand": _meant("reason", "player", "profile", "settled"),
}
"""Poison, by the part of the code that it is meant for."""
_PAGES: Final = ("/", "/tables", "/hands", "/disputes", "/dealers", "/reports", "/proof", "/channels")
_OF_HAND: Final = ("", "/story", "/look", "/changes", "/again")


def _poisoned(made: Stage, rng: random.Random, is_long: bool) -> tuple[float, list[str]]:
    reader = rng.choice(list(READERS))
    name = rng.choice(READERS[reader])
    began = time.monotonic()

    def deal(data: Any) -> Deal:
        honest = dealt(data, 5, ahead=10)

        def once(hands: int) -> int:
            """Two whole hands, then the poison; after it the table writes nothing more."""
            rows = JournalReader(data).events_since(0, 10**6)
            if len(rows) > 1:
                return rows[-1].seq
            honest(hands)
            return poison(data, POISON[name])

        return once

    with made.joined(deal) as bad:
        made.until(lambda: has_all(made.database, [bad.data]))
        stored_s = time.monotonic() - began
        time.sleep(LONG_S if is_long else 2.0)
        wrong = [f"{name}: {what}" for what in _wrong(made, bad.data, began)]
    return stored_s, wrong


def poison(data: Any, spoilt: Spoiler) -> int:
    """Append rows that no release writes, chained and sealed; return the number of the last."""
    rows = JournalReader(data).events_since(0, 10**6)
    last = rows[-1]
    with Journal(data) as journal:
        for row in spoilt([one for one in rows if one.hand]):
            made = row._replace(seq=last.seq + 1, previous=last.hash, hand=max(0, row.hand))
            last = made._replace(hash=made.sealed())
            journal.append_sealed([last])
    return last.seq


def _wrong(made: Stage, data: Any, began: float) -> list[str]:
    """Return what is wrong: rows that are not stored, other tables that wait, pages and checks that fail."""
    found = []
    rows = list(JournalReader(data).events_since(0, 10**6))
    with made.database.transaction() as connection:
        record_id, table_id = connection.execute(
            "SELECT record_id, table_id FROM record WHERE genesis = %s", (rows[0].hash,)
        ).fetchone() or (0, 0)
        kept = [
            Entry(*row)
            for row in connection.execute(
                f"SELECT {', '.join(Entry._fields)} FROM entry WHERE record_id = %s ORDER BY seq",
                (record_id,),
            ).fetchall()
        ]
        with connection.transaction(force_rollback=True):
            _look_as_a_channel(connection, table_id)
    if kept != rows:
        found.append("the rows that are stored are not those that were sent")
    held_up = [
        look for look in made.watcher.since(began) if not all(one.name in look.live for one in made.tables)
    ]
    if held_up:
        found.append(f"another table was not live in {len(held_up)} looks")
    verify(made.database, DeviceKey.open(made.house.folder / "pit" / LOG_FOLDER).public)
    hands = {row.hand for row in rows[-12:] if 0 < row.hand < 1 << 31}
    pages = (*_PAGES, *(f"/record/{record_id}/review/{hand}{page}" for hand in hands for page in _OF_HAND))
    for page in pages:
        status, text = made.watcher.page(page)
        if status >= 500:
            found.append(f"{page} answers {status}: {text[:60]}")
    return found


def _look_as_a_channel(connection: Any, table_id: int) -> None:
    """Read what a channel reads of a table. Raises what that raises."""
    connection.execute(
        "INSERT INTO offered_file (sha256, kind, name, version, size, offered_by)"
        " VALUES (%s, 'release', 'feltwatch', '9', 1, 'test')",
        ("ab" * 32,),
    )
    connection.execute("INSERT INTO channel_table (table_id, sha256) VALUES (%s, %s)", (table_id, "ab" * 32))
    Facts().members(connection)


KINDS: Final = (Kind("poison", "a table sends rows that no release writes", play=_poisoned),)
