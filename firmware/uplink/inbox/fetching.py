"""The uplink's side of the inbox: fetches what the pit asks for, piece by piece, and says when it lies there whole.

Nothing is fetched that the house's signed repository does not name with its size; a release has to be named by the
maker's, too. A broken connection loses one piece at most; what was fetched before survives a restart, too. The record
goes first: one piece is fetched between two reads of the journal.
"""

import logging
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from firmware.messages import Message
from firmware.record.journal.disk import FILE_MODE, MB, free_bytes, make_folder, sync_folder
from firmware.table.errors import TableError
from firmware.update.files import read_plain, sha256_of
from firmware.update.house import FOLDER as HOUSE_FOLDER
from firmware.update.house import HouseFile, HouseTrust, NeverTaken
from firmware.update.release import MAKER, TARGETS
from firmware.update.trust import MAKER_NAME, MAX_ROOT, GetFile, Trust, UpdateRefused
from firmware.uplink.client import Client
from firmware.uplink.errors import PitUnreachable
from firmware.uplink.inbox.requests import (
    LIST,
    MAX_OPEN_REQUESTS,
    FileRequest,
    inbox_path,
    read_list,
    requests_of,
    write_list,
)
from firmware.uplink.wire import is_hash

REPOSITORY: Final = "/v1/repository"
"""Where the pit serves its repository."""
PIECE: Final = 1 << 20
"""Bytes that are asked for at a time. Only a release is larger."""
LEAVES_FREE: Final = 500 * MB
"""Bytes that stay free on the disk of the inbox, which is the record's: enough for a day of hands."""
RECORD_NEEDS: Final = 250 * MB
"""Free bytes below which a release makes way for the record: the record grows while a release waits."""
NO_ROOM: Final = Message("The record needs the room on the disk. Make room first.")
AGAIN_S: Final = 60.0
"""Seconds until something that cannot be fetched is tried again."""
MAX_TRIES: Final = 3
"""How often a file that comes with other bytes than announced is fetched."""
MAX_WASTED_BYTES: Final = 3 << 30
"""Bytes a day of files that turn out to be useless: more would wear the card out, and a sound pit sends
none."""
DAY_S: Final = 86_400.0
ONE_RELEASE: Final = Message("Another release is asked for as well. Withdraw one of them at the pit.")
WASTED: Final = Message("Too much came from the pit today that was of no use. It is tried again tomorrow.")
UNLIKE: Final = Message("The bytes that came are not those that were announced.")
NOT_THE_MAKERS: Final = Message("It is no release that the maker has signed. Nothing was changed.")
log = logging.getLogger(__name__)


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
        """Continue with the files in `folder`.

        `notes`: the table's file; `house_key`: file of the house's public key; `maker_root`: file of the maker's root
        metadata; `clock`: monotonic seconds; `free`: returns the free bytes of a folder's disk.
        """
        self._folder, self._notes = folder, notes
        self._house, self._maker_root = HouseTrust(folder / HOUSE_FOLDER, house_key), maker_root
        self._clock, self._free = clock, free
        self._requests = {one.key: one for one in read_list(folder / LIST)}
        self._tries: dict[int, int] = {}
        self._wait_until: dict[int, float] = {}
        self._wasted, self._day = 0, float("-inf")

    def progress(self) -> tuple[dict[str, Any], ...]:
        """Return how far each request is, for the pit. What is not to be fetched any more the table process says.

        So the pit ends no request before the table shows that it is refused.
        """
        notes = {one.key: one for one in read_list(self._notes)} if self._requests else {}
        known = [one for key, one in self._requests.items() if one.state != "refused" or key in notes]
        return tuple((one if one.state == "asked" else notes.get(one.key, one)).report() for one in known)

    def ask(self, files: object) -> None:
        """Take over what the pit asks for now: all that is open. What it does not name any more is removed."""
        if not isinstance(files, list):
            return
        wanted = {one.key: FileRequest(*one.key) for one in requests_of(files[:MAX_OPEN_REQUESTS])}
        if wanted.keys() != self._requests.keys():
            self._requests = {key: self._requests.get(key, one) for key, one in wanted.items()}
            self._house.named.clear()  # what is new is looked up together with the rest
            self._wait_until.clear()
            self._keep()

    def step(self, client: Client) -> bool:
        """Fetch one piece of what is open, if it is time; return whether there was something to do.

        Raises PitUnreachable: the pit is away.
        """
        self._make_room()
        now = self._clock()
        due = (one for one in self._requests.values() if now >= self._wait_until.get(one.number, now))
        one = next((one for one in due if one.state == "asked"), None)
        if one is None:
            return False
        try:
            file = self._house.file(one.sha256, _getter(client, HOUSE_FOLDER))
            is_whole = self._fetch(one.number, file, client)
            self._note(one, "fetched" if is_whole else "asked")
        except PitUnreachable:
            raise
        except NeverTaken as error:
            self._note(one, "refused", error.sentence)
        except TableError as error:
            self._note(one, "asked", error.sentence)
        except OSError as error:
            why = Message("It cannot be stored at the table (%(why)s).", why=error.strerror or str(error))
            self._note(one, "asked", why)
        return True

    def _fetch(self, number: int, file: HouseFile, client: Client) -> bool:
        """Fetch a file's next piece; return whether it lies here whole. Raises OSError, PitRefusal, UpdateRefused."""
        path = inbox_path(self._folder, file.sha256)
        if why := self._not_now(number, file):
            self._remove(path)
            raise UpdateRefused(why)
        have = path.stat().st_size if path.exists() else 0
        if file.kind == "release" and not have:
            self._check_maker(file, client)
        missing = file.size - have
        if missing > 0:
            if (room := self._free(self._folder) - LEAVES_FREE) < missing:
                raise UpdateRefused(
                    "The disk has %(free)s MB to spare, and %(needed)s MB are needed. Make room first.",
                    free=max(0, room // MB),
                    needed=-(-missing // MB),
                )
            served = f"{REPOSITORY}/{TARGETS}/{file.sha256[:2]}/{file.sha256}"
            data, size = client.piece(served, have, min(have + PIECE, file.size))
            is_piece = size == file.size and 0 < len(data) <= missing
            if is_piece:
                make_folder(path.parent)
                with path.open("ab") as begun:
                    begun.write(data)
            if is_piece and len(data) < missing:
                return False
        if not path.exists() or sha256_of(path) != file.sha256:
            self._remove(path)
            self._tries[number] = self._tries.get(number, 0) + 1
            raise (NeverTaken if self._tries[number] >= MAX_TRIES else UpdateRefused)(UNLIKE)
        path.chmod(FILE_MODE)
        with path.open("rb") as written:
            os.fsync(written.fileno())
        sync_folder(path.parent)
        log.info("%s %s was fetched", file.kind, file.title)
        return True

    def _not_now(self, number: int, file: HouseFile) -> Message | None:
        """Return why a file is not fetched now."""
        later = [one for one in self._requests.values() if one.number > number and one.state != "refused"]
        releases = {one.sha256 for one in self._house.named.values() if one.kind == "release"}
        if file.kind == "release" and any(one.sha256 in releases for one in later):
            return ONE_RELEASE
        if self._clock() - self._day >= DAY_S:
            self._wasted, self._day = 0, self._clock()
        return WASTED if self._wasted >= MAX_WASTED_BYTES else None

    def _check_maker(self, file: HouseFile, client: Client) -> None:
        """Raise UpdateRefused unless the maker has signed this release; OSError, PitUnreachable, PitRefusal, too."""
        trust = Trust(self._folder / MAKER, read_plain(self._maker_root, MAX_ROOT), who=MAKER_NAME)
        named = trust.refresh(_getter(client, MAKER)).values()
        signed = [(target.sha256, target.size, target.about.get("release")) for target in named]
        if (file.sha256, file.size, file.version) not in signed:
            raise NeverTaken(NOT_THE_MAKERS)

    def _make_room(self) -> None:
        """Remove releases where the record needs their room: they are fetched again once there is more."""
        try:
            if not self._folder.exists() or self._free(self._folder) >= RECORD_NEEDS:
                return
            for one in self._requests.values():
                path = inbox_path(self._folder, one.sha256)
                if path.exists() and path.stat().st_size > PIECE:
                    self._remove(path)
                    self._note(one, "asked", NO_ROOM)
        except OSError as error:
            log.warning("No room can be made in the inbox: %s", error)

    def _remove(self, path: Path) -> None:
        """Remove a useless file, if it is there, and count its bytes as wasted. Raises OSError."""
        if path.exists():
            self._wasted += path.stat().st_size
            path.unlink()

    def _note(self, before: FileRequest, state: str, why: Message | None = None) -> None:
        """Store a request's new state.

        A request that could not be fetched (`why`) waits for a while, and others are tried.
        """
        if state == "asked" and why is not None:
            self._wait_until[before.number] = self._clock() + AGAIN_S
        now = self._requests | {before.key: replace(before, state=state, why=why)}
        files = self._house.named  # what the house says of one file it says of all
        now = {key: replace(one, file=files.get(one.sha256, one.file)) for key, one in now.items()}
        if now != self._requests:
            self._requests = now
            if why is not None:
                log.warning("%s: %s", now[before.key].title, why)
            self._keep()

    def _keep(self) -> None:
        """Write the list; remove files that nobody asks for any more. The list is written first."""
        try:
            make_folder(self._folder)
            write_list(self._folder / LIST, self._requests.values())
            wanted = {one.sha256 for one in self._requests.values() if one.state != "refused"}
            for path in (self._folder / TARGETS).glob("*"):
                if is_hash(path.name) and path.name not in wanted:
                    self._remove(path)
        except OSError as error:
            log.warning("The inbox cannot be written: %s", error)


def _getter(client: Client, folder: str) -> GetFile:
    """Return a function that gets a repository's metadata from the pit. It ignores `most`: every answer is bounded."""
    return lambda name, most: client.find(f"{REPOSITORY}/{folder}/{name}")
