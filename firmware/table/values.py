"""Values that events carry and the table's state keeps. An event with the same fields as a value inherits from it."""

from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

from pydantic import JsonValue

from firmware.messages import Message, Text
from firmware.rules import LAID
from firmware.table.people import Person
from firmware.table.readings import Capture, CardReading, Row
from firmware.table.settings import HouseSettings

PuckState = Literal["seat", "none", "unknown", "ambiguous", "apart", "fault"]


@dataclass(frozen=True)
class Puck:
    """The puck reader's state; `seat` is set only in state "seat"."""

    state: PuckState = "unknown"
    seat: int | None = None
    detail: Text = ""


Calibrates = Literal["felt", "lens", "deck"]
"""What can be calibrated: the felt's position, the lens distortion, and the faces of the house's deck."""


SHEETS: Final = "sheets"
"""In what a felt's calibration stands on: its layout is its own, measured from four sheets."""


@dataclass(frozen=True)
class Calibration:
    """A calibration: `hash` is the SHA-256 of its text in the journal's content table.

    `name` is the deck's name. `stands_on` holds the hashes of what the calibration depends on. For a felt these are its
    "layout" and "lens" ("" for none). For a deck this is its "model". `figures` are measurements for people to compare.
    `SHEETS` stands there for a felt whose layout was measured too.
    """

    hash: str
    name: str = ""
    stands_on: dict[str, str] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SeatOpened:
    """A seat that plays in a hand.

    `place`: its place on the felt. `stack`: the stack before the hand, in cents (None: uncapped). `open`: its cards are
    placed face up. `fantasyland`: its player plays a Fantasy Land hand, of `fantasyland_cards` cards (0: not known).
    """

    seat: int
    player: str
    place: str
    stack: int | None = None
    open: bool = False
    fantasyland: bool = False
    fantasyland_cards: int = 0


@dataclass(frozen=True, kw_only=True)
class SeatDecisions:
    """What a seat declared in a hand, and the pictures of its rows.

    `found`: its cards hold a natural that counts without a declaration. `acted`: when the seat declared or surrendered,
    as a position among all declarations and surrenders of the hand, from 1.
    """

    declares: bool = False
    found: bool = False
    confirmed: bool = False
    surrenders: bool = False
    acted: int | None = None
    captures: dict[Row, Capture] = field(default_factory=dict)

    @property
    def decisions(self) -> dict[str, Any]:
        """These fields by their names."""
        return {one.name: getattr(self, one.name) for one in fields(SeatDecisions)}


@dataclass(frozen=True)
class SeatEnd(SeatDecisions):
    """A seat at the end of a hand, with its certain cards by row."""

    seat: int
    rows: dict[Row, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Payback:
    """A payment that a correction requires: `payer` owes `winner` this many cents, until it is marked as paid back."""

    hand: int
    payer: str
    winner: str
    amount: int
    paid: bool = False


@dataclass(frozen=True, kw_only=True)
class LastingState:
    """The part of the state that outlasts a hand.

    `State` has these fields, and `Opening` stores them at the start of each hand. So recovery needs no earlier row.
    """

    puck: Puck = field(default_factory=Puck)
    faults: dict[str, Text] = field(default_factory=dict)
    """The faults of the devices."""
    people: tuple[Person, ...] = ()
    wrong_pins: dict[str, int] = field(default_factory=dict)
    """The number of wrong PINs since the last right one, by the place where they were entered. No entry means none."""
    dealer: str = ""
    """The dealer who is logged on; "" if nobody is."""
    down: int = 0
    """The number of the dealer's down (a turn at this table)."""
    two_hands: bool = False
    """Whether two players play two hands each."""
    house: HouseSettings = field(default_factory=HouseSettings)
    """The settings with which the next hand opens."""
    calibrations: dict[str, Calibration] = field(default_factory=dict)
    """The calibrations in force, by "felt", "lens" and "deck"."""
    recent: tuple[str, ...] = ()
    """The players who left the table recently, the last one first."""
    floor_called: bool = False
    """Whether a floor person was called and the call has not ended."""
    without: tuple[str, ...] = ()
    """What this table has not, by its configuration: "puck" (a reader), "panel" (push-buttons, lamps, buzzer)."""

    @property
    def lasting(self) -> dict[str, Any]:
        """These fields by their names."""
        return {one.name: getattr(self, one.name) for one in fields(LastingState)}


@dataclass(frozen=True)
class Opening(LastingState):
    """The whole state of the table when a hand was opened, so that recovery needs no earlier row.

    - `profile_hash`, `layout_hash`: SHA-256 of texts in the journal's content table. `options`: the profile options
      that the house overrides, by dotted path. `unit`: cents per point.
    - `button`: the puck's seat, if known. `button_keyed`: it was told by touch, or moved by itself on a table without a
      reader; no reading overrides it.
    - `stacks`: the stacks of all players, including those who do not play this hand. `fantasyland`, `sits_out`: names
      of players. `fantasyland_cards`: the cards there, by player. `street_cards`: cards placed at each
      street after the first. `passed`: the players who pass this hand.
    - `paybacks`: the paybacks that are still open. `disputed`: the hands under dispute.
    - `closed`: the hand whose closing can be undone until a card is dealt; 0 for none.
    """

    hand: int
    profile: str
    profile_hash: str
    unit: int
    seats: tuple[SeatOpened, ...]
    button: int | None = None
    options: dict[str, JsonValue] = field(default_factory=dict)
    layout_hash: str = ""
    model_hash: str = ""
    software: str = ""
    stacks: dict[str, int | None] = field(default_factory=dict)
    fantasyland: tuple[str, ...] = ()
    sits_out: tuple[str, ...] = ()
    paybacks: tuple[Payback, ...] = ()
    disputed: tuple[int, ...] = ()
    closed: int = 0
    passed: tuple[str, ...] = ()
    button_keyed: bool = False
    fantasyland_cards: dict[str, int] = field(default_factory=dict)
    street_cards: int = 1

    @property
    def in_fantasyland(self) -> dict[str, int]:
        """The players with Fantasy Land, each with the cards that they are dealt there."""
        return {player: self.fantasyland_cards.get(player, LAID) for player in self.fantasyland}


@dataclass(frozen=True)
class ShownRow:
    """The cards that a reading saw in a row. `"??"` is a card that the reading is not sure of."""

    seat: int
    row: Row
    cards: tuple[str, ...]


@dataclass(frozen=True)
class AwaitedCards:
    """The seats at which a reading after the showdown signal found too few cards.

    `empty`: those of the seats that have no card at all. `shown`: what that reading saw. It is only displayed: the
    first complete reading decides.
    """

    seats: tuple[int, ...]
    empty: tuple[int, ...] = ()
    shown: tuple[ShownRow, ...] = ()


@dataclass(frozen=True)
class ChangedRow:
    """A row in which a later reading saw other cards than the record has.

    `was`: the recorded cards that it did not see there. `now`: the cards that it saw instead and is sure of.
    """

    seat: int
    row: Row
    was: tuple[str, ...]
    now: tuple[str, ...]
    capture: Capture | None = None

    @property
    def finding(self) -> tuple[Any, ...]:
        """The key by which two changes count as the same."""
        return (self.seat, self.row, frozenset(self.now))


WhyNotCompared = Literal["gone", "unsure"]
"""Why a row was not compared: its cards were (partly) gone, or they were not certain."""


@dataclass(frozen=True)
class UncomparedRow:
    """A row that could not be compared, and why."""

    seat: int
    row: Row
    why: WhyNotCompared


@dataclass(frozen=True)
class ComparedCards:
    """A later reading of the cards on the table, compared with the record.

    `last`: this is the one after the last payment was marked. `reason`: why that one did not take place ("" if it
    did). `same`: the number of rows that match the record. A row that was not compared is never counted as the same.
    `frame`: the picture, kept only if something has changed.
    """

    last: bool
    same: int = 0
    changed: tuple[ChangedRow, ...] = ()
    not_compared: tuple[UncomparedRow, ...] = ()
    reason: Text = ""
    frame: Capture | None = None


IrregularityKind = Literal[
    "card_moved", "card_missing", "card_changed", "card_twice", "extra_card", "face_down", "out_of_turn"
]


Stands = Literal["record", "table"]
"""Which one is right when an irregularity is resolved: the record, or what lies on the table."""


@dataclass(frozen=True)
class Irregularity:
    """A contradiction between a reading of the open seats and the record. README.md defines the values of `what`.

    `seat`, `row`, `index` and `card` say which recorded card it concerns (for an extra card, where it lies). `to_seat`
    and `to_row`: where the card lies now. `seen`: the card that the reading shows there. `detail`: the object that lies
    on the card. `number`: counts from 1 in each hand.
    """

    number: int
    what: IrregularityKind
    seat: int
    row: Row
    index: int | None = None
    card: str | None = None
    to_seat: int | None = None
    to_row: Row | None = None
    seen: CardReading | None = None
    detail: str = ""
    capture: Capture | None = None
    frame: Capture | None = None

    @property
    def finding(self) -> tuple[Any, ...]:
        """The key by which two irregularities count as the same."""
        seen = self.seen.card if self.seen else None
        return (self.what, self.seat, self.row, self.index, self.card, self.to_seat, self.to_row, seen)


@dataclass(frozen=True)
class RecordDamage:
    """What is wrong with the record, or may be wrong.

    The values of `what`:

    - "short": the record ends at row `seq`, but row `seen` had been written.
    - "rewritten": row `seen` is not the one that was written.
    - "witness": the witness file is missing or damaged.
    - "captures": there are images of hands that have no rows.
    - "beyond": there are more rows after row `seen` than one commit writes.
    - "rolled_back": the record ends before row `seen`, a head that this box signed.
    - "forked": row `seen` is not the one that this box signed.
    - "damaged": `detail` is what `verify` found.

    `seen_hash`: the hash of row `seen`. `captures`: the known images that no row names.
    """

    what: Literal["short", "rewritten", "witness", "captures", "beyond", "rolled_back", "forked", "damaged"]
    seq: int
    seen: int = 0
    seen_hash: str = ""
    captures: tuple[str, ...] = ()
    detail: Text = ""

    @property
    def problem(self) -> Message:
        """The message that describes the damage."""
        match self.what:
            case "short":
                return Message(
                    "The record ends at row %(seq)s, but row %(seen)s had been written: %(lost)s rows are missing.",
                    seq=self.seq,
                    seen=self.seen,
                    lost=self.seen - self.seq,
                )
            case "rewritten":
                return Message("Row %(seen)s of the record is not the one that was written.", seen=self.seen)
            case "witness":
                return Message(
                    "The file that says how far the record went is missing or damaged: "
                    "rows after %(seq)s may be missing.",
                    seq=self.seq,
                )
            case "captures":
                return Message(
                    "There are images of later hands than the record tells of: rows after %(seq)s are missing.",
                    seq=self.seq,
                )
            case "beyond":
                return Message(
                    "The record goes on to row %(seq)s, but only row %(seen)s had been written: "
                    "rows were added without the table.",
                    seq=self.seq,
                    seen=self.seen,
                )
            case "rolled_back":
                return Message(
                    "The record ends at row %(seq)s, but this box signed it at row %(seen)s: "
                    "an older record was put in its place.",
                    seq=self.seq,
                    seen=self.seen,
                )
            case "forked":
                return Message(
                    "Row %(seen)s of the record is not the one that this box signed: "
                    "another record was put in its place.",
                    seen=self.seen,
                )
            case "damaged":
                return Message("The record is damaged. %(detail)s", detail=self.detail)

    @property
    def sentence(self) -> Message:
        """The message that describes the damage and its consequence."""
        return Message(
            "%(damage)s Nothing is played until a floor person has read this; nothing is deleted.",
            damage=self.problem,
        )
