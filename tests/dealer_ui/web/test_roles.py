"""Who may read and do what over HTTP, judged by a real table process."""

from __future__ import annotations

from contextlib import closing
from http.cookies import SimpleCookie
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from dealer_ui.web import guard
from dealer_ui.web.sessions import COOKIE, Sessions
from firmware.table.command import COMMAND_ROLES
from firmware.table.people import Person, Role
from tests.dealer_ui.house import PEOPLE, page_of, table
from tests.firmware.running_table import Table

__all__ = ["table"]


@pytest.fixture
def app(table: Table) -> Flask:
    return page_of(table)


class Browser:
    """Somebody's browser."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self.client: FlaskClient = app.test_client()

    def send(self, **command: Any) -> TestResponse:
        return self.client.post(
            "/command", json=command, headers={"X-CSRF-Token": self.app.config["CSRF_TOKEN"]}
        )

    def get(self, path: str) -> tuple[int, bytes]:
        """Return status and body."""
        response = self.client.get(path)
        with closing(response):
            return response.status_code, response.data

    def unlock(self, name: str) -> TestResponse:
        pin = PEOPLE[name][1]
        return self.send(do="unlock", by=name, **({"pin": pin} if pin else {}))


@pytest.fixture
def browser(app: Flask) -> Browser:
    return Browser(app)


# ---- sessions ----


def test_a_session_lies_in_a_cookie_that_no_script_can_read(browser: Browser) -> None:
    answer = browser.unlock("Moreno")
    assert answer.status_code == 200
    opened = answer.get_json()
    opened.pop("told", None)  # of a test before
    assert opened == {"ok": True, "role": "floor", "name": "Moreno", "expires_s": 30.0}
    cookie = SimpleCookie(answer.headers["Set-Cookie"])[COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"
    assert cookie.value not in answer.text


def test_a_wrong_pin_opens_nothing(browser: Browser, table: Table) -> None:
    answer = browser.send(do="unlock", by="Moreno", pin="0001")
    assert answer.status_code == 403
    assert "do not belong together" in answer.get_json()["error"]
    assert "Set-Cookie" not in answer.headers
    assert browser.unlock("Moreno").status_code == 200


def test_a_made_up_session_is_nobodys(browser: Browser) -> None:
    browser.client.set_cookie(COOKIE, "x" * 22)
    assert browser.get("/captures/000001/frame.jpg")[0] == 403
    assert browser.send(do="reopen", past=1, reason="a dispute").status_code == 403


def test_a_browser_may_not_say_itself_whose_session_or_name_a_command_has(browser: Browser) -> None:
    assert browser.send(do="next", session="x").status_code == 400
    assert browser.send(do="next", actor="floor:Moreno").status_code == 400


def test_locking_the_screen_ends_what_the_role_could_read(browser: Browser) -> None:
    browser.unlock("Moreno")
    assert browser.get("/captures/000001/frame.jpg")[0] == 200
    answer = browser.send(do="lock")
    assert answer.status_code == 200
    assert browser.get("/captures/000001/frame.jpg")[0] == 403


def test_what_the_dealer_may_do_is_done_in_their_name_though_a_floor_person_is_signed_on(
    browser: Browser, table: Table
) -> None:
    browser.unlock("Moreno")
    assert browser.send(do="two_hands", on=False).status_code in (200, 409)
    assert browser.send(do="key_button", seat=1).status_code == 200
    assert table.reader.events_since(table.journal.seq - 1)[-1].actor == "dealer"


def test_a_role_or_a_pin_that_was_changed_ends_the_session_here_too() -> None:
    sessions = Sessions()
    token = sessions.begin({"session": "t", "role": "floor", "name": "Bo", "expires_s": 120})
    assert sessions.role(token, [Person("Bo", Role.FLOOR)]) is Role.FLOOR
    assert sessions.role(token, [Person("Bo", Role.DEALER)]) is None
    assert sessions.role(token, []) is None


def test_a_session_ends_with_its_time_and_lasts_on_while_it_is_used() -> None:
    now = 0.0
    sessions = Sessions(lambda: now)
    people = [Person("Bo", Role.FLOOR)]
    token = sessions.begin({"session": "t", "role": "floor", "name": "Bo", "expires_s": 120})
    now = 119.0
    assert sessions.role(token, people) is Role.FLOOR
    sessions.extend(token)
    now = 238.0
    assert sessions.role(token, people) is Role.FLOOR
    now = 239.0
    assert sessions.role(token, people) is None


# ---- reading ----


def test_pictures_of_past_hands_are_for_floor_people_and_auditors(app: Flask) -> None:
    def reads(name: str | None, path: str) -> int:
        browser = Browser(app)
        if name:
            assert browser.unlock(name).status_code == 200
        return browser.get(path)[0]

    past, present = "/captures/000001/frame.jpg", "/captures/000002/frame.jpg"
    assert {name: reads(name, past) for name in (None, *PEOPLE)} == {
        None: 403,
        "Moreno": 200,
        "Tran": 403,
        "Okafor": 200,
    }
    assert {name: reads(name, present) for name in (None, *PEOPLE)} == dict.fromkeys((None, *PEOPLE), 200)


def test_a_refused_picture_says_whom_it_asks_for_and_not_whether_it_exists(browser: Browser) -> None:
    there = browser.get("/captures/000001/frame.jpg")
    assert b"auditor or floor" in there[1]
    assert there == browser.get("/captures/000001/none.jpg")


def test_a_route_for_one_role_is_closed_to_every_other(app: Flask) -> None:
    @guard.open_to(frozenset({Role.TECHNICIAN}))
    def setup() -> str:
        return "set up"

    app.add_url_rule("/setup", view_func=setup)
    codes: dict[str | None, int] = {}
    for name in (None, *PEOPLE):
        browser = Browser(app)
        if name:
            browser.unlock(name)
        codes[name] = browser.client.get("/setup").status_code
    assert codes == {None: 403, "Moreno": 403, "Tran": 200, "Okafor": 403}


@pytest.mark.parametrize("path", ["/", "/view.json", "/events", "/openapi.json"])
def test_no_secret_of_the_house_is_readable(app: Flask, table: Table, path: str) -> None:
    app.extensions["feltwatch"].live.stop()  # a stream then ends after its first view
    text = app.test_client().get(path).text
    for secret in (
        *(pin for _, pin in PEOPLE.values() if pin),
        *(p.pin for p in table.state.people if p.pin),
    ):
        assert secret not in text


def test_no_page_says_that_a_pin_was_entered_at_the_console_where_the_screens_wait_does_not_count(
    browser: Browser, table: Table
) -> None:
    before = table.state
    answer = browser.send(do="unlock", by="Moreno", pin="000137", at="console")
    assert answer.status_code == 400
    assert table.state == before, "nothing was tried"


# ---- doing ----

FIELDS: dict[str, dict[str, Any]] = {
    "reopen": {"past": 1, "reason": "a dispute"},
    "list_person": {"person": "Eve", "role": "dealer"},
    "remove_person": {"person": "Okafor"},
    "set_pin": {"person": "Moreno", "new_pin": "482653"},
    "set_house": {"unit": 5, "reason": "another limit"},
    "keep_profile": {"text": "x", "reason": "another version"},
    "dispute": {"past": 1, "reason": "a dispute"},
    "close_dispute": {"past": 1, "reason": "settled"},
    "mark_reviewed": {"past": 1},
    "export_hand": {"past": 1},
    "read_stick": {},
    "stay": {},
    "settle_step": {"step": "clock"},
    "end_set_up": {},
    "try_device": {"device": "puck"},
    "end_trial": {},
    "set_clock": {"zone": "Europe/Madrid"},
    "name_disk": {"tag": "04D1A2B3C4E580", "disk": "dealer"},
    "calibrate_lens": {"step": "begin"},
    "enrol_deck": {"step": "begin"},
    "use_calibration": {"what": "felt"},
    "join_pit": {"code": "A"},
    "compare_pit_words": {"same": True},
    "take_file": {"number": 1, "sha256": "0" * 64},
    "list_badge": {"person": "Moreno"},
}


@pytest.mark.parametrize("do", [do for do, roles in COMMAND_ROLES.items() if Role.DEALER not in roles])
def test_what_asks_for_more_than_the_dealer_is_refused_to_them_and_changes_nothing(
    browser: Browser, table: Table, do: str
) -> None:
    before = table.state
    answer = browser.send(do=do, **FIELDS.get(do, {}))
    assert answer.status_code == 403
    assert answer.get_json()["ask"]
    assert table.state == before


def test_a_session_does_what_its_role_may_and_no_more(app: Flask, table: Table) -> None:
    floor, technician = Browser(app), Browser(app)
    floor.unlock("Moreno")
    technician.unlock("Tran")
    assert floor.send(do="list_person", person="Ann", role="dealer").status_code == 200
    assert floor.send(do="list_person", person="Eve", role="technician", new_pin="729153").status_code == 403
    assert technician.send(do="reopen", past=1, reason="a dispute").status_code == 403
    assert table.state.person("Ann") == Person("Ann", Role.DEALER)
    assert table.state.person("Eve") is None
    actors = {entry.actor for entry in table.reader.events_since(0) if entry.type == "person_listed"}
    assert "floor:Moreno" in actors


def test_a_session_that_the_table_no_longer_knows_is_let_go(app: Flask) -> None:
    browser = Browser(app)
    answer = browser.unlock("Moreno")
    cookie = SimpleCookie(answer.headers["Set-Cookie"])[COOKIE].value
    table_side = Browser(app)
    table_side.client.set_cookie(COOKIE, cookie)
    link = app.extensions["feltwatch"].link
    assert link.send({"do": "lock", "session": cookie})["ok"]
    refused = browser.send(do="list_person", person="Bea", role="dealer")
    assert refused.status_code == 403
    assert "session is over" in refused.get_json()["error"]
    assert browser.client.get_cookie(COOKIE) is None
    assert table_side.get("/captures/000001/frame.jpg")[0] == 403
