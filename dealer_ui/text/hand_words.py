"""Names of rows and naturals in the current language; their messages are the rules' own (`firmware.rules.words`)."""

from dealer_ui.text.i18n import gettext, pgettext
from dealer_ui.text.messages import say
from dealer_ui.text.words import capital, game_spoken_of, kind_name
from firmware.rules import CATEGORIES, NaturalEntry, RankedNatural
from firmware.rules.words import HIGH, ONE, SEVERAL, ranks_of, row_called

Natural = NaturalEntry | RankedNatural


def natural_words(natural: Natural) -> str:
    """Describe the cards of a natural: `"six pairs"`; where the house has a name for it, by that."""
    try:
        return say(natural.words)
    except KeyError:  # of a later release
        return natural.kind.replace("_", " ")


def natural_name(natural: Natural) -> str:
    """Name a natural in short: `"Six pairs"`."""
    return capital(natural_words(natural)) if natural.name or natural.needs else kind_name(natural.kind)


def kind_in_words(kind: str) -> str:
    """Name a natural by its identifier within a sentence: as the house of the game spoken of calls it."""
    game = game_spoken_of()
    entry = next((one for one in game.naturals.kinds if one.kind == kind), None) if game else None
    return natural_words(entry) if entry else kind_name(kind).lower()


def category_name(category: str) -> str:
    """Return a category's name: `"Two pairs"`."""
    return capital(say(CATEGORIES[category].words))


def row_text(category: str, cards: str) -> str:
    """Describe a row with every card that counts: `"pair of aces, king"`."""
    return say(row_called(category, cards).full)


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
            return pgettext("hand", "Pair"), say(SEVERAL[first])
        case "two_pairs" | "full_house":
            return category_name(category), gettext(", ").join((say(SEVERAL[first]), say(SEVERAL[rest[0]])))
        case "straight" | "flush" | "straight_flush":
            return category_name(category), pgettext(
                "a straight or flush", "%(rank)s high", rank=say(HIGH[first])
            )
        case "high_card":
            return capital(pgettext("on the screen", "%(rank)s high", rank=say(ONE[first]))), ""
        case _:
            return capital(say(row_called(category, cards).short)), ""
