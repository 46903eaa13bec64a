"""Releases: archives that the maker's repository names, and the name of the one that runs."""

from __future__ import annotations

import shutil
import sys
import tarfile
from collections.abc import Mapping
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Final

from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.disk import make_folder
from firmware.update.files import sha256_of
from firmware.update.repository import Repository
from firmware.update.trust import Target, UpdateRefused

MAKER: Final = "maker"
"""The folder of the maker's metadata, in a repository."""
TARGETS: Final = "targets"
"""The folder of the files that a repository names."""
LASTS: Final = timedelta(days=400)
"""A release that nobody signed again for so long is not installed any more: it may have known holes."""
MOST_NAMED: Final = 5
"""Releases of one machine that are named, the newest: a house may still be bringing out the one before."""
NAME_FILE: Final = "RELEASE"


def sign_release(archive: Path, into: Path, key_folder: Path, *, made: int, machine: str) -> Target:
    """Name an archive in the maker's repository, and lay both into a repository's folder.

    The metadata stays beside the key, too: what was named before stays named. `made`: the time of its sources in
    seconds since 1970; `machine`: as uname has it. Raises OSError, UpdateRefused.
    """
    key = DeviceKey.open(key_folder)
    signer = Repository(key_folder / MAKER, key, key, LASTS)
    with tarfile.open(archive) as packed:
        members = packed.getmembers()
        names = [one for one in members if Path(one.name).parts[1:] == (NAME_FILE,)]
        file = packed.extractfile(names[0]) if len(names) == 1 else None
        if file is None:
            raise UpdateRefused(f"{archive.name} does not say which release it is.")
        about = {
            "release": file.read(100).decode().strip(),
            "made": made,
            "machine": machine,
            "unpacked": sum(one.size for one in members),
        }
    target = Target(sha256_of(archive), archive.stat().st_size, about)
    named = signer.published() | {archive.name: target}
    of_machine = sorted(
        (path for path, one in named.items() if one.about["machine"] == machine),
        key=lambda path: int(named[path].about["made"]),
    )
    for path in of_machine[:-MOST_NAMED]:
        del named[path]
    signer.publish(named)
    shutil.copytree(key_folder / MAKER, into / MAKER, dirs_exist_ok=True)
    make_folder(into / TARGETS)
    if archive.resolve() != (into / TARGETS / archive.name).resolve():
        shutil.copyfile(archive, into / TARGETS / archive.name)
    return target


def newest_of(named: Mapping[str, Target], machine: str | None = None) -> tuple[str, Target]:
    """Return path and target of the newest release that a repository names; `machine`: for it alone.

    Raises UpdateRefused where there is none.
    """
    found = [
        (path, one) for path, one in named.items() if machine is None or one.about.get("machine") == machine
    ]
    if not found:
        raise UpdateRefused("It names no release for this machine.")
    return max(found, key=lambda pair: (int(pair[1].about["made"]), pair[0]))


def running_release(installed: Path = Path(sys.prefix)) -> str:
    """Return the name of the release that runs, such as "0.2.0-1a2b3c4d"; its version where none is installed.

    The installer leaves that name in the release's folder. A version alone names no release: two may have the same.
    """
    try:
        return (installed / NAME_FILE).read_text(encoding="utf-8").strip() or version("feltwatch")
    except OSError:
        return version("feltwatch")
