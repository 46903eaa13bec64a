"""The states between hands: seats, names, chips."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page

from tests.browser.state import Act, State, opened, touch
from tests.dealer_ui.felt import Felt


def five(felt: Felt) -> None:
    """Five sit there: one of them waits, one passes; the longest names that there are."""
    felt.to_archived()
    felt.do("seat_player", seat=5, player="Maximiliane Wolkenstein-Oberhausen-Trost", stack=9_999_900)
    felt.do("rename_player", player="Okafor", name="W" * 40)
    felt.do("pass_round", player="Tran")


def left(felt: Felt) -> None:
    """Everybody but one has left."""
    felt.to_archived()
    for player in ("Lin", "Okafor", "Tran"):
        felt.do("leave_seat", player=player)


def spelled(name: str) -> Act:
    """Touch a free seat, then the letters of a name."""

    def act(page: Page) -> None:
        touch(".players .free [data-name]")(page)
        for letter in name:
            page.locator(f'#letters [data-letter="{letter}"]').tap()

    return act


def accented(page: Page) -> None:
    """Touch a free seat, then the key for figures and accents."""
    touch(".players .free [data-name]")(page)
    page.locator("[data-others]").tap()


def pinyin(page: Page) -> None:
    """Touch a free seat, take the key for Chinese characters, and spell a syllable that many have."""
    touch(".players .free [data-name]")(page)
    page.locator("#letters [lang=zh-Hant][data-script]").tap()
    for key in "lin":
        page.locator(f'#letters [data-letter="{key}"]').tap()
    page.wait_for_selector("[data-chinese=林]")


def names_offered(page: Page) -> None:
    """Touch a free seat: who left lately is one touch away."""
    touch(".players .free [data-name]")(page)


def brought(page: Page) -> None:
    """Spell a name and hand it in: chips are asked next."""
    spelled("bo")(page)
    page.locator("#letters-done").tap()
    page.wait_for_selector("#keypad", state="visible")


def another_hand(page: Page) -> None:
    """Reopen a hand by its number."""
    opened("more")(page)
    page.locator("#more [data-amount]").tap()


def two_hands(felt: Felt) -> None:
    """Two hands are closed."""
    felt.to_archived()
    felt.deal(3)
    felt.do("void", reason="Misdeal")


SEATS: Final = (
    State("five players", five),
    State("one player left", left),
    State("player closer", Felt.to_archived, touch("[data-open=chair-2]")),
    State("name spelled", Felt.to_archived, spelled("mary-ann o'neill")),
    State("accents", Felt.to_archived, accented),
    State("name by pinyin", Felt.to_archived, pinyin),
    State("names offered", left, names_offered),
    State("chips brought", Felt.to_archived, brought),
    State("another hand", two_hands, another_hand),
)
