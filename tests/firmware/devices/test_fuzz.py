"""A share of `make fuzz`: damaged frames never raise and never name a wrong seat."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from firmware.devices.puck.protocol import PuckLine, encode
from tests.firmware.devices import fuzz

FRAMES = 20_000


@pytest.mark.slow
@pytest.mark.parametrize("parser", fuzz.PARSERS)
def test_damaged_frames_never_raise_and_never_name_a_wrong_seat(parser: Callable[..., fuzz.Frames]) -> None:
    sends = parser(random.Random(20260))
    for _ in range(FRAMES):
        next(sends)


def test_what_is_sent_is_damaged_and_yet_often_understood() -> None:
    """A flood that no parser can make sense of would prove nothing."""
    rng = random.Random(3)
    line = PuckLine(fuzz.DISKS, fuzz.SEATS)
    line.opened(0.0)
    hello = encode("HELLO", "puckd", "1", "00")
    kept = [line.feed(fuzz.damaged(hello, rng) + b"\n", 0.0) for _ in range(2000)]
    assert 0 < sum(kept) < 1000


def test_a_parser_that_fails_is_told_with_its_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(rng: random.Random) -> fuzz.Frames:
        yield
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(fuzz, "PARSERS", (broken,))
    result = CliRunner().invoke(fuzz.command, ["--frames", "5"])
    assert result.exit_code == 1
    assert "broken: frame 2 of seed 1" in result.output


def test_the_command_tells_what_it_sent() -> None:
    result = CliRunner().invoke(fuzz.command, ["--frames", "50", "--seed", "4"])
    assert result.exit_code == 0, result.output
    assert result.output.count("50 frames in") == len(fuzz.PARSERS)
