from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.app.lights import lights
from firmware.devices.panel import Light
from firmware.rules import CARDS
from firmware.table import INITIAL, Card, Phase, Seat


@pytest.mark.parametrize("phase", list(Phase))
def test_white_is_lit_exactly_where_it_goes_on(phase: Phase) -> None:
    waits = {Phase.SHOWDOWN, Phase.READING, Phase.REVIEW}
    assert ("next" in lights(replace(INITIAL, phase=phase), trouble=False)) == (phase not in waits)


def test_green_blinks_while_a_natural_waits_and_nothing_else_is_open() -> None:
    deck = [Card(card.code, sure=True) for card in CARDS]
    shown = Seat(1, "p1", "A", front=tuple(deck[:3]), middle=tuple(deck[3:8]), back=tuple(deck[8:13]))
    waiting = replace(INITIAL, phase=Phase.REVIEW, button=1, seats=(replace(shown, declares=True),))
    assert lights(waiting, trouble=False)["confirm"] is Light.BLINK
    assert lights(waiting, trouble=False)["reject"] is Light.ON
    for other in (
        replace(waiting, button=None),
        replace(waiting, seats=(replace(shown, declares=True, front=()),)),
        replace(waiting, seats=(replace(shown, declares=True, confirmed=True),)),
        replace(waiting, seats=(shown,)),
    ):
        assert "confirm" not in lights(other, trouble=False)


def test_trouble_is_red_and_takes_the_ready_lamp_away() -> None:
    assert lights(INITIAL, trouble=True).get("fault") is Light.ON
    assert "ready" not in lights(INITIAL, trouble=True)
    assert "fault" not in lights(INITIAL, trouble=False)
