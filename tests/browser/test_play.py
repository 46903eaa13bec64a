"""What costs the hand: an early showdown, a forgotten surrender, a reading that timed out, a puck not moved, faults."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from firmware.messages import Message
from firmware.table import Phase
from firmware.table import events as ev
from tests.browser.conftest import Show
from tests.browser.dealer import hold
from tests.dealer_ui.felt import Felt

pytestmark = pytest.mark.browser

EMPTY = ("", "", "")
FIVE = {1: "A", 2: "B", 3: "C", 4: "D", 5: "A"}
RESTLESS = Message("The table did not lie still: %(why)s. Look again.", why="a hand moves")


def reading(felt: Felt) -> None:
    felt.to_setting()
    felt.to_reading()


def test_cards_that_are_not_there_yet_are_waited_for_and_the_seats_are_named(show: Show) -> None:
    screen = show(reading)
    screen.felt.say(ev.CardsAwaited((2, 4), (4,)))
    screen.wait_for_news()
    centre = screen.page.locator("#centre")
    expect(centre).to_contain_text("Turn up the cards of seat 4, Tran.")
    expect(centre).to_contain_text("read by themselves")
    expect(screen.page.locator(".place-D .role")).to_have_text("turn up")
    expect(screen.page.locator(".place-B .role")).to_have_text("cards missing")
    expect(screen.page.locator("main .card.unread")).to_have_count(0)
    screen.felt.say(ev.CardsAwaited((2,)))
    expect(centre).to_contain_text("Cards are missing")
    expect(centre).to_contain_text("seat 2, Moreno")
    screen.felt.read()
    screen.wait_for_phase("settled")


def test_a_forgotten_declaration_is_a_step_back_away(show: Show) -> None:
    screen = show(reading)
    screen.page.get_by_role("button", name="Back to setting").tap()
    screen.wait_for_phase("setting")
    screen.until(lambda: screen.page.locator(".fresh").count() == 0)
    screen.page.locator(".place-A").get_by_role("button", name="Declare").tap()
    screen.until(lambda: screen.felt.state.seats[0].declares)


def test_at_an_empty_seat_the_question_offers_that_its_player_had_surrendered(show: Show) -> None:
    def folded(felt: Felt) -> None:
        felt.hands[4] = EMPTY
        reading(felt)
        felt.read()

    screen = show(folded, profile="washington-1-unit", options={})
    answer = screen.page.get_by_role("button", name="Seat 4 has surrendered")
    hold(answer)
    screen.wait_for_phase("showdown")
    assert screen.felt.state.seats[3].surrenders
    assert [order["do"] for order in screen.came] == ["back_to_setting", "surrender", "next"]
    screen.felt.look()
    screen.felt.read()
    screen.wait_for_phase("settled")


def test_after_a_reading_that_timed_out_the_white_action_is_to_look_again(show: Show) -> None:
    def timed_out(felt: Felt) -> None:
        reading(felt)
        felt.say(ev.ReadingFailed(RESTLESS))

    screen = show(timed_out)
    page = screen.page
    expect(page.locator(".question")).to_contain_text("Look again")
    white = page.locator(".question footer .go")
    expect(white).to_have_count(1)
    expect(white).to_have_text("Look again")
    expect(white.locator(".lamp-white")).to_be_visible()
    screen.felt.do("next")  # the real button does what the page's white one says
    screen.wait_for_phase("reading")


def test_before_the_deal_the_page_says_where_the_button_should_be(show: Show) -> None:
    screen = show(Felt.to_archived)
    page = screen.page
    due = page.locator(".puckdue")
    expect(due).to_contain_text("The puck is due at seat 3, Okafor.")
    expect(page.locator(".strip .wait")).to_have_text("Open a hand")
    due.get_by_role("button", name="It stays at 2").tap()
    expect(due).to_have_count(0)
    assert screen.felt.state.button_kept == 2
    screen.felt.do("next")
    screen.wait_for_phase("dealing")
    assert screen.felt.state.button == 2


def test_a_puck_that_is_moved_where_it_belongs_ends_the_question(show: Show) -> None:
    screen = show(lambda felt: (felt.to_settled(), felt.do("archive")))
    expect(screen.page.locator(".puckdue")).to_have_count(1)
    screen.felt.say(ev.PuckSeen("seat", 3))
    expect(screen.page.locator(".puckdue")).to_have_count(0)


def test_a_wrong_button_at_five_seats_is_a_question_and_no_toast(show: Show) -> None:
    def moved(felt: Felt) -> None:
        felt.deal(button=2)
        felt.say(ev.PuckSeen("seat", 1))

    screen = show(moved, seats=FIVE)
    page = screen.page
    asks = page.locator("#centre .asks")
    expect(asks).to_have_text("Puck should be at seat 2 (Moreno)")
    expect(page.locator("#centre")).not_to_contain_text("White")  # it does nothing until that is answered
    expect(page.locator(".strip .go")).to_have_count(0)
    page.get_by_role("button", name="It is at seat 2").tap()
    screen.until(lambda: screen.felt.state.button == 2)
    expect(page.locator(".strip .go")).to_have_text("Cards are out")
    expect(page.locator("#error")).to_be_hidden()


def test_a_fault_that_the_hand_does_not_need_is_one_line_over_the_felt_in_plain_words(show: Show) -> None:
    screen = show(Felt.to_setting)
    page = screen.page
    screen.felt.say(ev.DeviceFault("puck", "/dev/serial/by-id/usb-puck: [Errno 2] No such file or directory"))
    alert = page.locator(".bar .alert")
    expect(alert).to_contain_text("Play on: the puck is at seat 2.")
    expect(page.locator(".strip .go")).to_have_text("Showdown")
    assert page.locator("#centre .asks").count() == 0
    assert "/dev/" not in page.inner_text("body")
    screen.felt.say(ev.DeviceFault("view", "Placed cards are not seen: a hand moves."))
    expect(alert).to_contain_text("Hands off the table")
    screen.felt.say(ev.DeviceRecovered("view"))
    screen.felt.say(ev.DeviceRecovered("puck"))
    expect(alert).to_have_count(0)
    assert screen.felt.state.phase is Phase.SETTING


def test_a_dead_camera_is_asked_about_once_its_cards_are_to_be_read(show: Show) -> None:
    screen = show(Felt.to_setting)
    screen.felt.say(ev.DeviceFault("camera", "The camera gives no picture."))
    expect(screen.page.locator(".bar .alert")).to_contain_text("The camera sees nothing")
    screen.felt.do("next")
    screen.wait_for_phase("showdown")
    expect(screen.page.locator(".question")).to_contain_text("Key this hand without the camera")


def test_red_and_green_on_the_page_are_the_real_buttons(show: Show) -> None:
    def declared(felt: Felt) -> None:
        felt.to_setting()
        felt.do("declare", seat=2)
        felt.to_reading()
        felt.read()

    page = show(declared).page
    confirm = page.locator(".question footer button", has_text="It is no natural")
    assert confirm.locator(".lamp-green").count() == 1
    red, green, _ = (
        int(part)
        for part in confirm.evaluate("(e) => getComputedStyle(e).backgroundColor").strip("rgb()").split(",")
    )
    assert green > red, "the button that the green one presses is no red one"
    again = page.locator(".question footer button", has_text="Look again")
    assert again.locator(".lamp-red").count() == 1
