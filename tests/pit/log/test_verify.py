"""`feltwatch pit verify` and dispute files: what holds is said to hold, and what was changed is named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from dealer_ui.reports.slip import slip_png
from firmware.record.evidence import dispute_verifier as alone
from firmware.record.evidence.notes import NoNote
from firmware.uplink.follow import UplinkStatus
from firmware.uplink.held_checkpoint import held_to_json, read_checkpoint
from firmware.uplink.status_file import write_status
from firmware.uplink.witness import Witness, proofs_in
from pit.cli.main import command
from pit.log.proofs import proofs_of
from pit.log.verify import read_note, verify
from pit.status.tables import renew, serial_text
from tests.campaigns.pit import attacks
from tests.pit.log.conftest import LogHouse, set_back
from tests.pit.postgres import Postgres


@pytest.fixture
def proven(house: LogHouse) -> LogHouse:
    for _ in range(3):
        house.add()
    for _ in range(2):
        house.round()
    return house


def test_the_command_says_that_all_holds_and_what_does_not(proven: LogHouse, owned: str) -> None:
    given = ["verify", "--url", owned, "--folder", str(proven.folder)]
    said = CliRunner().invoke(command, given)
    assert said.exit_code == 0, said.output
    assert (
        "3 records, 9 rows, 6 signed heads; a log of 6 entries, 2 checkpoints, 6 cosignatures." in said.output
    )
    assert "All of it holds." in said.output
    held = proven.folder / "held.txt"
    held.write_text(proven.tables[0].witness.state.note)
    told = json.loads(CliRunner().invoke(command, [*given, "--json", "--checkpoint", str(held)]).output)
    assert (told["ok"], told["rows"], told["problems"]) == (True, 9, [])
    attacks.Scene(proven, owned).sql(("UPDATE entry SET actor = 'x' WHERE record_id = 2 AND seq = 2", ()))
    said = CliRunner().invoke(command, given)
    assert said.exit_code == 1
    assert "Table 2: row 2 was changed in the pit's database." in said.output


def test_the_checkpoint_on_a_slip_is_scanned_and_verified_and_finds_a_log_made_again(
    proven: LogHouse, owned: str, tmp_path: Path
) -> None:
    table = proven.tables[0]
    write_status(tmp_path, UplinkStatus(), "", held_to_json(table.witness.state))
    held = read_checkpoint(tmp_path)
    assert held is not None
    assert (held.checkpoint.size, held.is_proven, held.doubted) == (6, False, False)
    table.ask(proven.answers)
    write_status(tmp_path, UplinkStatus(), "", held_to_json(table.witness.state))
    held = read_checkpoint(tmp_path)
    assert held is not None
    assert (held.proven, held.is_proven) == ((6, 3, 3), True)

    anchor = table.anchor_at(table.witness.state.head)
    assert anchor is not None
    picture = cv2.imdecode(np.frombuffer(slip_png(anchor[1], held), np.uint8), cv2.IMREAD_GRAYSCALE)
    assert picture is not None
    slip = tmp_path / "slip.txt"
    texts = cv2.QRCodeDetectorAruco().detectAndDecodeMulti(picture)[1]  # the plain one misses one in ten
    (scanned,) = (text for text in texts if not text.startswith("FW1"))
    slip.write_text(scanned.rstrip())  # a scanner may leave the last line's end out
    given = ["verify", "--url", owned, "--folder", str(proven.folder), "--checkpoint", str(slip)]
    said = CliRunner().invoke(command, given)
    assert said.exit_code == 0, said.output
    set_back(owned, 3)
    said = CliRunner().invoke(command, given)
    assert said.exit_code == 1
    assert "that was given is not known here" in said.output


def test_without_the_logs_key_the_command_says_what_to_give(owned: str, tmp_path: Path) -> None:
    said = CliRunner().invoke(command, ["verify", "--url", owned, "--folder", str(tmp_path)])
    assert said.exit_code == 1
    assert "Give the log's public key: --log HEX" in said.output
    with pytest.raises(NoNote, match="copy all of its lines"):
        read_note("no checkpoint")


def test_the_keys_command_lists_and_accepts(house: LogHouse, owned: str) -> None:
    table = house.add(accepted=False)
    table.deal()
    table.send()
    house.keeper.turn()
    listed = CliRunner().invoke(command, ["key", "--url", owned]).output
    assert "no key is accepted  signs with another key: " in listed
    words = listed.partition("another key: ")[2].partition(".")[0]
    assert CliRunner().invoke(command, ["key", "Table 1", words, "--url", owned]).exit_code == 0
    assert f"Table 1: {words}\n" in CliRunner().invoke(command, ["key", "--url", owned]).output
    assert verify(house.database, house.keeper.key.public).ok


def test_a_proof_from_the_pit_and_one_from_the_table_hold_without_any_package(proven: LogHouse) -> None:
    table = proven.tables[0]
    seq = table.witness.state.head
    genesis, anchor = table.anchor_at(seq) or ("", None)
    assert anchor is not None
    record = proven.one("SELECT record_id FROM record WHERE genesis = %s", genesis)
    for files, signers in (
        (proofs_of(proven.database, record, [seq]), 4),
        (proofs_in(table.folder / "witness", [seq]), 2),
    ):
        number, hashes, note = alone.read_proof(files[f"{alone.PROOFS}{seq}.tlog-proof"].decode())
        text, signatures = alone.read_note(note)
        _, size, root = alone.read_checkpoint(text)
        leaf = alone.leaf_hash(alone.head_entry(genesis, anchor.text))
        assert alone.root_of_inclusion(leaf, number, size, hashes) == root
        keys = [alone.read_key(line) for line in files[alone.LOG_KEYS].decode().splitlines()]
        signed = [one for one in signatures if any(alone.signed_note_by(text, one, *key) for key in keys)]
        assert len(signed) == signers


def test_what_a_lost_card_has_cosigned_holds_and_its_new_card_counts(
    proven: LogHouse, owned: str, tmp_path: Path
) -> None:
    table = proven.tables[0]
    renew(proven.database, table.table.name, 4711)
    table.table = replace(table.table, serial=serial_text(4711))
    table.witness = Witness(tmp_path / "new card", log=proven.keeper.key.public)
    again = proven.restarted()
    again.round()
    assert not table.witness.state.trouble
    assert again.one("SELECT size, signers, heard FROM proven ORDER BY size DESC LIMIT 1") == (9, 3, 3)
    said = CliRunner().invoke(command, ["verify", "--url", owned, "--folder", str(proven.folder)])
    assert said.exit_code == 0, said.output
    assert "9 cosignatures." in said.output
    record = proven.one("SELECT record_id FROM record WHERE table_id = %s", table.table.table_id)
    for row in (2, table.witness.state.head):
        files = proofs_of(proven.database, record, [row])
        _, _, note = alone.read_proof(files[f"{alone.PROOFS}{row}.tlog-proof"].decode())
        text, signatures = alone.read_note(note)
        keys = [alone.read_key(line) for line in files[alone.LOG_KEYS].decode().splitlines()]
        signed = [key for key in keys if any(alone.signed_note_by(text, one, *key) for one in signatures)]
        assert (len(keys), len(signed)) == (4, 4)


def test_an_attack_at_the_centre_is_found_with_its_defence_and_not_without(postgres: Postgres) -> None:
    chosen = tuple(one for one in attacks.ATTACKS if "another history" in one.title or "invents" in one.title)
    assert len(chosen) == 2
    assert all(one.ok for one in attacks.campaign(postgres, chosen, lambda _: None))
