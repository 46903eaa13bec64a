"""A crowd of one stranger's connections at the door: nginx counts them before their first word, and tables come in."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from pit.authority import CERTIFICATE, Authority
from pit.door.front import command
from pit.door.serve import listen_on, server
from tests.pit.conftest import answers
from tests.tools import NGINX, needs
from tests.waiting import DEADLINE, until

pytestmark = [
    pytest.mark.slow,
    needs(NGINX),
]
FEW = (("worker_connections 16384", "worker_connections 240"), ("worker_processes 2", "worker_processes 1"))
BEGINNINGS = {"half a handshake": b"\x16\x03\x01\x40\x00", "half a header": b"GET / HTTP/1.1\r\nX: "}


@contextmanager
def front(folder: Path, *edits: tuple[str, str]) -> Iterator[tuple[int, ssl.SSLContext]]:
    """Run nginx by our own site file before a door; yield its port, and what makes a handshake with it."""
    authority = Authority(folder / "authority")
    authority.door()
    (folder / "r").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = command(
        f"127.0.0.1:{port}", [folder / "door.sock"], authority.folder, folder / "r", folder / "nginx"
    )
    site = folder / "nginx/nginx.conf"
    text = site.read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    site.write_text(text)
    app = Flask("door")
    app.add_url_rule("/v1/authority", view_func=lambda: "here")
    trusts = ssl.create_default_context(cafile=str(authority.folder / CERTIFICATE))
    trusts.check_hostname = False
    listening = listen_on(folder / "door.sock")
    as_root = ["-g", "user root;"] if os.geteuid() == 0 else []
    door: Any = server(app, listening)
    thread = threading.Thread(target=door.run, daemon=True)
    thread.start()
    with subprocess.Popen([*program, *as_root], stderr=subprocess.DEVNULL) as nginx:
        try:
            until(lambda: answers(("127.0.0.1", port)))
            yield port, trusts
        finally:
            nginx.terminate()
            nginx.wait()
            door.trigger.pull_trigger(door.close)  # in the server's own thread: nothing closes under its feet
            thread.join()
            listening.close()


def comes_in(port: int, trusts: ssl.SSLContext, within: float = DEADLINE) -> bool:
    """Say whether another machine is answered within seconds."""
    try:
        with (
            socket.create_connection(("127.0.0.1", port), within, ("127.0.0.2", 0)) as line,
            trusts.wrap_socket(line) as spoken,
        ):
            spoken.sendall(b"GET /v1/authority HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return spoken.recv(100).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def hold(port: int, begin: bytes, stack: ExitStack) -> None:
    bare = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    bare.check_hostname, bare.verify_mode = False, ssl.CERT_NONE
    for _ in range(200):
        with suppress(OSError):  # nobody accepts it any more
            line = stack.enter_context(
                socket.create_connection(("127.0.0.1", port), DEADLINE, ("127.0.0.9", 0))
            )
            spoken = line if begin[0] == 22 else stack.enter_context(bare.wrap_socket(line))
            spoken.sendall(begin)


@pytest.mark.parametrize("begin", BEGINNINGS)
def test_one_strangers_connections_keep_no_table_out(begin: str) -> None:
    def came_in(limit: int, within: float) -> bool:
        with (
            tempfile.TemporaryDirectory(prefix="fw-") as folder,
            front(Path(folder), *FEW, ("of_one 64", f"of_one {limit}")) as (port, trusts),
            ExitStack() as stack,
        ):
            assert comes_in(port, trusts)
            hold(port, BEGINNINGS[begin], stack)
            return comes_in(port, trusts, within)

    assert came_in(16, DEADLINE)
    if begin == "half a header":  # of the others, nginx gives up some when it is full
        until(lambda: not came_in(1000, 1))  # a busy machine may not have taken all of them yet
