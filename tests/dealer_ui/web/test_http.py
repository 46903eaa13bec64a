"""The page over HTTP: what it gives, and what it refuses."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from dealer_ui.server.app import Settings, create_app
from dealer_ui.web import guard
from dealer_ui.web.services import services
from tests.dealer_ui.felt import Felt


def send(client: FlaskClient, app: Flask, command: Any, **headers: str) -> TestResponse:
    return client.post(
        "/command", json=command, headers={"X-CSRF-Token": app.config["CSRF_TOKEN"], **headers}
    )


# ---- what it gives ----


def test_the_page_is_rendered_on_the_server_with_the_settlement_in_it(
    felt: Felt, client: FlaskClient
) -> None:
    felt.to_settled()
    felt.pay()
    text = client.get("/").text
    for said in ("seat 4 pays seat 2", "$25", "FOUL · middle above back", "+$230", "Okafor"):
        assert said in text


def test_the_view_is_given_as_json(felt: Felt, client: FlaskClient) -> None:
    felt.to_settled()
    data = client.get("/view.json").get_json()
    assert data["phase"] == "settled"
    assert data["seq"] == felt.seq


def test_a_view_is_new_with_every_event(felt: Felt, client: FlaskClient) -> None:
    assert client.get("/view.json").get_json()["phase"] == "idle"
    felt.deal()
    assert client.get("/view.json").get_json()["phase"] == "dealing"
    felt.do("void", reason="Misdeal")
    assert client.get("/view.json").get_json()["phase_title"] == "Hand 1 is void"


def test_a_stored_picture_is_given_by_its_name(felt: Felt, client: FlaskClient) -> None:
    felt.deal()
    capture = felt.captures.save("000001/row.jpg", b"\xff\xd8 a picture")
    response = client.get(f"/captures/{capture.name}")
    assert response.data == b"\xff\xd8 a picture"
    assert response.mimetype == "image/jpeg"
    assert response.headers["Cache-Control"] == "no-store"
    response.close()


def test_health_is_well_only_with_a_table_that_answers(felt: Felt, app: Flask) -> None:
    response = app.test_client().get("/healthz")
    assert response.status_code == 503
    assert response.get_json()["table"] is False
    with felt.answering():
        fresh = create_app(Settings(felt.folder, felt.folder / "table.sock")).test_client()
        response = fresh.get("/healthz")
        assert response.status_code == 200
        assert response.get_json() == {
            "ok": True,
            "table": True,
            "record": True,
            "screen": "unknown",
            "trouble": "",
            "seq": felt.seq,
            "training": False,
        }


def test_a_page_is_sent_compressed_to_who_takes_it(felt: Felt, client: FlaskClient) -> None:
    felt.to_settled()
    plain = client.get("/")
    packed = client.get("/", headers={"Accept-Encoding": "gzip, br"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert len(packed.data) * 4 < len(plain.data)


# ---- commands ----


def test_a_command_reaches_the_table_and_its_event_the_page(
    felt: Felt, app: Flask, client: FlaskClient
) -> None:
    with felt.answering() as came:
        response = send(client, app, {"do": "next"})
    assert response.status_code == 200
    assert response.get_json()["ok"] is True
    assert came == [{"do": "next"}]
    assert client.get("/view.json").get_json()["phase"] == "dealing"


def test_what_the_table_refuses_comes_back_as_its_sentence(
    felt: Felt, app: Flask, client: FlaskClient
) -> None:
    felt.deal()
    with felt.answering():
        response = send(client, app, {"do": "confirm"})
    assert response.status_code == 409
    assert response.get_json() == {"ok": False, "error": "No natural waits to be confirmed."}


def test_without_a_table_process_a_command_says_so(app: Flask, client: FlaskClient) -> None:
    response = send(client, app, {"do": "next"})
    assert response.status_code == 503
    assert response.get_json()["error"] == "The table process is not running. Start it, then try again."


@pytest.mark.parametrize(
    "command",
    [{"do": "drop_table"}, {"do": ["next"]}, {}, [], "next", {"do": "next", "actor": "floor"}, None],
)
def test_what_is_no_command_of_the_page_never_reaches_the_table(
    felt: Felt, app: Flask, client: FlaskClient, command: Any
) -> None:
    with felt.answering() as came:
        assert send(client, app, command).status_code == 400
    assert came == []


def test_a_body_that_is_not_json_is_refused(felt: Felt, app: Flask, client: FlaskClient) -> None:
    response = client.post("/command", data=b"\xff{", headers={"X-CSRF-Token": app.config["CSRF_TOKEN"]})
    assert response.status_code == 400


def test_a_huge_body_is_refused(felt: Felt, app: Flask, client: FlaskClient) -> None:
    assert send(client, app, {"do": "void", "reason": "x" * 20_000}).status_code in (400, 413)


# ---- who may ----


def test_a_command_without_the_pages_token_is_refused(felt: Felt, client: FlaskClient) -> None:
    with felt.answering() as came:
        for headers in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "wrong"}, {"X-CSRF-Token": "é"}):
            assert client.post("/command", json={"do": "next"}, headers=headers).status_code == 403
    assert came == []


def test_a_command_from_another_site_is_refused_even_with_the_token(
    felt: Felt, app: Flask, client: FlaskClient
) -> None:
    with felt.answering() as came:
        response = send(client, app, {"do": "next"}, **{"Sec-Fetch-Site": "cross-site"})
    assert response.status_code == 403
    assert came == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_what_a_form_can_send_is_no_command_even_with_the_token(
    felt: Felt, app: Flask, client: FlaskClient, kind: str
) -> None:
    headers = {"X-CSRF-Token": app.config["CSRF_TOKEN"]}
    with felt.answering() as came:
        response = client.post("/command", data='{"do": "next"}', content_type=kind, headers=headers)
    assert response.status_code == 400
    assert came == []


def test_a_session_without_the_token_gives_no_command(felt: Felt, client: FlaskClient) -> None:
    client.set_cookie("feltwatch_session", "x" * 22)
    with felt.answering() as came:
        assert client.post("/command", json={"do": "next"}).status_code == 403
    assert came == []


def test_reading_changes_nothing(felt: Felt, app: Flask, client: FlaskClient) -> None:
    """No GET is a command: a picture's address in another site's page can do no harm."""
    felt.to_settled()
    app.extensions["feltwatch"].live.stop()
    before = felt.seq
    with felt.answering() as came:
        for rule in app.url_map.iter_rules():
            if "GET" in (rule.methods or ()):
                client.get(rule.rule.replace("<path:name>", "000001/frame.jpg")).close()
    asked = {command["do"] for command in came if command}
    assert (felt.seq, asked - {"health"}) == (before, set()), "health only asks"


def test_the_page_carries_the_token_and_each_process_has_its_own(
    felt: Felt, app: Flask, client: FlaskClient
) -> None:
    token = app.config["CSRF_TOKEN"]
    assert len(token) >= 32
    assert f'content="{token}"' in client.get("/").text
    other = create_app(Settings(felt.folder, felt.folder / "table.sock"))
    assert other.config["CSRF_TOKEN"] != token


@pytest.mark.parametrize("path", ["/", "/view.json", "/events", "/healthz", "/static/feltwatch.js"])
def test_a_name_that_is_not_this_machines_is_not_answered(client: FlaskClient, path: str) -> None:
    assert client.get(path, headers={"Host": "evil.example"}).status_code == 400


def test_a_route_that_does_not_say_whom_it_serves_is_closed(felt: Felt) -> None:
    app = create_app(Settings(felt.folder, felt.folder / "table.sock"))
    app.add_url_rule("/forgotten", view_func=lambda: "secret", endpoint="forgotten")
    response = app.test_client().get("/forgotten")
    assert response.status_code == 403
    assert "secret" not in response.text


def test_every_route_of_the_page_says_whom_it_serves(app: Flask) -> None:
    closed = [
        rule.rule
        for rule in app.url_map.iter_rules()
        if not guard.roles_of(app.view_functions[rule.endpoint])
    ]
    assert closed == []


@pytest.mark.parametrize(
    "name",
    [
        "../journal.sqlite",
        "..%2fjournal.sqlite",
        "%2e%2e/journal.sqlite",
        "/etc/passwd",
        "//etc/passwd",
        "000001/../../journal.sqlite",
        "journal.sqlite",
        "000001/.hidden.jpg",
        "000001/none.jpg",
        "000001/row.jpg%00.png",
        "000001",
    ],
)
def test_nothing_but_captures_is_given_as_a_capture(felt: Felt, client: FlaskClient, name: str) -> None:
    felt.deal()
    felt.captures.save("000001/row.jpg", b"a picture")
    response = client.get(f"/captures/{name}")
    assert response.status_code in (308, 404)
    assert b"SQLite" not in response.data


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/nowhere", 404),
        ("POST", "/", 405),
        ("DELETE", "/command", 405),
        ("GET", "/static/../app.py", 404),
    ],
)
def test_what_is_not_there_is_said_in_a_line(client: FlaskClient, method: str, path: str, code: int) -> None:
    response = client.open(path, method=method)
    assert response.status_code == code
    assert len(response.text) < 300


def test_an_error_of_the_pages_own_shows_no_traceback(
    app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr(services(app).live, "now", fail)
    response = client.get("/")
    assert response.status_code == 500
    assert "Traceback" not in response.text
    assert "secret" not in response.text
    assert client.get("/view.json", headers={"Accept": "application/json"}).get_json()["ok"] is False


def test_pages_allow_no_foreign_and_no_inline_code(felt: Felt, client: FlaskClient) -> None:
    felt.to_settled()
    response = client.get("/")
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "style=" not in response.text
    assert "<script>" not in response.text
    assert "onclick" not in response.text
    assert "//" not in response.text.replace("<!doctype", ""), "nothing is fetched from elsewhere"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "no-store"


def test_players_names_are_text_and_never_markup(
    felt: Felt, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        __import__("tests.dealer_ui.felt", fromlist=["PLAYERS"]).PLAYERS, 1, '<b>Bo</b> & "Jo"'
    )
    felt.to_setting()
    text = client.get("/").text
    assert "<b>Bo</b>" not in text
    assert "&lt;b&gt;Bo&lt;/b&gt;" in text


# ---- a record that cannot be read ----


def test_a_record_that_was_bent_is_told_and_no_old_view_is_shown(
    felt: Felt, app: Flask, client: FlaskClient
) -> None:
    felt.to_settled()
    assert client.get("/view.json").get_json()["phase"] == "settled"
    felt.journal.close()
    with sqlite3.connect(felt.folder / "journal.sqlite") as db:
        db.execute("DROP TRIGGER journal_no_update")
        db.execute("UPDATE journal SET payload = replace(payload, 'Lin', 'Len')")
    db.close()
    fresh = create_app(Settings(felt.folder, felt.folder / "table.sock")).test_client()
    data = fresh.get("/view.json").get_json()
    assert "was changed after it was written" in data["trouble"]
    assert data["payments"] == []
    page = fresh.get("/").text
    assert "was changed after it was written" in page
    assert "The record cannot be shown; nothing can be done here now." in page
    assert "The table process does not answer" not in page
    assert fresh.get("/healthz").get_json()["record"] is False


def test_a_file_that_is_no_journal_is_told(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").write_bytes(b"not a database, whatever its name says" * 100)
    client = create_app(Settings(tmp_path, tmp_path / "table.sock")).test_client()
    assert "could not be read" in client.get("/").text


def test_a_folder_without_a_record_is_an_empty_table(tmp_path: Path) -> None:
    client = create_app(Settings(tmp_path / "none", tmp_path / "table.sock")).test_client()
    assert "Waiting for a hand" in client.get("/").text
    assert json.loads(client.get("/view.json").text)["trouble"] == ""
