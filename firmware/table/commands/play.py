"""The commands beyond a closed hand's ordinary course: irregularities, keyed hands, and what happens between hands."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from firmware.table.commands.people import SignedCommand
from firmware.table.seen import Row

Reason = Annotated[str, Field(min_length=1, max_length=200)]
Player = Annotated[str, Field(min_length=1, max_length=40)]


class Resolve(SignedCommand):
    """What stands of an irregularity: the record, or what lies on the table."""

    do: Literal["resolve"] = "resolve"
    number: int
    stands: Literal["record", "table"]


class KeyHand(SignedCommand):
    """The camera is dead: the dealer keys this hand."""

    do: Literal["key_hand"] = "key_hand"
    reason: Reason


class PlaceCard(SignedCommand):
    """The next card of an open seat's row, keyed."""

    do: Literal["place_card"] = "place_card"
    seat: int
    row: Row
    card: str


class Misdeal(SignedCommand):
    """The deal was wrong; the hand settles nothing."""

    do: Literal["misdeal"] = "misdeal"
    reason: Reason


class CloseHand(SignedCommand):
    """Close a settled hand without opening the next. Payments still open: the players settled among themselves."""

    do: Literal["archive"] = "archive"


class UndoClose(SignedCommand):
    """The last hand was closed too soon: its payments go on where they were."""

    do: Literal["undo_close"] = "undo_close"


class BackToSetting(SignedCommand):
    """The showdown signal came too early."""

    do: Literal["back_to_setting"] = "back_to_setting"


class KeepButton(SignedCommand):
    """The button stays where the puck lies, though it should have moved."""

    do: Literal["keep_button"] = "keep_button"
    seat: int


class OpenHand(SignedCommand):
    """Open the next hand, whatever is still to be paid back."""

    do: Literal["open_hand"] = "open_hand"


class Reopen(SignedCommand):
    """Lay a past hand on the page again."""

    do: Literal["reopen"] = "reopen"
    past: int
    reason: Reason


class MarkPaidBack(SignedCommand):
    """What a reopened hand moved is paid back, or its mark is taken back."""

    do: Literal["mark_paid_back"] = "mark_paid_back"
    number: int
    paid: bool = True


class CountStack(SignedCommand):
    """A player's stack in cents, counted between hands."""

    do: Literal["count_stack"] = "count_stack"
    player: Player
    stack: int = Field(ge=0)
    reason: Reason


class Sit(SignedCommand):
    """A player sits out, or passes the next round; or does so no longer."""

    do: Literal["sit_out", "pass_round"]
    player: Player
    on: bool = True


class TwoHands(SignedCommand):
    """Two players play two hands each, or no longer."""

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
