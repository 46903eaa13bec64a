"""What push-buttons may do, by what the screen at the table has painted; on a clock that the tests turn."""

from __future__ import annotations

import pytest

from firmware.runtime.config import NO_SCREEN, ScreenConfig
from firmware.runtime.liveness.screen_watch import ScreenWatch
from firmware.table.errors import CommandRefused
from firmware.table.topics.screen import AcknowledgePaint
from tests.firmware.devices.conftest import Clock

LIMITS = ScreenConfig()


class WatchedScreen:
    """A screen, the table that watches it, and their clock."""

    def __init__(self, config: ScreenConfig = LIMITS) -> None:
        self.clock = Clock()
        self.ahead = 1e6
        """Seconds by which the wall clock is ahead."""
        self.watch = ScreenWatch(config, self.clock, wall=lambda: self.clock() + self.ahead)

    def paint(self, seq: int | None, *, leaving: bool = False, ago: float = 0.0) -> None:
        """Let an acknowledgement arrive of what was painted `ago` seconds ago."""
        at_ms = round(1000 * (self.clock() + self.ahead - ago))
        self.watch.take(AcknowledgePaint(seq=seq, at_ms=at_ms, leaving=leaving))

    def refused(self) -> str:
        """Why a press now does nothing; "" if it counts."""
        try:
            self.watch.shown_at(self.clock())
        except CommandRefused as error:
            return str(error)
        return ""


@pytest.fixture
def screen() -> WatchedScreen:
    return WatchedScreen()


def test_a_press_counts_for_what_was_painted_and_since_then(screen: WatchedScreen) -> None:
    screen.watch.show(7)
    screen.clock.let_pass(1)
    screen.paint(7)
    painted = screen.clock()
    for _ in range(5):
        screen.clock.let_pass(0.4)
        screen.paint(7)
    assert screen.watch.shown_at(screen.clock()) == painted


def test_a_press_before_the_screen_ever_answered_does_nothing(screen: WatchedScreen) -> None:
    assert "since the table process started" in screen.refused()


@pytest.mark.parametrize("painted", [6, None])
def test_a_press_does_nothing_where_an_older_view_or_another_page_is_painted(
    screen: WatchedScreen, painted: int | None
) -> None:
    screen.watch.show(7)
    screen.paint(painted)
    assert "did not show the table" in screen.refused()


def test_a_later_view_shows_what_an_earlier_row_changed(screen: WatchedScreen) -> None:
    screen.watch.show(7)
    screen.paint(9)
    assert screen.refused() == ""


def test_a_change_has_to_be_painted_again(screen: WatchedScreen) -> None:
    screen.watch.show(7)
    screen.paint(7)
    screen.watch.show(8)
    assert screen.refused()
    screen.paint(8)
    assert screen.refused() == ""


def test_a_dialog_over_the_view_takes_its_time_away(screen: WatchedScreen) -> None:
    screen.paint(7)
    screen.clock.let_pass(1)
    screen.paint(None)
    assert screen.refused()
    screen.clock.let_pass(1)
    screen.paint(7)
    assert screen.watch.shown_at(screen.clock()) == screen.clock(), "only from now on"


def test_a_screen_is_dead_after_three_seconds_and_well_after_its_next_answer(screen: WatchedScreen) -> None:
    screen.paint(7)
    screen.clock.let_pass(LIMITS.silent_s)
    assert (screen.watch.fault, screen.refused()) == ("", "")
    screen.clock.let_pass(0.1)
    assert "does not answer" in str(screen.watch.fault)
    assert "had shown nothing for 3 s" in screen.refused()
    screen.paint(7)
    assert (screen.watch.fault, screen.refused()) == ("", "")


def test_a_page_that_is_being_loaded_has_longer_and_takes_no_press(screen: WatchedScreen) -> None:
    screen.paint(7)
    screen.paint(None, leaving=True)
    assert screen.refused()
    screen.clock.let_pass(LIMITS.leaving_s)
    assert screen.watch.fault == ""
    screen.clock.let_pass(0.1)
    assert screen.watch.fault


def test_a_screen_that_never_answers_is_unknown_then_a_fault(screen: WatchedScreen) -> None:
    assert (screen.watch.is_known, screen.watch.fault) == (False, "")
    screen.clock.let_pass(LIMITS.start_s)
    assert (screen.watch.is_known, screen.watch.fault) == (False, "")
    screen.clock.let_pass(0.1)
    assert "has shown nothing" in str(screen.watch.fault), "it is known to be silent"


def test_a_table_without_a_screen_is_exempt_by_its_configuration() -> None:
    screen = WatchedScreen(NO_SCREEN)
    screen.clock.let_pass(3600)
    assert (screen.watch.is_known, screen.watch.fault, screen.refused()) == (True, "", "")
    assert screen.watch.to_json()["expected"] is False


def test_why_a_press_did_nothing_is_told_once_the_screen_is_back_and_not_for_ever(
    screen: WatchedScreen,
) -> None:
    screen.paint(7)
    screen.clock.let_pass(60)
    screen.watch.refuse(CommandRefused("It was dark.").sentence)
    screen.clock.let_pass(3600)
    assert screen.watch.to_json()["notice"]["why"]["message"] == "It was dark."
    screen.paint(7)
    screen.clock.let_pass(29)
    assert "notice" in screen.watch.to_json()
    screen.clock.let_pass(2)
    assert "notice" not in screen.watch.to_json()


def test_an_acknowledgement_that_waited_while_the_table_hung_says_nothing_of_now(
    screen: WatchedScreen,
) -> None:
    screen.watch.show(7)
    screen.paint(7)
    screen.clock.let_pass(20)
    screen.paint(7, ago=LIMITS.silent_s + 0.1)
    assert "had shown nothing for 20 s" in screen.refused()
    assert screen.watch.fault


def test_an_acknowledgement_that_was_overtaken_by_a_later_one_changes_nothing(screen: WatchedScreen) -> None:
    screen.watch.show(7)
    screen.paint(None)
    screen.paint(7, ago=0.5)
    assert "did not show the table" in screen.refused()


def test_a_wall_clock_that_is_set_back_costs_only_what_is_on_its_way(screen: WatchedScreen) -> None:
    screen.paint(7)
    screen.ahead -= 3600
    screen.clock.let_pass(LIMITS.silent_s)
    screen.paint(7, ago=-3600)
    screen.paint(7)
    screen.clock.let_pass(LIMITS.silent_s)
    assert screen.watch.fault == ""
