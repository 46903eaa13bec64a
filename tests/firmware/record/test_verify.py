"""Whatever is changed in a record is found: rows, their order and number, images, content, heads."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from firmware.record.evidence import chain
from firmware.record.evidence.anchors import Anchor, NoAnchor, sign_head
from firmware.record.evidence.signing import DeviceKey
from firmware.record.evidence.verify import Verification, verify
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.record.journal.witness import FILE as WITNESS
from firmware.rules import load_profile, profile_toml
from firmware.table import JournalError, Phase
from firmware.table import events as ev
from firmware.table.entry import COLUMNS
from tests.examples import examples
from tests.firmware.conftest import FRAME, PIXELS, ROWS, Deal
from tests.generated_record import generate_record

PAGE = 4096
KEY = DeviceKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))


def head(folder: Path, key: DeviceKey = KEY) -> Anchor:
    """Sign the head, in the record, and return the slip."""
    with Journal(folder) as journal:
        seq, digest = journal.head
        event = sign_head(key, seq=seq, digest=digest, hands=2, wall_ms=1_700_000_000_000, table="12")
        journal.append([event], "table")
    return Anchor.of(event)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hands with an image, names that are not ASCII, a key and a signed head; then one more hand."""
    folder = tmp_path_factory.mktemp("record")
    deal = Deal(ROWS)
    with Journal(folder) as journal:
        CaptureStore(folder).save(FRAME.name, PIXELS)
        rules = journal.keep("profile", profile_toml(load_profile("washington-1-unit")).encode())
        opened = ev.HandOpened(1, "washington-1-unit", rules, 100, deal.opened().seats, 1)
        journal.append([ev.KeyAnnounced(KEY.public.hex())], "table")
        journal.append([opened, *deal.until(Phase.ARCHIVED)[1:]], 'dealer:林\t"Lin" \\ \x01\x7f')
        journal.append([deal.opened(2), ev.HandVoided("čas \x02 \\n")], "floor:Jürgen")
    head(folder)
    with Journal(folder) as journal:
        journal.append([deal.opened(3), ev.HandVoided("a test")], "table")
        journal._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


@pytest.fixture
def copy(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "copy"))


def bend(folder: Path, *statements: str, values: tuple[Any, ...] = ()) -> None:
    """Change the record as somebody who has the file would, and put its guards back afterwards."""
    with closing(sqlite3.connect(folder / FILE)) as db, db:
        db.execute("PRAGMA synchronous = OFF")
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement, values)
        for _, text in triggers:
            db.execute(text)


def rows(folder: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / FILE)) as db:
        db.text_factory = bytes
        types = ", ".join(f"typeof({column})" for column in COLUMNS.split(", "))
        return db.execute(f"SELECT {COLUMNS}, {types} FROM journal ORDER BY seq").fetchall()


def said(found: Verification) -> str:
    return " ".join(f"{problem.seq}: {problem.what}" for problem in found.problems)


def test_an_untouched_record_holds(written: Path) -> None:
    found = verify(written)
    assert said(found) == ""
    assert (found.entries, found.hands, found.images, found.anchors, len(found.keys)) == (13, 3, 1, 1, 1)
    assert found.head == JournalReader(written).head()[1]


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert verify(tmp_path) == Verification(0, 0, "", ())


@pytest.mark.slow
@examples(120)
@given(st.data())
def test_every_single_bit_of_a_row_that_is_changed_is_found(
    written: Path, tmp_path_factory: pytest.TempPathFactory, draw: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("bent")
    for name in (FILE, WITNESS):
        shutil.copy(written / name, folder / name)
    row = draw.draw(st.sampled_from(rows(folder)))
    index = draw.draw(st.integers(1, 11))
    column, value, seq = COLUMNS.split(", ")[index], row[index], row[0]
    if isinstance(value, int):
        bend(
            folder,
            f"UPDATE journal SET {column} = ? WHERE seq = {seq}",
            values=(value ^ 1 << draw.draw(st.integers(0, 62)),),
        )
    elif value:
        changed = bytearray(value)
        bit = draw.draw(st.integers(0, 8 * len(value) - 1))
        changed[bit // 8] ^= 1 << bit % 8
        bend(
            folder,
            f"UPDATE journal SET {column} = CAST(? AS TEXT) WHERE seq = {seq}",
            values=(bytes(changed),),
        )
    else:
        bend(folder, f"UPDATE journal SET {column} = 'x' WHERE seq = {seq}")
    found = verify(folder, images=False, replayed=False)
    assert found.problems
    assert found.problems[0].seq == seq, said(found)


@examples(120)
@given(st.data())
def test_every_single_bit_of_the_file_that_is_changed_is_found_or_changes_no_row(
    written: Path, tmp_path_factory: pytest.TempPathFactory, draw: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("bent")
    raw = bytearray((written / FILE).read_bytes())
    bit = draw.draw(st.integers(0, 8 * len(raw) - 1))
    raw[bit // 8] ^= 1 << bit % 8
    (folder / FILE).write_bytes(raw)
    shutil.copy(written / WITNESS, folder / WITNESS)
    try:
        if verify(folder, images=False, replayed=False).ok:
            assert rows(folder) == rows(written)
    except JournalError:
        pass  # it cannot be read at all, and that is said


@examples(60)
@given(st.data())
def test_every_single_bit_of_an_image_that_is_changed_is_found(
    written: Path, tmp_path_factory: pytest.TempPathFactory, draw: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("bent") / "copy"
    shutil.copytree(written, folder)
    path = folder / "captures" / FRAME.name
    raw = bytearray(path.read_bytes())
    bit = draw.draw(st.integers(0, 8 * len(raw) - 1))
    raw[bit // 8] ^= 1 << bit % 8
    path.write_bytes(raw)
    assert said(verify(folder)) == f"6: The capture {FRAME.name} is changed."


@pytest.mark.parametrize("seq", range(1, 13))
def test_every_row_that_is_removed_is_found(copy: Path, seq: int) -> None:
    bend(copy, f"DELETE FROM journal WHERE seq = {seq}")
    assert f"{seq + 1}: Rows before this one are missing." in said(verify(copy, replayed=False))


@pytest.mark.parametrize("seq", range(1, 13))
def test_every_two_rows_that_are_swapped_are_found(copy: Path, seq: int) -> None:
    bend(
        copy,
        "UPDATE journal SET seq = -1 WHERE seq = " + str(seq),
        f"UPDATE journal SET seq = {seq} WHERE seq = {seq + 1}",
        f"UPDATE journal SET seq = {seq + 1} WHERE seq = -1",
    )
    assert verify(copy, replayed=False).problems[0].seq == seq


@pytest.mark.parametrize("left", range(9, 13))
def test_a_cut_tail_is_found_against_a_slip_and_by_the_witness_of_the_end(copy: Path, left: int) -> None:
    slip = head(copy)
    bend(copy, f"DELETE FROM journal WHERE seq > {left}")
    assert said(verify(copy)) == f"None: {short(left, 14)}"
    (copy / WITNESS).unlink()
    assert "how far the record went is missing" in said(verify(copy))
    found = verify(copy, anchors=[slip])
    assert f"{left}: The record ends here, but row 13 was anchored: its end was cut off." in said(found)


def short(seq: int, seen: int) -> str:
    lost = seen - seq
    return f"The record ends at row {seq}, but row {seen} had been written: {lost} rows are missing."


def test_a_record_that_was_rewritten_and_chained_anew_is_found_against_a_slip(copy: Path) -> None:
    slip = Anchor.parse(head(copy).text)
    previous = ""
    with closing(sqlite3.connect(copy / FILE)) as db:
        all_rows = [
            JournalReader(copy).events_since(seq - 1, 1)[0]
            for (seq,) in db.execute("SELECT seq FROM journal")
        ]
    for entry in all_rows:
        told = entry._replace(payload=entry.payload.replace("9c", "9s"), previous=previous, hash="")
        previous = told.sealed()
        bend(
            copy,
            f"UPDATE journal SET payload = ?, previous = ?, hash = ? WHERE seq = {entry.seq}",
            values=(told.payload, told.previous, previous),
        )
    assert "signed head is not that of the row before it" in said(verify(copy, replayed=False))
    assert "13: The row is not the one that was anchored" in said(
        verify(copy, anchors=[slip], replayed=False)
    )


def test_a_slip_of_another_box_is_said(copy: Path) -> None:
    other = DeviceKey(Ed25519PrivateKey.generate())
    seq, digest = JournalReader(copy).head()
    slip = Anchor.of(sign_head(other, seq=seq, digest=digest, hands=3, wall_ms=1, table=""))
    assert "never announced" in said(verify(copy, anchors=[slip]))
    head(copy, other)
    assert "never announced" in said(verify(copy))


def test_a_slip_survives_being_typed_and_a_wrong_letter_is_said(copy: Path) -> None:
    text = head(copy).text
    assert Anchor.parse(" " + text.lower().replace(":", ": ")).text == text
    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:.-")
    for spoilt in (text[:-1], text.replace(":13:", ":14:"), "FW1", "", text + "A"):
        with pytest.raises(NoAnchor):
            Anchor.parse(spoilt)


def test_changed_or_missing_content_is_found(copy: Path) -> None:
    bend(copy, "UPDATE content SET bytes = x'00'")
    assert "was changed" in said(verify(copy))
    bend(copy, "DELETE FROM content")
    assert "2: The content" in said(verify(copy))


def test_a_missing_image_is_found_and_one_with_a_tombstone_is_not_missing(copy: Path) -> None:
    (copy / "captures" / FRAME.name).unlink()
    assert said(verify(copy)) == f"6: The capture {FRAME.name} is missing."
    with Journal(copy) as journal:
        journal.append([ev.ImagesDropped(1, (FRAME,), "older than a year")], "table")
    found = verify(copy)
    assert (found.ok, found.dropped) == (True, 1)


def test_an_event_that_does_not_fit_is_found_when_hands_are_followed(copy: Path) -> None:
    with Journal(copy) as journal:
        journal.append([ev.CardCorrected(1, "front", 0, "2c")], "test")
    assert verify(copy, replayed=False).ok
    assert "does not fit" in said(verify(copy))


@pytest.fixture
def short_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements that read four rows each."""
    monkeypatch.setattr(chain, "EVERY", 4)


@pytest.mark.usefixtures("short_statements")
@pytest.mark.parametrize("seq", range(3, 11))
def test_a_row_that_is_missing_where_one_statement_ends_is_found(copy: Path, seq: int) -> None:
    assert verify(copy, replayed=False) == verify(copy)
    bend(copy, f"DELETE FROM journal WHERE seq = {seq}")
    assert f"{seq + 1}: Rows before this one are missing." in said(verify(copy, replayed=False))


@pytest.mark.usefixtures("short_statements")
def test_all_rows_of_a_statement_that_are_missing_are_found(copy: Path) -> None:
    bend(copy, "DELETE FROM journal WHERE seq BETWEEN 5 AND 8")
    assert "9: Rows before this one are missing." in said(verify(copy, replayed=False))


@pytest.mark.usefixtures("short_statements")
def test_a_row_that_was_put_in_another_stretch_is_found(copy: Path) -> None:
    bend(
        copy,
        "UPDATE journal SET seq = -1 WHERE seq = 4",
        "UPDATE journal SET seq = 4 WHERE seq = 5",
        "UPDATE journal SET seq = 5 WHERE seq = -1",
    )
    assert verify(copy, replayed=False).problems[0].seq == 4


@pytest.mark.usefixtures("short_statements")
def test_progress_is_reported_to_the_last_row(written: Path) -> None:
    seen: list[tuple[int, int]] = []
    verify(written, on_progress=lambda rows, of: seen.append((rows, of)))
    assert seen == [(4, 13), (8, 13), (12, 13), (13, 13)]


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty-four hands: enough for a tree of pages."""
    folder = tmp_path_factory.mktemp("long")
    generate_record(folder, 24, seed=3)
    return folder


@pytest.mark.sampled
@pytest.mark.parametrize("byte", [0, 1, 3, 4, 5, 6, 8, 9, 11, 12])
def test_every_damaged_page_is_found_or_changes_no_row_and_ends_no_program(
    long: Path, tmp_path: Path, byte: int
) -> None:
    raw, whole = (long / FILE).read_bytes(), rows(long)
    for page in range(1, len(raw) // PAGE):
        for bit in (0, 1, 7):
            folder = tmp_path / f"{page}-{bit}"
            folder.mkdir()
            shutil.copy(long / WITNESS, folder / WITNESS)
            bent = bytearray(raw)
            bent[page * PAGE + byte] ^= 1 << bit
            (folder / FILE).write_bytes(bent)
            with suppress(JournalError):
                if verify(folder, images=False, replayed=False).ok:
                    assert rows(folder) == whole, "a bit that no row needs"
            shutil.rmtree(folder)
