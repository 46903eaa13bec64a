"""A trainee's finger on the training page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from dealer_ui.server.app import Settings, create_app
from dealer_ui.training.quiz import questions
from firmware.rules import load_profile
from firmware.simulation.live.training_table import TrainingTable
from tests.browser.states_training import answer, go_on
from tests.browser.visits import SIZES
from tests.dealer_ui.served import served
from tests.waiting import DEADLINE

pytestmark = pytest.mark.browser


def test_a_trainee_answers_pays_and_goes_on_to_the_next_hand(chromium: Browser, tmp_path: Path) -> None:
    width, height = SIZES["kiosk"]
    with (
        TrainingTable(tmp_path, "traditional", seed=5) as table,
        served(create_app(Settings(table.data, table.socket, training=True))) as port,
    ):
        context = chromium.new_context(has_touch=True, viewport={"width": width, "height": height})
        context.set_default_timeout(1000 * DEADLINE)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        expect(page.locator("#band")).to_contain_text("This is not a game.")
        expect(page.locator(".quizzed")).to_be_visible()
        expect(page.locator(".total:visible, .inall:visible")).to_have_count(0)
        asked = questions(table.process.state, load_profile("traditional"))
        for question in asked:
            answer(question.answer)(page)
            expect(page.locator(".judged.yes")).to_be_visible()
            go_on(page)
        expect(page.locator('body[data-mode="felt"]')).to_be_visible()
        expect(page.locator(".total:visible, .inall:visible")).to_have_count(4)
        page.locator("[data-open=more-dialog]").tap()
        expect(page.locator("#more-dialog")).to_be_visible()
        expect(page.locator("#band:popover-open")).to_be_visible()  # in the top layer, where dialogs are
        page.locator("#more-dialog [data-close]").tap()
        page.get_by_role("button", name="Next hand").tap()
        expect(page.locator('body[data-hand="2"][data-mode="quiz"]')).to_be_visible()
        context.close()
