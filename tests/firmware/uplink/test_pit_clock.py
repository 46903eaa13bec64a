"""What the uplink knows of the pit's clock: never too old by more than an answer takes, and what is held up is old."""

from __future__ import annotations

from firmware.uplink.pit_clock import KEPT, PitClock

PIT_MS = 1_795_470_425_000


def heard(*requests: tuple[float, float, float]) -> PitClock:
    """A pit that answered: seconds when the table looked, when the pit answered by its own clock, when that came."""
    made = PitClock()
    for looked, answered, came in requests:
        made.hear(PIT_MS + round(1000 * answered), looked, came)
    return made


def test_nothing_is_known_before_the_first_answer_nor_of_a_pit_that_does_not_say() -> None:
    clock = PitClock()
    clock.hear(0, 5.0, 5.1)
    assert clock.at_ms(6.0) == 0


def test_the_pits_time_is_that_of_its_quickest_answer() -> None:
    clock = heard((10.0, 10.02, 10.04), (20.0, 38.0, 38.02), (40.0, 40.3, 40.5))
    assert clock.at_ms(50.0) == PIT_MS + 50_020


def test_a_request_that_was_held_up_does_not_make_the_next_ones_newer() -> None:
    clock = heard((10.0, 10.0, 10.0), (20.0, 38.0, 38.0))
    assert clock.at_ms(39.0) == PIT_MS + 39_000


def test_a_pit_whose_clock_is_set_forward_or_back_is_believed_again() -> None:
    forward = heard((10.0, 10.0, 10.0), (20.0, 3620.0, 20.1))
    assert forward.at_ms(21.0) == PIT_MS + 3_621_000
    back = heard((10.0, 10.0, 10.0), (20.0, -3580.0, 20.1))
    assert back.at_ms(21.0) == PIT_MS - 3_579_000


def test_clocks_that_drift_apart_are_followed() -> None:
    clock = heard(*((float(at), 1.001 * at, at + 0.01) for at in range(0, 10 * KEPT)))
    assert abs(clock.at_ms(3000.0) - (PIT_MS + 3_000_000 + 300)) < 50
