"""`feltwatch pit demo`: real tables, uplinks, TLS and PostgreSQL in one command, and nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import sysconfig
from itertools import takewhile
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import psycopg
import pytest
from click.testing import CliRunner

from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import Journal, JournalReader
from firmware.table import events as ev
from pit.demo.attacker import rewrite
from pit.demo.cli import command
from pit.store import temporary_postgres
from pit.store.temporary_postgres import OWNER
from tests.pit.conftest import Pit
from tests.pit.postgres import Postgres
from tests.tools import POSTGRESQL, needs
from tests.waiting import until

ROOT = Path(__file__).parents[2]
PROGRAM = "from pit.demo.cli import command; command()"


def as_another() -> list[str]:
    """Return the command that runs Python as a user who is not root; skip the test where none can."""
    if os.geteuid() != 0:
        return [sys.executable]
    minor = f"3.{sys.version_info.minor}"
    found = (sys.executable, f"/usr/bin/python{minor}")
    for python in found:
        program = ["runuser", "-u", OWNER, "--", python]
        if not subprocess.run([*program, "-c", ""], check=False, capture_output=True, cwd="/").returncode:
            return program
    pytest.skip(f"{OWNER} can run no Python {minor} here")


@pytest.mark.slow
def test_three_tables_play_and_the_pit_has_every_row_in_a_database_that_is_gone_at_the_end(
    postgres: Postgres,
) -> None:
    words = ["--tables", "3", "--hands", "1", "--speed", "200", "--calm", "--from-url", postgres.url]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    rows, have = re.findall(r"3 tables, (\d+) rows, the pit has (\d+)", done.output)[-1]
    assert rows == have
    assert int(rows) > 30
    assert "differs" not in done.output
    (data,) = re.findall(r"--data (\S+)", done.output)
    assert not Path(data).parent.exists()
    with psycopg.connect(postgres.url) as connection:
        names = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE 'feltwatch%'")
        assert names.fetchall() == []


@pytest.mark.sampled
@pytest.mark.slow
def test_a_rewritten_table_deals_on_once_a_floor_person_has_read_that_its_record_is_another(
    postgres: Postgres,
) -> None:
    words = ["--tables", "3", "--hands", "15", "--speed", "200", "--rewrite", "0", "--unplug", "1000"]
    done = CliRunner().invoke(command, [*words, "--from-url", postgres.url])
    assert done.exit_code == 0, done.output
    assert "its record was rewritten" in done.output
    assert "GaveUp" not in done.output


def test_a_record_that_somebody_rewrote_verifies_at_the_table_and_the_pit_takes_no_more_of_it(
    pit: Pit, data: Path
) -> None:
    _, enrolment = pit.enrol("Table 1")
    follower = pit.follower(enrolment, data)
    until(lambda: follower.step() and not follower.status.behind)
    changed = rewrite(data)
    assert not verify(data).problems
    with Journal(data) as journal:
        journal.append([ev.TableStarted()], "table")
        assert journal.seq == follower.status.have.seq + 1
    follower.step()
    assert "another row" in str(follower.status.trouble)
    assert JournalReader(data).events_since(changed.seq - 1)[0].actor != changed.actor


@pytest.mark.sampled
@pytest.mark.slow
def test_the_floor_page_opens_to_who_logs_in_and_says_of_an_unplugged_table_that_it_is_not_heard_of(
    postgres: Postgres,
) -> None:
    words = ["--tables", "2", "--speed", "2", "--unplug", "1", "--from-url", postgres.url]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as demo:
        assert demo.stderr is not None
        told = "".join(takewhile(lambda line: "Ctrl-C" not in line, demo.stderr))
        (page,) = re.findall(r"The floor page: (\S+)", told)
        (passphrase,) = re.findall(r"log in as floor: (\S+)", told)
        try:
            asked = build_opener(HTTPCookieProcessor())
            answer = urlencode({"name": "floor", "passphrase": passphrase}).encode()
            asked.open(Request(f"{page}log-in", answer, {"Origin": page.rstrip("/")})).close()
            until(lambda: "not heard of" in asked.open(page).read().decode().lower())
        finally:
            os.killpg(demo.pid, signal.SIGINT)
            demo.communicate()
    assert demo.returncode == 0


@pytest.mark.slow
@needs(POSTGRESQL)
def test_the_demo_brings_its_own_postgresql_and_ctrl_c_removes_all_of_it() -> None:
    path = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])
    with subprocess.Popen(
        [*as_another(), "-c", PROGRAM, "--tables", "2", "--speed", "50"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/tmp"},
        start_new_session=True,
    ) as demo:
        assert demo.stdout is not None
        assert demo.stderr is not None
        first = demo.stdout.readline()  # tables play
        os.killpg(demo.pid, signal.SIGINT)
        _, said = demo.communicate()
    assert first.startswith("2 tables"), said
    assert demo.returncode == 0, said
    assert len(re.findall(r"log in as \w+: \S+", said)) == 4
    (server,) = re.findall(r"host=([^\s\"]+)", said)
    (data,) = re.findall(r"--data (\S+)", said)
    assert not Path(server).exists()
    assert not Path(data).parent.exists()


def test_root_without_a_user_for_the_server_is_told_what_to_do_instead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(temporary_postgres, "OWNER", "nobody-of-this-name")
    done = CliRunner().invoke(command, ["--tables", "1"])
    if temporary_postgres.binaries() is not None:
        assert str(done.exception) == temporary_postgres.NOT_AS_ROOT
    assert "--from-url" in temporary_postgres.NOT_AS_ROOT


def test_a_server_that_is_away_gets_a_sentence(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["--from-url", f"postgresql:///x?host={tmp_path}"])
    assert "No database can be made there" in str(done.exception)
