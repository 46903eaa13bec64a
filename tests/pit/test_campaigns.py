"""Short forms of the campaigns whose long forms are in `docs/pit-report.md`."""

from __future__ import annotations

import os

import pytest

from tests.campaigns.pit import kill_campaign, outage, setback, silent_sockets, skew
from tests.pit.postgres import Postgres
from tests.tools import NGINX, POSTGRESQL, needs

pytestmark = [
    pytest.mark.slow,
    needs(NGINX, POSTGRESQL),
]


def test_nothing_is_lost_or_doubled_when_every_part_is_killed_once() -> None:
    report = kill_campaign.campaign(tables=2, hands=8, times=5, seed=1, say=lambda text: None)
    assert set(report.kills) == {"pit", "postgres", "nginx", "uplink", "table"}
    assert report.found.rows > 100
    assert report.ok, report


@pytest.mark.exhaustive
def test_tables_deal_on_while_the_pit_is_away_and_none_of_their_writes_waits_for_the_uplink() -> None:
    report = outage.campaign(tables=2, hours=1, say=lambda text: None)
    assert all(writes.commits >= len(report.writes) for writes in report.writes.values())
    assert report.hands >= 60
    assert report.found.ok, report


@pytest.mark.sampled
@pytest.mark.parametrize(
    "way",
    [
        setback.table,
        pytest.param(setback.backup, marks=pytest.mark.exhaustive),
        pytest.param(setback.standby, marks=pytest.mark.exhaustive),
        pytest.param(setback.empty, marks=pytest.mark.exhaustive),
    ],
)
def test_a_pit_or_a_table_that_was_set_back_has_the_same_rows_again_by_the_tables_alone(
    way: setback.Try,
) -> None:
    found = way(1, 4)
    assert found.ok, found


def test_a_table_is_answered_while_strangers_hold_sockets_open_at_both_doors(postgres: Postgres) -> None:
    url = postgres.make(f"pit_silent_{os.getpid()}", "template_pit")
    report = silent_sockets.campaign(100, 3, url, lambda text: None)
    assert {name: answers.requests for name, answers in report.meanwhile.items()} == {
        "nginx": 3,
        "without nginx": 3,
    }


@pytest.mark.sampled
def test_rows_of_every_release_are_stored_and_the_lists_are_complete_after_the_pits_update() -> None:
    report = skew.campaign(hands=10)
    assert report.ok, report
