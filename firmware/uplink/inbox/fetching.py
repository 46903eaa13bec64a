"""The uplink's side of the inbox: fetches what the pit asks for, piece by piece, checks it, and lays it there whole.

A cut costs one piece: what was fetched stays, also over a restart. The record goes first: one piece is fetched between
two looks at the journal.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

from firmware.messages import Message
from firmware.record.evidence.signing import signed_by
from firmware.record.journal.disk import FILE_MODE, MB, make_folder, sync_folder
from firmware.release_package import UpdateRefused, signed_release, trusted_key
from firmware.uplink.errors import NotReached, Refused
from firmware.uplink.inbox.folder import LIST, PART, Item, read_list, write_list
from firmware.uplink.inbox.wire import KINDS, MOST_BYTES, Asked, asked_of, signed_text
from firmware.uplink.wire import is_hash

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
MOST_SHOWN: Final = 10
"""Refused files that the table still shows when the pit does not ask for them any more."""
MOST_WASTED: Final = 3 << 30
"""Bytes a day that are fetched for nothing: more would wear the card out, and a sound pit sends none."""
DAY_S: Final = 86_400.0
ONE_RELEASE: Final = Message("Another release is asked for as well. Withdraw one of them at the pit.")
WASTED: Final = Message("Too much came from the pit today that was of no use. It is tried again tomorrow.")
UNLIKE: Final = Message("The bytes that came are not those that were announced.")
NO_HOUSE_KEY: Final = Message(
    "This table does not know the house's key: it was enrolled before the pit had one. Enrol it again, then send the"
    " file again."
)
NOT_THE_HOUSES: Final = Message("It was not signed by the house. Nothing was changed.")
NOT_THE_MAKERS: Final = Message(
    "It is no whole release that the release key of this box has signed. Nothing was changed."
)
log = logging.getLogger(__name__)


class Pieces(Protocol):
    """Fetches: `Client`."""

    def piece(self, path: str, first: int, end: int) -> tuple[bytes, int]:
        """Return the bytes of a file from one to before another, and the file's size. Raises NotReached, Refused."""


class Inbox:
    """The folder, what is asked for, and the next piece. Used on the uplink's one thread."""

    def __init__(
        self,
        folder: Path,
        notes: Path,
        *,
        house_key: Path,
        release_key: Path,
        clock: Callable[[], float],
        free: Callable[[Path], int] | None = None,
    ) -> None:
        """Go on with what lies in `folder`.

        `notes`: the table's file; `house_key`, `release_key`: files of the public keys; `clock`: monotonic seconds;
        `free`: returns the free bytes of a folder's disk.
        """
        self._folder, self._notes = folder, notes
        self._house_key, self._release_key = house_key, release_key
        self._clock, self._free = clock, free or _free
        self._items = list(read_list(folder / LIST))
        self._refused: list[Item] = []  # the pit knows it; the table is to show it
        self._tries: dict[int, int] = {}
        self._wait_until = float("-inf")
        self._wasted, self._day = 0, float("-inf")

    def told(self) -> tuple[dict[str, Any], ...]:
        """Return how far each request is, for the pit: what the table says of a file that lies here."""
        if not self._items:
            return ()
        said = {one.asked: one for one in read_list(self._notes)}
        return tuple(
            (said.get(one.asked, one) if one.state == "fetched" else one).told.as_json()
            for one in self._items
        )

    def ask(self, files: object) -> None:
        """Take over what the pit asks for now: all that is open. What it does not name any more is removed."""
        asked = asked_of(files)
        if asked is None:
            return
        known = {one.asked: one for one in self._items}
        items = [known.get(one, Item(one)) for one in asked]
        if known.keys() == set(asked):
            return
        over = [one for one in self._items if one.state == "refused" and one.asked not in asked]
        self._refused = [*over, *self._refused][:MOST_SHOWN]
        self._items = items
        self._wait_until = float("-inf")
        self._keep()

    def step(self, client: Pieces) -> bool:
        """Fetch one piece of what is open, if it is time; return whether there was something to do.

        Raises NotReached: the pit is away.
        """
        self._make_room()
        due = next((number for number, one in enumerate(self._items) if one.state == "asked"), None)
        if due is None or self._clock() < self._wait_until:
            return False
        one = self._items[due].asked
        try:
            state, why = self._fetch(one, client)
        except Refused as error:
            state, why = "asked", error.sentence
        except NotReached:
            raise
        except OSError as error:
            state, why = "asked", _cannot(error)
        if state == "asked" and why is not None:
            self._wait_until = self._clock() + AGAIN_S
            # Another file may be possible: this one is tried again after it.
            self._items.append(self._items.pop(due))
            due = len(self._items) - 1
        self._set(due, state, why)
        return True

    def _fetch(self, one: Asked, client: Pieces) -> tuple[str, Message | None]:
        """Fetch one piece; return the request's state after it, and why it is no further. Raises OSError, Refused."""
        if why := self._never(one):
            return "refused", why
        whole, part = self._folder / one.sha256, self._folder / (one.sha256 + PART)
        if why := self._not_now(one):
            if part.exists():
                self._remove(part)
            return "asked", why
        if whole.exists():
            return "fetched", None
        have = part.stat().st_size if part.exists() else 0
        if have < one.size:
            missing = one.size - have
            if (room := self._free(self._folder) - LEAVES_FREE) < missing:
                return "asked", Message(
                    "The disk has %(free)s MB to spare, and %(needed)s MB are needed. Make room first.",
                    free=max(0, room // MB),
                    needed=-(-missing // MB),
                )
            data, size = client.piece(f"/v1/files/{one.sha256}", have, min(have + PIECE, one.size))
            if size != one.size or not 0 < len(data) <= missing:
                return self._unlike(one, part)
            with part.open("ab") as file:
                file.write(data)
            if len(data) < missing:
                return "asked", None
        return self._judge(one, part, whole)

    def _never(self, one: Asked) -> Message | None:
        """Return why a file is not even fetched."""
        if one.kind not in KINDS:
            return Message("This table's release knows no files of the kind %(kind)s.", kind=one.kind)
        most = MOST_BYTES[one.kind]
        if not 0 < one.size <= most:
            return Message("It is too large: %(size)s bytes, and %(most)s at most.", size=one.size, most=most)
        return None if one.kind == "release" else self._signature(one)

    def _not_now(self, one: Asked) -> Message | None:
        """Return why a file is not fetched now."""
        if one.kind == "release" and any(
            item.asked.kind == "release" and item.asked.number > one.number and item.state != "refused"
            for item in self._items
        ):
            return ONE_RELEASE
        if self._clock() - self._day >= DAY_S:
            self._wasted, self._day = 0, self._clock()
        return WASTED if self._wasted >= MOST_WASTED else None

    def _make_room(self) -> None:
        """Remove releases where the record needs their room: they are fetched again once there is more."""
        large = [at for at, one in enumerate(self._items) if one.asked.kind == "release"]
        try:
            if not large or not self._folder.exists() or self._free(self._folder) >= RECORD_NEEDS:
                return
            for at in large:
                one = self._items[at]
                for path in (self._folder / one.asked.sha256, self._folder / (one.asked.sha256 + PART)):
                    if path.exists():
                        self._remove(path)
                        self._set(at, "asked", NO_ROOM)
                        self._wait_until = self._clock() + AGAIN_S
        except OSError as error:
            log.warning("No room can be made in the inbox: %s", error)

    def _remove(self, path: Path) -> None:
        """Remove what was fetched for nothing, and count it. Raises OSError."""
        self._wasted += path.stat().st_size
        path.unlink()

    def _signature(self, one: Asked) -> Message | None:
        try:
            key = self._house_key.read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            return NO_HOUSE_KEY
        text = signed_text(one.kind, one.name, one.sha256, one.size, one.by)
        if is_hash(key) and signed_by(bytes.fromhex(key), bytes.fromhex(one.signature), text):
            return None
        return NOT_THE_HOUSES

    def _judge(self, one: Asked, part: Path, whole: Path) -> tuple[str, Message | None]:
        """Lay a file that was fetched into its place, if it is what was announced and signed. Raises OSError."""
        with part.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != one.sha256:
                return self._unlike(one, part)
        if one.kind == "release":
            try:
                release = signed_release(part, trusted_key(self._release_key))
            except UpdateRefused as error:
                log.warning("%s: %s", one.version, error)
                self._remove(part)
                return "refused", NOT_THE_MAKERS
            if release.name != one.version:
                self._remove(part)
                return "refused", Message(
                    "It is release %(is)s, and was announced as %(version)s.",
                    **{"is": release.name, "version": one.version},
                )
        part.chmod(FILE_MODE)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.rename(whole)
        sync_folder(self._folder)
        log.info("%s %s was fetched", one.kind, one.version or one.name)
        return "fetched", None

    def _unlike(self, one: Asked, part: Path) -> tuple[str, Message | None]:
        if part.exists():
            self._remove(part)
        tries = self._tries[one.number] = self._tries.get(one.number, 0) + 1
        return ("refused" if tries >= MOST_TRIES else "asked"), UNLIKE

    def _set(self, at: int, state: str, why: Message | None) -> None:
        before = self._items[at]
        self._items[at] = replace(before, state=state, why=why)
        if self._items[at] != before:
            if why is not None:
                log.warning("%s %s: %s", before.asked.kind, before.asked.version or before.asked.name, why)
            self._keep()

    def _keep(self) -> None:
        """Write the list; remove files that nobody asks for any more. The list is written first."""
        try:
            make_folder(self._folder)
            write_list(self._folder / LIST, [*self._items, *self._refused])
            wanted = {one.asked.sha256 for one in self._items if one.state != "refused"}
            for path in self._folder.iterdir():
                name = path.name.removesuffix(PART)
                if is_hash(name) and name not in wanted:
                    self._remove(path)
        except OSError as error:
            log.warning("The inbox cannot be written: %s", error)


def _free(folder: Path) -> int:
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def _cannot(error: OSError) -> Message:
    return Message("It cannot be stored at the table (%(why)s).", why=error.strerror or type(error).__name__)
