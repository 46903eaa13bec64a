"""The rules core of Chinese Poker: cards, strengths, naturals, profiles, settlement. Standard library only."""

from firmware.rules.cards import CARDS, RANKS, SUITS, UNREAD, Card, cards_text, parse_card, parse_cards
from firmware.rules.errors import HandError, ProfileError, RulesError, UnknownCardError, UnknownProfileError
from firmware.rules.exchange import hand_from_json, read_hand, settle_json, settlement_json
from firmware.rules.foul import Fault, foul
from firmware.rules.hand import SEATS, Hand, SeatHand
from firmware.rules.irregularities import Irregularity
from firmware.rules.judging import JudgedHand
from firmware.rules.library import load_chain, load_profile, parse_profile, profile_names, profile_toml
from firmware.rules.lines import Line
from firmware.rules.naturals import NATURAL_WORDS, Natural, RankedNatural, natural_finder
from firmware.rules.options import money_text
from firmware.rules.payment import Transfer, chips_plan
from firmware.rules.profile import Profile
from firmware.rules.rows import Rows
from firmware.rules.sections import OPTIONS
from firmware.rules.settlement import Pair, Settlement, settle
from firmware.rules.strength import CATEGORIES, Category, Scale, scale

__all__ = [
    "CARDS",
    "CATEGORIES",
    "NATURAL_WORDS",
    "OPTIONS",
    "RANKS",
    "SEATS",
    "SUITS",
    "UNREAD",
    "Card",
    "Category",
    "Fault",
    "Hand",
    "HandError",
    "Irregularity",
    "JudgedHand",
    "Line",
    "Natural",
    "Pair",
    "Profile",
    "ProfileError",
    "RankedNatural",
    "Rows",
    "RulesError",
    "Scale",
    "SeatHand",
    "Settlement",
    "Transfer",
    "UnknownCardError",
    "UnknownProfileError",
    "cards_text",
    "chips_plan",
    "foul",
    "hand_from_json",
    "load_chain",
    "load_profile",
    "money_text",
    "natural_finder",
    "parse_card",
    "parse_cards",
    "parse_profile",
    "profile_names",
    "profile_toml",
    "read_hand",
    "scale",
    "settle",
    "settle_json",
    "settlement_json",
]
