"""Photographs of unknown scale, read from all four sides."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from vision.base.errors import PictureError
from vision.commands.read import command
from vision.reading.loose import _read_at, read_loose
from vision.reading.network import CardReader
from vision.synthetic.deck import card_picture


def _photograph() -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Two of our cards on a plain ground, at an odd scale, one turned."""
    picture = np.full((620, 730, 3), (60, 110, 40), np.uint8)
    for code, x, turn in (("Th", 60, 0.0), ("As", 380, 9.0)):
        card = card_picture(code, 4.0)
        h, w = card.shape[:2]
        matrix = cv2.getRotationMatrix2D((w / 2, h / 2), turn, 1)
        matrix[:, 2] += (x, 120)
        size = (picture.shape[1], picture.shape[0])
        inside = cv2.warpAffine(np.full((h, w), 255, np.uint8), matrix, size)
        picture[inside > 127] = cv2.warpAffine(card, matrix, size)[inside > 127]
    return picture


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_an_index_is_found_in_its_place_from_whichever_side_the_picture_is_read(
    quarters: int, reader: CardReader
) -> None:
    picture = _photograph()
    upright, turned = _read_at(picture, reader, 0.5), _read_at(picture, reader, 0.5, quarters)
    clear = np.flatnonzero(upright[0].heat > 0.8)
    assert len(clear) >= 2
    for k in clear:
        off = np.linalg.norm(turned[0].places - upright[0].places[k], axis=1)
        same = int(off.argmin())
        assert off[same] < 4
        assert turned[0].directions[same] @ upright[0].directions[k] > 0.9


@pytest.mark.slow
def test_a_cards_corners_are_found_from_its_two_indices_however_it_is_foreshortened(
    reader: CardReader,
) -> None:
    flat = np.asarray(cv2.resize(_photograph(), None, fx=1, fy=0.75, interpolation=cv2.INTER_AREA), np.uint8)
    (ten,) = (card for card in read_loose(flat, reader)[:2] if card.named.card == "Th")
    corners = ten.corners if ten.corners[0, 1] < ten.corners[2, 1] else np.roll(ten.corners, 2, axis=0)
    left, top, right, bottom = 60, 0.75 * 120, 60 + 63 * 4, 0.75 * (120 + 88 * 4)
    truth = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    assert np.abs(corners - truth).max() < 8, "two millimetres"


@pytest.mark.slow
def test_the_scale_of_a_photograph_is_found_by_itself(reader: CardReader) -> None:
    picture = _photograph()
    for share in (0.4, 1.0, 2.2):
        sized = np.asarray(
            cv2.resize(picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA), np.uint8
        )
        surest = read_loose(sized, reader)[:2]
        assert {c.named.card for c in surest} == {"Th", "As"}
        assert all(reader.calibrations.loose.sure(c.named.margin, c.named.cluster.evidence) for c in surest)


@pytest.mark.parametrize(("side", "is_read"), [(64, False), (136, False), (137, True)])
def test_a_picture_that_is_too_small_is_said_with_its_size(
    side: int, is_read: bool, reader: CardReader
) -> None:
    picture = np.full((side - 10, side, 3), 127, np.uint8)
    if is_read:
        assert read_loose(picture, reader) == []
        return
    with pytest.raises(PictureError, match=rf"is {side}×{side - 10} pixels; at least 137 each way"):
        read_loose(picture, reader)


def test_a_small_picture_does_not_take_the_rest_of_the_batch_with_it(tmp_path: Path) -> None:
    for name, side in (("a.png", 100), ("b.png", 200)):
        cv2.imwrite(str(tmp_path / name), np.full((side, side, 3), 127, np.uint8))
    done = CliRunner().invoke(command, ["--loose", "--json", str(tmp_path)])
    small, other = map(json.loads, done.stdout.splitlines())
    assert done.exit_code == 2
    assert "is 100×100 pixels" in small["error"]
    assert other["cards"] == []
