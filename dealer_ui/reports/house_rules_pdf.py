"""The house-rules page as a PDF, in the current language."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from reportlab.lib.pagesizes import LETTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import CondPageBreak, Flowable, Spacer

from dealer_ui.reports.pdf import WIDTH, Type, document
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import language
from firmware.record.journal.disk import write_whole
from firmware.rules.profiles.document import Block, DocumentTable, Heading, Paragraph

_RULES: Final = (0.07, 0.5, 0.43)
"""The shares of the page's width: a rule's number, its sentence, its source."""
_SHARES: Final = {
    "rules": _RULES,
    "room": (0.07, 0.27, 0.33, 0.33),
    "ranks": (0.1, 0.6, 0.3),
    "points": (0.26, 0.2, 0.54),
    3: (0.34, 0.33, 0.33),
    2: (0.22, 0.78),
    4: (0.34, 0.22, 0.22, 0.22),
}
"""The shares of the width of a table's columns: by what the table says, else by the number of its columns."""


def write_pdf(blocks: Sequence[Block], path: Path) -> None:
    """Write the page to a file. Raises OSError."""
    write_whole(path, pdf(blocks))


def pdf(blocks: Sequence[Block]) -> bytes:
    """Return the page as a PDF: the same content gives the same bytes."""
    kind = Type(language())
    title = next((block.text for block in blocks if isinstance(block, Heading)), _("House rules"))
    last = max((at for at, block in enumerate(blocks) if isinstance(block, Heading)), default=0)
    index = _flow(blocks[last:], kind)
    flow = [*_flow(blocks[:last], kind), _together(index), *index]
    return document(flow, title, kind, _("Page %(page)s"))


def _flow(blocks: Sequence[Block], kind: Type) -> list[Flowable]:
    flow: list[Flowable] = []
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        parts = _flowables(block, kind)
        # no title above an empty foot of a page
        if isinstance(block, Heading) and isinstance(after, DocumentTable):
            flow.append(_together([*parts, *_flowables(DocumentTable(after.head, after.rows[:1]), kind)]))
        flow += parts
    return flow


def _together(parts: Sequence[Flowable]) -> CondPageBreak:
    """Return a page break that is made unless all parts fit on the rest of the page."""
    return CondPageBreak(
        sum(part.wrap(WIDTH, LETTER[1])[1] + part.getSpaceBefore() + part.getSpaceAfter() for part in parts)
    )


def _flowables(block: Block, kind: Type) -> list[Flowable]:
    glued = "¶" if kind.body.wordWrap else "¶\N{NO-BREAK SPACE}"  # Chinese breaks lines at any space
    match block:
        case Heading(1, text):
            return [kind.text(text, kind.title)]
        case Heading(_, text):
            return kind.titled(text)
        case Paragraph(text):
            return [kind.text(text.replace("¶ ", glued), _paragraph_style(kind))]
        case DocumentTable(head, rows):
            lines = [
                (*(cell.replace("¶ ", glued) for cell in row[:-1]), row[-1].replace("¶ ", glued) or "\n\n")
                for row in rows  # an empty last cell is room to write in
            ]
            return [kind.grid([head, *lines], _shares(head), head=True), Spacer(0, 2 * mm)]


def _shares(head: tuple[str, ...]) -> tuple[float, ...]:
    if head[0] == _("No."):
        return _SHARES["rules" if len(head) == 3 else "room"]
    return _SHARES[{_("Rank"): "ranks", _("Point"): "points"}.get(head[0], len(head))]


def _paragraph_style(kind: Type) -> ParagraphStyle:
    return ParagraphStyle("spaced", kind.body, spaceAfter=4)
