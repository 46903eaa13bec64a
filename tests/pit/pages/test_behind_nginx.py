"""The pit's pages as a house has them: on a Unix socket, and the review's nginx before it, with TLS."""

from __future__ import annotations

import http.client
import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from flask import Flask

from dealer_ui.web.services import stream_source
from firmware.table import events as ev
from pit.pages.app import create_app
from pit.pages.guard import METRICS_TOKEN
from pit.pages.people import PitPeople, PitRole
from tests.dealer_ui.remote_house import NginxFront, served
from tests.pit.conftest import as_role
from tests.pit.pages.conftest import FLOOR, House
from tests.waiting import DEADLINE

PHRASE = "seven brown horses"


@pytest.fixture
def app(house: House, tmp_path: Path) -> Iterator[Flask]:
    """The application as it is served behind nginx, and the thread that follows the tables."""
    made = create_app(house.database, tmp_path / "pages")
    PitPeople(house.database).add("Ines", PitRole.FLOOR, PHRASE)
    live = stream_source(made)
    live.start()
    yield made
    live.stop()


@contextmanager
def asked(there: NginxFront, method: str, path: str, **headers: str) -> Iterator[http.client.HTTPResponse]:
    line = http.client.HTTPSConnection("localhost", there.port, context=there.spoken, timeout=DEADLINE)
    form = urlencode({"name": "Ines", "passphrase": headers.pop("phrase", "")}) if method == "POST" else None
    kind = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
    with closing(line):
        line.request(method, path, form, {"Accept": "text/html", **kind, **headers})
        with line.getresponse() as answer:
            yield answer


def until_said(stream: http.client.HTTPResponse, words: bytes) -> None:
    line = b""
    while words not in line:
        line = stream.readline()
        assert line, "the stream ended"


def test_somebody_logs_in_over_tls_and_a_dispute_comes_through_nginx_at_once(
    house: House, app: Flask, tmp_path: Path
) -> None:
    with served(app, tmp_path / "secrets") as there:
        with asked(there, "GET", "/") as answer:
            assert answer.getheader("Location") == "/log-in"
        own = {"Origin": f"https://localhost:{there.port}"}
        with asked(there, "POST", "/log-in", phrase=PHRASE, **own) as answer:
            assert (answer.status, answer.getheader("Location")) == (303, "/")
            cookie = str(answer.getheader("Set-Cookie")).partition(";")[0]
        assert cookie.startswith("__Host-feltwatch_pit=")
        with asked(there, "GET", "/events", Cookie=cookie) as stream:
            until_said(stream, b"event: view")
            house.felts[0].say(ev.HandDisputed(1, "The foul is disputed"))
            house.tables[0].send()
            until_said(stream, b"Dispute: hand 1")


def test_an_address_that_a_visitor_claims_gives_no_more_tries(app: Flask, tmp_path: Path) -> None:
    def code(there: NginxFront, number: int) -> int:
        forged = dict.fromkeys(("X-Forwarded-For", "X-Real-IP", "Forwarded"), f"192.0.2.{number}")
        with asked(there, "POST", "/log-in", phrase="a wrong passphrase", **forged) as answer:
            return answer.status

    with served(app, tmp_path / "secrets") as there:
        assert [code(there, number) for number in range(8)] == [403] * 5 + [429] * 3


def test_a_scraper_comes_in_over_tls_with_its_token(app: Flask, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / METRICS_TOKEN).write_text("a" * 48 + "\n")
    with served(app, tmp_path / "secrets") as there:
        with asked(there, "GET", "/metrics", Authorization=f"Bearer {'a' * 48}") as answer:
            assert b"feltwatch_pit_hands" in answer.read()
        with asked(there, "GET", "/metrics", Authorization=f"Bearer {'b' * 48}") as answer:
            assert answer.status == 302


def test_the_service_begins_with_the_floors_role_and_tells_the_service_manager(
    house: House, owned: str, tmp_path: Path
) -> None:
    assert house
    with (
        tempfile.TemporaryDirectory(prefix="fw-") as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager,
    ):
        manager.bind(f"{folder}/notify")
        manager.settimeout(DEADLINE)
        page = Path(folder) / "floor.sock"
        words = [
            "serve-floor",
            "--url",
            as_role(owned, FLOOR),
            "--folder",
            str(tmp_path),
            "--socket",
            str(page),
        ]
        program = [sys.executable, "-c", "from pit.cli.main import command; command()", *words]
        with subprocess.Popen(program, env={**os.environ, "NOTIFY_SOCKET": f"{folder}/notify"}) as service:
            try:
                assert b"READY=1" in manager.recv(4096)
                assert stat.S_IMODE(page.stat().st_mode) == 0o660
                with socket.socket(socket.AF_UNIX) as line:
                    line.settimeout(DEADLINE)
                    line.connect(str(page))
                    line.sendall(b"GET /log-in HTTP/1.1\r\nHost: pit\r\nConnection: close\r\n\r\n")
                    assert line.recv(4096).startswith(b"HTTP/1.1 200 ")
            finally:
                service.terminate()
        assert service.returncode == 0
