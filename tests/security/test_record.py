"""Attacks by what is brought in from outside: backups, dispute files, profiles, pictures."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import struct
import threading
import zipfile
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import cv2
import pytest

from firmware.record import backup
from firmware.record import restore as restoring
from firmware.record.backup import BackupError, back_up
from firmware.record.evidence import dispute_verifier
from firmware.record.evidence.dispute_verifier import CannotCheck, unpack
from firmware.record.evidence.verify import verify
from firmware.record.journal import captures
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.clocks import now
from firmware.record.journal.journal import FILE, Journal
from firmware.record.restore import restore
from firmware.rules import ProfileError, load_profile, parse_profile, profile_toml
from firmware.table import events as ev
from firmware.table.errors import JournalError, RowChanged
from tests.campaigns.security.attack_campaign import on_the_file
from tests.firmware.conftest import FRAME, PIXELS
from tests.firmware.record.test_dispute_file import record
from tests.security.pictures import png_that_says
from tests.waiting import DEADLINE
from vision.base import pictures
from vision.base.errors import PictureError, VisionFileError
from vision.base.pictures import load_picture


@pytest.fixture(scope="module")
def stick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup, as it comes on a stick."""
    data = record(tmp_path_factory.mktemp("kept") / "data")
    to = data.parent / "backup"
    back_up(data, to)
    return to


@pytest.fixture
def hostile(stick: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stick, tmp_path / "stick"))


def followed(backed_up: Path, name: Path | str) -> bytes:
    """Read a file of a backup as it is read by who trusts it."""
    path = name if isinstance(name, Path) else next(backed_up.rglob(name))
    return path.read_bytes()


def test_a_link_in_a_backup_reads_no_file_of_the_box_into_the_record(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root restores: a link to a key would lay that key where the page may read it."""
    secret = tmp_path / "device.key"
    secret.write_text("the box's own")
    (hostile / "captures" / "000003").mkdir()
    (hostile / "captures/000003/frame.jpg").symlink_to(secret)
    data = tmp_path / "box"
    with pytest.raises(BackupError, match="no plain file"):
        restore(hostile, data, now)
    assert list(data.rglob("*.jpg")) == []
    monkeypatch.setattr(backup, "read_plain", lambda name, *_: followed(hostile, name))
    restore(hostile, data, now)
    assert (data / "captures/000003/frame.jpg").read_text() == "the box's own"


@pytest.mark.parametrize("name", ["captures", "journal.sqlite"])
def test_a_backup_that_is_itself_a_link_is_refused(
    hostile: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hostile / name).rename(tmp_path / "elsewhere")
    (hostile / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BackupError, match="no plain file"):
        restore(hostile, tmp_path / "box", now)
    monkeypatch.setattr(restoring, "_need_plain", lambda *_, **__: None)
    with pytest.raises(JournalError, match="is a link"):
        restore(hostile, tmp_path / "box", now)
    assert not (tmp_path / "box" / name).exists()


def test_a_device_in_a_backup_does_not_hold_the_restore_up(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe to which nobody writes: anyone who reads it waits for ever."""
    (hostile / "captures/000003").mkdir()
    pipe = hostile / "captures/000003/frame.jpg"
    os.mkfifo(pipe)
    with pytest.raises(BackupError, match="no plain file"):
        restore(hostile, tmp_path / "box", now)
    reads = threading.Event()

    def trusting(name: Path | str, *_: object) -> bytes:
        if name == pipe.name:
            reads.set()
        return followed(hostile, name)

    monkeypatch.setattr(backup, "read_plain", trusting)
    held_up = threading.Thread(target=restore, args=(hostile, tmp_path / "box", now))
    held_up.start()
    assert reads.wait(DEADLINE)
    held_up.join(0.5)
    assert held_up.is_alive()
    with pipe.open("wb"):
        pass  # somebody writes, and it goes on
    held_up.join(DEADLINE)
    assert not held_up.is_alive()


def test_a_link_in_the_data_folder_is_no_capture(
    stick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Path(shutil.copytree(stick, tmp_path / "data"))
    picture = data / "captures" / FRAME.name
    picture.rename(tmp_path / "elsewhere.jpg")
    picture.symlink_to(tmp_path / "elsewhere.jpg")
    assert CaptureStore(data).check(FRAME) == "missing"
    store = CaptureStore(data)
    monkeypatch.setattr("os.path.realpath", lambda path: str(path))
    store._real = str(store.folder)
    assert store.check(FRAME) == "missing", "who opens it follows no link either"
    monkeypatch.setattr(captures, "read_plain", lambda path, _: path.read_bytes())
    assert store.check(FRAME) == "ok"


def test_a_record_that_names_a_file_elsewhere_does_not_have_it_read(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anyone who makes a record names in it what they like: a file of the box, a device without end."""
    (tmp_path / "elsewhere.jpg").write_bytes(PIXELS)
    named = [str(tmp_path / "elsewhere.jpg"), "../../elsewhere.jpg"]
    with Journal(hostile) as journal:
        for name in named:
            journal.append([ev.ReadingTaken((), replace(FRAME, name=name))], "camera")
    said = [problem.what for problem in verify(hostile, replayed=False).problems]
    assert [any(name in str(what) and "missing" in str(what) for what in said) for name in named] == [
        True,
        True,
    ], said
    monkeypatch.setattr(captures, "_NAME", re.compile(".*"))
    monkeypatch.setattr("os.path.realpath", os.path.join)
    assert verify(hostile, replayed=False).ok, "taken for a picture of this record"


def as_made_by(stick: Path, *statements: str) -> None:
    """Change what a stick's journal holds apart from its rows, its own guards with it."""
    with closing(sqlite3.connect(stick / FILE)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def bent_rows(data: Path) -> int:
    with closing(sqlite3.connect(data / FILE)) as db:
        return int(db.execute("SELECT count(*) FROM journal WHERE actor = 'x'").fetchone()[0])


VIEW = ("ALTER TABLE journal RENAME TO rows", "CREATE VIEW journal AS SELECT * FROM rows")
"""One that counts for ever is made as easily: anyone who reads it never comes back."""
TRIGGER = (
    "DROP TRIGGER journal_no_update",
    "CREATE TRIGGER bent AFTER INSERT ON journal BEGIN UPDATE journal SET actor = 'x' WHERE seq = NEW.seq; END",
)


def test_a_view_in_the_journals_place_is_not_read(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_made_by(hostile, *VIEW)
    for read in (lambda: verify(hostile, replayed=False), lambda: restore(hostile, tmp_path / "box", now)):
        with pytest.raises(JournalError, match="holds a view"):
            read()
    assert not (tmp_path / "box" / FILE).exists()
    monkeypatch.setattr("firmware.record.journal.file._need_no_view", lambda *_: None)
    monkeypatch.setattr("firmware.record.evidence.verify.strangers", lambda _: [])
    assert verify(hostile, replayed=False).ok, "read to its end, where it has one"


def test_a_journal_on_a_stick_whose_triggers_bend_later_rows_is_not_restored(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_made_by(hostile, *TRIGGER)
    said = " ".join(str(problem.what) for problem in verify(hostile, replayed=False).problems)
    assert "lacks journal_no_update as Feltwatch makes it" in said
    assert "holds the trigger bent, which Feltwatch did not make" in said
    with pytest.raises(BackupError, match="does not hold, and nothing was replaced"):
        restore(hostile, tmp_path / "box", now)
    assert not (tmp_path / "box" / FILE).exists()
    monkeypatch.setattr("firmware.record.evidence.verify.strangers", lambda _: [])
    restore(hostile, tmp_path / "box", now)
    assert bent_rows(tmp_path / "box") == 0, "rows were put into a file of our own"
    put_in_place(monkeypatch)
    with pytest.raises(RowChanged):  # the first row after it
        restore(hostile, tmp_path / "other", now)
    assert bent_rows(tmp_path / "other") > 0


def put_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a restore take the stick's own file."""
    monkeypatch.setattr(restoring, "_insert", on_the_file.put_in_place)
    monkeypatch.setattr("firmware.record.evidence.verify.compare", lambda *_: None)
    monkeypatch.setattr("firmware.record.journal.journal.strangers", lambda _: [])


def test_a_journal_that_says_it_is_of_a_later_release_is_not_restored(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else its triggers would be judged by nobody: this release does not know what the later one makes."""
    as_made_by(hostile, *TRIGGER, "PRAGMA user_version = 99")
    with pytest.raises(JournalError, match="later release"):
        restore(hostile, tmp_path / "box", now)
    monkeypatch.setattr("firmware.record.journal.schema._unknown", lambda _: "")
    monkeypatch.setattr("firmware.record.evidence.verify.strangers", lambda _: [])
    put_in_place(monkeypatch)
    with pytest.raises(RowChanged):  # the row after it
        restore(hostile, tmp_path / "box", now)
    assert bent_rows(tmp_path / "box") > 0


def test_a_pipe_in_the_place_of_a_picture_holds_nobody_up(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a capture of a record that is looked through where it lies, of a picture to read."""
    (hostile / "captures" / FRAME.name).unlink()
    os.mkfifo(hostile / "captures" / FRAME.name)
    os.mkfifo(tmp_path / "felt.jpg")
    opened: list[Path] = []

    def read(path: Path) -> bytes:
        opened.append(path)
        return b""

    monkeypatch.setattr(Path, "read_bytes", read)
    assert CaptureStore(hostile).check(FRAME) == "missing"
    with pytest.raises(VisionFileError, match="no plain file"):
        load_picture(tmp_path / "felt.jpg")
    assert opened == []
    monkeypatch.setattr("stat.S_ISREG", lambda _: True)
    monkeypatch.setattr(captures, "read_plain", lambda path, _: path.read_bytes())
    assert CaptureStore(hostile).check(FRAME) == "changed"
    with pytest.raises(PictureError, match="not a picture"):
        load_picture(tmp_path / "felt.jpg")
    assert len(opened) == 2, "without the look at what it is it is opened, and waited for"


def test_a_pipe_in_the_place_of_a_dispute_file_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "hand.zip")
    opened: list[str] = []

    def read(path: str) -> None:
        opened.append(path)
        raise zipfile.BadZipFile

    monkeypatch.setattr(zipfile, "ZipFile", read)
    with pytest.raises(CannotCheck, match="no plain file"):
        unpack(str(tmp_path / "hand.zip"))
    assert opened == []
    monkeypatch.setattr("stat.S_ISREG", lambda _: True)
    with pytest.raises(CannotCheck, match="no whole ZIP"):
        unpack(str(tmp_path / "hand.zip"))
    assert len(opened) == 1


def test_a_file_of_gigabytes_is_not_read_as_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "felt.bmp").open("wb") as file:
        file.truncate(4 << 30)  # a hole: it takes no room on the disk
    with pytest.raises(PictureError, match="4295 MB"):
        load_picture(tmp_path / "felt.bmp")
    monkeypatch.setattr(pictures, "MAX_BYTES", 1 << 40)
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"all of it")
    with pytest.raises(PictureError, match="not a picture"):
        load_picture(tmp_path / "felt.bmp")


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = tmp_path / "hand.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("manifest.json", bytes(4_000_000))
    monkeypatch.setattr(dispute_verifier, "MAX_BYTES", 1_000_000)
    with pytest.raises(CannotCheck, match="more than any dispute file"):
        unpack(str(bomb))
    monkeypatch.setattr(dispute_verifier, "MAX_BYTES", 1 << 40)
    assert len(unpack(str(bomb))["manifest.json"]) == 4_000_000


def test_a_zip_bomb_that_lies_about_its_size_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = tmp_path / "hand.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("manifest.json", bytes(4_000_000))
    raw = bomb.read_bytes()
    bomb.write_bytes(raw.replace(struct.pack("<I", 4_000_000), struct.pack("<I", 10)))
    monkeypatch.setattr(dispute_verifier, "MAX_BYTES", 1_000_000)
    with pytest.raises(CannotCheck):
        unpack(str(bomb))
    data = bomb.read_bytes()
    begins = 30 + len("manifest.json")
    naive = zlib.decompressobj(-15).decompress(data[begins:])
    assert len(naive) == 4_000_000, (
        "anyone who unpacks what is there, and not what it says, unpacks all of it"
    )


def test_a_profile_that_was_sent_reads_no_file_of_the_box(tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text(profile_toml(load_profile("traditional")))
    text = f'[profile]\nname = "house"\nextends = "{tmp_path}/secret.toml"\n'
    with pytest.raises(ProfileError, match="only a packaged profile"):
        parse_profile(text)
    (tmp_path / "house.toml").write_text(text)
    assert load_profile(tmp_path / "house.toml").name == "house", "what reads files for the console does"


def test_a_profile_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '[profile]\nname = "house"\nextends = "traditional"\n' + "#" * 100_000
    with pytest.raises(ProfileError, match="too long"):
        parse_profile(text)
    monkeypatch.setattr("firmware.rules.profiles.toml_text.LONGEST_TEXT", 1 << 30)
    assert parse_profile(text).name == "house"


def test_a_picture_that_says_gigabytes_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = tmp_path / "felt.png"
    bomb.write_bytes(png_that_says(30_000, 30_000))
    reached: list[int] = []

    def decode(*_: object) -> None:
        reached.append(1)

    monkeypatch.setattr(cv2, "imdecode", decode)
    with pytest.raises(PictureError, match="megapixels"):
        load_picture(bomb)
    assert not reached
    monkeypatch.setattr(pictures, "_pixels", lambda _: 1)
    with pytest.raises(PictureError, match="not a picture"):
        load_picture(bomb)
    assert reached, "without the look at its size it is handed to be unpacked"


@pytest.mark.parametrize(
    ("at", "odd"),
    [(29, bytes(4)), (33, b"\xf8\x00\x03\x9b")],
    ids=["a head whose checksum does not hold", "a part that says four gigabytes"],
)
def test_a_damaged_picture_that_asks_for_gigabytes_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, odd: bytes
) -> None:
    """What fuzzing found: OpenCV makes room for what such a file says, before it looks whether it is there."""
    bomb = tmp_path / "felt.png"
    whole = png_that_says(320, 240)
    bomb.write_bytes(whole[:at] + odd + whole[at + 4 :])
    reached: list[int] = []
    monkeypatch.setattr(cv2, "imdecode", lambda *_: reached.append(1))
    with pytest.raises(PictureError, match="not a picture"):
        load_picture(bomb)
    assert not reached
    monkeypatch.setattr(pictures, "_pixels", lambda _: 1)
    with pytest.raises(PictureError):
        load_picture(bomb)
    assert reached, "without the look at it beforehand it is handed to be unpacked"
