"""Backup and restore: what comes back is what was there, and a stop at any moment loses neither record."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from firmware.cli.hands_text import line_text
from firmware.record import backup
from firmware.record import restore as restoring
from firmware.record.archive import Archive
from firmware.record.backup import BackupError, back_up
from firmware.record.dispute_file import write_dispute_file
from firmware.record.evidence.dispute_verifier import check
from firmware.record.evidence.verify import verify
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.clocks import now
from firmware.record.journal.disk import give_tree, sync_folder
from firmware.record.journal.journal import FILE, READY, RESTORING, Journal, JournalReader
from firmware.record.restore import restore
from firmware.table import JournalBusy, JournalError
from firmware.table import events as ev
from firmware.table.people import PINS_FOLDER
from tests.firmware.conftest import FRAME, PIXELS
from tests.firmware.record.test_dispute_file import record
from tests.firmware.record.test_verify import KEY, bend


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = record(tmp_path_factory.mktemp("kept") / "data")
    (folder / PINS_FOLDER).mkdir(mode=0o700)
    (folder / PINS_FOLDER / "0123456789abcdef.json").write_text("{}")
    Archive(folder).refresh()
    return folder


@pytest.fixture
def data(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "data"))


def rows(folder: Path) -> list[str]:
    return [entry.hash for entry in JournalReader(folder).events_since(0)]


def test_a_backup_is_the_record_without_its_secrets(data: Path, tmp_path: Path) -> None:
    to = tmp_path / "backup"
    with Journal(data):  # the table goes on meanwhile
        back_up(data, to)
    assert rows(to) == rows(data)
    assert CaptureStore(to).load(FRAME) == PIXELS
    assert sorted(path.name for path in to.iterdir()) == ["captures", "journal.head", "journal.sqlite"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "data"]


def test_a_backup_needs_a_new_folder_and_a_record(data: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="there already"):
        back_up(data, tmp_path)
    with pytest.raises(BackupError, match="no record"):
        back_up(tmp_path / "nowhere", tmp_path / "backup")
    with pytest.raises(BackupError, match="could not be made"):
        back_up(data, Path("/proc/backup"))


def test_a_full_disk_leaves_no_half_backup(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BackupError, match="the disk is full"):
        back_up(data, tmp_path / "backup")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_bent_record_is_backed_up_and_said_to_be_bent(data: Path, tmp_path: Path) -> None:
    bend(data, "UPDATE journal SET actor = 'nobody' WHERE seq = 5")
    found = back_up(data, tmp_path / "backup")
    assert found.problems[0].seq == 5
    with pytest.raises(BackupError, match=r"nothing was replaced\. Row 5"):
        restore(tmp_path / "backup", data, now)
    assert not (data / RESTORING).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to somebody else")
def test_what_root_copies_and_restores_is_the_records_owners_and_a_planted_link_is_not_followed(
    data: Path, tmp_path: Path
) -> None:
    somebody, stick, target = 12345, tmp_path / "stick", tmp_path / "target"
    for path in (data, *data.rglob("*")):
        os.chown(path, somebody, somebody)
    stick.mkdir()
    target.mkdir()
    (stick / ".copy.part").symlink_to(target)
    back_up(data, stick / "copy")
    restore(stick / "copy", data, now)
    assert list(target.iterdir()) == []
    made = [path for top in (stick / "copy", data) for path in (top, *top.rglob("*"))]
    assert len(made) > 20
    assert [path for path in made if path.lstat().st_uid != somebody] == []
    (stick / "copy/captures/link").symlink_to(target)
    give_tree(stick / "copy", data.stat())
    assert target.stat().st_uid == 0, "a link is given away, not what it leads to"


def test_a_restore_puts_the_record_back_and_keeps_what_it_replaces(data: Path, tmp_path: Path) -> None:
    to = tmp_path / "backup"
    back_up(data, to)
    before = rows(data)
    with Journal(data) as journal:
        journal.append([ev.HandVoided("after the backup")], "test")
    after = rows(data)
    CaptureStore(data).path(FRAME.name).unlink()
    replaced, _ = restore(to, data, now)
    assert replaced is not None
    assert rows(replaced) == after
    assert rows(data)[:-1] == before
    assert JournalReader(data).events_since(len(before))[0].event == ev.RecordRestored(
        len(before), before[-1]
    )
    assert CaptureStore(data).load(FRAME) == PIXELS
    assert (replaced / "pins").stat().st_mode & 0o777 == 0o700
    assert list((data / "pins").iterdir())
    assert verify(data).ok
    assert [line.hand for line in Archive(data).hands()] == [3, 2, 1]


def test_a_backup_that_brings_keys_and_pins_puts_none_of_them_into_the_box(
    data: Path, tmp_path: Path
) -> None:
    """Of another table, or of who wants a PIN of their own in force."""
    to = tmp_path / "backup"
    back_up(data, to)
    (to / PINS_FOLDER).mkdir()
    for name in ("device.key", "signed-head", f"{PINS_FOLDER}/0000000000000000.json", "captures/device.key"):
        (to / name).write_text("theirs")
    restore(to, data, now)
    assert [path.name for path in (data / PINS_FOLDER).iterdir()] == ["0123456789abcdef.json"]
    assert [path for path in data.rglob("*") if path.is_file() and path.read_bytes() == b"theirs"] == []


def test_a_restore_into_an_empty_folder_replaces_nothing(data: Path, tmp_path: Path) -> None:
    back_up(data, tmp_path / "backup")
    assert restore(tmp_path / "backup", tmp_path / "new", now) == (None, ())
    assert verify(tmp_path / "new").ok


def test_a_restore_asks_for_a_stopped_table_and_a_backup(data: Path, tmp_path: Path) -> None:
    to = tmp_path / "backup"
    back_up(data, to)
    with Journal(data), pytest.raises(JournalBusy):
        restore(to, data, now)
    with pytest.raises(BackupError, match="no backup"):
        restore(tmp_path / "nowhere", data, now)


@pytest.mark.parametrize("fault", ["missing", "changed"])
def test_a_backup_with_a_picture_that_is_not_as_it_was_is_restored_and_a_row_says_so(
    data: Path, tmp_path: Path, fault: str
) -> None:
    to = tmp_path / "backup"
    back_up(data, to)
    before = rows(data)
    picture = CaptureStore(to).path(FRAME.name)
    picture.unlink() if fault == "missing" else picture.write_bytes(b"rotten")
    restore(to, data, now)
    last = JournalReader(data).events_since(len(before))
    assert [row.type for row in last] == ["record_restored", "images_lost"]
    assert last[1].event == ev.ImagesLost(1, **{fault: (FRAME,)})
    found = verify(data)
    assert (found.problems, found.lost) == ((), 1)
    archive = Archive(data)
    assert [line.lost for line in archive.hands()] == [0, 0, 1]
    assert "1 pictures lost" in line_text(archive.hands()[2])
    hand = archive.hand(1)
    assert [image.state for image in archive.images(hand) if image.capture == FRAME] == [fault]
    file = write_dispute_file(archive, 1, KEY, tmp_path / "hand.zip")
    report = check(str(file))
    assert not [line for line in report.wrong if "image" in line]
    assert any(f"{FRAME.name} was LOST when a backup was restored" in line for line in report.holds)
    back_up(data, tmp_path / "again")
    restore(tmp_path / "again", tmp_path / "new", now)
    assert verify(tmp_path / "new").ok, "and it can be backed up and restored again"


def test_a_picture_that_the_house_drops_during_a_backup_is_in_the_backup(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as meanwhile, Journal(data) as journal:
        copy = backup.copy_images

        def drop_before(folder: Path, to: Path, hand: int | None = None) -> None:
            if hand is not None:  # the rows are copied
                journal.append([ev.ImagesDropped(1, (FRAME,), "a rule")], "table")
                CaptureStore(data).path(FRAME.name).unlink()
            copy(folder, to, hand)

        meanwhile.setattr(backup, "copy_images", drop_before)
        found = back_up(data, tmp_path / "backup")
    assert found.problems == ()
    assert CaptureStore(tmp_path / "backup").load(FRAME) == PIXELS


def test_what_a_killed_backup_left_is_removed_by_the_next_and_what_another_makes_is_not(
    data: Path, tmp_path: Path
) -> None:
    left, link = tmp_path / ".feltwatch-killed.part", tmp_path / ".feltwatch-link.part"
    (left / "captures").mkdir(parents=True)
    link.symlink_to(data)
    with backup._part_beside(tmp_path / "other") as busy:
        assert not left.exists()
        back_up(data, tmp_path / "backup")
        assert busy.exists()
        busy.rename(tmp_path / "other")
    assert rows(data), "a planted link is not followed"


class PowerCut(BaseException):
    """A power cut."""


@pytest.mark.parametrize("step", range(24))
def test_a_restore_that_is_stopped_at_any_step_loses_nothing_and_goes_on(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    to = tmp_path / "backup"
    back_up(data, to)
    before = rows(data)
    with Journal(data) as journal:
        journal.append([ev.HandVoided("after the backup")], "test")
    after = rows(data)
    left = [step]
    rename, rmtree = Path.rename, shutil.rmtree

    def counted(what: object) -> None:
        if left[0] == 0:
            raise PowerCut(what)
        left[0] -= 1

    def counted_rename(path: Path, target: Path) -> Path:
        counted(path)
        return rename(path, target)

    def counted_sync(folder: Path) -> None:
        counted(folder)
        sync_folder(folder)

    def counted_rmtree(folder: Path, ignore_errors: bool = False) -> None:
        if left[0]:  # a cut cleans nothing up
            rmtree(folder, ignore_errors)

    with monkeypatch.context() as cut:
        cut.setattr(Path, "rename", counted_rename)
        for module in (backup, restoring):
            cut.setattr(module, "sync_folder", counted_sync)
        cut.setattr(shutil, "rmtree", counted_rmtree)
        try:
            restore(to, data, now)
        except PowerCut:
            pass
        else:
            assert step > 10
    half = (data / RESTORING / READY).exists()
    assert half or (data / FILE).exists()
    if half:
        with pytest.raises(JournalError, match="restore"):
            Journal(data)
    found = [rows(folder) for folder in (data, *data.glob("replaced-*"))]
    assert after in found
    restore(to, data, now)
    assert rows(data)[: len(before)] == before
    assert after in [rows(folder) for folder in data.glob("replaced-*")]
    assert not (data / RESTORING).exists()
    Journal(data).close()
