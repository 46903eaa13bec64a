"""`feltwatch pit` and `feltwatch uplink`, as a technician types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from firmware.record.journal.reader import JournalReader
from firmware.uplink.cli import command as uplink_command
from firmware.uplink.settings import HOUSE, LOG, load
from firmware.uplink.wire import Head, Offer
from pit.authority import Authority
from pit.cli.main import command as pit_command
from pit.door.take import take
from pit.follow.projector import project
from pit.status.tables import enrol, list_tables
from pit.store.database import Database
from tests.pit.postgres import Postgres
from tests.waiting import DEADLINE


@pytest.fixture
def pit(database: Database, tmp_path: Path) -> list[str]:
    return ["--url", database.url, "--folder", str(tmp_path / "pit")]


def run(*words: str) -> Result:
    return CliRunner().invoke(pit_command, list(words))


def test_a_table_is_enrolled_listed_and_struck_off(
    database: Database, pit: list[str], tmp_path: Path
) -> None:
    url, to = pit[:2], tmp_path / "stick"
    assert "No table is enrolled" in run("table", "list", *url).output
    done = run("table", "add", "Table 7", "--to", str(to), "--pit", "pit.local:8443", *pit)
    assert done.exit_code == 0, done.output
    settings = load(to)
    assert settings is not None
    assert settings.addresses == (("pit.local", 8443),)
    settings.context()
    assert (to / "table.key").stat().st_mode & 0o077 == 0
    assert "heard never" in run("table", "list", *url).output
    assert run("table", "strike", "Table 7", *url).exit_code == 0
    assert json.loads(run("table", "list", "--json", *url).stdout)[0]["struck"] is True


def test_a_second_table_of_the_same_name_is_refused_before_anything_is_written(
    pit: list[str], tmp_path: Path
) -> None:
    add = ("table", "add", "Table 7", "--pit", "pit:1", *pit)
    assert run(*add, "--to", str(tmp_path / "one")).exit_code == 0
    done = run(*add, "--to", str(tmp_path / "two"))
    assert done.exit_code == 1
    assert "already" in done.output
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("\u3164", "can be seen"),
        ("Table\u200b 8", "can be seen"),
        ("", "1 to 40"),
        ("table 7", "looks like Table 7"),
        ("Т\u0430ble 7", "looks like Table 7"),
    ],
)
@pytest.mark.parametrize("how", ["files", "code"])
def test_a_table_whose_name_shows_as_nothing_or_looks_like_another_is_not_enrolled(
    pit: list[str], tmp_path: Path, name: str, why: str, how: str
) -> None:
    add = ("--pit", "pit:1", *pit)
    assert run("table", "add", "Table 7", "--to", str(tmp_path / "one"), *add).exit_code == 0
    to = ("--to", str(tmp_path / "two")) if how == "files" else ()
    done = run("table", "add", name, *to, *add)
    assert done.exit_code == 1
    assert why in done.output
    assert not (tmp_path / "two").exists()


def test_a_table_that_was_enrolled_under_such_a_name_is_renewed_and_struck_off(
    database: Database, pit: list[str], tmp_path: Path
) -> None:
    add, url = ("--to", str(tmp_path / "one"), "--pit", "pit:1", *pit), pit[:2]
    with database.transaction() as connection:
        connection.execute("INSERT INTO gaming_table (name, serial) VALUES (%s, 'ab')", ("\u3164",))
    assert run("table", "renew", "\u3164", *add).exit_code == 0
    assert run("table", "strike", "\u3164", *url).exit_code == 0


def test_a_database_that_is_not_there_is_said_in_one_sentence(tmp_path: Path) -> None:
    words = ["-m", "firmware.cli", "pit", "table", "list", "--url", f"postgresql:///none?host={tmp_path}"]
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, timeout=DEADLINE
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "No such file or directory" in done.stderr


def test_an_unknown_table_and_a_database_that_is_away_get_a_sentence(pit: list[str], tmp_path: Path) -> None:
    assert "There is no table Nobody." in run("table", "strike", "Nobody", *pit[:2]).output
    away = run(
        "table",
        "add",
        "T",
        "--to",
        str(tmp_path / "t"),
        "--pit",
        "a:1",
        "--url",
        f"postgresql:///x?host={tmp_path}",
    )
    assert away.exit_code == 1
    assert "The database cannot be used" in away.output


def test_the_list_of_hands_is_made_again(database: Database, pit: list[str], record: Path) -> None:
    rows = JournalReader(record).events_since(0)
    take(
        database,
        enrol(database, "Table 1", 1),
        Offer(rows[0].hash, Head(rows[-1].seq, rows[-1].hash), rows=tuple(rows)),
    )
    assert project(database) == len(rows)
    assert f"{len(rows)} rows" in run("reindex", *pit[:2]).output


def test_a_table_that_is_not_enrolled_sends_nothing_and_says_so(record: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(uplink_command, ["--data", str(record), "--enrolment", str(tmp_path)])
    assert done.exit_code == 0
    assert "not enrolled" in done.output


@pytest.mark.parametrize(
    "text", ["", "pit = []", "pit = 1", 'pit = ["host"]', 'pit = ["host:x"]', 'pit = ["host:1/x"]', "pit = ["]
)
def test_a_bad_enrolment_gets_a_sentence(record: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "uplink.toml").write_text(text)
    done = CliRunner().invoke(uplink_command, ["--data", str(record), "--enrolment", str(tmp_path)])
    assert done.exit_code == 1
    assert "uplink.toml" in done.output


def test_tables_are_readmitted_by_name_to_a_database_that_was_lost(
    postgres: Postgres, pit: list[str], tmp_path: Path
) -> None:
    assert "No certificate was issued." in run("table", "readmit", *pit).output
    for name in ("Table 7", "Table 8"):
        run("table", "add", name, "--to", str(tmp_path / name), "--pit", "pit:1", *pit)
    lost = ["--url", postgres.make("pit_made_again", "template_pit"), *pit[2:]]
    assert run("table", "readmit", *lost).output == "Table 7\nTable 8\n"
    assert "There is no table Table 9." in run("table", "readmit", "Table 7", "Table 9", *lost).output
    assert "No table is enrolled" in run("table", "list", *lost[:2]).output
    assert run("table", "readmit", "Table 7", *lost).exit_code == 0
    kept = [json.loads(run("table", "list", "--json", *url[:2]).stdout)[0]["table"] for url in (pit, lost)]
    assert kept == ["Table 7", "Table 7"]
    with Database(lost[1]) as opened:
        assert (
            list_tables(opened)[0].table.serial
            == Authority(tmp_path / "pit" / "authority").issued()["Table 7"]
        )


def test_an_enrolment_is_put_in_its_place_and_opens_the_pits_address_alone(
    pit: list[str], tmp_path: Path
) -> None:
    stick, own, drop_in = tmp_path / "stick", tmp_path / "own", tmp_path / "unit.d" / "pit.conf"
    addresses = ("--pit", "192.0.2.7:8443", "--pit", "[2001:db8::7]:8443")
    assert run("table", "add", "Table 7", "--to", str(stick), *addresses, *pit).exit_code == 0
    words = ["enrol", str(stick), "--into", str(own), "--drop-in", str(drop_in)]
    done = CliRunner().invoke(uplink_command, words)
    assert done.exit_code == 0, done.output
    assert drop_in.read_text() == "[Service]\nIPAddressAllow=192.0.2.7 2001:db8::7\n"
    settings = load(own)
    assert settings is not None
    assert settings.addresses == (("192.0.2.7", 8443), ("2001:db8::7", 8443))
    settings.context()
    keys = Authority(tmp_path / "pit" / "authority").keys
    assert ((own / HOUSE).read_text().strip(), settings.log()) == (keys.house, bytes.fromhex(keys.log))
    assert {path.stat().st_mode & 0o077 for path in own.iterdir() if path.name not in (HOUSE, LOG)} == {0}


@pytest.mark.parametrize("text", ["", "zz" * 32, "ab" * 31])
def test_an_enrolment_whose_key_of_the_log_is_broken_is_refused_before_anything_is_written(
    pit: list[str], tmp_path: Path, text: str
) -> None:
    stick = tmp_path / "stick"
    assert run("table", "add", "T", "--to", str(stick), "--pit", "192.0.2.7:8443", *pit).exit_code == 0
    (stick / LOG).write_text(text)
    words = ["enrol", str(stick), "--into", str(tmp_path / "own"), "--drop-in", str(tmp_path / "pit.conf")]
    done = CliRunner().invoke(uplink_command, words)
    assert (done.exit_code, "log.pub cannot be read" in done.output) == (1, True)
    assert not (tmp_path / "own").exists()


def test_a_folder_without_an_enrolment_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "stick").mkdir()
    words = ["enrol", str(tmp_path / "stick"), "--into", str(tmp_path / "own")]
    done = CliRunner().invoke(uplink_command, [*words, "--drop-in", str(tmp_path / "pit.conf")])
    assert done.exit_code == 1
    assert "There is no enrolment" in done.output
    assert not (tmp_path / "own").exists()


def test_a_name_that_nobody_knows_is_refused_before_anything_is_written(
    pit: list[str], tmp_path: Path
) -> None:
    stick = tmp_path / "stick"
    assert run("table", "add", "T", "--to", str(stick), "--pit", "pit.invalid:8443", *pit).exit_code == 0
    words = ["enrol", str(stick), "--into", str(tmp_path / "own"), "--drop-in", str(tmp_path / "pit.conf")]
    done = CliRunner().invoke(uplink_command, words)
    assert done.exit_code == 1
    assert "pit.invalid" in done.output
    assert not (tmp_path / "own").exists()
