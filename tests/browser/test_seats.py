"""Between hands, by touch: who sits where, by which name, with how much. No keyboard of the system anywhere."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Show
from tests.browser.dealer import hold, key_name
from tests.browser.states import judged, locked_out, pin_asked, pin_locked
from tests.dealer_ui.felt import Felt

pytestmark = pytest.mark.browser


def spell(page: Page, keys: str) -> None:
    for key in keys:
        page.locator(f'#letters [data-letter="{key}"]').tap()


def names(felt: Felt) -> dict[int, str]:
    return {seat.seat: seat.player for seat in felt.state.house.seats}


@pytest.mark.sampled
def test_a_player_is_seated_bought_in_renamed_moved_and_leaves(show: Show) -> None:
    screen = show(Felt.to_archived)
    page, felt = screen.page, screen.felt
    page.locator(".players .free").get_by_role("button", name="Seat 5").tap()
    spell(page, "bx")
    page.get_by_role("button", name="take the last letter back").tap()
    spell(page, "o lee")
    expect(page.locator("#lettered")).to_have_text("Bo Lee")
    page.locator("#letters-done").tap()
    expect(page.locator("#keypad-title")).to_have_text("Bo Lee: Buy in")
    for key in "400":
        page.locator(f"#keypad [data-key='{key}']").tap()
    page.locator("#keypad-done").tap()
    row = page.locator(".players li", has_text="Bo Lee")
    expect(row.locator(".stack")).to_have_text("$400")
    assert felt.state.stacks["Bo Lee"] == 40_000

    row.locator("[data-open]").tap()
    page.locator("#chair-5 [data-name]").tap()
    page.locator("[data-others]").tap()
    page.locator("[data-letter='v'][data-other='õ']").tap()
    page.locator("#letters-done").tap()
    expect(page.locator(".players li", has_text="Õ")).to_be_visible()
    assert names(felt)[5] == "Õ"

    page.locator("[data-open=chair-1]").tap()
    hold(page.locator("#chair-1 .warn"))
    expect(page.locator(".players .free").get_by_role("button", name="Seat 1")).to_be_visible()
    page.locator("[data-open=chair-5]").tap()
    page.locator("#chair-5").get_by_role("button", name="Seat 1").tap()
    expect(page.locator(".players li", has_text="Õ").locator(".number")).to_have_text("1")
    assert names(felt) == {1: "Õ", 2: "Moreno", 3: "Okafor", 4: "Tran"}
    assert not screen.trouble


@pytest.mark.sampled
def test_a_keyboard_may_be_used_where_there_is_one(show: Show) -> None:
    screen = show(Felt.to_archived)
    page = screen.page
    page.locator(".players .free [data-name]").tap()
    page.keyboard.type("McKay-x")
    page.keyboard.press("Backspace")
    expect(page.locator("#lettered")).to_have_text("McKay-")


@pytest.mark.sampled
def test_what_the_table_refuses_is_said_and_nothing_changes(show: Show) -> None:
    screen = show(Felt.to_archived)
    page, felt = screen.page, screen.felt
    page.locator("[data-open=chair-1]").tap()
    page.locator("#chair-1 [data-name]").tap()
    spell(page, "tran")
    page.locator("#letters-done").tap()
    expect(page.locator("#error")).to_have_text("There is a Tran at this table already.")
    assert names(felt)[1] == "Lin"


@pytest.mark.sampled
def test_a_name_that_sits_already_moves_nobody_without_a_word(show: Show) -> None:
    screen = show(Felt.to_archived)
    page, felt = screen.page, screen.felt
    before = names(felt)
    page.locator(".players .free [data-name]").tap()
    spell(page, "moreno")
    page.locator("#letters-done").tap()
    for key in "400":
        page.locator(f"#keypad [data-key='{key}']").tap()
    page.locator("#keypad-done").tap()
    expect(page.locator("#error")).to_contain_text("Moreno sits at seat 2 already.")
    assert names(felt) == before


@pytest.mark.sampled
def test_a_chinese_name_is_spelled_by_pinyin_in_either_script(show: Show) -> None:
    screen = show(Felt.to_archived)
    page = screen.page
    page.locator(".players .free [data-name]").tap()
    page.locator("#letters [lang=zh-Hant][data-script]").tap()
    spell(page, "chen")
    page.locator("#letters [data-chinese=陳]").tap()
    page.locator("#letters [lang=zh-Hans][data-script]").tap()
    spell(page, "ting")
    expect(page.locator("#letters-done")).to_be_disabled()
    while not page.locator("#letters [data-chinese=婷]").is_visible():
        page.locator("#letters [data-further]").tap()
    page.locator("#letters [data-chinese=婷]").tap()
    spell(page, "lin")
    page.locator('#letters [data-letter=" "]').tap()  # the first one
    expect(page.locator("#lettered")).to_have_text("陳婷林")
    spell(page, "l")
    page.get_by_role("button", name="take the last letter back").tap()
    page.locator("#letters-done").tap()
    for key in "400":
        page.locator(f"#keypad [data-key='{key}']").tap()
    page.locator("#keypad-done").tap()
    expect(page.locator(".players li", has_text="陳婷林")).to_be_visible()
    assert names(screen.felt)[5] == "陳婷林"
    assert not screen.trouble


@pytest.mark.sampled
def test_a_guest_and_who_left_lately_are_one_touch_away(show: Show) -> None:
    def left(felt: Felt) -> None:
        felt.to_archived()
        felt.do("leave_seat", player="Lin")

    screen = show(left, stack=None, profile="washington-1-6", options={"deal.kind": "closed"})
    page, felt = screen.page, screen.felt
    free = page.locator(".players .free")
    free.get_by_role("button", name="Seat 1").tap()
    page.locator("[data-offered=Lin]").tap()
    expect(page.locator(".players li", has_text="Lin")).to_be_visible()
    free.get_by_role("button", name="Seat 5").tap()
    expect(page.locator("[data-offered]")).to_have_text(["Guest"])
    page.locator("[data-offered]").tap()
    expect(page.locator(".players li", has_text="Guest")).to_be_visible()
    assert (names(felt)[1], names(felt)[5]) == ("Lin", "Guest")


# ---- PINs ----


@pytest.mark.sampled
def test_a_floor_person_keys_the_first_letters_of_the_name_and_nobodys_is_offered(show: Show) -> None:
    screen = show(judged)
    page = screen.page
    pin_asked(page)
    assert "Ngo" not in page.content()
    assert "Moreno F." not in page.content(), "the player Moreno is another one"
    for figure in "258053":
        page.locator(f"#keypad [data-key='{figure}']").tap()
    expect(page.locator("#keypad-done")).to_be_disabled()
    key_name(page, "ng")
    expect(page.locator("#keypad-done")).to_be_enabled()
    page.locator("#keypad-done").tap()
    screen.wait_for_phase("settled")


@pytest.mark.sampled
def test_the_name_keyed_before_is_not_offered_to_the_next_person(show: Show) -> None:
    page = show(judged).page
    pin_asked(page)
    key_name(page, "ng")
    page.locator("#keypad [data-close]").tap()
    pin_asked(page)
    expect(page.locator("#keypad-who")).to_have_text("Your name…")


@pytest.mark.sampled
def test_nothing_is_keyed_while_the_screen_waits_and_everybody_sees_for_how_long(show: Show) -> None:
    screen = show(locked_out)
    page = screen.page
    pin_locked(page)
    page.locator("#keypad [data-key='1']").tap()
    expect(page.locator("#keyed")).to_have_text("")
    expect(page.locator("#keyed-says")).to_have_text("After wrong PINs: wait 1:00")
