"""The dealer's call for a floor person, and whether the pit has it. If it does not, the page says to call aloud."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final

from dealer_ui.text.i18n import gettext as _
from dealer_ui.view.screen import Action, Alert, Group
from firmware.table.offers import Offers
from firmware.table.state import State

SENDING_S: Final = 5.0
"""Seconds after which a call counts as not received; the pit usually has it within half a second."""

PitNews = Callable[[], Mapping[str, Any] | None]
"""Returns the uplink's status (`firmware.uplink.status_file.read_status`), None if the table sends to no pit."""


class CallState(StrEnum):
    """Whether the pit has the call. `none`: this table sends to no pit, and offers no call."""

    NONE = "none"
    SENDING = "sending"
    HEARD = "heard"
    UNHEARD = "unheard"


class CallClock:
    """Follows whether the pit has the row of the call that is open."""

    def __init__(self, pit: PitNews) -> None:
        self._pit = pit
        self._called: tuple[int, float] | None = None
        self._heard = False

    def at(self, state: State, seq: int, now_s: float) -> CallState:
        """Return the state of the call; `seq` is the record's last row, `now_s` the monotonic clock.

        If the call is older than this process, its row is not known: the pit must then have the row that was the last
        one at the first check.
        """
        pit = self._pit()
        if not state.floor_called:
            self._called, self._heard = None, False
            return CallState.NONE if pit is None else CallState.SENDING
        called, since = self._called = self._called or (seq, now_s)
        self._heard = self._heard or (pit is not None and int(pit["have"]) >= called)
        if self._heard:
            return CallState.HEARD
        return CallState.SENDING if pit is not None and now_s - since < SENDING_S else CallState.UNHEARD


def call_groups(call_state: CallState, may: Offers) -> tuple[Group, ...]:
    """Return the actions that call a floor person or end the call."""
    if ends := may.of("end_floor_call"):
        here, back = ends
        return (Group(_("The floor is called"), (Action.of(here), Action.of(back, tone="quiet"))),)
    calls = may.of("call_floor") if call_state is not CallState.NONE else ()
    return (Group(_("The floor"), tuple(map(Action.of, calls))),) if calls else ()


def with_call(found: Alert | None, state: State, call_state: CallState) -> Alert | None:
    """Return the line over the felt, with the call if one is open; a call that the pit does not have comes first."""
    if not state.floor_called:
        return found
    if found is not None:
        call = with_call(None, state, call_state)
        assert call is not None
        if call_state in (CallState.SENDING, CallState.HEARD):
            return replace(found, others=(*found.others, call))
        return replace(call, others=(replace(found, others=()), *found.others))
    words = {
        CallState.SENDING: _("The call is on its way."),
        CallState.HEARD: _("The pit has the call."),
    }.get(call_state, _("The pit has not got the call. Call aloud."))
    return Alert(_("The floor is called"), words)
