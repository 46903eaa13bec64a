"""A natural as a profile lists it, and the highest one of the list in a hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from firmware.messages import Message
from firmware.rules.naturals.conditions import Conditions
from firmware.rules.naturals.kinds import NATURAL_WORDS, NATURALS, By, NaturalFinder, natural_finder
from firmware.rules.naturals.search import FIRST_OWN_BIT, OwnNaturalFinder
from firmware.rules.strength import Wheel


class NaturalEntry(NamedTuple):
    """One natural of a profile."""

    kind: str
    """One of `NATURALS`, or a house's own."""
    value: int
    """Points from each opponent."""
    name: str = ""
    """What the house calls it."""
    needs: Conditions | None = None
    """What the cards of a house's own kind must be."""

    @property
    def words(self) -> Message:
        """The natural in words."""
        return natural_words(self.kind, self.name, self.needs)

    def as_toml(self) -> dict[str, Any]:
        """Return the entry as a profile has it."""
        named = {"name": self.name} if self.name else {}
        return {"kind": self.kind, "value": self.value, **named, **(self.needs.given() if self.needs else {})}


def natural_words(kind: str, name: str, needs: Conditions | None) -> Message:
    """Return a natural in words: the house's name for it, or what it is."""
    if name:
        return Message(name)
    if needs:
        return needs.words
    return NATURAL_WORDS[kind]


@dataclass(frozen=True, slots=True)
class RankedNatural:
    """A natural with its rank in a profile's list."""

    kind: str
    value: int
    place: int
    """0 is the highest kind of the list."""
    name: str = ""
    needs: Conditions | None = None

    @property
    def words(self) -> Message:
        """The natural in words. Raises KeyError for a kind of a later release."""
        return natural_words(self.kind, self.name, self.needs)


class NaturalRanking(dict[int, RankedNatural | None]):
    """The highest natural of a profile's list in a hand, by the bits of its finder."""

    def __init__(self, entries: Sequence[NaturalEntry]) -> None:
        super().__init__()
        bits = {entry.kind: FIRST_OWN_BIT << place for place, entry in enumerate(_own(entries))}
        self._kinds = [
            (
                bits[entry.kind] if entry.needs else int(NATURALS[entry.kind]),
                RankedNatural(entry.kind, entry.value, place, entry.name, entry.needs),
            )
            for place, entry in enumerate(entries)
        ]

    def __missing__(self, bits: int) -> RankedNatural | None:
        highest = next((natural for bit, natural in self._kinds if bits & bit), None)
        self[bits] = highest
        return highest


def finder_of(entries: Sequence[NaturalEntry], by: By, wheel: Wheel) -> NaturalFinder:
    """Return what finds the naturals of a profile's list."""
    own = [entry.needs for entry in _own(entries) if entry.needs]
    return OwnNaturalFinder(by, wheel, own) if own else natural_finder(by, wheel)


def _own(entries: Sequence[NaturalEntry]) -> list[NaturalEntry]:
    return [entry for entry in entries if entry.needs]
