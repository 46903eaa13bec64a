"""The house's repository: files that a pit offers to its tables, and the trust of a table in it."""

import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from firmware.messages import Message
from firmware.update.trust import HOUSE_NAME, MAX_ROOT, GetFile, Target, Trust, UpdateRefused, folder_files

FOLDER: Final = "house"
"""The folder of the house's metadata, in a repository."""
LASTS: Final = timedelta(days=30)
"""A pit signs again once a fortnight: a table that hears nothing newer for so long takes no files."""
MAX_BYTES: Final[Mapping[str, int]] = {"profile": 64 << 10, "deck": 1 << 20, "release": 1 << 30}
"""Bytes of a file, by its kind: a profile as `set_house` takes it, a deck of 120 kB, a release of 200 MB of wheels."""
MAX_NAME: Final = 80
"""Characters of a file's name, of a release's, and of who offered it."""
NOT_THE_HOUSES: Final = Message("It was not signed by the house. Nothing was changed.")
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


NOT_KNOWN: Final = HouseFile("", 0, "", "", "", "")
"""A file that the house's repository does not describe yet."""


def house_file(target: Target) -> HouseFile:
    """Return what the house says of a file. Raises UpdateRefused for what no pit says."""
    texts = [target.about.get(part) for part in ("kind", "name", "version", "by")]
    found = [text for text in texts if isinstance(text, str) and text.isprintable() and len(text) <= MAX_NAME]
    if len(found) != len(texts) or not found[1] or set(target.sha256) - set("0123456789abcdef"):
        raise UpdateRefused("The house's repository names a file that no table can use.")
    return HouseFile(target.sha256, target.size, *found)


class NeverTaken(UpdateRefused):
    """A file that no table of this release will ever take."""


class HouseTrust:
    """What the house says of its files, as a table trusts it; read again for a file that it has not named yet."""

    def __init__(self, folder: Path, key_file: Path) -> None:
        """`folder`: for what was verified, of this user alone; `key_file`: the house's public key, of the enrolment."""
        self._folder, self._key_file = folder, key_file
        self.named: dict[str, HouseFile] = {}
        """Files by their SHA-256."""

    def file(self, sha256: str, get: GetFile) -> HouseFile:
        """Return what the house says of a file. Raises NeverTaken, UpdateRefused, OSError, and what `get` raises."""
        if sha256 not in self.named:
            for one in trust_house(self._folder, self._key_file, get).refresh(get).values():
                with suppress(UpdateRefused):
                    self.named[one.sha256] = house_file(one)
        file = self.named.get(sha256)
        if file is None:
            raise NeverTaken(NOT_THE_HOUSES)
        most = MAX_BYTES.get(file.kind)
        if most is None:
            raise NeverTaken("This table's release knows no files of the kind %(kind)s.", kind=file.kind)
        if not 0 < file.size <= most:
            raise NeverTaken(
                "It is too large: %(size)s bytes, and %(most)s at most.", size=file.size, most=most
            )
        return file


def trust_house(folder: Path, key_file: Path, get: GetFile) -> Trust:
    """Return the trust in the repository of the house whose public key is in a file.

    Where the folder is another house's, it begins again. Raises UpdateRefused, OSError.
    """
    from firmware.update.metadata import anchor_of  # python-tuf, which most programs never need

    try:
        key = bytes.fromhex(key_file.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise UpdateRefused(NO_HOUSE_KEY) from error
    known = folder_files(folder)(FIRST_ROOT, MAX_ROOT)
    if known is not None:
        with suppress(UpdateRefused):
            return Trust(folder, anchor_of(known, key), who=HOUSE_NAME)
        shutil.rmtree(folder)
    first = get(FIRST_ROOT, MAX_ROOT)
    if first is None:
        raise UpdateRefused("The house's repository has no root. Start the pit's server again.")
    return Trust(folder, anchor_of(first, key), who=HOUSE_NAME)
