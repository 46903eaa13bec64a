"""What is done to the puck, to the wires and to the clock."""

from __future__ import annotations

import time

from firmware.devices.puck.simulated import ACTION_TAG, DEALER_TAG
from firmware.runtime.liveness.presses import SEEN_S
from firmware.table import Phase
from tests.campaigns.security.cheats.registry import Outcome, cheat, quoted
from tests.campaigns.security.cheats.stage import TECHNICIAN, Stage

STRANGER = "04FFEEDDCCBB80"
DAY_MS = 86_400_000


def _puck(stage: Stage, state: str) -> Outcome:
    """Wait for what the puck reader says of it, while the hand is dealt."""
    stage.until(lambda now: now.puck.state == state)
    said = stage.said()
    stage.must("key_button", seat=1)
    stage.must("void", reason="the bench goes on")
    return Outcome(quoted("at once", said), "`puck_seen`", stage.proves("puck_seen"))


@cheat("player", "lays a copy of the dealer disk's tag at another seat")
def cloned_tag(stage: Stage) -> Outcome:
    stage.open()
    stage.table.puck.lay(DEALER_TAG, 4)
    return _puck(stage, "ambiguous")


@cheat("player", "lays the two disks at two seats")
def disks_apart(stage: Stage) -> Outcome:
    stage.open()
    stage.table.puck.take(ACTION_TAG)
    stage.table.puck.lay(ACTION_TAG, 4)
    return _puck(stage, "apart")


@cheat("player", "takes the puck away during the showdown")
def tag_lifted(stage: Stage) -> Outcome:
    stage.read()
    button = stage.state.button
    stage.table.puck.lift()
    stage.until(lambda state: state.puck.state == "none")
    assert stage.state.button == button
    assert stage.state.settlement is not None, "the hand goes on by the seat that was seen while it was dealt"
    return Outcome(quoted("at once", stage.said()), "`puck_seen`", stage.proves("puck_seen"))


@cheat("player", "lays a tag of their own at a seat")
def foreign_tag(stage: Stage) -> Outcome:
    seat = stage.open().puck.seat
    told = len(stage.rows("puck_seen"))
    stage.table.puck.lay(STRANGER, 4)
    swept = stage.table.puck.snapshots
    stage.until(lambda state: stage.table.puck.snapshots > swept + 5 and state.puck.seat == seat)
    told = len(stage.rows("puck_seen")) > told
    return Outcome(
        quoted("at once", stage.said()), "`puck_seen`" if told else "", told and stage.proves("puck_seen")
    )


@cheat("outsider", "shorts the white push-button's wire and leaves it so")
def shorted_wire(stage: Stage) -> Outcome:
    stage.open()
    stage.table.panel.push("next")
    stage.until(lambda state: "buttons" in state.faults)
    said, phase = stage.said(), stage.state.phase
    stage.table.panel.let_go("next")
    assert phase in (Phase.DEALING, Phase.SETTING), "a wire gives one press at most"
    return Outcome(quoted("after some seconds", said), "`device_fault`", stage.proves("device_fault"))


@cheat("outsider", "presses white while nobody is there, after the hand has settled")
def lonely_press(stage: Stage) -> Outcome:
    stage.read()
    time.sleep(2 * SEEN_S)  # a press that comes at once with the settlement does not count
    stage.table.panel.press("next")
    stage.until(lambda state: state.paid)
    row = stage.rows("payment_marked")[-1]
    assert row.actor == "button:Robin"
    return Outcome("", "`payment_marked` by push-button", stage.proves("payment_marked"))


@cheat("outsider", "sets the clock back by a day in the middle of a hand")
def clock_back(stage: Stage) -> Outcome:
    stage.read()
    stage.wall.ahead_ms = -DAY_MS
    stage.pay()
    stage.until(lambda state: "clock" in state.faults)
    said = stage.said()
    proof = stage.proves("device_fault")
    stage.wall.ahead_ms = 0
    return Outcome(quoted("within a minute", said), "`device_fault`, rows in their order", proof)


@cheat("technician", "sets the clock on the screen in the middle of a hand")
def clock_set_in_hand(stage: Stage) -> Outcome:
    stage.read()
    answer = stage.do("set_clock", date="2020-01-01", time="10:00", **TECHNICIAN)
    return Outcome("" if answer["ok"] else quoted("refused", str(answer["error"])), "", False)
