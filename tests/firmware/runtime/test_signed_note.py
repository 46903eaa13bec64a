"""What this box signed last is noted beside its key: a record put back as a whole, or bent, is found at the start."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from firmware.record.evidence.anchors import Anchor, sign_head
from firmware.record.evidence.signed_note import FILE, NoteUnusable, read_note
from firmware.record.evidence.signing import DeviceKey
from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import Journal, JournalReader
from firmware.runtime.config import Config
from firmware.table import events as ev
from tests.firmware.record.test_verify import KEY, bend, head
from tests.firmware.runtime.test_maintenance import Box, key, start
from tests.waiting import until

__all__ = ("key", "start")
FLOOR = {"by": "Moreno", "pin": "274953"}


def rows(config: Config) -> list[Any]:
    return [row.event for row in JournalReader(config.data).events_since(0)]


def played(box: Box, hands: int) -> Box:
    """Play hands, each signed before the next."""
    for _ in range(hands):
        box.hand()
        until(lambda: isinstance(rows_of(box)[-1], ev.HeadSigned))
    return box


def rows_of(box: Box) -> list[Any]:
    return rows(box.config)


def said(box: Box) -> str:
    fault = box.process.state.record_fault
    return str(fault.problem) if fault else ""


def staffed(box: Box) -> Box:
    box.do("list_person", person="Tess", role="technician", new_pin="836153")
    box.do("list_person", person="Moreno", role="floor", new_pin="274953", by="Tess", pin="836153")
    return box


def put_back(copy: Path, data: Path) -> None:
    """Put an older copy of the whole folder in the record's place: journal, witness, index and images."""
    shutil.rmtree(data)
    shutil.copytree(copy, data)


@pytest.mark.parametrize("hands", [1, 5])
def test_a_folder_put_back_as_a_whole_is_a_fault_that_a_person_reads_and_is_signed_as_what_it_is(
    start: Callable[..., Box], config: Config, key: Path, tmp_path_factory: pytest.TempPathFactory, hands: int
) -> None:
    copy = tmp_path_factory.mktemp("away") / "copy"
    played(staffed(start()), 2).close()
    shutil.copytree(config.data, copy)
    played(start(), hands).close()
    signed = read_note(key, DeviceKey.open(key).public)
    put_back(copy, config.data)
    box = start()
    until(lambda: "record" in box.process.state.faults)
    fault = box.process.state.record_fault
    assert fault is not None
    assert signed is not None
    assert (fault.what, fault.seen, fault.seen_hash) == ("rolled_back", signed.seq + 1, signed.hash)
    assert not box.ask("next")["ok"], "nothing is played"
    until(lambda: isinstance(rows_of(box)[-1], ev.HeadSigned))  # the fault is signed
    box.do("read_record_fault", **FLOOR)
    played(box, 1).close()
    assert sum(isinstance(event, ev.RecordFault) for event in rows(config)) == 1
    start().close()
    assert sum(isinstance(event, ev.RecordFault) for event in rows(config)) == 1, "read, and noted again"


def test_another_record_of_the_same_length_is_a_fault(
    start: Callable[..., Box], config: Config, tmp_path_factory: pytest.TempPathFactory
) -> None:
    copy = tmp_path_factory.mktemp("away") / "copy"
    staffed(start()).close()
    shutil.copytree(config.data, copy)
    played(start(), 3).close()
    put_back(copy, config.data)
    with Journal(config.data) as journal:
        for _ in range(60):
            journal.append([ev.DeviceRecovered("puck")], "table")
    box = start()
    until(lambda: box.process.state.record_fault is not None)
    assert box.process.state.record_fault is not None
    assert box.process.state.record_fault.what == "forked"


def test_rows_added_with_right_hashes_beside_the_witness_are_a_fault(tmp_path: Path) -> None:
    with Journal(tmp_path / "data") as journal:
        journal.append([ev.TableStarted()], "table")
    shutil.copy(tmp_path / "data" / "journal.head", tmp_path / "head")
    with Journal(tmp_path / "data") as journal:
        for _ in range(25):
            journal.append([ev.DeviceRecovered("puck")], "table")
    shutil.copy(tmp_path / "head", tmp_path / "data" / "journal.head")
    with Journal(tmp_path / "data") as journal:
        fault = journal.recover().record_fault
    assert fault is not None
    assert (fault.what, fault.seq, fault.seen) == ("beyond", 26, 1)


def test_hands_added_with_right_hashes_and_a_witness_that_agrees_are_a_fault(
    start: Callable[..., Box], config: Config
) -> None:
    played(start(), 1).close()
    with Journal(config.data) as journal:
        for hand in (2, 3):
            opened = next(event for event in rows(config) if isinstance(event, ev.HandOpened))
            journal.append(
                [ev.HandOpened(**{**vars(opened), "hand": hand}), ev.HandVoided("forged")], "table"
            )
    box = start()
    until(lambda: box.process.state.record_fault is not None)
    assert "is NOT signed" in said(box)


def test_a_head_of_another_key_after_the_note_is_a_fault(start: Callable[..., Box], config: Config) -> None:
    played(start(), 1).close()
    with Journal(config.data) as journal:
        journal.append([ev.KeyAnnounced(KEY.public.hex())], "table")
    head(config.data)
    box = start()
    until(lambda: box.process.state.record_fault is not None)
    assert "was not signed by this box" in said(box)


@pytest.mark.parametrize(("note", "reason"), [(None, "missing"), ("no note", "unusable")])
def test_without_a_note_that_is_said_in_the_record_and_a_new_one_begins(
    start: Callable[..., Box],
    config: Config,
    key: Path,
    note: str | None,
    reason: Literal["missing", "unusable"],
) -> None:
    played(start(), 1).close()
    (key / FILE).unlink()
    if note is not None:
        (key / FILE).write_text(note)
    end = JournalReader(config.data).head()
    box = start()
    until(lambda: (key / FILE).exists() and (key / FILE).read_text().startswith("FW1"))
    assert ev.NoteBegun(*end, reason) in rows(config)
    assert box.process.state.record_fault is None
    box.close()
    start().close()
    assert sum(isinstance(event, ev.NoteBegun) for event in rows(config)) == 1


def test_after_a_key_was_moved_away_a_new_one_signs_and_all_that_the_old_one_signed_holds(
    start: Callable[..., Box], config: Config, key: Path, tmp_path: Path
) -> None:
    """As the book says for a key that may have been read. A slip of before holds; who signed what is told."""
    old = DeviceKey.open(key)
    box = played(start(), 2)
    slip = Anchor.of(rows(config)[-1])
    box.close()
    for name in ("device.key", FILE):
        (key / name).rename(tmp_path / name)
    played(start(), 1).close()
    new = DeviceKey.open(key)
    assert new.public != old.public
    found = verify(config.data, anchors=[slip])
    assert found.holds
    assert [one.key for one in found.signers] == [old.public.hex(), new.public.hex()]
    assert any(isinstance(event, ev.NoteBegun) for event in rows(config)), (
        "an auditor sees where the new one begins"
    )
    stolen = sign_head(old, seq=slip.seq, digest="0" * 64, hands=9, wall_ms=0, table="")
    assert not verify(config.data, anchors=[Anchor.of(stolen)]).ok, "what a thief signs is in no record"


def test_a_new_box_has_nothing_to_say(start: Callable[..., Box], config: Config) -> None:
    start().close()
    start().close()
    assert not any(isinstance(event, ev.NoteBegun | ev.RecordFault) for event in rows(config))


def test_a_head_that_the_power_cut_off_is_signed_at_the_next_start(
    start: Callable[..., Box], config: Config, key: Path
) -> None:
    played(start(), 1).close()
    end = JournalReader(config.data).head()[0]
    bend(config.data, f"DELETE FROM journal WHERE seq >= {end}")
    (config.data / "journal.head").unlink()
    (key / FILE).unlink()
    box = start()
    until(lambda: isinstance(rows_of(box)[-1], ev.HeadSigned))


def test_a_note_of_another_key_is_none(key: Path, tmp_path: Path) -> None:

    own = DeviceKey.open(key)
    event = sign_head(KEY, seq=3, digest="ab" * 32, hands=1, wall_ms=1, table="12")
    (key / FILE).write_text(Anchor.of(event).text)
    with pytest.raises(NoteUnusable, match="of another key"):
        read_note(key, own.public)


def test_a_note_that_cannot_be_written_is_a_fault_and_hands_go_on(
    start: Callable[..., Box], key: Path
) -> None:
    box = start()
    (key / FILE).mkdir()
    box.hand()
    until(lambda: "key" in box.process.state.faults)
    assert "cannot be written" in str(box.process.state.faults["key"])
    box.hand()
