"""Four marker sheets, laid by hand at the corners of any table in place of a printed felt.

Only their markers' side is known. Where they lie, and how each is turned, is measured from one picture: the map from
the table to the picture and the places of all four are fitted together, so that every corner comes where it was seen.
The zones are then laid in the middle between them.
"""

import math
from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np

from vision.base.arrays import Matrix, Points
from vision.base.errors import DisagreeingMarkersError, LayoutError, TooFewMarkersError
from vision.felt.felt_view import FoundMarker
from vision.felt.layout import ROWS, SHEETS, TableLayout
from vision.felt.resample import project

SIDE_MM: Final = 120.0
"""The black square's side. It fits on A4 and on Letter, which printers scale by a few percent at most."""
QUIET_MM: Final = 20.0
"""The white around it, which belongs to the marker."""
MAX_ERROR_PX: Final = 2.0
"""The most that the corners may lie off on average: sheets that are flat and alike come to 0.2."""
PAIR: Final = ("A", "D")
"""The places of two players, who sit opposite each other."""
STEPS: Final = 60
FOVS_DEG: Final = (35.0, 100.0)
"""Angles of view of webcams and phones."""
USUAL_FOV_DEG: Final = 65.0

_SQUARE: Final = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) * SIDE_MM / 2


def sheets_among(markers: Sequence[FoundMarker]) -> dict[int, FoundMarker]:
    """Return the sheets' markers among those that were found, by number."""
    return {marker.id: marker for marker in markers if marker.id in SHEETS}


def measure_sheets(
    seen: dict[int, Points], size: tuple[int, int], base: TableLayout, players: int
) -> TableLayout:
    """Return the layout of a table on which the four sheets lie.

    Args:
        seen: the corners of each sheet's marker, 4×2 pixels, by number.
        size: the picture's width and height.
        base: the felt whose cards and distances between zones are used.
        players: two sit opposite each other, three or four as at the printed felt.

    Raises:
        TooFewMarkersError: not all four are seen.
        DisagreeingMarkersError: they are not flat or not alike, lie in another order, or too near each other.
    """
    missing = [str(number) for number, marker in enumerate(SHEETS, start=1) if marker not in seen]
    if missing:
        raise TooFewMarkersError(
            "Not seen of the four sheets: %(missing)s. Each must lie flat, whole in the picture, and uncovered.",
            missing=", ".join(missing),
        )
    homography, poses = _fit([np.asarray(seen[marker], float) for marker in SHEETS])
    across = (poses[1, :2] - poses[0, :2]) + (poses[2, :2] - poses[3, :2])
    turned = math.atan2(across[1], across[0])
    cos, sin = math.cos(turned), math.sin(turned)
    back = np.array([[cos, sin], [-sin, cos]])
    centres, turns = poses[:, :2] @ back.T, np.degrees(poses[:, 2] - turned)
    along = np.roll(centres, -1, axis=0) - centres
    then = np.roll(along, -1, axis=0)
    if (along[:, 0] * then[:, 1] <= along[:, 1] * then[:, 0]).any():
        raise DisagreeingMarkersError(
            "The sheets lie in another order: lay 1, 2, 3 and 4 clockwise, as each says."
        )
    onto = homography @ np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
    try:
        return TableLayout.parse(_text(centres, turns, onto, size, base, players))
    except LayoutError as error:
        raise DisagreeingMarkersError(
            "The sheets lie too near each other for the rows of %(players)s hands: lay them farther apart.",
            players=players,
        ) from error


def _fit(seen: Sequence[Points]) -> tuple[Matrix, Points]:
    """Fit the map to the picture and each sheet's place and turn (mm, radians); the first lies at the origin."""
    first, _ = cv2.findHomography(_SQUARE, seen[0])
    first = np.asarray(first, float)
    poses = np.array([_pose(project(np.asarray(np.linalg.inv(first), float), corners)) for corners in seen])
    poses[0] = 0.0
    wanted = np.concatenate(seen)
    scale = np.concatenate([first.ravel()[:8] / first[2, 2], poses[1:].ravel()])
    state, damping = scale, 1e-3
    error = _residuals(state, wanted)
    for _step in range(STEPS):
        small = np.append(1e-6 * np.maximum(1e-4, np.abs(state[:8])), np.full(state.size - 8, 1e-5))
        moved = [_residuals(state + step, wanted) for step in np.diag(small)]
        slopes = (np.column_stack(moved) - error[:, None]) / small
        normal = slopes.T @ slopes
        better = state - np.linalg.solve(normal + damping * np.diag(np.diag(normal)), slopes.T @ error)
        new = _residuals(better, wanted)
        if new @ new < error @ error:
            done = error @ error - new @ new < 1e-9 * (error @ error)
            state, error, damping = better, new, damping / 5
            if done:
                break
        else:
            damping *= 5
    if math.sqrt(2 * float((error**2).mean())) > MAX_ERROR_PX:
        raise DisagreeingMarkersError(
            "The four sheets do not fit together: print all at the same scale, and lay each flat."
        )
    homography, poses = _parts(state)
    return homography, poses


def _parts(state: Points) -> tuple[Matrix, Points]:
    poses = np.concatenate([np.zeros(3), state[8:]]).reshape(4, 3)
    return np.append(state[:8], 1.0).reshape(3, 3), poses


def _residuals(state: Points, wanted: Points) -> Points:
    homography, poses = _parts(state)
    cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    turns = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)
    at = np.einsum("kij,nj->kni", turns, _SQUARE) + poses[:, None, :2]
    return np.asarray((project(homography, at.reshape(-1, 2)) - wanted).ravel())


def _pose(corners: Points) -> tuple[float, float, float]:
    """Return a square's middle and turn."""
    middle = corners.mean(axis=0)
    there, here = ((points[:, 0] + 1j * points[:, 1]) for points in (corners - middle, _SQUARE))
    return float(middle[0]), float(middle[1]), float(np.angle((here.conj() * there).sum()))


def _text(
    centres: Points, turns: Points, homography: Matrix, size: tuple[int, int], base: TableLayout, players: int
) -> str:
    """Write the layout."""
    reach = (SIDE_MM / 2 + QUIET_MM) * math.sqrt(2)  # whatever its turn
    low, high = centres.min(axis=0) - reach, centres.max(axis=0) + reach
    width, height = high - low
    at = centres - low
    middle = at.mean(axis=0)
    places = []
    for name in base.places if players > len(PAIR) else PAIR:
        zone = base.zone(name, ROWS[1])
        x, y = np.array([zone.x_mm, zone.y_mm]) - (base.width_mm / 2, base.height_mm / 2)
        x = x if players > len(PAIR) else 0.0
        places.append(
            f"{name} = {{ x_mm = {middle[0] + x:.1f}, y_mm = {middle[1] + y:.1f}, turned_deg = {zone.turned_deg:.1f} }}"
        )
    markers = [
        f"    {{ id = {number}, x_mm = {x:.2f}, y_mm = {y:.2f}, turned_deg = {turn % 360:.3f} }},"
        for number, (x, y), turn in zip(SHEETS, at, turns, strict=True)
    ]
    card, natural = base.card, base.natural_marker
    back = base.zone(base.places[0], ROWS[2])
    rows = ", ".join(f"{row} = {base.zone(base.places[0], row).capacity}" for row in ROWS)
    fov = _angle_of_view(homography, size)
    focal = size[0] / 2 / math.tan(math.radians(fov) / 2)
    box = project(homography, np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * (width, height) + low)
    px_per_mm = math.sqrt(cv2.contourArea(box.astype(np.float32)) / (width * height))
    lines = [
        "# Four marker sheets, measured where they lay.",
        f"[felt]\nwidth_mm = {width:.1f}\nheight_mm = {height:.1f}",
        f"[card]\nwidth_mm = {card.width_mm}\nheight_mm = {card.height_mm}",
        f"gap_mm = {card.gap_mm}\nrow_gap_mm = {card.row_gap_mm}",
        f'[markers]\ndictionary = "{base.markers.dictionary}"\nside_mm = {SIDE_MM}\nquiet_mm = {QUIET_MM}',
        *("at = [", *markers, "]"),
        f"[zones]\nmargin_mm = {(back.height_mm - card.height_mm) / 2}\nrows = {{ {rows} }}",
        *("[places]", *places),
        f'[camera]\nname = "a webcam"\nwidth_px = {size[0]}\nheight_px = {size[1]}',
        f"horizontal_fov_deg = {fov:.1f}\nheight_mm = {focal / px_per_mm:.0f}.0",
    ]
    if natural is not None:
        lines += [
            f'[natural_marker]\nshape = "{natural.shape}"\ncolour = "{natural.colour}"',
            f"width_mm = {natural.width_mm}\nheight_mm = {natural.height_mm}",
        ]
    return "\n".join(lines) + "\n"


def _angle_of_view(homography: Matrix, size: tuple[int, int]) -> float:
    """Return the angle of view at which the table's sides are square and alike, as a camera sees a table."""
    angles = np.linspace(*FOVS_DEG, 131)
    off = []
    for angle in angles:
        focal = size[0] / 2 / math.tan(math.radians(angle) / 2)
        usual = np.array([[focal, 0, (size[0] - 1) / 2], [0, focal, (size[1] - 1) / 2], [0, 0, 1]])
        across, down = (np.linalg.inv(usual) @ homography)[:, :2].T
        wide, high = np.linalg.norm(across), np.linalg.norm(down)
        likely = 1e-5 * math.log(angle / USUAL_FOV_DEG) ** 2  # decides where the camera looks straight down
        off.append(likely + (across @ down / (wide * high)) ** 2 + math.log(wide / high) ** 2)
    return float(angles[int(np.argmin(off))])
