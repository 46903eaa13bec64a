"""Whether a Pi 5 can load a library: its kernel has memory pages of 16 KB, and a segment aligned to 4 KB is refused.

    python3 tests/aarch64/pages.py FOLDER|WHEEL|FILE...

Each program and library for arm64 in there is looked at, in wheels too. `make image` asks it about the whole card,
`make smoke-aarch64` about the wheels. It needs nothing but Python.

jemalloc is looked for by its name: it has the size of a page compiled in, which no header shows, and one that was
compiled for 4 KB ends its program at the start. None is on the box; one that comes is a problem until it was started
on pages of 16 KB and is named in `JEMALLOC_TRIED`.
"""

from __future__ import annotations

import mmap
import struct
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PAGE: Final = 16 * 1024
JEMALLOC_TRIED: Final[frozenset[str]] = frozenset()
"""Names of files that carry jemalloc and were seen to run on pages of 16 KB."""
_HEADER: Final = struct.Struct("<16xHHIQQQIHHHHHH")
_SEGMENT: Final = struct.Struct("<IIQQQQQQ")
_ELF64: Final = b"\x7fELF\x02\x01"
_AARCH64: Final = 183
_LOAD: Final = 1


@dataclass(frozen=True)
class Library:
    """A program or library for arm64."""

    name: str
    alignment: int
    """The smallest of its loaded segments, in bytes."""
    problem: str
    """Why a kernel with pages of 16 KB does not run it; "" where it does."""


def look(name: str, data: bytes | mmap.mmap) -> Library | None:
    """Return what a file is; None where it is nothing that an arm64 kernel loads."""
    if data[:6] != _ELF64 or len(data) < _HEADER.size:
        return None
    _kind, machine, _, _, at, _, _, _, size, count, *_ = _HEADER.unpack_from(data)
    if machine != _AARCH64 or not count:
        return None
    if size < _SEGMENT.size or at + size * count > len(data):
        return Library(name, 0, "its list of segments is cut off")
    segments = [_SEGMENT.unpack_from(data, at + size * number) for number in range(count)]
    loaded = [one for one in segments if one[0] == _LOAD]
    if not loaded:
        return None
    alignment = min(one[7] for one in loaded)
    problem = ""
    if any(one[7] % PAGE for one in loaded) or not alignment:
        problem = f"a segment is aligned to {_kb(alignment)}, not to {_kb(PAGE)}"
    elif any((one[3] - one[2]) % PAGE for one in loaded):
        problem = f"a segment lies in the file otherwise than in memory, by no multiple of {_kb(PAGE)}"
    elif data.find(b"<jemalloc>") >= 0 and name.rsplit("/")[-1] not in JEMALLOC_TRIED:
        problem = "it carries jemalloc, and was not tried on pages of 16 KB"
    return Library(name, alignment, problem)


def libraries(paths: Iterable[Path]) -> Iterator[Library]:
    """Yield each program and library in these files, wheels and folders."""
    for path in paths:
        if path.is_symlink():
            continue
        if path.is_dir():
            yield from libraries(sorted(path.iterdir()))
        elif path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                for inside in wheel.namelist():
                    found = look(f"{path.name}: {inside}", wheel.read(inside))
                    if found:
                        yield found
        elif path.is_file() and path.stat().st_size > _HEADER.size:
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                found = look(str(path), data)
            if found:
                yield found


def report(found: list[Library]) -> str:
    """Return lines: every problem, then how many libraries have which alignment."""
    lines = [f"{one.name}: {one.problem}." for one in found if one.problem]
    for alignment in sorted({one.alignment for one in found}):
        lines.append(
            f"{_kb(alignment)}: {sum(one.alignment == alignment for one in found)} programs and libraries"
        )
    return "\n".join(lines or ["There is no program nor library for arm64."])


def _kb(size: int) -> str:
    return f"{size // 1024} KB" if size >= 1024 else f"{size} bytes"


def main() -> None:
    """Look through what is named; exit with 1 where anything does not run, or nothing was there."""
    found = list(libraries(map(Path, sys.argv[1:])))
    sys.stdout.write(report(found) + "\n")
    sys.exit(not found or any(one.problem for one in found))


if __name__ == "__main__":
    main()
