"""The felt that is printed is the felt that the camera finds: from the PDF's own pixels through the renderer."""

from __future__ import annotations

import itertools
import math
import re
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest

from hardware.make.arrangements import NAMES, arrange
from hardware.make.felt import CIRCLE_MM, board_sheet, card_pages, cloth_marks, cloth_sheet, felt_sheet
from hardware.make.sheet import MARGIN_MM, PAPERS, Sheet, Window
from hardware.make.tables import HardwareError
from tests.hardware.cases import LAYOUT, NOW
from vision.base.arrays import Image
from vision.felt.calibration import calibrate_felt
from vision.felt.geometry import find_felt
from vision.felt.layout import TableLayout
from vision.felt.lens import BOARD_SQUARES, find_board
from vision.felt.markers import dictionary
from vision.felt.resample import project
from vision.reading.network import CardReader
from vision.reading.table_reading import TableReading, read
from vision.synthetic.render import Conditions, Scene, render_table

FRAME = NOW.frame
POINTS_PER_MM = 72 / 25.4


def pixels(path: Path, px_per_mm: float, page: int = 0) -> Image:
    """Rasterise a page, exactly so fine: h × w × 3, BGR."""
    with pypdfium2.PdfDocument(path) as pdf:
        drawn = np.array(pdf[page].render(scale=px_per_mm / POINTS_PER_MM).to_numpy(), np.uint8)
        size = np.array(pdf[page].get_size()) / POINTS_PER_MM * px_per_mm
    # PDFium stretches a page to whole pixels
    fx, fy = size / drawn.shape[1::-1]
    exact = np.array([[fx, 0, (fx - 1) / 2], [0, fy, (fy - 1) / 2]])
    return np.asarray(
        cv2.warpAffine(drawn, exact, drawn.shape[1::-1], borderMode=cv2.BORDER_REPLICATE), np.uint8
    )


def page_sizes_mm(path: Path) -> list[tuple[float, float]]:
    with pypdfium2.PdfDocument(path) as pdf:
        return [(page.get_width() / POINTS_PER_MM, page.get_height() / POINTS_PER_MM) for page in pdf]


def tiles(sheet: Sheet, path: Path, paper: str) -> tuple[int, list[Window], list[Window]]:
    """Write a drawing's tiles: how many sheets, what each column and each row of them shows."""
    count, sizes = sheet.tiles(path, paper), page_sizes_mm(path)
    assert len(sizes) == count
    assert {tuple(sorted(round(side) for side in size)) for size in sizes} == {tuple(sorted(PAPERS[paper]))}
    return count, *sheet.windows(*(round(side) for side in sizes[0]))


def cards(reading: TableReading) -> dict[str, dict[str, list[str]]]:
    """The cards that were read, by place and row; nothing else lies there."""
    assert [other.what for other in reading.others] == []
    found: dict[str, dict[str, list[str]]] = {}
    for zone in reading.zones:
        found.setdefault(zone.place, {})[zone.row] = [str(card.card) for card in zone.cards]
    return found


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("felt") / "felt.pdf"
    felt_sheet(LAYOUT).pdf(path)
    return path


@pytest.fixture(scope="module")
def scene(printed: Path) -> Scene:
    """One card in every zone of the printed felt, on an ordinary evening, as the reference camera sees it."""

    @lru_cache
    def paint(layout: TableLayout, px_per_mm: float) -> Image:
        return pixels(printed, px_per_mm)

    ranks = iter("A23456789TJQ")
    hands: dict[str, dict[str, list[str]]] = {}
    for zone in LAYOUT.zones:
        hands.setdefault(zone.place, {})[zone.row] = [f"{next(ranks)}s"]
    return render_table(hands, LAYOUT, seed=4, felt=paint, conditions=Conditions(overlapped=0))


def test_the_printed_felt_has_its_true_size(printed: Path) -> None:
    assert page_sizes_mm(printed) == [pytest.approx((LAYOUT.width_mm, LAYOUT.height_mm), abs=0.01)]


def test_the_calibration_finds_the_printed_felt_with_every_marker_within_a_tenth_of_a_millimetre(
    scene: Scene,
) -> None:
    calibration = calibrate_felt([scene.frame], LAYOUT)  # refuses where a marker is missing
    view = find_felt(scene.frame, LAYOUT)
    assert {marker.id for marker in view.markers} == {marker.id for marker in LAYOUT.markers.at}
    to_mm = np.asarray(np.linalg.inv(scene.homography), float)
    for marker in view.markers:
        seen = project(to_mm, marker.corners)
        printed_at = LAYOUT.markers.corners_mm(marker.id)
        assert np.linalg.norm(seen - printed_at, axis=1).max() <= 0.1
        placed = project(to_mm, project(calibration.homography, printed_at))
        assert np.linalg.norm(placed - printed_at, axis=1).max() <= 0.1


def test_a_card_laid_in_any_zone_of_the_printed_felt_is_found_in_that_zone_and_nothing_else(
    scene: Scene,
) -> None:
    assert cards(read(scene.frame, LAYOUT, CardReader())) == scene.truth


def test_the_svg_is_the_same_drawing_in_millimetres(tmp_path: Path) -> None:
    felt_sheet(LAYOUT).svg(tmp_path / "felt.svg")
    text = (tmp_path / "felt.svg").read_text()
    assert f'width="{LAYOUT.width_mm:g}mm" height="{LAYOUT.height_mm:g}mm"' in text
    height = LAYOUT.height_mm * POINTS_PER_MM
    assert f"translate(0,-{height:.4f})" in text
    black = re.findall(r'<path d="([^"]+)" [^>]*fill: rgb\(10%', text)
    assert len(black) == len(LAYOUT.markers.at)
    for drawn, marker in zip(black, LAYOUT.markers.at, strict=True):
        points = np.array(re.findall(r"[\d.]+", drawn), float).reshape(-1, 2) / POINTS_PER_MM
        corner = LAYOUT.markers.corners_mm(marker.id)
        low, high = points.min(axis=0), points.max(axis=0)
        assert [low[0], LAYOUT.height_mm - high[1]] == pytest.approx(corner[0].tolist(), abs=0.01)
        assert [high[0], LAYOUT.height_mm - low[1]] == pytest.approx(corner[2].tolist(), abs=0.01)


def test_the_cloth_has_the_tops_size_and_a_circle_of_its_true_size_over_every_coil(tmp_path: Path) -> None:
    cloth_sheet(FRAME).pdf(tmp_path / "cloth.pdf")
    assert page_sizes_mm(tmp_path / "cloth.pdf") == [pytest.approx(FRAME.sizes["table_mm"], abs=0.01)]
    fine = 2.0
    grey = cv2.cvtColor(pixels(tmp_path / "cloth.pdf", fine), cv2.COLOR_BGR2GRAY).astype(int)
    left, top = (FRAME.sizes["table_mm"][i] / 2 - FRAME.middle[i] for i in (0, 1))
    for x, y in FRAME.coils_mm():
        at = np.array([x + left, y + top]) * fine
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            radii = np.arange(40, 70)
            row = [grey[round(at[1] + dy * r), round(at[0] + dx * r)] for r in radii]
            assert radii[int(np.argmax(row))] / fine == pytest.approx(CIRCLE_MM / 2, abs=1)


def test_the_whole_cloths_circles_seats_and_letters_disturb_neither_the_calibration_nor_the_reader(
    tmp_path: Path, scene: Scene
) -> None:
    """The cloth beyond the felt is laid into the same picture: nothing there is taken for a thing or a marker."""
    cloth_sheet(FRAME).pdf(tmp_path / "cloth.pdf")
    fine = 4.0
    cloth = pixels(tmp_path / "cloth.pdf", fine)
    left, top = (FRAME.sizes["table_mm"][i] / 2 - FRAME.middle[i] for i in (0, 1))
    to_felt = np.array([[1 / fine, 0, 0.5 / fine - left], [0, 1 / fine, 0.5 / fine - top], [0, 0, 1]])
    size = scene.frame.shape[1::-1]
    seen = cv2.warpPerspective(cloth, scene.homography @ to_felt, size, flags=cv2.INTER_AREA)
    there = cv2.warpPerspective(np.full(cloth.shape[:2], 255, np.uint8), scene.homography @ to_felt, size) > 0
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * (LAYOUT.width_mm, LAYOUT.height_mm)
    felt = np.zeros(scene.frame.shape[:2], np.uint8)
    cv2.fillConvexPoly(felt, np.round(project(scene.homography, corners)).astype(np.int32), 255)
    whole = np.where((there & (felt == 0))[:, :, None], seen, scene.frame)
    calibrate_felt([whole], LAYOUT)
    assert cards(read(np.asarray(whole, np.uint8), LAYOUT, CardReader())) == scene.truth


def test_nothing_that_the_cloth_shows_beyond_the_felt_lies_on_another_mark() -> None:
    marks = cloth_marks(FRAME)
    for number, one in enumerate(marks):
        for other in marks[:number]:
            apart = math.dist((one.x, one.y), (other.x, other.y))
            assert apart > (one.size + other.size) * 0.45, f"{one}, {other}"


@pytest.mark.parametrize("paper", PAPERS)
def test_tiles_show_the_whole_felt_at_its_true_size(tmp_path: Path, paper: str) -> None:
    sheet = felt_sheet(LAYOUT, ground=False)
    count, columns, rows = tiles(sheet, tmp_path / "tiles.pdf", paper)
    assert count == len(columns) * len(rows)
    fine = 2.0
    glued = np.full((round(LAYOUT.height_mm * fine), round(LAYOUT.width_mm * fine), 3), 255, np.uint8)
    for i, ((top, bottom), (left, right)) in enumerate(itertools.product(rows, columns)):
        page = pixels(tmp_path / "tiles.pdf", fine, i)[round(MARGIN_MM * fine) :, round(MARGIN_MM * fine) :]
        y, x = round(top * fine), round(left * fine)
        inside = page[: round(bottom * fine) - y, : round(right * fine) - x]
        glued[y : y + inside.shape[0], x : x + inside.shape[1]] = inside
    paper_felt = np.pad(glued, ((40, 40), (40, 40), (0, 0)), constant_values=255)
    view = find_felt(paper_felt, LAYOUT)
    assert {marker.id for marker in view.markers} == {marker.id for marker in LAYOUT.markers.at}
    assert view.px_per_mm == pytest.approx(fine, rel=0.002)


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("whole", ["felt", "cloth"])
def test_no_seam_between_tiles_runs_through_a_marker_a_circle_or_a_number(
    tmp_path: Path, paper: str, whole: str
) -> None:
    sheet = felt_sheet(LAYOUT, ground=False) if whole == "felt" else cloth_sheet(FRAME, ground=False)
    marks = 0 if whole == "felt" else len(cloth_marks(FRAME))
    assert len(sheet.whole) == len(LAYOUT.markers.at) + marks
    count, columns, rows = tiles(sheet, tmp_path / "tiles.pdf", paper)
    for x, y, wide, high in sheet.whole:
        for begin, end, windows in ((x, x + wide, columns), (y, y + high, rows)):
            assert sum(first < end and last > begin for first, last in windows) == 1, "in a shared strip"
    detector = cv2.aruco.ArucoDetector(dictionary(LAYOUT.markers.dictionary))
    seen: list[int] = []
    for number in range(count):
        _, ids, _ = detector.detectMarkers(pixels(tmp_path / "tiles.pdf", 3.0, number))
        seen += [] if ids is None else [int(one) for one in np.ravel(ids)]
    assert sorted(seen) == [marker.id for marker in LAYOUT.markers.at], "each whole on one sheet"


def test_what_no_seam_can_avoid_is_printed_whole_on_a_sheet_of_its_own_to_stick_on(tmp_path: Path) -> None:
    """A drawing so dense that every place for a seam hits something."""
    sheet = Sheet("dense", 300.0, 100.0)
    for left in range(0, 300, 30):
        sheet.rect(left + 1, 20, 28, 28, "#000000")
        sheet.keep_whole(left + 1, 20, 28, 28)
    sheet.text(150, 90, "ink", 5, "#000000")
    count, columns, rows = tiles(sheet, tmp_path / "tiles.pdf", "a4")
    assert count == len(columns) * len(rows) + 1
    cut = [x for x, *_ in sheet.whole if sum(a < x + 28 and b > x for a, b in columns) > 1]
    assert cut
    last = cv2.cvtColor(pixels(tmp_path / "tiles.pdf", 2.0, count - 1), cv2.COLOR_BGR2GRAY)
    _, _, stats, _ = cv2.connectedComponentsWithStats((last < 100).astype(np.uint8))
    squares = [box for box in stats[1:].tolist() if box[2] == pytest.approx(56, abs=2) == box[3]]
    assert len(squares) == len(cut)


@pytest.mark.parametrize(("paper", "most"), [("a4", 24), ("a3", 15)])
def test_the_cloths_tiles_leave_white_sheets_out(tmp_path: Path, paper: str, most: int) -> None:
    sheet = cloth_sheet(FRAME, ground=False)
    count, columns, rows = tiles(sheet, tmp_path / "tiles.pdf", paper)
    assert count <= most
    assert count < len(columns) * len(rows)
    inside = round((MARGIN_MM + 1) * 2.0)
    for number in range(count):
        page = pixels(tmp_path / "tiles.pdf", 2.0, number)[inside:-inside, inside:-inside]
        assert (page < 250).any(), f"sheet {number + 1} is white"


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_written_below_a_tile_lies_side_by_side(tmp_path: Path, paper: str) -> None:
    sheet = felt_sheet(LAYOUT, ground=False)
    _, columns, rows = tiles(sheet, tmp_path / "tiles.pdf", paper)

    def span(words: pypdfium2.PdfTextPage, said: str) -> Image:
        """Left, bottom, right, top of these words in points."""
        found = words.search(said).get_next()
        assert found is not None, said
        boxes = np.array([words.get_charbox(at) for at in range(found[0], sum(found))])
        return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])

    across = len(columns)
    with pypdfium2.PdfDocument(tmp_path / "tiles.pdf") as pdf:
        for number, page in enumerate(pdf):
            words = page.get_textpage()
            which = f"row {number // across + 1} of {len(rows)}, column {number % across + 1} of {across}"
            (_, bottom, right, top), ruler = span(words, which), span(words, "100 mm; 10 mm overlap")
            assert right < ruler[0] or bottom > ruler[3], which
            assert max(top, ruler[3]) < MARGIN_MM * POINTS_PER_MM, "off the felt"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("card_width", [63.5, 57.0])
def test_other_arrangements_are_layouts_that_are_found(name: str, card_width: float) -> None:
    layout = TableLayout.parse(arrange(name, card_width))
    assert layout.places == ("A", "B", "C", "D")
    assert layout.card.width_mm == card_width
    view = find_felt(render_table({}, layout, scale=0.4).frame, layout)
    assert len(view.markers) == len(layout.markers.at)


def test_the_standard_arrangement_is_the_standard_felt() -> None:
    square = vars(TableLayout.parse(arrange("square")))
    for part in ("card", "markers", "zones", "camera", "natural_marker"):
        assert square[part] == vars(LAYOUT)[part]


def test_an_arrangement_that_is_not_known_is_refused() -> None:
    with pytest.raises(HardwareError, match="known are the arrangements"):
        arrange("heap")


def test_the_printed_board_is_the_one_the_lens_calibration_looks_for(tmp_path: Path) -> None:
    board_sheet().pdf(tmp_path / "board.pdf")
    assert page_sizes_mm(tmp_path / "board.pdf") == [pytest.approx((420, 297), abs=0.01)]
    view = find_board(pixels(tmp_path / "board.pdf", 3.0))
    assert view is not None
    assert len(view.ids) == (BOARD_SQUARES[0] - 1) * (BOARD_SQUARES[1] - 1)
    first, second = view.corners[0], view.corners[1]
    assert np.linalg.norm(second - first) / 3.0 == pytest.approx(38, abs=0.1)


def test_test_cards_are_printed_at_their_true_size(tmp_path: Path) -> None:
    assert card_pages(tmp_path / "cards.pdf", ("As", "Kd", "7h")) == 1
    page = cv2.cvtColor(pixels(tmp_path / "cards.pdf", 4.0), cv2.COLOR_BGR2GRAY)
    inked = np.flatnonzero((page[: page.shape[0] // 3] < 240).any(axis=0))
    assert (inked[-1] - inked[0]) / 4.0 == pytest.approx(3 * 63.5, abs=1.0)
