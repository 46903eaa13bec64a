"""The rules core of Chinese Poker: cards, strengths, naturals, profiles, settlement. Standard library only.

The names exported here settle hands. Rules between and during hands have their own modules: `seating`, `chips`,
`collection` and `growing`; `profiles.document` makes the house-rules document.
"""

from firmware.rules.cards import CARDS, RANKS, SUITS, UNREAD, Card, cards_text, parse_card, parse_cards
from firmware.rules.currency import DOLLARS, Currency, currency, money_text, paying_in
from firmware.rules.errors import (
    HandError,
    ProfileError,
    RulesError,
    Trouble,
    UnknownCardError,
    UnknownProfileError,
)
from firmware.rules.exchange import hand_from_json, read_hand, settle_json, settlement_json
from firmware.rules.fantasyland import earns_fantasyland, offers_fantasyland
from firmware.rules.foul import Fault, foul
from firmware.rules.hand import SEATS, Hand, SeatHand
from firmware.rules.irregularities import Irregularity
from firmware.rules.judging import (
    Declaration,
    FoulHand,
    JudgedHand,
    NaturalHand,
    RegularHand,
    SurrenderedHand,
)
from firmware.rules.lines import CLAUSES, Line
from firmware.rules.naturals.entry import NaturalEntry, RankedNatural
from firmware.rules.naturals.kinds import NATURAL_WORDS, Natural, natural_finder
from firmware.rules.order import positions
from firmware.rules.payment import Transfer, chips_plan
from firmware.rules.profiles.contradictions import Contradiction, contradictions
from firmware.rules.profiles.dealt_cards import LAID
from firmware.rules.profiles.library import (
    load_chain,
    load_profile,
    parse_profile,
    profile_names,
    recorded_profile,
    with_checked_options,
)
from firmware.rules.profiles.options import Rate
from firmware.rules.profiles.profile import Profile
from firmware.rules.profiles.sections import OPTIONS
from firmware.rules.profiles.writing import profile_toml
from firmware.rules.rows import ROW_SIZES, Rows
from firmware.rules.settlement import Pair, Settlement, settle
from firmware.rules.strength import CATEGORIES, Category, Scale, scale

__all__ = [
    "CARDS",
    "CATEGORIES",
    "CLAUSES",
    "DOLLARS",
    "LAID",
    "NATURAL_WORDS",
    "OPTIONS",
    "RANKS",
    "ROW_SIZES",
    "SEATS",
    "SUITS",
    "UNREAD",
    "Card",
    "Category",
    "Contradiction",
    "Currency",
    "Declaration",
    "Fault",
    "FoulHand",
    "Hand",
    "HandError",
    "Irregularity",
    "JudgedHand",
    "Line",
    "Natural",
    "NaturalEntry",
    "NaturalHand",
    "Pair",
    "Profile",
    "ProfileError",
    "RankedNatural",
    "Rate",
    "RegularHand",
    "Rows",
    "RulesError",
    "Scale",
    "SeatHand",
    "Settlement",
    "SurrenderedHand",
    "Transfer",
    "Trouble",
    "UnknownCardError",
    "UnknownProfileError",
    "cards_text",
    "chips_plan",
    "contradictions",
    "currency",
    "earns_fantasyland",
    "foul",
    "hand_from_json",
    "load_chain",
    "load_profile",
    "money_text",
    "natural_finder",
    "offers_fantasyland",
    "parse_card",
    "parse_cards",
    "parse_profile",
    "paying_in",
    "positions",
    "profile_names",
    "profile_toml",
    "read_hand",
    "recorded_profile",
    "scale",
    "settle",
    "settle_json",
    "settlement_json",
    "with_checked_options",
]
