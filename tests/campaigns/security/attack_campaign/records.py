"""Makes the records that are attacked, and tells what a table and its commands make of one."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from firmware.cli.hands_text import hand_json, line_json
from firmware.cli.record_audit import audit
from firmware.record.archive import Archive
from firmware.record.evidence.signing import FILE as KEY
from firmware.record.evidence.verify import verify
from firmware.record.journal.clocks import Clock, Timestamp
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.rules import load_profile, profile_toml
from firmware.runtime.config import KeepingConfig
from firmware.runtime.house_config import prepare_house
from firmware.runtime.inputs import Request
from firmware.runtime.maintenance import RecordMaintenance
from firmware.runtime.table_devices import Devices
from firmware.runtime.table_process import TableProcess
from firmware.simulation.evening.run import simulate
from firmware.simulation.evening.stepped_table import FillableJournal
from firmware.simulation.house import make_config
from firmware.table import State, TableError
from firmware.table.errors import JournalError
from tests.campaigns.appliance.fault_campaign import NoReadings

PROFILE: Final = "washington-1-unit"
KINDS: Final = ("closed", "killed", "freed")
"""How a record lies there: after a clean stop, as kill -9 leaves it, with pages on the freelist of its file."""
PIN: Final = "471153"
OTHER: Final = "9021053"
_BEGINS_MS: Final = 1_770_000_000_000


def ticking() -> Clock:
    """Return a clock that goes on by a second at every look, the same in every process."""
    ticks = count(1)
    return lambda: Timestamp(
        "campaign", (tick := next(ticks)) * 10**9, _BEGINS_MS + tick * 1000, "synchronised"
    )


class _OpenJournal(FillableJournal):
    """Stays open when the evening is over: how a kill leaves its files is looked at then."""

    opened: _OpenJournal | None = None

    def __init__(self, folder: Path, clock: Clock) -> None:
        super().__init__(folder, clock)
        _OpenJournal.opened = self

    def close(self) -> None:
        if _OpenJournal.opened is None:
            super().close()


def make_records(folder: Path, hands: int, seed: int) -> dict[str, Path]:
    """Play an evening and what comes after it, and return the record's folder as it lies there in each way."""
    evening, key = folder / "evening", folder / "key"
    _lay_key(key)
    outcome = simulate(evening, hands, (), seed, PROFILE, journal=_OpenJournal)
    assert outcome.ok, outcome.problems
    journal = _OpenJournal.opened
    assert journal is not None
    with at_table(evening, journal, key, notes=True) as table:
        _afterwards(table, evening, journal)
    Archive(evening).refresh()
    killed = shutil.copytree(evening, folder / "killed")
    _OpenJournal.opened = None
    journal.close()
    closed = shutil.copytree(evening, folder / "closed")
    freed = shutil.copytree(closed, folder / "freed")
    _free_pages(freed / FILE)
    for path in (killed, closed, freed):
        _need_varied(path, hands)
    return dict(zip(KINDS, (closed, killed, freed), strict=True))


def _lay_key(folder: Path) -> None:
    private = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    folder.mkdir(parents=True)
    (folder / KEY).write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (folder / KEY).chmod(0o600)


@contextmanager
def at_table(
    data: Path, journal: Journal, key: Path, *, notes: bool = False, is_kept: bool = True
) -> Iterator[TableProcess]:
    """Start the table process of `feltwatch run` on a journal, without devices and camera, and end it.

    Without `notes` it has a copy of the key's folder: what it signs is not news to the box of the next attack. Without
    `is_kept` nothing is signed, and no thread reads the record beside the table.
    """
    with TemporaryDirectory() as own:
        if not notes:
            key = Path(shutil.copytree(key, Path(own) / "key"))
        config = make_config(data, PROFILE)
        ticks = count()
        table = TableProcess(
            data,
            journal,
            prepare_house(config, journal),
            Devices(None, None, None),
            NoReadings(),
            None,
            0.0,
            clock=lambda: next(ticks) * 0.3,
            maintenance=RecordMaintenance(data, journal, key, KeepingConfig(), ticking())
            if is_kept
            else None,
        )
        try:
            table.begin()
            yield table
        finally:
            table.end()


def give(table: TableProcess, do: str, **fields: Any) -> dict[str, Any]:
    """Give a command, and return its answer."""
    request = Request(json.dumps({"do": do, **fields}).encode())
    table.put(request)
    table.turn_all()
    answer: dict[str, Any] = request.answer.result(10)
    return answer


def _afterwards(table: TableProcess, data: Path, journal: Journal) -> None:
    """Do what an evening's hands do not: people with PINs, another name, a dispute, a correction, a signed head."""

    def do(what: str, **fields: Any) -> dict[str, Any]:
        answer = give(table, what, **fields)
        assert answer["ok"], (what, answer)
        return answer

    give(table, "archive")
    journal.keep("profile", profile_toml(load_profile("traditional")).encode())
    do("list_person", person="Ada", role="technician", new_pin=OTHER)
    do("list_person", person="Moreno", role="floor", new_pin=PIN, by="Ada", pin=OTHER)
    floor = {"session": do("unlock", by="Moreno", pin=PIN)["session"]}
    do("rename_player", player="Dev", name="Devi", **floor)
    archive = Archive(data)
    archive.refresh()
    first, second = [line.hand for line in archive.hands(limit=100) if line.outcome == "settled"][-2:]
    do("dispute", past=first, reason="that was not my card", **floor)
    do("mark_reviewed", past=second, note="seen", **floor)
    do("sign_head", **floor)
    do("reopen", past=second, reason="a card was read wrong", **floor)
    seat = table.state.seats[0]
    back, middle = seat.back[0].card, seat.middle[0].card
    do("set_card", seat=seat.seat, row="back", index=0, card=middle, **floor)
    do("set_card", seat=seat.seat, row="middle", index=0, card=back, **floor)
    while table.state.questions:
        do("confirm", **floor)
    do("archive", **floor)
    do("close_dispute", past=first, reason="it was", **floor)


def _free_pages(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("CREATE TABLE gone (x BLOB)")
        db.executemany("INSERT INTO gone VALUES (?)", [(bytes(3000),)] * 40)
        db.execute("DROP TABLE gone")
        assert db.execute("PRAGMA freelist_count").fetchone()[0] >= 40


def _need_varied(data: Path, hands: int) -> None:
    lines = Archive(data).hands(limit=10_000)
    types = {row.type for row in JournalReader(data).events_since(0, 1_000_000)}
    assert len(lines) >= hands, len(lines)
    assert {"hand_reopened", "hand_disputed", "player_renamed", "head_signed", "card_corrected"} <= types
    assert any(line.naturals for line in lines) or hands < 40
    assert any(line.images for line in lines)
    assert verify(data).ok


# ---- what is made of a record ----


@dataclass(frozen=True)
class CommandOutput:
    """What the commands show of a record: the list, each hand, the audit; or the sentence that each ended in."""

    list: str
    hands: tuple[str, ...]
    audit: str

    def differs_from(self, other: CommandOutput) -> str:
        """Say what is shown otherwise; "" where nothing is."""
        if self.list != other.list:
            return "hands list"
        for number, (one, another) in enumerate(zip(self.hands, other.hands, strict=True), start=1):
            if one != another:
                return f"hands show {number}"
        return "audit" if self.audit != other.audit else ""


def seen(data: Path, hands: int) -> CommandOutput:
    """Look at a record as `hands list`, each `hands show --json` and `audit --no-pictures` do."""
    archive = Archive(data)

    def listed() -> Any:
        archive.refresh()
        return [line_json(line) for line in archive.hands(limit=10_000)]

    def shown(number: int) -> Any:
        hand = archive.hand(number)
        return hand_json(hand, archive.images(hand))

    def audited() -> Any:
        return audit(data, pictures=False, processes=1).to_json()

    numbers = range(1, hands + 1)
    return CommandOutput(
        _text(listed), tuple(_text(partial(shown, number)) for number in numbers), _text(audited)
    )


def left(data: Path) -> str:
    """Tell the list and all that it is made from: every row and every content, as they lie in the file."""
    with JournalReader(data).opened() as db:
        rows = db.execute("SELECT * FROM journal ORDER BY seq").fetchall() if db else []
    digest = hashlib.sha256(repr((rows, sorted(JournalReader(data).contents().items()))).encode())
    return f"{digest.hexdigest()} {[line_json(line) for line in Archive(data).hands(limit=10_000)]}"


def _text(look: Callable[[], Any]) -> str:
    try:
        return json.dumps(look(), sort_keys=True, default=str)
    except TableError as error:
        return f"ERROR: {error}"


@dataclass(frozen=True)
class Start:
    """How a table starts on a record: refused, or on with a state, and with a fault where it says one."""

    refused: str = ""
    fault: str = ""
    state: State | None = None

    @property
    def is_silent(self) -> bool:
        """Whether it goes on and says nothing."""
        return not self.refused and not self.fault


def start(data: Path, key: Path) -> Start:
    """Start the table as `feltwatch run` does, let it turn once, and end it."""
    try:
        with Journal(data, ticking()) as journal, at_table(data, journal, key) as table:
            table.turn_all()
            fault = table.state.record_fault
            return Start(fault=fault.what if fault else "", state=table.state)
    except TableError as error:
        return Start(refused=str(error))


def named(data: Path) -> str:
    """Return what `hands verify --all` names first; "" where it says that all of it holds."""
    try:
        found = verify(data, replayed=False)
    except JournalError as error:
        return str(error)
    return str(found.problems[0].what) if found.problems else ""
