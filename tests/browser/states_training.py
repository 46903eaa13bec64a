"""The states of the training page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from playwright.sync_api import Page

from tests.browser.state import Act, State, opened
from tests.dealer_ui.felt import Felt


def natural_confirmed(felt: Felt) -> None:
    """Seat 1 has declared its six pairs, and the hand is settled."""
    felt.to_natural()
    felt.do("confirm", seat=1)


def answer(*answers: str) -> Act:
    """Answer questions by touch; "" is nobody, a figure is keyed. The last one's verdict stays."""

    def act(page: Page) -> None:
        for number, given in enumerate(answers):
            if number:
                go_on(page)
            figure = page.locator("[data-quiz-figure]").count() > 0
            kind = "data-quiz-key-of" if figure else "data-quiz-choice"
            if page.locator(f'[data-answer="{given}"]').count():
                page.locator(f'[data-answer="{given}"]').tap()
            else:
                for key in given.split() if not figure else given:
                    page.locator(f'[{kind}="{key}"]').tap()
                page.locator("[data-quiz=answer]").tap()
            page.wait_for_selector(".judged")

    return act


def go_on(page: Page) -> None:
    """Go on to the next question."""
    page.locator("[data-quiz=go_on]").tap()
    page.wait_for_selector(".judged", state="detached")


def after(*acts: Act) -> Act:
    """Do one after the other."""

    def act(page: Page) -> None:
        for one in acts:
            one(page)

    return act


def skip(page: Page) -> None:
    """Skip the questions."""
    page.locator("[data-quiz=skip]").tap()
    page.wait_for_selector('body[data-mode="felt"]')


def _state(
    name: str, act: Act = lambda page: None, play: Callable[[Felt], object] = Felt.to_settled
) -> State:
    return State(f"training {name}", play, act, {"training": True}, training=True)


TRAINING: Final = (
    _state("foul asked"),
    _state("natural asked", play=natural_confirmed),
    _state(
        "points keyed",
        after(answer("3", "2-3"), go_on, lambda page: page.locator('[data-quiz-key-of="7"]').tap()),
    ),
    _state("points answered", answer("3", "2-3", "7")),
    _state("settlement", skip),
    _state("more", after(skip, opened("more"))),
)
