"""Where the felt lies in a picture: its markers, and the map from felt millimetres to pixels.

Markers are searched in a reduced picture, which is several times faster, and their corners are then refined in the full
one. All corners of all markers together give the homography by least squares.

Pixel coordinates count from the middle of the first pixel. Homographies map felt millimetres to pixels.
"""

import itertools
import math
from collections.abc import Sequence

import cv2
import numpy as np

from vision.base.arrays import Image, Matrix, Points
from vision.base.errors import N_, DisagreeingMarkersError, MarkersError, NoMarkersError, TooFewMarkersError
from vision.felt.cut_markers import cut_corners
from vision.felt.edges import refine_corners
from vision.felt.faults import TORN, is_torn, why_unclear
from vision.felt.felt_view import FeltView, FoundMarker
from vision.felt.layout import SHEETS, TableLayout
from vision.felt.lens import Lens
from vision.felt.markers import dictionary
from vision.felt.resample import as_grey, project, reduce_picture

SEARCH_PX = 1536
"""The long side of the picture in which markers are first looked for: the reference build's markers are 41 px wide
there, the least at which all are found even out of focus."""

NEAR_MM = 10.0
"""A marker farther from where the others put it is not part of the same felt: twice a zone's margin."""

STRAY_MM = 60.0
"""One that lies nearer its place than this is the felt's own after all, and the felt is bent or another. Farther
off it is a spare marker, or a pattern that looks like one: it is left out."""

MAX_ERROR_MM = 2.5
"""The most the markers' corners may contradict a flat felt on average: half a zone's margin."""

MAX_DOUBT_MM = 1.5
"""The most that the corners' own noise may move a zone's corner (one standard deviation)."""

CORNER_NOISE_PX = 0.25
"""How well a marker's corner is found, at least (measured on rendered frames with an ordinary camera's noise)."""

MAX_SLANT = 0.035
"""Two degrees: if the lower rows are shifted this far against the upper ones, they are of another moment."""

MIRRORED = N_("The picture is mirrored: switch that off in the camera's settings, or take the mirror away.")

_WHY_PX = 640  # the long side of the picture in which it is looked for what hides the felt


def find_felt(
    frame: Image, layout: TableLayout, lens: Lens | None = None, *, grey: Image | None = None
) -> FeltView:
    """Find the layout's felt in a picture.

    Args:
        frame: height × width × 3 BGR or height × width, 8 bits.
        layout: the felt to look for.
        lens: the camera's calibration; without it the lens is assumed to have no distortion.
        grey: the picture in grey, where the caller has it.

    Raises:
        PictureError: it is not a picture of 8-bit pixels, or it is too small.
        NoMarkersError: no marker of this felt is in view.
        TooFewMarkersError: those in view do not fix the felt well enough.
        DisagreeingMarkersError: they do not lie as the layout says, or belong to two felts.
    """
    grey = as_grey(frame) if grey is None else grey
    height, width = grey.shape
    found = find_markers(grey, layout)
    known = {marker.id for marker in layout.markers.at}
    if lens:
        lens = lens.for_size(width, height)
        found = [FoundMarker(m.id, lens.undistort(m.corners)) for m in found]
    candidates = [marker for marker in found if marker.id in known]
    try:
        if not candidates:
            raise _nothing(found, grey, layout)
        ours = _one_felt(candidates, layout)
        second = _one_felt([marker for marker in candidates if marker not in ours], layout)
        if len(second) >= 2 and _elsewhere(second, ours, layout):
            ids, again = _ids(ours), _ids(second)
            raise DisagreeingMarkersError(
                "Two felts are in view (markers %(ids)s and again %(again)s): take one away or cover its "
                "markers.",
                ids=ids,
                again=again,
            )
        others = tuple(marker for marker in found if marker not in ours)
        return _view(ours, layout, others, grey, lens)
    except MarkersError as error:
        why = _why(candidates, frame, layout) if candidates or not found else None
        if why is None or error.template == MIRRORED:
            raise
        raise type(error)(why) from error


def find_markers(grey: Image, layout: TableLayout) -> list[FoundMarker]:
    """Find all markers of the layout's dictionary, the felt's and others, with refined corners.

    The search runs at reduced size, and again at full size if it finds fewer than four of the felt's.
    """
    known = {marker.id for marker in layout.markers.at}
    found: list[FoundMarker] = []
    for longest in (SEARCH_PX, max(grey.shape)):
        small, factor = reduce_picture(grey, longest)
        corners, ids, _ = _detector(layout.markers.dictionary).detectMarkers(small)
        found = [
            FoundMarker(int(number), (np.asarray(points, float).reshape(4, 2) + 0.5) * factor - 0.5)
            for number, points in zip([] if ids is None else np.ravel(ids), corners, strict=True)
            if _not_cut(np.asarray(points, float), small)
        ]
        if factor == 1 or len(known & {marker.id for marker in found}) >= 4:
            break
    return [FoundMarker(marker.id, refine_corners(grey, marker.corners)) for marker in found]


def _detector(name: str) -> cv2.aruco.ArucoDetector:
    how = cv2.aruco.DetectorParameters()  # whole-pixel corners are enough: they are refined from the edges
    how.minDistanceToBorder = 0  # with a tilted camera, markers lie at the picture's edge
    return cv2.aruco.ArucoDetector(dictionary(name), how)


def _not_cut(corners: Points, picture: Image) -> bool:
    """Return whether a marker lies wholly in the picture: the corners of one cut by its edge are wrong."""
    height, width = picture.shape[:2]
    return bool((corners >= 1).all() and (corners <= (width - 2, height - 2)).all())


def _nothing(found: Sequence[FoundMarker], grey: Image, layout: TableLayout) -> NoMarkersError:
    if _is_mirrored(grey, layout):
        return NoMarkersError(MIRRORED)
    if {marker.id for marker in found} & {*SHEETS}:
        return NoMarkersError(
            "Marker sheets lie on the table, but where they lie was not measured yet: calibrate the felt."
        )
    if found:
        wanted = ", ".join(str(marker.id) for marker in layout.markers.at)
        return NoMarkersError(
            "None of the felt's markers (%(wanted)s) is in view, but others are (%(ids)s): "
            "this is another felt; lay out the right one or name its layout.",
            wanted=wanted,
            ids=_ids(found),
        )
    return NoMarkersError(
        "The felt's markers are not seen: the whole felt must be in view, lit and in focus."
    )


def _why(candidates: list[FoundMarker], frame: Image, layout: TableLayout) -> str | None:
    """Return what in the picture itself keeps the felt from being found, if it can be seen."""
    if len({marker.id for marker in candidates}) == len(candidates) >= 4:
        felt, seen = (each.reshape(-1, 4, 2) for each in _corners(candidates, layout))
        if is_torn(felt, seen):
            return TORN
    return why_unclear(reduce_picture(frame, _WHY_PX)[0])


def _is_mirrored(grey: Image, layout: TableLayout) -> bool:
    """Return whether the felt is seen once left and right are exchanged: a mirrored marker has no number."""
    small, _ = reduce_picture(np.ascontiguousarray(grey[:, ::-1]), SEARCH_PX)
    _, ids, _ = _detector(layout.markers.dictionary).detectMarkers(small)
    seen = set() if ids is None else {int(number) for number in np.ravel(ids)}
    return len(seen & {marker.id for marker in layout.markers.at}) >= 2


def _ids(markers: Sequence[FoundMarker]) -> str:
    return ", ".join(str(number) for number in sorted({marker.id for marker in markers}))


def _one_felt(candidates: Sequence[FoundMarker], layout: TableLayout) -> list[FoundMarker]:
    """Pick the largest set of markers whose relative places match the layout, each number once."""
    best: list[FoundMarker] = []
    best_error = math.inf
    for a, b in itertools.combinations(candidates, 2):
        if a.id == b.id or (a in best and b in best):
            continue
        homography = _fit([a, b], layout)
        if homography is None:
            continue
        chosen: dict[int, tuple[float, FoundMarker]] = {}
        for marker in candidates:
            off = _off_mm(marker, homography, layout)
            # two neighbours predict a far marker badly: the tolerance grows with distance, up to the marker's size
            if off < layout.markers.side_mm and off < chosen.get(marker.id, (math.inf, marker))[0]:
                chosen[marker.id] = (off, marker)
        members = [marker for _, marker in chosen.values()]
        members, error = _agreeing(members, layout)
        if len(members) > len(best) or (len(members) == len(best) and error < best_error):
            best, best_error = members, error
    return best or list(candidates[:1])


def _elsewhere(second: Sequence[FoundMarker], ours: Sequence[FoundMarker], layout: TableLayout) -> bool:
    """Return whether a second set of markers is another felt, rather than the same felt bent."""
    homography = _fit(ours, layout)
    twice = {m.id for m in second} & {m.id for m in ours}
    return bool(twice) or homography is None or _off_mm(second[0], homography, layout) > STRAY_MM


def _agreeing(members: list[FoundMarker], layout: TableLayout) -> tuple[list[FoundMarker], float]:
    """Drop the worst marker until all agree; return them and their greatest distance, mm."""
    while len(members) >= 2:
        homography = _fit(members, layout)
        if homography is None:
            return [], math.inf
        off = [_off_mm(marker, homography, layout) for marker in members]
        if max(off) <= NEAR_MM:
            return members, max(off)
        members = [marker for i, marker in enumerate(members) if i != int(np.argmax(off))]
    return [], math.inf


def _fit(markers: Sequence[FoundMarker], layout: TableLayout) -> Matrix | None:
    return _fit_felt(*_corners(markers, layout))


def _corners(markers: Sequence[FoundMarker], layout: TableLayout) -> tuple[Points, Points]:
    """Return the markers' corners on the felt, in millimetres, and in the picture."""
    felt = np.concatenate([layout.markers.corners_mm(marker.id) for marker in markers])
    return felt, np.concatenate([marker.corners for marker in markers])


def _with_cut_ones(
    felt: Points, seen: Points, layout: TableLayout, missing: set[int], grey: Image, lens: Lens | None
) -> tuple[Points, Points]:
    """Add the corners of markers that the picture's edge cuts, found from the whole ones'."""
    homography = _fit_felt(felt, seen)
    if homography is None:
        return felt, seen
    for number in sorted(missing):
        there = layout.markers.corners_mm(number)
        predicted = project(homography, there)
        found = cut_corners(
            grey, lens.distort(predicted) if lens else predicted, number, layout.markers.dictionary
        )
        if found:
            places = np.array([place for _, place in found])
            felt = np.concatenate([felt, there[[k for k, _ in found]]])
            seen = np.concatenate([seen, lens.undistort(places) if lens else places])
    return felt, seen


def _fit_felt(felt: Points, seen: Points) -> Matrix | None:
    homography, _ = cv2.findHomography(felt, seen, 0)
    if homography is None or not np.isfinite(homography).all() or abs(np.linalg.det(homography)) < 1e-12:
        return None
    return np.asarray(homography, float)


def _inverse(homography: Matrix) -> Matrix:
    return np.asarray(np.linalg.inv(homography), float)


def _off_mm(marker: FoundMarker, homography: Matrix, layout: TableLayout) -> float:
    back = project(_inverse(homography), marker.corners)
    return float(np.linalg.norm(back - layout.markers.corners_mm(marker.id), axis=1).max())


def _view(
    ours: list[FoundMarker],
    layout: TableLayout,
    others: tuple[FoundMarker, ...],
    grey: Image,
    lens: Lens | None,
) -> FeltView:
    felt, seen = _corners(ours, layout)
    homography = _fit_felt(felt, seen)
    if len(ours) < 2 or homography is None:
        raise TooFewMarkersError(
            "Only marker %(ids)s of the felt fits where it should be; at least two and better all "
            "%(count)s must be in view: clear the felt's edges, and check that the layout is the felt's.",
            ids=_ids(ours),
            count=len(layout.markers.at),
        )
    missing = {marker.id for marker in layout.markers.at} - {marker.id for marker in ours}
    zones = np.concatenate([zone.corners_mm for zone in layout.zones])
    doubt = _doubt_mm(homography, felt, zones, CORNER_NOISE_PX)
    if doubt > MAX_DOUBT_MM:
        felt, seen = _with_cut_ones(felt, seen, layout, missing, grey, lens)
        fitted = _fit_felt(felt, seen)
        homography = homography if fitted is None else fitted
        doubt = _doubt_mm(homography, felt, zones, CORNER_NOISE_PX)
    error_px = _rms(project(homography, felt) - seen)
    error_mm = _rms(project(_inverse(homography), seen) - felt)
    strayed = [_off_mm(m, homography, layout) for m in others if m.id in missing]
    error_mm = max([error_mm, *(off for off in strayed if off < STRAY_MM)])
    if doubt > MAX_DOUBT_MM:
        raise TooFewMarkersError(
            "Only markers %(ids)s are in view; they leave the zones uncertain by %(doubt)s mm: clear "
            "the markers on the other sides of the felt.",
            ids=_ids(ours),
            doubt=f"{doubt:.1f}",
        )
    doubt *= max(1.0, error_px / CORNER_NOISE_PX)
    if error_mm > MAX_ERROR_MM or doubt > MAX_DOUBT_MM:
        raise DisagreeingMarkersError(
            "The markers lie %(error_mm)s mm from where this felt has them: lay the felt flat, "
            "calibrate the lens, or name the right layout.",
            error_mm=f"{error_mm:.1f}",
        )
    if _slant(homography, grey.shape, layout, lens) > MAX_SLANT:
        raise DisagreeingMarkersError(TORN)
    box = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * (layout.width_mm, layout.height_mm)
    area = cv2.contourArea(project(homography, box).astype(np.float32))
    px_per_mm = math.sqrt(area / (layout.width_mm * layout.height_mm))
    return FeltView(
        homography, tuple(ours), others, error_px, error_mm, doubt, px_per_mm, grey.shape[::-1], lens
    )


def camera_matrix(size: tuple[int, ...], layout: TableLayout, lens: Lens | None) -> Matrix:
    """Return what maps rays to pixels in pictures of this width and height; without a lens, by the layout's camera."""
    width, height = size
    focal = width / 2 / math.tan(math.radians(layout.camera.horizontal_fov_deg) / 2)
    usual = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])
    return lens.matrix if lens else usual


def _slant(homography: Matrix, shape: tuple[int, ...], layout: TableLayout, lens: Lens | None) -> float:
    """Return how far the felt's sides are from square, as no camera shows them: a cosine."""
    across, down = (np.linalg.inv(camera_matrix(shape[::-1], layout, lens)) @ homography)[:, :2].T
    return abs(float(across @ down)) / float(np.linalg.norm(across) * np.linalg.norm(down))


def _rms(distances: Points) -> float:
    return float(np.sqrt((distances**2).sum(axis=1).mean()))


def _doubt_mm(homography: Matrix, felt: Points, at: Points, noise_px: float) -> float:
    """Propagate the corners' noise to other places of the felt: the worst standard deviation, millimetres.

    The usual propagation: with J the pixels' derivatives by the homography's eight free entries, the entries'
    covariance is noise² · (JᵀJ)⁻¹.
    """
    scale = np.array([1 / 500, 1 / 500])  # scaled near 1, millimetres keep the matrix well conditioned
    near = homography @ np.diag([500, 500, 1])
    near = near / near[2, 2]
    known = _derivatives(near, felt * scale)
    normal = known.T @ known
    if np.linalg.cond(normal) > 1e14:
        return math.inf
    spread = np.linalg.inv(normal) * noise_px**2
    there = _derivatives(near, at * scale).reshape(-1, 2, 8)
    in_px = np.einsum("nij,jk,nlk->nil", there, spread, there)
    step = project(homography, at + 0.5) - project(homography, at)
    px_per_mm = np.linalg.norm(step, axis=1) / math.hypot(0.5, 0.5)
    return float(np.max(np.sqrt(np.trace(in_px, axis1=1, axis2=2)) / px_per_mm))


def _derivatives(homography: Matrix, points: Points) -> Points:
    x, y = points[:, 0], points[:, 1]
    one, nought = np.ones_like(x), np.zeros_like(x)
    w = np.column_stack([x, y, one]) @ homography[2]
    u, v = project(homography, points).T
    across = np.column_stack([x, y, one, nought, nought, nought, -u * x, -u * y])
    down = np.column_stack([nought, nought, nought, x, y, one, -v * x, -v * y])
    return np.asarray((np.stack([across, down], axis=1) / w[:, None, None]).reshape(-1, 8))
