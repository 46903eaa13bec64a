"""The felt as a picture shows it: its markers, and the map from felt millimetres to the picture's pixels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vision.base.arrays import Image, Matrix, Points
from vision.felt.layout import Zone
from vision.felt.lens import Lens
from vision.felt.resample import average, project, rectify


@dataclass(frozen=True, eq=False)
class FoundMarker:
    """A detected marker: its number and its corners, 4×2 pixels, in OpenCV's order."""

    id: int
    corners: Points

    @property
    def side_px(self) -> float:
        """The mean length of its sides."""
        return float(np.linalg.norm(self.corners - np.roll(self.corners, 1, axis=0), axis=1).mean())


@dataclass(frozen=True, eq=False)
class FeltView:
    """The felt as a picture shows it.

    ``homography`` maps felt millimetres to pixels; ``markers`` are the felt's own, ``others`` all other markers of the
    dictionary in view. With a ``lens``, all three are in pixels of the undistorted picture; :meth:`to_image` maps to
    the real one. ``error_px`` and ``error_mm`` are the root mean square distances of the corners from their places by
    the homography. ``doubt_mm`` is the uncertainty of the least known zone corner; ``px_per_mm`` is the mean over the
    felt.
    """

    homography: Matrix
    markers: tuple[FoundMarker, ...]
    others: tuple[FoundMarker, ...]
    error_px: float
    error_mm: float
    doubt_mm: float
    px_per_mm: float
    size: tuple[int, int]
    lens: Lens | None = None

    def to_image(self, points_mm: Points) -> Points:
        """Map n×2 felt millimetres to the picture's pixels."""
        points = project(self.homography, points_mm)
        return self.lens.distort(points) if self.lens else points

    def rectify(self, frame: Image, zone: Zone, px_per_mm: float) -> Image:
        """Cut a zone out upright, as :func:`rectify` does."""
        return rectify(frame, self.homography, zone, px_per_mm, self.lens)

    def smaller(self, frame: Image, px_per_mm: float) -> tuple[Image, FeltView]:
        """Halve the picture while it keeps this many pixels per millimetre; return it and its view of the felt.

        Halving is by far the fastest way to average a picture.
        """
        times = 1
        while self.px_per_mm >= 2 * times * px_per_mm and min(frame.shape[:2]) >= 2:
            frame = average(frame, 2)
            times *= 2
        height, width = frame.shape[:2]
        shrink = np.array([[1, 0, (1 - times) / 2], [0, 1, (1 - times) / 2], [0, 0, times]]) / times
        small = replace(
            self,
            homography=shrink @ self.homography,
            markers=tuple(FoundMarker(m.id, project(shrink, m.corners)) for m in self.markers),
            others=tuple(FoundMarker(m.id, project(shrink, m.corners)) for m in self.others),
            error_px=self.error_px / times,
            px_per_mm=self.px_per_mm / times,
            size=(width, height),
            lens=self.lens.for_size(width, height) if self.lens else None,
        )
        return frame, small
