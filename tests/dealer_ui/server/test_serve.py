"""The server under its streams: the page is answered next to them, and closed ones give their places back."""

from __future__ import annotations

import http.client
from contextlib import ExitStack, closing

import pytest
from flask import Flask

from dealer_ui.server.app import Settings, create_app
from dealer_ui.web.serve import SPARE_THREADS
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.served import served
from tests.waiting import DEADLINE, until

STREAMS = 32


@pytest.fixture
def app(felt: Felt) -> Flask:
    felt.to_settled()
    return create_app(Settings(felt.folder, felt.folder / "table.sock", streams=STREAMS))


def open_stream(port: int) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
    connection.request("GET", "/events")
    return connection


@pytest.mark.slow
def test_the_page_is_answered_beside_all_streams_and_a_change_reaches_each(felt: Felt, app: Flask) -> None:
    with served(app, STREAMS + SPARE_THREADS) as port:
        with ExitStack() as stack:
            streams = [stack.enter_context(closing(open_stream(port))) for _ in range(STREAMS)]
            responses = [stack.enter_context(closing(stream.getresponse())) for stream in streams]
            for response in responses:
                assert response.status == 200
                while response.readline() != b"event: view\n":
                    pass

            page = stack.enter_context(
                closing(http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE))
            )
            page.request("GET", "/")
            assert page.getresponse().status == 200

            refused = stack.enter_context(closing(open_stream(port)))
            assert refused.getresponse().status == 503

            felt.pay()
            for response in responses:
                while f'"seq":{felt.seq},'.encode() not in response.readline():
                    pass

        def is_served() -> bool:
            with closing(open_stream(port)) as stream:
                return stream.getresponse().status == 200

        until(is_served)  # the places of the closed streams are free again
