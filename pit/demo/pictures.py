"""What a simulated table's camera sees: a rendered felt, or a small picture with the words “simulated: not drawn”."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

import cv2
import numpy as np

from firmware.runtime.config import CameraConfig
from vision.base.arrays import Image
from vision.felt.layout import TableLayout
from vision.synthetic.render import render_table

SCALE: Final = 0.35
"""The pictures' scale: a person can still read the cards, and each takes a tenth of a second of processor time."""
QUALITY: Final = 70
SMALL: Final = (180, 320, 3)

Felt = Mapping[str, Mapping[str, Sequence[str]]]


class HandPictures:
    """Pictures of a felt, as JPEG. While `renders` is true, they show its cards; otherwise they are not drawn.

    Always drawing would fill a disk and a processor with six tables' pictures that nobody opens.
    """

    def __init__(self, seed: int, *, renders: bool) -> None:
        self.renders = renders
        self._seed = seed
        self._layout = TableLayout.load(CameraConfig().layout)

    def __call__(self, felt: Felt) -> bytes:
        """Return the picture of a felt: by place and row, the cards' codes."""
        if not self.renders:
            return _not_drawn()
        return _jpeg(render_table(felt, self._layout, seed=self._seed, scale=SCALE).frame)


@cache
def _not_drawn() -> bytes:
    picture = np.full(SMALL, 60, np.uint8)
    cv2.putText(picture, "simulated: not drawn", (24, 96), cv2.FONT_HERSHEY_SIMPLEX, 0.75, (235, 235, 235), 2)
    return _jpeg(picture)


def _jpeg(picture: Image) -> bytes:
    return cv2.imencode(".jpg", picture, (cv2.IMWRITE_JPEG_QUALITY, QUALITY))[1].tobytes()
