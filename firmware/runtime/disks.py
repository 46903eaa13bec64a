"""The tags that the puck reader recognises: the house's disks, and the badges of its people.

A technician names the disks by laying each down (`DisksNamed`). The last such event overrides the configuration, also
after a restart. Without such an event the configuration applies. A badge is listed by laying it down, too
(`BadgeListed`). It is not a part of the puck, and counts for a limited time after it was laid down.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from firmware.devices.errors import DeviceSettings
from firmware.devices.puck.reading import Disks, PuckReading
from firmware.record.journal.journal import JournalReader
from firmware.table import CommandRefused
from firmware.table.events import BadgeListed, DisksNamed, Event
from firmware.table.people import Person
from firmware.table.topics.people import ListBadge
from firmware.table.topics.setup import NameDisk

log = logging.getLogger(__name__)

BADGE_S: Final = 60.0
"""Seconds that a badge counts after it was laid down; then it has to be lifted and laid down again."""
LIFTED_S: Final = 2.0
"""Seconds that a badge must be away to be laid down again: less is a tag at the edge of its antenna."""


class Hardware(Protocol):
    """The devices that use the disks: `Devices`."""

    @property
    def disks(self) -> Disks:
        """The disks that the puck reader recognises now."""

    def use(self, disks: Disks) -> None:
        """Make it recognise these disks from now on."""


class BadgeReader(Protocol):
    """The devices that recognise badges: `Devices`."""

    def know(self, badges: frozenset[str]) -> None:
        """Make it recognise these badges from now on. Raises DeviceSettings."""


class Record(Protocol):
    """Where the names are recorded: the table process."""

    def write(self, events: Sequence[Event], actor: str) -> int:
        """Record events durably. Raises CommandRefused, JournalError."""


def use_named(reader: JournalReader, hardware: Hardware) -> None:
    """Make the puck reader use the disks that were named last, if any. Raises JournalError."""
    for row in reader.of_type(DisksNamed.type)[-1:]:
        if isinstance(row.event, DisksNamed):
            try:
                hardware.use(Disks(frozenset(row.event.dealer), frozenset(row.event.action)))
            except DeviceSettings as error:
                log.error("row %d names disks that cannot be used: %s", row.seq, error)


def name_disk(
    command: NameDisk, reading: PuckReading | None, hardware: Hardware, record: Record, actor: str
) -> int:
    """Run the command, record it, and return the row's number.

    Raises CommandRefused, JournalError.
    """
    before, tag = hardware.disks, command.tag
    if tag in before.badges:
        raise CommandRefused("That tag is a person's badge. Take it off the list of people first.")
    if tag not in {listed for _, listed, _ in tags(reading, before)}:
        raise CommandRefused("The puck reader does not read that tag now. Lay it down again.")
    dealer, action = before.dealer, before.action
    if command.disk == "dealer":
        dealer |= {tag}
    elif command.disk == "action":
        action |= {tag}
    else:
        dealer, action = dealer - {tag}, action - {tag}
    ids = (tuple(sorted(disk)) for disk in (dealer, action, before.dealer, before.action))
    seq = record.write((DisksNamed(*ids),), actor)
    hardware.use(Disks(dealer, action))
    return seq


class Badges:
    """The badges on the antennas: which lie there, and since when. Times are passed in, in monotonic seconds."""

    def __init__(self) -> None:
        self._reading: PuckReading | None = None
        self._laid_at: dict[str, float] = {}
        self._lifted_at: dict[str, float] = {}

    def take(self, reading: PuckReading, now: float) -> None:
        """Take a reading of the puck reader."""
        before, self._reading = self._here(), reading
        for tag in self._here() - before:
            if tag not in self._laid_at or now - self._lifted_at.get(tag, now) >= LIFTED_S:
                self._laid_at[tag] = now
        for tag in before - self._here():
            self._lifted_at[tag] = now

    def valid_tags(self, now: float) -> frozenset[str]:
        """Return the tags of the badges that lie there and are valid."""
        return frozenset(tag for tag in self._here() if now - self._laid_at[tag] <= BADGE_S)

    def list(self, command: ListBadge, disks: Disks, record: Record, actor: str) -> int:
        """Run the command, record it, and return the row's number.

        Raises CommandRefused, JournalError.
        """
        tag = "" if command.off else self._unlisted(disks)
        return record.write((BadgeListed(command.person, tag),), actor)

    def _here(self) -> frozenset[str]:
        return frozenset(tag for _, tag in self._reading.badges) if self._reading else frozenset()

    def _unlisted(self, disks: Disks) -> str:
        """Return the one unknown tag that lies on an antenna. Raises CommandRefused."""
        if self._reading is None or not self._reading.readers_ok:
            raise CommandRefused("The puck reader does not answer. Test it in the set-up first.")
        if not disks.dealer:
            raise CommandRefused("Name the dealer disk first, in the set-up, at the puck reader.")
        found = {tag for _, tag in self._reading.strangers}
        if not found:
            raise CommandRefused(
                "No new badge is read. Lay it flat in the middle of a seat's circle, then try again."
            )
        if len(found) > 1:
            raise CommandRefused("Several unknown tags are read. Lay this badge alone, then try again.")
        return found.pop()


def use_badges(people: Iterable[Person], hardware: BadgeReader) -> None:
    """Make the puck reader recognise the badges of these people."""
    try:
        hardware.know(frozenset(person.badge for person in people if person.badge))
    except DeviceSettings as error:
        log.error("a badge is listed that cannot be used: %s", error)


def tags(reading: PuckReading | None, disks: Disks) -> list[tuple[int, str, str]]:
    """Return every tag in the reading as (seat, tag id, its disk or ""), then the disks' other tags at seat 0."""
    read = sorted({*reading.ours, *reading.strangers}) if reading else []
    unread = sorted((disks.dealer | disks.action) - {tag for _, tag in read})
    of = dict.fromkeys(disks.dealer, "dealer") | dict.fromkeys(disks.action, "action")
    return [(seat, tag, of.get(tag, "")) for seat, tag in (*read, *((0, tag) for tag in unread))]
