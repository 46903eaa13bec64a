"""The profiles on a USB stick are read by root: plain files of a profile's length at its top, and nothing else."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.stick import command
from firmware.messages import Message
from firmware.record.stick_request import (
    MAX_PROFILES,
    Progress,
    Request,
    StickDesk,
    read_profiles,
    read_progress,
    read_request,
)
from firmware.runtime.sticks.disks import FolderStick, Stick, StickWriteError, find_stick
from firmware.runtime.sticks.profiles import NO_PROFILE, UNREADABLE, fetch
from firmware.runtime.sticks.write import NO_STICK, Teller
from firmware.table.errors import CommandRefused

TEXT = '[profile]\nname = "ours"\n'


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    (tmp_path / "stick").mkdir()
    return tmp_path / "stick"


@pytest.fixture
def progress(tmp_path: Path) -> Path:
    return tmp_path / "progress.json"


def read(stick: Stick | None, progress: Path) -> Progress:
    fetch("abc", lambda: stick, Teller(Request("abc", 0, ""), progress), progress, 0.0)
    told = read_progress(progress)
    assert told is not None
    return told


def why(told: Progress) -> str:
    assert told.step == "failed"
    return str(Message(told.refusal["message"], **told.refusal["args"]))


def test_the_profiles_at_the_top_are_read_by_name(stick: Path, progress: Path) -> None:
    (stick / "ours.toml").write_text(TEXT)
    (stick / "LATE.TOML").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    (stick / "letter.txt").write_text("private")
    (stick / ".hidden.toml").write_text("private")
    (stick / "folder").mkdir()
    (stick / "folder" / "deep.toml").write_text("private")
    assert read(FolderStick(stick), progress).step == "done"
    assert [(one.name, one.text) for one in read_profiles(progress, "abc")] == [
        ("LATE.TOML", TEXT),
        ("ours.toml", TEXT),
    ]
    assert read_profiles(progress, "another") == ()
    assert "private" not in progress.with_name("profiles.json").read_text()
    assert progress.with_name("profiles.json").stat().st_mode & 0o777 == 0o644


def test_nothing_but_plain_files_of_a_profiles_length_is_read_from_a_stick(
    stick: Path, progress: Path
) -> None:
    secret = stick.parent / "shadow"
    secret.write_text("root's")
    (stick / "link.toml").symlink_to(secret)
    (stick / "dir.toml").mkdir()
    os.mkfifo(stick / "pipe.toml")
    (stick / "huge.toml").write_bytes(b"#" * 300_000)
    (stick / "long.toml").write_bytes(b"#" * 100_000)
    (stick / "latin.toml").write_bytes(b"\xe9")
    (stick / "ours.toml").write_text(TEXT)
    assert read(FolderStick(stick), progress).step == "done"
    found = {one.name: one.text for one in read_profiles(progress, "abc")}
    assert found == {"latin.toml": None, "long.toml": None, "ours.toml": TEXT}


def test_a_stick_of_many_files_and_odd_names_gives_as_many_as_the_page_shows(
    stick: Path, progress: Path
) -> None:
    for number in range(MAX_PROFILES + 5):
        (stick / f"{number:03}\x1b[2K{'x' * 100}.toml").write_text(TEXT)
    assert read(FolderStick(stick), progress).step == "done"
    found = read_profiles(progress, "abc")
    assert len(found) == MAX_PROFILES
    assert all(one.name.isprintable() and len(one.name) <= 81 for one in found)


def test_a_stick_without_profiles_no_stick_and_one_that_fails_are_said(stick: Path, progress: Path) -> None:
    assert why(read(FolderStick(stick), progress)) == str(NO_PROFILE)
    assert why(read(None, progress)) == str(NO_STICK)
    assert why(read(FolderStick(stick / "gone"), progress)) == str(UNREADABLE)

    class UnmountableStick:
        def mounted(self, *, write: bool) -> AbstractContextManager[Path]:
            assert not write, "a stick that is read is never written to"
            raise StickWriteError("no file system")

    assert why(read(UnmountableStick(), progress)) == str(UNREADABLE)


def test_a_write_protected_stick_can_be_read(tmp_path: Path) -> None:
    disk = tmp_path / "block" / "sda"
    disk.mkdir(parents=True)
    for name, value in {"removable": "1", "size": "1000", "ro": "1"}.items():
        (disk / name).write_text(value)
    nodes = tmp_path / "dev"
    nodes.mkdir()
    (nodes / "sda").touch()
    assert find_stick(tmp_path / "block", nodes, write=False) is not None
    with pytest.raises(StickWriteError):
        find_stick(tmp_path / "block", nodes)


def test_the_tables_request_is_carried_out_by_the_command(
    stick: Path, tmp_path: Path, progress: Path
) -> None:
    (stick / "ours.toml").write_text(TEXT)
    asked = tmp_path / "request.json"
    job = StickDesk(asked, progress).ask(0)
    request = read_request(asked)
    assert request == Request(job, 0, "")
    result = CliRunner().invoke(
        command,
        ["--request", str(asked), "--progress", str(progress), "--onto", str(stick), "--data", str(tmp_path)],
    )
    assert result.exit_code == 0, result.output
    assert [one.text for one in read_profiles(progress, job)] == [TEXT]
    assert not asked.exists()
    assert [path.name for path in stick.iterdir()] == ["ours.toml"], "nothing is written to it"


def test_a_second_request_waits_for_the_first(tmp_path: Path, progress: Path) -> None:
    desk = StickDesk(tmp_path / "request.json", progress)
    Progress("abc", 0, "waiting").write(progress)
    with pytest.raises(CommandRefused, match="already"):
        desk.need_free()


def test_a_request_of_a_hand_below_none_is_no_request(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"id": "abc", "hand": -1, "table": ""}))
    assert read_request(path) is None
