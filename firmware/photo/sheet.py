"""Draws a sheet to share: the photograph with its rows drawn over it, and the settlement below; PNG, JPEG or PDF."""

from io import BytesIO
from pathlib import Path
from typing import Final

import reportlab
from PIL import Image, ImageDraw, ImageFont

from firmware.photo.asking import Outcome

FORMATS: Final = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".pdf": "PDF"}
_WIDTH: Final = 1600
_INKS: Final = ((230, 159, 0), (86, 180, 233), (0, 158, 115))
"""Front, middle and back: colours that nearly everybody can tell apart; the rows are named besides."""
_UNSURE: Final = (213, 60, 0)
_LINE: Final = 30


def sheet(photo: Image.Image, outcome: Outcome, text: str, kind: str, font: Path | None = None) -> bytes:
    """Return the sheet as a file of a format (PNG, JPEG, PDF); nothing of the photograph's metadata is in it.

    `text` is what stands below, line by line; `font`: a font file for a text whose letters are not Latin.
    """
    scale = _WIDTH / photo.width
    photo = photo.convert("RGB").resize((_WIDTH, max(1, round(photo.height * scale))))
    lines = text.split("\n")
    page = Image.new("RGB", (_WIDTH, photo.height + _LINE * (len(lines) + 2)), "white")
    page.paste(photo)
    draw = ImageDraw.Draw(page)
    _draw_cards(draw, outcome, scale)
    for k, line in enumerate(lines):
        draw.text((40, photo.height + _LINE * (k + 1)), line, fill="black", font=_font(22, font))
    out = BytesIO()
    page.save(out, kind, **({"resolution": 150.0} if kind == "PDF" else {}))
    return out.getvalue()


def _font(size: int, file: Path | None = None) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(file or Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"), size)


def _draw_cards(draw: ImageDraw.ImageDraw, outcome: Outcome, scale: float) -> None:
    """Draw each card's outline in the colour of its row, its name, and the number of one that is asked about."""
    inks = {
        card.number: ink
        for seat in outcome.seats
        for row, ink in zip(seat.rows, _INKS, strict=True)
        for card in row
    }
    for card in outcome.cards:
        ink = inks.get(card.number, (120, 120, 120)) if card.sure else _UNSURE
        corners = [(x * scale, y * scale) for x, y in card.corners]
        draw.line([*corners, corners[0]], fill=ink, width=4, joint="curve")
        words = card.card if card.sure else f"{card.number}: {card.card}?"
        at = (card.middle[0] * scale, card.middle[1] * scale)
        _label(draw, at, words, ink, 20)
    for seat in outcome.seats:
        for name, row, ink in zip(("front", "middle", "back"), seat.rows, _INKS, strict=True):
            first = row[0]
            x = min(x for x, _ in first.corners) * scale
            y = min(y for _, y in first.corners) * scale
            _label(draw, (x, y), f"{seat.seat} {name}", ink, 22)


def _label(
    draw: ImageDraw.ImageDraw, at: tuple[float, float], words: str, ink: tuple[int, int, int], size: int
) -> None:
    font = _font(size)
    left, top, right, bottom = draw.textbbox(at, words, font=font, anchor="mm")
    draw.rectangle((left - 4, top - 3, right + 4, bottom + 3), fill="white", outline=ink, width=2)
    draw.text(at, words, fill="black", font=font, anchor="mm")
