"""The demo's /sim page in a real Chromium: a finger moves the puck, presses, pulls cables and spoils the light."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dealer_ui.server.app import Settings, create_app
from firmware.runtime.socket_server import CommandSocket
from firmware.simulation.room_page.page import add_to
from firmware.table_client import TableLink
from tests.browser.conftest import SIZES, each_size, own_window
from tests.dealer_ui.served import served
from tests.firmware.simulation.sim_room import Things, things
from tests.waiting import until

pytestmark = pytest.mark.browser

Open = Callable[[str], Page]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Things]:
    with things(tmp_path) as made:
        yield made


@pytest.fixture
def window(here: Things, chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    with ExitStack() as stack:
        orders = stack.enter_context(closing(CommandSocket(tmp_path / "room.sock", here.room.answer)))
        orders.start()
        app = create_app(Settings(tmp_path, tmp_path / "table.sock"))
        add_to(app, TableLink(tmp_path / "room.sock"))
        port = stack.enter_context(served(app))
        trouble: list[str] = []

        def open_page(size: str) -> Page:
            page = own_window(chromium, size)
            stack.callback(page.close)
            page.on("pageerror", lambda error: trouble.append(str(error)))
            page.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
            page.goto(f"http://127.0.0.1:{port}/sim")
            expect(page.get_by_role("button", name="Be the dealer yourself")).to_be_visible()
            return page

        yield open_page
    assert trouble == []


def test_a_finger_moves_the_puck_presses_pulls_and_spoils(window: Open, here: Things) -> None:
    page = window("kiosk")
    page.get_by_role("button", name="Seat 4").tap()
    expect(page.locator("[data-seat='4'] i")).to_have_text("D A")
    until(lambda: {seat for seat, _ in here.puck.standing.tags} == {4})

    white = page.locator("[data-push=next]")
    white.hover()
    page.mouse.down()
    expect(white).to_have_class("push white down")
    until(lambda: here.panel.down() == {"next"})
    page.mouse.up()
    expect(white).to_have_class("push white")
    until(lambda: here.panel.down() == frozenset())

    cable = page.locator("[data-toggle='camera.plugged']")
    cable.tap()
    expect(cable).to_have_text("Plug it in")
    until(lambda: not here.camera.spoil.plugged)

    glare = page.locator("[data-knob=glare]")
    glare.fill("0.6")
    expect(page.locator("label", has=glare).locator("output")).to_have_text("60 %")
    until(lambda: here.camera.spoil.glare == 0.6)

    page.get_by_role("button", name="All well again").tap()
    expect(cable).to_have_text("Pull the cable")
    expect(page.locator("label", has=glare).locator("output")).to_have_text("0 %")
    until(lambda: here.camera.spoil.plugged and here.camera.spoil.glare == 0)

    up = page.get_by_role("button", name="Turn the cards up")
    expect(up).to_be_disabled()
    page.get_by_role("button", name="Be the dealer yourself").tap()
    expect(up).to_be_enabled()
    up.tap()
    expect(page.get_by_role("button", name="Let the dealer play")).to_be_visible()
    until(lambda: here.done == ["turn_up"])


@each_size
def test_everything_is_in_view_apart_and_big_enough_for_a_finger(window: Open, size: str) -> None:
    page = window(size)
    width, height = SIZES[size]
    rem = min(width / 40, height / 24)
    boxes = []
    for one in page.locator("button, a.act, input").all():
        box = one.bounding_box()
        assert box is not None
        assert box["height"] >= 2.5 * rem - 1, one.text_content()
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= width + 1, one.text_content()
        assert box["y"] + box["height"] <= height + 1, one.text_content()
        boxes.append((box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]))
    for number, (left, top, right, bottom) in enumerate(boxes):
        for other_left, other_top, other_right, other_bottom in boxes[number + 1 :]:
            apart = right <= other_left + 1 or other_right <= left + 1
            assert apart or bottom <= other_top + 1 or other_bottom <= top + 1


def test_the_dealers_page_leads_to_the_room_in_the_demo_only(window: Open) -> None:
    page = window("desk")
    page.get_by_role("link", name="The dealer's page").tap()
    expect(page.locator("#more a[href='/sim']")).to_have_text("The simulated room")
