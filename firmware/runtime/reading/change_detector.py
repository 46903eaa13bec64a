"""Watches a face-up table in the reading process: reads it when it is at rest and has changed.

While cards are placed the table is requested repeatedly. Only new content is reported, and only its pictures are
stored: a hand's evidence stays below 10 MB.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from firmware.messages import Message, Text
from firmware.runtime.reading.messages import KnownCard, Watch
from vision.base.arrays import Image
from vision.felt.calibration import FeltCalibration
from vision.felt.layout import TableLayout
from vision.felt.lens import Lens
from vision.reading.memory import TableMemory
from vision.reading.network import CardReader
from vision.reading.still_reader import StillReader, WaitReason, looks_alike, shrink
from vision.reading.table_reading import TableReading

LOOKS_FOR: Final = 1.0
"""Seconds of one check: the maximum time to an answer while nothing is new."""
READ_ANYWAY: Final = 5.0
"""Seconds after which an unchanged table is read again: some changes are too small to detect."""
BETWEEN_FRAMES: Final = 0.05
"""Seconds between two frames of an unchanged table."""

Signature = tuple[Any, ...]


def of_places(layout: TableLayout, places: tuple[str, ...]) -> TableLayout:
    """Return the layout with the zones of these places only; other zones are not read."""
    return replace(layout, zones=tuple(zone for zone in layout.zones if zone.place in places))


class TableWatch:
    """The last reading, and the last one that was reported."""

    def __init__(
        self,
        reader: CardReader,
        clock: Callable[[], float] = time.monotonic,
        lens: Lens | None = None,
        felt: FeltCalibration | None = None,
        memory: TableMemory | None = None,
    ) -> None:
        """`memory`: of this camera's earlier readings."""
        self._memory = memory or TableMemory(clock)
        self._reader = reader
        self._lens = lens
        self._felt = felt
        self._clock = clock
        self._read: Image | None = None
        self._read_at = 0.0
        self._reported: Signature | None = None

    def check(
        self, frame: Callable[[], Image], layout: TableLayout, watch: Watch
    ) -> tuple[Image, TableReading] | Text:
        """Return the frame and reading that show something new; otherwise the reason, "" if nothing changed.

        Raises VisionError, CameraError.
        """
        until = self._clock() + LOOKS_FOR
        still = StillReader(layout, self._reader, lens=self._lens, felt=self._felt, memory=self._memory)
        why: Text = ""
        while True:
            image = frame()
            if not watch.fresh and self._is_as_read(shrink(image)):
                why = ""
                time.sleep(BETWEEN_FRAMES)
            else:
                answer = still.offer(image)
                if not isinstance(answer, WaitReason):
                    self._read, self._read_at = shrink(image), self._clock()
                    facts = signature(answer)
                    if facts == self._reported and not watch.fresh:
                        return ""
                    self._reported = facts
                    return image, answer
                why = Message(answer.value)
                if answer in (WaitReason.FIRST, WaitReason.MORE):
                    continue  # a reading has begun and is completed
            if self._clock() > until:
                return why

    def forget(self) -> None:
        """Report the next reading even if it is unchanged."""
        self._read = self._reported = None

    def _is_as_read(self, small: Image) -> bool:
        return (
            self._read is not None
            and self._clock() - self._read_at < READ_ANYWAY
            and looks_alike(self._read, small)
        )


def signature(reading: TableReading) -> Signature:
    """Return a key that is equal for readings with the same content."""
    cards = tuple(
        (zone.place, zone.row, card.card, card.sure) for zone in reading.zones for card in zone.cards
    )
    return cards, tuple(sorted(other.what for other in reading.others))


def is_new(cards: list[dict[str, Any]], known: tuple[KnownCard, ...]) -> bool:
    """Return whether a zone shows something that is not in the record.

    >>> is_new([{"card": "As", "sure": True}], (KnownCard("As", True),))
    False
    """
    if sorted(str(card["card"]) for card in cards) != sorted(str(card.card) for card in known):
        return True
    doubtful = {card.card for card in known if not card.sure}
    return any(card["sure"] and card["card"] in doubtful for card in cards)


def lacks(cards: list[dict[str, Any]], known: tuple[KnownCard, ...]) -> bool:
    """Return whether a card on record is missing from those seen; then the whole frame is evidence."""
    seen = [card["card"] for card in cards]
    return any(card.card not in seen for card in known)


def shows_change(cards: list[dict[str, Any]], known: tuple[KnownCard, ...]) -> bool:
    """Return whether a row that lies there whole shows a certain card that is not known in it."""
    names = {card.card for card in known}
    return any(card["sure"] and card["card"] not in names for card in cards)
