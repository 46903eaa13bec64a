"""Attacks from the network: there is nothing to reach."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from dealer_ui import command, serve

HERE = Path(__file__).parents[2]


class Listened(Exception):
    """The page would have listened there."""


@pytest.fixture(autouse=True)
def listens(monkeypatch: pytest.MonkeyPatch) -> None:
    def listen(host: str, _port: int) -> None:
        raise Listened(host)

    monkeypatch.setattr(serve, "listen_on", listen)
    monkeypatch.delenv("LISTEN_FDS", raising=False)


def listened_on(host: str, folder: Path) -> str:
    """Return where the page would have listened; "" where it refused, with a sentence and exit status 2."""
    done = CliRunner().invoke(command.command, ["--data", str(folder), "--host", host])
    if isinstance(done.exception, Listened):
        return str(done.exception)
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    return ""


@pytest.mark.parametrize("host", ["192.0.2.7", "10.0.0.5", "2001:db8::1", "0.0.0.0", "::", "169.254.1.1"])
def test_the_page_listens_on_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    assert listened_on(host, tmp_path) == ""
    loopback = property(lambda _: True)
    for kind in (ipaddress.IPv4Address, ipaddress.IPv6Address):
        monkeypatch.setattr(kind, "is_loopback", loopback)
        monkeypatch.setattr(kind, "is_unspecified", property(lambda _: False))
    assert listened_on(host, tmp_path) == host


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_the_page_listens_on_this_machine(tmp_path: Path, host: str) -> None:
    assert listened_on(host, tmp_path) == host


def test_a_name_of_an_address_on_a_network_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    assert listened_on("box.example", tmp_path) == ""


def test_the_box_opens_no_port_but_on_loopback() -> None:
    listening = [
        line
        for unit in (HERE / "systemd/units").iterdir()
        for line in unit.read_text().splitlines()
        if line.startswith("Listen")
    ]
    assert listening == ["ListenStream=127.0.0.1:8013"]
