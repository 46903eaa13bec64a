"""Attacks on the review from another machine of the house's network: what nginx defends, by our own site file."""

from __future__ import annotations

import socket
import ssl
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlencode

import pytest
from flask import Flask

from dealer_ui.web import serve
from dealer_ui.web.tls import certificate
from tests.dealer_ui.remote_house import CLAIMED, NAME, NginxFront, served
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow

NO_RATE = (r"^ *limit_req zone=.*\n.*\n.*\n", "")
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"


def received(line: socket.socket) -> bytes:
    with suppress(OSError):
        return line.recv(65536)
    return b""


def all_of(line: socket.socket) -> bytes:
    return b"".join(iter(lambda: received(line), b""))


def answered(there: NginxFront, source: str, within: float) -> bool:
    try:
        return there.ask("/log-in", source, within).status == 200
    except OSError:
        return False


# ---- what it answers ----


def tried(there: NginxFront, source: str = "127.0.0.1", **headers: str) -> str:
    """Try a wrong passphrase; return the answer's first line."""
    body = urlencode({"name": NAME, "passphrase": "a wrong passphrase"})
    told = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"POST /log-in HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{FORM}{told}"
    with there.spoken_line(source) as line:
        line.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        return all_of(line).decode().splitlines()[0]


def test_answers_of_nginx_itself_have_their_headers_and_no_version(review_app: Flask, secrets: Path) -> None:
    def asked(there: NginxFront, request: bytes) -> tuple[str, Counter[str], str]:
        with there.spoken_line() as line:
            line.sendall(request)
            first, *headers = all_of(line).partition(b"\r\n\r\n")[0].decode().splitlines()
        names = [header.partition(":")[0] for header in headers]
        return first.split()[1], Counter(names), dict(zip(names, headers, strict=True))["Server"]

    said = {}
    with served(review_app, secrets, (r"burst=300", "burst=4"), ("rate=20r/s", "rate=1r/m")) as there:
        for request in (
            b"GET /log-in HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            b"GET /review HTTP/1.0\r\n\r\n",
            b"POST /log-in HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n",
            b"nonsense\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nLong: " + b"x" * 9000 + b"\r\n\r\n",
            *[b"GET /log-in HTTP/1.0\r\n\r\n"] * 6,
        ):
            code, headers, server = asked(there, request)
            said[code] = headers
            assert headers["Strict-Transport-Security"] == headers["Content-Security-Policy"] == 1, code
            assert server == "Server: nginx"
    assert said.keys() == {"200", "401", "413", "400", "429"}


def test_an_address_that_a_visitor_claims_is_not_believed(review_app: Flask, secrets: Path) -> None:
    def told(*edits: tuple[str, str]) -> list[str]:
        with served(review_app, secrets, *edits) as there:
            return [
                tried(
                    there,
                    X_Forwarded_For=f"192.0.2.{number}",
                    Forwarded=f"for=192.0.2.{number}",
                    X_Real_IP=f"192.0.2.{number}",
                ).split()[1]
                for number in range(7)
            ]

    assert told() == ["403"] * 5 + ["429"] * 2
    assert told((r"X-Forwarded-For \$address", "X-Forwarded-For $http_x_forwarded_for")) == ["403"] * 7


def test_each_address_has_its_own_tries_also_where_ipv4_comes_within_ipv6(
    review_app: Flask, secrets: Path
) -> None:
    def told(there: NginxFront, *sources: str) -> list[str]:
        return [tried(there, source).split()[1] for source in sources for _ in range(6)]

    with served(review_app, secrets, CLAIMED) as there:
        got = told(there, "::ffff:192.0.2.1", "::ffff:192.0.2.2", "2001:db8::1")
        assert got == (["403"] * 5 + ["429"]) * 3


# ---- how often ----


FEW = (("rate=20r/s", "rate=1r/m"), ("burst=300", "burst=4"))


def codes(there: NginxFront, address: str, count: int) -> list[int]:
    return [there.ask("/log-in", address).status for _ in range(count)]


def test_too_many_requests_of_one_machine_are_put_off(review_app: Flask, secrets: Path) -> None:
    of_all = (("rate=100r/s", "rate=1r/m"), ("burst=2000", "burst=7"))
    with served(review_app, secrets, *FEW, *of_all) as there:
        assert codes(there, "127.0.0.1", 7) == [200] * 5 + [429] * 2
        assert codes(there, "127.0.0.2", 5) == [200] * 3 + [429] * 2, "all together"
    with served(review_app, secrets, *FEW, *of_all, NO_RATE) as there:
        assert codes(there, "127.0.0.1", 9) == [200] * 9


def test_one_machine_does_not_shut_its_whole_network_out(review_app: Flask, secrets: Path) -> None:
    """A machine has as many IPv6 addresses as it likes; they have a share together, and each one its own of that."""
    few = (CLAIMED, *FEW, ("rate=80r/s", "rate=1r/m"), ("burst=1200", "burst=9"))

    def let_in(there: NginxFront, *addresses: str) -> list[int]:
        return [codes(there, address, 6).count(200) for address in addresses]

    with served(review_app, secrets, *few) as there:
        assert let_in(there, "2001:db8::1", "2001:db8::2", "2001:db8::3") == [5, 5, 0]
        assert let_in(there, "2001:db8:0:1::1", "2001:db8:0:1::a:0:0:a") == [5, 5], "another network"
        assert let_in(there, *(f"::ffff:192.0.2.{number}" for number in (1, 10, 3))) == [5, 5, 5], "IPv4"
    with served(review_app, secrets, *few, ("burst=9", "burst=999")) as there:
        assert let_in(there, "2001:db8::1", "2001:db8::2", "2001:db8::3") == [5, 5, 5]


def test_a_form_that_is_too_large_never_reaches_the_page(review_app: Flask, secrets: Path) -> None:
    came = []
    review_app.before_request(lambda: came.append(1))
    head = f"POST /log-in HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{FORM}"
    length = f"{head}Content-Length: 20000\r\n\r\n".encode() + b"x" * 20_000
    chunked = f"{head}Transfer-Encoding: chunked\r\n\r\n4e20\r\n".encode() + b"x" * 20_000 + b"\r\n0\r\n\r\n"

    def told(there: NginxFront) -> list[bytes]:
        said = []
        for request in (length, chunked):
            with there.spoken_line() as line:
                line.sendall(request)
                said.append(all_of(line)[:12])
        return said

    with served(review_app, secrets) as there:
        assert told(there) == [b"HTTP/1.1 413"] * 2
        assert came == []
    with served(review_app, secrets, ("client_max_body_size 16k", "client_max_body_size 1m")) as there:
        assert told(there) == [b"HTTP/1.1 413"] * 2, "the page refuses it, too"
        assert came != []


# ---- TLS ----


def test_plain_http_and_old_tls_are_not_spoken(review_app: Flask, secrets: Path) -> None:
    request = b"GET /log-in HTTP/1.0\r\nHost: localhost\r\n\r\n"

    def plain(there: NginxFront) -> bytes:
        with there.line() as line:
            line.sendall(request)
            return all_of(line)

    def old(there: NginxFront) -> ssl.SSLSocket:
        spoken = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        spoken.load_verify_locations(secrets / "tls.crt")
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            spoken.minimum_version = spoken.maximum_version = ssl.TLSVersion.TLSv1_1
        spoken.set_ciphers("ALL:@SECLEVEL=0")
        return spoken.wrap_socket(there.line(), server_hostname="localhost")

    with served(review_app, secrets) as there:
        answer = there.ask("/log-in")
        assert (answer.status, answer.headers["Strict-Transport-Security"]) == (200, "max-age=31536000")
        assert plain(there) == b""
        with pytest.raises((ssl.SSLError, ConnectionError)):
            old(there)
    weak = (("TLSv1.2 TLSv1.3", "TLSv1.1 TLSv1.2"), ("ECDHE.AESGCM:ECDHE.CHACHA20", "ALL:@SECLEVEL=0"))
    with served(review_app, secrets, *weak) as there, old(there) as line:
        assert line.version() == "TLSv1.1"
    with served(review_app, secrets, (" ssl proxy_protocol", " proxy_protocol")) as there:
        assert b"Passphrase" in plain(there)


def test_another_box_in_its_place_is_noticed(review_app: Flask, secrets: Path, tmp_path: Path) -> None:
    certificate(secrets, ["localhost"])
    forger = tmp_path / "forger"
    certificate(forger, ["localhost"])
    assert certificate(forger).fingerprint != certificate(secrets).fingerprint
    with served(review_app, forger) as there:
        trusting_ours = ssl.create_default_context(cafile=str(secrets / "tls.crt"))
        with pytest.raises(ssl.SSLCertVerificationError):
            NginxFront(there.port, trusting_ours).ask("/log-in")
        assert there.ask("/log-in").status == 200, "a browser that compares nothing talks to it"


# ---- how slowly, how many ----


PATIENT = (
    ("client_header_timeout 10s", "client_header_timeout 1000s"),
    ("proxy_timeout 150s", "proxy_timeout 1000s"),
)
FIFTEEN = ("of_all 800", "of_all 16")


def crowd(there: NginxFront, begin: bytes, count: int, stack: ExitStack, *sources: str) -> None:
    for number in range(count):
        line = stack.enter_context(there.line(sources[number % len(sources)]))
        with suppress(ConnectionError):
            line.sendall(begin)


@pytest.mark.parametrize("begin", [b"", b"\x16\x03\x01"], ids=["silent", "half a handshake"])
def test_connections_that_never_speak_keep_nobody_else_out(
    review_app: Flask, secrets: Path, begin: bytes
) -> None:
    with served(review_app, secrets, *PATIENT, FIFTEEN) as there, ExitStack() as stack:
        crowd(there, begin, 30, stack, "127.0.0.1")
        assert answered(there, "127.0.0.2", DEADLINE)
    with (
        served(review_app, secrets, *PATIENT, FIFTEEN, ("of_one 12", "of_one 1000")) as there,
        ExitStack() as stack,
    ):
        crowd(there, begin, 30, stack, "127.0.0.1")
        assert not answered(there, "127.0.0.2", 1)


def test_a_crowd_of_one_ipv6_network_keeps_no_other_out(review_app: Flask, secrets: Path) -> None:
    many = tuple(f"2001:db8::{number:x}" for number in range(1, 30))
    few = (CLAIMED, *PATIENT, FIFTEEN, ("of_network 48", "of_network 12"))
    with served(review_app, secrets, *few) as there, ExitStack() as stack:
        crowd(there, b"", 30, stack, *many)
        assert not answered(there, "2001:db8::ffff", 1)
        assert answered(there, "2001:db8:0:1::1", DEADLINE)
        assert answered(there, "::ffff:192.0.2.1", DEADLINE)
    with (
        served(review_app, secrets, *few, ("of_network 12", "of_network 1000")) as there,
        ExitStack() as stack,
    ):
        crowd(there, b"", 30, stack, *many)
        assert not answered(there, "2001:db8:0:1::1", 1)


def test_a_place_is_free_again_once_a_connection_is_closed(review_app: Flask, secrets: Path) -> None:
    with served(review_app, secrets, *PATIENT, ("of_one 12", "of_one 2")) as there:
        for _ in range(6):
            until(lambda: answered(there, "127.0.0.1", DEADLINE))
        with ExitStack() as stack:
            crowd(there, b"", 2, stack, "127.0.0.1")
            assert not answered(there, "127.0.0.1", 1)
        until(lambda: answered(there, "127.0.0.1", DEADLINE))


HEAD = b"POST /log-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n"
LONG = ("client_header_timeout 10s", "client_header_timeout 1000s")
SHORT = ("client_header_timeout 10s", "client_header_timeout 1s")


def cut_off(there: NginxFront, begin: bytes, within: float, *, spoken: bool = True) -> bool:
    """Send a byte at a time; say whether that was ended within seconds."""
    with there.spoken_line() if spoken else there.line() as line:
        ends = time.monotonic() + within
        line.settimeout(0.1)
        try:
            line.sendall(begin)
            while time.monotonic() < ends:
                line.sendall(b"\x01" if not spoken else b"X")
                with suppress(TimeoutError):
                    line.recv(100)
                    return True
        except OSError:
            return True
    return False


@pytest.mark.parametrize(
    ("begin", "spoken"), [(b"", True), (b"\x16\x03\x01\x40\x00", False)], ids=["header", "handshake"]
)
def test_a_request_that_comes_a_byte_at_a_time_is_broken_off(
    review_app: Flask, secrets: Path, begin: bytes, spoken: bool
) -> None:
    with served(review_app, secrets, SHORT) as there:
        assert cut_off(there, begin, DEADLINE, spoken=spoken)
    with served(review_app, secrets, LONG) as there:
        assert not cut_off(there, begin, 1.5, spoken=spoken)


def test_a_form_that_comes_a_byte_at_a_time_is_broken_off(
    review_app: Flask, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nginx has a time between two pieces only; the page has one for all of them."""
    monkeypatch.setattr(serve, "SILENT_S", 4)
    with monkeypatch.context() as soon:
        soon.setattr(serve, "WHOLE_S", 0.5)
        with served(review_app, secrets) as there:
            assert cut_off(there, HEAD, DEADLINE)
    with served(review_app, secrets) as there:
        assert not cut_off(there, HEAD, 2.5)
