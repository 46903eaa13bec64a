"""The building blocks of the PDFs: fonts for every letter, drawn cards, tables, a page with its footer.

The same content gives the same bytes: files hold no creation time.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

from reportlab.graphics.shapes import Drawing, Group, Rect, String
from reportlab.graphics.svgpath import SvgPath
from reportlab.lib import colors, textsplit
from reportlab.lib.pagesizes import LETTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFError, TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    CondPageBreak,
    Flowable,
    Paragraph,
    SimpleDocTemplate,
    Table,
    TableStyle,
    paragraph,
)

# Characters that may not begin a line hang beyond its end; reportlab's own list lacks some Chinese punctuation.
for _wraps in (paragraph, textsplit):
    vars(_wraps)["ALL_CANNOT_START"] += "，；：！？”》"

MARGIN: Final = 16 * mm
WIDTH: Final = LETTER[0] - 2 * MARGIN
"""Points between the margins."""
_WITH_HEADING: Final = 40 * mm

_FONTS: Final = Path("/usr/share/fonts/truetype")
_LATIN: Final = (
    (_FONTS / "dejavu/DejaVuSans.ttf", _FONTS / "dejavu/DejaVuSans-Bold.ttf"),
    (Path("Vera.ttf"), Path("VeraBd.ttf")),  # part of reportlab
)
_OWN: Final = Path(__file__).parents[1] / "fonts"
_SIMPLIFIED: Final = _OWN / "NotoSansCJKSC-Regular.ttf"
_TRADITIONAL: Final = _OWN / "NotoSansCJKTC-Regular.ttf"
"""Chinese characters, embedded: every reader shows the same. A document looks in its own language's font first."""
_RARE: Final = (
    _FONTS / "wqy/wqy-zenhei.ttc",
    _FONTS / "wqy/wqy-microhei.ttc",
    _FONTS / "droid/DroidSansFallbackFull.ttf",
    _FONTS / "arphic/uming.ttc",
)
"""Where one is installed: for the letters of a name that our own fonts do not have (fonts-wqy-zenhei on Debian)."""

INK: Final = colors.HexColor("#15191c")
DIM: Final = colors.HexColor("#5b665f")
RED: Final = colors.HexColor("#c41e2f")
CARD_MM: Final = (7.4, 10.2)


class Type:
    """The fonts of one document."""

    def __init__(self, language: str) -> None:
        self.plain, self.bold = _latin()
        self._chinese = _chinese(language)
        # Chinese has no spaces to break a line at.
        wrap = "CJK" if language.startswith("zh") else None
        self.body = ParagraphStyle(
            "body",
            fontName=self.plain,
            fontSize=8.6,
            leading=11,
            textColor=INK,
            wordWrap=wrap,
            rightIndent=6 if wrap else 0,  # room for characters beyond a line's end
        )
        self.small = ParagraphStyle("small", self.body, fontSize=7, leading=9, textColor=DIM)
        self.head = ParagraphStyle("head", self.body, fontName=self.bold)
        self.title = ParagraphStyle("title", self.head, fontSize=18, leading=22, spaceAfter=4)
        self.heading = ParagraphStyle(
            "heading", self.head, fontSize=12, leading=15, spaceBefore=9, spaceAfter=3
        )

    def has(self, letter: str) -> bool:
        """Return whether the fonts packaged for this language have a letter."""
        return any(_has(font, letter) for font in (self.plain, self._chinese[0]))

    def text(self, words: str, style: ParagraphStyle | None = None) -> Paragraph:
        """Return a paragraph of plain words, each letter in a font that has it."""
        style = style or self.body
        return Paragraph(self._fitted(words, str(style.fontName)), style)

    def label(
        self, words: str, x: float, y: float, size: float, colour: colors.Color, *, bold: bool = False
    ) -> Group:
        """Return one line for a drawing with its middle at x, each letter in a font that has it; sizes in points."""
        runs = list(self._runs(words, self.bold if bold else self.plain))
        widths = [pdfmetrics.stringWidth(run, font, size) for font, run in runs]
        left = x - sum(widths) / 2
        group = Group()
        for (font, run), width in zip(runs, widths, strict=True):
            group.add(String(left, y, run, fontName=font, fontSize=size, fillColor=colour))
            left += width
        return group

    def titled(self, words: str, above: float = 0.0) -> list[Flowable]:
        """Return a heading that stays on the same page as the beginning of its content.

        `above`: the height in points of the content, if that must not be split.
        """
        return [CondPageBreak(_WITH_HEADING + above), self.text(words, self.heading)]

    def grid(
        self,
        rows: Sequence[Sequence[str | Flowable]],
        shares: Sequence[float],
        *,
        head: bool = False,
        marked: Sequence[int] = (),
    ) -> Table:
        """Return a table across the page; `shares` are the columns' parts of its width, `marked` rows to look at."""
        cells = [
            [
                self.text(cell, self.head if head and not number else self.body)
                if isinstance(cell, str)
                else cell
                for cell in row
            ]
            for number, row in enumerate(rows)
        ]
        style: list[tuple[Any, ...]] = [
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("LINEBELOW", (0, 0), (-1, -1), 0.3, colors.HexColor("#c9d1cc")),
            ("LEFTPADDING", (0, 0), (-1, -1), 3),
            ("RIGHTPADDING", (0, 0), (-1, -1), 3),
            ("TOPPADDING", (0, 0), (-1, -1), 1.5),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
            *(("BACKGROUND", (0, row), (-1, row), colors.HexColor("#fff3c9")) for row in marked),
        ]
        if head:
            style.append(("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#e9eeea")))
        return Table(
            cells,
            colWidths=[share * WIDTH for share in shares],
            repeatRows=int(head),
            style=TableStyle(style),
        )

    def _fitted(self, words: str, font: str) -> str:
        return "".join(
            f'<font name="{name}">{escape(run)}</font>' if name != font else escape(run)
            for name, run in self._runs(words, font)
        ).replace("\n", "<br/>")

    def _runs(self, words: str, font: str) -> Iterator[tuple[str, str]]:
        """Yield runs of letters with the font that has them; a letter without a font is replaced by a plain one."""
        name, run = font, ""
        for letter in words:
            has = next((one for one in (font, *self._chinese) if _has(one, letter)), "")
            if not has:
                has, letter = font, _PLAIN.get(letter, "?")
            if has != name and run:
                yield name, run
                run = ""
            name, run = has, run + letter
        if run:
            yield name, run


_PLAIN: Final = {"♣": "c", "♦": "d", "♥": "h", "♠": "s", "−": "-", "…": "...", "“": '"', "”": '"', "·": "-"}


@cache
def _latin() -> tuple[str, str]:
    for plain, bold in _LATIN:
        try:
            pdfmetrics.registerFont(TTFont("felt", str(plain)))
            pdfmetrics.registerFont(TTFont("felt-bold", str(bold)))
        except (TTFError, OSError):
            continue
        return "felt", "felt-bold"
    return "Helvetica", "Helvetica-Bold"


@cache
def _chinese(language: str) -> tuple[str, ...]:
    own = [_TRADITIONAL, _SIMPLIFIED] if language == "zh_Hant" else [_SIMPLIFIED, _TRADITIONAL]
    for path in own:
        pdfmetrics.registerFont(TTFont(path.stem, str(path)))
    for path in _RARE:
        try:
            pdfmetrics.registerFont(TTFont("felt-rare", str(path)))
        except (TTFError, OSError):
            continue
        return own[0].stem, own[1].stem, "felt-rare"
    return own[0].stem, own[1].stem


def _has(font: str, letter: str) -> bool:
    face = getattr(pdfmetrics.getFont(font), "face", None)
    glyphs = getattr(face, "charToGlyph", None)
    return letter in "\n\t" or (ord(letter) in glyphs if glyphs else ord(letter) < 128)


# ---- cards ----

_SYMBOL: Final = re.compile(r'<symbol id="((?:rank|suit)-.)" viewBox="0 0 (\d+) (\d+)"[^>]*>(.*?)</symbol>')
_PATH: Final = re.compile(r'<path d="([^"]+)"/>')


@cache
def _signs() -> dict[str, tuple[float, float, tuple[str, ...]]]:
    """Return the deck's corner signs from the page: width, height, outlines."""
    markup = (Path(__file__).parents[1] / "templates" / "parts" / "signs.html").read_text(encoding="utf-8")
    return {
        name: (float(width), float(height), tuple(_PATH.findall(drawn)))
        for name, width, height, drawn in _SYMBOL.findall(markup)
    }


def _sign(name: str, x: float, y: float, height: float, colour: colors.Color) -> Group:
    """Draw a sign with its middle at x and its foot at y; points."""
    width, full, paths = _signs()[name]
    scale = height / full
    group = Group(transform=(scale, 0, 0, -scale, x - width * scale / 2, y + height))
    for path in paths:
        group.add(SvgPath(path, fillColor=colour, strokeColor=None))
    return group


def box(x: float, y: float, width: float, height: float, **look: Any) -> Rect:
    """Return a white box; `look` as reportlab's `Rect` takes it."""
    return Rect(x, y, width, height, **{"fillColor": colors.white, "strokeColor": None, **look})


def cards(codes: Sequence[str], *, marked: Sequence[int] = (), size: float = 1.0) -> Drawing:
    """Draw cards in a row, each with its rank and suit; `marked` ones have a frame, "" is a card that was not read."""
    wide, high = CARD_MM[0] * mm * size, CARD_MM[1] * mm * size
    step = wide + 0.8 * mm * size
    drawing = Drawing(step * max(1, len(codes)), high + 1)
    for place, code in enumerate(codes):
        edge = colors.HexColor("#1257b8") if place in marked else colors.HexColor("#9aa6a0")
        left = place * step + 0.5
        width = 1.4 if place in marked else 0.6
        drawing.add(box(left, 0.5, wide - 1, high - 1, rx=2, ry=2, strokeColor=edge, strokeWidth=width))
        middle = left + wide / 2 - 0.5
        if not code:
            drawing.add(String(middle, high / 2 - 4, "?", textAnchor="middle", fontSize=11, fillColor=DIM))
            continue
        colour = RED if code[1] in "hd" else INK
        drawing.add(_sign(f"rank-{code[0]}", middle, high * 0.46, high * 0.42, colour))
        drawing.add(_sign(f"suit-{code[1]}", middle, high * 0.1, high * 0.27, colour))
    return drawing


# ---- the document ----


def document(flow: list[Flowable], title: str, kind: Type, page: str) -> bytes:
    """Return a PDF of these parts; `page` is the footer's word for a page, with `%(page)s` in it."""
    target = BytesIO()

    def footer(canvas: Canvas, made: Any) -> None:
        canvas.setFont(kind.plain, 7)
        canvas.setFillColor(DIM)
        line = Table(
            [[kind.text(title, kind.small), kind.text(page % {"page": made.page}, kind.small)]],
            colWidths=[0.88 * WIDTH, 0.12 * WIDTH],
        )
        line.wrapOn(canvas, WIDTH, 10 * mm)
        line.drawOn(canvas, MARGIN, 6 * mm)

    made = SimpleDocTemplate(
        target,
        pagesize=LETTER,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN,
        title=title,
        author="Feltwatch",
        invariant=1,
    )
    made.build(flow, onFirstPage=footer, onLaterPages=footer)
    return target.getvalue()
