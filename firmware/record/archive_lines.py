"""The lines of the archive's list, one for each hand, and how they are built from rows of the journal."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Final

from firmware.record.journal.captures import captures_in_json
from firmware.record.journal.row_index import ABOUT_TYPES, INDEXED, hand_of
from firmware.rules.profiles.profile import hash_with_options
from firmware.table import events as ev

SCHEMA: Final = """
CREATE TABLE head (seq INTEGER NOT NULL, hash TEXT NOT NULL, subject INTEGER NOT NULL) STRICT;
INSERT INTO head VALUES (0, '', 0);
CREATE TABLE hands (
    hand INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL, opened_ms INTEGER NOT NULL,
    ended_ms INTEGER, outcome TEXT NOT NULL, profile TEXT NOT NULL, dealer TEXT NOT NULL, down INTEGER NOT NULL,
    settled INTEGER NOT NULL, corrections INTEGER NOT NULL, fouls INTEGER NOT NULL, naturals INTEGER NOT NULL,
    cards INTEGER NOT NULL, unsure INTEGER NOT NULL, irregularities INTEGER NOT NULL, reopened INTEGER NOT NULL,
    disputes INTEGER NOT NULL, disputed INTEGER NOT NULL, reviewed INTEGER NOT NULL, images INTEGER NOT NULL,
    image_bytes INTEGER NOT NULL, lost INTEGER NOT NULL, game TEXT NOT NULL
) STRICT;
CREATE INDEX by_time ON hands (opened_ms, hand);
CREATE INDEX by_profile ON hands (profile, hand);
CREATE INDEX by_dealer ON hands (dealer, hand);
CREATE INDEX with_correction ON hands (hand) WHERE corrections > 0;
CREATE INDEX with_foul ON hands (hand) WHERE fouls > 0;
CREATE INDEX with_natural ON hands (hand) WHERE naturals > 0;
CREATE INDEX with_dispute ON hands (hand) WHERE disputes > 0;
CREATE INDEX not_reviewed ON hands (hand) WHERE reviewed = 0;
CREATE INDEX with_images ON hands (hand, image_bytes) WHERE image_bytes > 0;
CREATE TABLE seats (
    hand INTEGER NOT NULL, seat INTEGER NOT NULL, player TEXT NOT NULL, points INTEGER, foul INTEGER NOT NULL,
    natural TEXT, PRIMARY KEY (hand, seat)
) STRICT, WITHOUT ROWID;
CREATE INDEX by_player ON seats (player, hand);
CREATE INDEX by_seat ON seats (seat, hand);
CREATE TABLE changed (hand INTEGER NOT NULL, seq INTEGER PRIMARY KEY) STRICT;
CREATE INDEX changed_of_hand ON changed (hand);
CREATE TABLE places (
    type TEXT NOT NULL, hand INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (type, hand, seq)
) STRICT, WITHOUT ROWID;
"""


@dataclass
class SeatLine:
    """A seat of a hand in the list: points and natural of the last settlement, None without one."""

    seat: int
    player: str
    points: int | None = None
    foul: bool = False
    natural: str | None = None


@dataclass
class HandLine:
    """One hand in the list. `first` and `last` are the numbers of its rows in the journal, from opening to end.

    `outcome`: open, settled, void, misdeal or withdrawn. `corrections` counts the cards and rows that a person changed.
    `cards` counts the cards read, `unsure` those of them that the dealer was asked about. `images` and `image_bytes`
    cover the images that are still stored; `lost` counts those that a restore did not find as they were.
    `changed` counts the rows that were changed after they were written: such a line proves nothing.
    """

    hand: int
    first: int
    last: int
    opened_ms: int
    ended_ms: int | None = None
    outcome: str = "open"
    profile: str = ""
    dealer: str = ""
    down: int = 0
    settled: int = 0
    corrections: int = 0
    fouls: int = 0
    naturals: int = 0
    cards: int = 0
    unsure: int = 0
    irregularities: int = 0
    reopened: int = 0
    disputes: int = 0
    disputed: bool = False
    reviewed: int = 0
    images: int = 0
    image_bytes: int = 0
    lost: int = 0
    game: str = ""
    """The hash of the rules (`Profile.hash`), options of this hand included: two houses may have games of one name."""
    changed: int = 0
    seats: list[SeatLine] = field(default_factory=list)
    names: set[str] = field(default_factory=set, repr=False, compare=False)
    """The images counted so far while the index is built: two events may name the same one."""


COLUMNS: Final = tuple(f.name for f in fields(HandLine) if f.name not in ("changed", "seats", "names"))
"""The fields of a line that are columns of the list."""
_ENDS: Final = {
    ev.HandArchived.type: "settled",
    ev.HandVoided.type: "void",
    ev.HandMisdealt.type: "misdeal",
    ev.HandWithdrawn.type: "withdrawn",
}


def read_lines(db: sqlite3.Connection, where: str, values: tuple[Any, ...]) -> list[HandLine]:
    """Return the hands that an SQL clause selects (the text after FROM), with their seats. Raises sqlite3.Error."""
    columns = ", ".join(f"hands.{name}" for name in COLUMNS)
    rows = db.execute(f"SELECT {columns} FROM {where}", values).fetchall()
    lines = {row[0]: HandLine(*row) for row in rows}
    marks = ", ".join("?" * len(lines))
    seats = (
        f"SELECT hand, seat, player, points, foul, natural FROM seats WHERE hand IN ({marks}) ORDER BY seat"
    )
    for hand, seat, player, points, foul, natural in db.execute(seats, tuple(lines)):
        lines[hand].seats.append(SeatLine(seat, player, points, bool(foul), natural))
    changed = f"SELECT hand, count(*) FROM changed WHERE hand IN ({marks}) GROUP BY hand"
    for hand, count in db.execute(changed, tuple(lines)):
        lines[hand].changed = count
    for line in lines.values():
        line.disputed = bool(line.disputed)
    return list(lines.values())


class Batch:
    """The hands of a stretch of the journal.

    `find` gives the line of a hand that was opened before the stretch, None for one that never was. `subject` is the
    past hand that is reopened now, 0 for none. `lines` are the hands that the rows changed, by number.
    """

    def __init__(self, find: Callable[[int], HandLine | None], subject: int = 0) -> None:
        self._find, self.subject = find, subject
        self.lines: dict[int, HandLine] = {}
        self.places: list[tuple[str, int, int]] = []

    def _line(self, hand: int) -> HandLine | None:
        if hand not in self.lines and (found := self._find(hand)):
            self.lines[hand] = found
        return self.lines.get(hand)

    def take(self, seq: int, hand: int, wall_ms: int, kind: str, payload: str) -> int:
        """Add the next row, and return the hand that it is about, 0 for none.

        Raises what parsing raises for a row no release wrote.
        """
        if kind in INDEXED:
            self.places.append((kind, hand_of(kind, hand, payload), seq))
        return self._add(seq, hand, wall_ms, kind, payload) if kind in TOLD else self.subject or hand

    def _add(self, seq: int, hand: int, wall_ms: int, kind: str, payload: str) -> int:
        if kind == ev.HandOpened.type:
            self.subject = 0
            self.lines[hand] = _begin_line(seq, hand, wall_ms, json.loads(payload))
            return hand
        if kind == ev.HandReopened.type:
            self.subject = json.loads(payload)["opened"]["hand"]
        past = kind in _PAST
        fields_of_row = json.loads(payload) if past else None
        line = self._line(fields_of_row["hand"] if fields_of_row else self.subject or hand)
        if line is None:
            return 0  # before the first hand
        if not past and not self.subject:
            line.last = seq
        _EFFECT[kind](line, payload)
        if kind in _ENDS:
            if not self.subject:
                line.ended_ms = wall_ms
            self.subject = 0
        return line.hand


def line_in(db: sqlite3.Connection, hand: int) -> HandLine | None:
    """Return the line of one hand in the index, or None. Raises sqlite3.Error."""
    found = read_lines(db, "hands WHERE hand = ?", (hand,))
    return found[0] if found else None


def write(db: sqlite3.Connection, batch: Batch) -> None:
    """Write the hands of a batch to the index. Raises sqlite3.Error."""
    db.executemany("INSERT INTO places (type, hand, seq) VALUES (?, ?, ?)", batch.places)
    lines = batch.lines.values()
    marks = ", ".join("?" * len(COLUMNS))
    db.executemany(
        f"INSERT OR REPLACE INTO hands ({', '.join(COLUMNS)}) VALUES ({marks})",
        ([getattr(line, name) for name in COLUMNS] for line in lines),
    )
    db.executemany(
        "INSERT OR REPLACE INTO seats (hand, seat, player, points, foul, natural) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (line.hand, seat.seat, seat.player, seat.points, seat.foul, seat.natural)
            for line in lines
            for seat in line.seats
        ),
    )


def _begin_line(seq: int, hand: int, wall_ms: int, answer: dict[str, Any]) -> HandLine:
    return HandLine(
        hand=hand,
        first=seq,
        last=seq,
        opened_ms=wall_ms,
        profile=answer["profile"],
        dealer=answer.get("dealer", ""),
        down=answer.get("down", 0),
        game=_game_of(answer),
        seats=[SeatLine(seat["seat"], seat["player"]) for seat in answer["seats"]],
    )


def _game_of(answer: dict[str, Any]) -> str:
    digest, options = str(answer.get("profile_hash", "")), answer.get("options")
    return hash_with_options(digest, options) if options else digest


def _add_settled(line: HandLine, payload: str) -> None:
    settlement = json.loads(payload)["settlement"]
    line.settled += 1
    hands = {hand["seat"]: hand for hand in settlement.get("hands", ())}
    points = settlement.get("points", {})
    for seat in line.seats:
        natural = hands.get(seat.seat, {}).get("natural")
        seat.points = points.get(str(seat.seat))
        seat.foul = bool(hands.get(seat.seat, {}).get("foul"))
        seat.natural = natural["kind"] if natural else None
    line.fouls = sum(seat.foul for seat in line.seats)
    line.naturals = sum(seat.natural is not None for seat in line.seats)


def _end_with(outcome: str) -> Callable[[HandLine, str], None]:
    def effect(line: HandLine, _: str) -> None:
        line.outcome = outcome
        if outcome != "settled":
            line.fouls = line.naturals = 0
            for seat in line.seats:
                seat.points, seat.foul, seat.natural = None, False, None

    return effect


def _add_corrected(line: HandLine, _: str) -> None:
    line.corrections += 1


def _row_keyed(line: HandLine, _: str) -> None:
    line.corrections += line.settled > 0  # before the settlement it is an answer, not a correction


def _add_reopened(line: HandLine, payload: str) -> None:
    line.reopened += not json.loads(payload).get("resumed", False)


def cards_in(reading: str) -> tuple[int, int]:
    """Return how many cards a reading or placed card's payload has, and how many of them the dealer was asked about."""
    # Counted in the JSON text, because a reading has thousands of values. Quotes inside strings are escaped.
    unsure = reading.count('"sure":false')
    return unsure + reading.count('"sure":true'), unsure


def _read(line: HandLine, payload: str) -> None:
    cards, unsure = cards_in(payload)
    line.cards, line.unsure = line.cards + cards, line.unsure + unsure
    _add_named(line, payload)


def _add_seen(line: HandLine, payload: str) -> None:
    line.irregularities += 1
    _add_named(line, payload)


def _add_compared(line: HandLine, payload: str) -> None:
    line.irregularities += len(json.loads(payload)["changed"])
    _add_named(line, payload)


def _add_named(line: HandLine, payload: str) -> None:
    if '"sha256":' in payload:
        for image in captures_in_json(json.loads(payload)):
            if image.name not in line.names:
                line.names.add(image.name)
                line.images += 1
                line.image_bytes += int(image.size)


def _add_disputed(line: HandLine, _: str) -> None:
    line.disputes += 1
    line.disputed = True


def _dispute_closed(line: HandLine, _: str) -> None:
    line.disputed = False


def _add_reviewed(line: HandLine, _: str) -> None:
    line.reviewed += 1


def _add_dropped(line: HandLine, _: str) -> None:
    line.images = line.image_bytes = 0  # all that the hand had


def _add_lost(line: HandLine, payload: str) -> None:
    line.lost += sum(1 for _ in captures_in_json(json.loads(payload)))


_PAST: Final = ABOUT_TYPES - {ev.HandReopened.type}
_EFFECT: Final[dict[str, Callable[[HandLine, str], None]]] = {
    ev.HandReopened.type: _add_reopened,
    **{kind: _end_with(outcome) for kind, outcome in _ENDS.items()},
    ev.HandSettled.type: _add_settled,
    ev.CardCorrected.type: _add_corrected,
    ev.RowKeyed.type: _row_keyed,
    ev.ReadingTaken.type: _read,
    ev.ReadingFailed.type: _add_named,
    ev.CardPlaced.type: _read,
    ev.CardReread.type: _add_named,
    ev.IrregularitySeen.type: _add_seen,
    ev.CardsCompared.type: _add_compared,
    ev.HandDisputed.type: _add_disputed,
    ev.DisputeClosed.type: _dispute_closed,
    ev.HandReviewed.type: _add_reviewed,
    ev.ImagesDropped.type: _add_dropped,
    ev.ImagesLost.type: _add_lost,
}
TOLD: Final = (ev.HandOpened.type, *_EFFECT)
"""Types of the rows that the lines are built from."""
