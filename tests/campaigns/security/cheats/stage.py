"""The table that is cheated at: the product's own process with camera pictures, a puck on a pty and push-buttons."""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dealer_ui.view.build import view
from dealer_ui.view.screen import Screen
from firmware.record.archive import Archive
from firmware.record.dispute_file import write_dispute_file
from firmware.record.evidence.dispute_verifier import CannotCheck, Report, check, images_in, unpack
from firmware.record.evidence.signing import DeviceKey
from firmware.record.evidence.verify import Verification, verify
from firmware.record.journal.clocks import Timestamp
from firmware.record.journal.journal import JournalReader
from firmware.record.journal.row_index import ENDS
from firmware.runtime.timestamps import box_clock
from firmware.simulation.demo import PINS, sign_ons
from firmware.simulation.house import make_config
from firmware.simulation.live.table import SimulatedTable
from firmware.table import Phase, State
from firmware.table import events as ev
from firmware.table.dealing import button_due
from firmware.table.entry import Entry
from firmware.table.phase import OPEN
from firmware.table.settling import rules_of
from firmware.table.topics.white import payback_due
from firmware.table_client import TableLink
from tests.rendered import rendered
from tests.waiting import DEADLINE, until
from vision.base.arrays import Image
from vision.felt.layout import TableLayout
from vision.synthetic.props import Thing

log = logging.getLogger(__name__)

Hands = dict[str, dict[str, list[str]]]
DEALS: Final = (
    {
        "A": {"front": "Qs Qd 4c", "middle": "9c 9d 5h 5c 2s", "back": "Ah Kh 8h 6h 3h"},
        "B": {"front": "Kc Jd 7s", "middle": "8c 8d Tc 6s 2d", "back": "9s Ts Js Qh Kd"},
    },
    {
        "A": {"front": "As 9h 5d", "middle": "7c 7d 4h 4s 3c", "back": "Tc Th Td 2c 2h"},
        "B": {"front": "Ac Qc 8s", "middle": "6c 6d Kh 5s 3d", "back": "4d 5c 6h 7h 8c"},
    },
    {
        "A": {"front": "Ks Kd 5s", "middle": "9h 9c 4c 4d 2h", "back": "Ad Jd 8d 6d 3d"},
        "B": {"front": "Qc Th 8s", "middle": "7h 7d Tc 6s 2c", "back": "5h 6c 7s 8h 9d"},
    },
)
"""Deals in turn: a table refuses the cards that it read last in their places. Seat 1 is at place A, seat 2 at B."""
SPARE: Final = ("3s", "Jc")
"""Cards that nobody was dealt in either."""
FLOOR: Final = {"by": "Kim", "pin": PINS["Kim"][1]}
TECHNICIAN: Final = {"by": "Lee", "pin": PINS["Lee"][1]}
SCALE: Final = 0.5
"""Of the camera's pictures: the reader is as sure of every card, and the bench takes less time."""
VIEW: Final = 7
"""The seed of every picture: a card that nobody moved lies where it lay."""


def changed(of: Hands, place: str, row: str, *cards: str) -> Hands:
    """Return hands whose row ends with these cards in the place of its own."""
    made = {at: {name: list(lie) for name, lie in rows.items()} for at, rows in of.items()}
    made[place][row][-len(cards) :] = cards
    return made


def over(place: str, row: str, what: str, *, x: float = 0.0, y: float = 0.0) -> Thing:
    """Return a thing over the middle of a row."""
    corners = TableLayout.load().zone(place, row).corners_mm
    middle = corners.mean(axis=0)
    return Thing(what, float(middle[0]) + x, float(middle[1]) + y)


@dataclass
class Stage:
    """One table. What the cheat does is done to the felt, the pty, the pins, the disk, or by the page's commands."""

    table: SimulatedTable
    data: Path
    link: TableLink
    reader: JournalReader
    wall: Wall
    felt: Hands = field(default_factory=dict)
    _dealt: int = 0
    _read: int = 0
    _dealt_after: int | None = None

    # ---- what is there ----

    @property
    def state(self) -> State:
        """The record's state: a command that was answered is in it."""
        return self.reader.recover()[0]

    def rows(self, *types: str) -> list[Entry]:
        """The rows of these types since the last hand was opened."""
        rows = self.reader.events_since(0, 100_000)
        since = max((row.seq for row in rows if row.type == "hand_opened"), default=0)
        return [row for row in rows if row.type in types and row.seq >= since]

    def screen(self) -> Screen:
        """What the dealer's page shows now."""
        state, seq = self.reader.recover()
        opened = state.opened
        rules = rules_of(opened, self.reader.content(opened.profile_hash)) if opened else None
        return view(seq, state, rules)

    def said(self) -> str:
        """What the page says beyond the next step: the titles of warnings and of its question, and its notices."""
        screen = self.screen()
        titles = [
            alert.title for alert in (screen.alert, *(screen.alert.others if screen.alert else ())) if alert
        ]
        return "; ".join(
            dict.fromkeys((*titles, *(need.title for need in screen.needs[:1]), *screen.notices))
        )

    # ---- what people do ----

    def do(self, do: str, **fields: Any) -> dict[str, Any]:
        """Give a command over the table's socket, as the page does; refusals are answers."""
        return self.link.send({"do": do, **fields}, within=DEADLINE)

    def must(self, do: str, **fields: Any) -> None:
        answer = self.do(do, **fields)
        assert answer["ok"], answer

    def until(self, so: Callable[[State], object]) -> State:
        try:
            until(lambda: so(self.state))
        except AssertionError as late:
            last = [
                f"{row.seq} {row.type} {row.payload[:300]}"
                for row in self.reader.events_since(0, 100_000)[-15:]
            ]
            late.add_note("\n".join([f"{self.state.phase}; it says: {self.said()}", *last]))
            raise
        return self.state

    def show(self, frame: Image) -> None:
        """Put any picture before the camera."""
        self.table.camera.show(frame)

    def frame(self, of: Hands | None = None, things: Sequence[Thing] = ()) -> Image:
        return rendered(of if of is not None else self.felt, seed=VIEW, scale=SCALE, things=things).frame

    def lay(self, of: Hands, things: Sequence[Thing] = ()) -> None:
        """Lay these cards in the place of all others, and things over them."""
        self.felt = of
        self.show(self.frame(of, things))

    def open(self) -> State:
        """Mark what a corrected hand pays back, move the puck to its seat and open the next hand."""
        while payback_due(self.state):
            self.must("next")
        state = self.state
        # it lies there, or no hand was played
        due = button_due(state, self.table.house) or state.puck.seat or 1
        self.table.puck.move_to(due)
        self.until(lambda state: state.puck.seat == due)
        self.must("next")
        if self.until(lambda state: state.phase is Phase.DEALING).button is None:
            self.must("key_button", seat=due)  # the disk has just moved as often as here: its seat is asked
        return self.state

    @property
    def hand(self) -> int:
        return self.state.hand

    def deal(self) -> Hands:
        """Return the cards of the next hand, as they lie once it is set: others than were dealt, or read, last."""
        if self._dealt_after != self.state.hand:
            self._dealt_after = self.state.hand
            self._dealt = min({*range(len(DEALS))} - {self._dealt, self._read})
        deal = DEALS[self._dealt]
        return {place: {row: cards.split() for row, cards in rows.items()} for place, rows in deal.items()}

    def read(
        self, of: Hands | None = None, things: Sequence[Thing] = (), *, declares: Sequence[int] = ()
    ) -> Hands:
        """Play a hand to the end of its reading; return its cards."""
        of = self.deal() if of is None else of
        self.open()
        self.must("next")
        for seat in declares:
            self.must("declare", seat=seat)
        self.lay(of, things)
        self.must("next")
        # a puck that moves as often as here is asked for until it has kept still
        self.until(lambda state: state.phase in (Phase.REVIEW, Phase.SETTLED) and state.puck.state == "seat")
        return of

    def pay(self, count: int | None = None) -> State:
        """Mark payments, all of them or some, once the hand is settled; after the last one the camera looks again."""
        self.until(lambda state: state.phase is Phase.SETTLED)
        for a, b in self.state.unpaid[:count]:
            self.must("mark_paid", a=a, b=b)
        return self.until(lambda state: state.unpaid or state.compared)

    def close(self) -> None:
        """End the hand, whatever state it is in."""
        if self.state.phase is Phase.SETTLED:
            self.must("archive")
        elif self.state.phase in OPEN:
            self.must("void", reason="the bench goes on")

    def tidy(self) -> None:
        """Put everything back for the next cheat."""
        if self.rows("reading_taken"):
            self._read = self._dealt
        self.table.camera.replug()
        self.table.puck.lift()
        self.close()
        self.table.clear()

    # ---- what can be proved ----

    def dispute(self) -> Path:
        """Write the last hand's dispute file, signed by the table's own key; without its page for people."""
        self.close()
        until(self._is_signed)
        key = DeviceKey.open(self.data.parent / "room" / "key")
        return write_dispute_file(Archive(self.data), self.hand, key, self.data.parent / "dispute.zip")

    def _is_signed(self) -> bool:
        """Say whether the table has signed the end of the last hand."""
        rows = self.reader.events_since(0, 100_000)
        end = max(row.seq for row in rows if row.type in ENDS)
        return any(row.type == "head_signed" and row.seq > end for row in rows)

    def proves(self, kind: str) -> bool:
        """Say whether the last hand's dispute file holds and has a row of this type, with its pictures."""
        return proven(self.dispute(), kind)

    def verified(self) -> Verification:
        """Check the whole record, from outside and settled again."""
        return verify(self.data, settled=True, is_open_here=True)


def checked(file: Path) -> Report | str:
    """Return the verifier's report; its one sentence where the file cannot be checked."""
    try:
        return check(str(file))
    except CannotCheck as error:
        return str(error)


def proven(file: Path, kind: str) -> bool:
    """Say whether a dispute file holds and has a row of this type, with its pictures."""
    report = checked(file)
    files = unpack(str(file))
    rows = [json.loads(line) for line in files["rows.jsonl"].splitlines()]
    mine = [row for row in rows if kind in row]
    names = {name.rsplit("/", 1)[-1] for name in files}
    pictures = [name for row in mine for part in row for name in _images(part)]
    if not isinstance(report, Report) or not report.ok or not mine:
        log.warning("%s: %s, %s rows", kind, report if isinstance(report, str) else report.wrong, len(mine))
    whole = all(name.rsplit("/", 1)[-1] in names for name in pictures)
    return isinstance(report, Report) and report.ok and bool(mine) and whole


def _images(part: object) -> list[str]:
    if not isinstance(part, str) or not part.startswith("{"):
        return []
    return [name for name, _ in images_in(json.loads(part))]


@contextmanager
def stage() -> Iterator[Stage]:
    """Set up a table of two seats with a dealer, a floor person and a technician."""
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-cheat-"))
    try:
        (folder / "room").mkdir()
        with started(folder) as made:
            assert len(list(sign_ons(made.link, made.data))) == len(PINS)
            made.must("log_on", person="Robin")
            yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def started(folder: Path) -> Iterator[Stage]:
    """Start the table's programs on this folder."""
    clock = Wall()
    config = make_config(folder / "data", "washington-1-unit")
    patient = ("answer", "still", "reading", "reading_start", "reader_silence")  # only a hang exceeds these
    limits = {name: DEADLINE for limit in patient for name in (limit, f"{limit}_ceiling")}
    times = config.times.model_copy(
        update={n: s for n, s in limits.items() if n in type(config.times).model_fields}
    )
    config = config.model_copy(update={"seats": config.seats[:2], "times": times})
    with SimulatedTable(config, folder / "room", seed=VIEW, scale=SCALE, wall=clock) as table:
        yield Stage(table, config.data, TableLink(config.socket), JournalReader(config.data), clock)


class Wall:
    """The box's clock, which somebody sets."""

    def __init__(self) -> None:
        self.ahead_ms = 0
        self._now = box_clock()

    def __call__(self) -> Timestamp:
        now = self._now()
        return now._replace(wall_ms=now.wall_ms + self.ahead_ms)


def last(rows: list[Entry], kind: type[ev.Event]) -> Any:
    """Return the last event of a kind; None without one."""
    return next((row.event for row in reversed(rows) if isinstance(row.event, kind)), None)
