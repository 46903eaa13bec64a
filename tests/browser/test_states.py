"""Every state of every page: does it fit, can everybody use it, is it light, does it look as it is meant to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from firmware.table import Ask, Phase
from tests.browser.axe import axe, barriers
from tests.browser.golden import FOLDER, MOST, different, load
from tests.browser.state import State
from tests.browser.states import STATES
from tests.browser.visits import LAYOUT, SIZES, Visitor, small

pytestmark = pytest.mark.browser

HEAVIEST = 150_000
"""Bytes of a page without camera pictures."""

each_state = pytest.mark.parametrize("state", STATES, ids=lambda state: state.name.replace(" ", "-"))


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
def test_nothing_overflows_and_no_text_lies_on_another(visitor: Visitor, state: State) -> None:
    visit = visitor.visit(state)
    assert visit.misfits == {size: [] for size in SIZES}
    assert visit.trouble == []


@each_state
def test_no_word_stands_outside_the_catalogues(visitor: Visitor, state: State) -> None:
    assert visitor.visit(state).unsaid == []


@each_state
def test_axe_finds_no_serious_barrier(visitor: Visitor, state: State) -> None:
    axe()
    assert visitor.visit(state).barriers == []


@each_state
def test_the_page_is_light(visitor: Visitor, state: State) -> None:
    assert 0 < visitor.visit(state).weight <= HEAVIEST


@each_state
def test_it_looks_as_it_is_meant_to(visitor: Visitor, state: State) -> None:
    """`make golden` takes the pictures anew; look at each before you commit it."""
    assert different(small(visitor.visit(state).picture), load(FOLDER / state.file)) <= MOST


def test_every_phase_and_every_question_is_among_the_states(visitor: Visitor) -> None:
    tables = [table for state in STATES if (table := visitor.visit(state).table)]
    assert {table.phase for table in tables} == set(Phase)
    assert {question.what for table in tables for question in table.questions} == set(Ask)


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
    ],
)
def test_the_look_for_misfits_finds_them(blank: Page, body: str, finding: str) -> None:
    blank.set_content(f"<style>body,p{{margin:0;font:16px sans-serif}}</style>{body}")
    assert [said for said in blank.evaluate(LAYOUT, {"scrolls": False}) if finding in said]


def test_the_look_for_misfits_lets_a_good_page_pass(blank: Page) -> None:
    blank.set_content("<p style='font:16px/1 sans-serif'>one<br>two</p><p>three</p>")
    assert blank.evaluate(LAYOUT, {"scrolls": False}) == []


def test_axe_finds_a_barrier(blank: Page) -> None:
    axe()
    blank.set_content("<html lang='en'><title>t</title><main><h1>t</h1><button></button></main></html>")
    assert [said for said in barriers(blank) if said.startswith("button-name")]


def test_a_button_that_moved_makes_another_picture() -> None:
    meant = np.full((240, 400, 3), 30, np.uint8)
    meant[50:70, 50:110] = 220
    moved = np.roll(meant, 8, axis=1)
    assert different(meant, meant) == 0
    assert different(moved, meant) > MOST
    assert different(meant[:100], meant) == 1
