"""When the screen counts as stale, on simulated time; what a server may say of it."""

from __future__ import annotations

from typing import Any

import pytest

from dealer_ui.server.kiosk_watch import LEAVING_S, SILENT_S, START_S, Report, Watch, ask
from tests.dealer_ui.served import listening

UP = 10_000.0
"""Seconds since the server began, where it has been there for long."""


def painted(seconds: float, *, leaving: bool = False, up_s: float = UP) -> Report:
    return Report(seconds, leaving, up_s)


NEVER = Report(None, False, UP)


def watch() -> Watch:
    """One whose browser was started at 0 and has painted at 10."""
    made = Watch(0.0)
    assert made.stale_s(10.0, painted(0.0)) is None
    return made


def test_a_page_that_goes_on_painting_is_fresh() -> None:
    followed = watch()
    assert all(followed.stale_s(10.0 + turn / 2, painted(0.4)) is None for turn in range(1000))


def test_a_page_that_has_painted_is_stale_once_it_is_silent_for_three_seconds() -> None:
    followed = watch()
    assert followed.stale_s(10.0 + SILENT_S, painted(SILENT_S)) is None
    assert followed.stale_s(13.5, painted(3.5)) == pytest.approx(3.5)


def test_a_page_that_is_being_left_has_longer_and_not_for_ever() -> None:
    followed = watch()
    assert followed.stale_s(10.0 + LEAVING_S, painted(LEAVING_S, leaving=True)) is None
    assert followed.stale_s(26.0, painted(16.0, leaving=True)) == pytest.approx(16.0)


def test_a_browser_that_starts_has_a_minute_and_not_for_ever() -> None:
    followed = Watch(0.0)
    assert followed.stale_s(1.0, NEVER) is None
    assert followed.stale_s(START_S + 0.9, NEVER) is None
    assert followed.stale_s(START_S + 1.5, NEVER) == pytest.approx(START_S + 1.5)
    assert not followed.has_painted


def test_what_an_earlier_browser_painted_is_not_this_ones() -> None:
    followed = Watch(0.0)
    assert followed.stale_s(1.0, painted(30.0)) is None
    assert not followed.has_painted
    assert followed.stale_s(5.0, painted(34.0)) is None, "it still starts"


def test_while_the_server_does_not_answer_the_browser_is_not_to_blame() -> None:
    followed = watch()
    assert followed.stale_s(500.0, None) is None
    assert followed.stale_s(500.5, painted(490.5)) is None, "it has just begun to answer again"
    assert followed.stale_s(504.0, painted(494.0)) is not None


def test_a_page_that_was_frozen_before_its_server_was_busy_gains_no_more_than_that_time() -> None:
    followed = watch()
    assert followed.stale_s(12.0, painted(2.0)) is None
    assert followed.stale_s(14.0, None) is None
    assert followed.stale_s(14.5, painted(4.5)) is None
    assert followed.stale_s(15.4, painted(5.4)) is None
    assert followed.stale_s(15.6, painted(5.6)) == pytest.approx(5.6)


def test_a_browser_whose_server_comes_late_has_its_time_from_then() -> None:
    followed = Watch(0.0)
    assert all(followed.stale_s(float(now), None) is None for now in range(300))
    assert followed.stale_s(300.0, Report(None, False, 1.0)) is None
    assert followed.stale_s(300.0 + START_S - 1, Report(None, False, START_S)) is None
    assert followed.stale_s(300.0 + START_S + 1, Report(None, False, START_S + 2)) is not None


def test_a_server_that_was_started_again_between_two_questions_gives_the_page_time_to_come_back() -> None:
    followed = watch()
    assert followed.stale_s(14.0, Report(None, False, 0.1)) is None
    assert followed.stale_s(14.0 + LEAVING_S - 1, Report(None, False, LEAVING_S - 0.9)) is None
    assert followed.stale_s(14.0 + LEAVING_S + 1, Report(None, False, LEAVING_S + 1.1)) is not None


def test_the_screen_may_show_training_for_as_long_as_that_is_painted() -> None:
    followed = watch()
    assert followed.stale_s(100.0, painted(90.0, leaving=True)) is not None
    assert followed.stale_s(100.0, painted(90.0, leaving=True), painted(0.3)) is None
    assert followed.stale_s(110.0, painted(100.0, leaving=True), painted(5.0)) == pytest.approx(5.0)
    assert followed.stale_s(110.0, painted(100.0, leaving=True), None) is not None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no JSON",
        b"[]",
        b"7",
        b"{}",
        b'{"painted_s": "x", "leaving": false, "up_s": 1}',
        b'{"painted_s": 1, "leaving": false}',
        b'{"painted_s": 1, "leaving": false, "up_s": null}',
    ],
)
def test_a_server_that_says_something_else_does_not_answer(body: bytes) -> None:
    def application(_: Any, start: Any) -> list[bytes]:
        start("200 OK", [("Content-Type", "application/json")])
        return [body]

    with listening(application) as port:
        assert ask(f"http://127.0.0.1:{port}") is None


def test_a_server_that_answers_is_understood_and_one_that_refuses_does_not_answer() -> None:
    status = "200 OK"
    seen = []

    def application(environment: Any, start: Any) -> list[bytes]:
        seen.append((environment["REQUEST_METHOD"], environment["PATH_INFO"]))
        start(status, [("Content-Type", "application/json")])
        return [b'{"painted_s": null, "leaving": true, "up_s": 2.5, "more": 1}']

    with listening(application) as port:
        assert ask(f"http://127.0.0.1:{port}") == Report(None, True, 2.5)
        status = "404 Not Found"
        assert ask(f"http://127.0.0.1:{port}") is None
    assert set(seen) == {("GET", "/screen")}
    assert ask(f"http://127.0.0.1:{port}") is None, "nobody listens any more"
