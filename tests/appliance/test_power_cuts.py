"""What a disk may hold after a power cut: how an image is made, and a short campaign both ways."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaigns.appliance.power_cut_campaign import SECTOR, Note, image
from tests.tools import GCC, needs


def images(folder: Path, *notes: Note) -> list[dict[str, bytes]]:
    found = []
    for seed in range(40):
        to = folder / f"image-{seed}"
        image(notes, folder, to, random.Random(seed))
        found.append({path.name: path.read_bytes() for path in to.iterdir()})
    return found


def test_what_was_synced_is_there_and_what_was_not_may_be_in_part(tmp_path: Path) -> None:
    path, old, new = str(tmp_path / "wal"), b"o" * 4 * SECTOR, b"n" * 4 * SECTOR
    written, synced = Note("W", path, 0, old), Note("S", path, 0, b"")
    (tmp_path / "a").mkdir()
    assert images(tmp_path / "a", written, synced) == [{"wal": old}] * 40
    (tmp_path / "b").mkdir()
    found = {one["wal"] for one in images(tmp_path / "b", written, synced, Note("W", path, 0, new))}
    assert {old, new} < found
    assert all(set(one) <= set(b"on") for one in found)


def test_a_file_that_was_removed_may_be_there_until_its_folder_is_synced(tmp_path: Path) -> None:
    path = str(tmp_path / "wal")
    gone = (Note("W", path, 0, b"x"), Note("S", path, 0, b""), Note("U", path, 0, b""))
    (tmp_path / "c").mkdir()
    assert {len(one) for one in images(tmp_path / "c", *gone)} == {0, 1}


def test_the_last_mark_says_what_was_acknowledged(tmp_path: Path) -> None:
    marks = [Note("M", "", number, b"") for number in (2, 7)]
    assert image(marks, tmp_path, tmp_path / "image", random.Random(1)) == 7


@pytest.mark.slow
@needs(GCC)
@pytest.mark.parametrize("is_naive", [False, True])
def test_a_power_cut_loses_nothing_that_was_acknowledged_and_would_without_a_sync(is_naive: bool) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.campaigns.appliance.power_cut_campaign",
        "--images",
        "12",
        "--seed",
        "3",
    ]
    done = subprocess.run(
        [*command, *(["--naive"] if is_naive else [])], capture_output=True, text=True, check=False
    )
    assert done.returncode == is_naive, done.stdout + done.stderr
    assert ("; 0 images lack one" in done.stdout) is not is_naive, done.stdout
