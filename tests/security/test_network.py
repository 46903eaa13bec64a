"""Attacks from the network: there is nothing to reach."""

from __future__ import annotations

import ipaddress
import re
import shutil
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from dealer_ui.server.cli import command
from dealer_ui.web import serve

HERE = Path(__file__).parents[2]


class ListenAttempt(Exception):
    """The page would have listened there."""


@pytest.fixture(autouse=True)
def listens(monkeypatch: pytest.MonkeyPatch) -> None:
    def listen(host: str, _port: int) -> None:
        raise ListenAttempt(host)

    monkeypatch.setattr(serve, "listen_on", listen)
    monkeypatch.delenv("LISTEN_FDS", raising=False)


def listened_on(host: str, folder: Path) -> str:
    """Return where the page would have listened; "" where it refused, with a sentence and exit status 2."""
    done = CliRunner().invoke(command, ["--data", str(folder), "--host", host])
    if isinstance(done.exception, ListenAttempt):
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
    monkeypatch.setattr(ipaddress.IPv4Address, "is_loopback", property(lambda _: True))
    assert listened_on("box.example", tmp_path) == "box.example"


UNITS = HERE / "systemd/units"


def listening(units: Path) -> list[str]:
    """What the units listen on that begin with the box: those that the target wants, and those that they want."""
    begun, found = {"feltwatch.target"}, []
    while begun:
        unit = units / begun.pop()
        text = unit.read_text() if unit.exists() else ""
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if key in ("Wants", "Requires"):
                begun |= set(value.split())
            elif key.startswith("Listen"):
                found += [] if value.startswith("/") else [value]  # a file, whose mode says who may open it
    return sorted(set(found))


def test_the_box_opens_no_port_but_on_loopback(tmp_path: Path) -> None:
    assert listening(UNITS) == ["127.0.0.1:8013"]
    units = Path(shutil.copytree(UNITS, tmp_path / "units"))
    target = units / "feltwatch.target"
    target.write_text(target.read_text().replace("Wants=", "Wants=feltwatch-review.socket "))
    assert listening(units) == ["127.0.0.1:8013", "8443"], "the review for other machines, were it begun too"


def test_the_port_for_other_machines_takes_private_addresses_only() -> None:
    """What the kernel does with it, only a booted system shows: UNTESTED here."""
    socket_unit = (UNITS / "feltwatch-review.socket").read_text()
    allowed = re.search(r"^IPAddressAllow=(.*)$", socket_unit, re.MULTILINE)
    assert "IPAddressDeny=any\n" in socket_unit
    assert allowed
    networks = [ipaddress.ip_network(word) for word in allowed[1].split() if word[0].isdigit() or ":" in word]
    assert len(networks) == 4
    assert all(network.is_private for network in networks)
