"""Watches a face-up table in the reading process: reads it when it lies still and looks other than before.

While cards are placed the table is asked for again and again; only what is new is told, and only the pictures of what
is new are stored: a hand's evidence stays below 10 MB (DESIGN.md 5).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from firmware.runtime.reading.messages import KnownCard, Watch
from vision.base.arrays import Image
from vision.felt.calibration import FeltCalibration
from vision.felt.layout import TableLayout
from vision.felt.lens import Lens
from vision.reading.network import CardReader
from vision.reading.still import StillReader, Waiting, looks_alike
from vision.reading.table_reading import TableReading

LOOKS_FOR: Final = 1.0
"""Seconds of one look: the table process is answered at least so often while nothing is new."""
READ_ANYWAY: Final = 5.0
"""Seconds after which a table that looks the same is read again: some changes are small."""
BETWEEN_FRAMES: Final = 0.05
"""Seconds between two frames of a table that looks the same."""

Signature = tuple[Any, ...]


def of_places(layout: TableLayout, places: tuple[str, ...]) -> TableLayout:
    """Return the layout with the zones of these places alone: no other zone is looked into."""
    return replace(layout, zones=tuple(zone for zone in layout.zones if zone.place in places))


class TableWatch:
    """What was read last, and what was told last."""

    def __init__(
        self,
        reader: CardReader,
        clock: Callable[[], float] = time.monotonic,
        lens: Lens | None = None,
        felt: FeltCalibration | None = None,
    ) -> None:
        self._reader = reader
        self._lens = lens
        self._felt = felt
        self._clock = clock
        self._read: Image | None = None
        self._read_at = 0.0
        self._told: Signature | None = None

    def check(
        self, frame: Callable[[], Image], layout: TableLayout, watch: Watch
    ) -> tuple[Image, TableReading] | str:
        """Return the frame and the reading that tell something new; else why there is none, "" where all is as told.

        Raises VisionError, CameraError.
        """
        until = self._clock() + LOOKS_FOR
        still = StillReader(layout, self._reader, lens=self._lens, felt=self._felt)
        why = ""
        while True:
            image = frame()
            if not watch.fresh and self._is_as_read(image):
                why = ""
                time.sleep(BETWEEN_FRAMES)
            else:
                answer = still.offer(image)
                if not isinstance(answer, Waiting):
                    self._read, self._read_at = image, self._clock()
                    facts = signature(answer)
                    if facts == self._told and not watch.fresh:
                        return ""
                    self._told = facts
                    return image, answer
                why = answer.value
                if answer in (Waiting.FIRST, Waiting.MORE):
                    continue  # a reading has begun: it is brought to its end
            if self._clock() > until:
                return why

    def forget(self) -> None:
        """Tell whatever the next look shows."""
        self._read = self._told = None

    def _is_as_read(self, image: Image) -> bool:
        return (
            self._read is not None
            and self._clock() - self._read_at < READ_ANYWAY
            and looks_alike(self._read, image)
        )


def signature(reading: TableReading) -> Signature:
    """Return what makes two readings tell the same."""
    cards = tuple(
        (zone.place, zone.row, card.card, card.sure) for zone in reading.zones for card in zone.cards
    )
    return cards, tuple(sorted(other.what for other in reading.others))


def is_new(cards: list[dict[str, Any]], known: tuple[KnownCard, ...]) -> bool:
    """Say whether a zone shows something that the record has not, as its picture would prove.

    >>> is_new([{"card": "As", "sure": True}], (KnownCard("As", True),))
    False
    """
    if sorted(str(card["card"]) for card in cards) != sorted(str(card.card) for card in known):
        return True
    doubtful = {card.card for card in known if not card.sure}
    return any(card["sure"] and card["card"] in doubtful for card in cards)


def lacks(cards: list[dict[str, Any]], known: tuple[KnownCard, ...]) -> bool:
    """Say whether a card on record is not among those seen: then the whole frame is evidence."""
    seen = [card["card"] for card in cards]
    return any(card.card not in seen for card in known)
