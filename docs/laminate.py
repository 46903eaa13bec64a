"""The dealer's card as one sheet of paper: docs/dealer/card.md in two columns, for A4 and for letter."""

import re
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, LETTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, Image, PageTemplate, Paragraph
from reportlab.platypus.doctemplate import LayoutError

CARD: Final = Path(__file__).parent / "dealer" / "card.md"
SIZES: Final = {"a4": A4, "letter": LETTER}
MARGIN: Final = 14 * mm
GAP: Final = 9 * mm
WIDTH: Final = 86 * mm
"""The width of a picture: that of a column, on either paper."""
TITLE: Final = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=24, leading=30)
HEADING: Final = ParagraphStyle(
    "heading",
    TITLE,
    fontSize=15,
    leading=19,
    spaceBefore=11,
    spaceAfter=3,
    textColor=colors.HexColor("#0b5d34"),
)
HEADING.keepWithNext = 1
ITEM: Final = ParagraphStyle(
    "item", fontName="Helvetica", fontSize=13.5, leading=17, leftIndent=14, bulletIndent=0, spaceAfter=4
)


def parts(markdown: str) -> list[Flowable]:
    """Return the card's headings, list items and pictures; its other lines are about the page, not of it."""
    found: list[Flowable] = []
    for line in markdown.splitlines():
        words = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(line))
        if line.startswith("# "):
            found.append(Paragraph(words[2:], TITLE))
        elif line.startswith("## "):
            found.append(Paragraph(words[3:], HEADING))
        elif picture := re.match(r"!\[.*\]\((.+)\)", line):
            found.append(Image(str(CARD.parent / picture[1]), WIDTH, WIDTH * 480 / 800))
        elif item := re.match(r"(\d+\.|-) (.*)", words):
            found.append(Paragraph(item[2], ITEM, bulletText="•" if item[1] == "-" else item[1]))
    return found


def write(path: Path, size: tuple[float, float], markdown: str) -> None:
    """Write the card as a PDF of one page.

    Raises:
        LayoutError: where it does not fit on one.
    """
    width = (size[0] - 2 * MARGIN - GAP) / 2
    frames = [
        Frame(MARGIN + number * (width + GAP), MARGIN, width, size[1] - 2 * MARGIN, 0, 0, 0, 0)
        for number in range(2)
    ]
    sheet = BaseDocTemplate(str(path), pagesize=size, invariant=1, title="Feltwatch: the dealer's card")
    sheet.addPageTemplates(PageTemplate("card", frames))
    sheet.build(parts(markdown))
    if sheet.page > 1:
        raise LayoutError(f"The dealer's card takes {sheet.page} pages; shorten docs/dealer/card.md.")


def sheets(folder: Path) -> None:
    """Write the card for each size of paper into a folder, made if missing: card-a4.pdf, card-letter.pdf.

    Raises:
        LayoutError: where the card does not fit on one page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, size in SIZES.items():
        write(folder / f"card-{name}.pdf", size, CARD.read_text(encoding="utf-8"))
