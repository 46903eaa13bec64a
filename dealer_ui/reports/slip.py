"""The slip at a shift's end: the record's signed head as a QR code, to be kept on paper."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Final

import segno
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from firmware.record.evidence.anchors import Anchor

WIDTH: Final = 80 * mm
HEIGHT: Final = 120 * mm
"""A receipt printer's paper; on a sheet it is cut out."""
_QR: Final = 64 * mm
_MARGIN: Final = 8 * mm


def qr(anchor: Anchor) -> segno.QRCode:
    """Return an anchor's QR code: a quarter of it may be stained."""
    return segno.make_qr(anchor.text, error="q")


def slip_svg(anchor: Anchor) -> str:
    """Return the QR code as an SVG that scales with its container."""
    return qr(anchor).svg_inline(border=4, omitsize=True, light="#fff", dark="#000")


def slip_png(anchor: Anchor) -> bytes:
    """Return the QR code as a PNG."""
    out = io.BytesIO()
    qr(anchor).save(out, kind="png", scale=6, border=4)
    return out.getvalue()


def slip_pdf(anchor: Anchor) -> bytes:
    """Return the slip as a PDF: the QR code, and its content in words. The same anchor gives the same bytes."""
    out = io.BytesIO()
    page = Canvas(out, pagesize=(WIDTH, HEIGHT), invariant=True)
    page.setTitle("Feltwatch anchor")
    top = HEIGHT - _MARGIN
    page.setFont("Helvetica-Bold", 11)
    page.drawString(_MARGIN, top - 3 * mm, "Feltwatch: the record's end")
    rows = list(qr(anchor).matrix_iter(border=0))
    module = _QR / len(rows)
    below = top - 7 * mm - _QR
    for y, row in enumerate(rows):
        for x, dark in enumerate(row):
            if dark:
                page.rect(
                    _MARGIN + x * module, below + _QR - (y + 1) * module, module, module, stroke=0, fill=1
                )
    page.setFont("Helvetica", 7)
    for number, line in enumerate(slip_lines(anchor)):
        page.drawString(_MARGIN, below - 5 * mm - number * 3.4 * mm, line)
    page.showPage()
    page.save()
    return out.getvalue()


def slip_lines(anchor: Anchor) -> list[str]:
    """Return the lines of text next to the code."""
    signed = datetime.fromtimestamp(anchor.wall_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    table = f"table {anchor.table}, " if anchor.table else ""
    return [
        f"{table}{anchor.hands} hands, row {anchor.seq}",
        f"signed {signed}",
        f"key {anchor.fingerprint}",
        f"hash {anchor.hash[:32]}",
        f"     {anchor.hash[32:]}",
        "Keep this slip. To check the record against it:",
        "feltwatch hands verify --all --anchor TEXT",
    ]
