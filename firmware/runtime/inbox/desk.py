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

from firmware.access.control import Sender
from firmware.messages import Message
from firmware.record.journal.clocks import Clock
from firmware.record.journal.reader import JournalReader
from firmware.runtime.config import PitConfig
from firmware.runtime.inbox.install_request import InstallDesk
from firmware.runtime.maintenance import RecordTable
from firmware.runtime.reading.setup_jobs import was_checked
from firmware.table import events as ev
from firmware.table.command import Command
from firmware.table.entry import content_hash
from firmware.table.errors import CommandRefused, TableError
from firmware.table.house import House
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.topics.house import SetHouse
from firmware.table.topics.inbox import TakeFile, UpdateBegun, deck_of, profile_of
from firmware.table.topics.profiles import KeepProfile, versions
from firmware.update.files import read_plain
from firmware.update.house import FOLDER as HOUSE_FOLDER
from firmware.update.house import HouseFile, HouseTrust, NeverTaken
from firmware.update.trust import UpdateRefused, folder_files
from firmware.uplink.inbox.requests import (
    LIST,
    NOTES,
    WITHDRAWN,
    FileRequest,
    inbox_path,
    read_list,
    write_list,
)

log = logging.getLogger(__name__)

EVERY_S: Final = 1.0
"""Seconds between two checks of the inbox."""
INSTALL_WITHIN_S: Final = 8 * 3600.0
"""Seconds after which an update without a result counts as ended: longer than root's program waits for the table."""
MAX_WITHDRAWN: Final = 10
"""Files that the pit does not ask for any more, and that the page still shows."""
HAND: Final = Message("A hand lies on the table.")
"""Why something waits for the end of a hand."""
NOT_HERE: Final = Message("That file does not wait here any more.")
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
        """Decide about the files in `folder`.

        `data`: the folder of the record, in which what was verified is kept, too; `house_key`: file of the house's
        public key; `running`: the release that runs; `clock`: monotonic seconds.
        """
        self._notes_path, self._house = data / NOTES, HouseTrust(data / HOUSE_FOLDER, house_key)
        self._folder, self._installs, self._config = folder, installs, config
        self._reader = JournalReader(data)
        self._wall, self._running, self._clock = wall, running, clock
        self._notes = read_list(self._notes_path)
        self._next = float("-inf")

    def turn(self, table: InboxTable) -> None:
        """Read the inbox, and do what may be done now."""
        if self._clock() < self._next or table.state.record_fault is not None:
            return  # a record in doubt takes nothing new
        self._next = self._clock() + EVERY_S
        before = {one.key: one for one in self._notes}
        listed = read_list(self._folder / LIST)
        judged = {one.key: self._judge(one, before.get(one.key), table) for one in listed}
        gone = [
            one if one.is_over else replace(one, state="withdrawn", why=WITHDRAWN)
            for one in self._notes
            if one.key not in judged
        ]
        now = (*judged.values(), *gone[:MAX_WITHDRAWN])
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

    def take(self, command: TakeFile, table: InboxTable, sender: Sender) -> dict[str, Any]:
        """Take a file, in a technician's name. Raises CommandRefused, JournalError."""
        one = next((one for one in self._notes if one.key == (command.number, command.sha256)), None)
        if one is None or one.state not in ("fetched", "waiting"):
            raise CommandRefused(NOT_HERE)
        if table.state.phase not in BETWEEN_HANDS:
            raise CommandRefused("A hand is open; this is done between hands. Finish the hand first.")
        self._next = float("-inf")
        self._go_on(self._with_file(one), table, sender.actor)
        return {"ok": True}

    # ---- what becomes of a file ----

    def _judge(self, one: FileRequest, before: FileRequest | None, table: InboxTable) -> FileRequest:
        """Return a request with what the table says of it now."""
        if one.state != "fetched":
            # the uplink has not got it, or does not take it; anything else is said by the table alone
            return one if one.state in ("asked", "refused") else replace(one, state="asked")
        if before is not None and before.state in ("in_force", "refused"):
            return before
        try:
            one = self._with_file(one)
            why = self._go_on(one, table)
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

    def _with_file(self, one: FileRequest) -> FileRequest:
        """Return a request with what the house says of its file. Raises UpdateRefused, OSError."""
        return replace(one, file=self._house.file(one.sha256, folder_files(self._folder / HOUSE_FOLDER)))

    def _go_on(self, one: FileRequest, table: InboxTable, actor: str = "") -> Message | None:
        """Do with a file what may be done now; return what it waits for, None once it is in force.

        `actor`: the technician who takes it; "": nobody does. Raises CommandRefused for what is never taken.
        """
        kinds = {"profile": self._profile, "deck": self._deck, "release": self._release}
        return kinds[one.file.kind](one, table, actor)

    def _profile(self, one: FileRequest, table: InboxTable, actor: str) -> Message | None:
        name, text = profile_of(self._bytes(one.file))
        digest = content_hash(text.encode())
        if table.house.profile_hash == digest:
            return None
        if table.state.phase not in BETWEEN_HANDS:
            return HAND
        at_once, offerer = self._config.profiles == "at once", f"pit:{one.file.by}"
        kept = versions(self._reader.about_profiles()).get(name, ())
        is_new = all(version.hash != digest for version in kept)
        if is_new:
            table.order(KeepProfile(text=text, reason="Sent by the pit"), offerer)
        if actor or (at_once and is_new):
            reason = f"Sent by the pit ({one.file.by})"
            table.order(SetHouse(profile_text=text, reason=reason), actor or offerer)
            return None
        if at_once:  # an older one may come again: from a pit that was set back, or without the house's key
            return Message(
                "It was here before as %(name)s, so it does not come into force by itself. A person with a PIN puts it"
                " in force: here, or under Game rules.",
                name=name,
            )
        return Message(
            "It is kept here as %(name)s. A person with a PIN puts it in force: here, or under Game rules.",
            name=name,
        )

    def _deck(self, one: FileRequest, table: InboxTable, actor: str) -> Message | None:
        data = self._bytes(one.file)
        name, model = deck_of(data, table.house.model_hash)
        if actor:
            made = ev.Calibration(table.keep("deck", data), name, {"model": model}, {})
            table.write([ev.DeckEnrolled(made, unchecked=not was_checked(self._reader, made.hash))], actor)
        if table.state.calibration_hash("deck") != one.sha256:
            return DECK_WAITS if table.state.phase in BETWEEN_HANDS else HAND
        return DECK_UNCHECKED if table.state.deck_unchecked else None

    def _release(self, one: FileRequest, table: InboxTable, actor: str) -> Message | None:
        release, between = one.file.version, table.state.phase in BETWEEN_HANDS
        update, begun = UpdateBegun(release, one.sha256, one.number), self._reader.last_update()
        installs, now = self._installs, self._wall()
        if begun is not None and begun.event == update:
            ended = installs.result(one)
            took_s = (now.monotonic_ns - begun.monotonic_ns) / 1e9
            goes_on = ended is None and now.boot == begun.boot and 0 <= took_s <= INSTALL_WITHIN_S
            installs.may_switch(goes_on and between)
            if goes_on:
                return INSTALLING
            if ended is not None and ended.why is not None:
                raise CommandRefused(ended.why)
            if release != self._running:
                raise CommandRefused(
                    "The update did not end; the table runs %(running)s.", running=self._running
                )
        if release == self._running:
            return None
        if not actor:
            if not self._config.release_hours:
                return NO_HOURS
            if now.clock != "synchronised":
                return NO_CLOCK
            if not self._config.is_release_hour(time.localtime(now.wall_ms / 1000)):
                return Message("The hours for updates are %(hours)s.", hours=self._config.release_hours)
        if not between:
            return HAND
        installs.ask(one)  # nothing is stopped for it before the row is written
        table.write([update], actor or f"pit:{one.file.by}")
        return INSTALLING

    def _bytes(self, file: HouseFile) -> bytes:
        """Return a small file's bytes, checked. Raises CommandRefused, OSError."""
        try:
            data = read_plain(inbox_path(self._folder, file.sha256), file.size + 1)
        except FileNotFoundError as error:
            raise CommandRefused(NOT_HERE) from error
        if content_hash(data) != file.sha256:
            raise CommandRefused("The file was changed after it was fetched. Have it sent again.")
        return data
