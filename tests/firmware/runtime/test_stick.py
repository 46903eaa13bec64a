"""A dispute file goes on a USB stick: onto a real file system of a loop device, or a folder in the place of a stick."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firmware.cli.stick import command
from firmware.messages import Message
from firmware.record.dispute_file import export_path
from firmware.record.stick_request import (
    MAX_BYTES,
    SILENT_S,
    Progress,
    Request,
    StickDesk,
    read_progress,
    read_request,
)
from firmware.runtime.sticks import write as program
from firmware.runtime.sticks.disks import (
    GONE,
    NO_FORMAT,
    PROTECTED,
    SEVERAL,
    BlockStick,
    FolderStick,
    Stick,
    StickWriteError,
    find_stick,
)
from firmware.runtime.sticks.write import NAMES, NO_FILE, NO_STICK, UNLIKE, Teller, put
from firmware.table.errors import CommandRefused

REQUEST = Request("abc", 12, "Pit 4")
NAME = "feltwatch-Pit-4-hand-12.zip"
FILE = bytes(range(256)) * 5000


@dataclass
class Box:
    """A box with a dispute file of hand 12."""

    data: Path
    progress: Path

    @property
    def told(self) -> Progress:
        told = read_progress(self.progress)
        assert told is not None
        return told

    def put(self, stick: Stick | None, wait_s: float = 0.0) -> Progress:
        put(REQUEST, self.data, lambda: stick, Teller(REQUEST, self.progress, lambda: 0.0), wait_s)
        return self.told


@pytest.fixture
def box(tmp_path: Path) -> Box:
    file = export_path(tmp_path / "data", 12)
    file.parent.mkdir(parents=True)
    file.write_bytes(FILE)
    return Box(tmp_path / "data", tmp_path / "progress.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "stick"
    folder.mkdir()
    return folder


def why(told: Progress) -> str:
    assert told.step == "failed"
    return str(Message(told.refusal["message"], **told.refusal["args"]))


# ---- a folder in the place of a stick ----


def test_the_file_lies_there_under_a_name_of_ours_and_the_table_and_hand_are_in_it(
    box: Box, folder: Path
) -> None:
    told = box.put(FolderStick(folder))
    assert (told.step, told.name, told.at, told.of) == ("done", NAME, len(FILE), len(FILE))
    assert [path.name for path in folder.iterdir()] == [NAME]
    assert (folder / NAME).read_bytes() == FILE


def test_a_file_that_lies_there_is_never_replaced(box: Box, folder: Path) -> None:
    (folder / NAME).write_text("somebody's")
    assert box.put(FolderStick(folder)).name == "feltwatch-Pit-4-hand-12-2.zip"
    assert (folder / NAME).read_text() == "somebody's"


def test_what_lies_under_our_name_is_neither_followed_nor_waited_for(box: Box, folder: Path) -> None:
    outside = folder.parent / "outside"
    (folder / NAME).symlink_to(outside)
    (folder / "feltwatch-Pit-4-hand-12-2.zip").mkdir()
    os.mkfifo(folder / "feltwatch-Pit-4-hand-12-3.zip")
    assert box.put(FolderStick(folder)).name == "feltwatch-Pit-4-hand-12-4.zip"
    assert not outside.exists()


def test_a_stick_on_which_all_names_are_taken_is_refused(box: Box, folder: Path) -> None:
    for number in range(1, program.MAX_NAMES + 1):
        (folder / program.stick_name(REQUEST, number)).touch()
    assert why(box.put(FolderStick(folder))) == str(NAMES)


def test_what_a_table_is_called_cannot_lead_out_of_the_stick() -> None:
    for table in ("../../etc/passwd", "/", "..", "a\0b", "\n", "CON:", "-", "é" * 100, "x" * 100):
        name = program.stick_name(Request("", 7, table), 3)
        assert name.startswith("feltwatch-")
        assert name.endswith("hand-7-3.zip")
        assert not set(name) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.")
        assert len(name) < 60


def test_without_a_stick_it_waits_says_so_and_gives_up(box: Box) -> None:
    seen = []

    def find() -> None:
        seen.append(box.told.step if box.progress.exists() else "")

    put(REQUEST, box.data, find, Teller(REQUEST, box.progress), 0.1)
    assert seen == ["", "waiting"]
    assert why(box.told) == str(NO_STICK)


def broken(error: int) -> Callable[..., int]:
    def fail(*_: Any) -> int:
        raise OSError(error, os.strerror(error))

    return fail


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (errno.EIO, str(GONE)),
        (errno.ENODEV, str(GONE)),
        (errno.ENOSPC, "The stick is full. Use another stick."),
        (errno.EROFS, str(PROTECTED)),
        (errno.EPERM, "The stick cannot be written: Operation not permitted."),
    ],
)
def test_a_stick_that_fails_while_it_is_written_is_told_and_nothing_is_left_on_it(
    box: Box, folder: Path, monkeypatch: pytest.MonkeyPatch, error: int, said: str
) -> None:
    monkeypatch.setattr(os, "fsync", broken(error))
    assert why(box.put(FolderStick(folder))) == said
    assert list(folder.iterdir()) == []


def test_a_stick_that_does_not_hold_what_was_written_is_found_out(
    box: Box, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda to, piece: real(to, b"\0" * len(piece)))
    assert why(box.put(FolderStick(folder))) == str(UNLIKE)


def test_a_stick_that_is_taken_out_before_it_was_read_back_is_told(box: Box, folder: Path) -> None:
    class PulledStick(FolderStick):
        def mounted(self, *, write: bool) -> Any:
            if not write:
                raise StickWriteError(GONE)
            return super().mounted(write=write)

    assert why(box.put(PulledStick(folder))) == str(GONE)


def test_an_error_of_ours_is_told_too(box: Box, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_new_file", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        box.put(FolderStick(folder))
    assert "error of ours" in why(box.told)


@pytest.mark.parametrize("what", ["nothing", "link", "folder is a link", "pipe", "folder"])
def test_nothing_but_the_tables_own_file_is_copied(box: Box, folder: Path, what: str) -> None:
    secret = folder.parent / "secret"
    secret.mkdir()
    (secret / "hand-000012.zip").write_text("somebody's")
    file = export_path(box.data, 12)
    file.unlink()
    match what:
        case "link":
            file.symlink_to(secret / "hand-000012.zip")
        case "folder is a link":
            file.parent.rmdir()
            file.parent.symlink_to(secret)
        case "pipe":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
    assert why(box.put(FolderStick(folder))) == str(NO_FILE)
    assert list(folder.iterdir()) == []


# ---- a real file system ----


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Makes loop devices of 8 MB with a file system."""
    made: list[Path] = []

    def make(kind: str = "ext4", read_only: bool = False) -> Path:
        if os.geteuid() != 0:
            pytest.skip("only root can mount a stick")
        if shutil.which(f"mkfs.{kind}") is None or not kernel_has(kind):
            pytest.skip(f"this machine knows no {kind}")
        image = tmp_path / f"{kind}{len(made)}.img"
        image.write_bytes(b"")
        os.truncate(image, 8 << 20)
        subprocess.run([f"mkfs.{kind}", str(image)], check=True, capture_output=True)
        loop = ["losetup", *(["--read-only"] if read_only else []), "--find", "--show", str(image)]
        done = subprocess.run(loop, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no loop device can be had here: {done.stderr.strip()}")
        made.append(Path(done.stdout.strip()))
        return made[-1]

    yield make
    for device in made:
        subprocess.run(["losetup", "--detach", str(device)], check=True)


def kernel_has(kind: str) -> bool:
    return kind in Path("/proc/filesystems").read_text().split()


def mounted_at(device: Path) -> bool:
    return f"{device} " in Path("/proc/self/mounts").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ext4", "vfat", "exfat"])
def test_a_stick_is_mounted_for_that_alone_and_holds_the_file_afterwards(
    box: Box, disk: Callable[..., Path], kind: str
) -> None:
    device = disk(kind)
    stick = BlockStick((device,))
    options = []
    with stick.mounted(write=True):
        options = next(
            line.split()[3].split(",")
            for line in Path("/proc/self/mounts").read_text().splitlines()
            if line.startswith(f"{device} ")
        )
    assert {"rw", "nosuid", "nodev", "noexec", "nosymfollow"} <= set(options)
    assert box.put(stick).step == "done"
    assert not mounted_at(device)
    with stick.mounted(write=False) as folder:
        assert hashlib.sha256((folder / NAME).read_bytes()).digest() == hashlib.sha256(FILE).digest()
    assert not mounted_at(device)


@pytest.mark.slow
def test_a_stick_that_is_full_is_told_with_figures(box: Box, disk: Callable[..., Path]) -> None:
    stick = BlockStick((disk(),))
    export_path(box.data, 12).write_bytes(bytes(9_000_000))
    said = why(box.put(stick))
    assert "MB are free, 11 MB are needed" in said
    assert said.startswith("The stick is full: ")
    with stick.mounted(write=False) as folder:
        assert not (folder / NAME).exists()


@pytest.mark.slow
def test_a_write_protected_stick_is_told(box: Box, disk: Callable[..., Path]) -> None:
    assert why(box.put(BlockStick((disk(read_only=True),)))) == str(PROTECTED)


@pytest.mark.slow
def test_what_holds_no_file_system_of_ours_is_told(box: Box, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a stick")
    image = tmp_path / "noise.img"
    image.write_bytes(bytes(1 << 20))
    assert why(box.put(BlockStick((image,)))) == str(NO_FORMAT)


@pytest.mark.slow
def test_the_first_partition_that_can_be_written_is_taken(
    box: Box, disk: Callable[..., Path], tmp_path: Path
) -> None:
    none = tmp_path / "none.img"
    none.write_bytes(bytes(1 << 20))
    assert box.put(BlockStick((none, disk()))).step == "done"


# ---- which disk is a stick ----


@dataclass
class Disks:
    """`/sys/block` and `/dev` as they would be, of files."""

    top: Path

    def add(self, name: str, where: str = "usb1/1-1", parts: int = 0, **says: str) -> None:
        real = self.top / "devices" / where / name
        real.mkdir(parents=True)
        for what, said in ({"removable": "0", "size": "15728640", "ro": "0"} | says).items():
            (real / what).write_text(f"{said}\n")
        for number in range(1, parts + 1):
            (real / f"{name}{number}").mkdir()
            (real / f"{name}{number}/partition").write_text(f"{number}\n")
        for folder in ("block", "dev"):
            (self.top / folder).mkdir(exist_ok=True)
        (self.top / "block" / name).symlink_to(real)
        (self.top / "dev" / name).touch()

    def found(self) -> list[str]:
        stick = find_stick(self.top / "block", self.top / "dev")
        return [node.name for node in stick.nodes] if stick else []


@pytest.fixture
def disks(tmp_path: Path) -> Disks:
    return Disks(tmp_path / "sys")


def test_a_disk_on_usb_is_a_stick_and_the_boxs_own_is_none(disks: Disks) -> None:
    disks.add("sda", "pci0/ata1")
    disks.add("mmcblk0", "platform/mmc")
    disks.add("sdb", removable="1", size="0")
    assert disks.found() == [], "a card reader without a card is none either"
    disks.add("sdc", parts=2)
    assert disks.found() == ["sdc1", "sdc2"]


def test_a_stick_without_partitions_is_one_file_system(disks: Disks) -> None:
    disks.add("sda", "pci0/ata1", removable="1")
    assert disks.found() == ["sda"]


def test_of_two_sticks_none_is_chosen(disks: Disks) -> None:
    disks.add("sda")
    disks.add("sdb")
    with pytest.raises(StickWriteError) as refused:
        disks.found()
    assert refused.value.sentence is SEVERAL


def test_a_switch_on_the_stick_is_told_before_anything_is_mounted(disks: Disks) -> None:
    disks.add("sda", ro="1")
    with pytest.raises(StickWriteError) as refused:
        disks.found()
    assert refused.value.sentence is PROTECTED


def test_a_disk_that_is_in_use_is_no_stick_the_box_may_run_from_it(
    disks: Disks, monkeypatch: pytest.MonkeyPatch
) -> None:
    disks.add("sda")
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", broken(errno.EBUSY))
        assert disks.found() == []
    assert disks.found() == ["sda"]


@pytest.mark.slow
def test_the_kernel_says_of_a_mounted_disk_that_it_is_in_use(disk: Callable[..., Path]) -> None:
    device = disk()
    with BlockStick((device,)).mounted(write=True), pytest.raises(OSError, match="busy") as refused:
        os.open(device, os.O_RDONLY | os.O_EXCL)
    assert refused.value.errno == errno.EBUSY
    os.close(os.open(device, os.O_RDONLY | os.O_EXCL))


# ---- what is asked, and how far it is ----


def test_what_the_table_asks_for_is_done_by_the_command_and_taken_away(
    box: Box, folder: Path, tmp_path: Path
) -> None:
    asked = tmp_path / "stick.json"
    desk = StickDesk(asked, box.progress)
    name = desk.ask(12, "Pit 4")
    arguments = ["--data", str(box.data), "--request", str(asked), "--progress", str(box.progress)]
    done = CliRunner().invoke(command, [*arguments, "--onto", str(folder)])
    assert done.exit_code == 0, done.output
    assert not asked.exists()
    assert (box.told.id, box.told.hand, box.told.step) == (name, 12, "done")
    assert (folder / NAME).read_bytes() == FILE
    assert box.progress.stat().st_mode & 0o777 == 0o644, "the page is another user"
    again = CliRunner().invoke(command, arguments)
    assert (again.exit_code, "Nothing is asked for" in again.output) == (2, True)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"nonsense",
        b"[]",
        b'{"id": "a", "hand": "../../etc", "table": ""}',
        b'{"id": "a", "hand": -1, "table": ""}',
        b'{"id": "a", "hand": true, "table": ""}',
        b'{"id": 3, "hand": 1, "table": ""}',
        b"[" * 4000,
        b" " * (MAX_BYTES + 1),
        b"\xff\xfe",
    ],
)
def test_a_request_that_the_table_does_not_write_is_taken_away_and_refused(
    text: bytes, box: Box, tmp_path: Path
) -> None:
    asked = tmp_path / "stick.json"
    asked.write_bytes(text)
    assert read_request(asked) is None
    said = CliRunner().invoke(command, ["--data", str(box.data), "--request", str(asked)])
    assert said.exit_code == 2
    assert "no request that a table writes" in said.output
    assert not asked.exists(), "the service manager would begin it for ever"


def test_a_link_or_a_pipe_in_the_requests_place_is_not_read(tmp_path: Path) -> None:
    asked = tmp_path / "stick.json"
    real = tmp_path / "real.json"
    StickDesk(real).ask(1, "")
    asked.symlink_to(real)
    assert read_request(asked) is None
    asked.unlink()
    os.mkfifo(asked)
    assert read_request(asked) is None


def test_only_one_file_is_put_on_a_stick_at_a_time(tmp_path: Path) -> None:
    desk = StickDesk(tmp_path / "stick.json", tmp_path / "progress.json")
    desk.need_free()
    going = Progress("a", 1, "copying")
    going.write(tmp_path / "progress.json")
    with pytest.raises(CommandRefused, match="already"):
        desk.need_free()
    Progress("a", 1, "done").write(tmp_path / "progress.json")
    desk.need_free()
    assert not Progress("a", 1, "copying", beat_s=time.monotonic() - SILENT_S - 1).goes_on(time.monotonic())


@pytest.mark.parametrize(
    "text", ["", "{}", '{"id": 1, "hand": 1}', '{"id": "a", "hand": 1, "step": "x"}', '{"id": "a", "odd": 1}']
)
def test_what_nobody_of_ours_told_is_no_progress(tmp_path: Path, text: str) -> None:
    (tmp_path / "progress.json").write_text(text)
    assert read_progress(tmp_path / "progress.json") is None


def test_a_box_that_cannot_ask_says_so(tmp_path: Path) -> None:
    with pytest.raises(CommandRefused, match="cannot ask for a stick"):
        StickDesk(tmp_path / "no/stick.json").ask(1, "")
