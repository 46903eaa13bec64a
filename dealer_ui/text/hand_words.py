"""Names of rows and naturals, built from cards and identifiers, not by parsing the rules' English.

In English the words equal those of the rules (`firmware.rules.words`); a test compares all of them.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from dealer_ui.text.i18n import N_, NP_, gettext, pgettext
from dealer_ui.text.words import RANK_NAMES, capital

RANKS: Final = "23456789TJQKA"
SEVERAL: Final = {
    "2": NP_("ranks", "twos"),
    "3": NP_("ranks", "threes"),
    "4": NP_("ranks", "fours"),
    "5": NP_("ranks", "fives"),
    "6": NP_("ranks", "sixes"),
    "7": NP_("ranks", "sevens"),
    "8": NP_("ranks", "eights"),
    "9": NP_("ranks", "nines"),
    "T": NP_("ranks", "tens"),
    "J": NP_("ranks", "jacks"),
    "Q": NP_("ranks", "queens"),
    "K": NP_("ranks", "kings"),
    "A": NP_("ranks", "aces"),
}
"""A rank's name for several of it."""
HIGH: Final = {
    "2": NP_("high card", "two"),
    "3": NP_("high card", "three"),
    "4": NP_("high card", "four"),
    "5": NP_("high card", "five"),
    "6": NP_("high card", "six"),
    "7": NP_("high card", "seven"),
    "8": NP_("high card", "eight"),
    "9": NP_("high card", "nine"),
    "T": NP_("high card", "ten"),
    "J": NP_("high card", "jack"),
    "Q": NP_("high card", "queen"),
    "K": NP_("high card", "king"),
    "A": NP_("high card", "ace"),
}
"""A rank's name as the highest of a straight or a flush, as in "nine high"."""
_PLURALS: Final = frozenset({"two_pairs", "three_of_a_kind", "four_of_a_kind"})
"""Categories whose words are a plural in English: "three aces beat"."""
CATEGORY_NAMES: Final = {
    "royal_flush": N_("Royal flush"),
    "straight_flush": N_("Straight flush"),
    "four_of_a_kind": N_("Four of a kind"),
    "full_house": N_("Full house"),
    "flush": N_("Flush"),
    "straight": N_("Straight"),
    "three_of_a_kind": N_("Three of a kind"),
    "two_pairs": N_("Two pairs"),
    "one_pair": N_("One pair"),
    "high_card": N_("High card"),
}
NATURAL_WORDS: Final = {
    "all_one_suit": N_("thirteen cards of one suit"),
    "dragon": N_("dragon (one card of every rank)"),
    "super_dragon": N_("super dragon (a dragon in one suit)"),
    "all_one_color": N_("thirteen cards of one color"),
    "twelve_one_suit": N_("exactly twelve cards of one suit"),
    "twelve_one_color": N_("exactly twelve cards of one color"),
    "six_pairs": N_("six pairs"),
    "five_pairs_trips": N_("five pairs and three of a kind"),
    "three_straights": N_("three straights"),
    "three_flushes": N_("three flushes"),
}


def natural_words(kind: str) -> str:
    """Describe the cards of a natural: `"six pairs"`."""
    return gettext(NATURAL_WORDS[kind]) if kind in NATURAL_WORDS else kind.replace("_", " ")


def category_name(category: str) -> str:
    """Return a category's name: `"Two pairs"`."""
    return gettext(CATEGORY_NAMES[category])


def ranks_of(category: str, cards: str) -> tuple[str, ...]:
    """Return a row's ranks by how often they occur, then by height; the wheel's first is its five.

    >>> ranks_of("two_pairs", "5s 9h 5d As 9c"), ranks_of("straight", "As 2c 3d 4h 5s")[0]
    (('9', '5', 'A'), '5')
    """
    count = Counter(code[0] for code in cards.split())
    ranks = sorted(count, key=lambda rank: (-count[rank], -RANKS.index(rank)))
    if category in ("straight", "straight_flush") and "".join(ranks) == "A5432":
        return (*ranks[1:], ranks[0])
    return tuple(ranks)


def row_short(category: str, cards: str) -> str:
    """Describe a row as a dealer calls it, without kickers: `"pair of aces"`."""
    first, *rest = ranks_of(category, cards)
    match category:
        case "royal_flush":
            return gettext("royal flush")
        case "straight_flush":
            return gettext("straight flush, %(rank)s high", rank=_high(first))
        case "flush":
            return gettext("flush, %(rank)s high", rank=_high(first))
        case "straight":
            return gettext("straight, %(rank)s high", rank=_high(first))
        case "four_of_a_kind":
            return gettext("four %(ranks)s", ranks=_several(first))
        case "full_house":
            return gettext(
                "full house, %(ranks)s over %(others)s", ranks=_several(first), others=_several(rest[0])
            )
        case "three_of_a_kind":
            return gettext("three %(ranks)s", ranks=_several(first))
        case "two_pairs":
            return gettext(
                "two pairs, %(ranks)s and %(others)s", ranks=_several(first), others=_several(rest[0])
            )
        case "one_pair":
            return gettext("pair of %(ranks)s", ranks=_several(first))
        case _:
            return gettext("%(rank)s high", rank=_one(first))


def row_text(category: str, cards: str) -> str:
    """Describe a row with every card that counts: `"pair of aces, king"`."""
    ranks = ranks_of(category, cards)
    match category:
        case "royal_flush" | "straight_flush" | "straight" | "full_house":
            kickers: tuple[str, ...] = ()
        case "two_pairs":
            kickers = ranks[2:]
        case _:
            kickers = ranks[1:]
    return gettext(", ").join([row_short(category, cards), *map(_one, kickers)])


def row_words(category: str, cards: str) -> tuple[str, str]:
    """Describe a row in two parts: the large text, and the rest; kickers are left out.

    >>> row_words("one_pair", "Qs Qh Kd"), row_words("full_house", "Ks Kh Kd 7s 7c")
    (('Pair', 'queens'), ('Full house', 'kings, sevens'))
    >>> row_words("three_of_a_kind", "8s 8h 8d Kc 4c"), row_words("high_card", "Ks 9h 5d")
    (('Three eights', ''), ('King high', ''))
    """
    first, *rest = ranks_of(category, cards)
    match category:
        case "one_pair":
            return pgettext("hand", "Pair"), _several(first)
        case "two_pairs" | "full_house":
            return category_name(category), gettext(", ").join((_several(first), _several(rest[0])))
        case "straight" | "flush" | "straight_flush":
            return category_name(category), pgettext(
                "a straight or flush", "%(rank)s high", rank=_high(first)
            )
        case "high_card":
            return capital(pgettext("on the screen", "%(rank)s high", rank=_one(first))), ""
        case _:
            return capital(row_short(category, cards)), ""


def beats(won: tuple[str, str], lost: tuple[str, str]) -> str:
    """Describe how one row beats another, each given as category and cards; with kickers only if they decide."""
    winner, loser = unlike(won, lost)
    if won[0] in _PLURALS:
        return gettext("%(winner)s beat %(loser)s", winner=winner, loser=loser)
    return gettext("%(winner)s beats %(loser)s", winner=winner, loser=loser)


def unlike(one: tuple[str, str], other: tuple[str, str]) -> tuple[str, str]:
    """Describe two different rows, with kickers only if nothing else distinguishes them."""
    ours, theirs = row_short(*one), row_short(*other)
    return (ours, theirs) if ours != theirs else (row_text(*one), row_text(*other))


def _one(rank: str) -> str:
    return pgettext("rank", RANK_NAMES[rank])


def _several(rank: str) -> str:
    return pgettext("ranks", SEVERAL[rank])


def _high(rank: str) -> str:
    return pgettext("high card", HIGH[rank])
