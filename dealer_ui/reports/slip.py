"""The slip at a shift's end: the record's signed head as a QR code, to be kept on paper.

A table that sends to a pit adds the newest checkpoint of the pit's log that it holds, as a second code.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import segno

from firmware.record.evidence.anchors import Anchor
from firmware.uplink.held_checkpoint import HeldCheckpoint

if TYPE_CHECKING:
    from reportlab.pdfgen.canvas import Canvas

_MM: Final = 72 / 25.4
"""In a PDF's points."""
WIDTH: Final = 80 * _MM
HEIGHT: Final = 120 * _MM
"""A receipt printer's paper; on a sheet it is cut out."""
CHECKPOINT_HEIGHT: Final = 92 * _MM
"""What a checkpoint adds to the height."""
_QR: Final = 64 * _MM
_CHECKPOINT_QR: Final = 46 * _MM
_LINE: Final = 3.4 * _MM
_QUIET: Final = 4
"""Modules of white around a code."""
_MARGIN: Final = 8 * _MM


def qr(anchor: Anchor) -> segno.QRCode:
    """Return an anchor's QR code: a quarter of it may be stained."""
    return segno.make_qr(anchor.text, error="q")


def slip_svg(anchor: Anchor, held: HeldCheckpoint | None = None) -> str:
    """Return the QR code as an SVG that scales with its container; that of the checkpoint stands below it."""
    codes = [qr(anchor), *([checkpoint_qr(held)] if held is not None else [])]
    drawn = [one.svg_inline(border=_QUIET, omitsize=True, light="#fff", dark="#000") for one in codes]
    if len(drawn) == 1:
        return drawn[0]
    sides = [one.symbol_size(border=_QUIET)[0] for one in codes]
    placed = (
        one.replace("<svg ", f'<svg y="{sum(sides[:at])}" width="{sides[at]}" height="{sides[at]}" ', 1)
        for at, one in enumerate(drawn)
    )
    wide, high = max(sides), sum(sides)
    paper = f'<path fill="#fff" d="M0 0h{wide}v{high}H0z"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}">{paper}{"".join(placed)}</svg>'
    )


def slip_png(anchor: Anchor, held: HeldCheckpoint | None = None) -> bytes:
    """Return the QR code as a PNG; that of the checkpoint stands below it."""
    return _png(qr(anchor)) if held is None else _stack_pictures(_png(qr(anchor)), _png(checkpoint_qr(held)))


def checkpoint_qr(held: HeldCheckpoint) -> segno.QRCode:
    """Return a checkpoint's QR code: its text is what `feltwatch pit verify --checkpoint` reads."""
    return segno.make_qr(held.note, error="m")


def slip_pdf(anchor: Anchor, held: HeldCheckpoint | None = None) -> bytes:
    """Return the slip as a PDF: the QR code, and its content in words. The same content gives the same bytes."""
    from reportlab.pdfgen.canvas import Canvas  # slow import, rarely needed

    out = io.BytesIO()
    height = HEIGHT + (CHECKPOINT_HEIGHT if held is not None else 0)
    page = Canvas(out, pagesize=(WIDTH, height), invariant=True)
    page.setTitle("Feltwatch anchor")
    head = "Feltwatch: the record's end"
    below = _part(page, height - _MARGIN, head, qr(anchor), _QR, slip_lines(anchor))
    if held is not None:
        code, lines = checkpoint_qr(held), checkpoint_lines(held)
        _part(page, below - 4 * _MM, "The pit's log", code, _CHECKPOINT_QR, lines)
    page.showPage()
    page.save()
    return out.getvalue()


def _part(page: Canvas, top: float, head: str, code: segno.QRCode, wide: float, lines: list[str]) -> float:
    """Draw a heading, a code and lines below one another; return where they end."""
    page.setFont("Helvetica-Bold", 11)
    page.drawString(_MARGIN, top - 3 * _MM, head)
    rows = list(code.matrix_iter(border=0))
    module = wide / len(rows)
    below = top - 7 * _MM - wide
    for y, row in enumerate(rows):
        for x, dark in enumerate(row):
            if dark:
                page.rect(
                    _MARGIN + x * module, below + wide - (y + 1) * module, module, module, stroke=0, fill=1
                )
    page.setFont("Helvetica", 7)
    for number, line in enumerate(lines):
        page.drawString(_MARGIN, below - 5 * _MM - number * _LINE, line)
    return below - 5 * _MM - len(lines) * _LINE


def _png(code: segno.QRCode) -> bytes:
    out = io.BytesIO()
    code.save(out, kind="png", scale=6, border=_QUIET)
    return out.getvalue()


def _stack_pictures(*pictures: bytes) -> bytes:
    """Return PNGs below one another."""
    from PIL import Image  # slow import, rarely needed

    parts = [Image.open(io.BytesIO(one)).convert("1") for one in pictures]
    whole = Image.new("1", (max(one.width for one in parts), sum(one.height for one in parts)), 1)
    top = 0
    for one in parts:
        whole.paste(one, (0, top))
        top += one.height
    out = io.BytesIO()
    whole.save(out, "PNG")
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


def checkpoint_lines(held: HeldCheckpoint) -> list[str]:
    """Return the lines of text next to a checkpoint's code."""
    checkpoint = held.checkpoint
    return [
        checkpoint.origin,
        f"size {checkpoint.size} signed heads, {proven_words(held)}",
        f"root {held.root[:22]}",
        f"     {held.root[22:]}",
        f"log's key {held.words}",
        *(["The pit has shown another history since: tell surveillance."] if held.doubted else []),
        "To check the pit against it, save the code's text as a file:",
        "feltwatch pit verify --checkpoint FILE",
    ]


def proven_words(held: HeldCheckpoint) -> str:
    """Return in words whether a checkpoint is proven.

    A checkpoint is proven when more than half of the tables that the pit hears have cosigned it.
    """
    if held.proven is None:
        return "not proven yet"
    size, signers, heard = held.proven
    return f"proven by {signers} of {heard} tables" if held.is_proven else f"{size} proven so far"
