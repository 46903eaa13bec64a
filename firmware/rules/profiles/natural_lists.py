"""Naturals of a list that no hand could be, or that could never count because a higher one covers them."""

from collections.abc import Iterator, Sequence
from typing import Final

from firmware.messages import Message
from firmware.rules.cards import RANKS
from firmware.rules.naturals.conditions import ALL_CARDS, Conditions, implies
from firmware.rules.naturals.entry import NaturalEntry
from firmware.rules.naturals.kinds import By

_WITHIN: Final[dict[str, frozenset[str]]] = {
    "all_one_suit": frozenset({"dragon", "super_dragon", "all_one_color"}),
    "super_dragon": frozenset({"dragon", "all_one_suit", "all_one_color"}),
}
"""Kinds whose hands are always of these other kinds too."""
_EXACT: Final = frozenset({"twelve_one_suit", "twelve_one_color"})
"""Kinds that a hand with more such cards is not."""


def same_conditions(kind: str, by: By) -> Conditions:
    """Return what a named kind asks of the cards; of an exact one, the least. `by`: the profile's `naturals.by`.

    >>> same_conditions("five_pairs_trips", "cards").given()
    {'trips': 1, 'pairs': 5}
    """
    match kind:
        case "dragon":
            return Conditions(different_ranks=ALL_CARDS)
        case "all_one_suit" | "super_dragon":
            return Conditions(one_suit=ALL_CARDS)
        case "all_one_color":
            return Conditions(one_color=ALL_CARDS)
        case "twelve_one_suit":
            return Conditions(one_suit=ALL_CARDS - 1)
        case "twelve_one_color":
            return Conditions(one_color=ALL_CARDS - 1)
        case "six_pairs":
            return Conditions(pairs=6)
        case "five_pairs_trips":
            return Conditions(trips=1, pairs=5)
        case "three_straights":
            return Conditions(front="straight", middle="straight", back="straight", by=by)
        case "three_flushes":
            return Conditions(front="flush", middle="flush", back="flush", by=by)
    raise KeyError(kind)


def list_troubles(entries: Sequence[NaturalEntry], by: By) -> Iterator[Message]:
    """Yield what is wrong with a profile's naturals, taken together."""
    for place, entry in enumerate(entries):
        if entry.needs:
            yield from _conditions(entry, entry.needs)
        for higher in entries[:place]:
            if _covers(higher, entry, by):
                yield Message(
                    "Every hand of %(kind)s is also %(higher)s, which is listed higher: %(name)s could never "
                    "count.",
                    kind=entry.words,
                    higher=higher.words,
                    name=entry.kind,
                )


def _covers(higher: NaturalEntry, lower: NaturalEntry, by: By) -> bool:
    if not higher.needs and not lower.needs:
        return higher.kind in _WITHIN.get(lower.kind, frozenset())
    if higher.kind in _EXACT:
        return False
    return implies(
        lower.needs or same_conditions(lower.kind, by), higher.needs or same_conditions(higher.kind, by)
    )


def _conditions(entry: NaturalEntry, needs: Conditions) -> Iterator[Message]:
    if needs.cards != ALL_CARDS and not needs.ranks:
        yield Message("%(kind)s: cards says how many are of its ranks, and names none.", kind=entry.kind)
    if needs.by == "rows" and not needs.named_rows:
        yield Message("%(kind)s: by = rows speaks of rows, and no row must be anything.", kind=entry.kind)
    if not needs.quads_as_pairs and needs.pairs < 2:
        yield Message("%(kind)s: quads_as_pairs speaks of two pairs, and it asks for fewer.", kind=entry.kind)
    if any(most < least for most, least in _bounds(needs)):
        yield Message(
            "No thirteen cards are %(words)s: %(kind)s could never count.", words=entry.words, kind=entry.kind
        )


def _bounds(needs: Conditions) -> Iterator[tuple[int, int]]:
    """Yield what there is at most of something, and how much of it the conditions take at least."""
    in_rows = sum(size for _row, size, _hand in needs.named_rows)
    yield ALL_CARDS, in_rows + needs.in_groups
    apart = 2 if needs.quads_as_pairs else 1
    again = 3 * needs.quads + 2 * needs.trips + needs.pairs
    yield len(RANKS), needs.quads + needs.trips + (needs.pairs + apart - 1) // apart
    yield ALL_CARDS - needs.different_ranks, again  # a further card of a rank adds no new rank
    yield ALL_CARDS - needs.one_suit, again  # and of another suit
    yield ALL_CARDS - needs.one_color, 2 * needs.quads + needs.trips
    if needs.ranks:
        within, others = len(needs.ranks), ALL_CARDS - needs.cards
        yield 4 * within, needs.cards
        yield within + others, max(needs.one_suit, needs.different_ranks)
        yield 2 * within + others, needs.one_color
