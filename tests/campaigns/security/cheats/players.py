"""What players do with cards, and with pictures of cards."""

from __future__ import annotations

import numpy as np

from firmware.table import Phase
from tests.campaigns.security.cheats.registry import Outcome, cheat, quoted
from tests.campaigns.security.cheats.stage import SPARE, Stage, changed, over
from vision.base.arrays import Image

COMPARED = "cards_compared"


def _told(stage: Stage, when: str) -> Outcome:
    """What a later reading of the table showed."""
    seen = stage.said() if stage.state.changed else ""
    row = next(iter(reversed(stage.rows(COMPARED))), None)
    told = f"`{COMPARED}`" if row and ('"was"' in row.payload or '"why"' in row.payload) else ""
    return Outcome(quoted(when, seen), told, bool(told) and stage.proves(COMPARED))


@cheat("player", "changes a card after the reading, before the payment")
def swap_before_payment(stage: Stage) -> Outcome:
    lies = stage.read()
    stage.lay(changed(lies, "A", "back", SPARE[0]))
    stage.pay()
    return _told(stage, "when the payment is marked")


@cheat("player", "changes a card while the dealer is asked something")
def swap_during_question(stage: Stage) -> Outcome:
    lies = stage.read(declares=(1,))
    assert stage.state.phase is Phase.REVIEW
    stage.lay(changed(lies, "A", "back", SPARE[0]))
    stage.must("confirm")
    stage.until(lambda state: state.changed)
    return _told(stage, "when the hand settles")


@cheat("player", "changes a card after the last payment")
def swap_after_payment(stage: Stage) -> Outcome:
    lies = stage.read()
    stage.pay()
    before = len(stage.rows(COMPARED))
    stage.lay(changed(lies, "A", "back", SPARE[0]))
    stage.close()
    told = len(stage.rows(COMPARED)) > before
    return Outcome("", f"`{COMPARED}`" if told else "", told and stage.proves(COMPARED))


@cheat("player", "exchanges the back rows of two seats after the reading")
def exchange_rows(stage: Stage) -> Outcome:
    lies = stage.read()
    other = changed(changed(lies, "A", "back", *lies["B"]["back"]), "B", "back", *lies["A"]["back"])
    stage.lay(other)
    stage.pay()
    assert len(stage.state.changed) == 2
    return _told(stage, "when the payment is marked")


@cheat("player", "has the dealer read again, with another card on the table than the first time")
def swap_and_read_again(stage: Stage) -> Outcome:
    lies = stage.read()
    stage.lay(changed(lies, "A", "back", SPARE[0]))
    settled = stage.state.settlements
    stage.must("look_again")
    stage.until(lambda state: state.settlements > settled)
    return _told(stage, "with the second reading")


@cheat(
    "player", "holds a hand over the cards, changes one below it, and leaves the hand there until all is paid"
)
def hand_over_camera(stage: Stage) -> Outcome:
    lies = stage.read()
    stage.lay(changed(lies, "A", "back", SPARE[0]), (over("A", "back", "hand"),))
    stage.pay()
    return _told(stage, "")


@cheat("player", "holds a hand over the cards during the reading")
def hand_over_reading(stage: Stage) -> Outcome:
    stage.open()
    stage.must("next")
    stage.lay(stage.deal(), (over("A", "back", "hand"),))
    stage.must("next")
    stage.until(lambda state: state.awaited or state.phase in (Phase.REVIEW, Phase.SETTLED))
    screen = stage.screen()
    said = screen.awaits.title if screen.awaits else stage.said()
    kind = "cards_awaited" if stage.rows("cards_awaited") else "reading_failed"
    return Outcome(quoted("at once", said), f"`{kind}`", stage.proves(kind))


def _shown(stage: Stage, frame: Image) -> None:
    """Play a hand in which the camera is shown this picture."""
    stage.open()
    stage.must("next")
    stage.show(frame)
    stage.must("next")
    stage.until(lambda state: state.phase in (Phase.REVIEW, Phase.SETTLED))


def _questioned(stage: Stage, when: str = "with the reading") -> Outcome:
    """What a reading told that could not settle."""
    asked = stage.state.phase is Phase.REVIEW
    kind = "reading_failed" if stage.rows("reading_failed") else "reading_taken"
    reason = str(stage.state.reading_failure)
    seen = quoted(when, reason or stage.said()) if asked else ""
    return Outcome(seen, f"`{kind}`" if asked else "", asked and stage.proves(kind))


@cheat("player", "lays down a printed copy of one of the felt's markers")
def printed_marker(stage: Stage) -> Outcome:
    deal = stage.deal()
    frame = stage.frame(deal).copy()
    height, width = frame.shape[:2]
    corner = frame[: height // 6, : width // 8].copy()
    frame[height // 2 : height // 2 + corner.shape[0], width // 2 : width // 2 + corner.shape[1]] = corner
    _shown(stage, frame)
    return _questioned(stage)


@cheat("player", "lays a printed copy of a card that another seat holds, before the reading")
def duplicate_card(stage: Stage) -> Outcome:
    deal = stage.deal()
    stage.read(changed(deal, "A", "back", deal["B"]["back"][-1]))
    return _questioned(stage)


@cheat("player", "lays a printed card that nobody was dealt, before the reading")
def printed_card(stage: Stage) -> Outcome:
    stage.read(changed(stage.deal(), "A", "back", SPARE[1]))
    return _questioned(stage)


@cheat("player", "lays a card too many")
def card_too_many(stage: Stage) -> Outcome:
    stage.read(stage.deal(), (over("A", "front", SPARE[0], x=95.0),))
    return _questioned(stage)


@cheat("player", "shows the camera the table in a mirror")
def mirror(stage: Stage) -> Outcome:
    _shown(stage, np.ascontiguousarray(stage.frame(stage.deal())[:, ::-1]))
    return _questioned(stage)


@cheat("player", "holds a photograph of the last hand before the camera")
def replayed_picture(stage: Stage) -> Outcome:
    lies = stage.read()
    picture = stage.frame(lies)
    stage.pay()
    stage.close()
    _shown(stage, picture)
    return _questioned(stage)


@cheat("player", "holds a photograph of another deal, made for it, before the camera all the time")
def still_picture(stage: Stage) -> Outcome:
    _shown(stage, stage.frame(stage.deal()))
    stage.pay()
    return Outcome(quoted("", stage.said()), "", False)
