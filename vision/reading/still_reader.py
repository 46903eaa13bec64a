"""One reading from several frames: waits until the table is still, then until enough frames agree.

A single frame may show a hand, a sliding card or a lamp's flicker. Averaging frames gains nothing (measured), but
agreement does: a card is sure only if every frame names it surely and the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

import cv2
import numpy as np

from vision.base.arrays import Image
from vision.base.errors import N_
from vision.felt.calibration import FeltCalibration
from vision.felt.layout import TableLayout
from vision.felt.lens import Lens
from vision.felt.resample import reduce_picture
from vision.reading.memory import TableMemory
from vision.reading.network import CardReader
from vision.reading.objects import Other
from vision.reading.table_reading import ReadCard, TableReading, ZoneReading, read

AGREE = 3
"""Frames that must agree."""

_SMALL_PX = 320  # the width to which frames are reduced for motion detection
_CHANGED_LEVELS = 14  # of 255: three times the sensor's noise after shrinking
_MOVING_SHARE = 0.002  # of the picture: a finger tip over the felt is about 0.5 %
_LIGHT_LEVELS = 6.0  # of 255, the mean of the picture: a lamp was switched, or a shadow fell over the table
_SAME_PLACE = 0.35  # of a card's height


class WaitReason(Enum):
    """The reason why there is no reading yet."""

    FIRST = N_("the first frame has nothing to compare with")
    MOVING = N_("something moves over the table")
    LIGHT = N_("the light is changing")
    MORE = N_("more frames have to agree")


@dataclass
class StillReader:
    """Takes frames one after another until `agree` of them, all of a still table, were read.

    >>> still = StillReader(layout, reader)              # doctest: +SKIP
    >>> answer = still.offer(frame)                      # doctest: +SKIP
    """

    layout: TableLayout
    reader: CardReader
    agree: int = AGREE
    lens: Lens | None = None
    felt: FeltCalibration | None = None
    dealt: bool = True
    """Whether the cards were dealt at random: those of a deck that is laid out may be in order."""
    memory: TableMemory = field(default_factory=TableMemory)
    """What earlier frames showed, so that only what changed since is read."""

    def __post_init__(self) -> None:
        self._last: Image | None = None
        self._readings: list[TableReading] = []

    def offer(self, frame: Image) -> TableReading | WaitReason:
        """Process a frame (BGR, h × w × 3); return the joint reading, or the reason to wait.

        Raises:
            MarkersError: the felt cannot be found in a frame of a still table.
            CalibrationError: the calibration is of pictures of other proportions.
        """
        small = shrink(frame)
        last, self._last = self._last, small
        why = WaitReason.FIRST if last is None or last.shape != small.shape else _change(last, small)
        if why is not None:
            self._readings.clear()
            return why
        lens, memory, dealt = self.lens, self.memory, self.dealt
        at = self.felt.reference(frame.shape[1], frame.shape[0]) if self.felt else None
        reading = read(frame, self.layout, self.reader, lens=lens, reference=at, memory=memory, dealt=dealt)
        self._readings.append(reading)
        if len(self._readings) < self.agree:
            return WaitReason.MORE
        readings, self._readings = self._readings, []
        return join_readings(readings)


def shrink(frame: Image) -> Image:
    """Shrink a frame to the small grey picture in which motion is looked for."""
    small, _ = reduce_picture(frame, _SMALL_PX)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), np.uint8)


def _change(before: Image, after: Image) -> WaitReason | None:
    """Return the change between two small frames: the light as a whole, or something in them."""
    difference = after.astype(np.float32) - before
    light = float(np.median(difference))
    if abs(light) > _LIGHT_LEVELS:
        return WaitReason.LIGHT
    moved = np.abs(difference - light) > _CHANGED_LEVELS
    return WaitReason.MOVING if moved.mean() > _MOVING_SHARE else None


def looks_alike(before: Image, after: Image) -> bool:
    """Return whether two shrunk frames show no motion and the same light."""
    return before.shape == after.shape and _change(before, after) is None


def join_readings(readings: list[TableReading]) -> TableReading:
    """Join several readings of the same table into one: the last one, sure only where all of them agree.

    A card or object missing in some frames is kept; such a card is unsure.
    """
    last = readings[-1]
    zones = []
    for number, zone in enumerate(last.zones):
        seen = [reading.zones[number].cards for reading in readings]
        cards = [_join([_at(cards, card) for cards in seen]) for card in zone.cards]
        cards += [replace(card, sure=False) for card in _find_vanished(seen, zone.cards)]
        zones.append(ZoneReading(zone.place, zone.row, tuple(cards)))
    return replace(last, zones=tuple(zones), others=_join_others(readings))


def _join_others(readings: list[TableReading]) -> tuple[Other, ...]:
    """Return the other things of all frames, the last frame's first, each kind at each place once."""
    things: list[Other] = []
    for reading in reversed(readings):
        things += [other for other in reading.others if not any(_is_same(other, thing) for thing in things)]
    return tuple(things)


def _is_same(one: Other, other: Other) -> bool:
    apart = float(np.linalg.norm(one.corners.mean(axis=0) - other.corners.mean(axis=0)))
    a, b, c = one.corners[:3]
    return one.what == other.what and apart <= float(np.linalg.norm(b - a) + np.linalg.norm(c - b)) / 4


def _find_vanished(seen: list[tuple[ReadCard, ...]], kept: tuple[ReadCard, ...]) -> list[ReadCard]:
    """Return a card for each place where an earlier frame shows one, and the last frame none."""
    gone: list[ReadCard] = []
    for cards in seen[:-1]:
        gone += [card for card in cards if _at(kept, card) is None and _at(tuple(gone), card) is None]
    return gone


def _at(cards: tuple[ReadCard, ...], wanted: ReadCard) -> ReadCard | None:
    """Return the card at the place of another one."""
    reach = _SAME_PLACE * float(np.linalg.norm(wanted.corners[3] - wanted.corners[0]))
    middle = wanted.corners.mean(axis=0)
    near = [(float(np.linalg.norm(card.corners.mean(axis=0) - middle)), k) for k, card in enumerate(cards)]
    best = min(near, default=None)
    return cards[best[1]] if best is not None and best[0] <= reach else None


def _join(sightings: list[ReadCard | None]) -> ReadCard:
    """Join what each frame showed of a card (None: it did not show it; the last one did).

    The last sighting is kept, with the least confidence and all candidates.
    """
    card = sightings[-1]
    assert card is not None
    seen = [s for s in sightings if s is not None]
    agree = len(seen) == len(sightings) and all(s.card == card.card and s.sure for s in seen)
    names = dict.fromkeys([s.card for s in reversed(seen)] + [c for s in seen for c in s.candidates])
    return replace(card, confidence=min(s.confidence for s in seen), sure=agree, candidates=tuple(names))
