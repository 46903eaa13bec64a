"""Attacks on the review from another machine of the house's network: what its application defends.

What nginx defends: test_review_front.py.
"""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from dealer_ui.remote import access
from dealer_ui.remote import app as remote
from dealer_ui.remote.access import RemotePeople, RemoteSessions
from dealer_ui.review import routes as review
from dealer_ui.server.app import Settings
from dealer_ui.server.app import create_app as create_table_app
from dealer_ui.web import guard, log_in, rate_limit
from dealer_ui.web.rate_limit import Limit
from dealer_ui.web.tls import TlsError, certificate, need_usable
from firmware.record.hand_history import PastHand, chapter, load_hand
from firmware.record.journal.journal import JournalReader
from firmware.table.people import Role
from firmware.table.state import State
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import look, reopen
from tests.dealer_ui.remote_house import NAME, PASSPHRASE, logged_in, remote_app, visitor

pytestmark = pytest.mark.slow

ROUTES = {
    *("/", "/log-in", "/log-out", "/static/<path:filename>", "/captures/<path:name>"),
    *("/report", "/report.csv", "/report.pdf", "/review", "/review/<hand>", "/review/<hand>/again"),
    *("/review/<hand>/changes", "/review/<hand>/dispute", "/review/<hand>/file", "/review/<hand>/look"),
    "/review/<hand>/story",
}
NO_LIMIT = (1 << 60, 1.0)


def asked(client: FlaskClient, path: str, **more: Any) -> tuple[int, bytes]:
    with closing(client.open(path, **more)) as response:
        return response.status_code, response.get_data()


def addresses(review_app: Flask, hand: int, capture: str) -> list[str]:
    """Every address of the application about a hand and a picture."""
    told = {"<hand>": str(hand), "<path:name>": capture, "<path:filename>": "pages.css"}
    return [
        re.sub(r"<[^>]+>", lambda found: told[found[0]], rule.rule)
        for rule in review_app.url_map.iter_rules()
        if "GET" in (rule.methods or ())
    ]


# ---- who ----


def test_from_another_machine_nothing_is_shown_without_a_log_in(
    review_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown() -> list[str]:
        stranger = visitor(review_app)
        pages = [
            path for path in addresses(review_app, 1, "000001/first.jpg") if not path.startswith("/static")
        ]
        return [path for path in (*pages, "/nothing") if asked(stranger, path)[0] not in (302, 401)]

    assert shown() == ["/log-in"]
    monkeypatch.setattr(guard, "role", lambda: Role.AUDITOR)
    assert {"/review", "/review/1", "/captures/000001/first.jpg", "/report"} <= set(shown())


def tries_in_a_day(review_app: Flask, monkeypatch: pytest.MonkeyPatch, machines: int) -> tuple[int, bool]:
    """Try 100,000 passphrases as often as it is allowed within a day; return how many were looked at, and success."""
    now, looked = 0.0, 0

    def identify(_people: object, _name: str, passphrase: str) -> str | None:
        nonlocal looked
        looked += 1
        return "id" if passphrase == "99999" else None

    monkeypatch.setattr(RemotePeople, "identify", identify)
    tries = Limit(log_in.TRIES_EACH, log_in.TRIES_OF_ALL, lambda: now)
    review_app.extensions["feltwatch-log-in"] = replace(remote.remote_access(review_app), tries=tries)
    door = remote.remote_access(review_app)

    def put_off() -> float:
        waits = []
        for machine in range(machines):
            if not (wait := tries.wait_s(f"192.0.2.{machine}")):
                return 0.0
            waits.append(wait)
        return min(waits)

    for number in range(100_000):
        while wait := put_off():
            now += wait + 0.001
            if now > 86_400:
                return looked, False
        if door.people.identify(NAME, f"{number:05}"):
            return looked, True
    return looked, False


@pytest.mark.parametrize("machines", [1, 20])
def test_a_passphrase_stands_a_day_of_tries_of_any_number_of_machines(
    review_app: Flask, monkeypatch: pytest.MonkeyPatch, machines: int
) -> None:
    looked, found = tries_in_a_day(review_app, monkeypatch, machines)
    assert not found
    assert looked < (1500 if machines == 1 else 15_000)
    monkeypatch.setattr(log_in, "TRIES_EACH", NO_LIMIT)
    monkeypatch.setattr(log_in, "TRIES_OF_ALL", NO_LIMIT)
    assert tries_in_a_day(review_app, monkeypatch, machines)[1]


def test_the_page_puts_tries_off_before_it_looks_at_them(
    review_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0

    def identify(*_: object) -> None:
        nonlocal looked
        looked += 1

    monkeypatch.setattr(RemotePeople, "identify", identify)

    def codes() -> list[int]:
        client = visitor(review_app)
        form = {"name": NAME, "passphrase": "a wrong passphrase"}
        return [asked(client, "/log-in", method="POST", data=form)[0] for _ in range(8)]

    assert codes() == [403] * 5 + [429] * 3
    assert looked == 5
    review_app.extensions["feltwatch-log-in"] = replace(
        remote.remote_access(review_app), tries=Limit(NO_LIMIT, NO_LIMIT)
    )
    assert codes() == [403] * 8


def test_a_log_in_that_another_site_sends_is_refused(
    review_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = {"name": NAME, "passphrase": PASSPHRASE}

    def codes() -> list[int]:
        headers: tuple[dict[str, str], ...] = (
            {"Origin": "https://evil.example"},
            {"Sec-Fetch-Site": "cross-site"},
        )
        return [
            asked(visitor(review_app), "/log-in", method="POST", data=form, headers=one)[0] for one in headers
        ]

    assert codes() == [403, 403]
    monkeypatch.setattr(remote, "need_own_site", lambda: None)
    assert codes() == [303, 303]


def test_a_session_that_was_found_open_is_soon_over(
    review_app: Flask, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    people = remote.remote_access(review_app).people
    known = people._load()[NAME]["id"]

    def open_after(seconds: float, every: float) -> bool:
        nonlocal now
        sessions = RemoteSessions(people, lambda: now)
        token, ends = sessions.open(NAME, known), now + seconds
        while now < ends:
            now += every
            if sessions.role(token) is None:
                return False
        return True

    assert open_after(3600, every=60), "anyone who reads goes on"
    assert not open_after(1000, every=1000), "nobody there"
    assert not open_after(24 * 3600, every=60), "for ever"
    monkeypatch.setattr(access, "IDLE_S", 1e9)
    monkeypatch.setattr(access, "LONGEST_S", 1e9)
    assert open_after(24 * 3600, every=1000)


def test_whoever_is_struck_off_the_list_sees_nothing_more(
    review_app: Flask, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = logged_in(review_app)
    assert asked(client, "/review")[0] == 200
    RemotePeople(secrets).remove(NAME)
    assert asked(client, "/review")[0] == 302
    RemotePeople(secrets).add(NAME, PASSPHRASE)
    client = logged_in(review_app)
    RemotePeople(secrets).add(NAME, "another one than before")
    assert asked(client, "/review")[0] == 302
    monkeypatch.setattr(RemotePeople, "has", lambda *_: True)
    client.set_cookie(
        RemoteSessions.cookie,
        remote.remote_access(review_app).sessions.open(NAME, "the old one's"),
        secure=True,
    )
    assert asked(client, "/review")[0] == 200


# ---- what ----


def test_from_another_machine_there_is_no_page_of_the_table(review_app: Flask, remote_felt: Felt) -> None:
    assert {rule.rule for rule in review_app.url_map.iter_rules()} == ROUTES
    ways = ("/view.json", "/rules", "/healthz?checks", "/menu", "/openapi.json", "/session")
    client = logged_in(review_app)
    assert [asked(client, way)[0] for way in (*ways, "/events", "/setup/camera")] == [404] * 8
    assert asked(client, "/command", method="POST", json={"do": "next"})[0] == 404
    table = create_table_app(Settings(remote_felt.folder, remote_felt.folder / "none.sock")).test_client()
    assert [asked(table, way)[0] for way in ways] == [200, 200, 503, 200, 200, 200]


def on_the_table(felt: Felt) -> str:
    """Lay hand 2 on the table, read and settled and not yet over; return its picture's name."""
    felt.to_setting()
    felt.to_reading()
    look(felt, "now")
    (felt.folder / "exports").mkdir(exist_ok=True)
    (felt.folder / "exports/hand-000002.zip").write_bytes(b"made by somebody")
    return f"{felt.state.hand:06}/now.jpg"


def test_a_hand_that_is_not_over_is_reached_by_no_address(
    remote_felt: Felt, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = on_the_table(remote_felt)

    def told() -> list[str]:
        review_app = remote_app(remote_felt.folder, secrets)
        client = logged_in(review_app)
        about = [path for path in addresses(review_app, 2, picture) if "2" in path]
        assert len(about) == 8
        return [path for path in about if asked(client, path)[0] == 200]

    assert told() == []
    assert (
        asked(logged_in(remote_app(remote_felt.folder, secrets)), "/review")[1].count(b'href="/review/') == 1
    )

    def open_too(reader: JournalReader, hand: int) -> PastHand:
        found = load_hand(reader, hand) if hand == 1 else None
        rows = reader.of_hand(hand)
        return found or PastHand(hand, rows[0].event, chapter(rows, State()))  # type: ignore[arg-type]

    for module in (remote, review):
        monkeypatch.setattr(module, "load_hand", open_too)
    assert told() == [], "the reader alone: its rows are not there"
    monkeypatch.setattr(remote, "FinishedReader", JournalReader)
    assert "/review/2" in told()
    assert f"/captures/{picture}" in told()


def test_neither_a_report_nor_a_correction_tells_of_what_goes_on(
    remote_felt: Felt, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> tuple[bytes, bytes]:
        client = logged_in(remote_app(remote_felt.folder, secrets))
        return asked(client, "/report.csv")[1], asked(client, "/review/1/story")[1]

    def again() -> None:
        reopen(remote_felt)
        remote_felt.do("key_row", seat=1, row="front", cards="Qh 2s 7c")

    before = read()
    again()
    assert read() == before
    monkeypatch.setattr(remote, "FinishedReader", JournalReader)
    after = read()
    assert after[0] != before[0]
    assert after[1] != before[1]


def test_only_pictures_that_the_record_of_a_hand_names_are_given(
    review_app: Flask, remote_felt: Felt, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = logged_in(review_app)
    (remote_felt.folder / "captures/000001/other.jpg").write_bytes(b"\xff\xd8 the live felt")
    ways = ("000001/other.jpg", "000001/../../journal.sqlite", "%2e%2e/journal.sqlite", "1/first.jpg")
    assert asked(client, "/captures/000001/first.jpg")[0] == 200
    assert [asked(client, f"/captures/{way}")[0] for way in ways] == [404] * 4
    monkeypatch.setattr(remote, "captures_in", lambda _: [SimpleNamespace(name="000001/other.jpg")])
    assert asked(client, "/captures/000001/other.jpg")[1].endswith(b"the live felt")


# ---- how ----


def test_every_answer_to_another_machine_has_its_headers(
    review_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking() -> set[str]:
        missing = set()
        for client in (visitor(review_app), logged_in(review_app)):
            for path in (*addresses(review_app, 1, "000001/first.jpg"), "/nothing"):
                with closing(client.get(path)) as response:
                    missing |= headers - set(response.headers.keys())
        return missing

    headers = set(remote.HEADERS)
    assert "script-src" not in remote.HEADERS["Content-Security-Policy"], "no page of it has a script"
    assert headers >= {"Content-Security-Policy", "X-Content-Type-Options"}
    assert lacking() == set()
    monkeypatch.setattr(review_app, "after_request_funcs", {})
    assert lacking() == headers


def test_one_machine_tries_no_passphrases_in_its_whole_networks_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine has as many IPv6 addresses as it likes; they have a share together, and each one its own of that."""

    def let_in(count: int, addresses: int) -> int:
        limit = Limit((5, 1e-9), NO_LIMIT, lambda: 0.0)
        taken = [limit.wait_s(f"2001:db8::{number % addresses + 1:x}") for number in range(count)]
        return taken.count(0.0) if limit.wait_s("2001:db8::ffff") == 0.0 else -1

    assert let_in(100, 1) == 5, "one address takes its own share, and its neighbour gets in"
    assert let_in(100, 2) == 10
    assert let_in(100, 100) == -1, "many addresses of one network have a limit, too"
    monkeypatch.setattr(rate_limit, "NETWORK", 1)
    assert let_in(100, 1) == -1


def test_a_form_that_is_too_large_is_not_read(review_app: Flask) -> None:
    form = {"name": NAME, "passphrase": "x" * 100_000}
    assert asked(visitor(review_app), "/log-in", method="POST", data=form)[0] == 413
    review_app.config["MAX_CONTENT_LENGTH"] = None
    assert asked(visitor(review_app), "/log-in", method="POST", data=form)[0] == 403


def test_a_key_that_others_may_read_is_not_served_by(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate(secrets)
    (secrets / "tls.key").chmod(0o644)
    with pytest.raises(TlsError, match="read by others"):
        need_usable(secrets)
    monkeypatch.setattr("stat.S_IMODE", lambda _: 0o600)
    assert need_usable(secrets)
