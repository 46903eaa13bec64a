"""Attacks on sessions of the pit, and by pages of another site in a browser that has one."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from dealer_ui.web import log_in
from dealer_ui.web.passphrases import IDLE_S, LONGEST_S
from dealer_ui.web.services import services
from pit.pages import people as pit_people
from pit.pages.app import create_app
from pit.pages.people import PitPeople
from pit.pages.services import pit
from tests.pit.pages.conftest import House
from tests.pit.pages.test_hostile_visitor import OWNER, PHRASE, F, asked, posts


def logged_in_by_passphrase(client: FlaskClient, name: str = "Ines") -> TestResponse:
    return client.post("/log-in", data={"name": name, "passphrase": PHRASE})


def test_a_session_that_was_planted_is_not_the_one_that_a_log_in_opens(
    house: House, people: PitPeople
) -> None:
    people.add("Ines", OWNER, PHRASE)
    attacker, victim = house.logged_in(F), house.visitor()
    name = log_in.access(house.app).sessions.cookie
    planted = attacker.get_cookie(name)
    assert planted is not None
    victim.set_cookie(name, planted.value)
    logged_in_by_passphrase(victim)
    after = victim.get_cookie(name)
    assert after is not None
    assert after.value != planted.value
    assert asked(attacker, "/metrics")[0] == 302, "the browser's old session ended with it"
    assert asked(victim, "/metrics")[0] == 200


@pytest.mark.parametrize("secure", [True, False])
def test_the_cookie_is_for_this_site_alone_and_no_script_reads_it(
    house: House, people: PitPeople, tmp_path: Path, secure: bool
) -> None:
    people.add("Ines", OWNER, PHRASE)
    app = create_app(house.database, tmp_path / "pit", secure=secure)
    answer = logged_in_by_passphrase(app.test_client())
    parts = set(answer.headers["Set-Cookie"].split("; ")[1:])
    assert parts == {"HttpOnly", "Path=/", "SameSite=Strict", *(["Secure"] if secure else [])}
    assert answer.headers["Set-Cookie"].startswith("__Host-") is secure
    assert len(answer.headers["Set-Cookie"].partition("=")[2].partition(";")[0]) >= 43


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("removed", 302),
        ("another passphrase", 302),
        ("another role", 403),
        ("logged out", 302),
        ("idle", 302),
        ("too long", 302),
    ],
)
def test_a_session_ends_with_what_it_stands_on(house: House, people: PitPeople, how: str, code: int) -> None:
    people.add("Ines", OWNER, PHRASE)
    client = house.visitor()
    logged_in_by_passphrase(client)
    assert asked(client, "/metrics")[0] == 200
    kept = client.get_cookie(log_in.access(house.app).sessions.cookie)
    assert kept is not None
    if how == "removed":
        people.remove("Ines")
        people.add("Ines", OWNER, PHRASE)
    elif how == "another passphrase":
        people.add("Ines", OWNER, "eight brown horses")
    elif how == "another role":
        with house.database.transaction() as connection:
            connection.execute("UPDATE person SET role = 'floor' WHERE name = 'Ines'")
    elif how == "logged out":
        client.post("/log-out")
        client.set_cookie(kept.key, kept.value)
    else:
        column, seconds = ("used_at", IDLE_S) if how == "idle" else ("began_at", LONGEST_S)
        with house.database.transaction() as connection:
            connection.execute(f"UPDATE session SET {column} = now() - {seconds} * interval '1 second'")
    assert asked(client, "/metrics")[0] == code


def test_a_stream_ends_at_the_next_look_after_its_person_is_removed(
    house: House, people: PitPeople, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pit_people, "LOOK_S", -1.0)
    people.add("Ines", F, PHRASE)
    client = house.visitor()
    logged_in_by_passphrase(client)
    live = pit(house.app).live
    monkeypatch.setattr(live, "wait", lambda *_: live.now())
    with closing(client.get("/events")) as answer:
        parts = iter(answer.response)
        assert [next(parts) for _ in range(3)]
        people.remove("Ines")
        assert list(parts) == []
    assert services(house.app).streams.take()


def test_a_command_of_another_site_is_refused_with_the_right_token_too(house: House) -> None:
    client = house.logged_in(F)
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://localhost:81"},
        {"Origin": "https://localhost"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ):
        for address in [*posts(house), "/log-in"]:
            sent = headers | {"X-CSRF-Token": house.token()}
            assert asked(client, address, "POST", headers=sent)[0] == 403, (headers, address)
        assert asked(client, "/hands")[0] == 200, "nobody was logged out"


def test_a_command_without_the_pages_token_is_refused(house: House) -> None:
    for sent in (
        {},
        {"headers": {"X-CSRF-Token": "x"}},
        {"headers": {"X-CSRF-Token": ""}, "data": {"token": ""}},
        {"data": {"token": "x"}},
        {"json": {"token": "TOKEN"}},
        {"query_string": {"token": "TOKEN"}},
        {"data": "token=TOKEN", "content_type": "text/plain"},
    ):
        given: dict[str, Any] = json.loads(json.dumps(sent).replace("TOKEN", house.token()))
        client = house.logged_in(F)
        for address in set(posts(house)) - {"/log-out"}:
            assert asked(client, address, "POST", **given)[0] == 403, (sent, address)
        assert not [what for _, what, _, _ in house.acts() if what == "going"], sent


def test_no_header_makes_a_look_a_command(house: House) -> None:
    client = house.logged_in(F)
    for header in ("X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"):
        assert asked(client, "/going/1", headers={header: "POST", "X-CSRF-Token": house.token()})[0] == 405, (
            header
        )


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "a" * 8000, "localhost@evil", "["]
)
def test_a_name_that_leads_to_this_machine_from_elsewhere_is_not_answered(
    house: House, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def codes() -> list[int]:
        clients = (house.visitor(), house.logged_in(OWNER))
        return [
            asked(client, page, headers={"Host": host})[0] for client in clients for page in ("/", "/log-in")
        ]

    assert codes() == [400] * 4
    monkeypatch.setitem(house.app.config, "TRUSTED_HOSTS", None)
    if host.endswith(".example"):
        assert 200 in codes()


@pytest.mark.parametrize(
    "way", ["//evil.example", "//evil.example/%2e%2e", "/\\evil.example", "/%0d%0aX:%20y"]
)
def test_no_address_leads_away(house: House, people: PitPeople, way: str) -> None:
    people.add("Ines", OWNER, PHRASE)
    for client in (house.visitor(), house.logged_in(OWNER)):
        code, answer = asked(client, "/", environ_overrides={"PATH_INFO": way})
        assert (code, answer.headers.get("Location")) in ((404, None), (302, "/log-in"))
    for query in ("next", "back", "return", "url"):
        form = {"name": "Ines", "passphrase": PHRASE, query: way}
        code, answer = asked(house.visitor(), f"/log-in?{query}={way}", "POST", data=form)
        assert (code, answer.headers["Location"]) == (303, "/")
