"""The uplink's side of the inbox: fetches what the pit asks for, piece by piece, and lays it there whole.

Nothing is fetched that the house's signed repository does not name with its size; a release has to be named by the
maker's, too. A cut costs one piece: what was fetched stays, also over a restart. The record goes first: one piece is
fetched between two looks at the journal.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

from firmware.messages import Message
from firmware.record.journal.disk import FILE_MODE, MB, free_bytes, make_folder, sync_folder
from firmware.update.files import read_plain, sha256_of
from firmware.update.house import FOLDER as HOUSE_FOLDER
from firmware.update.house import HouseFile, house_files, trust_house
from firmware.update.release import MAKER as MAKER_FOLDER
from firmware.update.release import TARGETS
from firmware.update.trust import MAKER, MOST_ROOT, GetFile, Trust, UpdateRefused
from firmware.uplink.errors import NotReached, Refused
from firmware.uplink.inbox.folder import LIST, PART, Item, place, read_list, write_list
from firmware.uplink.inbox.wire import KINDS, MOST_BYTES, MOST_OPEN, OVER, requests_of
from firmware.uplink.wire import is_hash

REPOSITORY: Final = "/v1/repository"
"""Where the pit serves its repository."""
PIECE: Final = 1 << 20
"""Bytes that are asked for at a time."""
LEAVES_FREE: Final = 500 * MB
"""Bytes that stay free on the disk of the inbox, which is the record's: enough for a day of hands."""
RECORD_NEEDS: Final = 250 * MB
"""Free bytes below which a release makes way for the record: the record grows while a release waits."""
NO_ROOM: Final = Message("The record needs the room on the disk. Make room first.")
AGAIN_S: Final = 60.0
"""Seconds until something that cannot be fetched is tried again."""
MOST_TRIES: Final = 3
"""How often a file that comes with other bytes than announced is fetched."""
MOST_WASTED: Final = 3 << 30
"""Bytes a day that are fetched for nothing: more would wear the card out, and a sound pit sends none."""
DAY_S: Final = 86_400.0
ONE_RELEASE: Final = Message("Another release is asked for as well. Withdraw one of them at the pit.")
WASTED: Final = Message("Too much came from the pit today that was of no use. It is tried again tomorrow.")
UNLIKE: Final = Message("The bytes that came are not those that were announced.")
NOT_THE_HOUSES: Final = Message("It was not signed by the house. Nothing was changed.")
NOT_THE_MAKERS: Final = Message("It is no release that the maker has signed. Nothing was changed.")
log = logging.getLogger(__name__)


class Source(Protocol):
    """Fetches: `Client`."""

    def piece(self, path: str, first: int, end: int) -> tuple[bytes, int]:
        """Return the bytes of a file from one to before another, and the file's size. Raises NotReached, Refused."""

    def find(self, path: str) -> bytes | None:
        """Return a small file, None where there is none. Raises NotReached, Refused."""


class Inbox:
    """The folder, what is asked for, and the next piece. Used on the uplink's one thread."""

    def __init__(
        self,
        folder: Path,
        notes: Path,
        *,
        house_key: Path,
        maker_root: Path,
        clock: Callable[[], float],
        free: Callable[[Path], int] = free_bytes,
    ) -> None:
        """Go on with what lies in `folder`.

        `notes`: the table's file; `house_key`: file of the house's public key; `maker_root`: file of the maker's root
        metadata; `clock`: monotonic seconds; `free`: returns the free bytes of a folder's disk.
        """
        self._folder, self._notes = folder, notes
        self._house_key, self._maker_root = house_key, maker_root
        self._clock, self._free = clock, free
        self._items = list(read_list(folder / LIST))
        self._named: dict[str, HouseFile] = {}
        self._released: set[HouseFile] = set()
        self._tries: dict[int, int] = {}
        self._wait_until = float("-inf")
        self._wasted, self._day = 0, float("-inf")

    def progress(self) -> tuple[dict[str, Any], ...]:
        """Return how far each request is, for the pit: what the table says of a file that lies here."""
        said = {one.key: one for one in read_list(self._notes)} if self._items else {}
        return tuple(
            (said.get(one.key, one) if one.state == "fetched" else one).progress.to_json()
            for one in self._items[:MOST_OPEN]
        )

    def ask(self, files: object) -> None:
        """Take over what the pit asks for now: all that is open. What it does not name any more is removed."""
        asked = requests_of(files)
        if asked is None:
            return
        wanted = set(asked.items())
        known = {one.key: one for one in self._items}
        seen = {one.key for one in read_list(self._notes) if one.state in OVER}
        # A refusal that the pit knows already stays until the table shows it.
        over = [one for one in self._items if one.state == "refused" and one.key not in wanted | seen]
        items = [*(known.get(key, Item(*key)) for key in asked.items()), *over[:MOST_OPEN]]
        if set(items) == set(self._items):
            return
        self._items, self._named = items, {}  # what is new is looked up together with the rest
        self._wait_until = float("-inf")
        self._keep()

    def step(self, source: Source) -> bool:
        """Fetch one piece of what is open, if it is time; return whether there was something to do.

        Raises NotReached: the pit is away.
        """
        self._make_room()
        due = next((one for one in self._items if one.state == "asked"), None)
        if due is None or self._clock() < self._wait_until:
            return False
        state, why = "asked", None
        try:
            state, why = self._fetch(due.number, self._file(due, source), source)
        except Refused as error:
            why = error.sentence
        except UpdateRefused as error:
            why = error.sentence
            state = "refused" if why in (NOT_THE_HOUSES, NOT_THE_MAKERS) else "asked"
        except NotReached:
            raise
        except OSError as error:
            why = Message("It cannot be stored at the table (%(why)s).", why=error.strerror or str(error))
        due = next(one for one in self._items if one.key == due.key)  # the house may have said what it is
        if state == "asked" and why is not None:
            self._wait_until = self._clock() + AGAIN_S
            # Another file may be possible: this one is tried again after it.
            self._items.append(self._items.pop(self._items.index(due)))
        self._set(due, replace(due, state=state, why=why))
        return True

    def _file(self, one: Item, source: Source) -> HouseFile:
        """Return what the house says of a file; the maker has to have signed a release, too.

        Raises UpdateRefused, OSError, Refused.
        """
        if one.sha256 not in self._named:
            get = _getter(source, HOUSE_FOLDER)
            trust = trust_house(self._folder / HOUSE_FOLDER, self._house_key, get)
            self._named = house_files(trust.refresh(get))
            self._items = [
                replace(item, file=self._named.get(item.sha256, item.file)) for item in self._items
            ]
        if one.sha256 not in self._named:
            raise UpdateRefused(NOT_THE_HOUSES)
        file = self._named[one.sha256]
        if file.kind == "release" and file not in self._released:
            trust = Trust(self._folder / MAKER_FOLDER, read_plain(self._maker_root, MOST_ROOT), who=MAKER)
            named = trust.refresh(_getter(source, MAKER_FOLDER)).values()
            if (file.sha256, file.size, file.version) not in [
                (target.sha256, target.size, target.about.get("release")) for target in named
            ]:
                raise UpdateRefused(NOT_THE_MAKERS)
            self._released.add(file)
        return file

    def _fetch(self, number: int, file: HouseFile, source: Source) -> tuple[str, Message | None]:
        """Fetch one piece; return the request's state after it, and why it is no further. Raises OSError, Refused."""
        whole = place(self._folder, file.sha256)
        part = whole.with_name(whole.name + PART)
        if file.kind not in KINDS:
            return "refused", Message(
                "This table's release knows no files of the kind %(kind)s.", kind=file.kind
            )
        most = MOST_BYTES[file.kind]
        if not 0 < file.size <= most:
            return "refused", Message(
                "It is too large: %(size)s bytes, and %(most)s at most.", size=file.size, most=most
            )
        if why := self._not_now(number, file):
            if part.exists():
                self._remove(part)
            return "asked", why
        if whole.exists():
            return "fetched", None
        make_folder(whole.parent)
        have = part.stat().st_size if part.exists() else 0
        if have < file.size:
            missing = file.size - have
            if (room := self._free(self._folder) - LEAVES_FREE) < missing:
                return "asked", Message(
                    "The disk has %(free)s MB to spare, and %(needed)s MB are needed. Make room first.",
                    free=max(0, room // MB),
                    needed=-(-missing // MB),
                )
            path = f"{REPOSITORY}/{TARGETS}/{file.sha256[:2]}/{file.sha256}"
            data, size = source.piece(path, have, min(have + PIECE, file.size))
            if size != file.size or not 0 < len(data) <= missing:
                return self._unlike(number, part)
            with part.open("ab") as open_part:
                open_part.write(data)
            if len(data) < missing:
                return "asked", None
        if sha256_of(part) != file.sha256:
            return self._unlike(number, part)
        part.chmod(FILE_MODE)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.rename(whole)
        sync_folder(whole.parent)
        log.info("%s %s was fetched", file.kind, file.title)
        return "fetched", None

    def _not_now(self, number: int, file: HouseFile) -> Message | None:
        """Return why a file is not fetched now."""
        if file.kind == "release" and any(
            one.file is not None
            and one.file.kind == "release"
            and one.number > number
            and one.state != "refused"
            for one in self._items
        ):
            return ONE_RELEASE
        if self._clock() - self._day >= DAY_S:
            self._wasted, self._day = 0, self._clock()
        return WASTED if self._wasted >= MOST_WASTED else None

    def _make_room(self) -> None:
        """Remove releases where the record needs their room: they are fetched again once there is more."""
        large = [one for one in self._items if one.file is not None and one.file.kind == "release"]
        try:
            if not large or not self._folder.exists() or self._free(self._folder) >= RECORD_NEEDS:
                return
            for one in large:
                whole = place(self._folder, one.sha256)
                for path in (whole, whole.with_name(whole.name + PART)):
                    if path.exists():
                        self._remove(path)
                        self._set(one, replace(one, state="asked", why=NO_ROOM))
                        self._wait_until = self._clock() + AGAIN_S
        except OSError as error:
            log.warning("No room can be made in the inbox: %s", error)

    def _remove(self, path: Path) -> None:
        """Remove what was fetched for nothing, and count it. Raises OSError."""
        self._wasted += path.stat().st_size
        path.unlink()

    def _unlike(self, number: int, part: Path) -> tuple[str, Message | None]:
        if part.exists():
            self._remove(part)
        tries = self._tries[number] = self._tries.get(number, 0) + 1
        return ("refused" if tries >= MOST_TRIES else "asked"), UNLIKE

    def _set(self, before: Item, now: Item) -> None:
        if now != before:
            self._items[self._items.index(before)] = now
            if now.why is not None:
                log.warning("%s: %s", now.file.title if now.file is not None else now.sha256, now.why)
            self._keep()

    def _keep(self) -> None:
        """Write the list; remove files that nobody asks for any more. The list is written first."""
        try:
            make_folder(self._folder)
            write_list(self._folder / LIST, self._items)
            wanted = {one.sha256 for one in self._items if one.state != "refused"}
            targets = self._folder / TARGETS
            for path in targets.iterdir() if targets.exists() else ():
                name = path.name.removesuffix(PART)
                if is_hash(name) and name not in wanted:
                    self._remove(path)
        except OSError as error:
            log.warning("The inbox cannot be written: %s", error)


def _getter(source: Source, folder: str) -> GetFile:
    """Return what gets a repository's metadata from the pit; the pit's answer is bounded already."""
    return lambda name, most: source.find(f"{REPOSITORY}/{folder}/{name}")
