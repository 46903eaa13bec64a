"""What a dealer's hands and eyes ask of the page: sizes, sounds, sleep, settings, keypads."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Route, expect

from firmware.table import Phase
from firmware.table import events as ev
from tests.browser.conftest import Show, each_size
from tests.browser.dealer import key_name
from tests.browser.touches import without_camera
from tests.browser.visits import SIZES, misfits
from tests.dealer_ui.felt import HANDS, SIX_PAIRS_DEALT, Felt

pytestmark = pytest.mark.browser

SCREEN_MM = 155.0
"""The width of a 7-inch screen's picture."""
FIGURES = 0.714
"""How high this font's figures and capitals are, in em: `OS/2.sCapHeight` of both its files."""

MEASURE = """([figures, px_per_mm]) => {
    const em = (e) => parseFloat(getComputedStyle(e).fontSize);
    const least = (selector, height) => Math.min(...[...document.querySelectorAll(selector)]
        .filter((e) => e.checkVisibility()).map((e) => height(e) / px_per_mm));
    return {
        font: document.fonts.check("700 1em Felt"),
        totals: least(".total b", (e) => em(e) * figures),
        payment: least(".amount b", (e) => em(e) * figures),
        who: least(".centre .who .number", (e) => em(e) * figures),
        cards: least(".place .card .rank", (e) => e.getBoundingClientRect().height),
        categories: least(".says > b", em),
    };
}"""


@each_size
@pytest.mark.parametrize("unit", [500, 12_345])
def test_what_is_read_across_a_table_has_its_millimetres(show: Show, size: str, unit: int) -> None:
    """Figures are measured from their foot to their head, words from ascender to descender (one em of this font)."""
    screen = show(lambda felt: (felt.to_settled(), felt.pay()), size=size, unit=unit, stack=None)
    found = screen.page.evaluate(MEASURE, [FIGURES, SIZES[size][0] / SCREEN_MM])
    assert found["font"]
    assert found["totals"] >= 5
    assert found["payment"] >= 12
    assert found["who"] >= 8
    assert found["cards"] >= 4
    assert found["categories"] >= 4
    screen.felt.pay_all()
    screen.wait_for_news()
    assert screen.page.evaluate(MEASURE, [FIGURES, SIZES[size][0] / SCREEN_MM])["totals"] >= 8


@pytest.mark.sampled
def test_four_colours_are_kept_by_the_screen(show: Show) -> None:
    screen = show(Felt.to_settled)
    page = screen.page
    club = page.locator(".place .suit-c").first
    before = club.evaluate("(e) => getComputedStyle(e).color")
    page.locator("[data-open=more-dialog]").tap()
    page.locator("[data-open=screen-dialog]").tap()
    page.locator("[data-setting=deck]").tap()
    expect(club).not_to_have_css("color", before)
    after = club.evaluate("(e) => getComputedStyle(e).color")
    page.reload()
    expect(page.locator(".place .suit-c").first).to_have_css("color", after)
    assert not screen.trouble


def sounded(screen: object) -> str | None:
    return screen.page.locator("body").get_attribute("data-sounded")  # type: ignore[attr-defined,no-any-return]


@pytest.mark.sampled
def test_a_foul_is_heard_once_and_not_when_the_page_is_opened(show: Show) -> None:
    screen = show(lambda felt: (felt.to_setting(), felt.to_reading()))
    assert sounded(screen) is None
    screen.felt.read()
    screen.wait_for("body[data-sounded=foul]")
    screen.page.reload()
    screen.wait_for_news()
    assert sounded(screen) is None
    screen.felt.pay()
    screen.wait_for_news()
    assert sounded(screen) is None, "a payment is no news of a foul"


@pytest.mark.sampled
def test_a_fault_is_heard_unless_the_sounds_are_off(show: Show) -> None:
    screen = show(Felt.to_setting)
    page = screen.page
    page.locator("[data-open=more-dialog]").tap()
    page.locator("[data-open=screen-dialog]").tap()
    page.locator("[data-setting=sounds]").tap()
    screen.felt.say(ev.DeviceFault("camera", "The camera gives no picture."))
    screen.wait_for(".devices .fault")
    assert sounded(screen) is None
    screen.felt.say(ev.DeviceRecovered("camera"))
    page.locator("[data-setting=sounds]").tap()
    screen.wait_for("body[data-sounded=natural]")  # switching them on gives a sample
    screen.felt.say(ev.DeviceFault("puck", "The puck reader is not there."))
    screen.wait_for("body[data-sounded=fault]")


def test_a_natural_is_heard_when_its_verdict_is_shown_and_no_sooner(show: Show) -> None:
    def six_pairs(felt: Felt) -> None:
        felt.hands = dict(SIX_PAIRS_DEALT)
        felt.to_setting()

    screen = show(six_pairs)
    screen.felt.do("declare", seat=1)
    screen.felt.to_reading()
    screen.wait_for_phase("reading")
    assert sounded(screen) is None
    screen.felt.read()
    screen.wait_for("body[data-sounded=natural]")


@pytest.mark.sampled
def test_the_touch_that_wakes_the_screen_does_nothing_else(show: Show) -> None:
    screen = show(Felt.to_settled, own=True)
    page = screen.page
    page.clock.install()
    page.reload()
    page.clock.fast_forward(11 * 60 * 1000)
    page.wait_for_selector("#asleep", state="visible")
    box = {"x": 720, "y": 450}
    page.touchscreen.tap(**box)
    page.wait_for_selector("#asleep", state="hidden")
    page.clock.run_for(1000)
    assert screen.came == []


@pytest.mark.sampled
def test_what_happens_at_the_table_wakes_the_screen(show: Show) -> None:
    screen = show(Felt.to_settled, own=True)
    page = screen.page
    page.clock.install()
    page.reload()
    page.clock.fast_forward(11 * 60 * 1000)
    page.wait_for_selector("#asleep", state="visible")
    screen.felt.pay()
    page.wait_for_selector("#asleep", state="hidden")


@pytest.mark.sampled
def test_the_first_view_that_a_page_hears_is_no_news_and_wakes_nothing(show: Show) -> None:
    screen = show(Felt.to_settled, own=True)
    page = screen.page
    page.add_init_script("delete self.SharedWorker")  # what a worker fetches cannot be held back here
    page.route("**/events", lambda route: None)
    page.clock.install()
    page.reload()
    page.clock.fast_forward(11 * 60 * 1000)
    page.wait_for_selector("#asleep", state="visible")
    page.unroute("**/events")
    page.clock.resume()
    page.wait_for_selector("body[data-seq]")
    assert page.locator("#asleep").is_visible()


def test_an_add_on_is_keyed_by_touch_and_added_to_what_lies_there(show: Show) -> None:
    screen = show(Felt.to_archived)
    page = screen.page
    row = page.locator(".players li", has_text="Okafor")
    row.get_by_role("button", name="Add").tap()
    for key in ("2", "5", "0", "back", "00"):
        page.locator(f"[data-key='{key}']").tap()
    expect(page.locator("#keyed")).to_have_text("$2,500")
    assert page.locator("#keyed-change dd").all_inner_texts() == ["$800", "$3,300", "+$2,500"]
    page.locator("#keypad-done").tap()
    screen.wait_for(".players .stack:text-is('$3,300')")
    assert screen.felt.state.stacks["Okafor"] == 330_000


@pytest.mark.sampled
def test_an_add_on_without_an_answer_keeps_its_id_though_the_page_is_loaded_again(show: Show) -> None:
    screen = show(Felt.to_archived)
    page = screen.page
    sent: list[str] = []

    def lose_the_first(route: Route) -> None:
        sent.append(json.loads(route.request.post_data or "")["id"])
        route.abort() if len(sent) == 1 else route.continue_()

    def add() -> None:
        page.locator(".players li", has_text="Okafor").get_by_role("button", name="Add").tap()
        for key in ("2", "5", "00"):
            page.locator(f"[data-key='{key}']").tap()
        page.locator("#keypad-done").tap()

    page.route("**/command", lose_the_first)
    add()
    screen.until(lambda: len(sent) == 1)
    page.reload()
    add()
    screen.until(lambda: len(sent) == 2)
    assert sent[0] == sent[1]
    screen.wait_for(".players .stack:text-is('$3,300')")
    assert screen.felt.state.stacks["Okafor"] == 330_000
    screen.until(lambda: page.evaluate("sessionStorage.getItem('unanswered')") == "{}")
    add()
    screen.until(lambda: len(sent) == 3)
    assert sent[2] != sent[1], "another add-on has an id of its own"


def test_a_sum_below_the_houses_least_cannot_be_entered(show: Show) -> None:
    screen = show(
        lambda felt: (felt.to_archived(), felt.do("count_stack", player="Okafor", stack=0, reason="Counted"))
    )
    page = screen.page
    page.locator(".players li", has_text="Okafor").get_by_role("button", name="Buy in").tap()
    page.locator("[data-key='9']").tap()
    expect(page.locator("#keypad-done")).to_be_disabled()
    expect(page.locator("#keyed-says")).to_have_text("At least $150.")


@pytest.mark.sampled
def test_a_refused_command_is_given_again_with_the_pin_of_who_may(show: Show) -> None:
    screen = show(Felt.to_archived)
    page = screen.page
    sent: list[dict[str, object]] = []

    def judge(route: Route) -> None:
        order = json.loads(route.request.post_data or "")
        if order["do"] == "unlock":  # how long the screen waits yet
            route.fulfill(json={"ok": False, "error": "", "wait_s": 0})
            return
        sent.append(order)
        if "pin" in order:
            route.fulfill(json={"ok": True, "seq": 1})
        else:
            answer = {"ok": False, "error": "That asks for a PIN: floor.", "ask": ["floor"]}
            route.fulfill(status=403, json={**answer, "wait_s": 0})

    page.route("**/command", judge)
    page.locator("[data-open=more-dialog]").tap()
    page.get_by_role("button", name="Reopen hand 1").tap()
    page.wait_for_selector("#keypad-title:has-text('asks for a PIN')")
    key_name(page, "vu")
    for key in "258053":
        page.locator(f"[data-key='{key}']").tap()
    assert "258053" not in page.inner_text("#keypad")
    page.locator("#keypad-done").tap()
    screen.until(lambda: len(sent) > 1)
    assert [order["do"] for order in sent] == ["reopen", "reopen"]
    assert (sent[-1]["by"], sent[-1]["pin"]) == ("Vu", "258053"), "as a name begins: with a capital letter"


@pytest.mark.sampled
def test_a_hand_without_a_camera_is_keyed_row_after_row_on_one_pad(show: Show) -> None:
    screen = show(without_camera)
    page = screen.page
    for seat in (1, 2, 3, 4):  # the first pad has opened by itself
        for row, cards in zip(ev.ROWS, HANDS[seat], strict=True):
            if (seat, row) == (4, "back"):
                break  # the deck's last cards send themselves
            page.wait_for_selector(f"#pad-title:has-text('Seat {seat} · {row}')")
            for code in cards.split():
                page.locator(f"#pad [data-card='{code}']").tap()
    screen.wait_for_phase("settled")
    assert screen.felt.state.phase is Phase.SETTLED
    assert not screen.trouble


@pytest.mark.sampled
def test_the_pad_of_a_row_does_not_come_again_before_the_table_has_taken_it(show: Show) -> None:
    """News that comes between a row and its answer shows that row as missing still."""

    screen = show(without_camera, own=True)
    page = screen.page
    on_their_way: list[Route] = []
    page.route("**/command", lambda route: on_their_way.append(route))
    page.wait_for_selector("#pad-title:has-text('Seat 1 · front')")
    for code in HANDS[1][0].split():
        page.locator(f"#pad [data-card='{code}']").tap()
    screen.until(lambda: on_their_way)
    screen.felt.say(ev.DeviceFault("buttons", "They do not answer."))
    page.wait_for_selector(f"body[data-seq='{screen.felt.seq}']", state="attached")
    assert not page.locator("#pad").is_visible()
    on_their_way[0].continue_()
    page.wait_for_selector("#pad-title:has-text('Seat 1 · middle')")


@pytest.mark.sampled
def test_the_rules_in_force_are_one_touch_away_in_every_phase(show: Show) -> None:
    screen = show(Felt.to_setting)
    page = screen.page
    for phase in ("setting", "reading", "settled"):
        screen.wait_for_phase(phase)
        screen.until(lambda: page.locator(".fresh").count() == 0)
        page.locator("[data-open=rules-dialog]").tap()
        page.wait_for_selector("#rules h3:has-text('Naturals')")
        page.locator("#rules-dialog [data-close]").tap()
        if phase == "setting":
            screen.felt.to_reading()
        elif phase == "reading":
            screen.felt.read()


def test_the_last_exchange_is_one_touch_away_in_the_next_hand(show: Show) -> None:
    screen = show(lambda felt: (felt.to_settled(), felt.deal()))
    screen.page.get_by_role("button", name="Last hand").tap()
    expect(screen.page.locator("#details-dialog")).to_contain_text("The last exchange: hand 1")
    expect(screen.page.locator("#details-dialog")).to_contain_text("seat 4 pays seat 2")


@pytest.mark.sampled
def test_a_floor_persons_session_covers_nothing_and_is_not_renewed_by_the_dealers_touches(show: Show) -> None:
    screen = show(Felt.to_settled)
    page = screen.page
    page.route("**/session", lambda route: route.fulfill(json={"name": "Moreno", "left_s": 25}))
    page.reload()
    chip = page.locator("#session")
    expect(chip).to_contain_text("Moreno")
    page.wait_for_selector("body[data-seq]")
    box = chip.bounding_box()
    assert box is not None
    for text in page.locator(".bar > *").all():
        other = text.bounding_box()
        assert other is not None
        assert other["x"] >= box["x"] + box["width"] - 1, "the bar begins next to the chip"
    screen.until(lambda: page.locator(".fresh").count() == 0)
    page.locator(".strip .go").tap()
    screen.wait_for_amount("$25")
    assert [order["do"] for order in screen.came] == ["mark_paid"], (
        "nobody says that the floor person is there"
    )


def test_what_is_refused_is_said_above_a_dialog(show: Show) -> None:
    screen = show(Felt.to_archived)
    page = screen.page
    refused = {"ok": False, "error": "A name has one to forty letters."}
    page.route("**/command", lambda route: route.fulfill(status=409, json=refused))
    page.locator(".players [data-amount]").first.tap()
    page.locator("[data-key='5']").tap()
    page.locator("#keypad-done").tap()
    error = page.locator("#error")
    expect(error).to_be_visible()
    page.locator("[data-open=more-dialog]").tap()
    assert error.evaluate("(e) => e.matches(':popover-open')"), "in the top layer, above what is opened"


def test_a_long_name_that_is_signed_on_pushes_no_fault_off_the_bar(show: Show) -> None:
    def dead(felt: Felt) -> None:
        felt.deal(button=None)
        felt.say(ev.DeviceFault("puck", "The puck reader is not connected."))

    page = show(dead).page
    page.evaluate(
        """() => {
          document.querySelector("#session").hidden = false;
          document.querySelector("#session [data-who]").textContent = "Maximiliane".repeat(4).slice(0, 40);
          document.querySelector("#session [data-left]").textContent = "1:55 left";
        }"""
    )
    expect(page.locator(".alert b")).to_be_in_viewport()
    assert misfits(page) == []
