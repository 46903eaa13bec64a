"""How the page says things: money, points, cards and rows in words. Pure, integers only."""

from __future__ import annotations

from typing import Final

MINUS: Final = "\N{MINUS SIGN}"

SUIT_NAMES: Final = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}
RANK_NAMES: Final = {
    "2": "two",
    "3": "three",
    "4": "four",
    "5": "five",
    "6": "six",
    "7": "seven",
    "8": "eight",
    "9": "nine",
    "T": "ten",
    "J": "jack",
    "Q": "queen",
    "K": "king",
    "A": "ace",
}


def money(cents: int) -> str:
    """Say an amount of integer cents in dollars, without a sign: `"$25"`, `"$1,250.50"`."""
    dollars, rest = divmod(abs(cents), 100)
    return f"${dollars:,}.{rest:02d}" if rest else f"${dollars:,}"


def signed_money(cents: int) -> str:
    """Say a gain or a loss of integer cents: `"+$25"`, `"−$50"`, `"$0"`."""
    return f"{_sign(cents)}{money(cents)}"


def signed_points(points: int) -> str:
    """Say a gain or a loss in points: `"+4"`, `"−7"`, `"0"`."""
    return f"{_sign(points)}{abs(points)}"


def counted(number: int, singular: str, plural: str = "") -> str:
    """Say a number of things: `"1 point"`, `"4 points"`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def ordinal(number: int) -> str:
    """Say a place in a row: `"1st"`, `"2nd"`, `"3rd"`, `"4th"`."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def rank_text(code: str) -> str:
    """Return what is printed in a card's corner, `"10"` for a ten."""
    return "10" if code[0] == "T" else code[0]


def card_name(code: str) -> str:
    """Say a card in words: `card_name("Th")` is `"ten of hearts"`."""
    return f"{RANK_NAMES[code[0]]} of {SUIT_NAMES[code[1]]}"


def row_words(category: str, text: str) -> tuple[str, str]:
    """Part the rules' words for a row into what is seen from afar and the rest; kickers are left out.

    >>> row_words("one_pair", "pair of queens, king"), row_words("full_house", "full house, kings over sevens")
    (('Pair', 'queens'), ('Full house', 'kings, sevens'))
    >>> row_words("three_of_a_kind", "three eights, king, four"), row_words("high_card", "king high, nine, five")
    (('Three eights', ''), ('King high', ''))
    """
    first, _, rest = text.partition(", ")
    match category:
        case "one_pair":
            return "Pair", first.removeprefix("pair of ")
        case "two_pairs" | "full_house":
            return first.capitalize(), rest.partition(", ")[0].replace(" over ", ", ").replace(" and ", ", ")
        case "straight" | "flush" | "straight_flush":
            return first.capitalize(), rest.partition(", ")[0]
        case _:
            return first.capitalize(), ""


def kind_name(kind: str) -> str:
    """Say a natural's identifier in words: `"six_pairs"` is `"Six pairs"`."""
    return kind.replace("_", " ").capitalize()


def _sign(number: int) -> str:
    return "+" if number > 0 else MINUS if number < 0 else ""
