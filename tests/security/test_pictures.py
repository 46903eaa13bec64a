"""Pictures that mean harm, in a record: of a table that was taken over, or on a stick. No reader unpacks them."""

from __future__ import annotations

import io

import pytest
from PIL import Image, PngImagePlugin

from dealer_ui.reports import dispute_pdf as module
from dealer_ui.reports.dispute_pdf import dispute_pdf
from tests.dealer_ui import past
from tests.dealer_ui.felt import Felt
from tests.security.pictures import png_that_says


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
        monkeypatch.setattr(module, "MOST_PIXELS", 1 << 40)
        dispute_pdf(felt.folder, 1)
        assert (9_000, 9_000) in unpacked
