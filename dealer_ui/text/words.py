"""Money, points, cards and rows in words. Integers only."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Literal

from dealer_ui.text.i18n import NP_, gettext, pgettext
from firmware.rules import RANKS, Profile, currency
from firmware.rules.words import ONE, SUITS

MINUS: Final = "\N{MINUS SIGN}"
_SUM: Final = re.compile(rf"([+{MINUS}]?)(\D*)([\d,.]*\d)(\D*)")

ORDINALS: Final = (
    NP_("ordinal", "1st"),
    NP_("ordinal", "2nd"),
    NP_("ordinal", "3rd"),
    NP_("ordinal", "4th"),
    NP_("ordinal", "5th"),
    NP_("ordinal", "6th"),
    NP_("ordinal", "7th"),
    NP_("ordinal", "8th"),
    NP_("ordinal", "9th"),
    NP_("ordinal", "10th"),
    NP_("ordinal", "11th"),
    NP_("ordinal", "12th"),
    NP_("ordinal", "13th"),
)
ROLE_NAMES: Final = {
    "dealer": NP_("role", "dealer"),
    "floor": NP_("role", "floor"),
    "technician": NP_("role", "technician"),
    "auditor": NP_("role", "auditor"),
}
DEVICE_NAMES: Final = {
    "camera": NP_("device", "camera"),
    "puck": NP_("device", "puck"),
    "buttons": NP_("device", "push-buttons"),
    "lamps": NP_("device", "lamps"),
    "buzzer": NP_("device", "buzzer"),
    "disk": NP_("device", "disk"),
    "clock": NP_("device", "clock"),
    "power": NP_("device", "power"),
    "captures": NP_("device", "captures"),
    "calibration": NP_("device", "calibration"),
    "view": NP_("device", "view"),
    "pins": NP_("device", "PINs"),
    "rules": NP_("device", "game rules"),
    "table": NP_("device", "table"),
    "record": NP_("device", "record"),
}


def money(cents: int) -> str:
    """Format integer cents in the current currency, without a sign: `"$25"`, `"$1,250.50"`."""
    return currency().say(cents)


def money_with_sign(cents: int) -> str:
    """Format a gain or a loss of integer cents: `"+$25"`, `"−$50"`, `"$0"`."""
    return f"{_sign(cents)}{money(cents)}"


def trend(cents: int) -> Literal["up", "down", "level"]:
    """Return which way a sum goes."""
    return "up" if cents > 0 else "down" if cents < 0 else "level"


def parts_of_sum(words: str) -> tuple[str, str, str, str]:
    """Return a sum's sign, the text before its figure, the figure, and the text after it.

    >>> parts_of_sum("+HK$1,250")
    ('+', 'HK$', '1,250', '')
    """
    found = _SUM.fullmatch(words)
    return (found[1], found[2], found[3], found[4]) if found else ("", "", words, "")


def points_with_sign(points: int) -> str:
    """Format a gain or a loss in points: `"+4"`, `"−7"`, `"0"`."""
    return f"{_sign(points)}{abs(points)}"


def ordinal(number: int) -> str:
    """Format a place in a row, from 1 to 13: `"1st"`, `"2nd"`, `"3rd"`, `"4th"`."""
    return pgettext("ordinal", ORDINALS[number - 1])


def rank_text(code: str) -> str:
    """Return the rank as printed in a card's corner, `"10"` for a ten."""
    return "10" if code[0] == "T" else code[0]


def card_name(code: str) -> str:
    """Name a card: `card_name("Th")` is `"ten of hearts"`."""
    rank, suit = ONE[RANKS.index(code[0])].message, SUITS[code[1]].message
    return gettext("%(rank)s of %(suit)s", rank=pgettext("rank", rank), suit=pgettext("suit", suit))


def cards_in_words(cards: tuple[str, ...]) -> str:
    """Format cards by their codes, tens as figures: short enough for a whole row."""
    return " ".join(f"{'10' if code[0] == 'T' else code[0]}{'♣♦♥♠'['cdhs'.index(code[1])]}" for code in cards)


def row_name(row: str) -> str:
    """Name a row: `"front"`; where the house has a word of its own for it, by that."""
    game = _game.get()
    return (game and dict(game.hands.rows_called).get(row)) or pgettext("row", row)


_game: ContextVar[Profile | None] = ContextVar("game", default=None)


def game_spoken_of() -> Profile | None:
    """Return the game of a `speaking_of` block."""
    return _game.get()


@contextmanager
def speaking_of(game: Profile | None) -> Iterator[None]:
    """Call rows and naturals in the block as the house of this game does; None: as all houses do."""
    token = _game.set(game)
    try:
        yield
    finally:
        _game.reset(token)


def role_name(role: str) -> str:
    """Name a person's role: `"floor"`."""
    return pgettext("role", ROLE_NAMES.get(role, role))


def device_name(name: str) -> str:
    """Name a device; one unknown to this release keeps its name in the record."""
    return pgettext("device", DEVICE_NAMES[name]) if name in DEVICE_NAMES else name


def kind_name(kind: str) -> str:
    """Name a natural by its identifier: `"six_pairs"` is `"Six pairs"`."""
    return gettext(kind.replace("_", " ").capitalize())


def capital(words: str) -> str:
    """Capitalize the first letter, where the script has capitals; the rest stays unchanged."""
    return words[:1].upper() + words[1:]


def small(words: str) -> str:
    """Put the first letter in lower case, where the script has it; the rest stays unchanged."""
    return words[:1].lower() + words[1:]


def _sign(number: int) -> str:
    return "+" if number > 0 else MINUS if number < 0 else ""
