"""A pit that had waves is brought to channels: what a wave had under way is stopped, and nobody is forgotten."""

from __future__ import annotations

import itertools

import psycopg
import pytest

from pit.channels.judge import Mark
from pit.channels.stepper import Stepper
from pit.channels.store import history, read_channels, withdraw
from pit.channels.words import UPGRADED
from pit.files.requests import requests
from pit.store import database as pit_database
from pit.store.database import Database, migrate
from pit.store.rights import allow
from tests.pit.channels.room import FIRST, NEW, OLD, REST, SHA, TENTH
from tests.pit.conftest import as_role
from tests.pit.postgres import DOOR, Postgres

_NUMBERS = itertools.count(1)
_WAVE = """
INSERT INTO gaming_table (name, serial) SELECT 'Table ' || n, n::text FROM generate_series(1, 5) AS n;
INSERT INTO offered_file (sha256, kind, name, version, size, signature, offered_by)
    VALUES ('{sha}', 'release', 'feltwatch', '{new}', 1, '', 'Ines'),
    ('{old}', 'release', 'feltwatch', '{was}', 1, '', 'Ines');
INSERT INTO wave (sha256, release, share, silent_s, within_s, began_by, phase, step)
    VALUES ('{old}', '{was}', 10, 60, 60, 'Ines', 'done', 2), ('{sha}', '{new}', 10, 60, 60, 'Ines', '{phase}', {step});
INSERT INTO wave_table (wave_id, table_id, place, step) SELECT wave_id, table_id, table_id,
    CASE table_id WHEN 2 THEN 0 WHEN 4 THEN 1 ELSE 2 END FROM gaming_table, wave;
INSERT INTO file_request (table_id, sha256, asked_by, ends_at) VALUES (2, '{sha}', 'wave', now() + interval '1 day'),
    (4, '{sha}', 'Bo', now() + interval '1 day');
"""


def migrated(postgres: Postgres, monkeypatch: pytest.MonkeyPatch, phase: str, step: int) -> str:
    """Return the address of a pit's database that had a wave, at this release's schema."""
    url = postgres.make(f"pit_waves_{next(_NUMBERS)}")
    scripts, _ = pit_database._scripts()
    with monkeypatch.context() as patched:
        patched.setattr(pit_database, "_scripts", lambda: (scripts, "0064"))
        assert migrate(url) == "0064"
    with psycopg.connect(url) as connection:
        wave = _WAVE.format(sha=SHA, new=NEW, old="ef" * 32, was=OLD, phase=phase, step=step)
        connection.execute(wave.encode())
    migrate(url)
    allow(url, DOOR)
    return as_role(url, DOOR)


@pytest.mark.parametrize("phase", ["running", "stopped"])
@pytest.mark.parametrize("step", [0, 1, 2])
def test_a_wave_that_was_not_over_becomes_a_stopped_release_in_the_channels_it_had_reached(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch, phase: str, step: int
) -> None:
    with Database(migrated(postgres, monkeypatch, phase, step), connections=2) as database:
        Stepper(database).turn()
        with database.transaction() as connection:
            channels = read_channels(connection)
            asked = [one.table for one in requests(connection) if not one.is_over]
            notes = [str(what) for _, _, what in history(connection)]
        assert [len(one.tables) for one in channels.values()] == [1, 1, 3]
        assert [one.release for one in channels.values()] == [
            NEW if number <= step else "" for number in range(3)
        ]
        assert str(channels[FIRST].stopped) == str(UPGRADED)
        assert channels[FIRST].tables[0].mark is Mark.WAITS
        assert asked == ["Table 4"], "what a person asked stays"
        assert notes == [f"{NEW} stopped: {UPGRADED}"]
        withdraw(database, SHA, "Ines")


def test_a_wave_that_was_over_leaves_its_tables_in_their_channels_and_no_release(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Database(migrated(postgres, monkeypatch, "done", 2), connections=2) as database:
        Stepper(database).turn()
        with database.transaction() as connection:
            channels = read_channels(connection)
            asked = sorted(one.table for one in requests(connection) if not one.is_over)
            assert history(connection) == []
        assert [channels[name].tables[0].name for name in (FIRST, TENTH, REST)] == [
            "Table 2",
            "Table 4",
            "Table 1",
        ]
        assert [one.release for one in channels.values()] == [""] * 3
        assert asked == ["Table 2", "Table 4"], "a table that was away still finds what it was asked for"
