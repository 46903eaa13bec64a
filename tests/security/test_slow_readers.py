"""Clients that ask for much and read nothing of it, send much, or go at once."""

from __future__ import annotations

import logging
import socket
import struct
import time
from contextlib import ExitStack
from urllib.parse import quote

import pytest
from flask import Flask, request

from dealer_ui.remote.access import RemoteSessions
from dealer_ui.web import bare_app as page
from dealer_ui.web import serve
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.remote_house import logged_in
from tests.security.test_page import answers, hold, serving
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow


def test_readers_who_take_a_large_file_as_slowly_as_they_like_hold_no_thread(
    review_app: Flask, remote_felt: Felt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole file is handed to the server; of a part of one, what lies beyond its buffers would wait in a thread."""
    (remote_felt.folder / "exports").mkdir()
    with (remote_felt.folder / "exports/hand-000001.zip").open("wb") as file:
        file.truncate(64 << 20)
    cookie = logged_in(review_app).get_cookie(RemoteSessions.cookie)
    assert cookie is not None
    head = "GET /review/1/file HTTP/1.1\r\nHost: 127.0.0.1\r\nRange: bytes=1-\r\n"
    ask = f"{head}Cookie: {cookie.key}={cookie.value}\r\n\r\n".encode()
    with serving(review_app, threads=2) as port, ExitStack() as stack:
        hold(port, 6, ask, stack)
        assert answers(port, DEADLINE)
    without = [one for one in review_app.before_request_funcs[None] if one is not page._answer_whole]
    monkeypatch.setitem(review_app.before_request_funcs, None, without)
    with serving(review_app, threads=2) as port, ExitStack() as stack:
        hold(port, 6, ask, stack)
        until(lambda: not answers(port, 0.5))


BEGINNINGS = {
    "told": b"Content-Length: 1000000\r\n\r\n",
    "in chunks": b"Transfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + bytes(1 << 16) + b"\r\n",
}


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_a_body_of_gigabytes_fills_no_disk(app: Flask, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused while it comes, before the application sees it."""

    def said(port: int, within: float) -> bytes:
        with socket.create_connection(("127.0.0.1", port), within) as line:
            line.sendall(b"POST /command HTTP/1.1\r\nHost: 127.0.0.1\r\n" + BEGINNINGS[kind])
            return line.recv(12)

    assert serve.LARGEST_BODY < 1_000_000
    monkeypatch.setattr(serve, "LARGEST_BODY", 1 << 15)
    with serving(app, threads=2) as port:
        assert said(port, DEADLINE) == b"HTTP/1.1 413"
    monkeypatch.setattr(serve, "LARGEST_BODY", 1 << 30)
    with serving(app, threads=2) as port, pytest.raises(TimeoutError):
        said(port, 0.5)


def test_a_client_who_goes_at_once_writes_no_line_of_the_log(
    app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    """At a pit without nginx, whose log is at the level of information."""
    caplog.set_level(logging.INFO)
    forged = "\nwaitress: everything is well"
    ask = f"GET /x{quote(forged)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()

    def pause() -> None:
        if request.path.startswith("/x"):
            time.sleep(0.1)  # until it is seen that nobody is there

    app.before_request_funcs[None].insert(0, pause)

    def go(port: int) -> str:
        with socket.create_connection(("127.0.0.1", port), DEADLINE) as line:
            line.sendall(ask)
            time.sleep(0.02)
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return caplog.text

    with serving(app, threads=2) as port:
        for _ in range(3):
            go(port)
        assert answers(port, DEADLINE)
        time.sleep(0.3)
        assert forged not in caplog.text
        caplog.set_level(logging.INFO, "waitress")
        until(lambda: forged in go(port))
