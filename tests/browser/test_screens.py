"""The screens that dealers look at most: one thing stands out, nothing is cut, nothing lies under something else."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from firmware.messages import Message
from firmware.table import events as ev
from firmware.table.people import Role
from tests.browser.conftest import Screen, Show
from tests.browser.states import FACE_UP, paid, placing, reopened
from tests.browser.states_play import no_cards_yet
from tests.browser.visits import misfits
from tests.dealer_ui.felt import Felt

pytestmark = pytest.mark.browser

BACKGROUND = "(e) => getComputedStyle(e).backgroundColor"
LONG = "Maximiliane Wolkenstein-Oberhausen-Trost"


def fault(*names: str) -> tuple[ev.DeviceFault, ...]:
    return tuple(ev.DeviceFault(name, Message("It does not answer.")) for name in names)


def test_a_payment_names_payer_and_winner_and_the_next_one_and_its_undo_stands_away_from_paid(
    show: Show,
) -> None:
    page = show(paid(1)).page
    expect(page.locator(".centre .names")).to_have_text("Tran pays Moreno")
    expect(page.locator(".centre .then")).to_contain_text("then 2 ▸ 1 $60")
    undo = page.get_by_role("button", name="Undo").bounding_box()
    white = page.locator(".strip .go").bounding_box()
    assert undo is not None
    assert white is not None
    assert white["x"] - undo["x"] - undo["width"] > 100


def test_reasons_are_short_and_what_does_not_fit_is_left_to_the_dialog(show: Show) -> None:
    page = show(paid(0)).page
    reasons = page.locator(".centre .reasons li").all_inner_texts()
    assert [" ".join(reason.split()) for reason in reasons] == [
        "foul of seat 3 +9",
        "back bonus +2",
        "together +11",
    ]
    page.locator(".payments").tap()
    expect(page.locator("#details")).to_contain_text("the middle (two pairs")


def test_while_cards_are_awaited_one_seat_is_amber_and_the_others_are_read(show: Show) -> None:
    page = show(no_cards_yet, profile="poker-flush-eastern", options={}).page
    expect(page.locator("main .role")).to_have_text(["turn up"])
    expect(page.locator("main .looked")).to_have_text(["read"] * 3)
    expect(page.locator("main .card.unread")).to_have_count(0)
    expect(page.locator(".place-D .card.unseen")).to_have_count(13)
    expect(page.locator(".place-D .action")).to_contain_text("Surrendered")
    expect(page.locator("main .action")).to_have_count(1)


def test_when_all_is_paid_the_puck_s_way_stands_in_the_middle_and_that_it_stays_beside_white(
    show: Show,
) -> None:
    screen = show(paid(6))
    page = screen.page
    expect(page.locator(".centre")).to_contain_text("Move the puck")
    stays, white = (
        page.get_by_role("button", name="It stays at 2"),
        page.locator(".strip button:has(.lamp-white)"),
    )
    at, goes = stays.bounding_box(), white.bounding_box()
    assert at is not None
    assert goes is not None
    assert abs(at["y"] - goes["y"]) < 2
    assert at["x"] < goes["x"]
    page.wait_for_selector(".fresh", state="detached")
    stays.tap()
    screen.until(lambda: screen.felt.state.button_kept == 2)
    expect(page.locator(".centre")).not_to_contain_text("Move the puck")


def test_without_a_surrender_in_the_rules_none_is_offered(show: Show) -> None:
    page = show(no_cards_yet).page
    expect(page.locator(".place-D .role")).to_have_text("turn up")
    expect(page.locator("main .action")).to_have_count(0)


@pytest.mark.parametrize(
    ("language", "word"),
    [("en", "CORRECTION"), ("es", "CORRECCIÓN"), ("zh_Hans", "更正"), ("zh_Hant", "更正")],
)
def test_a_reopened_hand_says_correction_across_the_screen(show: Show, language: str, word: str) -> None:
    def reopen(felt: Felt) -> None:
        felt.say(ev.HouseSet("a guest", language=language))
        reopened(felt)

    page = show(reopen).page
    band = page.locator("#bar .correction")
    expect(band.locator("> b")).to_have_text([word, word])
    box = band.bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 800)
    assert misfits(page) == []


def test_devices_are_in_the_bar_only_while_they_are_not_well(show: Show) -> None:
    screen = show(Felt.to_setting)
    expect(screen.page.locator("#bar .devices li")).to_have_count(0)
    screen.felt.say(*fault("puck"))
    expect(screen.page.locator("#bar .alert")).to_contain_text("The puck is not seen")


def test_the_games_name_is_shortened_by_whole_words(show: Show) -> None:
    def logged_on(felt: Felt) -> None:
        felt.say(ev.PersonListed(LONG[:24], Role.DEALER), ev.LoggedOn(LONG[:24], 1))
        felt.to_setting()

    page = show(logged_on, profile="washington-2-4", options={}, unit=12_345).page
    game = page.locator("#bar .game")
    whole = game.get_attribute("title") or ""
    said = game.inner_text()
    assert said
    assert whole.startswith(said.rstrip(")"))
    assert whole[len(said.rstrip(")")) :][:1] in ("", " ", ",", ")")
    assert game.evaluate("(e) => e.scrollWidth <= e.clientWidth + 1")


def test_two_faults_are_two_whole_sentences_and_more_are_a_count_that_opens(show: Show) -> None:
    screen = show(Felt.to_settled)
    screen.felt.say(*fault("puck", "buttons"))
    alert = screen.page.locator("#bar .alert")
    expect(alert).to_contain_text("Play on: the puck is at seat 2.")
    expect(alert).to_contain_text("The push-buttons do not answer. Touch the screen instead.")
    assert misfits(screen.page) == []
    screen.felt.say(*fault("lamps"))
    screen.page.locator("#bar .faults", has_text="3").tap()
    expect(screen.page.locator("#faults p")).to_have_count(3)


def test_a_dead_cameras_title_agrees_with_its_foot(show: Show) -> None:
    def dead(felt: Felt) -> None:
        felt.to_setting()
        felt.to_reading()
        felt.say(*fault("camera"), ev.ReadingFailed("The camera gives no picture."))

    alert = show(dead).page.locator("#bar .alert")
    expect(alert).to_contain_text("Look at its cable, or key the cards.")
    expect(alert).not_to_contain_text("goes on")


def test_a_hand_ends_without_a_settlement_by_one_entry_of_more_and_its_reasons(show: Show) -> None:
    page = show(Felt.to_setting).page
    page.locator("[data-open=more-dialog]").tap()
    expect(page.locator("#more [data-command*='void'], #more [data-command*='misdeal']")).to_have_count(0)
    expect(page.locator("#more .action").last).to_have_text("Misdeal or void…")
    page.locator("[data-open=stops-dialog]").tap()
    expect(page.locator("#stops .action")).to_have_count(6)


def test_the_pad_begins_with_what_the_card_probably_is(show: Show) -> None:
    page = show(Felt.to_settled).page
    page.get_by_label("Seat 1, Lin: look closer").tap()
    page.get_by_label("Correct: Seat 1 · front, card 3").tap()
    likely = page.locator("#pad-likely [data-likely]")
    assert likely.first.get_attribute("data-likely") == "7s", "the other black seven"
    assert misfits(page) == []
    page.locator("#pad-likely [data-likely='7s']").tap()
    expect(page.locator(".place-A .row.front .card").nth(2)).to_have_attribute(
        "aria-label", "seven of spades"
    )


def test_the_pad_of_a_whole_table_is_no_wall_of_grey(show: Show) -> None:
    def unsure(felt: Felt) -> None:
        felt.to_setting()
        felt.to_reading()
        felt.read({(3, "middle", 1): ("Td", "Th")})

    page = show(unsure).page
    page.get_by_text("Another card…").tap()
    assert page.locator("#pad-likely [data-likely]").first.get_attribute("data-likely") == "Td"
    dark = page.locator(".padcards .used").first.evaluate(BACKGROUND)
    assert max(int(part) for part in dark[4:-1].split(",")) < 80


def test_a_long_name_leaves_room_for_whose_turn_it_is(show: Show) -> None:
    def with_a_long_name(felt: Felt) -> None:
        felt.do("rename_player", player="Okafor", name=LONG)
        placing(felt)
        felt.do("declare", seat=3)

    page = show(with_a_long_name, options=FACE_UP).page
    expect(page.locator(".place-C .role")).to_have_text("places")
    expect(page.locator(".place-C .action")).to_have_text("Take it back")
    assert misfits(page) == []


def test_all_five_seats_are_offered_for_the_puck_under_a_fault(show: Show) -> None:
    def lost(felt: Felt) -> None:
        for number in (1, 2, 3, 4):
            felt.do(
                "rename_player",
                player=["Lin", "Moreno", "Okafor", "Tran"][number - 1],
                name=f"{number} {LONG[:34]}",
            )
        felt.to_setting(button=None)
        felt.to_reading()
        felt.say(*fault("puck", "buttons"))
        felt.read()

    page = show(lost).page
    expect(page.locator("#need .choices .action")).to_have_count(5)
    assert misfits(page) == []


def test_a_sum_of_chips_is_one_touch_of_the_keypad_and_one_beyond_the_limit_is_held(show: Show) -> None:
    screen: Screen = show(Felt.to_archived)
    page = screen.page
    page.locator(".players li", has_text="Lin").locator("[data-amount]").first.tap()
    expect(page.locator("#keyed-chips .action")).to_have_text(["+$100", "+$250", "+$500", "+$1,000"])
    page.locator("#keyed-chips .action").nth(1).tap()
    screen.until(lambda: screen.felt.state.stacks["Lin"] == 123_000 + 25_000)
