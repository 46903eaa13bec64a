"""The book on paper: one PDF with every chapter, contents whose page numbers are right, nothing cut at its edges."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pypdfium2
import pytest

from docs.facts import ROOT
from tests.tools import CHROMIUM, needs

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.browser,
    needs(CHROMIUM),
]


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory, book: Path) -> Path:
    """The book as `make book-pdf` prints it; its pages are read once for both."""
    folder = tmp_path_factory.mktemp("paper")
    build = [sys.executable, "-m", "sphinx", "-b", "singlehtml", "-W", "-q", "-D", "html_theme=basic"]
    done = subprocess.run(
        [*build, "-d", str(book.parent / "trees"), "docs", str(folder / "page")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    printing = [sys.executable, "-m", "docs.paper", str(folder / "page/index.html"), str(folder / "book.pdf")]
    done = subprocess.run(printing, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "book.pdf"


def test_the_contents_name_every_chapter_with_the_page_that_it_begins_on(paper: Path) -> None:
    chapters = re.findall(
        r"^([\w-]+/[\w-]+|[\w-]+)$", (ROOT / "docs/index.md").read_text(encoding="utf-8"), re.M
    )
    titles = [
        re.search(r"^# (.+)$", (ROOT / f"docs/{name}.md").read_text(encoding="utf-8"), re.M)
        for name in chapters
    ]
    book = pypdfium2.PdfDocument(paper)
    words = ["".join(page.get_textpage().get_text_bounded().split()) for page in book]
    contents = "".join(words[1:3])  # two pages
    assert len(titles) > 40
    for found in titles:
        assert found is not None
        title = re.sub(r"[`*\s]", "", found[1]).replace("'", "’").replace("...", "…")
        line = re.search(rf"{re.escape(title)}(\d+)", contents)
        assert line, f"{title} is not in the contents"
        assert words[int(line[1]) - 1].startswith(title)
    book.close()
