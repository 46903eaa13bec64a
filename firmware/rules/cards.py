"""The 52 cards, as text and as keys for the table lookups."""

import re
from dataclasses import dataclass

from firmware.rules.errors import UnknownCardError

RANKS = "23456789TJQKA"
SUITS = "cdhs"

# One number per rank. The sum over any five (or three) cards, at most four of a rank, identifies their ranks uniquely.
# A greedy search finds the numbers: each is the smallest that keeps the sums distinct.
RANK_KEYS = (0, 1, 5, 22, 94, 312, 992, 2422, 5624, 12522, 19998, 43258, 79415)
# The same for suits: digits in base 6, because a row holds at most five of a suit.
SUIT_KEYS = (0, 1, 6, 36)

SUIT_BITS = 8
"""A key's low bits belong to the suit (five spades are 180); the rank's bits are above them."""

RANK_COUNTS = 16
"""A pack's low bits count four suits in four bits each; above them are thirteen ranks in three bits each."""


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """One card. There is exactly one object per card, so cards compare by identity.

    >>> parse_card("Th").rank, parse_card("Th").suit, str(parse_card("10h"))
    (8, 2, 'Th')
    """

    code: str
    """Rank and suit: "Th"."""
    rank: int
    """0 for the deuce to 12 for the ace."""
    suit: int
    """0 to 3, in the order of `SUITS`. Suits never decide between players."""
    key: int
    """The sum over a row identifies its strength."""
    pack: int
    """The sum over a hand counts its ranks and suits."""

    def __str__(self) -> str:
        return self.code

    def __repr__(self) -> str:
        return self.code

    def __reduce__(self) -> tuple[object, ...]:
        return parse_card, (self.code,)


def _card(rank: int, suit: int) -> Card:
    return Card(
        code=RANKS[rank] + SUITS[suit],
        rank=rank,
        suit=suit,
        key=RANK_KEYS[rank] << SUIT_BITS | SUIT_KEYS[suit],
        pack=1 << (RANK_COUNTS + 3 * rank) | 1 << (4 * suit),
    )


CARDS: tuple[Card, ...] = tuple(_card(rank, suit) for rank in range(13) for suit in range(4))
"""The deck, deuce of clubs first, ace of spades last."""

UNREAD = Card(code="??", rank=-1, suit=-1, key=1 << 60, pack=1 << 60)
"""A card that could not be read. No table has a sum that contains it."""

_BY_TEXT = {card.code: card for card in (*CARDS, UNREAD)} | {
    f"10{card.code[1]}": card for card in CARDS if card.code[0] == "T"
}


_JOKER = re.compile(
    r"(?:[a-z]+[-_]?)?joker\d?|jkr?\d?|[rb]j|\*|[\U0001F0BF\U0001F0CF\U0001F0DF]", re.IGNORECASE
)


def parse_card(text: str) -> Card:
    """Return the card that `text` names: "Th", also "10h"; "??" is a card that could not be read.

    Raises UnknownCardError.
    """
    try:
        return _BY_TEXT[text]
    except KeyError:
        raise _unknown(text) from None


def _unknown(text: str) -> UnknownCardError:
    if _JOKER.fullmatch(text):
        return UnknownCardError(f'"{text}" is a joker, and the rules have none: play with 52 cards')
    return UnknownCardError(f'"{text}" is no card: write one of {RANKS} and one of {SUITS}, as in "Th"')


def parse_cards(text: str) -> tuple[Card, ...]:
    """Return the cards of a row, written with spaces between them. Raises UnknownCardError.

    >>> parse_cards("As 10h ??")
    (As, Th, ??)
    """
    try:
        return tuple(map(_BY_TEXT.__getitem__, text.split()))
    except KeyError as error:
        raise _unknown(error.args[0]) from None


def cards_text(cards: tuple[Card, ...]) -> str:
    """Return the text that `parse_cards` reads."""
    return " ".join([card.code for card in cards])
