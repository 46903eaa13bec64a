"""Attacks of a stranger who never logs in, on the review through nginx: its log, and who else can log in."""

from __future__ import annotations

import logging
import socket
import struct
import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from flask import Flask, request

from dealer_ui.remote import app as remote
from dealer_ui.remote.app import remote_access
from dealer_ui.web import rate_limit
from dealer_ui.web.rate_limit import Limit
from tests.dealer_ui.remote_house import NAME, PASSPHRASE, NginxFront, served, visitor
from tests.waiting import until

pytestmark = pytest.mark.slow

FORGED = "\ndealer_ui.web.log_in: log-in of Ines from 192.0.2.9"
REST = "Host: localhost\r\nConnection: close\r\n"


def code_of(there: NginxFront, head: str, body: str = "", source: str = "127.0.0.1") -> str:
    with there.spoken_line(source) as line:
        line.sendall(f"{head}{REST}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        return line.recv(65536).decode().split()[1]


def tried(there: NginxFront, source: str, passphrase: str) -> str:
    form = "POST /log-in HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    return code_of(there, form, urlencode({"name": NAME, "passphrase": passphrase}), source)


# ---- the log ----


@pytest.mark.parametrize("origin", ["http://[", "null", "http://localhost", "//localhost", "https://[::1"])
def test_a_strangers_origin_is_refused_whatever_it_is(
    review_app: Flask, origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def code(origin: str) -> int:
        form = {"name": NAME, "passphrase": PASSPHRASE}
        asked = visitor(review_app).post(
            "/log-in", "https://localhost", data=form, headers={"Origin": origin}
        )
        return asked.status_code

    assert code(origin) == 403
    assert code("https://localhost") == 303
    monkeypatch.setattr(remote, "need_own_site", lambda: None)
    assert code(origin) == 303


@pytest.mark.parametrize("host", ["a" * 64, "a" * 8000])
def test_a_name_that_is_none_is_refused(
    review_app: Flask, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def code(host: str) -> int:
        return visitor(review_app).get("/review", headers={"Host": host}).status_code

    assert (code(host), code("a" * 63)) == (400, 302)
    monkeypatch.setattr(remote, "BadHost", ZeroDivisionError)
    assert code(host) == 500


def test_a_stranger_writes_no_line_of_the_log(
    review_app: Flask, secrets: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    review_app.before_request_funcs[None].insert(0, fail)
    head = f"GET /x{quote(FORGED)} HTTP/1.1\r\n"
    with served(review_app, secrets) as there:
        assert code_of(there, head) == "500"
        assert "ZeroDivisionError" in caplog.text
        assert FORGED not in caplog.text
        monkeypatch.setattr(type(review_app), "log_exception", Flask.log_exception)
        assert code_of(there, head) == "500"
        assert FORGED in caplog.text


def test_visitors_who_go_at_once_are_not_in_the_log(
    review_app: Flask, secrets: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    head = f"GET /x{quote(FORGED)} HTTP/1.1\r\n{REST}\r\n".encode()
    slower = count()

    def pause() -> None:
        if request.path.startswith("/x"):
            time.sleep(0.01 * next(slower))  # until nginx has hung up, some time

    review_app.before_request_funcs[None].insert(0, pause)

    def go(there: NginxFront) -> str:
        line = there.spoken_line()
        line.sendall(head)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.close()
        return caplog.text

    with served(review_app, secrets) as there:
        for _ in range(20):
            go(there)
        assert code_of(there, "GET /log-in HTTP/1.1\r\n") == "200"
        assert FORGED not in caplog.text
        caplog.set_level(logging.INFO, "waitress")
        until(lambda: FORGED in go(there))


def test_tries_that_are_put_off_do_not_fill_the_log(
    review_app: Flask, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lines() -> int:
        caplog.clear()
        for _ in range(30):
            visitor(review_app).post("/log-in", data={"name": NAME, "passphrase": "x"})
        return caplog.text.count("put off")

    once, always = (1, 1e-9), (1 << 60, 1.0)
    monkeypatch.setitem(
        review_app.extensions, "feltwatch-log-in", replace(remote_access(review_app), tries=Limit(once, once))
    )
    assert lines() == 1
    monkeypatch.setitem(
        review_app.extensions,
        "feltwatch-log-in",
        replace(remote_access(review_app), warned=Limit(always, always)),
    )
    assert lines() == 30


# ---- who else can log in ----


def test_a_stranger_with_many_addresses_keeps_nobody_out_who_was_in(
    review_app: Flask, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def let_in(there: NginxFront) -> list[str]:
        review_app.extensions["feltwatch-log-in"] = replace(
            remote_access(review_app), tries=Limit((5, 1e-9), (7, 1e-9))
        )
        codes = [tried(there, "127.0.0.2", PASSPHRASE)]
        codes += [tried(there, f"127.0.1.{number}", "a wrong one") for number in range(1, 9)]
        return [*codes, *(tried(there, "127.0.0.2", PASSPHRASE) for _ in range(6))]

    with served(review_app, secrets) as there:
        got = let_in(there)
        assert got[:9] == ["303"] + ["403"] * 6 + ["429"] * 2
        assert got[9:] == ["303"] * 4 + ["429"] * 2, "their own share, as before"
        monkeypatch.setattr(Limit, "know", lambda *_: None)
        assert let_in(there)[9:] == ["429"] * 6


def test_only_so_many_addresses_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def known() -> int:
        limit = Limit((5, 1e-9), (0, 1e-9), lambda: 0.0)
        for number in range(100):
            limit.know(f"192.0.2.{number}")
        return [limit.wait_s(f"192.0.2.{number}") for number in range(100)].count(0.0)

    assert known() == 64
    monkeypatch.setattr(rate_limit, "MAX_KNOWN_ADDRESSES", 1000)
    assert known() == 100
