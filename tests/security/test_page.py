"""Attacks on the page: from another role, from another site, with names, paths and bodies that mean harm."""

from __future__ import annotations

import hmac
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from werkzeug.test import TestResponse

from dealer_ui.glance import routes as glance
from dealer_ui.review import routes as review
from dealer_ui.server.app import Settings, create_app
from dealer_ui.view import sibling_page as beside
from dealer_ui.view.sibling_page import SiblingPage
from dealer_ui.web import guard, serve, stream
from dealer_ui.web.services import KIOSK, services
from firmware.access import control as gate
from firmware.access.pins import PinStore
from firmware.record import archive
from firmware.record.archive_lines import read_lines
from firmware.record.journal import captures
from firmware.table import events as ev
from firmware.table.command import COMMAND_ROLES
from firmware.table.errors import CommandNotAllowed
from firmware.table.event import apply
from firmware.table.people import MIN_DIGITS, Role
from firmware.table.topics.people import Unlock
from tests.dealer_ui.felt import PLAYERS, Felt
from tests.dealer_ui.house import PEOPLE, page_of
from tests.dealer_ui.serving import running
from tests.firmware.running_table import Table
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow

EVIL = "<b>{{7*7}}</b>%(seat)s' OR 1=1;--"


def send(client: FlaskClient, app: Flask, **command: Any) -> TestResponse:
    return client.post("/command", json=command, headers={"X-CSRF-Token": app.config["CSRF_TOKEN"]})


def status(client: FlaskClient, path: str, method: str = "GET", **more: Any) -> int:
    with closing(client.open(path, method=method, **more)) as response:
        return response.status_code


# ---- roles ----


def signed_on(app: Flask, name: str | None) -> FlaskClient:
    client = app.test_client()
    if name:
        assert send(client, app, do="unlock", by=name, pin=PEOPLE[name][1]).status_code == 200
    return client


def wrongly_open(app: Flask) -> list[str]:
    """Ask every route that is not everybody's as each role that it is not open to; return what was answered."""
    found = []
    token = {"X-CSRF-Token": app.config["CSRF_TOKEN"]}
    for name in (None, *PEOPLE):
        client = signed_on(app, name)
        role = PEOPLE[name][0] if name else Role.DEALER
        for rule in app.url_map.iter_rules():
            if role in guard.roles_of(app.view_functions[rule.endpoint]):
                continue
            path = re.sub(r"<[^>]+>", "1", rule.rule)
            method = "POST" if "POST" in (rule.methods or ()) else "GET"
            if status(client, path, method, headers=token) != 403:
                found.append(f"{role} {rule.rule}")
    return found


@pytest.fixture
def house_app(table: Table) -> Flask:
    return page_of(table)


def test_every_route_without_its_role_is_refused(house_app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    narrowed = [
        rule
        for rule in house_app.url_map.iter_rules()
        if guard.roles_of(house_app.view_functions[rule.endpoint]) != guard.EVERYBODY
    ]
    assert len(narrowed) >= 5
    assert wrongly_open(house_app) == []
    monkeypatch.setattr(guard, "need", lambda *_: None)
    assert len(wrongly_open(house_app)) >= 5


def test_a_command_without_its_role_is_refused(
    house_app: Flask, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = house_app.test_client()
    # somebody whom no other test of this house needs
    table.do('{"do": "list_person", "person": "Lin", "role": "dealer", "by": "Tran", "pin": "913753"}')
    strike = {"do": "remove_person", "person": "Lin"}
    assert send(client, house_app, **strike).status_code == 403
    assert table.state.person("Lin") is not None
    monkeypatch.setattr(gate, "COMMAND_ROLES", {**COMMAND_ROLES, "remove_person": frozenset(Role)})
    monkeypatch.setattr(gate, "_need_right_over", lambda *_: None)
    assert send(client, house_app, **strike).status_code == 200
    assert table.state.person("Lin") is None


# ---- another site ----


def test_a_command_of_another_site_is_refused(
    felt: Felt, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another site can send, and cannot read the token that the page holds."""
    with felt.answering() as came:
        assert client.post("/command", json={"do": "next"}).status_code == 403
        assert came == []
        monkeypatch.setattr(hmac, "compare_digest", lambda *_: True)
        assert client.post("/command", json={"do": "next"}).status_code == 200


def test_a_command_of_another_site_that_got_hold_of_the_token_is_refused(
    felt: Felt, app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"X-CSRF-Token": app.config["CSRF_TOKEN"], "Sec-Fetch-Site": "cross-site"}
    with felt.answering() as came:
        assert client.post("/command", json={"do": "next"}, headers=headers).status_code == 403
        assert came == []
        monkeypatch.setattr(guard, "_need_own_site", lambda: None)
        assert client.post("/command", json={"do": "next"}, headers=headers).status_code == 200


def test_a_name_that_leads_here_from_elsewhere_is_not_answered(felt: Felt, client: FlaskClient) -> None:
    """DNS rebinding: the browser believes that this machine is the other site."""
    there = {"Host": "evil.example"}
    assert status(client, "/", headers=there) == 400
    open_app = create_app(
        Settings(felt.folder, felt.folder / "s", hosts=(*Settings.hosts, "evil.example"))
    ).test_client()
    assert status(open_app, "/", headers=there) == 200


# ---- paths ----


def test_a_captures_name_leads_to_nothing_but_captures(
    felt: Felt, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    felt.deal()
    way = "/captures/000001/%2e%2e/%2e%2e/journal.sqlite"
    (felt.folder / "captures/000001").mkdir(parents=True)
    with closing(client.get(way)) as refused:
        assert refused.status_code == 404
    monkeypatch.setattr(captures, "_NAME", re.compile(".*"))
    monkeypatch.setattr(os.path, "realpath", lambda path: str(path))
    monkeypatch.setattr(guard, "need", lambda *_: None)
    with closing(client.get(way)) as read:
        assert read.data.startswith(b"SQLite")


def test_a_link_among_the_captures_is_not_followed(
    felt: Felt, client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    felt.deal()
    (tmp_path / "secret").write_text("the house's")
    folder = felt.folder / "captures/000001"
    folder.mkdir(parents=True)
    (folder / "frame.jpg").symlink_to(tmp_path / "secret")
    assert status(client, "/captures/000001/frame.jpg") == 404
    monkeypatch.setattr(os.path, "realpath", lambda path: str(path))
    services(client.application).captures._real = str(felt.folder / "captures")
    with closing(client.get("/captures/000001/frame.jpg")) as read:
        assert read.text == "the house's"


def test_an_exports_address_leads_to_nothing_but_exports(
    house_app: Flask, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = signed_on(house_app, "Moreno")
    exports = table.config.data / "exports"
    exports.mkdir(exist_ok=True)
    link = exports / "hand-000001.zip"
    link.symlink_to(table.config.data / "journal.sqlite")
    for hand in ("1", "..%2f..%2fjournal", "%2e%2e", "1e3", "٣"):
        assert status(floor, f"/review/{hand}/file") in (308, 404)
    with monkeypatch.context() as off:
        off.setattr(Path, "is_symlink", lambda _: False)
        with closing(floor.get("/review/1/file")) as read:
            assert read.data.startswith(b"SQLite")
    link.unlink()
    monkeypatch.setattr(review, "number_of", lambda _: 1)
    (exports / "hand-000001.zip").write_bytes(b"another hand's")
    with closing(floor.get("/review/%2e%2e%3f/file")) as read:
        assert read.status_code == 200, "without the look at the number any address gives a file"
    link.unlink()


# ---- names ----


def test_a_players_name_is_never_a_template_nor_markup(
    felt: Felt, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PLAYERS, 1, EVIL)
    felt.to_settled()
    pages = ("/", "/review", "/view.json")
    for path in pages[:2]:
        text = app.test_client().get(path).text
        assert "<b>{{" not in text
        assert "<b>49" not in text
    assert "&lt;b&gt;{{7*7}}&lt;/b&gt;%(seat)s&#39; OR 1=1;--" in app.test_client().get("/").text
    bare = create_app(Settings(felt.folder, felt.folder / "none.sock"))
    monkeypatch.setattr(bare.jinja_env, "autoescape", False)
    monkeypatch.setattr(bare.jinja_env, "bytecode_cache", None)  # what was compiled for other pages escapes
    assert "<b>{{7*7}}</b>" in bare.test_client().get("/").text


class NaiveConnection:
    """A connection that writes values into its SQL, as nobody should."""

    def __init__(self, db: Any) -> None:
        self._db = db

    def execute(self, text: str, values: Any = ()) -> Any:
        for value in values:
            text = text.replace("?", f"'{value}'" if isinstance(value, str) else str(value), 1)
        return self._db.execute(text)


def test_a_name_is_never_a_part_of_a_question_to_the_record(
    felt: Felt, monkeypatch: pytest.MonkeyPatch
) -> None:
    felt.to_archived()
    kept = archive.Archive(felt.folder)
    everything = archive.HandFilter(dealer="nobody' OR '1'='1")
    assert len(kept.hands()) == 1
    assert kept.hands(everything) == []
    real = read_lines

    def naive(db: Any, where: str, values: Any) -> Any:
        return real(NaiveConnection(db), where, values)  # type: ignore[arg-type]

    monkeypatch.setattr("firmware.record.archive.read_lines", naive)
    assert len(kept.hands(everything)) == 1


# ---- too much, too slow, too many ----


def test_a_body_that_is_too_large_never_reaches_the_table(felt: Felt, app: Flask) -> None:
    client = app.test_client()
    with felt.answering() as came:
        assert send(client, app, do="void", reason="x" * 100_000).status_code in (400, 413)
        assert came == []
        app.config["MAX_CONTENT_LENGTH"] = None
        send(client, app, do="void", reason="x" * 100_000)
        assert len(came) == 1


@contextmanager
def serving(app: Flask, threads: int) -> Iterator[int]:
    """Serve as `feltwatch ui` does; yield the port."""
    parts: dict[int, Any] = {}
    listening = socket.create_server(("127.0.0.1", 0))
    server: Any = serve.make_server(app, listening, threads, parts, serve.Server)
    services(app).live.start()
    with running(server, parts):
        try:
            yield listening.getsockname()[1]
        finally:
            services(app).live.stop()


def answers(port: int, within: float) -> bool:
    """Say whether the page's health is told within seconds."""
    try:
        with socket.create_connection(("127.0.0.1", port), within) as line:
            line.settimeout(within)
            line.sendall(b"GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
            return b"".join(iter(lambda: line.recv(4096), b"")).startswith(b"HTTP/1.")
    except OSError:
        return False


def hold(port: int, count: int, begin: bytes, stack: ExitStack) -> None:
    """Open connections that begin a request and stay."""
    for _ in range(count):
        line = stack.enter_context(socket.create_connection(("127.0.0.1", port), DEADLINE))
        line.sendall(begin)


@pytest.mark.parametrize(
    "begin", [b"", b"POST /command HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{"]
)
def test_slow_requests_keep_nobody_out(
    felt: Felt, app: Flask, monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    """Requests that never end hold a connection each, and no thread; anyone who comes after them gets in."""
    monkeypatch.setattr(serve, "SILENT_S", 1000)  # none of them is closed meanwhile
    monkeypatch.setattr(serve, "CONNECTIONS", 50)
    with serving(app, threads=4) as port, ExitStack() as stack:
        hold(port, 56, begin, stack)
        assert answers(port, DEADLINE)
    monkeypatch.setattr(serve.Server, "handle_accept", TcpWSGIServer.handle_accept)  # waitress's own limit
    monkeypatch.setattr(serve, "CONNECTIONS", 25)
    with serving(app, threads=4) as port, ExitStack() as stack:
        hold(port, 56, begin, stack)
        until(lambda: not answers(port, 0.5))


def test_a_request_that_drips_is_over_in_time(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then is not silence: the request has its time as a whole."""
    assert serve.WHOLE_S <= 30
    monkeypatch.setattr(serve, "WHOLE_S", 1.0)
    monkeypatch.setattr(serve, "SILENT_S", 2)

    def drips(port: int) -> bool:
        """Send a byte every so often; say whether the line is still open after three times the limit."""
        with socket.create_connection(("127.0.0.1", port), DEADLINE) as line:
            line.settimeout(0.25)
            began = time.monotonic()
            while time.monotonic() - began < 5:
                try:
                    line.sendall(b"x")
                    if line.recv(1) == b"":
                        return False
                except TimeoutError:
                    continue
                except OSError:
                    return False
        return True

    with serving(app, threads=4) as port:
        assert not drips(port)
    monkeypatch.setattr(serve, "WHOLE_S", 1000.0)
    with serving(app, threads=4) as port:
        assert drips(port)


def test_a_connection_that_says_nothing_is_closed(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    assert serve.SILENT_S <= 30
    monkeypatch.setattr(serve, "SILENT_S", 1)
    with serving(app, threads=4) as port, socket.create_connection(("127.0.0.1", port)) as line:
        line.settimeout(DEADLINE)
        assert line.recv(1) == b""
    monkeypatch.setattr(serve, "SILENT_S", 1000)
    with serving(app, threads=4) as port, socket.create_connection(("127.0.0.1", port)) as line:
        line.settimeout(2)
        with pytest.raises(TimeoutError):
            line.recv(1)


def test_streams_cannot_take_every_thread(felt: Felt) -> None:
    """Each stream holds a thread: those beyond the limit are refused, and the page answers."""
    stream = b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    limited = create_app(Settings(felt.folder, felt.folder / "s", streams=3))
    with serving(limited, threads=6) as port, ExitStack() as stack:
        hold(port, 12, stream, stack)
        assert answers(port, DEADLINE)
    unlimited = create_app(Settings(felt.folder, felt.folder / "s", streams=100))
    with serving(unlimited, threads=6) as port, ExitStack() as stack:
        hold(port, 12, stream, stack)
        until(lambda: not answers(port, 0.7))


def streamed(port: int, cookie: str = "") -> socket.socket:
    """Ask for a stream; return the line once the head of an answer is here."""
    line = socket.create_connection(("127.0.0.1", port), DEADLINE)
    line.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n{cookie}\r\n".encode())
    return line


def is_followed(line: socket.socket) -> bool:
    return line.recv(12) == b"HTTP/1.1 200"


def test_the_screen_at_the_table_has_its_stream_whatever_crowd_there_is(
    felt: Felt, monkeypatch: pytest.MonkeyPatch
) -> None:
    kiosk = f"Cookie: {KIOSK}=1\r\n"
    limited = create_app(Settings(felt.folder, felt.folder / "s", streams=3))
    cookie = limited.test_client().get("/?kiosk").headers["Set-Cookie"]
    assert cookie.startswith(f"{KIOSK}=1;")
    with serving(limited, threads=8) as port, ExitStack() as stack:
        for _ in range(6):
            is_followed(stack.enter_context(streamed(port)))
        assert not is_followed(stack.enter_context(streamed(port)))
        other = stack.enter_context(streamed(port, kiosk))
        assert is_followed(other)
        assert is_followed(stack.enter_context(streamed(port, kiosk))), "who says so last has it"
        other.settimeout(DEADLINE)
        assert b"".join(iter(lambda: other.recv(4096), b"")), "and the one before is at its end"
    monkeypatch.setattr("dealer_ui.glance.stream.KIOSK", "nobody's")
    limited = create_app(Settings(felt.folder, felt.folder / "s", streams=3))
    with serving(limited, threads=8) as port, ExitStack() as stack:
        for _ in range(6):
            is_followed(stack.enter_context(streamed(port)))
        assert not is_followed(stack.enter_context(streamed(port, kiosk)))


def test_a_crowd_of_streams_that_went_leaves_nothing_behind(
    felt: Felt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """250 streams, and all of them closed: a stream is given again before any heartbeat would have shown it."""
    monkeypatch.setattr(stream, "HEARTBEAT_S", 2 * DEADLINE)
    app = create_app(Settings(felt.folder, felt.folder / "s", streams=8))

    def crowd(port: int) -> None:
        with ExitStack() as stack:
            for line in [stack.enter_context(streamed(port)) for _ in range(250)]:
                is_followed(line)

    def is_given(port: int) -> bool:
        with streamed(port) as line:
            return is_followed(line)

    with serving(app, threads=12) as port:
        crowd(port)
        assert answers(port, DEADLINE)
        until(lambda: is_given(port))
    monkeypatch.setattr(serve.Channel, "handle_read", HTTPChannel.handle_read)
    app = create_app(Settings(felt.folder, felt.folder / "s", streams=8))
    with serving(app, threads=12) as port:
        crowd(port)
        time.sleep(1)  # what would be heard is heard by now
        assert not is_given(port)


def test_a_picture_of_a_past_hand_lies_in_no_browsers_store(
    felt: Felt, app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    felt.deal()
    capture = felt.captures.save("000001/row.jpg", b"\xff\xd8 a picture")
    with closing(client.get(f"/captures/{capture.name}")) as response:
        assert response.headers["Cache-Control"] == "no-store"
    monkeypatch.setattr(glance, "NEVER_STORED", "private, max-age=86400, immutable")
    with closing(client.get(f"/captures/{capture.name}")) as response:
        assert "immutable" in response.headers["Cache-Control"]


def test_the_training_page_is_of_another_site_than_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser sends a site's cookies to each of its ports: the two pages have different names."""

    def hosts() -> set[str | None]:
        found = set()
        for training in (False, True):
            page = SiblingPage(8013, training=training)
            page._answers, page._asked = True, time.monotonic()
            ((_, address),) = page.links()
            found.add(urlsplit(address).hostname)
        return found

    assert hosts() == {"127.0.0.1", "localhost"}
    policy = json.loads((Path(__file__).parents[2] / "systemd/chromium-policy.json").read_text())
    assert {urlsplit(one).hostname for one in policy["URLAllowlist"] if one.startswith("http")} == hosts()
    monkeypatch.setattr(beside, "TRAINING_HOST", beside.TABLE_HOST)
    assert len(hosts()) == 1


# ---- PINs ----


class Record:
    """What a gate writes to, without a disk."""

    def __init__(self, felt: Felt) -> None:
        self.state = felt.state

    def write(self, events: Any, _actor: str) -> int:
        for event in events:
            self.state = apply(self.state, event)
        return 1


def tries_in_a_day(felt: Felt, monkeypatch: pytest.MonkeyPatch, pin: str) -> tuple[int, bool]:
    """Try PINs from 0 on, as often as it is allowed within a day; return how many were looked at, and success."""
    felt.say(ev.PersonListed("Moreno", Role.FLOOR, "verifier"))
    now, looked = 0.0, 0

    def matches(_store: object, _name: str, tried: str) -> bool:
        nonlocal looked
        looked += 1
        return tried == pin

    monkeypatch.setattr(PinStore, "matches", matches)
    judge = gate.AccessControl(PinStore(felt.folder), lambda: now)
    record: Any = Record(felt)
    for guess in range(10 ** len(pin)):
        while True:
            unlock = Unlock(do="unlock", by="Moreno", pin=f"{guess:0{len(pin)}}")  # type: ignore[arg-type]
            before = looked
            try:
                judge.authorize(unlock, record)
            except CommandNotAllowed as error:
                now += error.wait_s or 0.5
                if now > 86_400:
                    return looked, False
                if looked > before:
                    break
            else:
                return looked, True
    return looked, False


def test_a_pin_stands_a_day_of_tries(felt: Felt, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in 692 for a PIN of six digits: the figure that docs/security.md gives."""
    looked, found = tries_in_a_day(felt, monkeypatch, "258053")
    assert not found
    assert looked == 1443
    assert looked / 10**MIN_DIGITS < 0.0015
    monkeypatch.setattr(gate, "wait_after", lambda _: 0.0)
    _, found = tries_in_a_day(felt, monkeypatch, "025805")
    assert found, "without the wait the PIN is found"


def test_an_older_pin_of_four_digits_is_found_in_one_day_of_seven(
    felt: Felt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why a new one has six digits. Tries from 0000 on find the PINs up to 1442 in a day, and no others."""
    assert tries_in_a_day(felt, monkeypatch, "1442") == (1443, True)
    felt.say(ev.PinSet("Moreno", "verifier"), ev.WaitEnded())
    assert tries_in_a_day(felt, monkeypatch, "1443") == (1443, False)
