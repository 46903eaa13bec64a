"""The states of the pages of rule profiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from playwright.sync_api import Page

from firmware.access.control import AccessControl
from firmware.access.pins import PinStore
from firmware.rules import load_profile, profile_toml
from firmware.table import events as ev
from firmware.table.people import Role
from tests.browser.state import Act, State, touch
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import ticking

REASONS: Final = ("The house changes its rules", "A mistake is put right")


def kept(felt: Felt) -> None:
    """The house has written two versions of its own game down; another one is in force, and a hand is open."""
    felt.to_setting()
    traditional = load_profile("traditional")
    own = replace(traditional, name="friday-game", title="Friday Game", based_on="traditional")
    for points, reason in zip((4, 6), REASONS, strict=True):
        text = profile_toml(own.with_options({"foul.points": points, "scoring.scoop": points})).encode()
        digest = felt.journal.keep("profile", text)
        felt.journal.append([ev.ProfileKept("friday-game", digest, reason)], "floor:Moreno F.")


def judged(felt: Felt) -> None:
    """The same, and what asks for a floor person asks for their PIN."""
    kept(felt)
    felt.access = AccessControl(PinStore(felt.folder), lambda: 0.0)
    felt.say(ev.PersonListed("Moreno F.", Role.FLOOR, PinStore(felt.folder).keep("258053")))


def at(path: str) -> Act:
    """Scroll to an option."""

    def act(page: Page) -> None:
        page.locator(f'[data-field="{path}"]').evaluate("one => one.scrollIntoView()")

    return act


def mistaken(page: Page) -> None:
    """Type what will not do, and let it be checked."""
    page.locator('[name="name"]').fill("Friday!")
    page.locator('[name="foul.points"]').fill("nine")
    page.locator("#check").tap()
    page.wait_for_selector('[data-field="foul.points"] .wrong >> visible=true')
    at("foul.points")(page)


FILE: Final = """[profile]
name = "Friday game"
title = "Friday Game"
extends = "traditional"

[foul]
points = "six"

[bonus]
midle = { full_house = 12, four_of_a_kind = 2 }
"""


def from_file(page: Page) -> None:
    """Choose a file that will not do."""
    page.locator("#file-chosen").set_input_files(
        {"name": "friday.toml", "mimeType": "application/toml", "buffer": FILE.encode()}
    )
    page.wait_for_selector("#file-mistakes li")
    page.locator("#file-mistakes").evaluate("one => one.scrollIntoView()")


def figure(page: Page) -> None:
    """Touch a number."""
    at("foul.points")(page)
    touch('[name="foul.points"]')(page)
    for key in "12":
        page.locator(f'#figures-dialog [data-key="{key}"]').tap()


def why(page: Page) -> None:
    """Put it in force: a reason is asked."""
    touch('[data-ask="use"]')(page)
    touch("[data-reason]")(page)


def pin(page: Page) -> None:
    """Put it in force with a reason: the table asks for a PIN."""
    why(page)
    touch("#reason-done")(page)
    page.wait_for_selector("#pin-dialog", state="visible")


def _state(name: str, path: str, act: Act = lambda page: None, play: Any = kept) -> State:
    return State(f"game rules {name}".strip(), play, act, {"clock": ticking()}, path=path)


CALIFORNIA: Final = "/profiles/california-face-up"
PROFILES: Final = (
    _state("", "/profiles"),
    _state("of one game", CALIFORNIA),
    _state("of the house", "/profiles/friday-game"),
    _state("side by side", "/profiles/compare?one=traditional&other=california-face-up"),
    _state("form points", f"{CALIFORNIA}/edit", at("bonus.front")),
    _state("form naturals", f"{CALIFORNIA}/edit", at("naturals.kinds")),
    _state("form rows", "/profiles/traditional/edit", at("scoring.rows")),
    _state("form mistakes", "/profiles/traditional/edit", mistaken),
    _state("form number", "/profiles/traditional/edit", figure),
    _state("from a file", "/profiles/_file", from_file),
    _state("reason asked", "/profiles/friday-game", why),
    _state("PIN asked", "/profiles/friday-game", pin, judged),
)
