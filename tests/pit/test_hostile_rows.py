"""A table whose certificate and chain are valid may send rows that no release writes: they hold up no other table."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pytest

from firmware.record.journal.reader import JournalReader
from firmware.table.entry import Entry
from firmware.uplink.wire import Head, Offer
from pit.door.serve import Projector
from pit.door.take import take
from pit.follow.follower import Follower
from pit.follow.news import News
from pit.follow.projector import project, project_in
from pit.status.tables import TableState, enrol, list_tables
from pit.store.database import Database
from tests.pit.conftest import as_role
from tests.pit.postgres import DOOR, Postgres
from tests.waiting import until

_NUMBERS = itertools.count(1)
WORDS: Final = {"NUL": "a\0b", "half a pair": "\ud800", "an object": {"a": 1}, "null": None, "true": True}
"""Values that are not a name."""
NUMBERS: Final = {
    "2^31": 2**31,
    "2^63": 2**63,
    "-2^70": -(2**70),
    "text": "seven",
    "true": True,
    "1e300": 1e300,
}
"""Values that are neither a number of a seat, a down or a hand, nor points."""
DIGEST: Final = "a" * 64


@pytest.fixture(scope="module")
def house(postgres: Postgres) -> Iterator[Database]:
    """One database for all: each test enrols its own tables."""
    with Database(as_role(postgres.make("pit_hostile_rows", "template_pit"), DOOR), connections=4) as opened:
        yield opened


@pytest.fixture(scope="module")
def played(record: Any) -> list[Entry]:
    """The rows of the first hands of a record."""
    return list(JournalReader(record).events_since(0, 60))


class Sender:
    """A table that sends any rows, in a chain that is valid."""

    def __init__(self, house: Database) -> None:
        self.house, self.number = house, next(_NUMBERS)
        self.name = f"Table {self.number:03}"
        self.table = enrol(house, self.name, self.number)
        self.rows: list[Entry] = []

    def send(self, rows: Sequence[Entry]) -> None:
        """Append rows, each numbered and sealed again, and send them."""
        for row in rows:
            before = self.rows[-1].hash if self.rows else ""
            made = row._replace(seq=len(self.rows) + 1, previous=before, boot=f"boot {self.number}")
            self.rows.append(made._replace(hash=made.sealed()))
        last = self.rows[-1]
        offer = Offer(self.rows[0].hash, Head(last.seq, last.hash), rows=tuple(self.rows[-len(rows) :]))
        assert take(self.house, self.table, offer).seq == len(self.rows)

    @property
    def state(self) -> TableState:
        return next(one for one in list_tables(self.house) if one.table.name == self.name)

    @property
    def followed(self) -> tuple[int, int]:
        """The last rows that are in what the table does now, and in the list of hands."""
        with self.house.transaction() as connection:
            row = connection.execute(
                "SELECT n.seq, p.seq FROM record JOIN projection p USING (record_id)"
                " LEFT JOIN table_now n USING (record_id) WHERE table_id = %s",
                (self.table.table_id,),
            ).fetchone()
        assert row is not None
        return row[0] or 0, row[1]

    @property
    def stored(self) -> list[str]:
        with self.house.transaction() as connection:
            rows = connection.execute(
                "SELECT entry.hash FROM entry JOIN record USING (record_id) WHERE table_id = %s ORDER BY entry.seq",
                (self.table.table_id,),
            ).fetchall()
        return [row[0] for row in rows]


def of_type(rows: list[Entry], kind: str) -> Entry:
    return next(row for row in rows if row.type == kind)


def changed(row: Entry, change: Callable[[dict[str, Any]], object]) -> Entry:
    value = json.loads(row.payload)
    change(value)
    return row._replace(payload=json.dumps(value))


Spoiler = Callable[[list[Entry]], list[Entry]]


def opened_with(**fields: Any) -> Spoiler:
    return lambda rows: [changed(of_type(rows, "hand_opened"), lambda value: value.update(fields))]


def seated_with(**fields: Any) -> Spoiler:
    return lambda rows: [
        changed(of_type(rows, "hand_opened"), lambda value: value["seats"][0].update(fields))
    ]


def twice_seated(rows: list[Entry]) -> list[Entry]:
    return [changed(of_type(rows, "hand_opened"), lambda value: value["seats"].append(value["seats"][0]))]


def settled_with(points: Any) -> Spoiler:
    def spoilt(rows: list[Entry]) -> list[Entry]:
        seat = json.loads(of_type(rows, "hand_opened").payload)["seats"][0]["seat"]
        settled = changed(
            of_type(rows, "settled"), lambda value: value["settlement"]["points"].update({str(seat): points})
        )
        return [settled if row.type == "settled" else row for row in rows[:8]]

    return spoilt


def then(kind: str, payload: Any) -> Spoiler:
    """An opened hand, and a row with such a payload: text as it is, else as JSON."""
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return lambda rows: [opened := of_type(rows, "hand_opened"), opened._replace(type=kind, payload=text)]


def image(**fields: Any) -> dict[str, Any]:
    return {"image": {"name": "seat-1.jpg", "sha256": DIGEST, "size": 1, **fields}}


SPOILT: Final[dict[str, Spoiler]] = {
    **{f"profile {name}": opened_with(profile=word) for name, word in WORDS.items()},
    **{f"hash of the profile {name}": opened_with(profile_hash=word) for name, word in WORDS.items()},
    **{f"dealer {name}": opened_with(dealer=word) for name, word in WORDS.items()},
    **{f"player {name}": seated_with(player=word) for name, word in WORDS.items()},
    "a player too long for an index": seated_with(
        player="".join(map(chr, random.Random(1).choices(range(0x4E00, 0x9FFF), k=5_000)))
    ),
    **{f"reason {name}": then("hand_disputed", {"hand": 1, "reason": word}) for name, word in WORDS.items()},
    **{f"name of an image {name}": then("reading_taken", image(name=word)) for name, word in WORDS.items()},
    **{f"down {name}": opened_with(down=number) for name, number in NUMBERS.items()},
    **{f"seat {name}": seated_with(seat=number) for name, number in NUMBERS.items()},
    "the same seat twice": twice_seated,
    **{f"points {name}": settled_with(number) for name, number in NUMBERS.items()},
    **{f"size of an image {name}": then("reading_taken", image(size=number)) for name, number in NUMBERS.items()},
    **{f"hand {name}": then("hand_disputed", {"hand": number, "reason": ""}) for name, number in NUMBERS.items()},
    **{f"hand again {name}": then("hand_reopened", {"opened": {"hand": number}}) for name, number in NUMBERS.items()},
    **{f"{kind} {text[:9]}": then(kind, text) for kind in ("house_set", "hand_disputed", "profile_kept", "settled")
       for text in ("x", "{}", "[]", "null", "[" * 990 + "]" * 990)},
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
def test_rows_of_no_release_are_stored_and_hold_up_no_other_table(
    house: Database, played: list[Entry], name: str
) -> None:
    hostile, honest = Sender(house), Sender(house)
    follower = Follower(house)
    hostile.send([played[0], *SPOILT[name](played)])
    honest.send(played[:20])
    for _ in range(2):
        follower.follow()
        project(house)
    assert honest.followed == (20, 20)
    assert hostile.stored == [row.hash for row in hostile.rows]
    waits = min(hostile.followed) < len(hostile.rows)
    assert bool(hostile.state.stuck_why) == waits
    follower = Follower(house)  # the service is started again
    hostile.send(played[20:22])
    honest.send(played[20:22])
    follower.follow()
    project(house)
    assert honest.followed == (22, 22)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("down 2^63", "Rows 1 to 2 hold a value of no release. Show it to a technician."),
        (
            "a player too long for an index",
            "Rows 1 to 2 hold a value of no release. Show it to a technician.",
        ),
        ("hand_disputed {}", "Row 3 (hand_disputed) is of no release. Show it to a technician."),
        ("house_set x", "Row 3 (house_set) is of no release. Show it to a technician."),
    ],
)
def test_the_list_of_tables_says_why_a_table_waits(
    house: Database, played: list[Entry], name: str, why: str
) -> None:
    hostile = Sender(house)
    hostile.send([played[0], *SPOILT[name](played)])
    Follower(house).follow()
    project(house)
    assert hostile.state.stuck_why == why


def followed_by_the_thread(sender: Sender) -> None:
    """Let the service's thread follow until it has all of a table's rows."""
    thread = Projector(sender.house, News())
    thread.start()
    try:
        until(lambda: sender.followed == (len(sender.rows),) * 2 or not thread.is_alive())
        assert thread.is_alive()
    finally:
        thread.stop()


def test_the_thread_goes_on_for_other_tables_and_after_a_restart(
    house: Database, played: list[Entry]
) -> None:
    hostile, honest = Sender(house), Sender(house)
    hostile.send([played[0], *SPOILT["down 2^63"](played)])
    for upto in (10, 20):
        honest.send(played[len(honest.rows) : upto])
        followed_by_the_thread(honest)


def test_an_error_of_the_code_does_not_end_the_thread(
    house: Database, played: list[Entry], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    honest, tries, good = Sender(house), threading.Semaphore(0), project_in

    def breaks_once(source: Any) -> int:
        tries.release()
        monkeypatch.setattr("pit.door.serve.project_in", good)
        raise RuntimeError("a fault of the code")

    monkeypatch.setattr("pit.door.serve.project_in", breaks_once)
    honest.send(played[:10])
    followed_by_the_thread(honest)
    assert tries.acquire(blocking=False)
    assert "a fault of the code" in caplog.text


def test_a_state_is_made_again_from_the_last_opening_not_from_the_highest_hand(
    house: Database, played: list[Entry]
) -> None:
    first, second = (at for at, row in enumerate(played) if row.type == "hand_opened" and row.hand < 3)
    passed_over = [played[first]._replace(hand=500), of_type(played, "hand_archived")]
    table = Sender(house)
    table.send([played[0], *passed_over, *played[second : second + 6]])
    Follower(house).follow()
    assert table.followed[0] == len(table.rows)
    table.send(played[second + 6 : second + 7])
    Follower(house).follow()
    assert table.followed[0] == len(table.rows)
    assert table.state.stuck_why is None


def test_a_table_whose_state_cannot_be_made_again_waits_with_a_reason(
    house: Database, played: list[Entry]
) -> None:
    table, honest = Sender(house), Sender(house)
    table.send(played[:20])
    honest.send(played[:20])
    Follower(house).follow()
    with house.transaction() as connection:
        connection.execute(
            "UPDATE table_now SET facts = '{}' FROM record WHERE record.record_id = table_now.record_id"
            " AND table_id = %s",
            (table.table.table_id,),
        )
    for sender in (table, honest):
        sender.send(played[20:22])
    Follower(house).follow()
    assert honest.followed[0] == 22
    assert table.followed[0] == 20
    project(house)
    assert table.state.stuck_why == "The state after row 20 cannot be made again. Show it to a technician."
