"""Human errors at the table, and waiting times: assumed shares of the occasions."""

from __future__ import annotations

from typing import Final

PUCK_FORGOTTEN: Final = 0.04
PUCK_MISLAID: Final = 0.02
VOIDED: Final = 0.004
"""Shares of the turns in which the dealer voids the hand, by phase."""
ANSWERED_WRONGLY: Final = 0.03
NOTICED: Final = 0.9
"""The share of wrong cards in a settlement that someone notices before the hand is archived."""
CORRECTED_WRONGLY: Final = 0.01
LOOKED_AGAIN: Final = 0.03
UNCONFIRMED: Final = 0.1
PAID_ONE_BY_ONE: Final = 0.1
PRESSED_TWICE: Final = 0.03
PRESSED_UNLIT: Final = 0.02
TOUCHED_STALE: Final = 0.02
MISDECLARED: Final = 0.01
CLOSED: Final = 0.1
"""The share of hands after which the dealer closes the hand without opening the next."""
SITS_OUT: Final = 0.4
COUNTED: Final = 0.2
"""In that case, the shares in which a player sits out or comes back, and in which chips are counted."""
KEYED: Final = 0.2
WAITS: Final = 12
"""Polls of a street that is not on record, or of a reading that awaits cards, after which the dealer acts."""
HOLD: Final = 1.4
STUCK_AFTER: Final = 250
"""Actions in one hand after which it counts as lost: it cannot be ended."""
BLANK_AFTER: Final = 100
"""Polls of a review without a question after which it counts as lost: no fault lasts so long."""
