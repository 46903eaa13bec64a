"""The states of naturals that are more than a value: with bonuses, found undeclared, void by a foul, not verified."""

from __future__ import annotations

from typing import Final

from tests.browser.state import State
from tests.dealer_ui.felt import HANDS, SIX_PAIRS, SIX_PAIRS_DEALT, Felt

FLUSHES_DEALT: Final = {
    1: ("2s 5s 9s", "3h 6h 9h Jh Kh", "4d 7d Td Qd Ad"),
    2: ("8c 7c 4s", "2h 2d Jd 9c 6s", "3d 3s 4h 5d 5h"),
    3: ("2c 3c 4c", "5c 6d 7h 8s 9d", "Tc Js Qh Ks As"),
    4: ("Ac Kc 8d", "Qc Qs Th 6c 7s", "Ah Kd Jc Ts 8h"),
}
"""Seat 1 has three flushes with bonuses of 12 points."""
WASHINGTON: Final = {"profile": "washington-1-unit", "options": {}}


def flushes_waiting(felt: Felt) -> None:
    """Three flushes were declared and wait for green: worth 3 and their bonuses."""
    felt.to_natural(hands=FLUSHES_DEALT)


def flushes_settled(felt: Felt) -> None:
    """Green was pressed."""
    flushes_waiting(felt)
    felt.do("confirm", seat=1)


def found(felt: Felt) -> None:
    """Seat 1 holds six pairs that nobody declared: they count once the dealer has looked."""
    felt.hands = dict(SIX_PAIRS_DEALT)
    felt.to_settled()


def found_settled(felt: Felt) -> None:
    """Green was pressed."""
    found(felt)
    felt.do("confirm", seat=1)


def voided(felt: Felt) -> None:
    """Seat 1 declared six pairs and set its middle above its back."""
    front, middle, back = SIX_PAIRS
    felt.to_natural(hands={**SIX_PAIRS_DEALT, 1: (front, back, middle)})
    felt.do("confirm", seat=1)


def not_verified(felt: Felt) -> None:
    """Seat 2 declared a natural and has none; the dealer has seen it, and the hand plays as it is set."""
    felt.to_natural(2, HANDS)
    felt.do("confirm", seat=2)


NATURALS: Final = (
    State("natural with bonuses waiting", flushes_waiting),
    State("natural with bonuses settled", flushes_settled),
    State("natural found undeclared", found, table=WASHINGTON),
    State("natural found undeclared settled", found_settled, table=WASHINGTON),
    State("natural void by a foul", voided),
    State("natural not verified settled", not_verified),
)
