"""The table's side of the inbox: decides between hands what becomes of files that the uplink has fetched from the pit.

The uplink is another process that speaks to the network, so nothing that it writes is believed: the house's signed
repository is verified here again, a release by root before anything in it runs. What is decided stands in `NOTES`: the
uplink passes it on to the pit, and the page shows it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

from firmware.access.control import Who
from firmware.messages import Message
from firmware.record.journal.clocks import Clock
from firmware.record.journal.reader import JournalReader
from firmware.runtime.config import PitConfig
from firmware.runtime.inbox.install_request import INSTALL_WITHIN_S, InstallDesk
from firmware.runtime.reading.setup_jobs import was_checked
from firmware.table import State, TableError
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
from firmware.update.house import HouseFile, house_files, trust_house
from firmware.update.trust import UpdateRefused, folder_files
from firmware.uplink.inbox.folder import FROM_UPLINK, LIST, NOTES, Item, place, read_list, write_list
from firmware.uplink.inbox.texts import deck_of, profile_of
from firmware.uplink.inbox.wire import OVER

log = logging.getLogger(__name__)

EVERY_S: Final = 1.0
"""Seconds between two looks at the inbox."""
MOST_GONE: Final = 10
"""Files that the pit does not ask for any more, and that the page still shows."""
TRUST: Final = "house"
"""The folder of what was verified of the house's repository, in the record's."""
HAND: Final = Message("A hand lies on the table.")
"""Why something waits for the end of a hand."""
NOT_THE_HOUSES: Final = Message("It was not signed by the house. Nothing was changed.")
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


class Table(Protocol):
    """The part of the table process that is used here."""

    @property
    def state(self) -> State:
        """The state, as the journal has it."""

    @property
    def house(self) -> House:
        """The settings for the next hand."""

    def write(self, events: Sequence[ev.Event], actor: str) -> int:
        """Record events durably. Raises CommandRefused, JournalError."""

    def order(self, command: Command, actor: str) -> int:
        """Decide a command, with the texts that it names. Raises CommandRefused, JournalError."""

    def keep(self, kind: str, data: bytes) -> str:
        """Store content that events name by hash; return its hash. Raises JournalError."""


@dataclass(frozen=True)
class Places:
    """Where things lie: the inbox, the house's public key, and what installs releases."""

    inbox: Path
    house_key: Path
    installs: InstallDesk


class Inbox:
    """Used on the table's thread."""

    def __init__(
        self,
        data: Path,
        places: Places,
        config: PitConfig,
        wall: Clock,
        *,
        running: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`data`: the folder of the record; `running`: the release that runs; `clock`: monotonic seconds."""
        self._notes_path, self._trust_path = data / NOTES, data / TRUST
        self._places, self._config = places, config
        self._reader = JournalReader(data)
        self._wall, self._running, self._clock = wall, running, clock
        self._notes = read_list(self._notes_path)
        self._named: dict[str, HouseFile] = {}
        self._ordered: dict[tuple[int, str], str] = {}
        self._next = float("-inf")

    def turn(self, table: Table) -> None:
        """Look what lies in the inbox, and do what may be done now."""
        if self._clock() < self._next or table.state.record_fault is not None:
            return  # a record in doubt takes nothing new
        self._next = self._clock() + EVERY_S
        before = {one.key: one for one in self._notes}
        lying = [self._now(one, before.get(one.key), table) for one in read_list(self._places.inbox / LIST)]
        asked = {one.key for one in lying}
        gone = [_ended(one) for one in self._notes if one.key not in asked]
        now = (*lying, *gone[:MOST_GONE])
        if now == self._notes:
            return
        for one in now:
            if one != before.get(one.key):
                title = one.file.title if one.file is not None else one.sha256
                log.info("%s: %s %s", title, one.state, one.why or "")
        try:
            write_list(self._notes_path, now)
        except OSError as error:
            log.warning("What becomes of the pit's files cannot be written: %s", error)
            return
        self._notes = now

    def take(self, command: TakeFile, table: Table, who: Who) -> dict[str, Any]:
        """Take a file, in a technician's name. Raises CommandRefused, JournalError."""
        wanted = (command.number, command.sha256)
        one = next((one for one in self._notes if one.key == wanted), None)
        if one is None or one.file is None or one.state not in ("fetched", "waiting"):
            raise CommandRefused(NOT_HERE)
        if table.state.phase not in BETWEEN_HANDS:
            raise CommandRefused("A hand is open; this is done between hands. Finish the hand first.")
        self._next = float("-inf")
        match one.file.kind:
            case "release":
                self._ordered[one.key] = who.actor
                return {"ok": True}
            case "profile":
                text = profile_of(self._bytes(one.file))[1]
                return {"ok": True, "seq": self._put_in_force(one.file, text, table, who.actor)}
            case "deck":
                name, model = deck_of(self._bytes(one.file), table.house.model_hash)
                digest = table.keep("deck", self._bytes(one.file))
                made = ev.Calibration(digest, name, {"model": model}, {})
                learnt = ev.DeckEnrolled(made, unchecked=not was_checked(self._reader, digest))
                return {"ok": True, "seq": table.write([learnt], who.actor)}
        raise CommandRefused(NOT_HERE)

    # ---- what becomes of a file ----

    def _now(self, one: Item, before: Item | None, table: Table) -> Item:
        if one.state != "fetched":
            # the uplink has not got it, or does not take it; anything else is said by the table alone
            return one if one.state in FROM_UPLINK else replace(one, state="asked")
        if before is not None and before.state in ("in_force", "refused"):
            return before
        file = None
        try:
            file = self._file(one.sha256)
            state, why = self._decide(one.number, file, table)
        except UpdateRefused as error:  # the uplink may be writing it now
            return replace(one, why=error.sentence)
        except CommandRefused as error:
            state, why = "refused", error.sentence
        except (TableError, OSError) as error:
            log.warning("%s waits: %s", one.sha256, error)
            return before or one
        except Exception:  # a file from the network never ends the table's thread
            log.exception("%s is refused", one.sha256)
            state, why = "refused", FAULT
        return Item(one.number, one.sha256, state, why, file or one.file)

    def _file(self, sha256: str) -> HouseFile:
        """Return what the house says of a file. Raises CommandRefused, UpdateRefused, OSError."""
        if sha256 not in self._named:
            get = folder_files(self._places.inbox / HOUSE_FOLDER)
            self._named = house_files(trust_house(self._trust_path, self._places.house_key, get).refresh(get))
        if sha256 not in self._named:
            raise CommandRefused(NOT_THE_HOUSES)
        return self._named[sha256]

    def _decide(self, number: int, one: HouseFile, table: Table) -> tuple[str, Message | None]:
        """Return a file's state and why it is no further. Raises CommandRefused for what is never taken."""
        match one.kind:
            case "profile":
                return self._profile(one, table)
            case "deck":
                return self._deck(one, table)
            case "release":
                return self._release(number, one, table)
        raise CommandRefused("This table's release knows no files of the kind %(kind)s.", kind=one.kind)

    def _profile(self, one: HouseFile, table: Table) -> tuple[str, Message | None]:
        name, text = profile_of(self._bytes(one))
        digest = content_hash(text.encode())
        if table.house.profile_hash == digest:
            return "in_force", None
        if table.state.phase not in BETWEEN_HANDS:
            return "waiting", HAND
        at_once = self._config.profiles == "at once"
        kept = versions(self._reader.about_profiles()).get(name, ())
        if not any(version.hash == digest for version in kept):
            table.order(KeepProfile(text=text, reason="Sent by the pit"), f"pit:{one.by}")
            if at_once:
                self._put_in_force(one, text, table, f"pit:{one.by}")
                return "in_force", None
        elif at_once:  # an older one may come again: from a pit that was set back, or without the house's key
            return "waiting", Message(
                "It was here before as %(name)s, so it does not come into force by itself. A person with a PIN puts it"
                " in force: here, or under Game rules.",
                name=name,
            )
        return "waiting", Message(
            "It is kept here as %(name)s. A person with a PIN puts it in force: here, or under Game rules.",
            name=name,
        )

    def _put_in_force(self, one: HouseFile, text: str, table: Table, actor: str) -> int:
        reason = f"Sent by the pit ({one.by})"
        return table.order(SetHouse(profile_text=text, reason=reason), actor)

    def _deck(self, one: HouseFile, table: Table) -> tuple[str, Message | None]:
        deck_of(self._bytes(one), table.house.model_hash)
        if table.state.calibration_hash("deck") != one.sha256:
            return "waiting", DECK_WAITS if table.state.phase in BETWEEN_HANDS else HAND
        return ("waiting", DECK_UNCHECKED) if table.state.deck_unchecked else ("in_force", None)

    def _release(self, number: int, one: HouseFile, table: Table) -> tuple[str, Message | None]:
        between = table.state.phase in BETWEEN_HANDS
        installs = self._places.installs
        attempt = installs.attempt(number, one.sha256)
        if attempt is not None:
            moment = self._wall()
            same_boot = attempt.boot == moment.boot
            result = installs.result(number, one.sha256)
            took_s = (moment.monotonic_ns - attempt.began_ns) / 1e9
            if result is None and same_boot and 0 <= took_s <= INSTALL_WITHIN_S:
                installs.may_switch(between)
                return "waiting", INSTALLING
            installs.may_switch(False)
            if one.version == self._running and not result:
                return "in_force", None
            if result:
                return "refused", Message("The update failed: %(why)s", why=result)
            return "refused", Message(
                "The update did not end; the table runs %(running)s.", running=self._running
            )
        if one.version == self._running:
            return "in_force", None
        actor = self._ordered.get((number, one.sha256))
        if actor is None and (why := self._why_not_by_itself()) is not None:
            return "waiting", why
        if not between:
            return "waiting", HAND
        table.write([UpdateBegun(one.version, one.sha256)], actor or f"pit:{one.by}")
        installs.ask(number, one.sha256, self._wall())
        return "waiting", INSTALLING

    def _why_not_by_itself(self) -> Message | None:
        """Return why no release is installed now without a person."""
        hours = self._config.hours
        if hours is None:
            return NO_HOURS
        moment = self._wall()
        if moment.clock != "synchronised":
            return NO_CLOCK
        local = time.localtime(moment.wall_ms / 1000)
        minute, (first, end) = local.tm_hour * 60 + local.tm_min, hours
        inside = first <= minute < end if first < end else minute >= first or minute < end
        return (
            None
            if inside
            else Message("The hours for updates are %(hours)s.", hours=self._config.release_hours)
        )

    def _bytes(self, one: HouseFile) -> bytes:
        """Return a small file's bytes, checked. Raises CommandRefused, UpdateRefused, OSError."""
        known = self._file(one.sha256)
        try:
            data = read_plain(place(self._places.inbox, known.sha256), known.size + 1)
        except FileNotFoundError as error:
            raise CommandRefused(NOT_HERE) from error
        if len(data) != known.size or content_hash(data) != known.sha256:
            raise CommandRefused("The file was changed after it was fetched. Have it sent again.")
        return data


def _ended(one: Item) -> Item:
    return one if one.state in OVER else replace(one, state="withdrawn", why=WITHDRAWN)
