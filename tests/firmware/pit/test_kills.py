"""A short form of the kill campaign: every part of the chain is killed while tables send."""

from __future__ import annotations

import pytest

from tests.firmware.pit.house import IS_INSTALLED
from tests.firmware.pit.kill_campaign import campaign


@pytest.mark.skipif(not IS_INSTALLED, reason="PostgreSQL or nginx is not installed")
def test_nothing_is_lost_or_doubled_when_every_part_is_killed_once() -> None:
    report = campaign(tables=2, hands=8, times=5, seed=1, say=lambda text: None)
    assert set(report.kills) == {"pit", "postgres", "nginx", "uplink", "table"}
    assert report.found.rows > 100
    assert report.ok, report
