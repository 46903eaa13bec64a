"""The log from a table's signature to the checkpoint that most tables have cosigned, with a real database."""

from __future__ import annotations

import json

import psycopg.errors
import pytest

from firmware.record.evidence.notes import Checkpoint, open_note, parts
from firmware.record.evidence.signing import DeviceKey, fingerprint
from firmware.uplink.witness import CONFLICT, Witness
from pit.errors import PitError
from pit.log import keys
from tests.pit.log.conftest import LogHouse


def held(house: LogHouse, number: int = 0) -> Checkpoint:
    return Checkpoint.parse(parts(house.tables[number].witness.state.note)[0])


def test_a_hands_head_is_logged_checked_by_its_table_cosigned_and_proven(house: LogHouse) -> None:
    for _ in range(3):
        house.add()
    for hands in (1, 2, 3):
        house.round()
        assert house.keeper.newest is not None
        assert house.keeper.newest.checkpoint.size == 3 * hands
        assert {held(house, number).size for number in range(3)} == {3 * hands}
        assert house.one("SELECT signers, heard FROM proven ORDER BY size DESC LIMIT 1") == (3, 3)
    for table in house.tables:
        assert not table.witness.state.trouble
        assert table.witness.state.head == table.have - 1
        assert len(list((table.folder / "witness" / "proofs").glob("*.tlog-proof"))) == 3
    assert house.one("SELECT count(*) FROM checkpoint") == 3


def test_two_tables_that_cosign_with_one_key_count_once(house: LogHouse) -> None:
    for _ in range(3):
        house.add()
    house.tables[1].witness = Witness(house.tables[0].folder / "witness")
    house.round()
    assert house.one(
        "SELECT count(*), count(DISTINCT witness_key) FROM gaming_table WHERE witness_key IS NOT NULL"
    ) == (
        2,
        2,
    )
    assert house.one("SELECT count(*), count(DISTINCT line) FROM cosignature") == (2, 2)
    assert house.one("SELECT signers, heard FROM proven") == (2, 3)
    with pytest.raises(psycopg.errors.UniqueViolation):
        house.one("UPDATE gaming_table SET witness_key = %s RETURNING 1", bytes(32))


def test_a_log_of_more_than_a_tile_proves_heads_old_and_new(house: LogHouse) -> None:
    table = house.add()
    for size in (5, 256, 257, 600):
        table.deal(size - house.one("SELECT count(*) FROM entry WHERE type = 'head_signed'"))
        table.send()
        house.keeper.turn()
        table.ask(house.answers)
        assert not table.witness.state.trouble
    assert house.one("SELECT count(*) FROM node") == 2
    assert held(house).size == house.one("SELECT count(*) FROM leaf")
    again = house.restarted()  # reads everything again
    again.round()
    assert held(house).size == house.one("SELECT count(*) FROM leaf")
    assert not table.witness.state.trouble


def test_nothing_is_answered_twice_and_nothing_is_signed_while_nothing_is_new(house: LogHouse) -> None:
    table = house.add()
    house.round()
    before = house.one("SELECT count(*) FROM checkpoint")
    house.keeper.turn()
    assert set(table.ask(house.answers)) == {"proven"}
    assert house.one("SELECT count(*) FROM checkpoint") == before


def test_a_checkpoint_is_proven_by_more_than_half_of_the_tables_that_are_heard(house: LogHouse) -> None:
    for _ in range(4):
        house.add()
    for table in house.tables:
        table.deal()
        table.send()
    house.keeper.turn()
    for number, table in enumerate(house.tables[:3]):
        table.ask(house.answers)
        table.ask(house.answers)
        house.keeper.turn()
        assert (house.one("SELECT count(*) FROM proven") == 1) == (number == 2)


def test_a_key_counts_for_nothing_until_its_words_were_compared(house: LogHouse) -> None:
    table = house.add(accepted=False)
    table.deal()
    table.send()
    house.keeper.turn()
    assert house.keeper.newest is None
    with house.database.transaction() as connection:
        (key,) = keys.list_keys(connection)
    words = fingerprint(table.key.public)
    assert (key.words, key.other) == ("", words)
    with pytest.raises(PitError, match="signs with another key"):
        keys.accept_words(house.database, "Table 1", "babab-babab-babab-babab-babab")
    with pytest.raises(PitError, match="has not said"):
        keys.accept_words(house.database, "Table 9", words)
    keys.accept_words(house.database, "Table 1", words.upper().replace("-", " "))
    house.keeper.turn()
    assert house.one("SELECT count(*) FROM leaf") == 1
    with house.database.transaction() as connection:
        assert [(one.words, one.other) for one in keys.list_keys(connection)] == [(words, "")]


def test_another_key_of_a_table_is_shown_and_signs_nothing(house: LogHouse) -> None:
    table = house.add()
    house.round()
    thief = DeviceKey.open(table.folder / "thief")
    table.deal(sign=thief)
    table.send()
    house.keeper.turn()
    assert house.one("SELECT count(*) FROM leaf") == 1
    with house.database.transaction() as connection:
        assert keys.list_keys(connection)[0].other == fingerprint(thief.public)


def test_the_log_that_the_enrolment_names_is_the_only_one_that_is_cosigned(house: LogHouse) -> None:
    table = house.add()
    pinned = table.folder / "pinned"
    table.witness = Witness(pinned, log=DeviceKey.open(table.folder / "another").public)
    house.round()
    assert "signed with another key" in str(table.witness.state.trouble)
    assert (table.witness.state.note, house.one("SELECT count(*) FROM cosignature")) == ("", 0)
    again = Witness(pinned, log=DeviceKey.open(table.folder / "another").public)
    assert again.state.trouble == table.witness.state.trouble, "a restart forgets no alarm"

    (pinned / CONFLICT).unlink()  # enrolled again, with the key of this log
    table.witness = Witness(pinned, log=house.keeper.key.public)
    house.round()
    assert not table.witness.state.trouble
    assert (held(house).size, house.one("SELECT count(*) FROM cosignature")) == (2, 1)


def test_what_was_cosigned_of_another_log_is_kept_when_a_table_is_enrolled_elsewhere(house: LogHouse) -> None:
    table = house.add()
    house.round()
    own, note = table.folder / "witness", table.witness.state.note
    assert note
    Witness(own, log=DeviceKey.open(table.folder / "another").public)
    (kept,) = own.glob("held-*.json")
    assert json.loads(kept.read_text())["note"] == note


def test_a_head_whose_signature_is_wrong_becomes_no_leaf_and_is_named(house: LogHouse) -> None:
    from pit.log.heads import look_at

    table = house.add()
    table.deal()
    table.send()
    with house.database.transaction() as connection:
        rows = connection.execute(
            "SELECT record_id, seq, type, payload, previous, genesis, device_key"
            " FROM entry JOIN record USING (record_id) JOIN gaming_table USING (table_id) WHERE type = 'head_signed'"
        ).fetchall()
    (row,) = rows
    assert len(look_at(rows).heads) == 1
    forged = (*row[:3], row[3].replace('"hands":1', '"hands":2'), *row[4:])
    moved = (*row[:4], "0" * 64, *row[5:])
    for bad, why in ((forged, "was not made with the key"), (moved, "not of the row before it")):
        found = look_at([bad])
        assert not found.heads
        mark = found.marks[row[0]].bad
        assert mark is not None
        assert why in mark[1]


def test_what_is_signed_is_a_note_of_the_logs_key_and_the_file_beside_it_has_the_newest(
    house: LogHouse,
) -> None:
    house.add()
    house.round()
    note = house.one("SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1")
    assert open_note(note, house.keeper.key.public).origin.endswith("/1")
    assert (house.folder / "log" / "newest-checkpoint").read_text() == note
