"""The auditor's data: a hand as the record's rows describe it, and the cards that were really dealt."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Row = Literal["front", "middle", "back"]
Spot = tuple[int, str, int]
"""Seat, row, index."""

SIZES: Final[Mapping[Row, int]] = {"front": 3, "middle": 5, "back": 5}


@dataclass(frozen=True)
class DealtHand:
    """The real hand: the cards as they were set, by seat and row; the puck's seat, None if it is unknown."""

    rows: Mapping[int, Mapping[Row, list[str]]]
    puck: int | None


@dataclass
class Card:
    """A card in the record."""

    card: str | None
    sure: bool
    is_named: bool = False
    """Whether the dealer named it."""


@dataclass
class AuditedHand:
    """A hand as the record's rows describe it."""

    number: int
    opened: Mapping[str, Any]
    puck: int | None
    """The puck's seat."""
    is_puck_keyed: bool = False
    """Whether the dealer keyed the puck's seat; readings of the puck are then ignored."""
    is_puck_fixed: bool = False
    """Whether the hand has left its first phase; readings of the puck are then ignored, too."""
    declares: set[int] = field(default_factory=set)
    surrenders: set[int] = field(default_factory=set)
    confirmed: set[int] = field(default_factory=set)
    acted: list[int] = field(default_factory=list)
    """Seats that declared or surrendered, in the order in which they did."""
    cards: dict[tuple[int, str], list[Card]] = field(default_factory=dict)
    irregular: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    """The open irregularities by number."""
    settlement: Mapping[str, Any] | None = None
    settled: bool = False
    ended: str = ""
    """How the hand ended; empty while it is played."""

    @property
    def seats(self) -> list[int]:
        """The seats in play."""
        return [seat["seat"] for seat in self.opened["seats"]]

    @property
    def face_up_seats(self) -> set[int]:
        """The seats whose cards are placed face up."""
        return {seat["seat"] for seat in self.opened["seats"] if seat.get("open")}

    @property
    def compared_seats(self) -> list[int]:
        """The seats whose cards are compared: all that did not surrender."""
        return [seat for seat in self.seats if seat not in self.surrenders]

    @property
    def naturals(self) -> set[int]:
        """The seats whose natural counts in the settlement, whether it was declared or found."""
        hands = (self.settlement or {}).get("hands", ())
        return {hand["seat"] for hand in hands if hand["natural"]}

    def row(self, seat: int, row: str) -> list[Card]:
        """Return a row's cards in the record."""
        return self.cards.get((seat, row), [])

    def in_doubt(self) -> list[str]:
        """Describe everything that must be resolved before a settlement."""
        found = [] if self.puck is not None else ["no button"]
        found += [
            f"an open irregularity ({irregularity['what']})"
            for irregularity in self.irregular.values()
            if irregularity["what"] != "card_twice"  # counted below, by card
        ]
        seen: Counter[str] = Counter()
        for seat in self.compared_seats:
            for row, size in SIZES.items():
                cards = self.row(seat, row)
                if len(cards) != size:
                    found.append(f"{len(cards)} cards in seat {seat}'s {row}")
                found += [f"an unsure {c.card} at seat {seat}'s {row}" for c in cards if not c.sure]
                seen.update(card.card for card in cards if card.card)
            if seat in self.declares | self.naturals and seat not in self.confirmed:
                found.append(f"seat {seat}'s natural unconfirmed")
        return found + [f"{card} {times} times" for card, times in seen.items() if times > 1]

    def to_json(self) -> dict[str, Any]:
        """Return the hand as input for `feltwatch settle`."""
        seats = []
        for opened in self.opened["seats"]:
            seat = opened["seat"]
            line: dict[str, Any] = {
                "seat": seat,
                "player": opened["player"],
                "declares": seat in self.declares,
                "surrenders": seat in self.surrenders,
            }
            if seat in self.acted:
                line["acted"] = self.acted.index(seat)
            if opened.get("fantasyland"):
                line["fantasyland"] = True
                line["fantasyland_cards"] = opened.get("fantasyland_cards") or None
            if opened["stack"] is not None:
                line["stack"] = opened["stack"]
            if seat not in self.surrenders:
                line |= {row: " ".join(card.card or "??" for card in self.row(seat, row)) for row in SIZES}
            seats.append(line)
        return {
            "profile": self.opened["profile"],
            "options": self.opened["options"],
            "unit": self.opened["unit"],
            "button": self.puck,
            "seats": seats,
        }


def cards_of(cards: Iterable[Mapping[str, Any]]) -> list[Card]:
    """Return the cards of a row in a recorded reading."""
    return [Card(card["card"], card["sure"]) for card in cards]
