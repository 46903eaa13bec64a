"""The short run of `make security-load`: everything is timed, and nothing is stuck."""

from __future__ import annotations

import pytest

from tests.campaigns.security import load


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_table_plays_on_and_is_timed_while_the_page_is_asked_for_all_that_it_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """How much later things come is measured on an idle machine; here, that they come, and that the load is one."""
    monkeypatch.setattr(load, "WARM_UP", 0)
    result = load.measure(hands=1, scale=0.5)
    assert {one.kind: one.count for one in result.delays} == {
        "frame": 1,
        "look": 1,
        "button": 1,
        "puck": 1,
        "command": 3,
    }
    assert all(0 < one.load_median < 60_000 for one in result.delays)
    assert result.answers_per_s > 1
    assert "requests a second" in result.text()


def test_what_comes_later_than_the_limit_is_found() -> None:
    rest, busy = load.Times(), load.Times()
    for kind in load.KINDS:
        for ms in (10.0, 20.0):
            rest.add(kind, ms)
            busy.add(kind, ms + 90)
    result = load.Result(2, 0, load.delays(rest, busy), 100.0, 0.1)
    assert result.holds
    assert "**It holds**" in result.text()
    busy.add("look", 1000.0)
    assert load.Result(2, 0, load.delays(rest, busy), 100.0, 0.1).holds, (
        "several frames, each judged by itself"
    )
    busy.add("puck", 121.0)
    late = load.Result(2, 0, load.delays(rest, busy), 100.0, 0.1)
    assert not late.holds
    assert "**It does not hold**" in late.text()
    assert [one.kind for one in late.delays if one.worst > load.LIMIT_MS] == ["look", "puck"]


def test_the_page_is_lower_in_priority_than_the_table() -> None:
    assert load.page_nice() >= 5
    assert "Nice=" not in (load.UNIT.parent / "feltwatch-table.service").read_text()
