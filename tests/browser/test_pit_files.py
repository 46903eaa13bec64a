"""Files that go down, in a real Chromium: the list at the pit, as it looks, and *Take* at a running table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from firmware.messages import Message, text_to_store
from pit.pages.people import PitRole
from pit.store.database import Database
from tests.browser.axe import barriers
from tests.browser.conftest import own_window
from tests.browser.dealer import key_pin
from tests.browser.pit_floor import NOW_MS, RELEASE
from tests.browser.test_pit import each_language, floor, look_as_meant, served
from tests.dealer_ui.house import page_of
from tests.dealer_ui.served import served as served_table
from tests.pit.conftest import opened_pit
from tests.pit.files.conftest import deck_text, release_key
from tests.pit.files.rig import Rig, rig
from tests.pit.pages.conftest import House, database, house, owned

__all__ = ["database", "floor", "house", "owned", "release_key"]
pytestmark = pytest.mark.browser


def add_files(database: Database) -> None:
    """A profile, a deck and a release at some tables, in every state that there is."""
    files = (
        ("11" * 32, "profile", "friday-game", ""),
        ("22" * 32, "deck", "Blue deck", ""),
        ("33" * 32, "release", "feltwatch", RELEASE),
    )
    hand = Message("A hand lies on the table.")
    disk = Message(
        "The disk has %(free)s MB to spare, and %(needed)s MB are needed. Make room first.",
        free=3,
        needed=190,
    )
    alien = Message("It was not signed by the house. Nothing was changed.")
    unchecked = Message("It is in use. Check the deck before its first hand.")
    gone = Message("It was withdrawn at the pit.")
    states: tuple[tuple[str, int, str, Message | None], ...] = (
        *(("7", 0, "in_force", None), ("3", 0, "waiting", hand), ("12", 0, "refused", alien)),
        *(("7", 1, "waiting", unchecked), ("4", 1, "withdrawn", gone)),
        *(("21", 2, "asked", disk), ("4", 2, "fetched", None)),
    )
    with database.transaction() as connection:
        for sha, kind, name, version in files:
            connection.execute(
                "INSERT INTO offered_file VALUES (%s, %s, %s, %s, 1000, 'Ines', to_timestamp(%s))",
                (sha, kind, name, version, NOW_MS / 1000 - 9000),
            )
        for number, (table, at, state, why) in enumerate(states):
            is_over = state in ("in_force", "refused", "withdrawn")
            since = NOW_MS / 1000 - 300 * number
            connection.execute(
                "INSERT INTO file_request (table_id, sha256, asked_by, asked_at, ends_at, state, why, state_at,"
                " ended_at) SELECT table_id, %s, 'Ines', to_timestamp(%s), now() + interval '30 days', %s, %s,"
                " to_timestamp(%s), CASE WHEN %s THEN to_timestamp(%s) END FROM gaming_table"
                " WHERE name = %s AND struck_at IS NULL",
                (
                    *(files[at][0], since - 60, state, text_to_store(why) if why else "", since, is_over),
                    *(since, table),
                ),
            )


@each_language
def test_the_list_of_files_looks_as_it_is_meant_to_at_each_size(
    floor: House, chromium: Browser, language: str
) -> None:
    """Where there is no picture yet, it is taken, and the test fails: look at it before you commit it."""
    add_files(floor.database)
    with served(floor, chromium, PitRole.TECHNICIAN) as page:
        page.clock.set_fixed_time(NOW_MS)
        page.goto("/log-in")
        page.evaluate(f"document.cookie = 'language={language}; path=/'")
        page.goto("/tables")
        assert barriers(page) == []
        taken = look_as_meant(page, "/tables#files", f"files-{language}")
    assert taken == [], "look at these before you commit them"


def test_a_file_is_withdrawn_by_a_touch(floor: House, chromium: Browser) -> None:
    add_files(floor.database)
    with served(floor, chromium, PitRole.TECHNICIAN) as page:
        page.goto("/tables")
        row = page.locator("tr", has_text="Blue deck").filter(has_text="waits at the table")
        row.get_by_role("button", name="Withdraw").click()
        expect(row).to_have_count(0)
        expect(page.locator("tr", has_text="Blue deck").filter(has_text="withdrawn")).to_have_count(2)
    assert [what for _, what, *_ in floor.acts() if what.startswith("files")] == ["files.withdraw"]


@pytest.fixture
def here(database: Database, tmp_path: Path, release_key: Path) -> Iterator[Rig]:
    with opened_pit("without nginx", database) as pit, rig(pit, tmp_path, release_key) as made:
        yield made


def test_a_technician_takes_a_deck_and_no_hand_is_dealt_before_it_was_checked(
    here: Rig, chromium: Browser
) -> None:
    deck = here.request("blue.json", deck_text("Blue deck", here.table.process.house.model_hash))
    here.turn()
    page = own_window(chromium)
    with served_table(page_of(here.table)) as port, closing(page.context):
        at = f"http://127.0.0.1:{port}"
        page.goto(f"{at}/setup/files?back=/health")
        key_pin(page, "913753", "tran")
        take = page.get_by_role("button", name="Use this deck")
        expect(page.locator("li.file")).to_contain_text("Blue deck")
        take.click()
        page.wait_for_function("() => !document.body.dataset.sending")
        here.turn()
        page.goto(f"{at}/setup/files?back=/health")
        expect(page.locator("li.file")).to_contain_text("Check the deck before its first hand")
        assert [row.event.unchecked for row in here.rows("deck_enrolled")] == [True]
        page.goto(f"{at}/")
        expect(page.locator("body")).to_contain_text("came from the pit and was not checked yet")
        page.goto(f"{at}/deck-check")
        expect(page.locator(".spread")).to_have_count(1)
        expect(page.locator("#tally")).to_contain_text("no hand is dealt before it was checked")
    assert here.at_pit(deck).state == "waiting"
