from __future__ import annotations

import json
from pathlib import Path

import pytest

from firmware.messages import Message
from firmware.pulse import Pulse, PulseCheck, read_pulse, write_pulse

FULL = Pulse(
    12.5,
    4711,
    (PulseCheck("room", "look", Message("Room"), Message("%(mb)s MB are left.", mb=90), "90 MB"),),
)


@pytest.mark.parametrize("pulse", [Pulse(0.0, 0), Pulse(1.0, 2, ()), FULL])
def test_a_pulse_is_read_as_it_was_written(tmp_path: Path, pulse: Pulse) -> None:
    path = tmp_path / "pulse.json"
    write_pulse(path, pulse)
    assert read_pulse(path) == pulse
    assert [one.name for one in tmp_path.iterdir()] == ["pulse.json"]


def test_no_file_is_no_pulse(tmp_path: Path) -> None:
    assert read_pulse(tmp_path / "pulse.json") is None


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"[]",
        b"null",
        b'{"at_s": 1.0}',
        b'{"at_s": 1.0, "seq": 1, "checks": [{}]}',
        b'{"at_s": 1.0, "seq": 1, "checks": 7}',
        b'{"at_s": "x", "seq": 1, "checks": []}',
        b"\xff\xfe",
    ],
)
def test_a_damaged_file_is_no_pulse(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "pulse.json"
    path.write_bytes(damage)
    assert read_pulse(path) is None


def test_a_file_cut_anywhere_is_no_pulse(tmp_path: Path) -> None:
    path = tmp_path / "pulse.json"
    write_pulse(path, FULL)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert read_pulse(path) is None


def test_a_pulse_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "pulse.json"
    write_pulse(path, FULL)
    path.with_name(".pulse.json.new").mkdir()
    with pytest.raises(IsADirectoryError):
        write_pulse(path, Pulse(99.0, 1))
    assert read_pulse(path) == FULL


def test_the_age_counts_from_the_last_answer_and_is_never_negative() -> None:
    assert Pulse(10.0, 1).age_s(12.5) == 2.5
    assert Pulse(10.0, 1).age_s(9.0) == 0.0


def test_texts_keep_their_templates(tmp_path: Path) -> None:
    path = tmp_path / "pulse.json"
    write_pulse(path, FULL)
    assert json.loads(path.read_text())["checks"][0]["says"]["args"] == {"mb": 90}
