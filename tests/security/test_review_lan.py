"""Attacks on the review from another machine of the house's network."""

from __future__ import annotations

import re
import socket
import ssl
import time
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from cheroot.wsgi import Server
from flask import Flask
from flask.testing import FlaskClient

from dealer_ui import guard, lan, lan_access, lan_server, review
from dealer_ui.app import Settings
from dealer_ui.app import create_app as create_table_app
from dealer_ui.lan_access import LanPeople, LanSessions, Limit
from dealer_ui.lan_tls import certificate, context
from firmware.table.journal import JournalReader
from firmware.table.people import Role
from firmware.table.recall import Recalled, chapter, recall
from firmware.table.state import State
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.lan_house import NAME, PASSPHRASE, Served, lan_app, logged_in, served, visitor
from tests.dealer_ui.past import look, played, reopen
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow

ROUTES = {
    *("/", "/log-in", "/log-out", "/static/<path:filename>", "/captures/<path:name>"),
    *("/report", "/report.csv", "/report.pdf", "/review", "/review/<hand>", "/review/<hand>/again"),
    *("/review/<hand>/changes", "/review/<hand>/dispute", "/review/<hand>/file", "/review/<hand>/look"),
    "/review/<hand>/story",
}
NO_LIMIT = (1 << 60, 1.0)


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    return tmp_path / "secrets"


@pytest.fixture
def lan_felt(felt: Felt) -> Felt:
    """Hand 1 is over and has pictures."""
    played(felt)
    return felt


@pytest.fixture
def app(lan_felt: Felt, secrets: Path) -> Flask:
    return lan_app(lan_felt.folder, secrets)


def asked(client: FlaskClient, path: str, **more: Any) -> tuple[int, bytes]:
    with closing(client.open(path, **more)) as response:
        return response.status_code, response.get_data()


def addresses(app: Flask, hand: int, capture: str) -> list[str]:
    """Every address of the application about a hand and a picture."""
    told = {"<hand>": str(hand), "<path:name>": capture, "<path:filename>": "pages.css"}
    return [
        re.sub(r"<[^>]+>", lambda found: told[found[0]], rule.rule)
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ())
    ]


# ---- who ----


def test_from_another_machine_nothing_is_shown_without_a_log_in(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown() -> list[str]:
        stranger = visitor(app)
        pages = [path for path in addresses(app, 1, "000001/first.jpg") if not path.startswith("/static")]
        return [path for path in (*pages, "/nothing") if asked(stranger, path)[0] not in (302, 401)]

    assert shown() == ["/log-in"]
    monkeypatch.setattr(guard, "role", lambda: Role.AUDITOR)
    assert {"/review", "/review/1", "/captures/000001/first.jpg", "/report"} <= set(shown())


def tries_in_a_day(app: Flask, monkeypatch: pytest.MonkeyPatch, machines: int) -> tuple[int, bool]:
    """Try 100,000 passphrases as often as it is allowed within a day; return how many were looked at, and success."""
    now, looked = 0.0, 0

    def matches(_people: object, _name: str, passphrase: str) -> str | None:
        nonlocal looked
        looked += 1
        return "id" if passphrase == "99999" else None

    monkeypatch.setattr(LanPeople, "matches", matches)
    tries = Limit(lan.TRIES_EACH, lan.TRIES_OF_ALL, lambda: now)
    app.extensions["feltwatch-lan"] = replace(lan.door(app), tries=tries, requests=Limit(NO_LIMIT, NO_LIMIT))
    door = lan.door(app)

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
        if door.people.matches(NAME, f"{number:05}"):
            return looked, True
    return looked, False


@pytest.mark.parametrize("machines", [1, 20])
def test_a_passphrase_stands_a_day_of_tries_of_any_number_of_machines(
    app: Flask, monkeypatch: pytest.MonkeyPatch, machines: int
) -> None:
    looked, found = tries_in_a_day(app, monkeypatch, machines)
    assert not found
    assert looked < (1500 if machines == 1 else 15_000)
    monkeypatch.setattr(lan, "TRIES_EACH", NO_LIMIT)
    monkeypatch.setattr(lan, "TRIES_OF_ALL", NO_LIMIT)
    assert tries_in_a_day(app, monkeypatch, machines)[1]


def test_the_page_puts_tries_off_before_it_looks_at_them(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    def matches(*_: object) -> None:
        nonlocal looked
        looked += 1

    monkeypatch.setattr(LanPeople, "matches", matches)

    def codes() -> list[int]:
        client = visitor(app)
        form = {"name": NAME, "passphrase": "a wrong passphrase"}
        return [asked(client, "/log-in", method="POST", data=form)[0] for _ in range(8)]

    assert codes() == [403] * 5 + [429] * 3
    assert looked == 5
    app.extensions["feltwatch-lan"] = replace(lan.door(app), tries=Limit(NO_LIMIT, NO_LIMIT))
    assert codes() == [403] * 8


def test_a_log_in_that_another_site_sends_is_refused(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    form = {"name": NAME, "passphrase": PASSPHRASE}

    def codes() -> list[int]:
        headers: tuple[dict[str, str], ...] = (
            {"Origin": "https://evil.example"},
            {"Sec-Fetch-Site": "cross-site"},
        )
        return [asked(visitor(app), "/log-in", method="POST", data=form, headers=one)[0] for one in headers]

    assert codes() == [403, 403]
    monkeypatch.setattr(lan, "_need_own_site", lambda: None)
    assert codes() == [303, 303]


def test_a_session_that_was_found_open_is_soon_over(
    app: Flask, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    people = lan.door(app).people
    known = people._load()[NAME]["id"]

    def open_after(seconds: float, every: float) -> bool:
        nonlocal now
        sessions = LanSessions(people, lambda: now)
        token, ends = sessions.open(NAME, known), now + seconds
        while now < ends:
            now += every
            if sessions.role(token) is None:
                return False
        return True

    assert open_after(3600, every=60), "whoever reads goes on"
    assert not open_after(1000, every=1000), "nobody there"
    assert not open_after(24 * 3600, every=60), "for ever"
    monkeypatch.setattr(lan_access, "IDLE_S", 1e9)
    monkeypatch.setattr(lan_access, "LONGEST_S", 1e9)
    assert open_after(24 * 3600, every=1000)


def test_whoever_is_struck_off_the_list_sees_nothing_more(
    app: Flask, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = logged_in(app)
    assert asked(client, "/review")[0] == 200
    LanPeople(secrets).remove(NAME)
    assert asked(client, "/review")[0] == 302
    LanPeople(secrets).add(NAME, PASSPHRASE)
    client = logged_in(app)
    LanPeople(secrets).add(NAME, "another one than before")
    assert asked(client, "/review")[0] == 302
    monkeypatch.setattr(LanPeople, "has", lambda *_: True)
    client.set_cookie(LanSessions.cookie, lan.door(app).sessions.open(NAME, "the old one's"), secure=True)
    assert asked(client, "/review")[0] == 200


# ---- what ----


def test_from_another_machine_there_is_no_page_of_the_table(app: Flask, lan_felt: Felt) -> None:
    assert {rule.rule for rule in app.url_map.iter_rules()} == ROUTES
    ways = ("/view.json", "/rules", "/healthz?checks", "/office", "/openapi.json", "/session")
    client = logged_in(app)
    assert [asked(client, way)[0] for way in (*ways, "/events", "/setup/camera")] == [404] * 8
    assert asked(client, "/command", method="POST", json={"do": "next"})[0] == 404
    table = create_table_app(Settings(lan_felt.folder, lan_felt.folder / "none.sock")).test_client()
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
    lan_felt: Felt, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = on_the_table(lan_felt)

    def told() -> list[str]:
        app = lan_app(lan_felt.folder, secrets)
        client = logged_in(app)
        about = [path for path in addresses(app, 2, picture) if "2" in path]
        assert len(about) == 8
        return [path for path in about if asked(client, path)[0] == 200]

    assert told() == []
    assert asked(logged_in(lan_app(lan_felt.folder, secrets)), "/review")[1].count(b'href="/review/') == 1

    def open_too(reader: JournalReader, hand: int) -> Recalled:
        found = recall(reader, hand) if hand == 1 else None
        rows = reader.of_hand(hand)
        return found or Recalled(hand, rows[0].event, chapter(rows, State()))  # type: ignore[arg-type]

    for module in (lan, review):
        monkeypatch.setattr(module, "recall", open_too)
    assert told() == [], "the reader alone: its rows are not there"
    monkeypatch.setattr(lan, "FinishedReader", JournalReader)
    assert "/review/2" in told()
    assert f"/captures/{picture}" in told()


def test_neither_a_report_nor_a_correction_tells_of_what_goes_on(
    lan_felt: Felt, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> tuple[bytes, bytes]:
        client = logged_in(lan_app(lan_felt.folder, secrets))
        return asked(client, "/report.csv")[1], asked(client, "/review/1/story")[1]

    def anew() -> None:
        reopen(lan_felt)
        lan_felt.do("key_row", seat=1, row="front", cards="Qh 2s 7c")

    before = read()
    anew()
    assert read() == before
    monkeypatch.setattr(lan, "FinishedReader", JournalReader)
    after = read()
    assert after[0] != before[0]
    assert after[1] != before[1]


def test_only_pictures_that_the_record_of_a_hand_names_are_given(
    app: Flask, lan_felt: Felt, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = logged_in(app)
    (lan_felt.folder / "captures/000001/other.jpg").write_bytes(b"\xff\xd8 the live felt")
    ways = ("000001/other.jpg", "000001/../../journal.sqlite", "%2e%2e/journal.sqlite", "1/first.jpg")
    assert asked(client, "/captures/000001/first.jpg")[0] == 200
    assert [asked(client, f"/captures/{way}")[0] for way in ways] == [404] * 4
    monkeypatch.setattr(lan, "named_by", lambda _: [SimpleNamespace(name="000001/other.jpg")])
    assert asked(client, "/captures/000001/other.jpg")[1].endswith(b"the live felt")


# ---- how ----


def test_every_answer_to_another_machine_has_its_headers(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking() -> set[str]:
        missing = set()
        for client in (visitor(app), logged_in(app)):
            for path in (*addresses(app, 1, "000001/first.jpg"), "/nothing"):
                with closing(client.get(path)) as response:
                    missing |= headers - set(response.headers.keys())
        return missing

    headers = set(lan.HEADERS)
    assert "script-src" not in lan.HEADERS["Content-Security-Policy"], "no page of it has a script"
    assert headers >= {"Content-Security-Policy", "Strict-Transport-Security", "X-Content-Type-Options"}
    assert lacking() == set()
    monkeypatch.setattr(lan, "HEADERS", {})
    assert lacking() == headers


def test_too_many_requests_of_one_machine_are_put_off(app: Flask) -> None:
    def codes(address: str, count: int) -> list[int]:
        client = visitor(app, address)
        return [asked(client, "/log-in")[0] for _ in range(count)]

    app.extensions["feltwatch-lan"] = replace(lan.door(app), requests=Limit((5, 1e-6), (8, 1e-6)))
    assert codes("192.0.2.10", 7) == [200] * 5 + [429] * 2
    assert codes("192.0.2.11", 5) == [200] * 3 + [429] * 2, "all together"
    app.extensions["feltwatch-lan"] = replace(lan.door(app), requests=Limit(NO_LIMIT, NO_LIMIT))
    assert codes("192.0.2.10", 7) == [200] * 7


def test_one_machine_does_not_shut_its_whole_network_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine has as many IPv6 addresses as it likes; they have a share together, and each one its own of that."""

    def let_in(count: int, addresses: int) -> int:
        limit = Limit((5, 1e-9), NO_LIMIT, lambda: 0.0)
        taken = [limit.wait_s(f"2001:db8::{number % addresses + 1:x}") for number in range(count)]
        return taken.count(0.0) if limit.wait_s("2001:db8::ffff") == 0.0 else -1

    assert let_in(100, 1) == 5, "one address takes its own share, and its neighbour gets in"
    assert let_in(100, 2) == 10
    assert let_in(100, 100) == -1, "many addresses of one network have a limit, too"
    monkeypatch.setattr(lan_access, "NETWORK", 1)
    assert let_in(100, 1) == -1


def test_a_form_that_is_too_large_is_not_read(app: Flask) -> None:
    form = {"name": NAME, "passphrase": "x" * 100_000}
    assert asked(visitor(app), "/log-in", method="POST", data=form)[0] == 413
    app.config["MAX_CONTENT_LENGTH"] = None
    assert asked(visitor(app), "/log-in", method="POST", data=form)[0] == 403


def test_plain_http_and_old_tls_are_not_spoken(
    app: Flask, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = b"GET /log-in HTTP/1.0\r\nHost: localhost\r\n\r\n"
    with served(app, secrets) as there:
        answer = there.ask("/log-in")
        assert (answer.status, answer.headers["Strict-Transport-Security"]) == (200, "max-age=31536000")
        with there.line() as line:
            line.sendall(request)
            assert b"Felt" not in b"".join(iter(lambda: received(line), b""))
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.load_verify_locations(secrets / "tls.crt")
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        with pytest.raises((ssl.SSLError, ConnectionError)), there.line() as line:
            old.wrap_socket(line, server_hostname="localhost")
    plain = Server(("127.0.0.1", 0), app, numthreads=1)  # without TLS, the same application
    with ExitStack() as stack:
        plain.prepare()
        thread = Thread(target=plain.serve)
        thread.start()
        stack.callback(thread.join)
        stack.callback(plain.stop)
        line = stack.enter_context(socket.create_connection(plain.bind_addr, DEADLINE))
        line.sendall(request)
        assert b"Passphrase" in b"".join(iter(lambda: received(line), b""))


def received(line: socket.socket) -> bytes:
    with suppress(ConnectionError):
        return line.recv(65536)
    return b""


def test_another_box_in_its_place_is_noticed(app: Flask, secrets: Path, tmp_path: Path) -> None:
    certificate(secrets, ["localhost"])
    forger = tmp_path / "forger"
    certificate(forger, ["localhost"])
    assert certificate(forger).fingerprint != certificate(secrets).fingerprint
    with served(app, forger) as there:
        trusting_ours = ssl.create_default_context(cafile=str(secrets / "tls.crt"))
        with pytest.raises(ssl.SSLCertVerificationError):
            Served(there.port, trusting_ours).ask("/log-in")
        assert there.ask("/log-in").status == 200, "who compares nothing talks to him"


def answered(there: Served, source: str, within: float) -> bool:
    try:
        return there.ask("/log-in", source, within).status == 200
    except OSError:
        return False


@pytest.mark.parametrize("begin", [b"", b"\x16\x03\x01"], ids=["silent", "half a handshake"])
def test_connections_that_never_speak_keep_nobody_else_out(
    app: Flask, secrets: Path, monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    def crowd(there: Served, stack: ExitStack) -> None:
        for _ in range(30):
            line = stack.enter_context(there.line())
            with suppress(ConnectionError):
                line.sendall(begin)

    for limit in ("SILENT_S", "REQUEST_S"):
        monkeypatch.setattr(lan_server, limit, 1000)  # none of them is closed meanwhile
    monkeypatch.setattr(lan_server, "THREADS", lan_server.OF_ONE + 4)
    with served(app, secrets) as there, ExitStack() as stack:
        crowd(there, stack)
        assert answered(there, "127.0.0.2", DEADLINE)
    monkeypatch.setattr(lan_server, "OF_ONE", 1000)
    with served(app, secrets) as there, ExitStack() as stack:
        crowd(there, stack)
        assert not answered(there, "127.0.0.2", 1)


def test_a_place_is_free_again_once_a_connection_is_closed(
    app: Flask, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lan_server, "OF_ONE", 2)
    with served(app, secrets) as there:
        for _ in range(6):
            until(lambda: answered(there, "127.0.0.1", DEADLINE))
        monkeypatch.setattr(lan_server.Tls, "gone", lambda *_: None)
        assert [answered(there, "127.0.0.3", DEADLINE) for _ in range(4)] == [True, True, False, False]


def test_a_request_that_comes_a_byte_at_a_time_is_broken_off(
    app: Flask, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(there: Served, within: float) -> bool:
        with there.spoken.wrap_socket(there.line(), server_hostname="localhost") as line:
            ends = time.monotonic() + within
            try:
                while time.monotonic() < ends:
                    line.sendall(b"X")
                    line.settimeout(0.1)
                    with suppress(TimeoutError):
                        return line.recv(100) == b"" or True
            except OSError:
                return True
        return False

    monkeypatch.setattr(lan_server, "REQUEST_S", 0.5)
    with served(app, secrets) as there:
        assert cut_off(there, within=DEADLINE)
        monkeypatch.setattr(lan_server, "REQUEST_S", 1000)
        assert not cut_off(there, within=1.5)


def test_a_key_that_others_may_read_is_not_served_by(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate(secrets)
    (secrets / "tls.key").chmod(0o644)
    with pytest.raises(OSError, match="read by others"):
        context(secrets)
    monkeypatch.setattr("stat.S_IMODE", lambda _: 0o600)
    assert context(secrets)
