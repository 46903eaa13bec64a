"""The house's repository: files that a pit offers to its tables, and the trust of a table in it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from firmware.messages import Message
from firmware.update.trust import (
    HOUSE,
    MOST_ROOT,
    GetFile,
    Target,
    Trust,
    UpdateRefused,
    anchor_of,
    folder_files,
)

FOLDER: Final = "house"
"""The folder of the house's metadata, in a repository."""
LASTS: Final = timedelta(days=30)
"""A pit signs again once a fortnight: a table that hears nothing newer for so long takes no files."""
MOST_NAME: Final = 80
"""Characters of a file's name, of a release's, and of who offered it."""
FIRST_ROOT: Final = "1.root.json"
NO_HOUSE_KEY: Final = Message(
    "This table does not know the house's key: it was enrolled before the pit had one. Enrol it again, then send the"
    " file again."
)


@dataclass(frozen=True)
class HouseFile:
    """A file that the house offers. `version` is a release's name, "" for other kinds; `size` is in bytes."""

    sha256: str
    size: int
    kind: str
    name: str
    version: str
    by: str
    """Who offered it."""

    @property
    def title(self) -> str:
        """What people call it."""
        return self.version or self.name

    @property
    def target(self) -> Target:
        """It as the repository names it."""
        about = {"kind": self.kind, "name": self.name, "version": self.version, "by": self.by}
        return Target(self.sha256, self.size, about)


def house_file(target: Target) -> HouseFile:
    """Return what the house says of a file. Raises UpdateRefused for what no pit says."""
    texts = [target.about.get(part) for part in ("kind", "name", "version", "by")]
    found = [
        text for text in texts if isinstance(text, str) and text.isprintable() and len(text) <= MOST_NAME
    ]
    if len(found) != len(texts) or not found[1] or set(target.sha256) - set("0123456789abcdef"):
        raise UpdateRefused("The house's repository names a file that no table can use.")
    return HouseFile(target.sha256, target.size, *found)


def house_files(named: Mapping[str, Target]) -> dict[str, HouseFile]:
    """Return what the house's repository names, by the files' SHA-256, without what no table can use."""
    found = {}
    for one in named.values():
        with suppress(UpdateRefused):
            found[one.sha256] = house_file(one)
    return found


def trust_house(folder: Path, key_file: Path, get: GetFile) -> Trust:
    """Return the trust in the repository of the house whose public key is in a file, as the enrolment left it.

    `folder` is of this user alone; where it is another house's, it begins again. Raises UpdateRefused, OSError.
    """
    try:
        key = bytes.fromhex(key_file.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise UpdateRefused(NO_HOUSE_KEY) from error
    known = folder_files(folder)(FIRST_ROOT, MOST_ROOT)
    if known is not None:
        with suppress(UpdateRefused):
            return Trust(folder, anchor_of(known, key), who=HOUSE)
        shutil.rmtree(folder)
    first = get(FIRST_ROOT, MOST_ROOT)
    if first is None:
        raise UpdateRefused("The house's repository has no root. Start the pit's server again.")
    return Trust(folder, anchor_of(first, key), who=HOUSE)
