"""A floor as a pit manager may find it: rows of a real database, at a fixed time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from firmware.messages import Message, text_to_store
from firmware.record.evidence.notes import Checkpoint, origin_of
from pit.channels.judge import FAILURES, Mark
from pit.channels.store import NAMES, Name
from pit.status.table_facts import Need, TableFacts
from pit.store.database import Connection, Database

NOW_MS: Final = 1_795_470_425_000
DEALERS: Final = ("Kim", "Ana", "Sasha", "Bo", "Lee", "Jun", "Mia", "Tom", "Eva", "Ira", "Lin", "Zoe")
PHASES: Final = ("setting", "reading", "dealing", "settled", "placing", "showdown")


@dataclass(frozen=True)
class FloorTable:
    """One table of the floor."""

    number: int
    facts: TableFacts
    heard_s: float | None = 2.0
    health: dict[str, Any] | None = None
    followed: int = 900
    fork_seq: int | None = None
    going: tuple[str, str] | None = None


def check(name: str, verdict: str, title: str, says: str, figure: str = "") -> dict[str, Any]:
    """A health check that is not well, as an uplink sends it."""
    texts = {"title": Message(title).to_json(), "says": Message(says).to_json()}
    return {"name": name, "verdict": verdict, "figure": figure, **texts}


def health(*checks: dict[str, Any], table_s: float = 0.4) -> dict[str, Any]:
    """What a table's uplink says of it."""
    well = {"disk": "20480 MB", "heat": "48 °C", "power": "", "memory": "900 MB"}
    return {"table_s": table_s, "row": 900, "checks": list(checks), "well": well}


def dealing(number: int, seconds: int = 14, *needs: Need, **more: Any) -> TableFacts:
    """A table that deals, in a phase since some seconds."""
    base: dict[str, Any] = {
        "phase": PHASES[number % len(PHASES)],
        "since_ms": NOW_MS - seconds * 1000,
        "hand": 600 + 7 * number,
        "dealer": DEALERS[number % len(DEALERS)],
        "down": 2,
        "down_ms": NOW_MS - 9 * 60_000,
        "down_minutes": 40,
        "taken": 4,
        "seats": 4,
        "last_ms": NOW_MS - 1000,
        "taken_ms": NOW_MS - 1000,
        "synchronised": True,
        "needs": needs,
    }
    return TableFacts(**(base | more))


def since(seconds: int) -> int:
    return NOW_MS - seconds * 1000


CLOSED: Final = TableFacts(
    phase="archived", since_ms=NOW_MS - 3_600_000, hand=88, last_ms=NOW_MS, taken_ms=NOW_MS
)
TABLES: Final = (
    FloorTable(
        7,
        dealing(
            7,
            30,
            Need("dispute:1204", "dispute", since(192), 1204, text="A row was read wrong", by="floor:Moreno"),
            dealer="Lin",
        ),
    ),
    FloorTable(19, dealing(19), fork_seq=88_120),
    FloorTable(
        3,
        dealing(
            3,
            58,
            Need("natural:1", "natural", since(58), 1377, 2, detail="natural"),
            dealer="Sasha",
            hand=1377,
        ),
    ),
    FloorTable(
        12,
        dealing(
            12, 41, Need("q:1", "question", since(41), 902, 4, "middle", "card"), dealer="Robin", hand=902
        ),
        going=("Ito", "q:1"),
    ),
    FloorTable(4, dealing(4, 40, Need("call:88", "call", since(25), 628, by="dealer:Lee"))),
    FloorTable(5, dealing(5, 70, down_ms=since(2350), dealer="Ana")),
    FloorTable(
        14, dealing(14), health=health(check("heat", "look", "Temperature", "The box is warm.", "71 °C"))
    ),
    FloorTable(17, dealing(17, 95), health=health(table_s=66.0)),
    FloorTable(18, dealing(18, 31), health={"celsius": 47.5}),
    FloorTable(20, dealing(20, 25, taken=3, seats=5), followed=359),
    FloorTable(21, dealing(21, hand=612), heard_s=720),
    FloorTable(
        9, dealing(9, 20, Need("fault:lamps", "fault", since(300), detail="lamps", text=Message("gone")))
    ),
    FloorTable(2, dealing(2, 14), heard_s=15),
    *(FloorTable(number, dealing(number, 12 + 9 * number)) for number in (1, 6, 8, 10, 11, 13, 15)),
    *(FloorTable(number, CLOSED) for number in (22, 23)),
)


def furnish(database: Database) -> None:
    """Write the floor's rows."""
    with database.transaction() as connection:
        for at in sorted(TABLES, key=lambda one: one.number):
            row = connection.execute(
                "INSERT INTO gaming_table (name, serial) VALUES (%s, %s) RETURNING table_id",
                (str(at.number), at.number),
            ).fetchone()
            assert row is not None
            table_id = row[0]
            made = connection.execute(
                "INSERT INTO record (table_id, genesis) VALUES (%s, %s) RETURNING record_id",
                (table_id, f"{at.number:064x}"),
            ).fetchone()
            assert made is not None
            heard = (NOW_MS / 1000) - (at.heard_s or 0)
            connection.execute(
                "INSERT INTO head (record_id, seq, hash, heard_at, taken_at, table_seq, release, health, fork_seq,"
                " fork_at) VALUES (%s, 900, '', to_timestamp(%s), to_timestamp(%s), 900, '0.2.0', %s, %s,"
                " to_timestamp(%s))",
                (
                    made[0],
                    heard,
                    min(heard, NOW_MS / 1000 - 3 * at.number),
                    json.dumps(at.health or health()),
                    at.fork_seq,
                    NOW_MS / 1000 - 100 if at.fork_seq else None,
                ),
            )
            connection.execute("INSERT INTO projection (record_id, seq) VALUES (%s, 900)", made)
            connection.execute(
                "INSERT INTO table_now VALUES (%s, %s, %s, 1, %s)",
                (made[0], at.followed, at.followed, at.facts.to_text()),
            )
            if at.followed < 900:
                _wait(connection, made[0], at.followed + 1)
            if at.going:
                connection.execute(
                    "INSERT INTO going VALUES (%s, %s, %s, to_timestamp(%s))",
                    (table_id, *at.going, NOW_MS / 1000 - 5),
                )


def _wait(connection: Connection, record_id: int, seq: int) -> None:
    """Write the first row that is not followed: it came forty seconds ago."""
    connection.execute(
        "INSERT INTO entry (record_id, seq, hand, boot, monotonic_ns, wall_ms, clock, actor, command, type, payload,"
        " previous, hash, taken_at) VALUES (%s, %s, 1, 'b', 1, %s, 'synchronised', 'table', '', 'turned_up', '{}', '',"
        " '', to_timestamp(%s))",
        (record_id, seq, since(40), since(40) / 1000),
    )


DOWN_MS: Final = 40 * 60_000


def add_downs(database: Database) -> None:
    """Write two downs of each of six tables: the last one lasts, unless its table is not heard of."""
    names = [DEALERS[number % len(DEALERS)] for number in range(7)]
    with database.transaction() as connection:
        for number, table in enumerate(("1", "3", "5", "7", "12", "21")):
            for turn, dealer in enumerate((names[number], names[number + 1])):
                began = NOW_MS - (2 - turn) * DOWN_MS + number * 60_000
                connection.execute(
                    "INSERT INTO down_total SELECT record_id, %s, %s, %s, %s, %s, %s, 0, 0, 1, 1, 0, %s, %s, %s, 0, 0,"
                    " %s, 0, 0 FROM record JOIN gaming_table USING (table_id) WHERE name = %s",
                    (
                        *(2 - turn, dealer, 3 + turn, began, min(began + DOWN_MS, NOW_MS)),
                        *(18 + number, number % 2, 936 + number, number % 4, 12_600 + 700 * number, table),
                    ),
                )


GAMES: Final = ("washington-1-unit", "california-face-up", "traditional")
PLAYERS: Final = ("Ann", "Bao", "Carla", "Dev", "Maximiliane Wolkenstein", "Noor")


def add_hands(database: Database) -> None:
    """Write four hands of each of six tables, two of them in dispute, and what one person did."""
    with database.transaction() as connection:
        for number, table in enumerate(("1", "3", "5", "7", "12", "21")):
            row = connection.execute(
                "SELECT record_id FROM record JOIN gaming_table USING (table_id) WHERE name = %s", (table,)
            ).fetchone()
            assert row is not None
            for hand in range(1, 5):
                opened = NOW_MS - (5 - hand) * 150_000 - number * 9_000
                disputed = hand == 2 and number in (0, 3)
                connection.execute(
                    "INSERT INTO hand VALUES (%s, %s, 1, 900, %s, %s, %s, %s, %s, 3, 1, %s, %s, %s, 52, %s, 0, 0, %s,"
                    " %s, 0, 4, 0, '{}')",
                    (
                        *(
                            row[0],
                            hand,
                            opened,
                            opened + 90_000,
                            "void" if hand == number == 3 else "settled",
                        ),
                        *(GAMES[number % 3], DEALERS[number], int(hand == 4), int(number == 2)),
                        *(int(hand == 1), int(hand == 3), int(disputed), disputed),
                    ),
                )
                for seat in range(1, 5):
                    connection.execute(
                        'INSERT INTO hand_seat (record_id, hand, seat, player, points, foul, "natural", opened_ms)'
                        " VALUES (%s, %s, %s, %s, 0, false, NULL, %s)",
                        (row[0], hand, seat, PLAYERS[(number + seat) % len(PLAYERS)], opened),
                    )
                if disputed:
                    _dispute(connection, row[0], hand, opened + 200_000)
        acts: tuple[tuple[str, int | None, str], ...] = (
            ("log-in", None, ""),
            ("search", None, "player=Bao&with=foul"),
            ("review.hand", 2, ""),
            ("records.make_file", 2, ""),
            ("dispute.dispute_file", 2, ""),
        )
        for turn, (what, of, detail) in enumerate(acts):
            connection.execute(
                "INSERT INTO act (at, person, role, what, record_id, hand, detail) SELECT to_timestamp(%s), 'Ines',"
                " 'auditor', %s, CASE WHEN %s::int IS NULL THEN NULL ELSE max(record_id) END, %s, %s FROM record",
                (NOW_MS / 1000 - 300 + 40 * turn, what, of, of, detail),
            )


def _dispute(connection: Connection, record_id: int, hand: int, at_ms: int) -> None:
    reason = json.dumps({"hand": hand, "reason": "A row was read wrong"})
    connection.execute(
        "INSERT INTO entry (record_id, seq, hand, boot, monotonic_ns, wall_ms, clock, actor, command, type, payload,"
        " previous, hash, taken_at) VALUES (%s, 800, %s, 'b', 1, %s, 'synchronised', 'floor:Moreno', '',"
        " 'hand_disputed', %s, '', '', to_timestamp(%s))",
        (record_id, hand, at_ms, reason, at_ms / 1000 + 1),
    )
    connection.execute(
        "INSERT INTO place (record_id, type, hand, seq) VALUES (%s, 'hand_disputed', %s, 800)",
        (record_id, hand),
    )


def add_log(database: Database) -> None:
    """A log of an epoch after a set-back: most tables have cosigned, one signs with a key that nobody has accepted."""
    key = bytes(range(32))
    origin = origin_of(key, 2)
    note = f"{Checkpoint(origin, 4711, bytes(32)).text}\n\u2014 {origin} {'A' * 91}=\n"
    with database.transaction() as connection:
        connection.execute(
            "UPDATE gaming_table SET device_key = sha256(name::bytea), witness_key = sha256(serial::bytea)"
        )
        connection.execute(
            "INSERT INTO epoch (epoch, origin, key, opened_at) VALUES (2, %s, %s, to_timestamp(%s))",
            (origin, key, NOW_MS / 1000 - 7200),
        )
        connection.execute(
            "INSERT INTO leaf (epoch, number, record_id, seq, hash) SELECT 2, row_number() OVER (ORDER BY record_id),"
            " record_id, greatest(seq - 7, 1), sha256('') FROM head"
        )
        connection.execute(
            "INSERT INTO checkpoint (epoch, size, root, note, at) VALUES (2, 4711, sha256(''), %s, to_timestamp(%s))",
            (note, NOW_MS / 1000 - 12),
        )
        connection.execute(
            "INSERT INTO cosignature (epoch, size, table_id, line, at) SELECT 2, 4711, table_id, '', to_timestamp(%s)"
            " FROM gaming_table WHERE struck_at IS NULL AND table_id %% 5 > 0",
            (NOW_MS / 1000 - 9,),
        )
        connection.execute(
            "INSERT INTO proven (epoch, size, signers, heard) SELECT 2, 4711, count(*), 24 FROM cosignature"
        )
        connection.execute(
            "INSERT INTO log_mark (record_id, announced) SELECT max(record_id), sha256('other') FROM head"
        )


BEFORE, RELEASE = "0.2.0-77aa01de", "0.3.0-5f0c2a91"


def add_channels(database: Database, is_stopped: bool) -> None:
    """A release in First and Tenth, or stopped there, and an older one in Rest, from which table 21 was left out."""
    marks: dict[str, tuple[str, int, str | Message]] = {
        "7": ("updated", 4000, ""),
        "3": ("updated", 2400, ""),
        "12": ("runs", 900, ""),
        "4": ("asked", 1500, ""),
        "21": ("waits", 0, ""),
    }
    if is_stopped:
        marks["12"] = ("went_back", 600, Message("It runs %(release)s.", release=BEFORE))
        marks["4"] = ("waits", 0, "")
    why = Message("%(name)s: %(what)s", name="12", what=FAILURES[Mark.WENT_BACK])
    old, new = "11" * 32, "22" * 32
    notes: list[tuple[int, str, Message]] = [
        (86_400, "Ines", Message("%(release)s moved to: %(to)s", release=BEFORE, to=NAMES[Name.REST])),
        (5400, "Ines", Message("%(release)s moved to: %(to)s", release=RELEASE, to=NAMES[Name.FIRST])),
        (3000, "Bo", Message("%(release)s moved to: %(to)s", release=RELEASE, to=NAMES[Name.TENTH])),
    ]
    if is_stopped:
        notes.append((600, "", Message("%(release)s stopped: %(why)s", release=RELEASE, why=why)))
    with database.transaction() as connection:
        for sha, version in ((old, BEFORE), (new, RELEASE), ("33" * 32, "0.3.1-0badcafe")):
            connection.execute(
                "INSERT INTO offered_file VALUES (%s, 'release', 'feltwatch', %s, 1000, 'Ines', to_timestamp(%s))",
                (sha, version, NOW_MS / 1000 - 90_000),
            )
        for channel, names in ((Name.FIRST, ["7"]), (Name.TENTH, ["3", "12", "4"])):
            connection.execute("UPDATE gaming_table SET channel = %s WHERE name = ANY(%s)", (channel, names))
        for channel, sha, by, age in (
            *((Name.FIRST, new, "Ines", 5400), (Name.TENTH, new, "Bo", 3000)),
            *((Name.REST, old, "Ines", 86_400),),
        ):
            connection.execute(
                "UPDATE channel SET sha256 = %s, moved_by = %s, moved_at = to_timestamp(%s), stopped_why = %s"
                " WHERE channel = %s",
                (
                    sha,
                    by,
                    NOW_MS / 1000 - age,
                    text_to_store(why) if is_stopped and sha == new else "",
                    channel,
                ),
            )
        for table_id, name, channel in connection.execute(
            "SELECT table_id, name, channel FROM gaming_table WHERE struck_at IS NULL"
        ).fetchall():
            mark, since, says = marks.get(name, ("updated", 80_000, ""))
            connection.execute(
                "INSERT INTO channel_table (table_id, sha256, is_left_out, mark, since, why)"
                " VALUES (%s, %s, %s, %s, to_timestamp(%s), %s)",
                (
                    *(table_id, old if channel == Name.REST else new, name == "21", mark),
                    *(NOW_MS / 1000 - since if since else None, text_to_store(says)),
                ),
            )
        for age, by, what in notes:
            connection.execute(
                "INSERT INTO channel_note (at, person, what) VALUES (to_timestamp(%s), %s, %s)",
                (NOW_MS / 1000 - age, by, text_to_store(what)),
            )
