"""Every attack on the proof between tables and pit, each with the defence that it is up against and without.

    python -m tests.campaigns.pit.attacks --write docs/pit-attacks.md

With its defence each must be found, without it none may be: else the attack tests nothing. Everything is real but the
hands: a PostgreSQL, the code of door, log and uplink.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest import mock

import click
import psycopg

from firmware.record.evidence.anchors import sign_head
from firmware.record.evidence.merkle import of_leaves, root
from firmware.record.evidence.notes import Checkpoint, cosign, sign
from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.reader import JournalReader
from firmware.table.entry import Entry
from firmware.table.event import payload
from firmware.table.events import HandVoided, HeadSigned, canonical
from firmware.uplink.wire import Head, Offer
from pit.door.take import take_from
from pit.errors import Fork, NotEnrolledError
from pit.log.heads import anchor_in, look_at
from pit.log.verify import verify
from pit.status.tables import strike
from pit.store.database import Database, migrate
from tests.pit.log.conftest import LogHouse, made_house, set_back
from tests.pit.postgres import Postgres

Off = tuple[str, Any]
"""A name in the product, and what stands there instead."""


@dataclass
class Scene:
    """A pit with three tables and some proven hands; the first table is the one that is attacked."""

    house: LogHouse
    owned: str

    @property
    def rows(self) -> list[Entry]:
        """The first table's rows."""
        return JournalReader(self.house.tables[0].data).events_since(0, 10_000)

    def offer(self, rows: list[Entry], genesis: str = "") -> str:
        """Send rows as the first table; return why they are refused, "" if they are taken."""
        head = Head(rows[-1].seq, rows[-1].hash)
        return self._taken(Offer(genesis or self.rows[0].hash, head, rows=tuple(rows)))

    def heartbeat(self, head: Head) -> str:
        return self._taken(Offer(self.rows[0].hash, head))

    def _taken(self, offer: Offer) -> str:
        try:
            take_from(self.house.database, self.house.tables[0].table.serial, offer)
        except (Fork, NotEnrolledError) as error:
            return str(error)
        return ""

    def sql(self, *statements: tuple[str, tuple[Any, ...]]) -> None:
        """Change the database as somebody who owns it, triggers or not."""
        with psycopg.connect(self.owned) as connection:
            connection.execute("SET session_replication_role = replica")
            for statement, values in statements:
                connection.execute(statement.encode(), values)

    def verified(self, *given: str) -> str:
        """What `feltwatch pit verify` says first."""
        found = verify(self.house.database, self.house.keeper.key.public, given=given)
        return str(found.problems[0]) if found.problems else ""


def rewritten(rows: list[Entry], at: int, **changed: Any) -> list[Entry]:
    """Rows with one changed, and every hash after it made again."""
    made: list[Entry] = []
    for row in rows:
        one = row._replace(**changed) if row.seq == at else row
        one = one._replace(previous=made[-1].hash if made else "")
        made.append(one._replace(hash=one.sealed()))
    return made


def after(scene: Scene, event: Any, kind: str, at: int = 0) -> Entry:
    """One more row, well chained."""
    last = scene.rows[-1] if not at else scene.rows[at - 1]
    row = last._replace(seq=last.seq + 1, type=kind, payload=canonical(event), previous=last.hash, hash="")
    return row._replace(hash=row.sealed())


# ---- at the door ----


def goes_on_with_a_rewritten_record(scene: Scene) -> str:
    rows = rewritten(scene.rows, 2, actor="nobody")
    more = rows[-1]._replace(seq=rows[-1].seq + 1, previous=rows[-1].hash)
    return scene.offer([more._replace(hash=more.sealed())])


def swaps_a_byte_in_a_new_row(scene: Scene) -> str:
    row = after(scene, {"reason": "x"}, "hand_voided")
    return scene.offer([row._replace(payload='{"reason":"y"}')])


def sends_a_rewritten_past_again(scene: Scene) -> str:
    return scene.offer(rewritten(scene.rows, 2, actor="nobody"))


def rewrites_at_equal_length_and_sends_nothing(scene: Scene) -> str:
    last = rewritten(scene.rows, 2, actor="nobody")[-1]
    return scene.heartbeat(Head(last.seq, last.hash))


def sends_from_a_stolen_disk(scene: Scene) -> str:
    strike(scene.house.database, "Table 1")
    return scene.offer([after(scene, {"reason": "x"}, "hand_voided")])


def signs_with_a_stolen_tables_new_key(scene: Scene) -> str:
    table = scene.house.tables[0]
    before = scene.house.one("SELECT count(*) FROM leaf")
    table.deal(sign=DeviceKey.open(table.folder / "thief"))
    table.send()
    scene.house.keeper.turn()
    return (
        "" if scene.house.one("SELECT count(*) FROM leaf") > before else "No leaf: the key was not accepted."
    )


# ---- in the pit's database ----

_ROW: Final = "UPDATE entry SET {} WHERE record_id = 1 AND seq = %s"


def changes_a_row(scene: Scene) -> str:
    scene.sql((_ROW.format("actor = 'nobody'"), (2,)))
    return scene.verified()


def removes_a_row(scene: Scene) -> str:
    scene.sql(("DELETE FROM entry WHERE record_id = 1 AND seq = %s", (2,)))
    return scene.verified()


def changes_a_row_and_every_hash_after_it(scene: Scene) -> str:
    _store(scene, rewritten(scene.rows, 2, actor="nobody"))
    return scene.verified()


def _store(scene: Scene, rows: list[Entry]) -> None:
    scene.sql(
        *((_ROW.format("actor = %s, payload = %s, previous = %s, hash = %s"),
           (row.actor, row.payload, row.previous, row.hash, row.seq)) for row in rows),
        ("UPDATE head SET hash = %s WHERE record_id = 1", (rows[-1].hash,)),
    )  # fmt: skip


def changes_rows_and_signs_them_again(scene: Scene) -> str:
    """With a key of one's own in the place of the table's, everywhere in the database; the log stays."""
    key = DeviceKey.open(scene.house.folder / "own-key")
    made: list[Entry] = []
    for row in rewritten(scene.rows, 2, actor="nobody"):
        one = row
        if row.type == HeadSigned.type:
            wall = json.loads(row.payload)["wall_ms"]
            signed = sign_head(key, seq=made[-1].seq, digest=made[-1].hash, hands=1, wall_ms=wall, table="12")
            one = row._replace(payload=payload(signed))
        elif row.type == "key_announced":
            one = row._replace(payload=canonical({"key": key.public.hex()}))
        one = one._replace(previous=made[-1].hash if made else "")
        made.append(one._replace(hash=one.sealed()))
    _store(scene, made)
    scene.sql(
        ("UPDATE record SET genesis = %s WHERE record_id = 1", (made[0].hash,)),
        ("UPDATE gaming_table SET device_key = %s WHERE table_id = 1", (key.public,)),
    )
    return scene.verified()


def changes_a_leaf(scene: Scene) -> str:
    scene.sql(
        (
            "UPDATE leaf SET hash = %s WHERE number = (SELECT min(number) FROM leaf WHERE record_id = 2)",
            (bytes(32),),
        )
    )
    return scene.verified()


def makes_another_log(scene: Scene, *given: str) -> str:
    """As somebody who has the pit's key, too: one table's entries left out, the log made and signed again."""
    house = scene.house
    with psycopg.connect(scene.owned) as connection:
        kept = connection.execute(
            "SELECT record_id, seq, hash FROM leaf WHERE record_id <> 1 ORDER BY number"
        ).fetchall()
    size = len(kept)
    made = Checkpoint(
        house.one("SELECT origin FROM epoch WHERE epoch = 1"),
        size,
        root(of_leaves([bytes(one[2]) for one in kept]), size),
    )
    scene.sql(
        *((f"DELETE FROM {table}", ()) for table in ("proven", "cosignature", "checkpoint", "leaf")),
        *(("INSERT INTO leaf (epoch, number, record_id, seq, hash) VALUES (1, %s, %s, %s, %s)", (number, *one))
          for number, one in enumerate(kept)),
        ("INSERT INTO checkpoint (epoch, size, root, note) VALUES (1, %s, %s, %s)",
         (size, made.root, sign(house.keeper.key, made))),
        ("DELETE FROM entry WHERE record_id = 1 AND seq > 1", ()),
        ("UPDATE head SET seq = 1, hash = genesis FROM record WHERE record.record_id = 1 AND head.record_id = 1", ()),
        ("UPDATE log_mark SET seq = 1 WHERE record_id = 1", ()),
    )  # fmt: skip
    return scene.verified(*given)


def shows_surveillance_another_history(scene: Scene) -> str:
    return makes_another_log(scene, scene.house.tables[1].witness.state.note)


def shows_a_table_another_history(scene: Scene) -> str:
    makes_another_log(scene)
    shutil.copy(scene.house.folder / "log/newest-checkpoint", scene.house.folder / "log/kept")
    (scene.house.folder / "log/newest-checkpoint").unlink()
    other = scene.house.restarted(careful_s=0.0)
    for table in other.tables[1:]:
        table.deal()
        table.send()
    with mock.patch("pit.log.cosignatures.Cosignatures.take_unknown", return_value=[]):  # the pit itself lies
        other.keeper.turn()
        other.tables[1].ask(other.answers)
    return str(other.tables[1].witness.state.trouble)


def invents_hands_at_the_centre(scene: Scene) -> str:
    last = scene.rows[-1]
    made = []
    for _ in range(2):
        row = last._replace(
            seq=last.seq + 1, type=HandVoided.type, payload='{"reason":"x"}', previous=last.hash, hash=""
        )
        last = row._replace(hash=row.sealed())
        made.append(last)
    columns = ", ".join(Entry._fields)
    marks = ", ".join(["%s"] * len(Entry._fields))
    scene.sql(
        *((f"INSERT INTO entry (record_id, {columns}) VALUES (1, {marks})", tuple(one)) for one in made),
        ("UPDATE head SET seq = %s, hash = %s WHERE record_id = 1", (last.seq, last.hash)),
    )
    return scene.verified()


def signs_a_second_history_after_a_set_back(scene: Scene) -> str:
    set_back(scene.owned, 3)
    scene.house.keeper.turn()
    epoch = scene.house.one("SELECT max(epoch) FROM epoch")
    return "A new epoch began." if epoch > 1 else ""


def counts_a_cosignature_of_another_key(scene: Scene) -> str:
    from pit.log.cosignatures import HeldCheckpoint

    house = scene.house
    house.tables[0].deal()
    house.tables[0].send()
    house.keeper.turn()
    assert house.keeper.newest is not None
    thief = DeviceKey.open(house.folder / "thief")
    note = house.keeper.newest.note
    note += cosign(thief, note, 1_790_000_000)
    house.keeper.held(1, HeldCheckpoint(note, thief.public))
    house.keeper.turn()
    size = house.keeper.newest.checkpoint.size
    return "" if house.one("SELECT count(*) FROM cosignature WHERE size = %s", size) else "Not counted."


@dataclass(frozen=True)
class Attack:
    """An attack: what it is, how it is made (returns how it was found, "" if it was not), and its defence."""

    title: str
    make: Callable[[Scene], str]
    defence: str
    off: tuple[Off, ...]


_TAKE: Final = "pit.door.take."
_VERIFY: Final = "pit.log.verify."


def _new_unlooked(_connection: Any, stored: Any, offer: Offer) -> Any:
    return [row for row in offer.rows if row.seq > stored.head.seq]


def _enrolled_unlooked(row: Any) -> Any:
    from pit.status.tables import Table

    return Table(*row[:3])


def _any_key(rows: Any) -> Any:
    return look_at(
        (*row[:-1], bytes.fromhex(found.key) if (found := anchor_in(row[3])) else row[-1]) for row in rows
    )


def _silent(*_args: Any, **_given: Any) -> None:
    return None


_FOLLOWS_OFF: Final[tuple[Off, ...]] = ((f"{_VERIFY}_Record._follows", lambda record, row, before: True),)
ATTACKS: Final = (
    Attack(
        "rewrites a table's record and lets it go on",
        goes_on_with_a_rewritten_record,
        "a new row must continue what the pit has",
        ((f"{_TAKE}_new", _new_unlooked),),
    ),
    Attack(
        "swaps a byte in a new row",
        swaps_a_byte_in_a_new_row,
        "every row's hash",
        ((f"{_TAKE}_verify", _silent),),
    ),
    Attack(
        "sends a rewritten past again",
        sends_a_rewritten_past_again,
        "the last repeated row is compared",
        ((f"{_TAKE}_new", lambda *_: ()),),
    ),
    Attack(
        "rewrites the record at equal length and sends nothing",
        rewrites_at_equal_length_and_sends_nothing,
        "the heartbeat's head is compared",
        ((f"{_TAKE}_new", lambda *_: ()),),
    ),
    Attack(
        "sends with the certificate of a stolen disk",
        sends_from_a_stolen_disk,
        "the table is struck off",
        ((f"{_TAKE}enrolled", _enrolled_unlooked),),
    ),
    Attack(
        "signs with a key of its own at a table",
        signs_with_a_stolen_tables_new_key,
        "a key counts once a person has compared its words",
        (("pit.log.heads.look_at", None),),
    ),
    Attack("changes a row in the pit's database", changes_a_row, "every row's hash", _FOLLOWS_OFF),
    Attack("removes a row from the pit's database", removes_a_row, "rows follow each other", _FOLLOWS_OFF),
    Attack(
        "changes a row and every hash after it",
        changes_a_row_and_every_hash_after_it,
        "signed heads",
        ((f"{_VERIFY}_Record._signed_head", _silent),),
    ),
    Attack(
        "changes rows, signs them again and exchanges the table's key in the database",
        changes_rows_and_signs_them_again,
        "heads against the log's entries",
        ((f"{_VERIFY}_Record._is_logged", lambda *_: True),),
    ),
    Attack(
        "changes an entry of the log",
        changes_a_leaf,
        "the log's root against the signed checkpoint; heads against entries",
        ((f"{_VERIFY}_epoch", _silent), (f"{_VERIFY}_Record._is_logged", lambda *_: True)),
    ),
    Attack(
        "leaves a table out, makes the log again with the pit's key, shows it to surveillance",
        shows_surveillance_another_history,
        "a checkpoint that a table holds, or a slip",
        ((f"{_VERIFY}_given", _silent),),
    ),
    Attack(
        "shows a table another history than before",
        shows_a_table_another_history,
        "the uplink checks that a checkpoint extends the one that it holds",
        (("firmware.uplink.witness.extends", lambda *_: True),),
    ),
    Attack(
        "invents a table's hands at the centre",
        invents_hands_at_the_centre,
        "the table signs its head at each hand's end",
        ((f"{_VERIFY}ENDS", frozenset()),),
    ),
    Attack(
        "sets the database back, and goes on signing",
        signs_a_second_history_after_a_set_back,
        "the newest checkpoint in a file, and what tables hold",
        (("pit.log.keeper.Keeper._unknown", lambda *_: ""),),
    ),
    Attack(
        "cosigns in a table's name with another key",
        counts_a_cosignature_of_another_key,
        "the witness's key that the table is enrolled with",
        (("pit.log.cosignatures.KEY_OF", "SELECT table_id, NULL FROM gaming_table WHERE table_id = ANY(%s)"),),
    ),
)  # fmt: skip


@contextmanager
def without(off: tuple[Off, ...]) -> Iterator[None]:
    """Do without defences meanwhile. A name that is not there is an error."""
    with ExitStack() as stack:
        for name, instead in off:
            stack.enter_context(mock.patch(name, _any_key if name.endswith("heads.looked_at") else instead))
        yield


def made(postgres: Postgres, attack: Attack, folder: Path, *, defended: bool, number: int) -> str:
    """Make an attack on a fresh house; return how it was found, "" if it was not."""
    owned = postgres.make(f"pit_attack_{number}", "template_attack")
    with Database(owned, connections=2) as database:
        house = made_house(database, folder)
        for _ in range(3):
            house.add()
        for _ in range(2):
            house.round()
        scene = Scene(house, owned)
        assert not scene.verified(), "nothing is wrong before"
        with without(() if defended else attack.off):
            return attack.make(scene)


@dataclass
class AttackResult:
    """What came of an attack."""

    attack: Attack
    defended: str
    naive: str

    @property
    def ok(self) -> bool:
        return bool(self.defended) and not self.naive


def campaign(
    postgres: Postgres, attacks: tuple[Attack, ...], say: Callable[[str], None]
) -> list[AttackResult]:
    """Make every attack twice."""
    template = postgres.make("template_attack")
    migrate(template)
    results = []
    for number, attack in enumerate(attacks):
        ways = []
        for way, defended in enumerate((True, False)):
            with tempfile.TemporaryDirectory(prefix="feltwatch-attack-") as folder:
                ways.append(made(postgres, attack, Path(folder), defended=defended, number=2 * number + way))
        results.append(AttackResult(attack, *ways))
        say(f"{'right' if results[-1].ok else 'WRONG'}: {attack.title}: {ways}")
    return results


BY_HAND = "## Files that go down, and channels"
"""From this heading on the report is written by hand, and kept."""


def report(results: list[AttackResult]) -> str:
    lines = [
        "# Attacks on the proof between tables and pit",
        "",
        "Written by `python -m tests.campaigns.pit.attacks --write docs/pit-attacks.md`. Each attack is made twice, on",
        "a pit with three tables and six proven hands: with the defence that it is up against, and without. A real",
        "PostgreSQL; the code of door, log, uplink and `feltwatch pit verify`. Some of them run in `make test`.",
        "",
        "| somebody | defence | with it: what is said | without it |",
        "|---|---|---|---|",
        *(
            f"| {one.attack.title} | {one.attack.defence} | {one.defended or '**not found**'} |"
            f" {'**found**: ' + one.naive if one.naive else 'not found'} |"
            for one in results
        ),
        "",
        f"{sum(one.ok for one in results)} of {len(results)}: found with the defence, not found without.",
        "",
        "Not shown by any of this: rows that were never sent before a table vanished; a table whose program lied",
        "when it signed; the pit, more than half of the tables and all paper together.",
    ]
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--write", "path", type=click.Path(path_type=Path), help="Write the report here.")
def main(path: Path | None) -> None:
    """Make every attack, with its defence and without."""
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-pg-"))
    folder.chmod(0o711)
    postgres = Postgres(folder, durable=False)
    postgres.start()
    try:
        results = campaign(postgres, ATTACKS, click.echo)
    finally:
        postgres.stop()
        shutil.rmtree(folder)
    if path is not None:
        _, heading, rest = (path.read_text(encoding="utf-8") if path.exists() else "").partition(BY_HAND)
        kept = f"\n{heading}{rest}" if heading else ""
        path.write_text(report(results) + kept, encoding="utf-8")
    sys.exit(0 if all(one.ok for one in results) else 1)


if __name__ == "__main__":
    main()
