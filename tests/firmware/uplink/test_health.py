"""What a heartbeat says of the table process and its box; what is not known is left out, never called well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firmware.messages import Message
from firmware.pulse import Pulse, PulseCheck, write_pulse
from firmware.uplink.health import answers, table_health
from pit.status.table_health import TableHealth, health_of

DISK = PulseCheck(
    "disk", "ok", Message("Disk"), Message("There is room for a hundred hands and more."), "20480 MB"
)
HOT = PulseCheck("heat", "look", Message("Temperature"), Message("The box is warm."), "71 °C")
POWER = PulseCheck("power", "bad", Message("Power"), Message("The supply is too weak now."))
UNSEEN = PulseCheck("wear", "unknown", Message("Wear"), Message("This disk does not say how worn it is."))


def at_the_pit(folder: Path, now_s: float) -> TableHealth:
    return health_of(json.dumps(table_health(folder / "pulse.json", now_s)))


def test_the_age_of_the_pulse_and_the_tables_own_verdicts_are_sent(tmp_path: Path) -> None:
    write_pulse(tmp_path / "pulse.json", Pulse(100.0, 992, (HOT, POWER, DISK, UNSEEN)))
    found = at_the_pit(tmp_path, 101.25)
    assert (found.table_s, found.row, found.figure("disk"), found.figure("heat")) == (
        1.25,
        992,
        "20480 MB",
        "71 °C",
    )
    assert found.checks is not None
    assert [(one.name, one.verdict) for one in found.checks] == [
        *(("power", "bad"), ("heat", "look"), ("wear", "unknown")),
    ]
    assert found.checks[1].says == HOT.says, "with its template: the pit shows it in its reader's language"
    assert [one.name for one in found.troubles] == ["power", "heat"]


def test_without_a_pulse_nothing_is_known(tmp_path: Path) -> None:
    assert table_health(tmp_path / "none", 1.0) == {"table_s": None}
    assert at_the_pit(tmp_path, 1.0) == TableHealth()
    (tmp_path / "pulse.json").write_text("{")
    assert not answers(table_health(tmp_path / "pulse.json", 1.0))


def test_verdicts_that_the_process_has_not_given_yet_are_not_known(tmp_path: Path) -> None:
    write_pulse(tmp_path / "pulse.json", Pulse(100.0, 992))
    assert at_the_pit(tmp_path, 100.0) == TableHealth(0.0, 992)


def test_verdicts_that_the_pit_would_refuse_with_the_rows_stay_behind(tmp_path: Path) -> None:
    long = PulseCheck("disk", "bad", Message("Disk"), Message("é" * 9_000))
    write_pulse(tmp_path / "pulse.json", Pulse(100.0, 992, (long,)))
    assert table_health(tmp_path / "pulse.json", 100.0) == {"table_s": 0.0, "row": 992}


def test_the_process_answers_while_its_pulse_is_young(tmp_path: Path) -> None:
    write_pulse(tmp_path / "pulse.json", Pulse(100.0, 992))
    assert answers(table_health(tmp_path / "pulse.json", 103.0))
    assert not answers(table_health(tmp_path / "pulse.json", 103.1))


@pytest.mark.parametrize("value", [None, "hot", True, [], {}, -1, float("nan"), 1e300])
def test_an_age_that_is_no_time_is_not_known(value: object) -> None:
    assert health_of(json.dumps({"table_s": value})).table_s is None


@pytest.mark.parametrize(
    "check",
    [None, {}, {"name": "disk"}, {"name": "disk", "verdict": "fine", "title": "", "says": ""}]
    + [
        {
            "name": "disk",
            "verdict": "bad",
            "title": {"message": "%(a)99999999s", "args": {"a": 1}},
            "says": "",
        }
    ],
)
def test_checks_of_no_shape_of_a_check_are_not_known(check: object) -> None:
    assert health_of(json.dumps({"table_s": 0.1, "checks": [check], "well": {}})) == TableHealth(0.1)


def test_figures_of_an_older_release_are_no_verdicts() -> None:
    assert health_of('{"celsius": 47.5, "free_percent": 71}') == TableHealth()
