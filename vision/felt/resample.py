"""Pictures made smaller, and zones cut out upright by a homography.

Pixel coordinates count from the middle of the first pixel.
"""

import math

import cv2
import numpy as np
import numpy.typing as npt

from vision.base.arrays import Image, Matrix, Points
from vision.base.errors import N_, PictureError
from vision.felt.layout import Zone
from vision.felt.lens import Lens

MIN_FELT_PX = 64
"""No felt can be made out in a smaller picture."""
TOO_SMALL = N_("The picture is %(width)s×%(height)s pixels; at least %(least)s each way are needed.")


def rectify(
    frame: Image, homography: Matrix, zone: Zone, px_per_mm: float, lens: Lens | None = None
) -> Image:
    """Cut a zone out of the picture, upright as its player sees it, the near side at the bottom.

    Returns:
        (height_mm · px_per_mm) × (width_mm · px_per_mm) pixels, rounded, with the frame's channels. What lies
        outside the picture is black.
    """
    size = zone_size(zone, px_per_mm)
    warp = homography @ _zone_to_felt(zone, px_per_mm)
    if lens:
        return np.asarray(cv2.remap(frame, *_maps(warp, size, lens), cv2.INTER_LINEAR), np.uint8)
    edges = np.array([[-0.5, -0.5], [size[0], -0.5], [size[0], size[1]], [-0.5, size[1]]])
    corners = project(warp, edges)
    limit = (frame.shape[1], frame.shape[0])
    low = np.clip(np.floor(corners.min(axis=0)).astype(int) - 2, 0, limit)
    high = np.clip(np.ceil(corners.max(axis=0)).astype(int) + 3, 0, limit)
    part = frame[low[1] : high[1], low[0] : high[0]]
    if part.size == 0:
        return np.zeros((size[1], size[0], *frame.shape[2:]), np.uint8)
    warp = np.array([[1, 0, -low[0]], [0, 1, -low[1]], [0, 0, 1]]) @ warp
    # With surplus pixels, average them first: picking single ones would create false edges.
    spare = int(math.dist(corners[0], corners[1]) / size[0] + 0.1)
    if spare > 1 and min(part.shape[:2]) >= spare:
        part = average(part, spare)
        warp = np.array([[1, 0, (1 - spare) / 2], [0, 1, (1 - spare) / 2], [0, 0, spare]]) @ warp
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpPerspective(part, warp, size, flags=flags), np.uint8)


def zone_size(zone: Zone, px_per_mm: float) -> tuple[int, int]:
    """Return the width and height of a rectified zone in pixels."""
    return max(1, round(zone.width_mm * px_per_mm)), max(1, round(zone.height_mm * px_per_mm))


def project(homography: Matrix, points: Points) -> Points:
    """Map n×2 points by a 3×3 homography."""
    full = np.ones((len(points), 3))
    full[:, :2] = points
    mapped = full @ homography.T
    return np.asarray(mapped[:, :2] / mapped[:, 2:])


def as_grey(frame: Image) -> Image:
    """Convert a picture to one channel.

    Raises:
        PictureError: it has other than 8-bit pixels in one or three channels, or is too small.
    """
    if frame.dtype != np.uint8 or frame.ndim not in (2, 3) or (frame.ndim == 3 and frame.shape[2] != 3):
        raise PictureError("A picture must have 8 bits a channel, in one channel or in blue, green and red.")
    if min(frame.shape[:2]) < MIN_FELT_PX:
        raise PictureError.of_size(TOO_SMALL, frame.shape, least=MIN_FELT_PX)
    return frame if frame.ndim == 2 else np.asarray(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), np.uint8)


def reduce_picture(picture: Image, longest: int) -> tuple[Image, int]:
    """Shrink a picture by a whole factor, so that its long side is at most ``longest``; return the factor too.

    The factor is a power of two, or three times one, because halving is several times faster than other averaging. A
    pixel x of the small picture lies at (x + 0.5) · factor - 0.5 of the large one; a remainder at the right and lower
    edge is cut off.
    """
    least = max(1, math.ceil(max(picture.shape[:2]) / longest))
    power = 1 << (least - 1).bit_length()
    factor = 3 * power // 4 if least <= 3 * power // 4 else power
    return (picture, 1) if factor == 1 else (average(picture, factor), factor)


def average(picture: Image, factor: int) -> Image:
    """Shrink a picture by a whole factor to the averages of its pixels, by halving while possible."""
    height, width = (max(1, n // factor) for n in picture.shape[:2])
    small = picture[: height * factor, : width * factor]
    while factor % 2 == 0:
        factor //= 2
        size = (width * factor, height * factor)
        small = np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_AREA), np.uint8)
    if factor > 1:  # every mean of so many pixels, and of these one: that is twice as fast
        means = np.asarray(cv2.blur(small, (factor, factor)), np.uint8)
        small = np.ascontiguousarray(means[factor // 2 :: factor, factor // 2 :: factor])
    return small


def _zone_to_felt(zone: Zone, px_per_mm: float) -> Matrix:
    """Map pixels of the upright zone to felt millimetres, 3×3."""
    corner, right, down = zone.to_felt(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    width, height = zone_size(zone, px_per_mm)
    across, along = (right - corner) * zone.width_mm / width, (down - corner) * zone.height_mm / height
    origin = corner + (across + along) / 2  # the centre of pixel 0
    return np.array([[across[0], along[0], origin[0]], [across[1], along[1], origin[1]], [0, 0, 1]])


def _maps(
    warp: Matrix, size: tuple[int, int], lens: Lens
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Evaluate the lens on a coarse grid and interpolate in between: it is smooth enough."""
    step = 16
    columns, rows = (np.arange(0, n + step, step, dtype=float) for n in size)
    grid = np.stack(np.meshgrid(columns, rows), axis=-1)
    bent = lens.distort(project(warp, grid.reshape(-1, 2))).reshape(grid.shape)
    across, down = (_tents(n, step) for n in size)
    x, y = (down @ bent[:, :, i] @ across.T for i in (0, 1))
    return x.astype(np.float32), y.astype(np.float32)


def _tents(count: int, step: int) -> Points:
    """Weights that interpolate between grid points ``step`` apart: count × (grid points)."""
    at = np.arange(count)[:, None] / step
    return np.asarray(np.clip(1 - np.abs(at - np.arange(-(-(count + step) // step))), 0, None))
