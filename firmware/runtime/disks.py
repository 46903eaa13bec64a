"""The house's disks: the tags that the puck reader recognises.

A technician names them by laying each disk down (`DisksNamed`). The last such event overrides the configuration, also
after a restart. Without such an event the configuration applies.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from firmware.devices.errors import DeviceSettings
from firmware.devices.puck.reading import Disks, PuckReading
from firmware.record.journal.journal import JournalReader
from firmware.table import CommandRefused
from firmware.table.events import DisksNamed, Event
from firmware.table.topics.setup import NameDisk

log = logging.getLogger(__name__)


class Hardware(Protocol):
    """The devices that use the disks: `Devices`."""

    @property
    def disks(self) -> Disks:
        """The disks that the puck reader recognises now."""

    def use(self, disks: Disks) -> None:
        """Make it recognise these disks from now on."""


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
                log.error("row %d names disks that cannot be: %s", row.seq, error)


def name_disk(
    command: NameDisk, reading: PuckReading | None, hardware: Hardware, record: Record, actor: str
) -> int:
    """Run the command, record it, and return the row's number.

    Raises CommandRefused, JournalError.
    """
    before, tag = hardware.disks, command.tag
    if tag not in {listed for _, listed, _ in tags(reading, before)}:
        raise CommandRefused("The puck reader does not read that tag now. Lay it down again.")
    dealer, action = before.dealer, before.action
    if command.disk == "dealer":
        dealer |= {tag}
    elif command.disk == "action":
        action |= {tag}
    else:
        dealer, action = dealer - {tag}, action - {tag}
    now, then = (
        (tuple(sorted(one)) for one in pair) for pair in ((dealer, action), (before.dealer, before.action))
    )
    seq = record.write((DisksNamed(*now, *then),), actor)
    hardware.use(Disks(dealer, action))
    return seq


def tags(reading: PuckReading | None, disks: Disks) -> list[tuple[int, str, str]]:
    """Return every tag in the reading as (seat, tag id, its disk or ""), then the disks' other tags at seat 0."""
    read = sorted({*reading.ours, *reading.strangers}) if reading else []
    unread = sorted((disks.dealer | disks.action) - {tag for _, tag in read})
    of = dict.fromkeys(disks.dealer, "dealer") | dict.fromkeys(disks.action, "action")
    return [(seat, tag, of.get(tag, "")) for seat, tag in (*read, *((0, tag) for tag in unread))]
