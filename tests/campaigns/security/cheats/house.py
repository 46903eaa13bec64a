"""What a floor person and a technician do with a PIN."""

from __future__ import annotations

from firmware.table import Phase
from tests.campaigns.security.cheats.registry import Outcome, cheat, quoted
from tests.campaigns.security.cheats.stage import FLOOR, SPARE, TECHNICIAN, Stage


@cheat("floor", "corrects a past hand to a friend's favour")
def correct_for_a_friend(stage: Stage) -> Outcome:
    stage.read()
    stage.pay()
    stage.close()
    stage.must("reopen", past=stage.hand, reason="a wrong card", **FLOOR)
    stage.must("set_card", seat=1, row="back", index=4, card=SPARE[0], **FLOOR)
    stage.until(lambda state: state.phase is Phase.SETTLED)
    stage.must("archive", **FLOOR)
    said = stage.said()
    return Outcome(
        quoted("between hands, where chips are owed", said),
        "`card_corrected` by name",
        stage.proves("hand_reopened") and stage.proves("card_corrected"),
    )


@cheat("floor", "annuls a past hand that a friend lost")
def annul_for_a_friend(stage: Stage) -> Outcome:
    stage.read()
    stage.pay()
    stage.close()
    hand = stage.hand
    stage.must("reopen", past=hand, reason="a wrong deal", **FLOOR)
    stage.must("void", reason="a wrong deal", **FLOOR)
    assert stage.hand == hand
    said = stage.said()
    return Outcome(
        quoted("between hands, where chips are owed", said),
        "`hand_reopened`, `hand_voided` by name",
        stage.proves("hand_reopened") and stage.proves("hand_voided"),
    )


@cheat("technician", "puts other points in force between two hands")
def other_points(stage: Stage) -> Outcome:
    stage.read()
    stage.pay()
    stage.close()
    before = stage.state.opened
    stage.must(
        "set_house",
        reason="tuning",
        profile="california-face-up",
        options={"deal.kind": "closed", "fantasyland.entry": {}, "fantasyland.stay": {}},
        **TECHNICIAN,
    )
    stage.read()
    now = stage.state.opened
    assert before
    assert now
    assert before.profile_hash != now.profile_hash
    told = [row.type for row in stage.reader.events_since(0, 100_000)].count("house_set")
    profile = stage.screen().profile
    proof = stage.proves("hand_opened")
    stage.must("set_house", reason="back", profile="washington-1-unit", **TECHNICIAN)
    return Outcome(
        quoted("with the next hand, the profile's name", profile),
        "`house_set` by name" if told else "",
        proof,
    )
