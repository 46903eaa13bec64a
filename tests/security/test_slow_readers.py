"""Clients that ask for much and read nothing of it."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from flask import Flask

from dealer_ui.remote.access import LanSessions
from dealer_ui.server import app as page
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.lan_house import logged_in
from tests.security.test_page import answers, hold, serving
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow


def test_readers_who_take_a_large_file_as_slowly_as_they_like_hold_no_thread(
    review_app: Flask, lan_felt: Felt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole file is handed to the server; of a part of one, what lies beyond its buffers would wait in a thread."""
    (lan_felt.folder / "exports").mkdir()
    with (lan_felt.folder / "exports/hand-000001.zip").open("wb") as file:
        file.truncate(64 << 20)
    cookie = logged_in(review_app).get_cookie(LanSessions.cookie)
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
