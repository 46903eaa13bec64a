"""Every state of every page: does it fit, can everybody use it, is it light, does it look as it is meant to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from firmware.table import Ask, Phase
from tests.browser.axe import axe, barriers, has_axe
from tests.browser.golden import FOLDER, GUIDED, LANGUAGES, MAX_DIFFERENCE, SCREENS, different, golden, load
from tests.browser.state import State
from tests.browser.states import STATES
from tests.browser.visits import SIZES, Visitor, misfits, played, small

pytestmark = pytest.mark.browser

HEAVIEST = 150_000
"""Bytes of a page without camera pictures."""

MAIN: Final = frozenset(
    {*{state.path.partition("?")[0]: state.name for state in reversed(STATES)}.values()}
    | {"settled with a foul", "unsure card", "card pad", "placing", "between hands", "training foul asked"}
)
"""Each page's first state, and what the dealer sees most: barriers are looked for here.

In all states, that is done by `make test-all`. `make test` looks at these and at a share of the others.
"""

each_state = pytest.mark.parametrize(
    "state",
    [
        pytest.param(
            state, marks=[] if state.name in MAIN else pytest.mark.sampled, id=state.name.replace(" ", "-")
        )
        for state in STATES
    ],
)


@pytest.fixture(scope="session")
def visitor(chromium: Browser) -> Iterator[Visitor]:
    visitor = Visitor(chromium)
    yield visitor
    visitor.close()


@pytest.fixture
def blank(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page(viewport={"width": 800, "height": 480})
    yield page
    page.close()


@each_state
def test_a_state_fits_is_said_in_every_language_is_light_and_looks_as_it_is_meant_to(
    visitor: Visitor, state: State
) -> None:
    """One visit, and all that is wrong with it. `make golden` takes the pictures again; look at each."""
    visit = visitor.visit(state, axe=state.name in MAIN and has_axe())
    found = {
        "does not fit": visit.misfits["kiosk"],
        "barriers": visit.barriers,
        "trouble in the console": visit.trouble,
        "in no catalogue": visit.unsaid,
        "heavier than allowed, bytes": [visit.weight] if not 0 < visit.weight <= HEAVIEST else [],
        "share of pixels unlike the golden picture": too_different(
            visit.pictures["kiosk"], FOLDER / state.file
        ),
    }
    assert {what: findings for what, findings in found.items() if findings} == {}


def too_different(png: bytes, meant: Path) -> list[float]:
    share = different(small(png), load(meant))
    return [share] if share > MAX_DIFFERENCE else []


@pytest.mark.exhaustive
@each_state
def test_a_state_fits_in_every_size_and_has_no_serious_barrier(visitor: Visitor, state: State) -> None:
    axe()
    visit = visitor.visit(state, tuple(SIZES), axe=True)
    assert visit.misfits == {size: [] for size in SIZES}
    assert visit.barriers == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("language", LANGUAGES)
@each_state
def test_a_state_fits_both_screens_in_another_language(visitor: Visitor, state: State, language: str) -> None:
    """And the states that say most look as they are meant to."""
    if state.language:
        pytest.skip("it has a language of its own")
    visit = visitor.visit(replace(state, language=language), SCREENS)
    unlike = {
        size: too_different(png, golden(state, language, size))
        for size, png in visit.pictures.items()
        if state.name in GUIDED
    }
    assert visit.misfits == {size: [] for size in SCREENS}
    assert {size: share for size, share in unlike.items() if share} == {}


def test_every_phase_and_every_question_is_among_the_states() -> None:
    phases, questions = set(Phase), set(Ask)
    for state in STATES:
        with ExitStack() as stack:
            table = played(state, stack).state
        phases.discard(table.phase)
        questions -= {question.what for question in table.questions}
        if not phases and not questions:
            return
    pytest.fail(f"in no state: {phases | questions}")


# ---- what looks must be able to find something ----


def test_the_states_have_names_of_their_own() -> None:
    assert len({state.file for state in STATES}) == len(STATES)
    assert {path.name for path in FOLDER.glob("*.png")} == {state.file for state in STATES}


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        ("<p style='width:900px'>wide</p>", "px wide"),
        ("<p style='height:600px'>high</p>", "px high"),
        ("<p style='width:30px;overflow:hidden;white-space:nowrap'>much too long</p>", "cut at its side"),
        ("<p style='height:6px;overflow:hidden'>cut</p>", "cut above or below"),
        (
            "<p style='position:fixed;top:9px'>one</p><p style='position:fixed;top:12px'>two</p>",
            "one lies on two",
        ),
        ("<p style='position:fixed;left:-20px'>gone</p>", "off the screen's side"),
        ("<h1>one</h1><h1>two</h1>", "2 titles (h1)"),
        ("<p>none</p>", "0 titles (h1)"),
    ],
)
def test_the_look_for_misfits_finds_them(blank: Page, body: str, finding: str) -> None:
    blank.set_content(f"<style>body,p{{margin:0;font:16px sans-serif}}</style>{body}")
    assert [said for said in misfits(blank) if finding in said]


def test_the_look_for_misfits_lets_a_good_page_pass(blank: Page) -> None:
    blank.set_content("<h1>title</h1><p style='font:16px/1 sans-serif'>one<br>two</p><p>three</p>")
    assert misfits(blank) == []


def test_axe_finds_a_barrier(blank: Page) -> None:
    axe()
    blank.set_content("<html lang='en'><title>t</title><main><h1>t</h1><button></button></main></html>")
    assert [said for said in barriers(blank) if said.startswith("button-name")]


def test_a_button_that_moved_makes_another_picture() -> None:
    meant = np.full((240, 400, 3), 30, np.uint8)
    meant[50:70, 50:110] = 220
    moved = np.roll(meant, 8, axis=1)
    assert different(meant, meant) == 0
    assert different(moved, meant) > MAX_DIFFERENCE
    assert different(meant[:100], meant) == 1
