"""A past hand as a PDF for people: pictures, cards, settlement with clauses, timeline, fingerprints."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Final

from PIL import Image
from reportlab.graphics.shapes import Drawing, Polygon
from reportlab.graphics.shapes import Image as Picture
from reportlab.lib import colors
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, KeepTogether, PageBreak, Spacer

from dealer_ui.reports.pdf import DIM, RED, WIDTH, Type, box, cards, document
from dealer_ui.review.frames import CardMark, FrameAnnotations, frame_annotations
from dealer_ui.review.stored_picture import open_picture
from dealer_ui.review.timeline import TimelineRow, describe, timeline
from dealer_ui.review.view import Correction, HandView, SeatView, SettlementView, hand_view
from dealer_ui.text.i18n import N_, SOURCE, speaking, supported_language
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import card_name, speaking_of
from firmware.record.evidence.signing import fingerprint
from firmware.record.hand_history import PastHand, load_hand
from firmware.record.journal.captures import CaptureStore, captures_in
from firmware.record.journal.journal import JournalReader
from firmware.rules import paying_in
from firmware.table.errors import CaptureError, TableError
from firmware.table.events import CardPlaced, CardReread
from firmware.table.readings import Capture
from firmware.table.settling import rules_of

FRAME_PX: Final = 1800
"""A frame's width at most, in pixels: what a page shows; the whole picture lies next to the PDF."""
FRAME_HIGH: Final = 120 * mm
ZONE_WIDE: Final = 75 * mm
QUALITY: Final = 82
SURE: Final = colors.HexColor("#1f9e57")
UNSURE: Final = colors.HexColor("#e0a500")
_CALIBRATED: Final = {"felt": N_("Felt"), "lens": N_("Lens"), "deck": N_("Deck")}
ZONE: Final = colors.HexColor("#f4f4f4")


def dispute_pdf(
    data: Path, hand: int, reader: JournalReader | None = None, store: CaptureStore | None = None
) -> bytes:
    """Return a past hand of the record in a data folder as a PDF: in English, then in the table's own language.

    `reader` and `store`: where the record and its images are, if not in the data folder.
    The same record gives the same bytes. Raises CommandRefused for a hand that is not in the record or still open,
    JournalError.
    """
    reader, store = reader or JournalReader(data), store or CaptureStore(data)
    recalled = load_hand(reader, hand)
    try:
        rules = rules_of(recalled.opened, reader.content(recalled.opened.profile_hash))
    except TableError:
        rules = None
    key = reader.last_key()
    announced = str(getattr(key.event, "key", "")) if key else ""
    pages: list[_Hand] = []
    flow: list[Flowable] = []
    for language in dict.fromkeys((SOURCE, supported_language(recalled.opened.house.language))):
        with speaking(language), paying_in(recalled.opened.house.currency), speaking_of(rules):
            pages.append(_Hand(recalled, hand_view(recalled, rules), store, Type(language), announced))
            flow += [*([PageBreak()] if flow else []), *pages[-1].flow()]
    with speaking(SOURCE):
        return document(flow, pages[0].title, pages[0].type, _("Page %(page)s"))


class _Hand:
    """One hand's data for the document."""

    def __init__(
        self, recalled: PastHand, view: HandView, store: CaptureStore, type_: Type, announced: str
    ) -> None:
        self.recalled, self.view, self.store, self.type, self.announced = (
            recalled,
            view,
            store,
            type_,
            announced,
        )
        table = recalled.opened.house.table
        self.title = _("Hand %(hand)s", hand=f"{recalled.hand:,}") + (f" · {table}" if table else "")

    def flow(self) -> Iterable[Flowable]:
        """Yield the document's parts."""
        type_, view = self.type, self.view
        yield type_.text(self.title, type_.title)
        yield type_.grid(list(self._facts()), (0.2, 0.8))
        yield from type_.titled(_("Cards"))
        yield type_.text(_("A blue frame: named by a person, not by the camera."), type_.small)
        for seat in view.seats:
            yield KeepTogether([*self._seat(seat), Spacer(0, 2 * mm)])
        yield from self._settled(view.settled)
        for correction in view.corrections:
            yield from self._correction(correction)
        yield from self._pictures()
        yield from type_.titled(_("Timeline"))
        rows = [[one.time, one.text, one.who, str(one.seq)] for one in timeline(self.recalled)]
        head = [_("Time"), _("What happened"), _("Who"), _("Row")]
        yield type_.grid([head, *rows], (0.1, 0.6, 0.2, 0.1), head=True)
        yield from self._fingerprints()

    def _facts(self) -> Iterable[list[str]]:
        view, opened = self.view, self.recalled.opened
        yield [_("Played"), view.when]
        yield [_("Rules"), _("%(profile)s, %(unit)s a point", profile=view.profile, unit=view.unit)]
        if view.dealer:
            yield [_("Dealer"), _("%(name)s, down %(down)s", name=view.dealer, down=view.down)]
        yield [_("Players"), ", ".join(f"{seat.seat} {seat.player}" for seat in opened.seats)]
        if view.void:
            yield [_("Outcome"), view.void]
        elif view.corrections:
            yield [_("Outcome"), _("Settled, then corrected: both settlements follow.")]
        else:
            yield [_("Outcome"), _("Settled.")]

    def _seat(self, seat: SeatView) -> Iterable[Flowable]:
        button = " · " + _("puck") if seat.has_puck else ""
        yield self.type.text(f"{seat.seat} {seat.player}{button}  {seat.net}", self.type.head)
        rows: list[list[str | Flowable]] = [
            [
                cards(row.cards, marked=row.by_hand) if row.cards else _("no cards on record"),
                row.text + (f"  +{row.bonus}" if row.bonus else ""),
            ]
            for row in seat.rows
        ]
        yield self.type.grid(rows, (0.28, 0.72))
        if seat.marks:
            yield self.type.text(" · ".join(seat.marks), self.type.head)

    # ---- settlements ----

    def _settled(self, one: SettlementView) -> Iterable[Flowable]:
        yield from self.type.titled(one.title)
        if one.why:
            yield self.type.text(one.why)
            return
        nets = [[f"{net.seat} {net.player}", net.amount] for net in one.nets]
        marked = [number for number, net in enumerate(one.nets) if net.differs]
        yield self.type.grid(nets, (0.5, 0.5), marked=marked)
        yield Spacer(0, 2 * mm)
        head = [_("Pair"), _("Why"), _("Clause"), _("Points")]
        rows, marked = [head], []
        for pair in one.pairs:
            if pair.differs:
                marked.append(len(rows))
            rows.append([pair.label, f"{pair.words} {pair.amount}".strip(), pair.short, ""])
            for line in pair.lines:
                if line.differs:
                    marked.append(len(rows))
                rows.append(["", line.text, line.clause, line.points])
        yield self.type.grid(rows, (0.08, 0.58, 0.24, 0.1), head=True, marked=marked)

    def _correction(self, one: Correction) -> Iterable[Flowable]:
        title = _("Reopened on %(when)s by %(who)s: %(why)s", when=one.when, who=one.who, why=one.reason)
        yield from self.type.titled(title)
        for row in one.changed:
            yield self.type.text(f"{row.time}  {row.text} ({row.who})")
        for back in one.paybacks:
            yield self.type.text(back, self.type.head)
        yield from self._settled(one.before)
        yield from self._settled(one.after)

    # ---- pictures ----

    def _pictures(self) -> Iterable[Flowable]:
        seen = frame_annotations(self.recalled)
        yield from self.type.titled(_("Pictures"), FRAME_HIGH if seen else 0)
        zones = tuple(self._zones(asked=bool(seen)))
        if not seen:
            yield self.type.text(
                _("No picture of the whole table was stored of this hand.")
                if zones
                else _("No picture was stored of this hand.")
            )
        captures = self._captures()
        for look in seen:
            caption = f"{look.time} · {look.words} · {look.frame} · SHA-256 {look.sha256[:16]}…"
            try:
                whole = self._opened(captures[look.frame])
            except CaptureError as error:
                yield self.type.text(say(error))
                yield self.type.text(caption, self.type.small)
                continue
            yield KeepTogether(
                [_draw_frame(whole, look, self.type), self.type.text(caption, self.type.small)]
            )
            doubtful = [card for card in look.cards if card.crop and (not card.sure or card.final)]
            for card in doubtful:
                yield KeepTogether([self._closer(whole, card), Spacer(0, 1 * mm)])
        for capture, rows in zones:
            yield KeepTogether([self._zone(capture, rows), Spacer(0, 1 * mm)])

    def _zones(self, *, asked: bool) -> Iterable[tuple[Capture, list[TimelineRow]]]:
        """Yield the zones' pictures of placed cards, with their captions; `asked`: unsure ones only."""
        found: dict[Capture, list[TimelineRow]] = {}
        for step in self.recalled.steps:
            match step.entry.event:
                case (
                    CardPlaced(card=card, capture=Capture() as capture)
                    | CardReread(card=card, capture=Capture() as capture)
                ) if not (asked and card.sure):
                    if row := describe(step, self.recalled.hand):
                        found.setdefault(capture, []).append(row)
                case _:
                    pass
        yield from found.items()

    def _zone(self, capture: Capture, answer: list[TimelineRow]) -> Flowable:
        captions = [f"{one.time} · {one.text}" for one in answer]
        captions.append(f"{capture.name} · SHA-256 {capture.sha256[:16]}…")
        try:
            whole = self._opened(capture)
        except CaptureError as error:
            return self.type.text("\n".join([*captions, say(error)]))
        high = min(ZONE_WIDE * whole.height / whole.width, ZONE_WIDE)
        drawing = Drawing(ZONE_WIDE, high)
        drawing.add(_picture(whole, 0, 0, high * whole.width / whole.height, high))
        return self.type.grid([[drawing, "\n".join(captions)]], (0.45, 0.55))

    def _opened(self, capture: Capture) -> Image.Image:
        """Return a stored picture. Raises CaptureError if it is none, or would take gigabytes or hours."""
        if picture := open_picture(self.store.load(capture)):
            return picture
        raise CaptureError("%(name)s is no picture.", name=capture.name)

    def _captures(self) -> dict[str, Capture]:
        return {
            capture.name: capture for step in self.recalled.steps for capture in captures_in(step.entry.event)
        }

    def _closer(self, whole: Image.Image, card: CardMark) -> Flowable:
        """Return a card that was unsure or corrected: cut out, with the card read and the card that counts."""
        assert card.crop is not None
        crop = card.crop
        turned = whole.rotate(-crop.turn_deg, center=(card.x, card.y), resample=Image.Resampling.BICUBIC)
        cut = turned.crop((crop.x, crop.y, crop.x + crop.width, crop.y + crop.height))
        drawing = Drawing(30 * mm, 30 * mm)
        drawing.add(_picture(cut, 0, 0, 30 * mm, 30 * mm))
        captions = [
            card.where,
            _("read: %(card)s, %(percent)s %%", card=_name(card.code), percent=card.confidence),
        ]
        captions.append(_("judged sure") if card.sure else _("judged not sure: the dealer was asked"))
        if len(card.candidates) > 1:
            captions.append(_("could be: %(cards)s", cards=", ".join(map(card_name, card.candidates))))
        if card.final:
            captions.append(_("counted as: %(card)s", card=card_name(card.final)))
        faces = cards([card.code, card.final] if card.final else [card.code], size=1.6)
        return self.type.grid([[drawing, faces, "\n".join(captions)]], (0.2, 0.2, 0.6))

    # ---- at the end ----

    def _fingerprints(self) -> Iterable[Flowable]:
        opened, steps = self.recalled.opened, self.recalled.steps
        last = max((*(step.entry for step in steps), *self.recalled.marks), key=lambda entry: entry.seq)
        yield from self.type.titled(_("Fingerprints"))
        yield self.type.text(
            _("Compare these with the record or with the other files of the dispute file. All are SHA-256."),
            self.type.small,
        )
        rows = [
            [_("Rows of the record"), f"{steps[0].entry.seq} – {last.seq}"],
            [_("Hash of the first row"), steps[0].entry.hash],
            [_("Hash of the last row"), last.hash],
            [_("Rules"), opened.profile_hash],
            [_("Felt"), opened.layout_hash],
            *(
                [_("Calibration") + " · " + _(_CALIBRATED.get(what, what)), one.hash]
                for what, one in sorted(opened.calibrations.items())
            ),
            [_("Card reader"), opened.model_hash],
            [_("Software"), opened.software],
        ]
        if self.announced:
            rows.append([_("Device's key"), self.announced])
            rows.append([_("The key in words"), fingerprint(bytes.fromhex(self.announced))])
        rows += [[name, capture.sha256] for name, capture in sorted(self._captures().items())]
        small = self.type.small
        cells = [[self.type.text(cell, small) for cell in row] for row in rows if row[1]]
        yield self.type.grid(cells, (0.34, 0.66))


def _name(code: str) -> str:
    return card_name(code) if code else _("nothing")


def _draw_frame(whole: Image.Image, look: FrameAnnotations, type_: Type) -> Drawing:
    """Return a frame with its zones, cards, confidences and doubts drawn in."""
    left, top, width, height = look.window(*whole.size)
    part = whole.crop((left, top, left + width, top + height))
    part.thumbnail((FRAME_PX, FRAME_PX))
    scale = min(WIDTH / width, FRAME_HIGH / height)
    drawing = Drawing(width * scale, height * scale)
    drawing.add(_picture(part, 0, 0, width * scale, height * scale))

    def at(points: str) -> list[float]:
        spots = (tuple(map(int, spot.split(","))) for spot in points.split())
        return [value for x, y in spots for value in ((x - left) * scale, (top + height - y) * scale)]

    def label(x: float, y: float, text: str, colour: colors.Color, size: float) -> None:
        across, up = (x - left) * scale, (top + height - y) * scale
        words = type_.label(text, across, up, size, colour, bold=True)
        start, _low, end, _high = words.getBounds()
        drawing.add(box(start, up - 0.3 * size, end - start, 1.1 * size))
        drawing.add(words)

    size = max(3.5, look.letter * scale)
    for area in look.zones:
        drawing.add(
            Polygon(
                at(area.points), fillColor=None, strokeColor=ZONE, strokeWidth=0.6, strokeDashArray=[3, 2]
            )
        )
    for area in look.things:
        drawing.add(Polygon(at(area.points), fillColor=None, strokeColor=RED, strokeWidth=0.8))
        label(area.x, area.y, area.name, RED, 0.8 * size)
    for card in look.cards:
        colour = SURE if card.sure else UNSURE
        drawing.add(Polygon(at(card.points), fillColor=None, strokeColor=colour, strokeWidth=1))
        label(
            card.x, card.y, card.code + ("" if card.sure else "?"), colors.black if card.sure else RED, size
        )
        label(card.x, card.y + 1.2 * size / scale, f"{card.confidence}", DIM, 0.8 * size)
    return drawing


def _picture(image: Image.Image, x: float, y: float, width: float, height: float) -> Picture:
    """Return a picture for a drawing, encoded as JPEG."""
    packed = BytesIO()
    image.save(packed, "JPEG", quality=QUALITY)
    return Picture(x, y, width, height, Image.open(packed))
