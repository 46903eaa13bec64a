"""Every route by every method, for everybody who may not have it. A new route is named here, or a test fails."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from flask import Flask
from flask.json.provider import DefaultJSONProvider
from flask.testing import FlaskClient

from dealer_ui.remote import app as remote
from dealer_ui.remote.access import RemotePeople, RemoteSessions
from dealer_ui.web import bare_app as page
from dealer_ui.web import guard
from dealer_ui.web.services import KIOSK, services
from dealer_ui.web.sessions import COOKIE, Sessions
from firmware.table.people import Person, Role
from pit.pages.people import PitSessions
from tests.dealer_ui.house import PEOPLE, page_of
from tests.dealer_ui.remote_house import NAME, logged_in, visitor
from tests.firmware.running_table import Table

pytestmark = pytest.mark.slow

D, F, T, A = Role.DEALER, Role.FLOOR, Role.TECHNICIAN, Role.AUDITOR
ALL, PAST, OWN = {D, F, T, A}, {F, A}, {T}
ROUTES: dict[str, set[Role]] = {
    **dict.fromkeys(("/", "/rules", "/view.json", "/screen", "/events", "/static/pages.css"), ALL),
    **dict.fromkeys(("/healthz", "/metrics", "/openapi.json", "/menu", "/pin", "/pin/new", "/session"), ALL),
    **dict.fromkeys(("/command", "/painted", "/deck-check", "/setup/job/1", "/slip", "/slip.pdf"), ALL),
    "/photo": ALL,
    **dict.fromkeys(("/profiles", "/profiles/compare", "/profiles/traditional"), ALL),
    **dict.fromkeys(("/profiles/_file", "/profiles/_file/stick"), ALL),
    **dict.fromkeys(("/profiles/traditional/edit", "/profiles/traditional/house-rules.pdf"), ALL),
    **dict.fromkeys(("/review", "/review/1", "/review/1/story", "/review/1/again", "/review/1/stick"), ALL),
    **dict.fromkeys(("/set-up/puck/trial", "/set-up/clock/set", "/set-up/proposed"), ALL),
    **dict.fromkeys(("/review/1/look", "/review/1/changes", "/review/1/dispute", "/review/1/file"), PAST),
    **dict.fromkeys(("/review/1/proof", "/captures/000001/frame.jpg"), PAST),
    **dict.fromkeys(("/report", "/report.csv", "/report.pdf"), PAST),
    "/health": {D, F, T},
    **dict.fromkeys(("/setup/camera", "/setup/lens", "/setup/deck", "/setup/compare/felt"), OWN),
    **dict.fromkeys(("/setup/look", "/setup/picture/1", "/setup/files"), OWN),
    **dict.fromkeys(("/setup/pit", "/setup/pit/look", "/setup/pit/progress"), OWN),
    **dict.fromkeys(("/set-up", "/set-up/puck", "/set-up/next", "/set-up/ready", "/set-up/clock/zone"), OWN),
    "/set-up/game/currency": OWN,
}
"""The addresses of the table's page, about a hand of the past, with the roles that may have them.

What they command is judged by the table, for everybody.
"""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE")
NAMES = {
    "<hand>": "1",
    "<int:number>": "1",
    "<what>": "felt",
    "<path:filename>": "pages.css",
    "<path:name>": "000001/frame.jpg",
}


def addresses(app: Flask) -> dict[str, set[str]]:
    """Every address of an application, with its methods."""
    found: dict[str, set[str]] = {}
    for rule in app.url_map.iter_rules():
        names = {**NAMES, "<name>": "puck" if rule.rule.startswith("/set-up") else "traditional"}
        address = re.sub(r"<[^>]+>", lambda part: names[part[0]], rule.rule)  # noqa: B023 -- called at once
        found.setdefault(address, set()).update(rule.methods or ())
    return found


def code(client: FlaskClient, address: str, method: str, **more: Any) -> int:
    with closing(client.open(address, method=method, **more)) as answer:
        return answer.status_code


@pytest.fixture
def house_app(table: Table, monkeypatch: pytest.MonkeyPatch) -> Flask:
    app = page_of(table)
    monkeypatch.setattr(services(app).sessions, "_clock", lambda: 1.0)  # none ends while all is asked
    services(app).live.stop()  # a stream then ends after its first view
    return app


def with_cookie(app: Flask, value: str, name: str = COOKIE) -> FlaskClient:
    client = app.test_client()
    client.set_cookie(name, value)
    return client


def begun(app: Flask, name: str, role: Role) -> FlaskClient:
    """Somebody with a session of the page's own."""
    told = {"session": f"{name} {role}", "name": name, "role": role, "expires_s": 600.0}
    return with_cookie(app, services(app).sessions.begin(told))


def signed_on(app: Flask, name: str) -> FlaskClient:
    """Somebody with a session that the table has begun."""
    client, headers = app.test_client(), {"X-CSRF-Token": app.config["CSRF_TOKEN"]}
    order = {"do": "unlock", "by": name, "pin": PEOPLE[name][1]}
    assert client.post("/command", json=order, headers=headers).status_code == 200
    return client


def nobodies(app: Flask) -> Iterator[tuple[str, FlaskClient]]:
    """Everybody whose session gives nothing: at the table's page they are the dealer."""
    yield "no session", app.test_client()
    yield "a session that is over", begun(app, "Moreno", F)
    yield "a person who was removed", begun(app, "Nobody", T)
    yield "a person who has another role now", begun(app, "Moreno", T)
    yield "a session that nobody began", with_cookie(app, "x" * 43)
    yield "no token", with_cookie(app, "é\x01")
    begun(app, "Okafor", A)
    yield "another program's cookie", with_cookie(app, f"Okafor {A}", RemoteSessions.cookie)
    yield "another program's cookie", with_cookie(app, f"Okafor {A}", PitSessions.cookie)


def everybody(app: Flask) -> list[tuple[Role, str, FlaskClient]]:
    """Everybody with the role that counts."""
    clients = [(D, name, client) for name, client in nobodies(app)]
    clients += [(role, name, signed_on(app, name)) for name, (role, _) in PEOPLE.items()]
    sessions, over = services(app).sessions, f"Moreno {F}"
    sessions._open[over] = replace(sessions._open[over], ends=0.0)
    return clients


def wrongly_answered(
    app: Flask, clients: list[tuple[Role, str, FlaskClient]], only: set[str]
) -> Iterator[tuple[str, str, str, int]]:
    """Ask for these addresses by each method as everybody; yield what was not answered as the list says."""
    known, headers = addresses(app), {"X-CSRF-Token": app.config["CSRF_TOKEN"]}
    for role, name, client in clients:
        for address in sorted(only):  # a page first: a command may end the session of all that follow
            methods = known[address]
            may = role in ROUTES[address]
            if may and name != "no session" and (name not in PEOPLE or ROUTES[address] == ALL):
                continue
            for method in METHODS if name == "no session" else sorted(methods - {"OPTIONS"}):
                got = code(client, address, method, headers=headers)
                if method not in methods:
                    right = got in (400, 405)  # 400: a name that has a page of its own is not a profile's
                elif may:
                    right = got not in (401, 403) and got < 500
                else:
                    right = got == 403
                if not right:
                    yield name, method, address, got


def test_every_address_of_the_tables_page_answers_its_roles_alone(
    house_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(addresses(house_app)) == set(ROUTES)
    clients = everybody(house_app)
    assert list(wrongly_answered(house_app, clients, set(ROUTES))) == []
    narrow = {address for address, roles in ROUTES.items() if roles != ALL}

    def of_anybody(sessions: Sessions, token: str | None, _people: list[Person]) -> Role | None:
        one = sessions._open.get(token or "")
        return one.role if one else None

    with monkeypatch.context() as off:
        off.setattr(Sessions, "role", of_anybody)
        found = list(wrongly_answered(house_app, clients, narrow))
    assert {name for name, *_ in found} == {
        "a session that is over",
        "a person who was removed",
        "a person who has another role now",
    }
    monkeypatch.setattr(guard, "need", lambda *_: None)
    assert len(list(islice(wrongly_answered(house_app, clients, narrow), 100))) == 100


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_a_route_of_the_tables_page_that_nobody_marked_is_closed(
    house_app: Flask, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    house_app.add_url_rule("/new", "new", lambda: "open", methods=[method])
    headers = {"X-CSRF-Token": house_app.config["CSRF_TOKEN"]}
    clients = [house_app.test_client(), *(begun(house_app, who, role) for who, (role, _) in PEOPLE.items())]
    assert [code(client, "/new", method, headers=headers) for client in clients] == [403] * 4
    monkeypatch.setattr(guard, "roles_of", lambda _: guard.EVERYBODY)
    assert [code(client, "/new", method, headers=headers) for client in clients] == [200] * 4


def test_every_command_to_the_tables_page_needs_its_token_and_its_own_site(
    house_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = str(house_app.config["CSRF_TOKEN"])
    sent: tuple[dict[str, Any], ...] = (
        {},
        {"headers": {"X-CSRF-Token": ""}},
        {"headers": {"X-CSRF-Token": token[:-1]}},
        {"headers": {"X-CSRF-Token": "é"}},
        {"query_string": {"token": token, "X-CSRF-Token": token}},
        {"data": {"token": token, "X-CSRF-Token": token}},
        *(
            {"headers": {"X-CSRF-Token": token, "Sec-Fetch-Site": site}}
            for site in ("cross-site", "same-site", "none", "")
        ),
    )

    def let_in() -> list[tuple[str, str]]:
        found = []
        for name, (role, _) in PEOPLE.items():
            client = signed_on(house_app, name)
            for address, methods in addresses(house_app).items():
                if "POST" in methods and address != "/painted" and role in ROUTES[address]:
                    found += [(name, address) for one in sent if code(client, address, "POST", **one) != 403]
        return found

    assert let_in() == []
    monkeypatch.setattr(hmac, "compare_digest", lambda *_: True)
    monkeypatch.setattr(guard, "_need_own_site", lambda: None)
    assert {"/command", "/setup/look", "/set-up/puck/trial"} <= {address for _, address in let_in()}


BODIES = (
    b"[" * 8_000,
    b'{"a":' * 2_000,
    b'{"seq": ' + b"9" * 5_000 + b"}",
    b'{"at_ms": 1e999, "seq": null, "leaving": true}',
    b'"\\ud800"',
    b"\xff\xfe",
    b"null",
    b'{"do": {"do": 1}, "act": [{}], "zone": "../../etc/passwd", "fields": {}}',
)


def test_no_body_is_a_failure_of_the_tables_page(house_app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    client, headers = signed_on(house_app, "Tran"), {"X-CSRF-Token": house_app.config["CSRF_TOKEN"]}
    client.set_cookie(KIOSK, "1")

    def failed() -> set[str]:
        asked = [
            (address, body)
            for address, ways in addresses(house_app).items()
            if "POST" in ways
            for body in BODIES
        ]
        kind = {"content_type": "application/json", "headers": headers}
        return {
            address
            for address, body in asked
            if code(client, address, "POST", data=body, **kind) in (200, 500)
        }

    assert failed() == set()
    monkeypatch.setattr(page._Json, "loads", DefaultJSONProvider.loads)
    assert failed() == {"/command", "/painted", "/pin/new", "/set-up/clock/set", "/set-up/puck/trial"}


# ---- the review for other machines ----


def strangers(review_app: Flask) -> Iterator[tuple[str, FlaskClient]]:
    """Everybody whose session gives nothing."""
    sessions = remote.remote_access(review_app).sessions
    yield "no session", visitor(review_app)
    for what, name, value in (
        ("a session that nobody began", RemoteSessions.cookie, "x" * 43),
        ("an empty one", RemoteSessions.cookie, ""),
        ("no token", RemoteSessions.cookie, "é\x01"),
        ("an older passphrase's", RemoteSessions.cookie, sessions.open(NAME, "the old one's")),
        ("a person's who was removed", RemoteSessions.cookie, sessions.open("Nobody", "x")),
        ("another program's cookie", COOKIE, "x"),
    ):
        client = visitor(review_app)
        client.set_cookie(name, value, secure=True)
        yield what, client
    client = logged_in(review_app)
    token = client.get_cookie(RemoteSessions.cookie)
    assert token is not None
    other = visitor(review_app)
    other.set_cookie(PitSessions.cookie, token.value)
    yield "another program's cookie", other
    sessions.end(token.value)
    yield "a session that was ended", client


def test_no_method_opens_the_review_to_anybody_without_a_session(
    review_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(only: str = "") -> set[tuple[str, str]]:
        found = set()
        for what, client in strangers(review_app):
            for address in [only] if only else addresses(review_app):
                if address in ("/log-in", "/static/pages.css"):
                    continue
                for method in (*METHODS, "OPTIONS") if what == "no session" else ("GET", "POST"):
                    with closing(client.open(address, method=method)) as answer:
                        if answer.status_code not in (302, 401) or answer.location not in (None, "/log-in"):
                            found.add((what, method))
        return found

    assert opened() == set()
    with monkeypatch.context() as off:
        off.setattr(RemotePeople, "has", lambda *_: True)
        assert {what for what, _ in opened()} == {"an older passphrase's", "a person's who was removed"}
    monkeypatch.setattr(guard, "role", lambda: Role.AUDITOR)
    assert {(what, "GET") for what, _ in strangers(review_app)} <= opened("/review")


def test_every_address_of_the_review_answers_somebody_with_a_session(
    review_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(put: Callable[[Flask], FlaskClient]) -> set[tuple[str, str, int]]:
        found = set()
        for address, methods in addresses(review_app).items():
            for method in METHODS:
                got = code(put(review_app), address, method, headers={"Sec-Fetch-Site": "same-origin"})
                if got >= 500 or (got == 405) is (method in methods) or got == 401:
                    found.add((address, method, got))
        return found

    assert wrong(logged_in) == set()
    monkeypatch.setattr(guard, "roles_of", lambda _: frozenset({Role.DEALER}))
    assert {code(logged_in(review_app), address, "GET") for address in addresses(review_app)} == {
        200,
        403,
        405,
    }


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", ""])
def test_another_site_ends_nobodys_session_in_the_review(
    review_app: Flask, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, there = logged_in(review_app), {"Sec-Fetch-Site": site}
    posts = [address for address, methods in addresses(review_app).items() if "POST" in methods]
    assert [code(client, address, "POST", headers=there) for address in posts] == [403] * 2
    assert code(client, "/review", "GET") == 200
    monkeypatch.setattr(remote, "need_own_site", lambda: None)
    assert code(client, "/log-out", "POST", headers=there) == 303
    assert code(client, "/review", "GET") == 302


def test_a_route_of_the_review_that_nobody_marked_is_closed(
    review_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    review_app.add_url_rule("/new", "new", lambda: "open")
    assert code(visitor(review_app), "/new", "GET") == 302
    assert code(logged_in(review_app), "/new", "GET") == 403
    monkeypatch.setattr(guard, "roles_of", lambda _: guard.EVERYBODY)
    assert code(logged_in(review_app), "/new", "GET") == 200
