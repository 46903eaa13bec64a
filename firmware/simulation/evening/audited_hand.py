"""A hand from the record's rows, next to what was dealt: the auditor's data."""

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
    """The true hand: the cards as they were set, by seat and row; the puck's seat, None if it is unknown."""

    rows: Mapping[int, Mapping[Row, list[str]]]
    button: int | None


@dataclass
class Card:
    """A card on record."""

    card: str | None
    sure: bool
    is_named: bool = False
    """Whether the dealer named it."""


@dataclass
class AuditedHand:
    """A hand as its rows describe it."""

    number: int
    opened: Mapping[str, Any]
    button: int | None
    keyed: bool = False
    frozen: bool = False
    declares: set[int] = field(default_factory=set)
    surrenders: set[int] = field(default_factory=set)
    confirmed: set[int] = field(default_factory=set)
    acted: list[int] = field(default_factory=list)
    """Seats that declared or surrendered, in that order."""
    cards: dict[tuple[int, str], list[Card]] = field(default_factory=dict)
    irregular: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    settlement: Mapping[str, Any] | None = None
    settled: bool = False
    ended: str = ""

    @property
    def seats(self) -> list[int]:
        """The seats in play."""
        return [seat["seat"] for seat in self.opened["seats"]]

    @property
    def placing(self) -> set[int]:
        """The seats whose cards are placed face up."""
        return {seat["seat"] for seat in self.opened["seats"] if seat.get("open")}

    @property
    def showing(self) -> list[int]:
        """The seats whose cards are compared."""
        return [seat for seat in self.seats if seat not in self.surrenders]

    @property
    def naturals(self) -> set[int]:
        """The seats whose natural counts in the settlement, declared or found."""
        hands = (self.settlement or {}).get("hands", ())
        return {hand["seat"] for hand in hands if hand["natural"]}

    def row(self, seat: int, row: str) -> list[Card]:
        """Return the cards of a row that are on record."""
        return self.cards.get((seat, row), [])

    def in_doubt(self) -> list[str]:
        """Return what must be resolved before a settlement."""
        found = [] if self.button is not None else ["no button"]
        found += [
            f"an open irregularity ({seen['what']})"
            for seen in self.irregular.values()
            if seen["what"] != "card_twice"  # that question is asked about the card, at each position
        ]
        seen: Counter[str] = Counter()
        for seat in self.showing:
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
        """Return the hand as input of `feltwatch settle`."""
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
        opened_with = self.opened
        return {
            "profile": opened_with["profile"],
            "options": opened_with["options"],
            "unit": opened_with["unit"],
            "button": self.button,
            "seats": seats,
        }


def cards_of(cards: Iterable[Mapping[str, Any]]) -> list[Card]:
    """Return the cards of a reading's row."""
    return [Card(card["card"], card["sure"]) for card in cards]
