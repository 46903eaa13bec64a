"""Photographs of unknown scale, read from all four sides."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image as Pillow

from vision.base.arrays import Image
from vision.base.errors import PictureError
from vision.cli.read import command
from vision.reading.loose_cards import read_at, read_loose
from vision.reading.network import CardReader, Indices
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
    upright, turned = read_at(picture, reader, 0.5), read_at(picture, reader, 0.5, quarters)
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


def _odd_pictures(folder: Path) -> None:
    """Write a file for each oddity of a picture of two cards; the good one is last."""
    seen = Pillow.fromarray(np.ascontiguousarray(_photograph()[..., ::-1]))
    half = seen.convert("RGBA")
    half.putalpha(Pillow.linear_gradient("L").resize(seen.size))
    opaque = seen.convert("RGBA")
    sideways = Pillow.Exif()
    sideways[0x0112] = 6  # turned by a quarter
    seen.resize((90, 100)).save(folder / "a-small.png")
    seen.convert("CMYK").save(folder / "b-print.jpg")
    half.save(folder / "c-glass.png")
    seen.save(folder / "d-moving.webp", save_all=True, append_images=[opaque.rotate(9).convert("RGB")])
    seen.resize((3200, 700)).save(folder / "e-panorama.png")
    seen.convert("L").save(folder / "f-grey.png")
    cv2.imwrite(str(folder / "g-deep.png"), _photograph().astype(np.uint16) * 257)
    opaque.save(folder / "h-opaque.png")
    seen.rotate(90, expand=True).save(folder / "i-turned.jpg", exif=sideways, quality=95)
    seen.save(folder / "j-plain.png")


@pytest.mark.slow
def test_each_odd_picture_gets_a_sentence_or_is_read_and_the_batch_goes_on(tmp_path: Path) -> None:
    _odd_pictures(tmp_path)
    done = CliRunner().invoke(command, ["--loose", "--json", str(tmp_path)])
    assert done.exit_code == 2
    told = {Path(one["image"]).stem[2:]: one for one in map(json.loads, done.stdout.splitlines())}
    sentences = {name: one["error"] for name, one in told.items() if "error" in one}
    for name, words in (
        ("small", "at least"),
        ("print", "CMYK"),
        ("glass", "transparent"),
        ("moving", "holds more than one picture"),
        ("panorama", "panorama of 3200×700"),
    ):
        assert words in sentences.pop(name)
    assert not sentences
    assert "No colour" in told["grey"]["verdicts"]["colour"]["text"]
    assert not any(card["sure"] for card in told["grey"]["cards"])
    for name in ("deep", "opaque", "turned", "plain"):
        sure = {card["card"] for card in told[name]["cards"] if card["sure"]}
        assert sure == {"Th", "As"}, name
    assert told["turned"]["size"] == told["plain"]["size"]


def test_a_photograph_isread_at_most_eight_times(monkeypatch: pytest.MonkeyPatch, reader: CardReader) -> None:
    shown: list[Indices] = []
    read = reader.indices

    def counted(picture: Image) -> Indices:
        shown.append(read(picture))
        return shown[-1]

    monkeypatch.setattr(reader, "indices", counted)
    small = cv2.resize(_photograph(), None, fx=0.4, fy=0.4, interpolation=cv2.INTER_AREA)
    # cards of two sizes: the most passes that there are
    both = np.full((1000, 1400, 3), (60, 110, 40), np.uint8)
    both[100:720, 50:780] = _photograph()
    both[700:948, 900:1192] = small
    assert read_loose(both, reader)
    assert 4 < len(shown) <= 8


def test_a_small_picture_does_not_take_the_rest_of_the_batch_with_it(tmp_path: Path) -> None:
    for name, side in (("a.png", 100), ("b.png", 200)):
        cv2.imwrite(str(tmp_path / name), np.full((side, side, 3), 127, np.uint8))
    done = CliRunner().invoke(command, ["--loose", "--json", str(tmp_path)])
    small, other = map(json.loads, done.stdout.splitlines())
    assert done.exit_code == 2
    assert "is 100×100 pixels" in small["error"]
    assert other["cards"] == []
