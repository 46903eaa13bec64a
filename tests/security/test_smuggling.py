"""A request hidden in another one: where nginx and the server behind it disagree about where a request ends.

Each is sent as a visitor sends it, through our own site file to the page's own server. Neither a request that nginx
took for a body nor a header that only nginx may set reaches the page.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from flask import Flask, request

from tests.dealer_ui.remote_house import NginxFront, served

pytestmark = pytest.mark.slow

NO_RATE = (r"^ *limit_req zone=.*\n.*\n.*\n", "")
SILENT_S = 0.3
"""Seconds of silence after an answer; a later one would be seen by the page all the same."""
CLAIMED = b"X-Forwarded-For: 192.0.2.9\r\nX-Forwarded-Proto: http\r\n"
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: x\r\n" + CLAIMED + b"Connection: close\r\n\r\n"
CHUNKS = b"0\r\n\r\n"
HEADS: dict[str, tuple[bytes, bytes]] = {
    "both lengths, chunked ends first": (
        b"Content-Length: %d\r\nTransfer-Encoding: chunked",
        CHUNKS + HIDDEN,
    ),
    "both lengths, other order": (b"Transfer-Encoding: chunked\r\nContent-Length: %d", CHUNKS + HIDDEN),
    "two lengths": (b"Content-Length: 0\r\nContent-Length: %d", HIDDEN),
    "two lengths, other order": (b"Content-Length: %d\r\nContent-Length: 0", HIDDEN),
    "a length with a sign": (b"Content-Length: +%d", HIDDEN),
    "a length with a line under it": (b"Content-Length: %d_0", HIDDEN),
    "two lengths in one": (b"Content-Length: 0, %d", HIDDEN),
    "a negative length": (b"Content-Length: -%d", HIDDEN),
    "a length with a space before its colon": (b"Content-Length : %d", HIDDEN),
    "an underscore for a dash": (b"Content_Length: %d\r\nContent-Length: 0", HIDDEN),
    "chunked, with a space before the colon": (
        b"Transfer-Encoding : chunked\r\nContent-Length: %d",
        CHUNKS + HIDDEN,
    ),
    "chunked, with a tab": (b"Transfer-Encoding:\tchunked\r\nContent-Length: %d", CHUNKS + HIDDEN),
    "chunked after a vertical tab": (
        b"Transfer-Encoding: \x0bchunked\r\nContent-Length: %d",
        CHUNKS + HIDDEN,
    ),
    "chunked and another": (b"Transfer-Encoding: chunked, identity\r\nContent-Length: %d", CHUNKS + HIDDEN),
    "chunked twice": (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x", CHUNKS + HIDDEN),
    "chunked with an underscore": (b"Transfer_Encoding: chunked\r\nContent-Length: %d", CHUNKS + HIDDEN),
    "chunked on a folded line": (b"Transfer-Encoding:\r\n chunked\r\nContent-Length: %d", CHUNKS + HIDDEN),
    "a folded line": (b"X: y\r\n Content-Length: 0\r\nContent-Length: %d", HIDDEN),
    "bare line ends": (b"X: y\nTransfer-Encoding: chunked\nContent-Length: %d", CHUNKS + HIDDEN),
    "a bare return": (b"X: y\rTransfer-Encoding: chunked\r\nContent-Length: %d", CHUNKS + HIDDEN),
    "a zero byte": (b"X: y\0\r\nContent-Length: %d", HIDDEN),
    "a long extension of a chunk": (
        b"Transfer-Encoding: chunked",
        b"1;" + b"x" * 2000 + b"\r\nx\r\n" + CHUNKS,
    ),
    "a line end in an extension": (b"Transfer-Encoding: chunked", b"1;a\nb\r\nx\r\n" + CHUNKS + b"x"),
    "a chunk of a sign": (b"Transfer-Encoding: chunked", b"+1\r\nx\r\n" + CHUNKS),
    "a chunk with a prefix": (b"Transfer-Encoding: chunked", b"0x1\r\nx\r\n" + CHUNKS),
    "a chunk too large for a number": (b"Transfer-Encoding: chunked", b"1" + b"0" * 16 + b"\r\n" + HIDDEN),
    "a chunk with more than it says": (b"Transfer-Encoding: chunked", b"1\r\nxx" + HIDDEN),
    "trailers": (b"Transfer-Encoding: chunked", b"0\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n"),
    "an upgrade": (b"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: %d", HIDDEN),
    "h2c": (
        b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\nContent-Length: %d",
        HIDDEN,
    ),
    "what drops a header on its way": (b"Connection: close, X-Forwarded-For\r\nContent-Length: %d", HIDDEN),
    "to be continued": (b"Expect: 100-continue\r\nContent-Length: %d", HIDDEN),
    "to be continued otherwise": (b"Expect: y 100-continue\r\nContent-Length: %d", HIDDEN),
}
CLAIMS = (
    *("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-By", "Forwarded", "X-Real-IP"),
    *("X_Forwarded_For", "X_Forwarded_Proto", "X-Forwarded-For ", "Client-IP", "X-HTTP-Method-Override"),
)
BELIEVED = ("X-Forwarded-For .address", "X-Forwarded-For $http_x_forwarded_for")
RequestLines = list[tuple[str, str, str | None, str]]


@pytest.fixture
def came(review_app: Flask) -> RequestLines:
    """What reaches the page, before it judges: method, path, the visitor's address, the scheme."""
    seen: RequestLines = []
    review_app.before_request_funcs[None].insert(
        0, lambda: seen.append((request.method, request.path, request.remote_addr, request.scheme))
    )
    return seen


def said(there: NginxFront, sent: bytes) -> bytes:
    """Return what is answered to some bytes, until the line is closed or silent for a while."""
    got = b""
    with there.spoken_line() as line, suppress(OSError):
        line.sendall(sent)
        while more := line.recv(65536):
            got += more
            line.settimeout(SILENT_S)
    return got


def strangers(there: NginxFront, came: RequestLines) -> dict[str, RequestLines]:
    """Send everything; return what came to the page under another address or scheme than nginx's word."""
    found: dict[str, RequestLines] = {}
    for name, (lengths, body) in HEADS.items():
        told = lengths % len(body) if b"%d" in lengths else lengths
        got = said(there, b"POST /log-in HTTP/1.1\r\nHost: localhost\r\n" + told + b"\r\n\r\n" + body)
        assert got.partition(b" ")[0] == b"HTTP/1.1", name
        found[name] = [one for one in came if one[2:] != ("127.0.0.1", "https")]
        came.clear()
    for header in CLAIMS:
        said(
            there, f"GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{header}: 192.0.2.9\r\n\r\n".encode()
        )
        found[header] = [one for one in came if one != ("GET", "/x", "127.0.0.1", "https")]
        came.clear()
    return {name: seen for name, seen in found.items() if seen}


def test_nothing_reaches_the_page_that_nginx_did_not_take_for_a_request(
    review_app: Flask, secrets: Path, came: RequestLines
) -> None:
    with served(review_app, secrets, NO_RATE) as there:
        assert strangers(there, came) == {}
    with served(review_app, secrets, NO_RATE, BELIEVED) as there:
        assert strangers(there, came)["X-Forwarded-For"] == [("GET", "/x", "192.0.2.9", "https")]
