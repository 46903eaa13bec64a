"""What a state of a page is that is looked at: how a table comes to it, and what a finger then does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

from firmware.table.people import Role
from tests.dealer_ui.felt import Felt

Act = Callable[[Page], object]
STICK = "stick.json"
"""In a felt's folder: how far a dispute file is on its way to a stick."""
PIT = "pit"
"""In a felt's folder: the folder in which the uplink says how far the pit has heard."""


def _nothing(page: Page) -> None:
    """The page as it comes."""


@dataclass(frozen=True)
class State:
    """A named state: `play` brings the table there, `act` is what a finger then does on the page."""

    name: str
    play: Callable[[Felt], object] = lambda felt: None
    act: Act = _nothing
    table: Mapping[str, Any] = field(default_factory=dict)
    """How the felt is made, where not as usual."""
    answers: bool = True
    """Whether the table process answers."""
    live: bool = True
    """Whether the page's server goes on answering once the page is there."""
    path: str = "/"
    training: bool = False
    """Whether it is the training page."""
    language: str = ""
    """The browser's own, where it is not the table's."""
    role: Role | None = None
    """Who is signed on, where it is not the dealer who looks: somebody who is listed under that role first."""

    @property
    def file(self) -> str:
        """The name of its golden picture."""
        return self.name.lower().replace(" ", "-") + ".png"


def touch(selector: str) -> Act:
    """Touch the first that matches."""

    def act(page: Page) -> None:
        page.locator(selector).first.tap()

    return act


def opened(dialog: str) -> Act:
    """Open a dialog by the first button that does."""
    return touch(f"[data-open={dialog}-dialog]")
