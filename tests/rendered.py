"""Tables as the camera sees them, rendered once: the same table is looked up in `build/frames`.

What is kept is named by everything that makes a picture: the arguments, the code of `vision`, and OpenCV's and NumPy's
versions. So nothing that is found there is out of date, and what was made by other code is removed.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from vision.base.arrays import Image
from vision.felt.layout import TableLayout
from vision.synthetic.decks import Deck
from vision.synthetic.props import Thing
from vision.synthetic.render import Conditions, Hands, Scene, render_table

ROOT: Final = Path(__file__).parents[1]
FRAMES: Final = ROOT / "build" / "frames"
TIDY: Final = Conditions(
    shift_mm=0, turn_deg=0, upside_down=0, overlapped=0, tilt_deg=0, offset_mm=0, light=1, uneven=0, shadow=0,
    cast=0, blur_px=0, noise=0, jpeg=None,
)  # fmt: skip
"""Everything where it belongs, and a perfect camera."""


@cache
def _code() -> str:
    """Return a name for the code that renders."""
    made = hashlib.sha256(f"{cv2.__version__} {np.__version__}".encode())
    for file in sorted((ROOT / "vision").rglob("*.py")) + [Path(__file__)]:
        made.update(file.read_bytes())
    return made.hexdigest()[:16]


@cache
def _folder() -> Path:
    folder = FRAMES / _code()
    folder.mkdir(parents=True, exist_ok=True)
    for other in FRAMES.iterdir():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return folder


def rendered(
    hands: Hands,
    layout: TableLayout | None = None,
    deck: Deck | None = None,
    *,
    seed: int | np.random.Generator = 0,
    conditions: Conditions | None = None,
    scale: float = 1.0,
    things: Sequence[Thing] = (),
) -> Scene:
    """Return what `vision.synthetic.render.render_table` renders; its frame is the caller's own.

    The deck must be one of `vision`'s: the code of others is not looked at. A generator for a seed is left as it is.
    """
    layout, conditions = layout or TableLayout.load(), conditions or Conditions()
    assert deck is None or type(deck).__module__ == "vision.synthetic.decks"
    asked = (hands, layout, deck, seed, conditions, scale, tuple(things))
    file = _folder() / f"{hashlib.sha256(pickle.dumps(asked)).hexdigest()}.scene"
    packed: Image
    scene: Scene
    try:
        packed, scene = pickle.loads(file.read_bytes())
    except FileNotFoundError:
        raw = replace(conditions, jpeg=None)
        seed = deepcopy(seed)
        made = render_table(hands, layout, deck, seed=seed, conditions=raw, scale=scale, things=things)
        packed = _packed(made.frame, conditions.jpeg)
        scene = replace(made, frame=np.empty((0, 0, 3), np.uint8))
        part = file.with_suffix(f".{os.getpid()}")
        part.parent.mkdir(parents=True, exist_ok=True)  # a run of other code may have removed it meanwhile
        part.write_bytes(pickle.dumps((packed, scene)))
        part.replace(file)  # at once: other workers may be about to make the same
    frame: Image = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)
    return replace(scene, frame=frame)


def _packed(frame: Image, jpeg: int | None) -> Image:
    """Pack a frame as the camera does, which is the last step of rendering it; without a loss where it does not."""
    if jpeg is None:
        return np.asarray(cv2.imencode(".png", frame, [cv2.IMWRITE_PNG_COMPRESSION, 1])[1], np.uint8)
    return np.asarray(cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, jpeg])[1], np.uint8)
