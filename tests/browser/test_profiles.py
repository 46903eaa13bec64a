"""Rule profiles changed by touch: nothing that is typed is lost, and what is kept can be put in force."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dealer_ui.server.app import Settings, create_app
from firmware.record.journal.journal import JournalReader
from tests.browser.dealer import key_name
from tests.browser.visits import SIZES
from tests.dealer_ui.house import PEOPLE, house
from tests.dealer_ui.served import served
from tests.firmware.running_table import Table
from tests.waiting import DEADLINE

pytestmark = pytest.mark.browser


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with house(tmp_path) as running:
        running.do('{"do": "void", "reason": "for the test"}')
        yield running


@pytest.fixture
def page(chromium: Browser, table: Table) -> Iterator[Page]:
    with served(create_app(Settings(table.config.data, table.config.socket))) as port:
        width, height = SIZES["kiosk"]
        context = chromium.new_context(
            has_touch=True,
            reduced_motion="reduce",
            base_url=f"http://127.0.0.1:{port}",
            viewport={"width": width, "height": height},
        )
        context.set_default_timeout(1000 * DEADLINE)
        yield context.new_page()
        context.close()


def spell(page: Page, field: str, letters: str) -> None:
    page.locator(f'[name="{field}"]').tap()
    for letter in letters:
        page.locator(f'#letters [data-letter="{letter}"]').tap()
    page.locator("#letters-done").tap()


def give_reason_and_pin(page: Page, reason: int) -> None:
    page.locator("[data-reason]").nth(reason).tap()
    page.locator("#reason-done").tap()
    expect(page.locator("#pin-dialog")).to_be_visible()
    key_name(page, "moreno")
    for figure in PEOPLE["Moreno"][1] or "":
        page.locator(f'#pin-dialog [data-key="{figure}"]').tap()
    page.locator("#pin-dialog [data-done]").tap()


def test_a_game_of_the_house_is_written_down_and_put_in_force_by_touch(page: Page, table: Table) -> None:
    page.goto("/profiles/traditional/edit")
    spell(page, "name", "friday")
    page.locator('[name="foul.points"]').tap()
    for figure in "12":
        page.locator(f'#figures-dialog [data-key="{figure}"]').tap()
    page.locator("#figures-dialog [data-done]").tap()
    field = page.locator('[data-field="foul.points"]')
    expect(field).to_contain_text("A foul pays 12 points to each opponent.")
    page.locator("label.choice", has_text="A middle row equal to the back row is a foul.").tap()
    page.locator("#keep").tap()
    give_reason_and_pin(page, 1)
    expect(page).to_have_url(f"{page.url.split('/profiles')[0]}/profiles/friday")
    expect(page.locator("main")).to_contain_text("A foul pays 12 points to each opponent.")
    page.locator('[data-ask="use"]').tap()
    give_reason_and_pin(page, 0)
    expect(page.locator(".mark.force").first).to_be_visible()
    table.do('{"do": "next"}')
    opened = table.state.opened
    assert opened is not None
    assert opened.profile == "friday"
    (row,) = JournalReader(table.config.data).of_type("profile_kept")
    assert row.actor == "floor:Moreno"


@pytest.mark.sampled
def test_what_is_typed_outlives_a_refusal_and_a_reload(page: Page) -> None:
    page.goto("/profiles/california-face-up/edit")
    page.locator('[name="bonus.front:QQ"]').fill("eleven")
    page.locator('[data-field="irregularities.misdeal"] textarea').fill("The floor decides.")
    page.locator("[data-up]").nth(1).tap()
    page.locator("#check").tap()
    wrong = page.locator('[data-field="bonus.front"] .wrong')
    expect(wrong).to_contain_text("QQ must have whole points")
    expect(page.locator('[data-field="name"] .wrong')).to_be_visible()
    page.reload()
    expect(page.locator("#restored")).to_be_visible()
    expect(page.locator('[name="bonus.front:QQ"]')).to_have_value("eleven")
    expect(page.locator('[data-field="irregularities.misdeal"] textarea')).to_have_value("The floor decides.")
    expect(page.locator(".kinds li").first).to_contain_text("dragon (one card of every rank)")
    page.locator("#forget").tap()
    expect(page.locator('[name="bonus.front:QQ"]')).to_have_value("7")
    expect(page.locator("#restored")).to_be_hidden()


def choose(page: Page, text: bytes) -> None:
    page.locator("#file-chosen").set_input_files(
        {"name": "ours.toml", "mimeType": "application/toml", "buffer": text}
    )


@pytest.mark.sampled
def test_a_file_is_mended_on_the_page_and_written_down_and_nothing_of_it_is_lost(
    page: Page, table: Table
) -> None:
    page.goto("/profiles")
    page.get_by_role("link", name="From a file").tap()
    page.wait_for_url("**/profiles/_file")  # with its scripts
    choose(page, b"\xff\xfe\x00")
    expect(page.locator("#error")).to_contain_text("no text in UTF-8")
    choose(
        page, b'[profile]\nname = "ours"\nextends = "traditional"\n[foul]\npoints = "six"\nequal_rows = 1\n'
    )
    mistakes = page.locator("#file-mistakes li")
    expect(mistakes).to_have_count(2)
    expect(mistakes.first).to_contain_text("Line 5")
    expect(mistakes.first).to_contain_text("“Penalty” (foul.points) = 'six' will not do")
    mistakes.first.locator("button").tap()
    chosen = "text => text.value.slice(text.selectionStart, text.selectionEnd)"
    text = page.locator("#file-text")
    assert text.evaluate(chosen) == 'points = "six"'
    page.reload()
    expect(text).to_have_value(re.compile('points = "six"'))
    text.fill('[profile]\nname = "ours"\nextends = "traditional"\n[foul]\npoints = 6\n')
    page.locator("#file-keep").tap()
    give_reason_and_pin(page, 1)
    expect(page.locator("main")).to_contain_text("A foul pays 6 points to each opponent.")
    (row,) = JournalReader(table.config.data).of_type("profile_kept")
    assert (row.actor, row.event.name) == ("floor:Moreno", "ours")  # type: ignore[attr-defined]


@pytest.mark.sampled
def test_the_wait_is_counted_down_in_a_profiles_pin_dialog(page: Page) -> None:
    page.goto("/profiles/traditional")
    page.locator('[data-ask="use"]').tap()
    page.locator("[data-reason]").first.tap()
    page.locator("#reason-done").tap()
    expect(page.locator("#pin-dialog")).to_be_visible()
    key_name(page, "moreno")
    for _ in range(3):
        for _figure in range(4):
            page.locator("#pin-dialog [data-key='1']").tap()
        page.locator("#pin-dialog [data-done]").tap()
        expect(page.locator("#keyed")).to_be_empty()
    expect(page.locator("#pin-waits")).to_contain_text("After wrong PINs: wait 0:")
    expect(page.locator("#pin-dialog [data-key='1']")).to_be_disabled()
