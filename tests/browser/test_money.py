"""What costs money where the page is unclear: who pays whom now, a hand closed too soon, refunds, counted stacks."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from firmware.table import Phase
from firmware.table import events as ev
from firmware.table.people import Role
from tests.browser.conftest import Screen, Show
from tests.browser.dealer import hold
from tests.browser.states_play import changed_places
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import corrected

pytestmark = pytest.mark.browser

WHITE = ".strip button:has(.lamp-white)"


def settled_down(screen: Screen) -> Page:
    """Wait until what has just come takes touches."""
    screen.wait_for_news()
    screen.until(lambda: screen.page.locator(".fresh").count() == 0)
    return screen.page


def until_unpaid(screen: Screen, count: int) -> None:
    screen.until(lambda: len(screen.felt.state.unpaid) == count)


def until_paid_back(screen: Screen, number: int) -> None:
    screen.until(lambda: screen.felt.state.paybacks[number - 1].paid)


# ---- white ----


@pytest.mark.sampled
def test_white_does_what_the_pages_white_button_says_while_payments_are_open(show: Show) -> None:
    screen = show(Felt.to_settled)
    page = screen.page
    for left in range(6, 0, -1):
        expect(page.locator(WHITE)).to_have_text("Paid")
        assert len(screen.felt.state.unpaid) == left
        if left % 2:
            settled_down(screen).locator(WHITE).tap()
            until_unpaid(screen, left - 1)
        else:
            screen.felt.do("next")  # the real button
        settled_down(screen)
        assert screen.felt.state.phase is Phase.SETTLED
    expect(page.locator(WHITE)).to_have_text("Next hand")
    screen.felt.say(ev.PuckSeen("seat", 3))
    screen.felt.do("next")
    screen.wait_for_phase("dealing")
    assert screen.felt.state.hand == 2


@pytest.mark.sampled
def test_a_hand_with_open_payments_is_closed_by_a_held_button_that_says_what_is_open(show: Show) -> None:
    screen = show(lambda felt: (felt.to_settled(), felt.pay()))
    page = screen.page
    page.locator("[data-open=more-dialog]").tap()
    more = page.locator("#more")
    expect(more).to_contain_text("still to be paid 4 ▸ 2 $25, 2 ▸ 1 $60, 3 ▸ 4 $45, 3 ▸ 1 $100, 4 ▸ 1 $70")
    close = more.get_by_role("button", name="The players have settled among themselves")
    close.tap()
    page.wait_for_timeout(300)
    assert screen.came == [], "a touch alone closes nothing"
    hold(close)
    screen.wait_for_phase("archived")
    # and it is undone, until the next hand opens
    undo = page.get_by_role("button", name="Undo the closing")
    settled_down(screen)
    undo.tap()
    screen.wait_for_phase("settled")
    assert page.inner_text(".amount") == "$25"
    assert screen.felt.state.paid == {(2, 3)}
    assert not screen.trouble


@pytest.mark.sampled
def test_a_closing_is_undone_with_one_touch_though_the_next_hand_is_open(show: Show) -> None:
    def closed_and_opened(felt: Felt) -> None:
        felt.to_settled()
        felt.pay()
        felt.do("archive")
        felt.say(ev.PuckSeen("seat", 3))
        felt.do("next")

    screen = show(closed_and_opened)
    page = screen.page
    assert (screen.felt.state.phase, screen.felt.state.hand) == ("dealing", 2)
    settled_down(screen)
    page.get_by_role("button", name="Undo the closing").tap()
    screen.wait_for_phase("settled")
    assert page.inner_text(".amount") == "$25"
    assert (screen.felt.state.hand, set(screen.felt.state.paid)) == (1, {(2, 3)})
    for left in range(5, 0, -1):
        settled_down(screen).locator(WHITE).tap()
        until_unpaid(screen, left - 1)
    settled_down(screen).locator(WHITE).tap()
    screen.wait_for_phase("dealing")
    assert screen.felt.state.hand == 3, "the number of the hand never dealt stays used"
    settled_down(screen).locator(WHITE).tap()  # the cards are out
    screen.wait_for_phase("setting")
    undo = page.get_by_role("button", name="Undo the closing")
    expect(undo).to_have_count(1)
    screen.felt.do("declare", seat=1)  # the dealer says that cards lie there
    expect(undo).to_have_count(0)
    assert not screen.trouble


@pytest.mark.sampled
def test_all_paid_a_hand_is_closed_with_one_touch(show: Show) -> None:
    def all_paid(felt: Felt) -> None:
        felt.to_settled()
        felt.pay_all()

    screen = show(all_paid)
    screen.page.locator("[data-open=more-dialog]").tap()
    screen.page.get_by_role("button", name="Close the hand: seats and chips").tap()
    screen.wait_for_phase("archived")


# ---- who pays whom ----


@pytest.mark.sampled
def test_each_panel_says_what_this_payment_moves_and_who_is_not_concerned_is_dimmed(show: Show) -> None:
    screen = show(Felt.to_settled)
    page = screen.page
    assert page.inner_text(".place-C .role") == "pays $55"
    assert page.inner_text(".place-B .role") == "gets $55"
    assert page.locator(".aside").count() == 2
    assert page.locator(".place-A .aside, .place-D .aside").count() == 2
    assert page.locator(".payments b").all_inner_texts() == [
        "3 ▸ 2",
        "4 ▸ 2",
        "2 ▸ 1",
        "3 ▸ 4",
        "3 ▸ 1",
        "4 ▸ 1",
    ]
    assert "pts" not in page.inner_text("main")
    size = "(e) => parseFloat(getComputedStyle(e).fontSize)"
    small = page.locator(".place-C .inall b").evaluate(size)
    assert small < page.locator(".amount b").evaluate(size) / 2, "the total is no payment"
    colours = "(e) => getComputedStyle(e).color"
    grey = page.locator(".place-C .inall b").evaluate(colours)
    assert grey == page.locator(".place-B .inall b").evaluate(colours), (
        "who pays never stands over a large green sum"
    )
    for _ in range(6):
        screen.felt.pay()
    settled_down(screen)
    assert page.locator(".aside, .role").count() == 0
    assert page.locator(".place-C .total b").evaluate(size) > small


# ---- refunds ----


@pytest.mark.sampled
def test_a_corrected_hands_refund_is_a_large_payment_and_the_stacks_follow_as_it_is_marked(
    show: Show,
) -> None:
    screen = show(corrected)
    page = screen.page
    before = dict(screen.felt.state.stacks)
    backs = screen.felt.state.paybacks
    assert backs
    for number, back in enumerate(backs, start=1):
        settled_down(screen)
        aside = page.locator(".refund")
        expect(aside).to_contain_text(f"Payment back {number} of {len(backs)}")
        expect(aside.locator(".names")).to_have_text(f"{back.payer}{back.winner}")
        assert aside.locator(".amount").inner_text() == f"${back.amount // 100:,}"
        expect(page.locator(WHITE)).to_have_text("Paid back")
        if number == 1:
            page.locator(WHITE).tap()
        else:
            screen.felt.do("next")  # the real button does the same
        until_paid_back(screen, number)
    moved = dict.fromkeys(before, 0)
    for back in backs:
        moved[back.payer] -= back.amount
        moved[back.winner] += back.amount
    assert screen.felt.state.stacks == {p: (before[p] or 0) + moved[p] for p in before}
    settled_down(screen)
    expect(page.locator(WHITE)).to_have_text("Open a hand")


@pytest.mark.sampled
def test_a_refund_may_wait_for_the_next_break(show: Show) -> None:
    screen = show(corrected)
    screen.felt.say(ev.PuckSeen("seat", 3))
    hold(settled_down(screen).get_by_role("button", name="Later: open a hand"))
    screen.wait_for_phase("dealing")
    assert [back.paid for back in screen.felt.state.paybacks] == [False] * len(screen.felt.state.paybacks)


# ---- counted ----


@pytest.mark.sampled
def test_a_count_shows_old_new_and_difference_and_asks_beyond_the_limit(show: Show) -> None:
    screen = show(Felt.to_archived)
    page = screen.page
    page.locator(".players li", has_text="Okafor").get_by_role("button", name="Count").tap()
    change = page.locator("#keyed-change dd")
    assert change.all_inner_texts() == ["$800", "", ""]
    for key in ("7", "5", "0"):
        page.locator(f"[data-key='{key}']").tap()
    assert change.all_inner_texts() == ["$800", "$750", "−$50"]
    for key in ("00", "0"):
        page.locator(f"[data-key='{key}']").tap()
    assert change.all_inner_texts() == ["$800", "$750,000", "+$749,200"]
    expect(page.locator("#keyed-says")).to_contain_text("Is $750,000 right?")
    page.locator("#keypad-done").tap()
    page.wait_for_timeout(300)
    assert screen.came == []
    assert screen.felt.state.stacks["Okafor"] == 80_000
    hold(page.locator("#keypad-done"))
    screen.until(lambda: screen.felt.state.stacks["Okafor"] == 75_000_000)


@pytest.mark.sampled
def test_a_buy_in_shows_what_it_comes_to(show: Show) -> None:
    screen = show(
        lambda felt: (felt.to_archived(), felt.do("count_stack", player="Okafor", stack=0, reason="Counted"))
    )
    page = screen.page
    page.locator(".players li", has_text="Okafor").get_by_role("button", name="Buy in").tap()
    for key in ("2", "00"):
        page.locator(f"[data-key='{key}']").tap()
    assert page.locator("#keyed-change dd").all_inner_texts() == ["$0", "$200", "+$200"]


# ---- the stake ----

STAKE = """(wanted) => {
  const walk = document.createTreeWalker(document.querySelector("#bar"), NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const at = node.data.indexOf(wanted);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + wanted.length);
    const said = range.getBoundingClientRect();
    for (let box = node.parentElement; box !== document.body; box = box.parentElement) {
      const clip = box.getBoundingClientRect();
      if (said.left < clip.left - 1 || said.right > clip.right + 1) return `cut by ${box.className}`;
    }
    return said.width > 0 && said.right <= innerWidth ? "whole" : "not shown";
  }
  return "absent";
}"""


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "$12,345 a point"), ("es", "$12,345 el punto"), ("zh_Hans", "每分 $12,345")],
)
def test_the_stake_is_never_cut_nor_left_out(show: Show, language: str, said: str) -> None:
    def in_words(felt: Felt) -> None:
        felt.do("set_house", reason="Test", language=language)
        felt.say(ev.PersonListed("Maximiliane Wolkenstein", Role.DEALER))
        felt.do("log_on", person="Maximiliane Wolkenstein")
        felt.to_settled()

    screen = show(in_words, unit=1_234_500, stack=None)
    page, felt = screen.page, screen.felt
    assert page.evaluate(STAKE, said) == "whole"
    felt.say(ev.DeviceFault("puck", "The puck reader is not there."))
    screen.wait_for_news()
    assert page.evaluate(STAKE, said) == "whole"
    felt.say(ev.DeviceFault("camera", "The camera gives no picture."))
    screen.wait_for_news()
    assert page.evaluate(STAKE, said) == "whole"


@pytest.mark.sampled
@pytest.mark.parametrize("language", ["en", "es"])
def test_each_payment_has_room_in_the_strip_beside_what_takes_a_change_of_cards_back(
    show: Show, language: str
) -> None:
    def swapped(felt: Felt) -> None:
        felt.say(ev.HouseSet("a guest", language=language))
        changed_places(felt)

    page = show(swapped).page
    room = page.locator(".payments span").evaluate_all(
        "all => all.map(one => one.clientWidth - one.querySelector('b').getBoundingClientRect().width)"
    )
    assert len(room) == 6
    assert min(room) >= 6, room
