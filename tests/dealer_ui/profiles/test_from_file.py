"""A profile's text comes to the table on the page: all mistakes are said at once, in the page's language."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from flask.testing import FlaskClient

from dealer_ui.profiles.from_file import ADDRESS
from dealer_ui.server.app import Settings, create_app
from dealer_ui.text.i18n import COOKIE, LANGUAGES, SOURCE
from firmware.record.journal.journal import JournalReader
from firmware.record.stick_request import Progress, StickProfile, write_profiles
from firmware.rules import load_profile, parse_profile, profile_toml
from tests.dealer_ui.house import page_of, table
from tests.firmware.rules.test_one_gate import MANY, REFUSED
from tests.firmware.running_table import Table

__all__ = ["table"]

FLOOR: Final = {"by": "Moreno", "pin": "258053"}
OURS: Final = '[profile]\nname = "ours"\ntitle = "Our game"\nextends = "traditional"\n[foul]\npoints = 7\n'


@pytest.fixture
def client(table: Table) -> FlaskClient:
    app = page_of(table)
    client = app.test_client()
    client.environ_base["HTTP_X_CSRF_TOKEN"] = app.config["CSRF_TOKEN"]
    return client


def bring(client: FlaskClient, do: str, text: object, **more: Any) -> Any:
    return client.post(ADDRESS, json={"do": do, "text": text, **more})


def test_all_mistakes_come_at_once_each_with_its_line_and_the_options_title(client: FlaskClient) -> None:
    answer = bring(client, "check", MANY.replace('{\n  "QQ" = 1 }', "3"))
    assert answer.status_code == 422
    mistakes = answer.json["mistakes"]
    assert [one["line"] for one in mistakes] == [2, 3, 8, 11, 13, 14, 17]
    assert mistakes[2] == {
        "line": 8,
        "key": "foul.points",
        "says": "“Penalty” (foul.points) = 'six' will not do: allowed: a whole number, 0 or more",
    }


@pytest.mark.parametrize("name", REFUSED)
def test_the_page_refuses_what_every_other_way_refuses(client: FlaskClient, table: Table, name: str) -> None:
    text, _why = REFUSED[name]
    before = len(JournalReader(table.config.data).of_type("profile_kept"))
    for do in ("check", "keep"):
        answer = bring(client, do, text, reason="a test", **FLOOR)
        assert answer.status_code == 422
        assert all(one["says"] and one["key"] for one in answer.json["mistakes"])
    assert len(JournalReader(table.config.data).of_type("profile_kept")) == before


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != SOURCE])
def test_every_mistake_is_said_in_the_pages_language(client: FlaskClient, code: str) -> None:
    texts = [
        *(text for text, _why in REFUSED.values()),
        MANY,
        "",
        "[profile]",
        "x = [",
        'a = "',
        "a = 1\na = 2",
        "a = b",
    ]
    for text in texts:
        client.delete_cookie(COOKIE)
        english = bring(client, "check", text).json["mistakes"]
        client.set_cookie(COOKIE, code)
        other = bring(client, "check", text).json["mistakes"]
        assert [(one["line"], one["key"]) for one in other] == [(one["line"], one["key"]) for one in english]
        for ours, theirs in zip(english, other, strict=True):
            assert ours["says"] != theirs["says"]
            assert "%(" not in theirs["says"]


def test_a_text_is_written_down_with_a_pin_and_becomes_a_version(client: FlaskClient, table: Table) -> None:
    checked = bring(client, "check", OURS)
    assert (checked.status_code, checked.json["name"]) == (200, "ours")
    assert "Our game becomes the profile ours" in checked.json["says"]
    refused = bring(client, "keep", OURS, reason="a test")
    assert (refused.status_code, refused.json["ask"]) == (403, ["floor"])
    assert bring(client, "keep", OURS, reason="a test", **FLOOR).status_code == 200
    (row,) = JournalReader(table.config.data).of_type("profile_kept")
    assert row.event.hash == parse_profile(OURS).hash  # type: ignore[attr-defined]
    assert "A foul pays 7 points to each opponent." in client.get("/profiles/ours").text
    assert "its newest version" in bring(client, "check", OURS).json["says"]


def test_a_copy_of_a_packaged_profile_is_not_written_down_again(client: FlaskClient) -> None:
    answer = bring(client, "keep", profile_toml(load_profile("traditional")), reason="a test", **FLOOR)
    assert answer.status_code == 422
    assert "is a packaged profile" in answer.json["mistakes"][0]["says"]


@pytest.mark.parametrize("text", [None, 5, ["x"]])
def test_what_is_no_text_is_no_order(client: FlaskClient, text: object) -> None:
    assert bring(client, "check", text).status_code == 400
    assert bring(client, "burn", OURS).status_code == 400


def test_a_text_longer_than_any_profile_is_refused(client: FlaskClient) -> None:
    assert "too long" in bring(client, "check", "#" * 60_001).json["mistakes"][0]["says"]
    assert bring(client, "check", "#" * 600_000).status_code == 413


def test_the_list_leads_to_the_page_and_no_profile_can_take_its_address(client: FlaskClient) -> None:
    assert f'href="{ADDRESS}"' in client.get("/profiles").text
    shown = client.get(ADDRESS).text
    assert 'type="file"' in shown
    assert 'type="file"' not in client.get(f"{ADDRESS}?kiosk").text, "its browser opens no files"
    text = OURS.replace('"ours"', '"_file"')
    assert bring(client, "check", text).json["mistakes"][0]["key"] == "profile.name"


# ---- from a stick ----


@pytest.fixture
def beside(table: Table, tmp_path: Path) -> tuple[FlaskClient, Path]:
    """A page that is told of sticks in a folder of the test."""
    progress = tmp_path / "progress.json"
    app = create_app(Settings(table.config.data, table.config.socket, stick=progress))
    return app.test_client(), progress


def told(client: FlaskClient, job: str) -> Any:
    return client.get(f"{ADDRESS}/stick?job={job}").json


def test_the_profiles_of_a_stick_come_once_they_are_read(beside: tuple[FlaskClient, Path]) -> None:
    client, progress = beside
    asked = told(client, "abc")
    assert (asked["step"], asked["over"], asked["files"]) == ("asked", False, [])
    write_profiles(progress, "abc", [StickProfile("ours.toml", OURS), StickProfile("bad.toml", None)])
    Progress("abc", 0, "done").write(progress)
    done = told(client, "abc")
    assert (done["step"], done["over"]) == ("done", True)
    assert done["files"] == [{"name": "ours.toml", "text": OURS}, {"name": "bad.toml", "text": None}]
    assert told(client, "other")["files"] == []


def test_a_list_of_profiles_that_is_none_is_not_shown(beside: tuple[FlaskClient, Path]) -> None:
    client, progress = beside
    Progress("abc", 0, "done").write(progress)
    for text in (
        "",
        "[]",
        '{"id": "abc"}',
        '{"id": "abc", "files": [{"name": 5, "text": "x"}]}',
        "[" * 5_000,
    ):
        progress.with_name("profiles.json").write_text(text)
        assert told(client, "abc")["files"] == []
