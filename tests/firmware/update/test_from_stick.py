"""`feltwatch update --from-stick`: the release is found on the one stick, on a real file system of a loop device."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from firmware.cli.main import main
from firmware.update import install
from firmware.update.release import TARGETS
from tests.firmware.update.rig import NEW, NOW, Box, Maker

MOUNTS: Final = Path("/proc/self/mounts")


class BoxDisks:
    """A box's disks as the kernel tells of them; the partitions of its sticks are loop devices."""

    def __init__(self, folder: Path, box: Box) -> None:
        self.box, self.disks, self.devices = box, folder / "block", folder / "dev"
        self.disks.mkdir()
        self.devices.mkdir()

    def stick(self, name: str, *partitions: Path) -> None:
        """Plug in a stick with these partitions."""
        about = self.disks / name
        for number, device in enumerate(partitions, 1):
            (about / f"{name}{number}").mkdir(parents=True)
            (about / f"{name}{number}/partition").write_text(f"{number}\n")
            (self.devices / f"{name}{number}").symlink_to(device)
        about.mkdir(exist_ok=True)
        for what, said in (("removable", "1"), ("size", "15728640"), ("ro", "0")):
            (about / what).write_text(f"{said}\n")
        (self.devices / name).touch()

    def update(self, *more: str) -> Result:
        """Run the command."""
        where = ["--disks", str(self.disks), "--devices", str(self.devices)]
        given = ["update", "--from-stick", *where, "--root", str(self.box.root), "--base", str(self.box.base)]
        return CliRunner().invoke(main, [*given, *more])

    def refuses(self, why: str) -> None:
        """Check that it is refused in one sentence, and that nothing was run, left or stays mounted."""
        done = self.update()
        said = done.stderr.partition("Error: ")[2]
        assert (why in said, len(said.splitlines())) == (True, 1), done.output
        assert done.exit_code in (1, 2)
        assert self.box.ran() == set()
        assert list(self.box.base.glob(".update-*")) == []
        assert "/stick-" not in MOUNTS.read_text()


@pytest.fixture
def plugged(tmp_path: Path, box: Box) -> BoxDisks:
    (tmp_path / "kernel").mkdir()
    return BoxDisks(tmp_path / "kernel", box)


@pytest.fixture
def partition(tmp_path: Path) -> Iterator[Callable[..., tuple[Path, Path]]]:
    """Makes partitions of 8 MB with a file system that holds what lies in a folder; returns device and image."""
    made: list[Path] = []

    def make(content: Path | None, name: str) -> tuple[Path, Path]:
        if os.geteuid() != 0 or shutil.which("mke2fs") is None:
            pytest.skip("only root can mount a stick, and mke2fs makes one")
        image = tmp_path / f"{name}.img"
        if content is None:
            image.write_bytes(bytes(1 << 20))
        else:
            subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", content, image, "8M"], check=True)
        loop = ["losetup", "--direct-io=on", "--find", "--show", str(image)]
        done = subprocess.run(loop, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no loop device can be had here: {done.stderr.strip()}")
        made.append(Path(done.stdout.strip()))
        return made[-1], image

    yield make
    for device in made:
        subprocess.run(["losetup", "--detach", str(device)], check=True)


def carried(new: Path, to: Path) -> Path:
    """What a person copies onto a stick, beside what else lies there."""
    (to / "photos").mkdir(parents=True)
    shutil.copytree(new, to / "repository")
    return to


def test_the_partition_that_carries_a_release_is_found_and_left_before_the_installer_runs(
    plugged: BoxDisks, partition: Callable[..., tuple[Path, Path]], maker: Maker, tmp_path: Path
) -> None:
    looks = f'grep -c "/stick-" {MOUNTS} >"{tmp_path}/mounts"; touch "{plugged.box.base}/ran-{NEW}"'
    new = maker.sign("1.0.0-looks", NOW + 1, script=looks)
    (tmp_path / "empty").mkdir()
    devices = [
        partition(None, "none")[0],
        partition(tmp_path / "empty", "other")[0],
        partition(carried(new, tmp_path / "on"), "third")[0],
    ]
    plugged.stick("sdq", *devices)
    done = plugged.update()
    assert (done.exit_code, plugged.box.ran()) == (0, {NEW}), done.output
    assert "is whole, and signed by" in done.output
    assert (tmp_path / "mounts").read_text() == "0\n"


def test_neither_stick_nor_a_release_on_it_is_said_and_so_are_two(
    plugged: BoxDisks, partition: Callable[..., tuple[Path, Path]], tmp_path: Path
) -> None:
    plugged.refuses("There is no stick in the box.")
    (tmp_path / "empty").mkdir()
    device = partition(tmp_path / "empty", "empty")[0]
    plugged.stick("sdq", device)
    plugged.refuses("There is no release on the stick. Copy the whole folder dist/repository onto it")
    plugged.stick("sdr")
    plugged.refuses("There is more than one stick in the box. Leave one in")


def test_a_release_of_another_maker_and_one_that_does_not_fit_are_refused_from_a_stick_too(
    plugged: BoxDisks,
    partition: Callable[..., tuple[Path, Path]],
    new: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugged.stick("sdq", partition(carried(new, tmp_path / "on"), "stick")[0])
    monkeypatch.setattr(install, "ROOM", 1 << 60)
    plugged.refuses("MB are needed. Make room first. Nothing was changed.")
    monkeypatch.undo()
    other = Maker(tmp_path / "other")
    other.sign(NEW)
    plugged.box.root.write_bytes(other.root)
    plugged.refuses("signed")


def test_a_stick_that_is_pulled_while_it_is_read_is_said_and_nothing_is_changed(
    plugged: BoxDisks, partition: Callable[..., tuple[Path, Path]], new: Path, tmp_path: Path
) -> None:
    (new / TARGETS / f"{NEW}.tar.gz").write_bytes(b"")
    device, image = partition(carried(new, tmp_path / "on"), "stick")
    dio = subprocess.run(["losetup", "-nO", "DIO", device], capture_output=True, text=True, check=True).stdout
    if dio.strip() != "1":
        pytest.skip("the loop device reads through a cache, which fills up what is missing with zeros")
    plugged.stick("sdq", device)
    os.truncate(image, 1 << 20)  # what lies behind is not there any more: reading ends with EIO
    plugged.refuses("The stick was taken out too early, or it fails. Nothing was changed.")


def test_a_folder_and_a_stick_are_not_named_together(plugged: BoxDisks, new: Path) -> None:
    for given in (["update"], ["update", "--from-stick", str(new)]):
        done = CliRunner().invoke(main, given)
        assert done.exit_code == 2
        assert "one of the two" in done.stderr
