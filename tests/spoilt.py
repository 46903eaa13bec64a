"""Pictures of a rendered table as light, lens and camera spoil them. Run, it draws the picture of the book.

python -m tests.spoilt docs/camera-faults.jpg
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from vision.base.arrays import Image
from vision.felt.layout import TableLayout
from vision.synthetic.render import Scene, deal, render_table

WARM: Final = np.array([0.92, 1.0, 1.06])
"""The hue of sunlight beside that of lamps, BGR."""


def _lit(frame: Image, where: Image, gain: float) -> Image:
    """Brighten what lies in the sun, softly at its rim; `where` is 0 to 1, rows × columns."""
    soft = cv2.GaussianBlur(where.astype(np.float32), (0, 0), 0.0015 * frame.shape[1])[..., None]
    return np.clip(np.round(frame * (1 + (gain * WARM - 1) * soft)), 0, 255).astype(np.uint8)


def sun_at(scene: Scene, box_mm: tuple[float, float, float, float], gain: float = 2.5) -> Image:
    """Let the sun fall on a rectangle of the felt: left, top, right and lower edge."""
    left, top, right, low = box_mm
    corners = np.array([[left, top], [right, top], [right, low], [left, low]], np.float32)
    at = cv2.perspectiveTransform(corners[None], scene.homography)[0]
    mask = np.zeros(scene.frame.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.round(at).astype(np.int32), 1)
    return _lit(scene.frame, mask, gain)


def through_blinds(frame: Image, *, slats: int = 24, exposure: float = 0.35, gain: float = 6.0) -> Image:
    """Let the sun fall through slanted blinds; the camera's exposure follows the sun."""
    height, width = frame.shape[:2]
    y, x = np.mgrid[:height, :width]
    open_ = ((y + 0.3 * x) / height * slats) % 1 < 0.45
    return _lit(np.round(frame * exposure).astype(np.uint8), open_.astype(np.uint8), gain)


def flickering(frame: Image, depth: float = 0.97, periods: float = 8.0) -> Image:
    """Darken rows as lamps at the mains do that go out between two half-waves, seen through a rolling shutter."""
    rows = (np.sin(np.arange(len(frame)) / len(frame) * 2 * np.pi * periods) + 1) / 2
    return np.round(frame * (1 - depth * rows)[:, None, None]).astype(np.uint8)


def fogged(frame: Image, veil: float) -> Image:
    """Lay a veil over the picture, as on a lens that came in from the cold."""
    wide = cv2.GaussianBlur(frame, (0, 0), 0.006 * frame.shape[1]).astype(float)
    return np.clip(np.round((1 - veil) * frame + veil * (wide + 190) / 2), 0, 255).astype(np.uint8)


def torn(frame: Image, shift_px: tuple[float, float] = (40.0, 90.0), turn_deg: float = 3.0) -> Image:
    """Take the lower half from a moment at which the camera hung elsewhere."""
    height, width = frame.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), turn_deg, 1.0)
    turn[:, 2] += np.array(shift_px)
    later = cv2.warpAffine(frame, turn, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return np.concatenate([frame[: height // 2], later[height // 2 :]])


def mirrored(frame: Image) -> Image:
    """Exchange left and right."""
    return np.ascontiguousarray(frame[:, ::-1])


def _sheet() -> Image:
    layout = TableLayout.load()
    scene = render_table(deal(np.random.default_rng(1), layout), layout, seed=1, scale=0.5)
    frame = scene.frame
    shown = {
        "sun on the table": sun_at(scene, (-20.0, -20.0, 330.0, 150.0)),
        "blinds": through_blinds(frame),
        "flicker": flickering(frame),
        "a fogged lens": fogged(frame, 0.7),
        "torn": torn(frame),
        "mirrored": mirrored(frame),
    }
    tiles = []
    for name, picture in shown.items():
        tile = cv2.resize(picture[100:-100, 300:-300], (360, 330), interpolation=cv2.INTER_AREA)
        cv2.rectangle(tile, (0, 300), (360, 330), (255, 255, 255), -1)
        tiles.append(cv2.putText(tile, name, (8, 322), 0, 0.65, (0, 0, 0), 1, cv2.LINE_AA))
    rows = [np.hstack(tiles[k : k + 3]) for k in (0, 3)]
    return np.asarray(np.vstack(rows), np.uint8)


if __name__ == "__main__":
    cv2.imwrite(str(Path(sys.argv[1])), _sheet(), [cv2.IMWRITE_JPEG_QUALITY, 70])
