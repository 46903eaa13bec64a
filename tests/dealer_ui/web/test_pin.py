"""The PIN page: where a link that asks for a role leads, and what it says."""

from __future__ import annotations

import pytest
from flask import Flask

from dealer_ui.web.guard import open_to
from dealer_ui.web.pages import own_address
from firmware.access.sessions import FLOOR_SESSION_S
from firmware.table.people import Role
from tests.dealer_ui.house import PEOPLE, page_of, table
from tests.firmware.running_table import Table

__all__ = ["table"]

HTML = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"  # Chromium's own
}


@pytest.fixture
def app(table: Table) -> Flask:
    app = page_of(table)

    @open_to(frozenset({Role.TECHNICIAN}))
    def workshop() -> str:
        return "the workshop"

    app.add_url_rule("/workshop", view_func=workshop)
    return app


def test_a_link_that_asks_for_a_role_leads_to_the_pin_page_and_back(app: Flask) -> None:
    client = app.test_client()
    to = client.get("/workshop?step=2", headers=HTML)
    assert to.status_code == 302
    page = client.get(to.location, headers=HTML)
    assert page.status_code == 200
    assert 'data-back="/workshop?step=2"' in page.text
    assert "That asks for a PIN: technician." in page.text
    for name in PEOPLE:
        assert name not in page.text, "nobody's name is offered to anyone who stands there"
    token = {"X-CSRF-Token": app.config["CSRF_TOKEN"]}
    order = {"do": "unlock", "by": "Tran", "pin": PEOPLE["Tran"][1]}
    assert client.post("/command", json=order, headers=token).status_code == 200
    assert client.get("/workshop?step=2", headers=HTML).text == "the workshop"


def test_a_program_that_asks_for_a_role_it_has_not_is_refused(app: Flask) -> None:
    answer = app.test_client().get("/workshop")
    assert answer.status_code == 403


def test_the_session_says_whose_it_is_and_how_long_it_lasts(app: Flask) -> None:
    client = app.test_client()
    assert client.get("/session").get_json() == {"role": "dealer", "name": "", "left_s": 0, "usual_s": 0}
    token = {"X-CSRF-Token": app.config["CSRF_TOKEN"]}
    client.post("/command", json={"do": "unlock", "by": "Moreno", "pin": PEOPLE["Moreno"][1]}, headers=token)
    said = client.get("/session").get_json()
    assert (said["role"], said["name"]) == ("floor", "Moreno")
    assert 0 < said["left_s"] <= FLOOR_SESSION_S == said["usual_s"]


@pytest.mark.parametrize(
    "address",
    [
        "//elsewhere.example",
        "https://elsewhere.example/",
        "/\\elsewhere.example",
        "javascript:x",
        "",
        "/a\nb",
    ],
)
def test_the_pin_page_leads_back_to_this_server_only(app: Flask, address: str) -> None:
    assert own_address(address) == "/"
    page = app.test_client().get("/pin", query_string={"back": address}, headers=HTML)
    assert 'data-back="/"' in page.text


def test_no_page_or_refusal_that_a_stranger_sees_names_who_has_a_pin(app: Flask) -> None:
    client = app.test_client()
    token = {"X-CSRF-Token": app.config["CSRF_TOKEN"]}
    orders = (
        {"do": "unlock"},
        {"do": "reopen", "past": 1, "reason": "x"},
        {"do": "unlock", "by": "T", "pin": "1"},
    )
    shown = [client.post("/command", json=order, headers=token).text for order in orders]
    for address in (
        "/",
        "/pin",
        "/pin?for=floor&for=auditor",
        "/review",
        "/review/1",
        "/menu",
        "/health",
        "/profiles",
    ):
        shown.append(client.get(address, headers=HTML, follow_redirects=True).text)
    order = {"do": "unlock", "by": "Tran", "pin": PEOPLE["Tran"][1]}  # this table is others', too
    assert client.post("/command", json=order, headers=token).status_code == 200
    for text in shown:
        assert text
        assert not [name for name in PEOPLE if name in text and PEOPLE[name][1]]


def test_a_right_pin_tells_how_many_wrong_ones_there_were(app: Flask) -> None:
    client = app.test_client()
    token = {"X-CSRF-Token": app.config["CSRF_TOKEN"]}
    wrong = {"do": "unlock", "by": "Moreno", "pin": "1357"}
    refused = [client.post("/command", json=wrong, headers=token).get_json() for _ in range(2)]
    assert [answer["wait_s"] for answer in refused] == [0, 0]
    right = {**wrong, "pin": PEOPLE["Moreno"][1]}
    assert client.post("/command", json=right, headers=token).get_json()["told"] == (
        "2 wrong PINs were entered in your name since your last right one."
    )
    assert "told" not in client.post("/command", json=right, headers=token).get_json()
