"""The house rules up to the showdown: the table, the button, the deal, rankings, setting, surrender."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dealer_ui.profiles.house_rules_said import Rule, Ruled, Values, listed, points
from dealer_ui.text.hand_words import category_name
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import money
from firmware.rules import CATEGORIES
from firmware.rules.words import SUITS

_IN_FRONT: Final = ("three_of_a_kind", "one_pair", "high_card")


def the_table(rules: Values) -> Iterator[Ruled]:
    """Describe the deck, the number of players and the aim."""
    yield Rule(
        _(
            "Each player has 13 cards and sets them as three hands, which these rules call rows: a back of five cards, "
            "a middle of five cards and a front of three cards. Each row is played against the same row of every "
            "other player."
        ),
        "basics.object",
    )
    yield Rule(
        _("One standard deck of 52 cards is used, without jokers. No card is wild."),
        "basics.deck",
    )
    if rules.speaks_of("basics.five_seats"):
        yield Rule(
            _(
                "Up to five players sit at the table, and two to four of them play a hand. Where five sit, the player "
                "with the button and the next three players clockwise are dealt in. The fifth waits for the next hand, "
                "or plays in the place of one of the four who passes the hand."
            ),
            "basics.players",
            "basics.five_seats",
        )
    else:
        yield Rule(_("Two to four players play a hand."), "basics.players")
        yield Rule(
            _(
                "The house may let a fifth player sit at the table. Then the player with the button and the next three "
                "players clockwise are dealt in. The fifth waits for the next hand, or plays in the place of one of "
                "the four who passes the hand."
            ),
            "basics.five_seats",
        )
    yield Rule(
        _(
            "Where only two players are at the table, they may agree to play two hands each; without both agreeing "
            "each is dealt one. A player's two hands are played only against the other player's hands."
        ),
        "basics.two_hands",
    )
    unit = rules["limits.max_unit"]
    yield Rule(
        _(
            "One point is worth one unit, an amount of money that the house sets before play. It is at most %(most)s.",
            most=money(unit),
        )
        if unit
        else _("One point is worth one unit, an amount of money that the house sets before play."),
        "basics.unit",
        "limits.max_unit",
    )
    if rules["limits.buy_in"]:
        yield Rule(
            _(
                "To enter the game, a player buys chips for at least %(times)s units.",
                times=rules["limits.buy_in"],
            ),
            "limits.buy_in",
        )
    if rules["limits.min_points"]:
        yield Rule(
            _(
                "To be dealt in, a player needs chips for at least %(points)s.",
                points=points(rules["limits.min_points"]),
            ),
            "limits.min_points",
        )
    most = rules["limits.max_stack"]
    yield Rule(
        _("Between hands a player may buy more chips, up to a stack of %(times)s units.", times=most)
        if most
        else _("Between hands a player may buy more chips, up to the largest stack that the house allows."),
        "limits.max_stack",
    )
    yield Rule(
        _("Chips stay on the table: nobody takes any off between hands, except on leaving the game."),
        "basics.chips_stay",
    )


def the_button(rules: Values) -> Iterator[Ruled]:
    """Describe how the button moves."""
    if rules.speaks_of("basics.two_buttons"):
        yield Rule(
            _(
                "The action button and the dealer button always lie with the same player. These rules call both of "
                "them the button."
            ),
            "basics.two_buttons",
        )
    yield Rule(
        _("When a game opens, the player at the left of the house dealer has the button.")
        if rules["order.opening"] == "left_of_dealer"
        else _("When a game opens, the house says which player has the button."),
        "order.opening",
    )
    yield Rule(
        _("After each hand the button moves clockwise to the next player."),
        "basics.button_moves",
    )


def the_deal(rules: Values) -> Iterator[Ruled]:
    """Describe how the cards are dealt."""
    if rules["deal.kind"] == "face_up":
        yield Rule(
            _(
                "The house dealer deals one card at a time, face up, clockwise from the player at the left of the "
                "button, until each player has five cards. In the same order each player places the five face up in "
                "their rows. They may be split between the rows, with no more than three in the front."
            ),
            "deal.kind",
        )
        yield Rule(
            _(
                "Then the house dealer deals one card face down to each player in turn, again from the left of the "
                "button. The player places it face up in a row before the next player's card is dealt, until each "
                "player has 13 cards. A card that lies face up in a row is set and cannot be moved."
            ),
            "deal.kind",
        )
    else:
        yield Rule(
            _(
                "Each player is dealt 13 cards face down and sets them in rows face down. When every player has set, "
                "the rows are laid open."
            ),
            "deal.kind",
        )


def rankings(rules: Values) -> Iterator[Ruled]:
    """Describe what beats what."""
    yield Rule(
        _(
            "The back and the middle rank as in poker, from the highest hand to the lowest: %(hands)s.",
            hands=listed(category_name(name).lower() for name in reversed(CATEGORIES)),
        ),
        "basics.ranking",
    )
    straights = any(kind in ("three_straights", "three_flushes") for kind, _value in rules["naturals.kinds"])
    hands = listed(category_name(name).lower() for name in _IN_FRONT)
    yield Rule(
        _(
            "The front ranks, from the highest hand to the lowest: %(hands)s. Straights and flushes do not count in "
            "the front, except for the naturals three straights and three flushes.",
            hands=hands,
        )
        if straights
        else _(
            "The front ranks, from the highest hand to the lowest: %(hands)s. Straights and flushes do not count in "
            "the front.",
            hands=hands,
        ),
        "basics.front",
    )
    yield Rule(
        _(
            "Cards rank from the ace, the highest, down to the two. Of two hands of the same kind the one with the "
            "higher cards wins: first the cards that make the hand are compared, then the others from the highest "
            "down."
        ),
        "basics.kickers",
    )
    yield Rule(
        {
            "lowest": _(
                "An ace may also be low, in 5-4-3-2-A, which is the lowest straight. No straight goes past the ace."
            ),
            "second_highest": _(
                "An ace may also be low, in 5-4-3-2-A, which ranks as the second straight, below A-K-Q-J-10. No "
                "straight goes past the ace."
            ),
            "not_a_straight": _("The ace is never low: 5-4-3-2-A and A-2-3 are no straights."),
        }[rules["hands.wheel"]],
        "hands.wheel",
    )
    order = rules["foul.suit_tiebreak"]
    yield Rule(
        _("Suits never decide between players.")
        if order
        else _("Suits never decide, neither between players nor between the rows of one hand."),
        "basics.suits",
        *(() if order else ("foul.suit_tiebreak",)),
    )


def setting(rules: Values) -> Iterator[Ruled]:
    """Describe the required order of the rows, and what a foul is."""
    yield Rule(
        _(
            "The back must rank above the middle, and the middle above the front. A hand set otherwise is a foul as a "
            "whole, whichever row is wrong."
        ),
        "basics.order",
    )
    yield Rule(
        _("A middle that equals the back in rank is a foul.")
        if rules["foul.equal_rows"] == "foul"
        else _("A middle that equals the back in rank is allowed."),
        "foul.equal_rows",
    )
    if order := rules["foul.suit_tiebreak"]:
        suits = listed(say(SUITS[suit]) for suit in order)
        yield Rule(
            _(
                "Where both are the same straight, flush or straight flush, the suit of the highest card decides, from "
                "high to low: %(suits)s. The higher one must be in the back.",
                suits=suits,
            ),
            "foul.suit_tiebreak",
        )
    yield Rule(
        _(
            "The front is compared with the middle in the same way. Where its three cards equal the first three of the "
            "middle, the middle ranks higher: A-A-K in the front may stand before A-A-K-3-2."
        ),
        "basics.scale",
    )
    yield Rule(
        _(
            "A row with too many or too few cards, or with a card that cannot be read, is not a foul but an "
            "irregularity. Nothing is settled before the house has decided it."
        ),
        "basics.count",
    )


def surrender(rules: Values) -> Iterator[Ruled]:
    """Describe the cost of a surrender."""
    yield Rule(
        _(
            "Before the showdown a player may surrender. The hand is not compared with others, and the player pays "
            "%(points)s to each opponent who has not surrendered, whether that opponent has a natural or a regular "
            "hand.",
            points=points(rules["surrender.points"]),
        ),
        "surrender.points",
    )
    yield Rule(
        _("An opponent whose hand is a foul is paid, too.")
        if rules["surrender.pays_foul"]
        else _("An opponent whose hand is a foul is not paid."),
        "surrender.pays_foul",
    )
    yield Rule(_("Between two players who both surrender nothing is paid."), "basics.both_surrender")
