"""Camera jobs between hands in the reading process: pictures, calibration, enrolment, deck count.

Views of the board and pictures of the spread are collected here, one per job. A new process starts with none, which its
count shows.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from firmware.runtime.reading.messages import CameraJob, JobDone, JobProgress
from firmware.table.values import SHEETS
from vision.base.arrays import Image
from vision.base.errors import CalibrationError, EnrolmentError, MarkersError
from vision.felt.calibration import FRAMES, FeltCalibration, calibrate_felt, movement
from vision.felt.geometry import find_felt, find_markers
from vision.felt.layout import TableLayout
from vision.felt.lens import (
    MAX_ERROR_PX,
    MIN_COVERAGE,
    MIN_VIEWS,
    BoardView,
    Lens,
    find_board,
    fit_lens,
    lens_of,
    reach,
)
from vision.felt.qr_code import qr_text
from vision.felt.resample import as_grey, reduce_picture
from vision.felt.sheets import measure_sheets, sheets_among
from vision.felt.survey import SHOWN_PX, jpeg, survey
from vision.reading.enrolment import MIN_FRAMES, Lesson, Spot, learn, lesson, read_spread
from vision.reading.network import CardReader
from vision.reading.networks import networks_hash
from vision.reading.profile_files import profile_json
from vision.reading.table_reading import TableReading

BETWEEN_FRAMES_S: Final = 0.15
"""Seconds between two pictures of a calibration: a swinging camera has moved by then."""
GRID: Final = (8, 5)
"""Cells of the picture, across and down, whose coverage by the board is reported."""
MAX_VIEWS: Final = 30
"""Maximum number of views of the board: more only take longer."""


def model_of(reader: CardReader) -> str:
    """Return the hash of the networks that a deck is learnt with: `House.model_hash` of the same files."""
    return networks_hash(reader.path.parent)


JobResult = tuple[JobDone, Image | None]
"""A job's result, and a frame to store as evidence."""


class SpreadError(EnrolmentError):
    """A picture of the spread that cannot be used for enrolment; `result` lists the cards to lay again."""

    def __init__(self, error: EnrolmentError, result: dict[str, Any]) -> None:
        super().__init__(error.template, **error.values)
        self.result = result


class CameraBench:
    """Runs one camera job at a time. `frame` returns a new picture, `still` a reading of a deck that lies still."""

    def __init__(
        self,
        layout: TableLayout,
        reader: CardReader,
        frame: Callable[[], Image],
        still: Callable[[TableLayout], tuple[Image, TableReading]],
        sheets: int = 0,
    ) -> None:
        """`sheets`: number of players at a table on which four sheets may lie; 0: none may."""
        self._base = self._layout = layout
        self._sheets = sheets
        self._reader = reader
        self._frame = frame
        self._still = still
        self._lens: Lens | None = None
        self._felt: FeltCalibration | None = None
        self._deck = ""
        self._views: list[BoardView] = []
        self._lessons: list[Lesson] = []
        self._last: Image | None = None

    def use(
        self,
        lens: Lens | None,
        felt: FeltCalibration | None,
        deck: str = "",
        layout: TableLayout | None = None,
    ) -> None:
        """Use this lens and this felt calibration from now on; `deck`: the hash of the deck that the reader has.

        `layout`: that of the sheets on which the felt's calibration stands.
        """
        self._lens, self._felt, self._deck = lens, felt, deck
        self._layout = layout or self._base

    def do(self, job: CameraJob, show: Callable[[JobProgress], None]) -> JobResult:
        """Run a job. Raises VisionError, CameraError."""
        match job.work:
            case "look":
                return self._look(job), None
            case "code":
                return self._read_code(job), None
            case "felt":
                return self._calibrate_felt(job, show)
            case "lens_begin":
                self._views = []
                return JobDone(job.number, self._sum_up_views()), None
            case "lens_view":
                return self._lens_view(job), None
            case "lens_commit":
                lens = lens_of(self._views)
                self._views = []
                return JobDone(job.number, {"figures": lens_figures(lens)}, lens.to_text()), None
            case "deck_begin":
                self._lessons, self._last = [], None
                return JobDone(job.number, {"pictures": 0, "needed": MIN_FRAMES}), None
            case "deck_view":
                return self._deck_view(job, show), None
            case "deck_commit":
                return self._enrol(job, show)
            case "count":
                return self._count(job)

    # ---- the felt ----

    def _look(self, job: CameraJob) -> JobDone:
        frame = self._frame()
        trouble: MarkersError | None = None
        layout, felt = self._layout, self._felt
        try:
            if (found := self._lying([frame])) is not None:
                layout, felt = found, felt if found == self._layout else None
        except MarkersError as error:
            trouble = error
        seen = survey(frame, layout, self._lens, felt, trouble)
        return JobDone(
            job.number, seen.to_json() | {"sheets": layout.markers.are_sheets}, picture=seen.picture
        )

    def _lying(self, frames: Sequence[Image]) -> TableLayout | None:
        """Return the layout of the felt on the table: the one in force if it fits, else one measured from the pictures.

        None where no sheets are seen. Raises MarkersError for sheets that cannot be used.
        """
        each = [find_markers(as_grey(frame), self._base) for frame in frames] if self._sheets else []
        felts = {marker.id for marker in self._base.markers.at}
        if not each or sum(marker.id in felts for marker in each[-1]) > 1:
            return None if self._layout is self._base else self._base
        sheets = [sheets_among(markers) for markers in each]
        if not sheets[-1]:
            return None
        if self._layout is not self._base:
            with suppress(MarkersError):
                find_felt(frames[-1], self._layout, self._lens)
                return self._layout
        height, width = frames[-1].shape[:2]
        lens = self._lens.for_size(width, height) if self._lens else None
        seen = {}
        for number in set.intersection(*map(set, sheets)):
            corners = np.mean([found[number].corners for found in sheets], axis=0)
            seen[number] = lens.undistort(corners) if lens else corners
        return measure_sheets(seen, (width, height), self._base, self._sheets)

    def _read_code(self, job: CameraJob) -> JobDone:
        frame = self._frame()
        small, _ = reduce_picture(frame, SHOWN_PX)
        return JobDone(job.number, {"text": qr_text(frame)}, picture=jpeg(small))

    def _calibrate_felt(self, job: CameraJob, show: Callable[[JobProgress], None]) -> JobResult:
        frames = []
        for number in range(FRAMES):
            show(JobProgress(job.number, number, FRAMES + 1))
            if number:
                time.sleep(BETWEEN_FRAMES_S)
            frames.append(self._frame())
        show(JobProgress(job.number, FRAMES, FRAMES + 1))
        layout = self._lying(frames) or self._layout
        made = calibrate_felt(frames, layout, self._lens)
        own = {SHEETS: "1"} if layout.markers.are_sheets else {}
        result: dict[str, Any] = {
            "figures": made.figures,
            "stands_on": {"layout": made.layout, "lens": made.lens, **own},
            "moved": None,
        }
        if self._felt is not None and (self._felt.layout, self._felt.lens) == (made.layout, made.lens):
            try:
                before = self._felt.reference(made.width_px, made.height_px)
            except CalibrationError:
                pass  # another camera mode: there is nothing to compare with
            else:
                moved = movement(made.homography, before, layout)
                result["moved"] = {name: round(value, 4) for name, value in vars(moved).items()}
        return JobDone(job.number, result, made.to_text(), layout.text if own else ""), frames[-1]

    # ---- the lens ----

    def _lens_view(self, job: CameraJob) -> JobDone:
        frame = self._frame()
        small, factor = reduce_picture(frame, SHOWN_PX)
        view = find_board(frame)
        if view is not None and self._views and view.size != self._views[0].size:
            self._views = []  # the camera's mode has changed: earlier views do not match
        why = ""
        if view is None:
            why = "no board"
        elif any(view.is_like(other) for other in self._views):
            why = "same view"
        else:
            self._views = [*self._views, view][-MAX_VIEWS:]
        outline = [] if view is None else np.round((view.outline + 0.5) / factor - 0.5, 1).tolist()
        shown = {"shown": [small.shape[1], small.shape[0]], "outline": outline, "why": why}
        return JobDone(job.number, {**self._sum_up_views(), **shown}, picture=jpeg(small))

    def _sum_up_views(self) -> dict[str, Any]:
        """Return a summary of the views: their number, the cells they cover, how well they agree."""
        across, down = reach(self._views)
        error = fit_lens(self._views).error_px if len(self._views) >= MIN_VIEWS else None
        enough = error is not None and min(across, down) >= MIN_COVERAGE and error <= MAX_ERROR_PX
        return {
            "views": len(self._views),
            "needed": MIN_VIEWS,
            "across": round(across, 3),
            "down": round(down, 3),
            "coverage": MIN_COVERAGE,
            "error_px": None if error is None else round(error, 3),
            "limit_px": MAX_ERROR_PX,
            "grid": list(GRID),
            "covered": sorted(_cells(self._views)),
            "enough": enough,
        }

    # ---- the deck ----

    def _deck_view(self, job: CameraJob, show: Callable[[JobProgress], None]) -> JobDone:
        show(JobProgress(job.number, 0, 2))
        frame = self._frame()
        one = lesson(frame, self._layout, self._reader, self._lens)
        show(JobProgress(job.number, 1, 2))
        spots = read_spread(frame, self._layout, self._reader, self._lens)
        swapped = {seen: wanted for seen, wanted in one.strange if (wanted, seen) in one.strange}
        result = {
            "pictures": len(self._lessons),
            "needed": MIN_FRAMES,
            "cards": [_to_dict(spot, one.missing, swapped) for spot in spots],
        }
        small, _ = reduce_picture(frame, SHOWN_PX)
        try:
            one.refuse_a_wrong_deck(len(self._lessons) + 1)
        except EnrolmentError as error:
            raise SpreadError(error, result) from error
        self._lessons.append(one)
        self._last = frame
        return JobDone(job.number, {**result, "pictures": len(self._lessons)}, picture=jpeg(small))

    def _enrol(self, job: CameraJob, show: Callable[[JobProgress], None]) -> JobResult:
        if self._last is None:
            raise EnrolmentError("There is no picture of the spread yet: lay the cards out and take one.")
        last = self._last
        plain = CardReader(self._reader.path)
        show(JobProgress(job.number, 0, 3))
        before = read_spread(last, self._layout, plain, self._lens)
        show(JobProgress(job.number, 1, 3))
        profile = learn(self._lessons, last, self._layout, plain, job.deck, self._lens)
        show(JobProgress(job.number, 2, 3))
        plain.deck = profile
        after = read_spread(last, self._layout, plain, self._lens)
        figures = {
            "pictures": float(len(self._lessons)),
            "sure_before": float(_sure(before)),
            "sure_after": float(_sure(after)),
        }
        result = {
            "name": job.deck,
            "figures": figures,
            "stands_on": {"model": model_of(plain)},
            "cards": [_to_dict(spot, (), {}) for spot in after],
        }
        self._lessons, self._last = [], None
        return JobDone(job.number, result, profile_json(profile, model_of(plain))), last

    def _count(self, job: CameraJob) -> JobResult:
        image, reading = self._still(self._layout)
        cards = [
            {
                "place": zone.place,
                "row": zone.row,
                "index": index,
                "card": card.card,
                "sure": card.sure,
                "candidates": list(card.candidates),
            }
            for zone in reading.zones
            for index, card in enumerate(zone.cards)
        ]
        others = [other.what for other in reading.others]
        verdicts = {name: verdict.to_json() for name, verdict in reading.verdicts.items()}
        result = {"cards": cards, "others": others, "verdicts": verdicts, "deck": self._deck}
        return JobDone(job.number, result), image


def _cells(views: list[BoardView]) -> set[int]:
    """Return the picture's cells in which a corner of the board was seen, numbered row by row."""
    across, down = GRID
    cells: set[int] = set()
    for view in views:
        at = np.clip((view.corners / view.size * GRID).astype(int), 0, (across - 1, down - 1))
        cells |= {int(x + across * y) for x, y in at}
    return cells


def lens_figures(lens: Lens) -> dict[str, float]:
    """Return the figures of a lens for users: error, focal length, angle of view, distortion at the corners."""
    width_px = float(lens.matrix[0, 0])
    grid = np.array([[0.0, 0.0], [lens.width_px - 1, 0], [lens.width_px - 1, lens.height_px - 1]])
    bend = float(np.linalg.norm(lens.distort(grid) - grid, axis=1).max())
    angle = float(np.degrees(2 * np.arctan(lens.width_px / 2 / width_px)))
    return {
        "error_px": round(lens.error_px, 4),
        "focal_px": round(width_px, 1),
        "angle_deg": round(angle, 2),
        "bend_px": round(bend, 1),
    }


def _to_dict(spot: Spot, missing: tuple[str, ...], swapped: dict[str, str]) -> dict[str, Any]:
    """Return the result for a card of the spread: "sure", "unsure", "other" or "missing"."""
    if spot.card in missing or spot.seen is None:
        state = "missing"
    elif spot.card in swapped:
        state = "other"
    else:
        state = "sure" if spot.sure and spot.seen == spot.card else "unsure"
    return {
        "place": spot.place,
        "row": spot.row,
        "card": spot.card,
        "state": state,
        "seen": swapped.get(spot.card, spot.seen),
    }


def _sure(spots: list[Spot]) -> int:
    return sum(spot.sure and spot.seen == spot.card for spot in spots)
