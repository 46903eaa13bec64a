"""Files from the pit on the table's page: how far each is; a technician takes one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from firmware.messages import Message
from firmware.update.house import HouseFile
from firmware.uplink.inbox.requests import NOTES, FileRequest, write_list
from tests.dealer_ui.house import house, page_of
from tests.firmware.running_table import Table

WAITS = Message("A technician takes it at the table.")


def item(number: int, kind: str, state: str, why: Message | None = None, name: str = "x") -> FileRequest:
    version = name if kind == "release" else ""
    digest = f"{number:064x}"
    return FileRequest(number, digest, state, why, HouseFile(digest, 10, kind, name, version, "Ines"))


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with house(tmp_path / "house") as running:
        running.do('{"do": "void", "reason": "to end it"}')
        yield running


def client(table: Table, *, unlocked: bool = True) -> FlaskClient:
    app = page_of(table)
    made = app.test_client()
    made.environ_base["HTTP_X_CSRF_TOKEN"] = app.config["CSRF_TOKEN"]
    if unlocked:
        done = made.post("/command", json={"do": "unlock", "by": "Tran", "pin": "913753"})
        assert done.status_code == 200, done.text
    return made


def test_what_waits_stands_first_with_its_reason_and_how_it_is_taken(table: Table) -> None:
    items = (
        item(1, "profile", "refused", Message("It was not signed by the house. Nothing was changed.")),
        item(2, "deck", "waiting", WAITS, "blue backs"),
        item(3, "release", "in_force", None, "0.3.0-1a2b3c4d"),
        item(4, "portrait", "danced"),
    )
    write_list(table.config.data / NOTES, items)
    text = client(table).get("/setup/files").text
    assert text.index("blue backs") < text.index("It was not signed by the house.")
    assert "0.3.0-1a2b3c4d" in text
    assert text.count("take_file") == 1
    assert "blue backs" in client(table).get("/setup/deck").text
    for page in ("/health", "/setup/pit"):
        assert "/setup/files" in client(table).get(page).text


def test_nothing_is_taken_while_a_hand_is_open(table: Table) -> None:
    write_list(table.config.data / NOTES, [item(2, "deck", "waiting", WAITS)])
    table.do('{"do": "next"}')
    text = client(table).get("/setup/files").text
    assert "take_file" not in text
    assert "files are taken between hands" in text


def test_only_a_technician_sees_the_files(table: Table) -> None:
    write_list(table.config.data / NOTES, [item(2, "deck", "waiting", WAITS, "blue backs")])
    assert "blue backs" not in client(table, unlocked=False).get("/setup/files").text


@pytest.mark.parametrize("text", [b"", b"[", b'[{"number": 5}]', b"\xff"])
def test_a_list_that_cannot_be_read_is_an_empty_page(table: Table, text: bytes) -> None:
    (table.config.data / NOTES).write_bytes(text)
    assert "Nothing came from the pit yet." in client(table).get("/setup/files").text
