"""What is printed: a past hand and a shift, rendered to pictures and read back as text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import pytest
from reportlab.pdfbase.pdfmetrics import getFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.pdfgen.textobject import PDFTextObject

from dealer_ui.reports.dispute_pdf import dispute_pdf
from dealer_ui.reports.pdf import cards
from dealer_ui.reports.report_pdf import report_pdf
from dealer_ui.reports.report_view import as_csv, report_view
from dealer_ui.text.i18n import LANGUAGES, gettext, speaking
from docs.facts import ROOT
from firmware.record.journal.clocks import Timestamp
from firmware.record.journal.journal import JournalReader
from firmware.record.report_span import Span, down_of, report_of_span, shift
from firmware.record.shift_counts import Counts, Down, Report
from firmware.table import events as ev
from firmware.table.people import Role
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import corrected, drop_pictures, place, ticking
from vision.base.arrays import Image


@pytest.fixture(scope="module")
def felt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Felt]:
    felt = Felt(tmp_path_factory.mktemp("felt"), clock=ticking())
    felt.say(ev.KeyAnnounced("ab" * 32))
    corrected(felt)
    yield felt
    felt.journal.close()


@pytest.fixture(scope="module")
def printed(felt: Felt) -> bytes:
    return dispute_pdf(felt.folder, 1)


def texts(pdf: bytes) -> str:
    with pypdfium2.PdfDocument(pdf) as document:
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)


def pictures(pdf: bytes) -> list[Image]:
    with pypdfium2.PdfDocument(pdf) as document:
        return [np.asarray(page.render(scale=1).to_numpy())[:, :, :3] for page in document]


def test_a_hands_text_can_be_selected_and_tells_all_of_it(printed: bytes, felt: Felt) -> None:
    text = texts(printed).replace("\r", "")
    for said in (
        "Hand 1",
        "Settled, then corrected: both settlements follow.",
        "1 Lin",
        "Scoring: Row",
        "Fouls: Penalty",
        "Corrected: seat 1, front, 2nd card is the two of diamonds",
        "pays Moreno $45 back",
        "judged not sure: the dealer was asked",
        "could be: ten of diamonds, ten of hearts, jack of diamonds",
        "counted as: two of diamonds",
        "Timeline",
        "Fingerprints",
    ):
        assert said in text, said
    rows = JournalReader(felt.folder).of_hand(1)
    whole = "".join(text.split())
    assert rows[0].hash in whole
    assert felt.profile_hash in whole
    assert "ab" * 32 in whole


def test_cards_and_pictures_are_drawn(printed: bytes) -> None:
    first, *more = pictures(printed)
    red = (first[:, :, 2] > 150) & (first[:, :, 0] < 90) & (first[:, :, 1] < 90)  # BGR
    assert red.mean() > 0.001, "the red cards' signs"
    felts = [((p[:, :, 1] > 80) & (p[:, :, 2] < 80) & (p[:, :, 0] < 110)).mean() for p in more]
    assert max(felts) > 0.1, "a frame of the felt"


def test_a_hand_without_a_picture_of_the_table_prints_those_of_its_placed_cards(tmp_path: Path) -> None:
    felt = Felt(tmp_path, clock=ticking(), options={"limits.min_points": 0})
    try:
        felt.deal()
        felt.go_on()
        place(felt, "sure", "3s", "3d")
        place(felt, "asked", "9c", unsure=True)
        felt.do("void", reason="Misdeal")
    finally:
        felt.journal.close()
    pdf = dispute_pdf(tmp_path, 1)
    text = texts(pdf).replace("\r\n", " ")
    assert "No picture of the whole table was stored of this hand." in text
    assert text.count("Three of diamonds is placed at seat 3, back.") == 2  # in the timeline, too
    assert "it could not surely be read" in text.partition("Timeline")[0]
    green = [((p[:, :, 1] > 80) & (p[:, :, 2] < 80) & (p[:, :, 0] < 110)).mean() for p in pictures(pdf)]
    assert max(green) > 0.05, "two pictures of the zone"


def test_every_card_of_the_deck_can_be_drawn() -> None:
    drawn = cards([rank + suit for rank in "23456789TJQKA" for suit in "cdhs"])
    assert drawn.width > 52 * 20
    assert cards([""]).width > 0


@pytest.mark.slow
def test_the_same_record_prints_the_same_bytes(printed: bytes, felt: Felt) -> None:
    assert dispute_pdf(felt.folder, 1) == printed


def test_a_table_of_another_language_has_its_page_after_the_english_one(tmp_path: Path) -> None:
    felt = Felt(tmp_path, clock=ticking())
    try:
        felt.do("set_house", reason="test", language="zh_Hans")
        corrected(felt)
        drop_pictures(felt)  # what is left of it prints, too
        text = texts(dispute_pdf(tmp_path, 1))
    finally:
        felt.journal.close()
    assert text.index("Fingerprints") < text.rindex("Lin")
    assert text.count("california-face-up") + text.count("Face-Up Chinese Poker") >= 2
    assert "missing" in text


# ---- every letter, the same bytes ----


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Every piece of text that is put into a PDF, with the name of its font."""
    found: list[tuple[str, str]] = []
    write: Callable[[Any, str], str] = vars(PDFTextObject)["_formatText"]

    def noted(self: Any, text: str) -> str:
        found.append((self._fontname, text))
        return write(self, text)

    monkeypatch.setattr(PDFTextObject, "_formatText", noted)
    return found


def missing(drawn: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """The letters that were drawn in a font without a glyph for them."""
    glyphs = {
        font: getattr(vars(getFont(font))["face"], "charToGlyph", range(32, 127)) for font, _text in drawn
    }
    return {(font, letter) for font, text in drawn for letter in text if ord(letter) not in glyphs[font]}


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_shift_is_printed_with_every_letter_and_the_same_bytes_in_every_language(
    language: str, drawn: list[tuple[str, str]]
) -> None:
    began = 1_700_000_000_000
    each = Counts(7, fouls=1, cards=468, unsure=52)
    downs = tuple(Down(name, 1, began, began + 2_400_000, each) for name in ("Núñez", "陈伟", "陳偉 Wu"))
    report = Report(began, began + 9_000_000, downs, (("camera", 2),), ((began, 7),))
    pdf = report_pdf(report, "桌 4", language)
    assert missing(drawn) == set()
    assert report_pdf(report, "桌 4", language) == pdf
    text = squeezed(texts(pdf))
    with speaking(language):
        heads = [gettext(head) for head in ("Shift report", "By down", "By dealer", "Device faults")]
    for said in (*heads, "桌4", "Núñez"):
        assert squeezed(said) in text
    assert text.count("陈伟") == text.count("陳偉Wu") == 3, "by down, by dealer, at a bar"
    assert not {"■", "?", "\ufffd"} & set(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hand_is_printed_with_every_letter_and_the_same_bytes_in_every_language(
    tmp_path: Path, language: str, drawn: list[tuple[str, str]]
) -> None:
    felt = Felt(tmp_path, clock=ticking())
    try:
        felt.do("set_house", reason="test", language=language)
        felt.do("rename_player", player=felt.state.house.seats[0].player, name="陳偉")
        corrected(felt)
        drop_pictures(felt)
        pdf = dispute_pdf(tmp_path, 1)
        assert dispute_pdf(tmp_path, 1) == pdf
    finally:
        felt.journal.close()
    assert missing(drawn) == set()
    text = squeezed(texts(pdf))
    with speaking(language):
        heads = [gettext(head) for head in ("Cards", "Timeline", "Fingerprints")]
    for said in (*heads, "Fingerprints", "陳偉"):
        assert squeezed(said) in text
    assert "■" not in text


def test_a_letter_drawn_in_a_font_without_it_is_noticed(drawn: list[tuple[str, str]]) -> None:
    canvas = Canvas(BytesIO())
    canvas.drawString(0, 0, "a 陈")
    assert missing(drawn) == {("Helvetica", "陈")}


# ---- the shift report ----


def test_a_shift_is_printed_with_its_figures_and_plots(felt: Felt) -> None:
    reader = JournalReader(felt.folder)
    found = report_of_span(reader, shift(reader))
    pdf = report_pdf(found, "Table 4")
    text = texts(pdf)
    for said in ("Shift report · Table 4", "By down", "By dealer", "Together", "Hands closed in each hour"):
        assert said in text, said
    (page,) = pictures(pdf)
    bars = (abs(page.astype(int) - np.array([0x5B, 0x7D, 0x2F])) < 6).all(axis=2)
    assert bars.mean() > 0.002, "the bars of a plot"
    assert report_pdf(found, "Table 4") == pdf
    assert found.total == Counts(1, fouls=1, reopened=1, corrected=2, cards=104, unsure=2, errors=2)


@pytest.mark.parametrize("downs", range(1, 12))
def test_no_plot_is_parted_from_its_heading(downs: int) -> None:
    each = Counts(7, fouls=1, cards=468, unsure=52)
    began = 1_700_000_000_000
    told = tuple(Down("Robin", n + 1, began, began + 2_400_000, each) for n in range(downs))
    report = Report(began, began + 9_000_000, told, (("camera", 2),), ((began, 7),))
    with pypdfium2.PdfDocument(report_pdf(report)) as printed:
        pages = [page.get_textpage().get_text_bounded() for page in printed]
    for text in pages:
        assert ("Device faults" in text) == ("camera" in text)
        assert "11.11" in text or "Robin, down" not in text, "a figure stands on one line"


def test_a_report_of_nothing_says_so() -> None:
    assert "Nothing happened at this table in that time." in texts(report_pdf(Report()))
    assert report_view(Report()).is_empty


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("Ada;=1+2", "Ada;'=1+2"),
        ("Ada,@SUM(1)", "Ada,'@SUM(1)"),
        ("Ada|\u200b+1", "Ada|'\u200b+1"),
        ("Ada\t-1", "Ada\t'-1"),
        ("\uff1d1+2", "'\uff1d1+2"),
        # the blank letter is a letter: no spreadsheet goes on to a formula
        ("\u3164\uff20A", "\u3164\uff20A"),
        (" =1", "' =1"),
        ("\ttab", "'\ttab"),
        ("Jean-Luc", "Jean-Luc"),
        ("Ann; Bo", "Ann; Bo"),
        ("", ""),
    ],
)
def test_a_name_that_looks_like_a_formula_is_none_in_the_csv(name: str, cell: str) -> None:
    found = Report(downs=(Down(name, 1, 0, 0, Counts(hands=2)),))
    text = as_csv(found)
    assert text.startswith('"dealer","down","from_ms","to_ms","hands",')
    _, line = csv.reader(io.StringIO(text))
    assert line[:5] == [cell, "1", "0", "0", "2"]
    assert f'"{cell}",1,0,0,2,' in text  # text is quoted, figures are not


def test_one_module_of_the_product_writes_what_a_spreadsheet_reads() -> None:
    folders = ("dealer_ui", "firmware", "pit", "vision", "models", "hardware")
    writers = {
        str(file.relative_to(ROOT))
        for folder in folders
        for file in (ROOT / folder).rglob("*.py")
        if re.search(r"csv\.(writer|DictWriter)", file.read_text(encoding="utf-8"))
    }
    assert writers == {"dealer_ui/reports/report_view.py"}


def test_a_span_is_a_down_or_the_time_since_the_last_long_break(tmp_path: Path) -> None:
    hours = 0

    def clock() -> Timestamp:
        return Timestamp("boot", hours * 3_600_000_000_000, 1_790_000_000_000 + hours * 3_600_000, "unknown")

    felt = Felt(tmp_path, clock=clock)
    felt.say(ev.PersonListed("Ines", Role.DEALER))
    try:
        for hour, down in ((0, 1), (1, 2), (6, 3), (7, 4)):
            hours = hour
            felt.say(ev.LoggedOn("Ines", down))
            felt.deal()
            felt.do("void", reason="Misdeal")
            felt.say(ev.LoggedOff())
        reader = JournalReader(tmp_path)
        assert [down.number for down in report_of_span(reader, shift(reader)).downs] == [3, 4]
        assert [down.number for down in report_of_span(reader, down_of(reader, 2)).downs] == [2]
        assert report_of_span(reader, down_of(reader, 2)).total.voids == 1
        assert [down.number for down in report_of_span(reader, Span()).downs] == [1, 2, 3, 4]
    finally:
        felt.journal.close()
