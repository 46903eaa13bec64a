"""Eight failures under the real programs; `tests.campaigns.appliance.failure_campaign` makes as many as wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.record.journal.journal import Journal
from firmware.table import events as ev
from tests.campaigns.appliance.failing_service import ERRORS, Service, load_shim
from tests.campaigns.appliance.failure_campaign import Figures, TableCases, campaign, failures
from tests.tools import GCC, needs
from tests.waiting import until


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.timeout(1800)  # the processes start one after the other
@needs(GCC)
@pytest.mark.parametrize("times", [4, pytest.param(32, marks=pytest.mark.exhaustive)])
def test_after_a_failed_call_the_programs_answer_or_are_started_again_and_nothing_is_lost(
    tmp_path: Path, times: int
) -> None:
    figures, said = Figures(), list[str]()
    campaign(tmp_path, times, figures, said.append)
    assert figures.problems == [], "\n".join(said)
    assert sum(figures.cases.values()) >= times * 3 // 4
    assert figures.struck > times // 4, "the calls hardly failed"
    assert figures.acknowledged > 0, "nothing was played"


# ---- every alarm of the campaign can ring ----


@pytest.fixture
def cases(tmp_path: Path) -> TableCases:
    """A campaign that has not yet looked at the three rows of its record; the last is of a command."""
    with Journal(tmp_path) as journal:
        for seat in (1, 2, 3):
            journal.append([ev.PuckSeen("seat", seat)], "test", command="the third" if seat == 3 else "")
    return TableCases(None, tmp_path, Figures())  # type: ignore[arg-type]


def test_what_was_acknowledged_and_is_there_is_right(cases: TableCases) -> None:
    cases._acknowledged = {"the third": 3}
    assert cases.check() == []


@pytest.mark.parametrize("acknowledged", [{"the third": 2}, {"another": 3}])
def test_a_missing_acknowledged_command_is_found(cases: TableCases, acknowledged: dict[str, int]) -> None:
    cases._acknowledged = acknowledged
    assert len(cases.check()) == 1


def test_a_row_that_does_not_follow_is_found(cases: TableCases) -> None:
    cases.check()
    assert cases._last is not None
    cases._last = cases._last._replace(seq=1)
    assert len(cases.check()) == 1


@needs(GCC)
def test_a_program_that_is_silent_is_started_again(tmp_path: Path) -> None:
    with Service(["sleep", "1000"], tmp_path, load_shim(tmp_path), 0.1) as service:
        service.limit_at_start = 0.1
        until(lambda: len(service.ends) >= 2)
        assert service.ends[:2] == ["silent", "silent"]


def test_every_number_fails_where_there_are_few_and_evenly_spread_ones_where_there_are_many() -> None:
    few = failures({"read": 3}, 100, ["read"])
    assert sorted({one.first for one in few}) == [1, 2, 3]
    many = failures({"open": 1000}, 60, ["open"])
    assert len({one.first for one in many}) == 60
    assert {one.error for one in many} == set(ERRORS["open"])
    assert {one.last > one.first for one in many} == {False, True}, "once, and for a while"
