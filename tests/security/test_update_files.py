"""Attacks by an update's files: without end, pipes, links, a full disk, an archive that writes elsewhere."""

from __future__ import annotations

import os
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tuf.ngclient import UpdaterConfig

from firmware.update import files, install, metadata, trust
from firmware.update.files import copy_plain
from firmware.update.release import MAKER, TARGETS, sign_release
from tests.firmware.update.rig import HERE, LATER, NEW, NOW, OLD, Box, Maker, pack, signed_with
from tests.waiting import until

DAY: Final = 86_400
REPOSITORY: Final = Path(__file__).parents[2]
SMALL_DISK: Final = 200_000_000


@pytest.mark.parametrize(
    ("name", "limit"),
    [("timestamp.json", "timestamp"), ("snapshot.json", "snapshot"), ("targets.json", "targets")],
)
def test_metadata_longer_than_any_is_refused_although_its_signature_is_right(
    box: Box, new: Path, name: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spaces are not signed: without a limit it would be read to its end, which may be none."""
    path = new / MAKER / name
    most = getattr(UpdaterConfig(), f"{limit}_max_length")
    path.write_bytes(path.read_bytes() + b" " * most)
    box.refuses(new, "It was not signed by the maker")
    monkeypatch.setattr(
        metadata, "UpdaterConfig", lambda **_: UpdaterConfig(**{f"{limit}_max_length": 3 * most})
    )
    box.takes(new, NEW)


def test_metadata_without_end_is_not_read_to_its_end(box: Box, new: Path) -> None:
    with (new / MAKER / "timestamp.json").open("r+b") as file:
        file.truncate(1 << 40)
    box.refuses(new, "It was not signed by the maker")


def test_no_byte_more_than_was_signed_is_copied(
    box: Box, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = new / TARGETS / f"{NEW}.tar.gz"
    size = archive.stat().st_size
    copied = []

    def copy(source: Path, to: Path, most: int) -> str:
        digest = copy_plain(source, to, most)
        copied.append(to.stat().st_size)
        return digest

    monkeypatch.setattr(install, "copy_plain", copy)
    with archive.open("r+b") as file:
        file.truncate(1 << 40)
    box.refuses(new, "is missing, or not what the maker signed")
    assert copied == [size + 1]
    with archive.open("r+b") as file:
        file.truncate(5_000_000)
    monkeypatch.setattr(files, "_pieces", lambda file, _size: iter([file.read()]))
    box.refuses(new, "is missing, or not what the maker signed")
    assert copied[1:] == [5_000_000], "without the limit"


@pytest.mark.parametrize(
    "where", [f"{TARGETS}/{NEW}.tar.gz", f"{MAKER}/timestamp.json", f"{MAKER}/2.root.json"]
)
def test_a_pipe_holds_nobody_up(box: Box, new: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = new / where
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    done = box.update(new)
    assert (done.exit_code, "is no plain file" in done.stderr) == (1, True), done.output
    assert box.ran() == set()
    for module in (files, trust):
        monkeypatch.setattr(module, "open_plain", lambda path: path.open("rb"), raising=False)
    waits = threading.Thread(target=box.update, args=(new,), daemon=True)
    waits.start()
    until(lambda: _somebody_reads(pipe))  # root's program waits
    pipe.unlink()
    waits.join()


def _somebody_reads(pipe: Path) -> bool:
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def test_a_pipe_that_takes_the_archives_place_between_check_and_copy_holds_nobody_up(
    box: Box, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = new / TARGETS / f"{NEW}.tar.gz"

    def swapped(base: Path, one: install.Release) -> None:
        archive.unlink()
        os.mkfifo(archive)

    monkeypatch.setattr(install, "check_room", swapped)
    done = box.update(new)
    assert (done.exit_code, "is no plain file" in done.stderr) == (1, True), done.output


def test_what_changes_after_it_was_copied_changes_nothing(
    box: Box, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = new / TARGETS / f"{NEW}.tar.gz"

    def copy(source: Path, to: Path, size: int) -> str:
        digest = copy_plain(source, to, size)
        pack(archive, NEW, 'touch "$(dirname "$0")/../../ran-evil"')
        return digest

    monkeypatch.setattr(install, "copy_plain", copy)
    box.takes(new, NEW)
    assert "evil" not in box.ran()


def test_a_link_to_what_only_root_may_read_is_not_followed(box: Box, new: Path, tmp_path: Path) -> None:
    archive = new / TARGETS / f"{NEW}.tar.gz"
    archive.rename(tmp_path / "elsewhere")
    archive.symlink_to(tmp_path / "elsewhere")
    done = box.update(new)
    assert (done.exit_code, box.ran()) == (1, set()), done.output


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 200 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def free(disk: Path) -> int:
    left = os.statvfs(disk)
    return left.f_bavail * left.f_frsize


def test_a_disk_without_room_is_left_as_it_is(
    tmp_path: Path, small: Path, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Little to copy, 300 MB when unpacked: the maker says so, and signs it."""
    archive = pack(tmp_path / f"{NEW}.tar.gz", NEW, more={"zeros": bytes(300_000_000)})
    assert archive.stat().st_size < 2_000_000
    sign_release(archive, tmp_path / "it", maker.key_folder, made=NOW, machine=HERE)
    box = Box(small / "box", maker.root)
    before, least = free(small), [SMALL_DISK]
    box.refuses(tmp_path / "it", "Make room first. Nothing was changed.")
    assert before - free(small) < 200_000, "its metadata alone was kept"

    def unpack(path: Path, one: install.Release) -> Path:
        try:
            return real(path, one)
        finally:
            least.append(free(small))

    real = install.unpack
    monkeypatch.setattr(install, "unpack", unpack)
    monkeypatch.setattr(install, "check_room", lambda *_: None)
    box.refuses(tmp_path / "it", "cannot be unpacked")
    assert min(least) < 1_000_000, "the disk was full"


def test_nothing_that_the_maker_did_not_sign_is_unpacked(
    tmp_path: Path, small: Path, maker: Maker, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the review did: signed words first, then zeros without end."""
    archive = pack(new / TARGETS / f"{NEW}.tar.gz", NEW, more={"zeros": bytes(300_000_000)})
    assert archive.stat().st_size < 2_000_000
    box = Box(small / "box", maker.root)
    monkeypatch.setattr(install, "ROOM", 0)
    unpacked: list[object] = []
    monkeypatch.setattr(install, "unpack", lambda *given: unpacked.append(given))
    box.refuses(new, "is missing, or not what the maker signed")
    assert unpacked == []


def test_an_archive_that_holds_another_release_than_was_named_is_refused(
    box: Box, maker: Maker, tmp_path: Path
) -> None:
    it = signed_with(maker, tmp_path / "it", pack(tmp_path / "it.tar.gz", OLD), LATER)
    box.refuses(it, f"it.tar.gz does not hold release {LATER}")
    box.takes(signed_with(maker, tmp_path / "it", tmp_path / "it.tar.gz", OLD), OLD)


@pytest.mark.skipif(not hasattr(tarfile, "data_filter"), reason="this Python's tarfile has no filters")
def test_even_a_signed_archive_writes_nowhere_else(
    box: Box, maker: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = pack(tmp_path / "it.tar.gz", LATER, more={"../../evil": b"x"})
    it = signed_with(maker, tmp_path / "it", archive, LATER)
    box.refuses(it, "cannot be unpacked")
    assert not (box.base / "evil").exists()
    monkeypatch.setattr(tarfile, "data_filter", tarfile.fully_trusted_filter)
    box.takes(it, LATER)
    assert (box.base / "evil").exists()
