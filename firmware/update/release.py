"""Releases: archives that the maker's repository names, and the name of the one that runs."""

from __future__ import annotations

import shutil
import sys
import tarfile
from collections.abc import Sequence
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.disk import make_folder, sync_folder
from firmware.update.files import sha256_of
from firmware.update.trust import Target, UpdateRefused

if TYPE_CHECKING:
    from firmware.update.repository import Repository

MAKER: Final = "maker"
"""The folder of the maker's metadata, in a repository."""
TARGETS: Final = "targets"
"""The folder of the files that a repository names."""
LASTS: Final = timedelta(days=400)
"""A release that nobody signed again for so long is not installed any more: it may have known holes."""
MAX_RELEASES: Final = 5
"""Releases for one kind of machine that stay in the repository, the newest ones: a house may still be sending an
earlier one to its tables."""
NAME_FILE: Final = "RELEASE"
BESIDE: Final = "beside"
"""The name, in what is signed of a release, of the SHA-256 of further files that belong to it."""


def sign_release(
    archive: Path,
    into: Path,
    key_folder: Path,
    *,
    made: int,
    machine: str,
    name: str = "",
    beside: Sequence[Path] = (),
) -> Target:
    """Add an archive to the maker's signed metadata, and copy archive and metadata into a repository's folder.

    The metadata is also kept next to the key, with the releases that were signed before. `made`: the time of the
    release's sources in seconds since 1970; `machine`: as uname has it. `name`: the release's name, for a file in which
    it is not written; `beside`: further files, signed with the release. Raises OSError, UpdateRefused.
    """
    key = DeviceKey.open(key_folder)
    signer = _repository(key_folder, key)
    release, unpacked = (name, archive.stat().st_size) if name else _read(archive)
    about: dict[str, Any] = {"release": release, "made": made, "machine": machine, "unpacked": unpacked}
    if beside:
        about[BESIDE] = {one.name: sha256_of(one) for one in beside}
    target = Target(sha256_of(archive), archive.stat().st_size, about)
    targets = signer.published() | {archive.name: target}
    of_machine = sorted(
        (path for path, one in targets.items() if one.about["machine"] == machine),
        key=lambda path: int(targets[path].about["made"]),
    )
    for path in of_machine[:-MAX_RELEASES]:
        del targets[path]
    signer.publish(targets)
    lay_metadata(key_folder, into)
    make_folder(into / TARGETS)
    for one in (archive, *beside):
        if one.resolve() != (into / TARGETS / one.name).resolve():
            shutil.copyfile(one, into / TARGETS / one.name)
    return target


def _repository(key_folder: Path, key: DeviceKey) -> Repository:
    from firmware.update.repository import Repository  # python-tuf, which no table needs in order to play

    return Repository(key_folder / MAKER, key, key, LASTS)


def lay_metadata(key_folder: Path, into: Path) -> None:
    """Copy the maker's metadata into a repository's folder. Raises OSError."""
    shutil.copytree(key_folder / MAKER, into / MAKER, dirs_exist_ok=True)


def sign_again(key_folder: Path) -> None:
    """Sign all that is named for another `LASTS`, and the root for another ten years. Raises OSError, UpdateRefused."""
    key = DeviceKey.open(key_folder)
    _repository(key_folder, key).rotate(key, key)


def change_key(key_folder: Path, new_folder: Path) -> None:
    """Make a new key in a new folder, to which the key before hands over. Raises OSError, UpdateRefused."""
    if new_folder.exists():
        raise UpdateRefused(f"{new_folder} is there already. Name a folder that is not.")
    part = new_folder.with_name(f".{new_folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    before, after = DeviceKey.open(key_folder), DeviceKey.open(part)
    shutil.copytree(key_folder / MAKER, part / MAKER)
    _repository(part, before).rotate(after, after)
    part.rename(new_folder)
    sync_folder(new_folder.parent)


def _read(archive: Path) -> tuple[str, int]:
    """Return a release's name and its size when unpacked."""
    with tarfile.open(archive) as packed:
        members = packed.getmembers()
        names = [one for one in members if Path(one.name).parts[1:] == (NAME_FILE,)]
        file = packed.extractfile(names[0]) if len(names) == 1 else None
        if file is None:
            raise UpdateRefused(f"{archive.name} does not say which release it is.")
        return file.read(100).decode().strip(), sum(one.size for one in members)


def running_release(installed: Path = Path(sys.prefix)) -> str:
    """Return the name of the release that runs, such as "0.2.0-1a2b3c4d"; its version where none is installed.

    The installer leaves that name in the release's folder. A version alone names no release: two may have the same.
    """
    try:
        return (installed / NAME_FILE).read_text(encoding="utf-8").strip() or version("feltwatch")
    except OSError:
        return version("feltwatch")
