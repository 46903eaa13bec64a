"""Root's side: the release to take from a folder that others may write, its archive copied and unpacked as signed."""

import tarfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from firmware.record.journal.disk import MB, free_bytes, make_folder, write_whole
from firmware.update.files import copy_plain, read_plain, sha256_of
from firmware.update.release import BESIDE, NAME_FILE, TARGETS
from firmware.update.trust import Target, UpdateRefused

TRUSTED: Final = "trusted"
"""The folder of the files that root has verified, next to the releases."""
ROOM: Final = 1500 * MB
"""Bytes that the installer needs in addition to the unpacked release: its room_mb."""
_STARTED: Final = "started"
_MADE_FILE: Final = "MADE"
"""The time of a release's sources, in its package and its folder; no box knows another for its first release."""
_YEAR_10000: Final = 253_402_300_800
_CHANGED: Final = "Nothing was changed."


@dataclass(frozen=True)
class Release:
    """A release that the maker's repository names."""

    file: str
    target: Target
    name: str
    made: int
    machine: str
    unpacked: int

    @classmethod
    def of(cls, file: str, target: Target) -> Self | None:
        """Return what a target says that it is; None for anything but a release."""
        try:
            about = target.about
            made, unpacked = int(about["made"]), int(about["unpacked"])
            is_one = 0 <= made < _YEAR_10000 and unpacked >= 0
            name, machine = str(about["release"]), str(about["machine"])
        except (KeyError, TypeError, ValueError, OverflowError):
            return None
        return cls(file, target, name, made, machine, unpacked) if is_one else None


def choose(named: Mapping[str, Target], machine: str, sha256: str | None = None) -> Release:
    """Return the newest release for a machine, or the one with this SHA-256. Raises UpdateRefused."""
    found = [one for one in map(Release.of, named, named.values()) if one is not None]
    if sha256 is not None:
        found = [one for one in found if one.target.sha256 == sha256]
        if not found:
            raise UpdateRefused(f"The maker names no release with this SHA-256 (any more). {_CHANGED}")
    fitting = [one for one in found if one.machine == machine]
    if not fitting:
        others = ", ".join(sorted({one.machine for one in found})) or "none"
        raise UpdateRefused(
            f"There is no release for this machine ({machine}) among them, only for: {others}. {_CHANGED}"
        )
    return max(fitting, key=lambda one: (one.made, one.name))


def latest_started(base: Path) -> int:
    """Return when the sources of the latest release were made that started well in `base`; 0 if none did."""
    found = [0]
    for path in (base / TRUSTED / _STARTED, base / "current" / _MADE_FILE, base / "previous" / _MADE_FILE):
        with suppress(OSError, ValueError):
            found.append(int(read_plain(path, 30)))
    return max(found)


def note_started(base: Path, release: Release) -> None:
    """Remember durably that a release started well: no earlier one is taken again. Raises OSError."""
    made = max(release.made, latest_started(base))
    make_folder(base / TRUSTED)
    write_whole(base / TRUSTED / _STARTED, f"{made}\n".encode())


def refuse_older(release: Release, latest: int) -> None:
    """Raise UpdateRefused for a release whose sources are older than those of one that started here well."""
    if release.made < latest:
        raise UpdateRefused(
            f"Release {release.name} of {_day(release.made)} is older than one that ran here, of {_day(latest)}. "
            f"{_CHANGED} To go back to the release before: install --rollback"
        )


def check_room(base: Path, release: Release) -> None:
    """Raise UpdateRefused if archive, what is in it and an installation do not fit onto the disk of `base`."""
    needed, free = release.target.size + release.unpacked + ROOM, free_bytes(base)
    if free < needed:
        raise UpdateRefused(
            f"{base} has {free // MB} MB left; {-(-needed // MB)} MB are needed. Make room first. {_CHANGED}"
        )


def check_files(source: Path, release: Release) -> None:
    """Compare a release's file, and what is signed with it, with what was signed. Raises UpdateRefused."""
    if not any(_is(path, release.target.sha256, release.target.size) for path in _places(source, release)):
        raise _not_whole(release.file)
    for name, sha256 in dict(release.target.about.get(BESIDE, {})).items():
        if not _is(source / TARGETS / Path(name).name, sha256, None):
            raise _not_whole(name)


def fetch(source: Path, release: Release, to: Path) -> None:
    """Copy a release's archive from where others may write; no more than was signed. Raises UpdateRefused, OSError."""
    for path in _places(source, release):
        with suppress(FileNotFoundError):
            if copy_plain(path, to, release.target.size) == release.target.sha256:
                return
        to.unlink(missing_ok=True)
    raise _not_whole(release.file)


def unpack(archive: Path, release: Release) -> Path:
    """Unpack a release next to its archive, and remove the archive; return its folder. Raises UpdateRefused."""
    to = archive.parent
    try:
        with tarfile.open(archive) as packed:
            if hasattr(tarfile, "data_filter"):  # not in each Python 3.11
                packed.extraction_filter = tarfile.data_filter
            packed.extractall(to)
        archive.unlink()
        (folder,) = to.iterdir()
        if (folder / NAME_FILE).read_text(encoding="utf-8").strip() == release.name:
            return folder
    except (tarfile.TarError, OSError, EOFError, ValueError, zlib.error) as error:
        raise UpdateRefused(f"{release.file} cannot be unpacked ({error}). {_CHANGED}") from error
    raise UpdateRefused(f"{release.file} does not hold release {release.name}. {_CHANGED}")


def _places(source: Path, release: Release) -> list[Path]:
    """Where a file may lie: by its name, or by its hash as a pit and an uplink keep it."""
    sha256 = release.target.sha256
    return [source / TARGETS / name for name in (Path(release.file).name, sha256, f"{sha256[:2]}/{sha256}")]


def _is(path: Path, sha256: str, size: int | None) -> bool:
    try:
        return sha256_of(path, size) == sha256
    except FileNotFoundError:
        return False


def _not_whole(name: str) -> UpdateRefused:
    return UpdateRefused(f"{name} is missing, or not what the maker signed. Copy it again. {_CHANGED}")


def _day(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
