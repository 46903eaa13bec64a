"""Real decks to lay on rendered tables: cards cut out of the photographs marked `train`, upright.

A card is cut by its outline, or by its two index boxes. The cut cards lie in `cache/real`; delete a folder there to
cut it again.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import permutations
from pathlib import Path

import cv2
import numpy as np

from models.training.art import CACHE
from models.training.photographs import Box, LabelledBox, boxes, has
from models.training.samples import TrainingError
from vision.base.arrays import Image, Points
from vision.base.pictures import load_picture
from vision.cli.options import PHOTOGRAPHS_HINT
from vision.felt.quality import colour
from vision.synthetic.deck import HEIGHT_MM, WIDTH_MM
from vision.synthetic.evaluation import photographs_with_labels

FOLDER = CACHE / "real"

_PX_PER_MM = 5
_SIZE = round(WIDTH_MM * _PX_PER_MM), round(HEIGHT_MM * _PX_PER_MM)
_TOLERANCES = (14, 20, 28, 40)
"""How far a card's paper may differ from what surrounds its indices, in levels: the first that gives a card holds."""
_INDEX_X_MM, _INDEX_Y_MM = (3.0, 11.5), (7.0, 24.0)
"""Where the middle of a card's index lies."""
_ALIKE_MM = 4.0
"""How much farther from its corner one of a card's two indices may stand than the other."""
_ODD = 30.0
"""From here on a cut card is not taken, see `oddness`."""
_WEBCAM, _WEBCAM_INSET_MM = 16 / 9, (6.5, 12.5)
"""How much wider the webcam's pictures were before they were squeezed to squares; where its deck's indices stand."""


DECKS = {
    "bidly": ("bidly_cards", ""),
    "rrrrhys": ("rrrrhys_cards", ""),
    "edje": ("edje_tf_cards", "train"),
    "phone": ("cardcounterml", "IMG_2022"),
    "webcam": ("cardcounterml", "WIN"),
    "black": ("cardcounterml", "IMG_7"),
}
"""The set that a deck's cards are cut from, and with what the names of its files begin."""


def cut_deck(name: str, data: Path) -> Path:
    """Cut a deck's cards, each from the photograph that shows it best; return their folder.

    Raises:
        TrainingError: there is no such deck, or its photographs are not there.
        PictureError: a photograph cannot be read.
    """
    if name not in DECKS:
        raise TrainingError(f"There is no deck of real cards named {name}.")
    (photographs, files), folder = DECKS[name], FOLDER / name
    if any(folder.glob("*.png")):
        return folder
    if not has(data, photographs):
        raise TrainingError(
            f"{data} lacks the photographs that {name} is cut from, {photographs}. {PHOTOGRAPHS_HINT} "
            "Without them, name other decks with --deck."
        )
    best: dict[str, tuple[float, Image]] = {}
    for code, card in _cards(data / photographs, files):
        odd = oddness(card)
        if odd < best.get(code, (_ODD, card))[0]:
            best[code] = (odd, card)
    folder.mkdir(parents=True, exist_ok=True)
    for code, (_, card) in best.items():
        cv2.imwrite(str(folder / f"{code}.png"), card)
    return folder


def oddness(card: Image) -> float:
    """Say how unlike itself turned round a card is, in levels: much where it was cut askew or something lies on it."""
    grey = cv2.cvtColor(card, cv2.COLOR_BGR2GRAY)
    middle = cv2.resize(grey, (16, 22), interpolation=cv2.INTER_AREA).astype(float)[1:-1, 1:-1]
    return float(np.abs(middle - middle[::-1, ::-1]).mean())


def _cards(folder: Path, files: str) -> Iterator[tuple[str, Image]]:
    """Yield the cards of a set's `train` photographs, upright."""
    boxed = boxes(folder)
    for file, labels in photographs_with_labels(folder, "train"):
        if not file.name.startswith(files):
            continue
        picture = load_picture(file)
        if not boxed:
            yield labels[0], picture
        elif colour(picture).ok:
            webcam = file.name.startswith("WIN")
            for label, corners, wide in _in_boxes(picture, boxed[file.name], webcam=webcam):
                if len(label) == 2:  # no joker, no back
                    yield label, _straight(wide, corners)


def _in_boxes(
    picture: Image, boxed: list[LabelledBox], *, webcam: bool
) -> Iterator[tuple[str, Points, Image]]:
    """Yield the labels and corners of the cards that can be cut, with the picture to cut them from."""
    wide = _WEBCAM if webcam else 1.0
    picture = np.asarray(cv2.resize(picture, None, fx=wide, fy=1, interpolation=cv2.INTER_CUBIC), np.uint8)
    by_label: dict[str, list[Box]] = defaultdict(list)
    for label, (x1, y1, x2, y2), what in boxed:
        if what == "index corner":
            by_label[label].append((x1 * wide, y1, x2 * wide, y2))
        elif (corners := by_paper(picture, (x1, y1, x2, y2))) is not None:
            yield label, corners, picture
    for label, pair in by_label.items():
        if len(pair) != 2:
            continue
        corners = by_indices(pair, _WEBCAM_INSET_MM) if webcam else by_outline(picture, pair)
        others = (box for name, some in by_label.items() if name != label for box in some)
        h, w = picture.shape[:2]
        if corners is not None and alone(corners, others) and ((corners > 0) & (corners < (w, h))).all():
            yield label, corners, picture


def _straight(picture: Image, corners: Points) -> Image:
    """Cut out what lies between four corners, clockwise from the upper left one."""
    w, h = _SIZE
    goal = np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32) - np.float32(0.5)
    warp = cv2.getPerspectiveTransform(corners.astype(np.float32), goal)
    return np.asarray(cv2.warpPerspective(picture, warp, _SIZE, flags=cv2.INTER_CUBIC), np.uint8)


def _middle(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def by_outline(picture: Image, pair: list[Box]) -> Points | None:
    """Give the corners of the card whose two indices lie in these boxes; None where its outline is not to be seen."""
    middles = np.array([_middle(box) for box in pair])
    rim = np.concatenate([_rim(picture, box) for box in pair])  # where the paper is bare
    for outline in _outlines(picture, np.median(rim, axis=0), middles):
        for turned in range(4):
            corners = np.roll(outline, turned, axis=0)
            if _fits(corners, middles):
                return corners
    return None


def by_paper(picture: Image, box: Box) -> Points | None:
    """Give the corners of a card that fills a box of its own; without indices' places, its long sides tell its turn."""
    x1, y1, x2, y2 = (max(0, int(v)) for v in box)
    part = picture[y1:y2, x1:x2].reshape(-1, 3)
    if not len(part):
        return None
    bright = part[part.sum(axis=1) >= np.percentile(part.sum(axis=1), 60)]
    for outline in _outlines(picture, np.median(bright, axis=0), np.array([_middle(box)])):
        sides = np.linalg.norm(outline - np.roll(outline, -1, axis=0), axis=1)
        across, down = sides[0] + sides[2], sides[1] + sides[3]
        if abs(math.log(min(across, down) / max(across, down) * HEIGHT_MM / WIDTH_MM)) < 0.12:
            return outline if across < down else np.roll(outline, 1, axis=0)
    return None


def by_indices(pair: list[Box], inset_mm: tuple[float, float]) -> Points:
    """Give the corners of a card seen from straight above, whose indices stand so far from its side and its top."""
    first, second = (np.array(_middle(box)) for box in pair)
    across, down = WIDTH_MM - 2 * inset_mm[0], HEIGHT_MM - 2 * inset_mm[1]
    step = second - first
    scale = np.hypot(*step) / math.hypot(across, down)
    turn = math.atan2(step[1], step[0]) - math.atan2(down, across)
    u = scale * np.array([math.cos(turn), math.sin(turn)])
    v = np.array([-u[1], u[0]])
    corner = first - inset_mm[0] * u - inset_mm[1] * v
    return np.asarray(corner + [0 * u, WIDTH_MM * u, WIDTH_MM * u + HEIGHT_MM * v, HEIGHT_MM * v], float)


def alone(corners: Points, others: Iterable[Box]) -> bool:
    """Return whether no other card's index lies within these corners."""
    outline = corners.astype(np.float32)
    return all(cv2.pointPolygonTest(outline, _middle(box), False) <= 0 for box in others)


def _rim(picture: Image, box: Box) -> Image:
    h, w = picture.shape[:2]
    x1, x2 = np.clip(np.array(box[::2], int), 0, w - 1)
    y1, y2 = np.clip(np.array(box[1::2], int), 0, h - 1)
    part = picture[y1 : y2 + 1, x1 : x2 + 1]
    return np.concatenate([part[0], part[-1], part[:, 0], part[:, -1]])


def _outlines(picture: Image, paper: Points, inside: Points) -> Iterator[Points]:
    """Yield the corners, clockwise, of quadrilaterals of one colour around some points, by growing tolerance."""
    smooth = cv2.medianBlur(picture, 5)
    for tolerance in _TOLERANCES:
        mask = cv2.inRange(smooth, paper - tolerance, paper + tolerance)
        mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
        outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        for outline in outlines:
            hull = cv2.convexHull(outline)
            if all(cv2.pointPolygonTest(hull, (float(x), float(y)), False) > 0 for x, y in inside):
                corners = _quadrilateral(hull)
                area = max(cv2.contourArea(hull), 1.0)
                if corners is not None and area > 4000 and cv2.contourArea(outline) > 0.9 * area:
                    yield corners


def _quadrilateral(hull: cv2.typing.MatLike) -> Points | None:
    for share in (0.02, 0.03, 0.045, 0.06):
        corners = cv2.approxPolyDP(hull, share * cv2.arcLength(hull, True), True)[:, 0].astype(float)
        if len(corners) == 4:
            covered = cv2.contourArea(corners.astype(np.float32)) / max(cv2.contourArea(hull), 1.0)
            return corners if 0.93 < covered < 1.07 else None
    return None


def _fits(corners: Points, middles: Points) -> bool:
    """Return whether two indices stand in a card's upper left and lower right corners, about as far from each."""
    goal = np.array([[0, 0], [WIDTH_MM, 0], [WIDTH_MM, HEIGHT_MM], [0, HEIGHT_MM]], np.float32)
    warp = cv2.getPerspectiveTransform(corners.astype(np.float32), goal)
    at = cv2.perspectiveTransform(middles[None].astype(np.float32), warp)[0]
    low, high = np.array([_INDEX_X_MM, _INDEX_Y_MM]).T
    for first, second in permutations(at):
        both = np.array([first, np.array([WIDTH_MM, HEIGHT_MM]) - second])
        if ((low < both) & (both < high)).all() and np.abs(both[0] - both[1]).max() < _ALIKE_MM:
            return True
    return False
