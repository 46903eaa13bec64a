"""The page under load: the short run of `python -m tests.campaigns.browser.load`."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.campaigns.browser.load import _times, run

pytestmark = pytest.mark.browser


@pytest.mark.exhaustive
def test_every_settlement_reaches_every_tab_and_stream_and_touches_are_answered(chromium: Browser) -> None:
    """How quickly is measured on an idle machine; here, that nothing is stuck or lost."""
    result = run(chromium, seconds=5, streams=29, tabs=3)
    assert (result.page.missing, result.stream.missing, result.touch.missing) == (0, 0, 0)


def test_a_settlement_that_never_came_is_counted() -> None:
    found = _times({5: 100.0, 9: 200.0}, [{5: 130.0, 9: 240.0}, {6: 160.0}])
    assert sorted(found.ms) == [30.0, 40.0, 60.0]
    assert found.missing == 1
