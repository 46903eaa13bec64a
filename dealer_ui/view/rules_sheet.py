"""The rules in force on one sheet: hand rankings and pay tables, to be drawn with cards."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dealer_ui.text.hand_words import category_name, natural_words
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import language, ngettext
from dealer_ui.text.rule_words import option_says, rule_text, target_words
from dealer_ui.text.words import capital, row_name, speaking_of
from firmware.rules import Currency, Profile, currency
from firmware.rules.cards import RANKS
from firmware.rules.fantasyland import deals_more
from firmware.rules.profiles.sections import FORMER_READINGS
from firmware.rules.profiles.targets import Target
from firmware.rules.strength import Category

RANKING: Final = {
    "royal_flush": "As Ks Qs Js Ts",
    "straight_flush": "9h 8h 7h 6h 5h",
    "four_of_a_kind": "Qs Qh Qd Qc 4d",
    "full_house": "Ts Th Tc 6d 6c",
    "flush": "Ad Jd 8d 6d 3d",
    "straight": "8s 7h 6c 5d 4s",
    "three_of_a_kind": "7s 7h 7d Kc 2h",
    "two_pairs": "Js Jc 5h 5d As",
    "one_pair": "9h 9c Kd 8s 3c",
    "high_card": "Ac Qd 9s 6h 2d",
}
"""The categories from high to low, each with an example."""

NATURALS: Final = {
    "all_one_suit": "2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh Ah",
    "super_dragon": "2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh Ah",
    "dragon": "2s 3h 4d 5c 6h 7s 8d 9c Th Js Qd Kc Ah",
    "all_one_color": "2h 3d 4h 4d 6d 7h 8d 9d Th Jh Jd Kh Ah",
    "twelve_one_suit": "2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qs Ks Ad",
    "twelve_one_color": "2s 3c 4s 4c 6c 7s 8c 9c Ts Js Jc Ks Ah",
    "six_pairs": "2h 2s 4d 4c 6h 6d 8s 8c Th Td Qs Qc Ah",
    "five_pairs_trips": "2h 2s 4d 4c 6h 6d 8s 8c Th Td Qs Qc Qd",
    "three_straights": "2h 3s 4d 5c 6h 7d 8s 9c Th Jd Qs Kc Ad",
    "three_flushes": "2h 7h Jh 3s 5s 8s Ts Ks 4d 6d 9d Qd Ad",
}
"""An example of each natural, as it may be set: front, middle, back."""

SAID: Final = (
    "scoring.versus",
    "scoring.row",
    "scoring.rows",
    "scoring.outcome",
    "scoring.majority",
    "scoring.scoop",
    "scoring.ties",
    "scoring.suits",
    "scoring.scoop_times",
    "scoring.beat_all_times",
    "bonus.pays",
    "foul.points",
    "foul.pays_bonus",
    "foul.versus_natural",
    "foul.equal_rows",
    "naturals.by",
    "naturals.declared",
    "naturals.keeps_bonus",
    "naturals.pays_bonus",
    "naturals.tie",
    "naturals.wins",
    "naturals.foul_voids",
    "naturals.false_declaration",
    "surrender.points",
    "surrender.versus_natural",
    "fantasyland.entry",
    "fantasyland.stay",
    "hands.wheel",
)
"""The options that are said in a sentence, as the house-rules page says them."""
RARE: Final = ("naturals.wins", "surrender.versus_natural")
"""Those of them that are left out where the game is as most are."""
_OF_MORE_CARDS: Final = ("fantasyland.cards", "fantasyland.cards_by_front", "fantasyland.stay_cards")
"""The same, where Fantasy Land may be dealt more than 13 cards."""


@dataclass(frozen=True)
class Pay:
    """A hand, an example of it in card codes, and what it pays; `pays` is empty in a ranking."""

    words: str
    cards: tuple[str, ...]
    pays: str = ""


@dataclass(frozen=True)
class HandTable:
    """A table of hands, the highest first. `wide`: its examples are whole hands of thirteen."""

    title: str
    hands: tuple[Pay, ...]
    wide: bool = False


@dataclass(frozen=True)
class Sheet:
    """The rules that players ask about at a table."""

    profile: str
    tables: tuple[HandTable, ...]
    sentences: tuple[tuple[str, str], ...]


def sheet(rules: Profile) -> Sheet:
    """Return a profile's sheet in the current language, in that game's own words."""
    with speaking_of(rules):
        return _sheet(rules, language(), currency())


@lru_cache(maxsize=8)
def _sheet(rules: Profile, _language: str, _currency: Currency) -> Sheet:
    tables = [
        _bonuses(
            _("Bonus in %(row)s", row=row_name(row)), dict(getattr(rules.bonus, row)), front=row == "front"
        )
        for row in ("front", "middle", "back")
        if getattr(rules.bonus, row)
    ]
    if rules.naturals.kinds:
        kinds = tuple(
            Pay(
                capital(natural_words(entry)),
                tuple(NATURALS.get(entry.kind, "").split()),
                ngettext("%(num)s point", "%(num)s points", entry.value),
            )
            for entry in rules.naturals.kinds
        )
        tables.append(HandTable(_("Naturals, from each opponent"), kinds, wide=True))
    ranking = tuple(Pay(category_name(name), tuple(cards.split())) for name, cards in RANKING.items())
    tables.append(HandTable(_("Hands, the highest first"), ranking))
    options = {path: (kind, value) for path, kind, value in rules.options()}
    usual = [path for path in RARE if options[path][1] == FORMER_READINGS[path]]
    more = _OF_MORE_CARDS if deals_more(rules) else ()
    listed = (options[path] for path in (*SAID, *more) if path not in usual)
    sentences = tuple((rule_text(kind.title), option_says(kind, value)) for kind, value in listed)
    return Sheet(rules.title, tuple(tables), sentences)


def _bonuses(title: str, pays: dict[str, int], *, front: bool) -> HandTable:
    hands = [
        Pay(capital(target_words(name, front=front)), _example(name, front=front), f"+{pays[name]}")
        for name in sorted(pays, key=lambda name: Target.parse(name, front=front).height, reverse=True)
    ]
    return HandTable(title, tuple(hands))


def _example(name: str, *, front: bool) -> tuple[str, ...]:
    if name in RANKING:
        cards = tuple(RANKING[name].split())
        return cards[:3] if front else cards
    target = Target.parse(name, front=front)
    assert target.rank is not None
    first = RANKS[target.rank]
    match target.category:
        case Category.TWO_PAIRS | Category.FULL_HOUSE:
            other = RANKS[0] if target.rank else RANKS[1]
            ranks = first * (2 if target.category is Category.TWO_PAIRS else 3) + other * 2
        case Category.STRAIGHT | Category.STRAIGHT_FLUSH:
            ranks = "".join(RANKS[target.rank - step] for step in range(5))  # the ace is also below the two
        case Category.FLUSH:
            ranks = first + "6432"
        case _:
            ranks = name
    suited = target.category in (Category.FLUSH, Category.STRAIGHT_FLUSH)
    return tuple(f"{rank}{suit}" for rank, suit in zip(ranks, "hhhhh" if suited else "shdcs", strict=False))
