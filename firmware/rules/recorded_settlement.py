"""A settlement as recorded: typed, from the JSON that `settlement_json` writes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from firmware.messages import Message
from firmware.rules.lines import NO_ROW, shown_sentence
from firmware.rules.naturals.conditions import Conditions
from firmware.rules.naturals.entry import RankedNatural
from firmware.rules.profiles.dealt_cards import LAID
from firmware.rules.words import ROW_NAMES, RowWords, row_called

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedRow:
    """A row of a hand."""

    cards: str
    category: str | None
    """None for an irregular row."""
    bonus: int


@dataclass(frozen=True, slots=True)
class RecordedHand:
    """A seat's hand."""

    seat: int
    rows: Mapping[str, RecordedRow]
    """By name; empty where the seat surrendered without showing its cards."""
    is_foul: bool
    fault: str | None
    """Why it is a foul, if a line says so."""
    natural: RankedNatural | None
    """The natural that counts. Its place among the kinds is not recorded."""
    declaration: str | None
    """A `Declaration.verdict`, if the seat declared a natural."""
    fantasyland_next: bool
    fantasyland_cards: int
    """The cards of that hand; 0 without one."""

    def words(self, row: int) -> RowWords:
        """Return a row in words: 0 is the front. Raises KeyError, ValueError."""
        found = self.rows[ROW_NAMES[row]]
        return row_called(found.category or "", found.cards)


@dataclass(frozen=True, slots=True)
class RecordedLine:
    """One reason of a pair."""

    id: str
    points: int
    clause: str
    row: str
    """Empty if the line is about no single row."""
    winner: int | None
    """The seat that the line favours."""
    loser: int | None
    why: str
    """The reason as a sentence, in English."""
    message: Message = field(compare=False)
    """The reason as it is shown, to be translated; of a kind that this release does not know, the recorded English."""


@dataclass(frozen=True, slots=True)
class RecordedPair:
    """What passes between two seats; the fields are those of `settlement.Pair`."""

    a: int
    b: int
    points: int
    owed: int
    paid: int
    short: int
    lines: tuple[RecordedLine, ...]

    @property
    def seats(self) -> tuple[int, int]:
        """Both seats."""
        return self.a, self.b

    @property
    def payer_winner(self) -> tuple[int, int]:
        """The seat that pays, or owes, or loses points, and the other one."""
        return (self.a, self.b) if (self.paid or self.owed or self.points) < 0 else (self.b, self.a)


@dataclass(frozen=True, slots=True)
class RecordedSettlement:
    """A hand's settlement."""

    order: tuple[int, ...]
    hands: tuple[RecordedHand, ...]
    pairs: tuple[RecordedPair, ...]
    points: Mapping[int, int]
    """By seat; empty if nothing is settled."""
    paid: Mapping[int, int]
    """Each seat's net in cents; empty if nothing is settled."""
    stacks: Mapping[str, int]
    faults: Mapping[int, str]
    """Why each fouled seat's hand is a foul, if a pair's lines give the reason: the name of a `Fault`."""
    is_irregular: bool

    @property
    def moving(self) -> tuple[RecordedPair, ...]:
        """The pairs between which chips pass, in the order of payment."""
        return tuple(pair for pair in self.pairs if pair.paid)

    def hand(self, seat: int) -> RecordedHand | None:
        """Return a seat's hand."""
        return next((hand for hand in self.hands if hand.seat == seat), None)


def read_settlement(settlement: Json) -> RecordedSettlement:
    """Return a settlement from its JSON."""
    pairs = settlement.get("pairs", ())
    faults = {
        line["args"]["loser"]: line["args"]["fault"]
        for pair in pairs
        for line in pair["lines"]
        if line["id"] == "foul"
    }
    hands = {hand["seat"]: _hand(hand, faults.get(hand["seat"])) for hand in settlement.get("hands", ())}
    return RecordedSettlement(
        order=tuple(settlement.get("order", ())),
        hands=tuple(hands.values()),
        pairs=tuple(_pair(pair, hands) for pair in pairs),
        points={int(seat): points for seat, points in settlement.get("points", {}).items()},
        paid={int(seat): cents for seat, cents in settlement.get("paid", {}).items()},
        stacks=settlement.get("stacks", {}),
        faults=faults,
        is_irregular=bool(settlement.get("irregularities")),
    )


def _hand(hand: Json, fault: str | None) -> RecordedHand:
    natural = hand.get("natural")
    return RecordedHand(
        hand["seat"],
        {name: _row(row) for name, row in hand.get("rows", {}).items()},
        bool(hand.get("foul")),
        fault,
        _natural(natural) if natural else None,
        hand.get("declaration"),
        bool(hand.get("fantasyland_next")),
        int(hand.get("fantasyland_cards", LAID)) if hand.get("fantasyland_next") else 0,
    )


def _natural(natural: Json) -> RankedNatural:
    conditions = natural.get("conditions")
    try:
        needs = Conditions(**conditions) if conditions else None
    except TypeError:  # of a later release: the lines keep their recorded words
        needs = None
    return RankedNatural(natural["kind"], natural["value"], -1, natural.get("name", ""), needs)


def _row(row: Json) -> RecordedRow:
    return RecordedRow(row.get("cards", ""), row.get("category"), row.get("bonus", 0))


def _pair(pair: Json, hands: Mapping[int, RecordedHand]) -> RecordedPair:
    lines = tuple(_line(line, pair, hands) for line in pair["lines"])
    return RecordedPair(
        pair["a"], pair["b"], pair["points"], pair["owed"], pair["paid"], pair["short"], lines
    )


def _line(line: Json, pair: Json, hands: Mapping[int, RecordedHand]) -> RecordedLine:
    args = line["args"]
    row, winner, loser, why = args.get("row", ""), args.get("winner"), args.get("loser"), str(line["why"])
    try:
        a, b = hands[winner or pair["a"]], hands[loser or pair["b"]]
        message = shown_sentence(line["id"], a, b, ROW_NAMES.index(row) if row else NO_ROW)
    except (KeyError, IndexError, ValueError):
        message = Message(why)
    return RecordedLine(line["id"], line["points"], line["clause"], row, winner, loser, line["why"], message)


NOTHING_SETTLED = read_settlement({})
"""The settlement of a hand without payments."""
