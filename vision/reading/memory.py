"""What the table showed when it was last read, so that only what changed is read again.

Markers, zones and the whole felt are compared with their pictures in the last *reading* of each, never with the last
frame: slow changes add up until they count. Everything is forgotten when a marker looks different (the light, the
camera or the felt changed) and after some seconds, so that nothing is trusted for long without being read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np

from vision.base.arrays import Image, Points
from vision.felt.felt_view import FeltView
from vision.felt.layout import TableLayout, Zone
from vision.felt.quality import SMALL_PX_PER_MM
from vision.reading.network import Floats, Indices

if TYPE_CHECKING:
    from vision.reading.table_reading import TableReading

FORGET_AFTER = 5.0
"""Seconds after which everything is read again, changed or not."""

ALIKE = 10.0
"""Levels of 255 by which the mean of 3 × 3 pixels may differ at 1.5 px/mm. Noise of 4 levels, the most of an ordinary
evening, stays below 6; of print that can be read (a third of the least white), a square millimetre is 10."""

FELT_ALIKE = 5.0
"""The same for the felt at the scale of objects, where noise stays below 2, and the least difference of hue is 7."""

SAME_MM = 0.25
"""How far off its place a card may seem to lie and not be looked at again: a quarter of a pixel there."""

Small = tuple[Image, FeltView]
"""A frame shrunk to `SMALL_PX_PER_MM`, and where the felt lies in it."""


class Look(NamedTuple):
    """What a whole card shows apart from its indices, and whether that is enough of it."""

    corners: Points
    reading: Floats
    enough: bool

    def lies_at(self, corners: Points) -> bool:
        """Return whether it lies at a place, but for what other cards teach of all cards' size."""
        return float(np.abs(self.corners - corners).max()) < SAME_MM


Looks = dict[tuple[str | bytes, ...], Look]
"""Looks by all that they depend on apart from the picture: the rank, and where its and its neighbours' indices lie."""


class TableMemory:
    """The last reading and, by area, its picture and what the network saw in it. `clock` gives seconds.

    Attributes:
        view: where the felt lies in the frame.
        parts: what the network saw in each zone that is known, at one scale or two.
        unclear: the zones that showed an unclear card; they are read in every frame.
        looks: what whole cards showed, each with its corners on the felt.
        last: the last reading; None before it, and after one that failed.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.forget()

    def forget(self, setting: object = None) -> None:
        """Forget everything: the next frame is read as a whole. `setting`: what readings from now on depend on."""
        self._setting, self._began = setting, self._clock()
        self._pictures: dict[Zone, Image] = {}
        self.view: FeltView | None = None
        self.parts: dict[Zone, list[Indices]] = {}
        self.unclear: list[Zone] = []
        self.looks: Looks = {}
        self.last: TableReading | None = None

    def recall(self, frame: Image, layout: TableLayout, setting: object) -> Small | None:
        """Return the frame shrunk, if the felt looks as it did; otherwise forget everything.

        `setting`: whatever a reading depends on apart from frame and layout, to be compared.
        """
        setting = layout, frame.shape, setting
        if self.view is not None and self.last is not None and setting == self._setting:
            small = self.view.smaller(frame, SMALL_PX_PER_MM)
            if self._clock() - self._began < FORGET_AFTER and self._markers_alike(small, layout):
                return small
        self.forget(setting)
        return None

    def found(self, view: FeltView, small: Small, layout: TableLayout) -> None:
        """Remember where the felt lies, and what its markers look like."""
        self.view = view
        self._markers_alike(small, layout)

    def looks_in(self, areas: Sequence[Zone]) -> Looks:
        """Return the looks of those cards that lie in one of these areas as a whole."""
        corners = np.array([look.corners for look in self.looks.values()]).reshape(-1, 2)
        kept = np.zeros(len(self.looks), bool)
        for area in areas:
            off = np.abs(area.from_felt(corners) / (area.width_mm, area.height_mm) - 0.5)
            kept |= (off <= 0.5).all(axis=1).reshape(-1, 4).all(axis=1)
        return dict(compress(self.looks.items(), kept.tolist()))

    def is_alike(self, area: Zone, picture: Image, levels: float = ALIKE) -> bool:
        """Return whether an area looks as in its last reading; if not, remember the picture, and that it is unread."""
        smooth = np.asarray(cv2.blur(picture, (3, 3)), np.uint8)
        before = self._pictures.get(area)
        if before is not None and cv2.norm(before, smooth, cv2.NORM_INF) <= levels:
            return True
        self._pictures[area] = smooth
        self.parts.pop(area, None)
        return False

    def _markers_alike(self, small: Small, layout: TableLayout) -> bool:
        side = layout.markers.side_mm + 2 * layout.markers.quiet_mm
        at = [
            Zone(f"marker {m.id}", "", m.x_mm, m.y_mm, side, side, m.turned_deg, 0) for m in layout.markers.at
        ]
        seen = [self.is_alike(area, small[1].rectify(small[0], area, SMALL_PX_PER_MM)) for area in at]
        return all(seen)  # each was looked at: what is alike later is alike to this frame
