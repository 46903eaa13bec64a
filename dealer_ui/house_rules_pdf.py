"""The house-rules page as a PDF."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.pagesizes import LETTER
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import CondPageBreak, SimpleDocTemplate, Spacer, TableStyle
from reportlab.platypus import Paragraph as Text
from reportlab.platypus import Table as Grid

from firmware.rules.document import Block, Heading, Paragraph, Table

_MARGIN = 18 * mm
_WITH_HEADING = 45 * mm  # a heading takes the beginning of what it is about along to the next page
_STYLES = getSampleStyleSheet()
_CELL = ParagraphStyle("cell", parent=_STYLES["BodyText"], fontSize=8.5, leading=10.5)
_HEAD = ParagraphStyle("head", parent=_CELL, fontName="Helvetica-Bold")
_GRID = TableStyle(
    [
        ("GRID", (0, 0), (-1, -1), 0.4, colors.grey),
        ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ]
)
# The shares of the page's width that tables of so many columns give each of them.
_SHARES = {3: (0.28, 0.40, 0.32), 4: (0.34, 0.22, 0.22, 0.22)}


def write_pdf(blocks: Sequence[Block], path: Path) -> None:
    """Write the page to a file. Raises OSError."""
    path.write_bytes(pdf(blocks))


def pdf(blocks: Sequence[Block]) -> bytes:
    """Return the page as a PDF."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "House rules")

    def footer(canvas: Canvas, document: Any) -> None:
        canvas.setFont("Helvetica", 7.5)
        canvas.drawString(_MARGIN, 10 * mm, title)
        canvas.drawRightString(LETTER[0] - _MARGIN, 10 * mm, f"Page {document.page}")

    written = BytesIO()
    document = SimpleDocTemplate(
        written,
        pagesize=LETTER,
        leftMargin=_MARGIN,
        rightMargin=_MARGIN,
        topMargin=_MARGIN,
        bottomMargin=_MARGIN,
        title=title,
        author="Feltwatch",
    )
    flow: list[Any] = []
    for block in blocks:
        flow += _flowables(block)
    document.build(flow, onFirstPage=footer, onLaterPages=footer)
    return written.getvalue()


def _flowables(block: Block) -> list[Any]:
    width = LETTER[0] - 2 * _MARGIN
    match block:
        case Heading(level, text):
            heading = Text(escape(text), _STYLES["Title" if level == 1 else f"Heading{level}"])
            return [CondPageBreak(_WITH_HEADING), heading]
        case Paragraph(text):
            return [Text(escape(text), _STYLES["BodyText"])]
        case Table(head, rows):
            cells = [[Text(escape(cell), _HEAD) for cell in head]]
            cells += [[Text(escape(cell), _CELL) for cell in row] for row in rows]
            widths = [share * width for share in _SHARES[len(head)]]
            return [Grid(cells, colWidths=widths, repeatRows=1, style=_GRID), Spacer(0, 3 * mm)]
