"""The less common commands: irregularities, keyed hands, reopened hands, and play between hands."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from firmware.table.commands.people import SignedCommand
from firmware.table.seen import Row

Reason = Annotated[str, Field(min_length=1, max_length=200)]
Player = Annotated[str, Field(min_length=1, max_length=40)]


class Resolve(SignedCommand):
    """Resolve an irregularity: the record is right, or the table is."""

    do: Literal["resolve"] = "resolve"
    number: int
    stands: Literal["record", "table"]


class KeyHand(SignedCommand):
    """Switch to keying this hand, because the camera does not work."""

    do: Literal["key_hand"] = "key_hand"
    reason: Reason


class PlaceCard(SignedCommand):
    """Key the next card of an open seat's row."""

    do: Literal["place_card"] = "place_card"
    seat: int
    row: Row
    card: str


class Misdeal(SignedCommand):
    """Call a misdeal; the hand settles nothing."""

    do: Literal["misdeal"] = "misdeal"
    reason: Reason


class CloseHand(SignedCommand):
    """Close a settled hand without opening the next. The players settle open payments among themselves."""

    do: Literal["archive"] = "archive"


class UndoClose(SignedCommand):
    """Undo the last hand's closing; its payments continue where they were."""

    do: Literal["undo_close"] = "undo_close"


class BackToSetting(SignedCommand):
    """Go back to setting, because the showdown was signalled too early."""

    do: Literal["back_to_setting"] = "back_to_setting"


class KeepButton(SignedCommand):
    """Keep the button where the puck lies, although it should have moved."""

    do: Literal["keep_button"] = "keep_button"
    seat: int


class OpenHand(SignedCommand):
    """Open the next hand even if paybacks are open."""

    do: Literal["open_hand"] = "open_hand"


class Reopen(SignedCommand):
    """Reopen a past hand for correction."""

    do: Literal["reopen"] = "reopen"
    past: int
    reason: Reason


class MarkPaidBack(SignedCommand):
    """Mark a payback as made, or take the mark back."""

    do: Literal["mark_paid_back"] = "mark_paid_back"
    number: int
    paid: bool = True


class CountStack(SignedCommand):
    """Set a player's stack in cents, as counted between hands."""

    do: Literal["count_stack"] = "count_stack"
    player: Player
    stack: int = Field(ge=0)
    reason: Reason


class Sit(SignedCommand):
    """Set whether a player sits out or passes the next round."""

    do: Literal["sit_out", "pass_round"]
    player: Player
    on: bool = True


class TwoHands(SignedCommand):
    """Set whether two players play two hands each."""

    do: Literal["two_hands"] = "two_hands"
    on: bool = True


PlayCommand = (
    Resolve
    | KeyHand
    | PlaceCard
    | Misdeal
    | CloseHand
    | UndoClose
    | OpenHand
    | BackToSetting
    | KeepButton
    | Reopen
    | MarkPaidBack
    | CountStack
    | Sit
    | TwoHands
)
