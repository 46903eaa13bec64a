"""The rules' own texts that the page shows, marked for the catalogues; a test asks for every one of them.

Titles and meanings of options, sections, and how the packaged profiles handle irregularities. `{}` of an amount is
`%(value)s` here.
"""

from __future__ import annotations

from typing import Final

from dealer_ui.i18n import N_

RULE_TEXTS: Final = (
    N_("The deal"),
    N_("Hands"),
    N_("Fouls"),
    N_("Scoring"),
    N_("Bonuses"),
    N_("Naturals"),
    N_("Surrender"),
    N_("Order of settlement"),
    N_("Table stakes"),
    N_("Limits"),
    N_("Fantasy Land"),
    N_("Collection"),
    N_("Irregularities"),
    N_("5-4-3-2-A"),
    N_("5-4-3-2-A is the lowest straight."),
    N_("5-4-3-2-A is the straight next below A-K-Q-J-10."),
    N_("5-4-3-2-A is no straight, nor is A-2-3 in a natural."),
    N_("Middle equal to back"),
    N_("A middle row equal to the back row is a foul."),
    N_("A middle row may equal the back row."),
    N_("Suits within a hand"),
    N_("Suits play no part."),
    N_("Penalty"),
    N_("A foul pays %(value)s points to each opponent."),
    N_("A foul pays no penalty of its own."),
    N_("Opponents' bonuses"),
    N_("A foul also pays each opponent's bonuses."),
    N_("A foul pays no bonuses."),
    N_("Against a natural"),
    N_("Against a natural, a foul pays the natural's value."),
    N_("Against a natural, a foul pays the penalty and the natural's value."),
    N_("Row"),
    N_("Each row won is %(value)s points."),
    N_("A row won is no point in itself."),
    N_("Majority"),
    N_("Who wins at least two rows has %(value)s points more."),
    N_("Nothing more for two rows."),
    N_("Scoop"),
    N_("Who wins all three rows has %(value)s points more."),
    N_("Nothing more for all three."),
    N_("Equal rows"),
    N_("An equal row is a push."),
    N_("An equal row is won by a player who holds the button; between two others it is a push."),
    N_("How bonuses pay"),
    N_("A hand that is no foul earns its bonuses whether or not it wins the row; both sides are netted."),
    N_(
        "A hand that is no foul earns its bonuses; where both hold one in the same row, only "
        "the stronger row's counts."
    ),
    N_("The winner of a row with a bonus hand in it earns the bonus in place of the row's point."),
    N_("There are no bonuses."),
    N_("Same category"),
    N_("A bonus that takes the row's place counts twice when the losing row is of the same category."),
    N_("A bonus counts once."),
    N_("Front"),
    N_("No bonuses."),
    N_("Middle"),
    N_("Back"),
    N_("Three straights, three flushes"),
    N_("Three straights and three flushes count when the 13 cards can be arranged so."),
    N_("Three straights and three flushes count when the rows are set so."),
    N_("Natural against natural"),
    N_("The higher kind collects its whole value; the same kind ties."),
    N_("The higher kind collects its whole value; kinds of equal value tie."),
    N_("Wrong order"),
    N_("A hand set in the wrong order cannot claim a natural."),
    N_("A natural that counts is no foul, however its rows lie."),
    N_("Declared without holding one"),
    N_("The hand plays as it is set."),
    N_("The hand is a foul."),
    N_("After a surrender"),
    N_("If anybody has surrendered, a false declaration plays as it is set."),
    N_("A surrender excuses no false declaration."),
    N_("Kinds, highest first"),
    N_("There are no naturals."),
    N_("Before the showdown a player may fold for %(value)s points to each opponent who has not."),
    N_("Not offered."),
    N_("First to settle"),
    N_("The player with the button."),
    N_("The next player clockwise from the button."),
    N_("The next player counterclockwise from the button."),
    N_("Then"),
    N_("Clockwise around the table."),
    N_("Counterclockwise around the table."),
    N_("Pairs with a natural are paid before all others."),
    N_("Naturals are paid in their turn."),
    N_("When a game opens"),
    N_("The button goes to the player at the left of the house dealer."),
    N_("The house says who has the button."),
    N_("Within a hand nobody's net falls below minus the stack or rises above it."),
    N_("Within a hand nobody pays out more than the stack, nor collects more."),
    N_("What is owed is paid, whatever lies on the table."),
    N_("Highest unit"),
    N_("At most %(value)s a point."),
    N_("No limit of its own."),
    N_("Buy-in"),
    N_("At least %(value)s times the table limit."),
    N_("No least amount."),
    N_("To be dealt in"),
    N_("At least %(value)s points' worth of chips."),
    N_("Any stack, however small."),
    N_("Re-buy and add-on"),
    N_("Between hands, up to %(value)s times the table limit."),
    N_("The house names the most."),
    N_("Deal"),
    N_("13 cards face down, set, then revealed."),
    N_("5 cards, then 8 times 1, placed face up; a placed card is set."),
    N_("Earned without a foul by"),
    N_("Kept without a foul by"),
    N_("A down"),
    N_("%(value)s minutes."),
    N_("There are no downs."),
    N_("Half the fee"),
    N_("Who joins at minute %(value)s or later pays half."),
    N_("Everybody pays all of it."),
    N_("Schedule options"),
    N_("No collection is taken by the down."),
    N_("Misdeal"),
    N_("Exposed card"),
    N_("Wrong number of cards"),
    N_("A card seen twice"),
    N_("A card that cannot be read"),
    N_("A set card that moves"),
    N_("The button"),
    N_("Anything else"),
    N_(
        "If a card is dealt to the wrong player or out of turn and the next player has not "
        "placed a card yet, it is put right. Otherwise the floor is called: the hand goes on "
        "if every player's cards can be told apart without doubt, or is void and pays nothing; "
        "the buttons stay."
    ),
    N_(
        "All cards are played face up, so an exposed card is placed like any other. A card of "
        "a Fantasy Land hand that is exposed before the showdown stays in that hand."
    ),
    N_(
        "A row with too few or too many cards is no foul. The dealer stops the settlement, "
        "counts all rows in front of the players and calls the floor. If the cards can be put "
        "right without doubt, the hand is settled; if not, it is void and pays nothing."
    ),
    N_(
        "If the same card is seen twice, nothing is settled. The dealer looks at both cards. "
        "If the deck holds the card twice, the hand is void and pays nothing, and the deck is "
        "taken out of play."
    ),
    N_(
        "A card that cannot be read is named by the dealer in front of the players, or "
        "confirmed by the floor. Nothing is settled before."
    ),
    N_(
        "A placed card is set. One that moves from its row afterwards is put back where the "
        "record shows it; the floor is called if a player disagrees."
    ),
    N_(
        "The action button and the dealer button stay together. If they are apart, or their "
        "seat cannot be told, the dealer says which player has them before the settlement. "
        "They move one seat clockwise after each round."
    ),
    N_(
        "Anything that these rules do not name is decided by the floor, whose decision and its "
        "reason are recorded with the hand."
    ),
    N_(
        "If the wrong number of cards is dealt, a card is dealt to the wrong player, or the "
        "deck is found to be short, the floor is called. Before any player has set a row the "
        "deal is void: all cards are collected, reshuffled and dealt again, and the button "
        "stays. After that the floor decides; a void hand pays nothing."
    ),
    N_(
        "A card that is exposed by the dealer before its player has looked at the hand is "
        "shown to all players and stays in that hand. A card that a player exposes plays. If "
        "more than one card of a hand is exposed in the deal, the deal is void."
    ),
    N_(
        "In a closed game rows may be changed until they are revealed. A card moved after that "
        "is put back where the record shows it."
    ),
    N_(
        "If the button is not at a seat or its seat cannot be told, the dealer says where it "
        "belongs before the settlement. It moves one seat clockwise after each hand."
    ),
)
