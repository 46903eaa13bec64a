"""A database that was set back begins a new epoch, and never signs a second history of the old one."""

from __future__ import annotations

import shutil

import pytest

from firmware.record.evidence.notes import Checkpoint, parts
from pit.authority import LOG_FOLDER
from pit.log.epochs import FILE
from tests.pit.log.conftest import LogHouse, set_back


@pytest.fixture
def played(house: LogHouse) -> LogHouse:
    """Three tables, four hands each."""
    for _ in range(3):
        house.add()
    for _ in range(4):
        house.round()
    return house


def epochs_held(house: LogHouse) -> set[str]:
    notes = [table.witness.state.note for table in house.tables]
    return {Checkpoint.parse(parts(note)[0]).origin.rpartition("/")[2] for note in notes}


def test_the_file_beside_the_key_shows_that_the_database_was_set_back(played: LogHouse, owned: str) -> None:
    set_back(owned, 6)
    played.round()
    assert played.one("SELECT max(epoch) FROM epoch") == 2
    assert played.one("SELECT max(size) FROM checkpoint WHERE epoch = 1") == 6
    unknown = played.one("SELECT unknown FROM epoch WHERE epoch = 2")
    assert Checkpoint.parse(parts(unknown)[0]).size == 12
    assert epochs_held(played) == {"2"}
    assert [table.witness.state.set_back for table in played.tables] == [2, 2, 2]
    assert not any(table.witness.state.trouble for table in played.tables)
    leaves = played.one(
        "SELECT count(*), count(DISTINCT (record_id, seq)) FROM leaf WHERE record_id IS NOT NULL"
    )
    assert leaves == (15, 15)  # what the database had lost is in the new epoch
    played.round()
    assert played.one("SELECT max(epoch) FROM epoch") == 2


def test_where_the_file_is_lost_the_pit_listens_first_and_a_table_shows_what_was_signed(
    played: LogHouse, owned: str
) -> None:
    set_back(owned, 6)
    (played.folder / LOG_FOLDER / FILE).unlink()
    now = [0.0]
    again = played.restarted(clock=lambda: now[0], careful_s=60.0)
    again.tables[0].deal()
    again.tables[0].send()
    again.keeper.turn()
    assert again.one("SELECT max(size) FROM checkpoint") == 6  # nothing is signed meanwhile
    again.tables[1].ask(again.answers)
    again.keeper.turn()
    assert again.one("SELECT max(epoch) FROM epoch") == 2
    now[0] = 61.0
    again.round()
    assert epochs_held(again) == {"2"}


def test_after_listening_in_vain_the_log_goes_on(played: LogHouse) -> None:
    (played.folder / LOG_FOLDER / FILE).unlink()
    now = [0.0]
    again = played.restarted(clock=lambda: now[0], careful_s=60.0)
    again.round()
    assert again.one("SELECT max(size) FROM checkpoint") == 12
    now[0] = 61.0
    again.round()
    assert again.one("SELECT max(epoch), max(size) FROM checkpoint") == (1, 18)


def test_an_empty_database_with_the_old_key_begins_a_new_epoch(played: LogHouse, owned: str) -> None:
    import psycopg

    with psycopg.connect(owned) as connection:
        for table in ("proven", "cosignature", "checkpoint", "node", "leaf", "epoch"):
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
            connection.execute(f"DELETE FROM {table}".encode())
        connection.execute("UPDATE log_mark SET seq = 0")
    played.restarted().round()
    assert played.one("SELECT min(epoch), max(epoch) FROM epoch") == (2, 2)
    assert played.one("SELECT count(*) FROM leaf") == 16


def test_a_lost_key_of_the_log_begins_a_new_epoch_that_tables_do_not_cosign(played: LogHouse) -> None:
    shutil.rmtree(played.folder / LOG_FOLDER)
    now = [0.0]
    again = played.restarted(clock=lambda: now[0], careful_s=0.0)
    again.round()
    assert again.one("SELECT max(epoch) FROM epoch") == 2
    assert epochs_held(again) == {"1"}
    for table in again.tables:
        assert "another key" in str(table.witness.state.trouble)
        assert (table.folder / "witness" / "conflict.txt").exists()


def test_a_checkpoint_that_the_logs_key_did_not_sign_moves_nothing(played: LogHouse) -> None:
    from pit.log.cosignatures import HeldCheckpoint

    note = played.tables[0].witness.state.note.replace("\n12\n", "\n99\n")
    played.keeper.held(1, HeldCheckpoint(note, bytes(32)))
    played.keeper.held(2, HeldCheckpoint("no note", bytes(32)))
    played.keeper.turn()
    assert played.one("SELECT max(epoch) FROM epoch") == 1
