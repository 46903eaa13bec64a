"""The table's side of the inbox: decides between hands what becomes of files that the uplink has fetched from the pit.

The uplink is another process that speaks to the network, so nothing that it writes is believed: the house's signed
repository is verified here again, a release by root before anything in it runs. What is decided stands in `NOTES`: the
uplink passes it on to the pit, and the page shows it.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

from firmware.access.control import Who
from firmware.messages import Message
from firmware.record.journal.clocks import Clock, Timestamp
from firmware.record.journal.reader import JournalReader
from firmware.runtime.config import PitConfig
from firmware.runtime.inbox.install_request import InstallDesk
from firmware.runtime.maintenance import RecordTable
from firmware.runtime.reading.setup_jobs import was_checked
from firmware.table import TableError
from firmware.table import events as ev
from firmware.table.command import Command
from firmware.table.entry import content_hash
from firmware.table.errors import CommandRefused
from firmware.table.house import House
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.topics.house import SetHouse
from firmware.table.topics.inbox import TakeFile, UpdateBegun
from firmware.table.topics.profiles import KeepProfile, versions
from firmware.update.files import read_plain
from firmware.update.house import FOLDER as HOUSE_FOLDER
from firmware.update.house import HouseFile, HouseTrust, NeverTaken
from firmware.update.trust import UpdateRefused, folder_files
from firmware.uplink.inbox.requests import (
    FROM_UPLINK,
    LIST,
    NOTES,
    FileRequest,
    read_list,
    whole_path,
    write_list,
)
from firmware.uplink.inbox.texts import deck_of, profile_of

log = logging.getLogger(__name__)

EVERY_S: Final = 1.0
"""Seconds between two looks at the inbox."""
MOST_GONE: Final = 10
"""Files that the pit does not ask for any more, and that the page still shows."""
TRUST: Final = "house"
"""The folder of what was verified of the house's repository, in the record's."""
HAND: Final = Message("A hand lies on the table.")
"""Why something waits for the end of a hand."""
NOT_HERE: Final = Message("That file does not wait here any more.")
WITHDRAWN: Final = Message("It was withdrawn at the pit.")
DECK_WAITS: Final = Message("A technician takes it at the table.")
DECK_UNCHECKED: Final = Message("It is in use. Check the deck before its first hand.")
FAULT: Final = Message(
    "The table met an error of its own with this file; look at its log. Nothing was changed."
)
NO_HOURS: Final = Message("The house allows no hours for updates. A technician starts it at the table.")
NO_CLOCK: Final = Message(
    "The table's clock was not set by the network, so its hours are not known. A technician starts it at the table."
)
INSTALLING: Final = Message("It is being installed. The table deals on until it is ready.")


class InboxTable(RecordTable, Protocol):
    """The part of the table process that is used here."""

    @property
    def house(self) -> House:
        """The settings for the next hand."""

    def order(self, command: Command, actor: str) -> int:
        """Decide a command, with the texts that it names. Raises CommandRefused, JournalError."""

    def keep(self, kind: str, data: bytes) -> str:
        """Store content that events name by hash; return its hash. Raises JournalError."""


class Inbox:
    """Used on the table's thread."""

    def __init__(
        self,
        data: Path,
        folder: Path,
        house_key: Path,
        installs: InstallDesk,
        config: PitConfig,
        wall: Clock,
        *,
        running: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Decide about what lies in `folder`.

        `data`: the folder of the record; `house_key`: file of the house's public key; `running`: the release that runs;
        `clock`: monotonic seconds.
        """
        self._notes_path, self._house = data / NOTES, HouseTrust(data / TRUST, house_key)
        self._folder, self._installs, self._config = folder, installs, config
        self._reader = JournalReader(data)
        self._wall, self._running, self._clock = wall, running, clock
        self._notes = read_list(self._notes_path)
        self._ordered: dict[tuple[int, str], str] = {}
        self._next = float("-inf")

    def turn(self, table: InboxTable) -> None:
        """Look what lies in the inbox, and do what may be done now."""
        if self._clock() < self._next or table.state.record_fault is not None:
            return  # a record in doubt takes nothing new
        self._next = self._clock() + EVERY_S
        before = {one.key: one for one in self._notes}
        lying = [self._judge(one, before.get(one.key), table) for one in read_list(self._folder / LIST)]
        asked = {one.key for one in lying}
        gone = [
            one if one.is_over else replace(one, state="withdrawn", why=WITHDRAWN)
            for one in self._notes
            if one.key not in asked
        ]
        now = (*lying, *gone[:MOST_GONE])
        if now == self._notes:
            return
        for one in now:
            if one != before.get(one.key):
                log.info("%s: %s %s", one.title, one.state, one.why or "")
        try:
            write_list(self._notes_path, now)
            self._notes = now
        except OSError as error:
            log.warning("What becomes of the pit's files cannot be written: %s", error)

    def take(self, command: TakeFile, table: InboxTable, who: Who) -> dict[str, Any]:
        """Take a file, in a technician's name. Raises CommandRefused, JournalError."""
        wanted = (command.number, command.sha256)
        one = next((one for one in self._notes if one.key == wanted), None)
        if one is None or one.state not in ("fetched", "waiting"):
            raise CommandRefused(NOT_HERE)
        if table.state.phase not in BETWEEN_HANDS:
            raise CommandRefused("A hand is open; this is done between hands. Finish the hand first.")
        self._next = float("-inf")
        match one.file.kind:
            case "release":
                self._ordered[one.key] = who.actor
                return {"ok": True}
            case "profile":
                text = profile_of(self._bytes(one.sha256))[1]
                return {"ok": True, "seq": self._put_in_force(one, text, table, who.actor)}
            case "deck":
                data = self._bytes(one.sha256)
                name, model = deck_of(data, table.house.model_hash)
                digest = table.keep("deck", data)
                made = ev.Calibration(digest, name, {"model": model}, {})
                learnt = ev.DeckEnrolled(made, unchecked=not was_checked(self._reader, digest))
                return {"ok": True, "seq": table.write([learnt], who.actor)}
        raise CommandRefused(NOT_HERE)

    # ---- what becomes of a file ----

    def _judge(self, one: FileRequest, before: FileRequest | None, table: InboxTable) -> FileRequest:
        """Return a request with what the table says of it now."""
        if one.state != "fetched":
            # the uplink has not got it, or does not take it; anything else is said by the table alone
            return one if one.state in FROM_UPLINK else replace(one, state="asked")
        if before is not None and before.state in ("in_force", "refused"):
            return before
        try:
            one = replace(one, file=self._file(one.sha256))
            decide = {"profile": self._profile, "deck": self._deck, "release": self._release}[one.file.kind]
            why = decide(one, table)
            return replace(one, state="waiting" if why else "in_force", why=why)
        except (CommandRefused, NeverTaken) as error:
            return replace(one, state="refused", why=error.sentence)
        except UpdateRefused as error:  # the uplink may be writing it now
            return replace(one, why=error.sentence)
        except (TableError, OSError) as error:
            log.warning("%s waits: %s", one.sha256, error)
            return before or one
        except Exception:  # a file from the network never ends the table's thread
            log.exception("%s is refused", one.sha256)
            return replace(one, state="refused", why=FAULT)

    def _file(self, sha256: str) -> HouseFile:
        """Return what the house says of a file. Raises UpdateRefused, OSError."""
        return self._house.file(sha256, folder_files(self._folder / HOUSE_FOLDER))

    # Each of these returns what a file waits for, None once it is in force. CommandRefused: it is never taken.

    def _profile(self, one: FileRequest, table: InboxTable) -> Message | None:
        name, text = profile_of(self._bytes(one.sha256))
        digest = content_hash(text.encode())
        if table.house.profile_hash == digest:
            return None
        if table.state.phase not in BETWEEN_HANDS:
            return HAND
        at_once = self._config.profiles == "at once"
        kept = versions(self._reader.about_profiles()).get(name, ())
        if not any(version.hash == digest for version in kept):
            table.order(KeepProfile(text=text, reason="Sent by the pit"), f"pit:{one.file.by}")
            if at_once:
                self._put_in_force(one, text, table, f"pit:{one.file.by}")
                return None
        elif at_once:  # an older one may come again: from a pit that was set back, or without the house's key
            return Message(
                "It was here before as %(name)s, so it does not come into force by itself. A person with a PIN puts it"
                " in force: here, or under Game rules.",
                name=name,
            )
        return Message(
            "It is kept here as %(name)s. A person with a PIN puts it in force: here, or under Game rules.",
            name=name,
        )

    def _put_in_force(self, one: FileRequest, text: str, table: InboxTable, actor: str) -> int:
        return table.order(SetHouse(profile_text=text, reason=f"Sent by the pit ({one.file.by})"), actor)

    def _deck(self, one: FileRequest, table: InboxTable) -> Message | None:
        deck_of(self._bytes(one.sha256), table.house.model_hash)
        if table.state.calibration_hash("deck") != one.sha256:
            return DECK_WAITS if table.state.phase in BETWEEN_HANDS else HAND
        return DECK_UNCHECKED if table.state.deck_unchecked else None

    def _release(self, one: FileRequest, table: InboxTable) -> Message | None:
        release, between = one.file.version, table.state.phase in BETWEEN_HANDS
        installs, now = self._installs, self._wall()
        attempt = installs.attempt(one)
        if attempt is not None:
            result = installs.result(one)
            goes_on = result is None and attempt.goes_on(now)
            installs.may_switch(goes_on and between)
            if goes_on:
                return INSTALLING
            if result:
                raise CommandRefused("The update failed: %(why)s", why=result)
            if release != self._running:
                raise CommandRefused(
                    "The update did not end; the table runs %(running)s.", running=self._running
                )
        if release == self._running:
            return None
        actor = self._ordered.get(one.key)
        if actor is None and (why := self._why_not_by_itself(now)) is not None:
            return why
        if not between:
            return HAND
        table.write([UpdateBegun(release, one.sha256)], actor or f"pit:{one.file.by}")
        installs.ask(one, now)
        return INSTALLING

    def _why_not_by_itself(self, now: Timestamp) -> Message | None:
        """Return why no release is installed now without a person."""
        hours = self._config.hours
        if hours is None:
            return NO_HOURS
        if now.clock != "synchronised":
            return NO_CLOCK
        local = time.localtime(now.wall_ms / 1000)
        minute, (first, end) = local.tm_hour * 60 + local.tm_min, hours
        inside = first <= minute < end if first < end else minute >= first or minute < end
        said = Message("The hours for updates are %(hours)s.", hours=self._config.release_hours)
        return None if inside else said

    def _bytes(self, sha256: str) -> bytes:
        """Return a small file's bytes, checked. Raises CommandRefused, UpdateRefused, OSError."""
        size = self._file(sha256).size
        try:
            data = read_plain(whole_path(self._folder, sha256), size + 1)
        except FileNotFoundError as error:
            raise CommandRefused(NOT_HERE) from error
        if len(data) != size or content_hash(data) != sha256:
            raise CommandRefused("The file was changed after it was fetched. Have it sent again.")
        return data
