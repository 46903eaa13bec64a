"""The rules' texts that the page shows, marked for the catalogues; a test requires every one of them.

They are: titles and meanings of options, titles of sections, and of the packaged profiles the irregularities, the notes
and the open questions of their documents. The `{}` of an amount is `%(value)s` here.
"""

from __future__ import annotations

from typing import Final

from dealer_ui.text.i18n import NP_

RULE_TEXTS: Final = (
    NP_("rules", "The deal"),
    NP_("rules", "Hands"),
    NP_("rules", "Fouls"),
    NP_("rules", "Scoring"),
    NP_("rules", "Bonuses"),
    NP_("rules", "Naturals"),
    NP_("rules", "Surrender"),
    NP_("rules", "Order of settlement"),
    NP_("rules", "Table stakes"),
    NP_("rules", "Limits"),
    NP_("rules", "Fantasy Land"),
    NP_("rules", "Collection"),
    NP_("rules", "Irregularities"),
    NP_("rules", "5-4-3-2-A"),
    NP_("rules", "5-4-3-2-A is the lowest straight."),
    NP_("rules", "5-4-3-2-A is the straight next below A-K-Q-J-10."),
    NP_("rules", "5-4-3-2-A is no straight, nor is A-2-3 in a natural."),
    NP_("rules", "Middle equal to back"),
    NP_("rules", "A middle row equal to the back row is a foul."),
    NP_("rules", "A middle row may equal the back row."),
    NP_("rules", "Suits within a hand"),
    NP_("rules", "Suits play no part."),
    NP_("rules", "Penalty"),
    NP_("rules", "A foul pays %(value)s points to each opponent."),
    NP_("rules", "A foul pays no penalty of its own."),
    NP_("rules", "Opponents' bonuses"),
    NP_("rules", "A foul also pays each opponent's bonuses."),
    NP_("rules", "A foul pays no bonuses."),
    NP_("rules", "Against a natural"),
    NP_("rules", "Against a natural, a foul pays the natural's value."),
    NP_("rules", "Against a natural, a foul pays the penalty and the natural's value."),
    NP_("rules", "Row"),
    NP_("rules", "Each row won is %(value)s points."),
    NP_("rules", "A row won is no point in itself."),
    NP_("rules", "Majority"),
    NP_("rules", "Who wins at least two rows has %(value)s points more."),
    NP_("rules", "Nothing more for two rows."),
    NP_("rules", "Scoop"),
    NP_("rules", "Who wins all three rows has %(value)s points more."),
    NP_("rules", "Nothing more for all three."),
    NP_("rules", "Equal rows"),
    NP_("rules", "An equal row is a push."),
    NP_("rules", "An equal row is won by a player who holds the button; between two others it is a push."),
    NP_("rules", "By the rows won"),
    NP_("rules", "The rows are summed."),
    NP_("rules", "How bonuses pay"),
    NP_(
        "rules",
        "A hand that is no foul earns its bonuses whether or not it wins the row; both sides are netted.",
    ),
    NP_(
        "rules",
        "A hand that is no foul earns its bonuses; where both hold one in the same row, only "
        "the stronger row's counts.",
    ),
    NP_("rules", "The winner of a row with a bonus hand in it earns the bonus in place of the row's point."),
    NP_("rules", "There are no bonuses."),
    NP_("rules", "Same category"),
    NP_(
        "rules",
        "A bonus that takes the row's place counts twice when the losing row is of the same category.",
    ),
    NP_("rules", "A bonus counts once."),
    NP_("rules", "Royal flush over straight flush"),
    NP_(
        "rules",
        "A royal flush that has no bonus of its own is of the straight flush's category, and doubles over one.",
    ),
    NP_("rules", "A royal flush is a category of its own, and does not double over a straight flush."),
    NP_("rules", "Front"),
    NP_("rules", "No bonuses."),
    NP_("rules", "Middle"),
    NP_("rules", "Back"),
    NP_("rules", "Three straights, three flushes"),
    NP_("rules", "Three straights and three flushes count when the 13 cards can be arranged so."),
    NP_("rules", "Three straights and three flushes count when the rows are set so."),
    NP_("rules", "Declaration"),
    NP_("rules", "A natural counts if it was declared and confirmed before rows are compared."),
    NP_("rules", "A natural counts as soon as the rows lie open, declared or not."),
    NP_("rules", "Natural against natural"),
    NP_("rules", "The higher kind collects its whole value; the same kind ties."),
    NP_("rules", "The higher kind collects its whole value; kinds of equal value tie."),
    NP_("rules", "Wrong order"),
    NP_("rules", "A hand set in the wrong order cannot claim a natural."),
    NP_("rules", "A natural that counts is no foul, however its rows lie."),
    NP_("rules", "A natural's own bonuses"),
    NP_("rules", "A natural also earns the bonuses of its own rows, from regular hands and from fouls."),
    NP_("rules", "A natural earns its value and no bonuses."),
    NP_("rules", "Opponents' bonuses against a natural"),
    NP_("rules", "A natural pays the bonuses of a regular hand."),
    NP_("rules", "A natural pays nobody's bonuses."),
    NP_("rules", "Declared without holding one"),
    NP_("rules", "The hand plays as it is set."),
    NP_("rules", "The hand is a foul."),
    NP_("rules", "After a surrender"),
    NP_("rules", "If an opponent had already surrendered, a false declaration plays as it is set."),
    NP_("rules", "A surrender excuses no false declaration."),
    NP_("rules", "Surrender or declaration first"),
    NP_("rules", "Where nobody knows which came first, the surrender counts as made before."),
    NP_("rules", "Where nobody knows which came first, the surrender counts as made after."),
    NP_("rules", "Kinds, highest first"),
    NP_("rules", "There are no naturals."),
    NP_("rules", "Before the showdown a player may fold for %(value)s points to each opponent who has not."),
    NP_("rules", "Not offered."),
    NP_("rules", "Surrender against a foul"),
    NP_("rules", "A surrender is paid to a foul, too."),
    NP_("rules", "A surrender is not paid to a foul: such a hand is no longer live."),
    NP_("rules", "First to settle"),
    NP_("rules", "The player with the button."),
    NP_("rules", "The next player clockwise from the button."),
    NP_("rules", "The next player counterclockwise from the button."),
    NP_("rules", "The player with the lowest seat number, wherever the button is."),
    NP_("rules", "Then"),
    NP_("rules", "Clockwise around the table."),
    NP_("rules", "Counterclockwise around the table."),
    NP_("rules", "Pairs with a natural are paid before all others."),
    NP_("rules", "Naturals are paid in their turn."),
    NP_("rules", "Several naturals that are paid first"),
    NP_("rules", "Their pairs are paid in the order of positions."),
    NP_("rules", "In the order of positions, each natural collects from everybody before the next one."),
    NP_("rules", "The highest natural collects from everybody first, then the next one."),
    NP_("rules", "When a game opens"),
    NP_("rules", "The button goes to the player at the left of the house dealer."),
    NP_("rules", "The house says who has the button."),
    NP_("rules", "Within a hand nobody's net falls below minus the stack or rises above it."),
    NP_("rules", "Within a hand nobody pays out more than the stack, nor collects more."),
    NP_("rules", "What is owed is paid, whatever lies on the table."),
    NP_("rules", "Highest unit"),
    NP_("rules", "At most %(value)s a point."),
    NP_("rules", "No limit of its own."),
    NP_("rules", "Buy-in"),
    NP_("rules", "At least %(value)s times the table limit."),
    NP_("rules", "No least amount."),
    NP_("rules", "To be dealt in"),
    NP_("rules", "At least %(value)s points' worth of chips."),
    NP_("rules", "Any stack, however small."),
    NP_("rules", "Re-buy and add-on"),
    NP_("rules", "Between hands, up to %(value)s times the table limit."),
    NP_("rules", "The house names the most."),
    NP_("rules", "Deal"),
    NP_("rules", "13 cards face down, set, then revealed."),
    NP_("rules", "5 cards, then 8 times 1, placed face up; a placed card is set."),
    NP_("rules", "Earned without a foul by"),
    NP_("rules", "Kept without a foul by"),
    NP_("rules", "A player with two hands"),
    NP_("rules", "Both hands of the player are Fantasy Land hands next."),
    NP_("rules", "Only the hand that earned it is a Fantasy Land hand next."),
    NP_("rules", "A down"),
    NP_("rules", "%(value)s minutes."),
    NP_("rules", "There are no downs."),
    NP_("rules", "Half the fee"),
    NP_("rules", "Who joins at minute %(value)s or later pays half."),
    NP_("rules", "Everybody pays all of it."),
    NP_("rules", "Schedule options"),
    NP_("rules", "No collection is taken by the down."),
    NP_("rules", "Misdeal"),
    NP_("rules", "Exposed card"),
    NP_("rules", "Wrong number of cards"),
    NP_("rules", "A card seen twice"),
    NP_("rules", "A card that cannot be read"),
    NP_("rules", "A set card that moves"),
    NP_("rules", "The button"),
    NP_("rules", "Anything else"),
    NP_(
        "rules",
        "If a card is dealt to the wrong player or out of turn and the next player has not "
        "placed a card yet, it is put right. Otherwise the floor is called: the hand goes on "
        "if every player's cards can be told apart without doubt, or is void and pays nothing; "
        "the buttons stay.",
    ),
    NP_(
        "rules",
        "All cards are played face up, so an exposed card is placed like any other. A card of "
        "a Fantasy Land hand that is exposed before the showdown stays in that hand.",
    ),
    NP_(
        "rules",
        "A row with too few or too many cards is no foul. The dealer stops the settlement, "
        "counts all rows in front of the players and calls the floor. If the cards can be put "
        "right without doubt, the hand is settled; if not, it is void and pays nothing.",
    ),
    NP_(
        "rules",
        "If the same card is seen twice, nothing is settled. The dealer looks at both cards. "
        "If the deck holds the card twice, the hand is void and pays nothing, and the deck is "
        "taken out of play.",
    ),
    NP_(
        "rules",
        "A card that cannot be read is named by the dealer in front of the players, or "
        "confirmed by the floor. Nothing is settled before.",
    ),
    NP_(
        "rules",
        "A placed card is set. One that moves from its row afterwards is put back where the "
        "record shows it; the floor is called if a player disagrees.",
    ),
    NP_(
        "rules",
        "The action button and the dealer button stay together. If they are apart, or their "
        "seat cannot be told, the dealer says which player has them before the settlement. "
        "They move one seat clockwise after each round.",
    ),
    NP_(
        "rules",
        "Anything that these rules do not name is decided by the floor, whose decision and its "
        "reason are recorded with the hand.",
    ),
    NP_(
        "rules",
        "If the wrong number of cards is dealt, a card is dealt to the wrong player, or the "
        "deck is found to be short, the floor is called. Before any player has set a row the "
        "deal is void: all cards are collected, reshuffled and dealt again, and the button "
        "stays. After that the floor decides; a void hand pays nothing.",
    ),
    NP_(
        "rules",
        "A card that is exposed by the dealer before its player has looked at the hand is "
        "shown to all players and stays in that hand. A card that a player exposes plays. If "
        "more than one card of a hand is exposed in the deal, the deal is void.",
    ),
    NP_(
        "rules",
        "In a closed game rows may be changed until they are revealed. A card moved after that "
        "is put back where the record shows it.",
    ),
    NP_(
        "rules",
        "If the button is not at a seat or its seat cannot be told, the dealer says where it "
        "belongs before the settlement. It moves one seat clockwise after each hand.",
    ),
    NP_(
        "rules",
        "The document's example, \"two points for two segments and ten points for the four"
        ' of a kind in the back", contradicts its own table, which says 8 (10 is its '
        "straight flush), and leaves out the lost segment. The table holds.",
    ),
    NP_(
        "rules",
        "The document speaks of an action button and a dealer button, which stay with the"
        " same player at all times: both are the button here.",
    ),
    NP_(
        "rules",
        "The document charges the whole fee to who enters before the 20-minute mark and half to who enters after"
        " it, and does not name the mark itself: half is charged there.",
    ),
    NP_(
        "rules",
        "The document says both that naturals of the same value are pushed and that the "
        "higher ranking collects.",
    ),
    NP_(
        "rules",
        "The document has naturals paid from the player with the buttons clockwise, and "
        'has "the player" collect the value first; where stacks are short it matters '
        "whether that goes by pairs, by each natural's turn, or by the higher natural.",
    ),
    NP_(
        "rules",
        '"That player receives all 13 cards" does not say what becomes of a player\'s second hand.',
    ),
    NP_(
        "rules",
        '"Must pay a penalty to each player" and "additionally … if there is a Clean '
        'Sweep hand" is read as the penalty and the value.',
    ),
    NP_(
        "rules",
        'Two suit symbols are missing in the document\'s "Suits rank as follows". Spades, '
        "hearts, clubs, diamonds is the order that fits the two it shows.",
    ),
    NP_(
        "rules",
        'The document\'s "13 Colors" and "12 Colors" are, in its own words, cards of one suit.',
    ),
    NP_(
        "rules",
        '"Straights in front, middle, and back" may be read of the 13 cards, which can be'
        " arranged so, or of the rows as they were set.",
    ),
    NP_(
        "rules",
        'A wrong arrangement pays "a penalty to each opponent"; whether that is paid '
        "beside a natural's value is not said.",
    ),
    NP_(
        "rules",
        '"Color" is red or black: the document\'s dragon ranks above its "13 Colors", and '
        "thirteen cards of one suit would always be a dragon too, so that the row would "
        "mean nothing.",
    ),
    NP_(
        "rules",
        'The first is the player to the immediate right of the puck, "and so on around '
        'the table": clockwise, or on to the right.',
    ),
    NP_(
        "rules",
        'A surrender excuses where it was made "already"; what holds where nobody knows '
        "which came first is not said.",
    ),
    NP_(
        "rules",
        "The document's table ends at the straight flush; whether a royal flush is \"of "
        'the same type" as one is not said.',
    ),
    NP_(
        "rules",
        'The bottom hand "must rank the highest" speaks against a middle hand that equals'
        ' it; the list of fouls, "a middle hand stronger than a bottom hand", does not '
        "name one.",
    ),
    NP_(
        "rules",
        '"Any three straights, three flushes" may be read of the 13 cards, which can be '
        "arranged so, or of the rows as they were set.",
    ),
    NP_(
        "rules",
        'Other players pay whoever "achieved a hand that qualified for a bonus payment"; '
        "whether a natural's rows are among them is not said.",
    ),
    NP_(
        "rules",
        '"Other players at the table would pay the bonus payments"; whether a player with'
        " a natural is among them is not said.",
    ),
    NP_(
        "rules",
        "The document compares players 1 to 4 and does not say who is player 1: by the "
        "button, or by seat number.",
    ),
    NP_(
        "rules",
        'A surrender pays "all remaining live players"; whether a fouled hand is live is not said.',
    ),
    NP_("rules", 'A surrender pays "a set amount"; how much is not said.'),
    NP_("rules", '"A typical payment for a natural is 3 units": the house may set another one.'),
    NP_("rules", '"Typical bonus payments include the following": the house may pay other ones.'),
    NP_("rules", 'A wrong arrangement pays "a penalty to each opponent"; how much is not said.'),
    NP_(
        "rules",
        'A fouled hand "automatically loses"; how much is not said. Four points are the three rows and the'
        " overall point.",
    ),
)
