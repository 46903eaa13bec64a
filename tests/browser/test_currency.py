"""A house's own currency under the finger: chosen by touch, then in every sum that the page and its scripts write."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from firmware.table import events as ev
from firmware.table.people import Role
from tests.browser.conftest import Show
from tests.browser.test_money import STAKE, settled_down
from tests.dealer_ui.felt import Felt

pytestmark = pytest.mark.browser

EURO = {"symbol": "€", "symbol_after": True}
HONG_KONG = {"symbol": "HK$", "symbol_after": False}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("currency", "pattern"), [(EURO, "{}\u00a0€"), (HONG_KONG, "HK${}")], ids=["after", "before"]
)
def test_payments_and_the_count_are_in_the_houses_currency(
    show: Show, currency: dict[str, object], pattern: str
) -> None:
    def sums(*figures: str) -> list[str]:
        return [
            (figure[0] if figure[0] in "+−" else "") + pattern.format(figure.lstrip("+−"))
            for figure in figures
        ]

    def settled(felt: Felt) -> None:
        felt.do("set_house", reason="the house's", **currency)
        felt.to_settled()

    screen = show(settled)
    page = screen.page
    assert page.inner_text(".amount") == sums("55")[0]
    assert page.inner_text(".place-C .role") == f"pays {sums('55')[0]}"
    assert page.inner_text(".place-C .inall b") == sums("−200")[0]
    for sum_ in sums("55", "25", "60", "45", "100", "70"):
        expect(page.locator("#strip")).to_contain_text(sum_)
    screen.felt.do("archive")
    screen.wait_for_phase("archived")
    settled_down(screen)
    expect(page.locator(".players li", has_text="Okafor").locator(".stack")).to_have_text(sums("800")[0])
    page.locator(".players li", has_text="Okafor").get_by_role("button", name="Count").tap()
    for key in ("7", "5", "0"):
        page.locator(f"[data-key='{key}']").tap()
    expect(page.locator("#keyed")).to_have_text(sums("750")[0])
    assert page.locator("#keyed-change dd").all_inner_texts() == sums("800", "750", "−50")
    for key in ("00", "0"):
        page.locator(f"[data-key='{key}']").tap()
    expect(page.locator("#keyed-says")).to_contain_text(f"Is {sums('750,000')[0]} right?")
    if currency is EURO:
        assert "$" not in page.inner_text("body")


@pytest.mark.sampled
def test_a_page_that_is_open_writes_what_is_keyed_in_the_new_currency(show: Show) -> None:
    screen = show(Felt.to_archived)
    screen.felt.do("set_house", reason="another room", **EURO)
    page = settled_down(screen)
    page.locator(".players li", has_text="Okafor").get_by_role("button", name="Count").tap()
    page.locator("[data-key='5']").tap()
    expect(page.locator("#keyed")).to_have_text("5\u00a0€")


@pytest.mark.sampled
def test_a_currency_is_chosen_by_touch_or_spelled_and_what_is_no_symbol_says_why(show: Show) -> None:
    screen = show(set_up=False)
    page, felt = screen.page, screen.felt
    page.goto(re.sub(r"(//[^/]+).*", r"\1/set-up/game", page.url))
    page.locator("[href='/set-up/game/currency']").tap()
    page.locator(".sums button", has_text="HK$1,250").tap()
    screen.until(lambda: felt.state.house.currency.pattern == "HK${}")
    expect(page.locator(".sums [aria-pressed=true]")).to_have_text(["HK$1,250", "HK$1,250"])
    page.locator(".sums button", has_text="1,250\u00a0HK$").tap()
    screen.until(lambda: felt.state.house.currency.after)
    expect(page.locator("footer .go")).to_have_text("Sums so: 1,250\u00a0HK$")

    def spelled(letters: str) -> None:
        page.locator("[data-letters=symbol]").tap()
        for letter in letters:
            page.locator(f"#letters [data-letter='{letter}']").tap()
        page.locator("#letters-done").tap()

    spelled("rupee")
    expect(page.locator("#error")).to_contain_text("A currency's symbol is 1 to 4 letters or signs")
    page.reload()
    spelled("rm")
    screen.until(lambda: felt.state.house.currency.symbol == "Rm")
    page.locator("footer .go").tap()
    expect(page.locator("#settle")).to_contain_text("5\u00a0Rm a point")
    page.locator("[data-keying=unit] [data-key='7']").tap()
    expect(page.locator("[data-keyed]")).to_have_text("0.07\u00a0Rm")


@pytest.mark.sampled
@pytest.mark.parametrize(("language", "said"), [("en", "MOP$12,345 a point"), ("es", "MOP$12,345 el punto")])
def test_the_stake_in_a_long_currency_is_never_cut(show: Show, language: str, said: str) -> None:
    def in_words(felt: Felt) -> None:
        felt.do("set_house", reason="Test", language=language, symbol="MOP$")
        felt.say(ev.PersonListed("Maximiliane Wolkenstein", Role.DEALER))
        felt.do("log_on", person="Maximiliane Wolkenstein")
        felt.to_settled()
        felt.say(ev.DeviceFault("puck", "The puck reader is not there."))

    screen = show(in_words, unit=1_234_500, stack=None)
    assert screen.page.evaluate(STAKE, said) == "whole"
