"""Libraries that a kernel with pages of 16 KB cannot load are found by their own headers."""

from __future__ import annotations

import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import pytest

from tests.aarch64 import pages

PROGRAM: Final = Path(pages.__file__)


def elf(*alignments: int, machine: int = 183, shift: int = 0, behind: bytes = b"") -> bytes:
    """A library for arm64 by hand: its header, a segment that is loaded for each alignment, and one note."""
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    count = len(alignments) + 1
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, count, 0, 0, 0)
    for number, alignment in enumerate(alignments, 1):
        at = number * 0x10000
        head += struct.pack("<IIQQQQQQ", 1, 5, at, at + shift, at + shift, 64, 64, alignment)
    return head + struct.pack("<IIQQQQQQ", 4, 4, 64, 64, 64, 8, 8, 4) + behind


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (elf(0x10000, 0x10000), ""),
        (elf(0x4000), ""),
        (elf(0x10000, 0x1000), "a segment is aligned to 4 KB, not to 16 KB"),
        (elf(0x10000, shift=0x1000), "lies in the file otherwise than in memory"),
        (elf(0x10000)[:150], "cut off"),
        (elf(0x10000, behind=b"<jemalloc>: Unsupported system page size"), "it carries jemalloc"),
    ],
)
def test_what_a_kernel_with_larger_pages_refuses_has_its_reason(data: bytes, problem: str) -> None:
    found = pages.look("lib.so", data)
    assert found is not None
    assert (problem in found.problem, bool(found.problem)) == (True, bool(problem))


@pytest.mark.parametrize("data", [b"", b"\x7fELF", elf(0x1000, machine=62), elf(), b"PK\x03\x04" * 99])
def test_what_no_arm64_kernel_loads_is_passed_by(data: bytes) -> None:
    assert pages.look("x", data) is None


def test_a_folder_and_the_wheels_in_it_are_looked_through_and_each_library_that_fails_is_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "usr").mkdir()
    (tmp_path / "usr/good.so").write_bytes(elf(0x10000))
    (tmp_path / "usr/again.so").symlink_to("good.so")
    run = [sys.executable, "-I", str(PROGRAM), str(tmp_path)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "64 KB: 1 programs and libraries\n")
    with zipfile.ZipFile(tmp_path / "old-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("old/core.so", elf(0x1000))
        wheel.writestr("old/__init__.py", "")
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "old-1-py3-none-any.whl: old/core.so: a segment is aligned to 4 KB, not to 16 KB.",
        "4 KB: 1 programs and libraries",
        "64 KB: 1 programs and libraries",
    ]


def test_nothing_to_look_at_is_no_pass(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", str(PROGRAM), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "There is no program nor library for arm64.\n")
