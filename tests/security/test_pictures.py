"""Pictures that mean harm, in a record: of a table that was taken over, or on a stick. No reader unpacks them."""

from __future__ import annotations

import io
import zlib

import pytest
from flask.testing import FlaskClient
from PIL import Image, ImageFile, PngImagePlugin

from dealer_ui.reports.dispute_pdf import dispute_pdf
from dealer_ui.review import stored_picture
from tests.dealer_ui import past
from tests.dealer_ui.felt import Felt
from tests.security.pictures import chunk, jpeg_in_scans, jpeg_with, png_that_says, segment
from vision.base import pictures


def written(kind: str) -> bytes:
    out = io.BytesIO()
    Image.new("L", (40, 40)).save(out, kind)
    return out.getvalue()


HARMFUL = {
    "eighty megapixels": png_that_says(9_000, 9_000),
    "gigapixels": png_that_says(60_000, 60_000),
    "cut off": png_that_says(400, 300),
    "a program for a printer": written("EPS"),
    "another kind": written("TIFF"),
    "nothing": b"x",
}


@pytest.mark.parametrize("kind", HARMFUL)
def test_a_dispute_file_is_made_without_unpacking_a_picture_that_means_harm(
    felt: Felt, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    with monkeypatch.context() as drawn:
        drawn.setattr(past, "_frame", lambda _: HARMFUL[kind])
        past.played(felt)
    unpacked: list[tuple[int, int]] = []
    load = PngImagePlugin.PngImageFile.load_prepare

    def noted(picture: PngImagePlugin.PngImageFile) -> None:
        unpacked.append(picture.size)
        load(picture)

    monkeypatch.setattr(PngImagePlugin.PngImageFile, "load_prepare", noted)
    assert dispute_pdf(felt.folder, 1).startswith(b"%PDF")
    assert [size for size in unpacked if size[0] * size[1] > 40_000_000] == []
    if kind == "eighty megapixels":

        def begun(picture: PngImagePlugin.PngImageFile) -> None:
            unpacked.append(picture.size)
            raise OSError("its pixels would take seconds")

        monkeypatch.setattr(PngImagePlugin.PngImageFile, "load_prepare", begun)
        monkeypatch.setattr(stored_picture, "MAX_PIXELS", 1 << 40)
        dispute_pdf(felt.folder, 1)
        assert (9_000, 9_000) in unpacked


# Each of these is small, and its decoder is busy with it for as long as its sender likes: here for a second or less.
LONG = {
    "scans": jpeg_in_scans(64, 5_000),
    "notes before the pixels of a JPEG": jpeg_with(segment(0xFE, b"") * 20_000),
    "restarts before the pixels of a JPEG": jpeg_with(b"\xff\xd0" * 40_000),
    "parts before the pixels of a PNG": png_that_says(400, 300, 300, notes=chunk(b"aaAa", b"") * 20_000),
    "parts after the pixels of a PNG": png_that_says(400, 300, 300, after=chunk(b"aaAa", b"") * 20_000),
    "empty pixels of a PNG": png_that_says(400, 300, 300, notes=chunk(b"IDAT", b"") * 20_000),
}


@pytest.mark.parametrize("kind", LONG)
def test_a_picture_of_thousands_of_parts_is_not_unpacked(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[tuple[int, int]] = []
    load = ImageFile.ImageFile.load

    def noted(picture: ImageFile.ImageFile) -> object:
        unpacked.append(picture.size)
        return load(picture)

    monkeypatch.setattr(ImageFile.ImageFile, "load", noted)
    assert stored_picture.open_picture(LONG[kind]) is None
    assert unpacked == []
    assert stored_picture.open_picture(jpeg_in_scans(64, 30)) is not None
    unpacked.clear()
    monkeypatch.setattr(stored_picture, "HEAD", 1 << 30)
    monkeypatch.setattr(stored_picture, "MAX_MARKERS", 1 << 30)
    monkeypatch.setattr(stored_picture, "MAX_CHUNKS", 1 << 30)
    assert stored_picture.open_picture(LONG[kind]) is not None
    assert unpacked


def test_a_stored_picture_in_scans_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup that is checked may hold one: 120 megapixels, and each scan goes over all of them."""
    assert pictures.decode_picture(jpeg_in_scans(64, 12)) is not None
    assert pictures.decode_picture(LONG["scans"]) is None
    monkeypatch.setattr(pictures, "MAX_SCANS", 1 << 30)
    assert pictures.decode_picture(LONG["scans"]) is not None


NOTES = {
    "too long for a JPEG": chunk(b"tEXt", b"comment\0" + b"x" * 65_534),
    "unpacks to megabytes": chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(2_000_000))),
    "of colours, unpacks to megabytes": chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(2_000_000))),
    "cut off": chunk(b"gAMA", b"a"),
}


@pytest.mark.parametrize("kind", NOTES)
def test_a_note_in_a_picture_takes_neither_its_hands_pages_nor_its_dispute_file_away(
    felt: Felt, client: FlaskClient, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    frame = png_that_says(1600, 1000, 1000, notes=NOTES[kind])
    with monkeypatch.context() as drawn:
        drawn.setattr(past, "_frame", lambda _: frame)
        past.played(felt)
    monkeypatch.setattr("dealer_ui.review.routes._need_pictures", lambda _: None)
    assert dispute_pdf(felt.folder, 1).startswith(b"%PDF")
    assert client.get("/review/1/look").status_code == 200

    def trusted(data: bytes) -> Image.Image:
        with Image.open(io.BytesIO(data)) as picture:
            return picture.convert("RGB")

    monkeypatch.setattr("dealer_ui.reports.dispute_pdf.open_picture", trusted)
    monkeypatch.setattr(stored_picture, "stated_size", lambda head: trusted(head).size)
    with pytest.raises(ValueError, match=r"too l(ong|arge)|Truncated"):
        dispute_pdf(felt.folder, 1)
