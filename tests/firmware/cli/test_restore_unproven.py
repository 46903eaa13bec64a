"""A restore says what differs before it replaces anything, and takes what is not proven on an explicit word only."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.record.backup import back_up
from firmware.record.evidence.anchors import Anchor
from firmware.record.evidence.signed_note import read_note, write_note
from firmware.record.evidence.signing import DeviceKey
from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import Journal, JournalReader
from firmware.table import events as ev
from tests.generated_record import generate_record


class Box:
    def __init__(self, folder: Path) -> None:
        self.data, self.keys, self.folder = folder / "data", folder / "key", folder
        self.key = DeviceKey.open(self.keys)
        self.play(3)

    def play(self, hands: int) -> None:
        generate_record(self.data, hands, pool=3, key=self.key)
        event = JournalReader(self.data).anchors()[-1].event
        assert isinstance(event, ev.HeadSigned)
        write_note(self.keys, Anchor.of(event))

    def copy(self) -> Path:
        to = self.folder / "backup"
        back_up(self.data, to)
        return to

    def restore(self, source: Path, *words: str, exits: int = 0, answer: str = "") -> str:
        line = ["restore", str(source), "--data", str(self.data), "--key-folder", str(self.keys), *words]
        done = CliRunner().invoke(main, line, input=answer)
        assert done.exit_code == exits, done.output
        return done.output


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def forged(source: Path, to: Path, *, without_heads: bool) -> Path:
    """A record with other stacks in one settlement, chained again with a witness that agrees; no key is needed."""
    with Journal(to) as journal, JournalReader(source).opened() as db:
        assert db is not None
        for kind, kept in db.execute("SELECT kind, bytes FROM content"):
            journal.keep(kind, kept)
        for row in JournalReader(source).events_since(0):
            if row.type == "head_signed" and without_heads:
                continue
            event = row.event
            if isinstance(event, ev.HandSettled) and row.hand == 1:
                event = ev.HandSettled({**event.settlement, "stacks": {"Player 1": 50_000}})
            journal.append([event], row.actor)
    return to


def test_a_forgery_without_any_key_is_not_laundered(box: Box) -> None:
    backup = forged(box.copy(), box.folder / "forged", without_heads=True)
    before = JournalReader(box.data).head()
    said = box.restore(backup, "--yes", exits=1)
    assert "UNPROVEN: The backup is NOT signed: of 3 hands that ended, 3 have no signed head." in said
    assert "UNPROVEN: The backup differs from the present record from row" in said
    assert "Nothing was replaced." in said
    assert JournalReader(box.data).head() == before
    box.restore(backup, "--yes", "--unproven")
    found = verify(box.data)
    assert not found.holds, "and the record stays unsigned there"
    assert len(found.unproven) == 3


def test_an_older_backup_is_told_and_restored_and_the_box_knows_it_afterwards(box: Box) -> None:
    backup = box.copy()
    end = JournalReader(box.data).head()[0]
    box.play(2)
    said = box.restore(backup, answer="n\n", exits=1)
    assert f"differs: The backup ends at row {end}. This box signed row" in said
    assert "The present record has" in said
    assert "UNPROVEN" not in said
    box.restore(backup, answer="y\n")
    note = read_note(box.keys, box.key.public)
    last = JournalReader(box.data).last_anchor()
    assert note is not None
    assert last is not None
    assert note.seq == last.seq - 1
    assert [row.type for row in JournalReader(box.data).events_since(end)] == [
        "record_restored",
        "head_signed",
    ]
    assert verify(box.data).holds


def test_a_backup_of_another_box_is_unproven_here(box: Box, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Box(tmp_path / "other")
    said = box.restore(other.copy(), "--yes", exits=1)
    assert "was not signed by this box" in said
    assert "Nothing was replaced." in said


def test_on_a_new_card_without_a_key_that_is_said_and_the_signed_backup_is_restored(box: Box) -> None:
    backup = box.copy()
    shutil.rmtree(box.data)
    shutil.rmtree(box.keys)
    said = box.restore(backup, "--yes")
    assert "This box has no key that can be read: nobody can say here who signed the backup." in said
    assert not box.keys.exists()
    assert verify(box.data).holds


def test_a_settlement_that_was_changed_and_signed_anew_is_found_by_settling_the_hand_again(box: Box) -> None:
    forgery = forged(box.data, box.folder / "forged", without_heads=True)
    assert not verify(forgery, replayed=False).problems, "every hash fits"
    (problem,) = verify(forgery, settled=True).problems
    assert str(problem.what) == "The hand does not settle to what was recorded: stacks differ."
    assert verify(box.data, settled=True).holds
