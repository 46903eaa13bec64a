"""The book: it builds without a warning, loads nothing from elsewhere, leads nowhere wrong, shows the page as it is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import cv2
import numpy as np
import PIL.Image
import pypdfium2
import pytest

from docs.facts import LINK, ROOT, WORDS, link_to_pages, render_fact
from docs.glossary import catalogue
from docs.laminate import CARD, SIZES, write
from firmware.table.command import COMMAND_ROLES
from tests.browser.golden import FOLDER as GOLDEN
from tests.browser.golden import MAX_DIFFERENCE, different, load
from tests.browser.pictures import FILM, SCENES, shown
from tests.browser.pictures import FOLDER as PICTURES
from tests.browser.states import STATES
from tests.docs.lines import PAGES

CATALOGUE: Final = ROOT / "dealer_ui/translations/messages.pot"
ELSEWHERE: Final = re.compile(r"^(?:https?:)?//")
LOADS: Final = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
}


class _Page(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.add(given.get("id") or "")
        if found := given.get(LOADS.get(tag, "")):
            self.loads.append(found)
        if tag == "a" and (found := given.get("href")):
            self.leads.append(found)


@pytest.fixture(scope="module")
def pages(book: Path) -> dict[str, _Page]:
    """Every page of the book by its path."""
    return {str(path): _Page(path) for path in book.rglob("*.html")}


@pytest.mark.slow
def test_nothing_of_the_book_comes_from_elsewhere(book: Path, pages: dict[str, _Page]) -> None:
    loaded = [one for page in pages.values() for one in page.loads]
    for style in book.rglob("*.css"):
        loaded += re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')\s]+)", style.read_text(encoding="utf-8"))
    assert len(loaded) > 100
    assert [one for one in loaded if ELSEWHERE.match(one)] == []


@pytest.mark.slow
def test_a_fact_stands_where_it_was_asked_for(book: Path) -> None:
    words = (book / "technician/parts.html").read_text(encoding="utf-8")
    order = ["torque wrench", "the recommended choice", "Computer", "Together", "Another camera", "height, m"]
    assert sorted(order, key=words.index) == order
    commands = (book / "developer/commands.html").read_text(encoding="utf-8")
    assert "--all of the record" in commands, "an option's dashes became another sign"
    assert "{made}" not in "".join(page.read_text(encoding="utf-8") for page in book.rglob("*.html"))


def test_every_page_for_those_who_work_at_a_table_says_what_is_untested() -> None:
    """Where it is read; a page of words and one of rules have nothing to try."""
    pages = [
        page for role in ("dealer", "floor", "technician") for page in (ROOT / "docs" / role).glob("*.md")
    ]
    pages += [ROOT / "docs/install.md", ROOT / "docs/calibration.md"]
    silent = {page.name for page in pages if "UNTESTED" not in page.read_text(encoding="utf-8")}
    assert silent == {"words.md", "touches.md"}


def test_the_line_that_installs_a_boxs_packages_names_all_that_the_installer_looks_for() -> None:
    listed = (ROOT / "systemd/debian-packages").read_text(encoding="utf-8").splitlines()
    wanted = {line.removeprefix("pi: ") for line in listed if line and not line.startswith(("#", "review: "))}
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    (typed,) = re.findall(r"sudo apt-get install (.+)", page)
    assert set(typed.split()) == wanted


@pytest.mark.slow
def test_every_link_of_the_book_leads_somewhere(book: Path, pages: dict[str, _Page]) -> None:
    there = set(map(str, book.rglob("*")))
    lost = []
    for path, page in pages.items():
        for lead in {*page.leads, *page.loads}:
            if re.match(r"[a-z]+:", lead):
                continue
            file, _, anchor = lead.partition("#")
            target = os.path.normpath(f"{path}/../{file.partition('?')[0]}") if file else path
            if target not in there or (anchor and target in pages and anchor not in pages[target].anchors):
                lost.append(f"{path}: {lead}")
    assert lost == []


def test_what_a_page_tells_people_to_touch_is_what_the_screen_calls_it() -> None:
    """In the pages for dealers, floor and technicians italics are the screen's own words; … stands for anything."""
    said = set(re.findall(r'^msgid "(.+)"$', CATALOGUE.read_text(encoding="utf-8"), re.MULTILINE))
    pages = [
        page for role in ("dealer", "floor", "technician") for page in (ROOT / "docs" / role).glob("*.md")
    ]
    found = {
        (page.name, words)
        for page in (*pages, ROOT / "docs/calibration.md")
        for words in re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", page.read_text(encoding="utf-8"))
    }
    assert len(found) > 15

    def is_said(words: str) -> bool:
        like = re.compile(".+".join(map(re.escape, words.split("…"))) + "[.:…]?", re.IGNORECASE)
        return any(like.fullmatch(one) for one in said) or any(words.lower() in one.lower() for one in said)

    assert {(page, words) for page, words in found if not is_said(words)} == set()


def _links() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        for fits in LINK.finditer(
            re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        ):
            yield page, fits[2]


def test_every_link_of_the_sources_leads_to_a_file() -> None:
    found = [(page, file) for page, file in _links() if file and ":" not in file]
    assert len(found) > 60
    assert [(str(page), file) for page, file in found if not (page.parent / file).exists()] == []


def test_links_out_of_the_book_become_names() -> None:
    folder = ROOT / "docs" / "developer"
    assert link_to_pages("[the rules](../../firmware/rules/README.md)", folder) == (
        "[the rules](/developer/folders/firmware-rules.md)"
    )
    assert link_to_pages("[felt](../../hardware/table.toml)", folder) == "`felt`"
    assert link_to_pages("[lost](nowhere.md)", folder) == "[lost](nowhere.md)"


# ---- pictures ----


def test_every_picture_is_shown() -> None:
    assert {path.name for path in PICTURES.glob("*.png")} == shown()


@pytest.mark.parametrize("name", sorted(shown()))
def test_a_picture_of_the_book_shows_the_page_as_it_is(name: str) -> None:
    """`make golden` takes both."""
    half = cv2.resize(load(PICTURES / name), None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    assert different(half.astype(np.uint8), load(GOLDEN / name)) <= 2 * MAX_DIFFERENCE


def test_the_readmes_film_shows_each_scene_of_a_hand_as_the_page_is() -> None:
    assert f"docs/pictures/{FILM.name}" in (ROOT / "README.md").read_text(encoding="utf-8")
    film = PIL.Image.open(FILM)
    states = {state.name: state.file for state in STATES}
    assert getattr(film, "n_frames", 1) == len(SCENES)
    for number, name in enumerate(SCENES):
        film.seek(number)
        scene = cv2.cvtColor(np.asarray(film.convert("RGB")), cv2.COLOR_RGB2BGR)
        half = cv2.resize(scene, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        assert different(half.astype(np.uint8), load(GOLDEN / states[name])) <= 2 * MAX_DIFFERENCE, name


# ---- facts ----


def test_words_are_of_commands_that_there_are() -> None:
    assert set(WORDS) <= set(COMMAND_ROLES)


def test_a_fact_that_nobody_knows_is_an_error() -> None:
    for unknown in ("nothing", "help nothing"):
        with pytest.raises(KeyError):
            render_fact(unknown)


@pytest.mark.parametrize("paper", sorted(SIZES))
def test_the_dealers_card_is_one_sheet(paper: str, tmp_path: Path) -> None:
    write(tmp_path / "card.pdf", SIZES[paper], CARD.read_text(encoding="utf-8"))
    sheet = pypdfium2.PdfDocument(tmp_path / "card.pdf")
    assert len(sheet) == 1
    words = " ".join(sheet[0].get_textpage().get_text_bounded().split())
    for heading in re.findall(r"^#+ (.*)", CARD.read_text(encoding="utf-8"), re.MULTILINE):
        assert heading in words
    sheet.close()


def test_what_the_dealers_card_quotes_stands_so_on_the_page() -> None:
    said = [re.sub(r"%\(\w+\)s", "\0", english) for _, english in catalogue("es")]
    page = [re.compile(re.escape(one).replace("\0", ".+")) for one in said if one.strip("\0 ")]
    quoted = [words.strip("… ") for words in re.findall("“(.+?)”", CARD.read_text(encoding="utf-8"))]
    quoted.remove("quotation marks")
    missing = {
        words
        for words in quoted
        if not any(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", one) for one in said)
    }
    missing -= {words for words in missing if any(one.fullmatch(words) for one in page)}
    shown = "Seat 1 · front: "
    missing -= {words for words in missing if any(one.fullmatch(shown + words) for one in page)}
    assert missing == set()
    assert len(quoted) > 15


def test_the_glossary_has_every_word_in_every_language() -> None:
    table = render_fact("glossary")
    assert "| Full house | 葫芦 | 葫蘆 | Full |" in table
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| ")]
    assert len(rows) > 60
    assert all(cell.strip() for row in rows for cell in row)
