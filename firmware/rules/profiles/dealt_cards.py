"""How many players and cards: the kinds of these options, and what of them a deck cannot give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from firmware.messages import Message, Term
from firmware.rules.profiles.options import RULES, Amount, Bonuses, Pairs
from firmware.rules.profiles.targets import NotAllowedError, Target, quote

if TYPE_CHECKING:
    from firmware.rules.profiles.profile import Profile

LAID: Final = 13
"""The cards of a hand, whatever was dealt."""
MAX_DEALT_CARDS: Final = 17
"""Cards dealt for one hand."""
DECK: Final = 52
_FOR_EVERY_FRONT: Final = "As many for every front."


@dataclass(frozen=True, eq=False, repr=False)
class Count(Amount):
    """A whole number between two others; 0 only if it has a meaning of its own."""

    least: int = 0
    most: int = 0

    def check(self, value: object) -> int:
        """Return the number."""
        number = isinstance(value, int) and not isinstance(value, bool)
        if not number or value not in self.values:
            if self.none:
                raise NotAllowedError(
                    "allowed: 0, or a whole number from %(least)s to %(most)s",
                    least=self.least,
                    most=self.most,
                )
            raise NotAllowedError(
                "allowed: a whole number from %(least)s to %(most)s", least=self.least, most=self.most
            )
        assert isinstance(value, int)
        return value

    @property
    def values(self) -> tuple[int, ...]:
        """All allowed numbers."""
        return (*((0,) if self.none else ()), *range(self.least, self.most + 1))


@dataclass(frozen=True, eq=False, repr=False)
class FrontCards(Bonuses):
    """The number of cards by the front that a player has set: that of the highest hand named that it reaches."""

    front: bool = True

    def check(self, value: object) -> Pairs:
        """Return (hand, cards) as listed."""
        allowed = Message(
            'a table of fronts and the cards from %(least)s to %(most)s, as in { "KK" = 15, three_of_a_kind = 17 }',
            least=LAID,
            most=MAX_DEALT_CARDS,
        )
        if not isinstance(value, Mapping):
            raise NotAllowedError("allowed: %(allowed)s", allowed=allowed)
        for hand, cards in value.items():
            Target.parse(hand, front=True)
            if cards == 0:
                continue
            if not isinstance(cards, int) or isinstance(cards, bool) or not LAID <= cards <= MAX_DEALT_CARDS:
                raise NotAllowedError(
                    "%(hand)s = %(cards)s; allowed: %(allowed)s",
                    hand=hand,
                    cards=quote(cards),
                    allowed=allowed,
                )
        return tuple((hand, cards) for hand, cards in value.items() if cards)

    def say(self, value: Pairs) -> Message:
        """Return the table on one line."""
        return super().say(value) if value else Term(_FOR_EVERY_FRONT, context=RULES)


Findings = Iterator[tuple[str, Message]]


def dealing_contradictions(profile: Profile) -> Findings:
    """Yield what contradicts itself in how many cards are dealt: the option to change first, and why."""
    yield from _fantasyland(profile)
    players, most = profile.limits.players, most_dealt(profile)
    if players * most > DECK:
        yield (
            "limits.players",
            Message(
                "%(players)s players of up to %(cards)s cards each need %(all)s, and a deck has %(deck)s: at most "
                "%(most)s players can play.",
                players=players,
                cards=most,
                all=players * most,
                deck=DECK,
                most=DECK // most,
            ),
        )


def _fantasyland(profile: Profile) -> Findings:
    land = profile.fantasyland
    if not land.entry:
        for path, is_set in (
            ("fantasyland.cards", land.cards != LAID),
            ("fantasyland.cards_by_front", bool(land.cards_by_front)),
        ):
            if is_set:
                yield (path, Message("%(option)s is about Fantasy Land, and no hand earns it.", option=path))
    if land.stay_cards and not land.stay:
        yield "fantasyland.stay_cards", Message("Cards are named for who stays, and nobody stays.")
    fronts = sorted(land.cards_by_front, key=lambda front: _floor(front[0]))
    fewest = land.cards
    for hand, cards in fronts:
        if cards < fewest:
            yield (
                "fantasyland.cards_by_front",
                Message(
                    "%(hand)s is dealt %(cards)s cards, fewer than a weaker front: %(more)s.",
                    hand=Target.parse(hand, front=True).words,
                    cards=cards,
                    more=fewest,
                ),
            )
        fewest = max(fewest, cards)
    lowest = dict(land.entry).get("front")
    if fronts and lowest and len(land.entry) == 1:
        entry = Target.parse(lowest, front=True)
        below = [hand for hand, _ in fronts if _floor(hand) < _floor(lowest)]
        if below:
            yield (
                "fantasyland.cards_by_front",
                Message(
                    "%(hand)s does not earn Fantasy Land, which takes %(entry)s or better.",
                    hand=Target.parse(below[0], front=True).words,
                    entry=entry.words,
                ),
            )


def _floor(hand: str) -> tuple[int, int]:
    """Return a key by which the lowest of the hands that a name stands for are compared."""
    target = Target.parse(hand, front=True)
    return target.category, -1 if target.rank is None else target.rank


def most_dealt(profile: Profile) -> int:
    """Return the most cards that a player is dealt in a hand."""
    land = profile.fantasyland
    numbers = [MAX_DEALT_CARDS if profile.deal.kind == "pineapple" else LAID]
    if land.entry:
        numbers += [land.cards, land.stay_cards, *(cards for _, cards in land.cards_by_front)]
    return max(numbers)
