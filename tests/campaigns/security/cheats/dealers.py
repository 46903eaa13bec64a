"""What a dealer does on the screen to a friend's favour."""

from __future__ import annotations

from firmware.table import Phase
from tests.campaigns.security.cheats.registry import Outcome, cheat, quoted
from tests.campaigns.security.cheats.stage import SPARE, Stage, changed


@cheat("dealer", "keys another card than the one that the camera surely read")
def key_other_card(stage: Stage) -> Outcome:
    stage.read()
    stage.must("set_card", seat=1, row="back", index=4, card=SPARE[0])
    stage.until(lambda state: state.phase is Phase.SETTLED)
    return Outcome("", "`card_corrected`", stage.proves("card_corrected"))


@cheat("dealer", "keys a whole row otherwise than the camera read it")
def key_other_row(stage: Stage) -> Outcome:
    lies = stage.read()
    cards = changed(lies, "A", "back", SPARE[0])["A"]["back"]
    stage.must("key_row", seat=1, row="back", cards=" ".join(cards))
    stage.until(lambda state: state.changed)
    said = stage.said()
    return Outcome(quoted("when the hand settles again", said), "`row_keyed`", stage.proves("cards_compared"))


@cheat("dealer", "keys a row so that a declared natural is one, and confirms it")
def false_natural(stage: Stage) -> Outcome:
    lies = stage.read(declares=(2,))
    cards = changed(lies, "B", "back", SPARE[0])["B"]["back"]
    stage.must("key_row", seat=2, row="back", cards=" ".join(cards))
    stage.must("confirm")
    stage.until(lambda state: state.changed)
    said = stage.said()
    return Outcome(
        quoted("when the hand settles", said), "`natural_confirmed`", stage.proves("cards_compared")
    )


@cheat("dealer", "confirms a natural that is none")
def confirm_no_natural(stage: Stage) -> Outcome:
    stage.read(declares=(1,))
    said = stage.said()
    stage.must("confirm")
    state = stage.until(lambda state: state.phase is Phase.SETTLED)
    hand = next(hand for hand in (state.settlement or {})["hands"] if hand["seat"] == 1)
    assert hand["natural"] is None, "green accepts the verdict that is shown: the rules decide"
    return Outcome(quoted("before green", said), "`natural_confirmed`", stage.proves("natural_confirmed"))


@cheat("dealer", "moves the puck to a friend's seat on the screen")
def key_the_puck(stage: Stage) -> Outcome:
    stage.read()
    stage.must("key_button", seat=2)
    stage.until(lambda state: state.phase is Phase.SETTLED and state.button == 2)
    return Outcome("", "`button_keyed`", stage.proves("button_keyed"))


@cheat("dealer", "voids a hand after a result that a friend loses by")
def void_bad_result(stage: Stage) -> Outcome:
    stage.read()
    stage.must("void", reason="cards were exposed")
    return Outcome(
        "", "`hand_voided`, after `settled`", stage.proves("hand_voided") and stage.proves("settled")
    )


@cheat("dealer", "marks a payment that nobody made")
def mark_unpaid(stage: Stage) -> Outcome:
    stage.read()
    stage.pay()
    return Outcome("", "", False)


@cheat("dealer", "closes the hand before the camera has looked again, or with payments unmarked")
def close_unpaid(stage: Stage) -> Outcome:
    stage.read()
    stage.close()
    row = stage.rows("cards_compared")[-1]
    assert "before its payments" in row.payload
    return Outcome("", "`cards_compared`: why not", stage.proves("cards_compared"))
