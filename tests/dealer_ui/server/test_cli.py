"""`feltwatch ui`, run as a process and as a command."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from http.client import HTTPResponse
from pathlib import Path

import pytest
from click.testing import CliRunner

from dealer_ui.server.cli import command
from tests.waiting import DEADLINE, until


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(command, arguments, env={"FELTWATCH_DATA": None})
    return result.exit_code, result.output


def test_help_names_the_options_and_their_defaults() -> None:
    code, said = run("--help")
    assert code == 0
    for word in (
        "--config",
        "--data",
        "--socket",
        "--host",
        "--port",
        "127.0.0.1",
        "8013",
        "/var/lib/feltwatch",
    ):
        assert word in said


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_that_means_every_network_is_refused(tmp_path: Path, host: str) -> None:
    code, said = run("--data", str(tmp_path), "--host", host)
    assert code == 2
    assert "every network" in said


def test_a_missing_configuration_is_bad_input(tmp_path: Path) -> None:
    code, said = run("--config", str(tmp_path / "none.toml"))
    assert code == 2
    assert "cannot be read" in said


@pytest.mark.parametrize("text", ["= nonsense", "ui = 3", "[ui]\nport = 'many'", "[ui]\nport = 99999"])
def test_a_configuration_that_cannot_be_used_is_bad_input(tmp_path: Path, text: str) -> None:
    path = tmp_path / "feltwatch.toml"
    path.write_text(text)
    code, said = run("--config", str(path), "--data", str(tmp_path))
    assert code == 2
    assert str(path) in said


def served(data: Path, port: int) -> subprocess.Popen[str]:
    arguments = ["ui", "--data", str(data), "--port", str(port)]
    return subprocess.Popen(
        [sys.executable, "-m", "firmware.cli", *arguments], stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_a_port_in_use_is_a_failed_job_and_says_what_to_do(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with served(tmp_path, other.getsockname()[1]) as process:
            _, said = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1
    assert "--port" in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_the_process_serves_the_page_and_ends_at_once_when_told(tmp_path: Path) -> None:
    with socket.socket() as kept:
        # bound, and listened on by the page alone: nobody else is given the port meanwhile
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        serve_and_end(tmp_path, kept.getsockname()[1])


def serve_and_end(data: Path, port: int) -> None:
    with served(data, port) as process:
        assert process.stderr is not None
        assert f"http://127.0.0.1:{port}/" in process.stderr.readline()
        with opened(f"http://127.0.0.1:{port}/") as page:
            assert "Waiting for a hand" in page.read().decode()
        with opened(f"http://127.0.0.1:{port}/events") as stream:
            assert stream.readline() == b"event: hello\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=DEADLINE) == 0, "an open stream holds it up"
        assert process.stderr.read() == ""


def opened(address: str) -> HTTPResponse:
    """Open an address of a server that is just starting."""
    answers: list[HTTPResponse] = []

    def answered() -> bool:
        with suppress(ConnectionError, urllib.error.URLError):  # nobody listens yet
            answers.append(urllib.request.urlopen(address, timeout=DEADLINE))
        return bool(answers)

    until(answered)
    return answers[0]
