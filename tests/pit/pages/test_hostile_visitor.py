"""Attacks on the pit's pages by a visitor: somebody without a log-in, with another role, or from another site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from dealer_ui.web import log_in
from dealer_ui.web.rate_limit import Limit
from firmware.access import pins
from pit.pages import guard
from pit.pages import people as pit_people
from pit.pages.app import SHARE, STREAMS
from pit.pages.guard import METRICS_TOKEN
from pit.pages.people import PitPeople, PitRole
from pit.pages.services import pit
from tests.dealer_ui.felt import PLAYERS
from tests.pit.pages.conftest import House

F, A, T, OWNER = PitRole
HANDS, ALL = {F, A, OWNER}, set(PitRole)
OPEN = {"static", "log_in.log_in", "log_in.check"}
ROUTES: dict[str, set[PitRole]] = {
    "log_in.log_out": ALL,
    "floor.page": ALL,
    "floor.events": ALL,
    "floor.going": {F},
    "hands.show_list": HANDS,
    "disputes.show_list": HANDS,
    "reports.report": HANDS,
    "reports.report_csv": HANDS,
    "reports.report_as_pdf": HANDS,
    "dealers.show_list": HANDS,
    "tables.show_list": ALL,
    "tables.table": ALL,
    "people.show_list": {PitRole.AUDITOR, OWNER},
    **{f"people.{name}": {OWNER} for name in ("add", "one", "change_role", "change_passphrase", "remove")},
    "metrics.metrics": {T, OWNER},
    "proof.show": {A, T, OWNER},
    "proof.seen": {A, T, OWNER},
    **{
        f"channels.{name}": {T, OWNER}
        for name in ("show", "part", "move", "put", "fill", "try_again", "withdraw")
    },
    "files.take_back": {T, OWNER},
    **{f"enrol.{name}": {T, OWNER} for name in ("form", "make", "code", "part", "decide")},
    **{f"records.{name}": HANDS for name in ("capture", "pictures", "make_file")},
    **{f"review.{name}": HANDS for name in ("show_list", "hand", "story", "look", "changes", "again")},
    **{f"dispute.{name}": HANDS for name in ("dispute", "dispute_file")},
}
"""Every route of the pit with the roles that may open it. A new one is named here, or a test fails."""
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE")
PHRASE = "seven brown horses"
PHRASE_ID = "of nobody's business"
NO_LIMIT = (1 << 60, 1.0)


def addresses(house: House) -> Iterator[tuple[str, str, str]]:
    """Every route and method of the application: its endpoint, the method, an address."""
    told = {
        "int:record": "1",
        "int:table_id": "1",
        "int:number": "1",
        "hand": "1",
        "sha256": "ab" * 32,
        "to": "first",
        "path:name": "000001/first.jpg",
    }
    told |= {"path:filename": "pages.css"}
    for rule in house.app.url_map.iter_rules():
        address = re.sub(r"<([^>]+)>", lambda found: told[found[1]], rule.rule)
        yield from ((rule.endpoint, method, address) for method in sorted(rule.methods or ()))


def asked(client: FlaskClient, address: str, method: str = "GET", **more: Any) -> tuple[int, TestResponse]:
    with closing(client.open(address, method=method, **more)) as answer:
        return answer.status_code, answer


def posts(house: House) -> list[str]:
    return [a for endpoint, method, a in addresses(house) if method == "POST" and endpoint not in OPEN]


# ---- who ----


def test_every_route_is_in_the_list_of_who_may_open_it(house: House) -> None:
    assert {rule.endpoint for rule in house.app.url_map.iter_rules()} == OPEN | set(ROUTES)


def test_every_route_and_method_answers_its_roles_alone(house: House) -> None:
    for role in PitRole:
        client, headers = house.logged_in(role), {"X-CSRF-Token": house.token()}
        wrong = []
        for endpoint, method, address in addresses(house):
            if endpoint in {*OPEN, "log_in.log_out"}:
                continue
            code, _ = asked(client, address, method, headers=headers)
            if (code == 403) is (role in ROUTES[endpoint]) or code >= 500:
                wrong.append((endpoint, method, code))
        assert wrong == [], role


def test_nobody_opens_any_route_with_any_method(house: House) -> None:
    stranger, headers = house.visitor(), {"X-CSRF-Token": house.token()}
    wrong = []
    for endpoint, _, address in addresses(house):
        for method in METHODS if endpoint not in OPEN else ():
            code, answer = asked(stranger, address, method, headers=headers)
            if code not in (302, 401) or answer.headers.get("Location", "/log-in") != "/log-in":
                wrong.append((address, method, code))
    assert wrong == []
    assert asked(stranger, "/nothing")[0] == 302, "whether an address exists is not told"


def test_a_route_that_nobody_marked_is_closed(house: House) -> None:
    house.app.add_url_rule("/new", "new", lambda: "open", methods=["GET", "POST"])
    for method in ("GET", "POST"):
        for role in PitRole:
            client = house.logged_in(role)
            assert asked(client, "/new", method, headers={"X-CSRF-Token": house.token()})[0] == 403, method
        assert asked(house.visitor(), "/new", method)[0] in (302, 401), method


def test_a_cookie_that_nobody_was_given_opens_nothing(house: House) -> None:
    for cookie in ("", "x", "x" * 43, "' OR 1=1 --", "é", "\x01"):
        house.logged_in(OWNER)
        client = house.visitor()
        client.set_cookie(pit_people.PitSessions.cookie, cookie)
        assert asked(client, "/hands")[0] == 302, cookie
        with house.database.transaction() as connection:
            stored = connection.execute("SELECT token_hash FROM session").fetchone()
        assert stored is not None, cookie
        client.set_cookie(pit_people.PitSessions.cookie, stored[0])
        assert asked(client, "/hands")[0] == 302, "what the database holds opens nothing"


# ---- every answer ----


def test_every_answer_has_its_headers_and_lies_in_no_browsers_store(house: House) -> None:
    from tests.pit.pages.test_pages import bring_pictures

    owner = house.logged_in(OWNER)
    asked(owner, "/record/1/review/1")
    bring_pictures(house)
    lacking, kept = [], []
    for client in (owner, house.logged_in(T), house.visitor()):
        for endpoint, method, address in addresses(house):
            if endpoint == "log_in.log_out":
                continue
            code, answer = asked(client, address, method)
            lacking += [(address, name) for name in guard.HEADERS if name not in answer.headers]
            if endpoint != "static" and "no-store" not in answer.headers.get("Cache-Control", ""):
                kept.append((address, code, answer.headers.get("Cache-Control")))
        for address in ("/nothing", "/hands?x=1", "/static/nothing", "/static/", "/record/9/review/1"):
            lacking += [(address, n) for n in guard.HEADERS if n not in asked(client, address)[1].headers]
    code, answer = asked(house.visitor(), "/log-in", "POST", data={"name": "x" * 100_000})
    assert code == 413
    lacking += [("413", name) for name in guard.HEADERS if name not in answer.headers]
    assert (lacking, kept) == ([], [])
    policy = guard.HEADERS["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_every_answer_says_what_it_is_and_lets_no_other_site_read_it(house: House) -> None:
    client = house.logged_in(OWNER)
    for endpoint, method, address in addresses(house):
        if endpoint in ROUTES and method == "GET":
            _, answer = asked(client, address, headers={"Origin": "https://evil.example"})
            assert "Access-Control-Allow-Origin" not in answer.headers
            known = ("text/html", "text/plain", "text/csv", "text/event-stream", "application/", "image/")
            assert answer.content_type.startswith(known), address


# ---- limits ----


def test_a_body_that_is_too_large_is_not_read(house: House) -> None:
    for endpoint, method, address in addresses(house):
        if method == "POST" and endpoint not in OPEN | {"log_in.log_out"}:
            visitor = house.logged_in(min(ROUTES[endpoint]))
            assert asked(visitor, address, "POST", data={"token": "x" * 100_000})[0] == 413, address
    client, headers = house.logged_in(F), {"X-CSRF-Token": house.token()}
    deep = "[" * 8_000
    for body in (deep, '{"need":' + deep, '{"need": 1' + "0" * 8_000 + "}", '"\\ud800"', "\xff\xfe"):
        code, _ = asked(
            client, "/going/1", "POST", data=body, headers=headers, content_type="application/json"
        )
        assert code in (400, 409), body[:20]


def test_streams_of_a_crowd_leave_the_pages_and_their_places(house: House) -> None:
    client = house.logged_in(F)
    for _ in range(STREAMS + 1):
        assert asked(client, "/events", "HEAD")[0] == 200, "a stream that ended gave its place back"
    open_ones = [client.get("/events") for _ in range(SHARE)]
    assert asked(client, "/events")[0] == 503, "one person's share is taken"
    assert asked(client, "/")[0] == 200
    others = house.logged_in(PitRole.AUDITOR)
    open_ones += [others.get("/events") for _ in range(STREAMS - SHARE)]
    assert asked(house.logged_in(OWNER), "/events")[0] == 503, "all places are taken"
    for one in open_ones:
        one.close()
    assert asked(client, "/events")[0] == 200


def test_passphrases_are_put_off_before_they_are_looked_at(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []
    monkeypatch.setattr(PitPeople, "identify", lambda *sent: looked.append(sent))

    def codes(forged: dict[str, str]) -> list[int]:
        form = {"name": "Ines", "passphrase": "a wrong passphrase"}
        return [asked(house.visitor(), "/log-in", "POST", data=form, headers=forged)[0] for _ in range(8)]

    assert codes({}) == [403] * 5 + [429] * 3
    assert len(looked) == 5
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Client-IP"):
        assert codes({name: "192.0.2.77"}) == [429] * 8, "an address that a visitor claims is not believed"
    open_door = replace(log_in.access(house.app), tries=Limit(NO_LIMIT, NO_LIMIT))
    monkeypatch.setitem(house.app.extensions, "feltwatch-log-in", open_door)
    assert codes({}) == [403] * 8


def test_a_name_costs_the_same_whether_it_is_listed_or_not(
    house: House, people: PitPeople, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_door = replace(log_in.access(house.app), tries=Limit(NO_LIMIT, NO_LIMIT))
    monkeypatch.setitem(house.app.extensions, "feltwatch-log-in", open_door)
    people.add("Ines", OWNER, PHRASE)
    looked = []
    once = pins.matches_verifier

    def counted(stored: dict[str, Any], phrase: str) -> bool:
        looked.append({key: value for key, value in stored.items() if isinstance(value, int)})
        return once(stored, phrase)

    monkeypatch.setattr(pit_people, "matches_verifier", counted)
    cost = {key: value for key, value in people._dummy_verifier.items() if isinstance(value, int)}
    for name in ("Ines", "Nobody", "", "\0", "x" * 10_000, "' OR 1=1 --", "%", "\ud800"):
        looked.clear()
        form = {"name": name.encode("utf-8", "surrogatepass"), "passphrase": "a wrong passphrase"}
        assert asked(house.visitor(), "/log-in", "POST", data=form)[0] == 403, name
        assert looked == [cost], name


def test_a_token_that_is_too_short_lets_no_scraper_in(house: House) -> None:
    folder = pit(house.app).folder
    folder.mkdir(exist_ok=True)
    for token in ("", " ", "short", "a" * 19):
        (folder / METRICS_TOKEN).write_text(token)
        for sent in (f"Bearer {token}", "Bearer ", "Bearer", ""):
            assert asked(house.visitor(), "/metrics", headers={"Authorization": sent})[0] == 302, token


def test_the_scrapers_token_opens_the_metrics_alone(house: House) -> None:
    folder = pit(house.app).folder
    folder.mkdir(exist_ok=True)
    (folder / METRICS_TOKEN).write_text("a" * 32)
    opened = [
        (endpoint, method)
        for endpoint, method, address in addresses(house)
        if endpoint not in OPEN
        and asked(house.visitor(), address, method, headers={"Authorization": f"Bearer {'a' * 32}"})[0]
        not in (302, 401)
    ]
    assert opened == [("metrics.metrics", method) for method in ("GET", "HEAD", "OPTIONS")]


def test_a_technician_is_told_no_players_name_on_any_page(house: House) -> None:
    shown = {}
    for role in (T, OWNER):
        client = house.logged_in(role)
        for endpoint, method, address in addresses(house):
            if method == "GET" and endpoint not in OPEN:
                with closing(client.get(address)) as answer:
                    body = next(answer.iter_encoded()) if endpoint == "floor.events" else answer.data
                    shown[role, endpoint] = body.decode("utf-8", "replace") + str(answer.headers)
    assert [at for at, text in shown.items() if at[0] is T and PLAYERS[3] in text] == []
    assert PLAYERS[3] in shown[OWNER, "review.hand"]
    assert PLAYERS[3] in shown[OWNER, "tables.table"]
