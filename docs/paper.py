"""The book on paper: Sphinx's single page, printed by Chromium as one PDF whose contents give page numbers.

python -m docs.paper build/paper/index.html build/feltwatch-book.pdf
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click
import pypdfium2
from playwright.sync_api import Page, sync_playwright

from tests import tools
from tests.browser.chrome import CHROMIUM, launched

STYLE: Final = Path(__file__).parent / "static" / "paper.css"
WIDTH_PX: Final = 688
"""Of a page between its margins: 182 mm of A4's 210, 96 pixels an inch."""
FOOTER: Final = (
    '<div style="width: 100%; margin: 0 14mm; font: 7pt sans-serif; display: flex; justify-content: space-between">'
    '<span>Feltwatch. UNTESTED on real hardware.</span><span class="pageNumber"></span></div>'
)
ADD_CONTENTS: Final = """() => {
    const contents = document.createElement("nav")
    contents.className = "contents"
    for (const item of document.querySelectorAll(".sphinxsidebar p.caption, .sphinxsidebar .toctree-l1 > a")) {
        if (item.matches("p")) { contents.append(item.cloneNode(true)); continue }
        const chapter = document.getElementById(item.hash.slice(1)).nextElementSibling
        chapter.classList.add("chapter")
        const link = document.createElement("a")
        link.textContent = item.textContent.trim()
        link.href = item.hash
        contents.append(link)
    }
    document.querySelector("section.chapter").parentElement.before(contents)
    return contents.querySelectorAll("a").length
}"""
"""JavaScript: list the chapters below the sidebar's captions, before the first chapter; return how many there are."""


class PaperError(Exception):
    """The book does not fit on its pages."""


def _print_pages(page: Page, path: Path) -> Mapping[str, int]:
    """Print, and return on which page each chapter begins, counted from 1, by its title without spaces."""
    page.pdf(
        path=str(path),
        format="A4",
        print_background=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOTER,
        margin={"top": "14mm", "bottom": "16mm", "left": "14mm", "right": "14mm"},
        outline=True,
        tagged=True,
    )
    book = pypdfium2.PdfDocument(path)
    pages: dict[str, int] = {}
    for entry in book.get_toc():
        dest = entry.get_dest()
        if entry.level == 1 and dest is not None and (number := dest.get_index()) is not None:
            pages["".join(entry.get_title().split())] = number + 1
    book.close()
    return pages


def print_book(html: Path, path: Path) -> int:
    """Print the single page as a PDF and return how many chapters its contents list.

    It is printed twice: the first time tells on which page each chapter begins.

    Raises:
        PaperError: where something is wider than a page.
    """
    with sync_playwright() as playwright, launched(playwright) as browser:
        page = browser.new_page(color_scheme="light", viewport={"width": WIDTH_PX, "height": 1000})
        page.goto(html.resolve().as_uri())
        page.add_style_tag(path=STYLE)
        page.emulate_media(media="print")
        if wide := page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        ):
            raise PaperError(
                f"Something of the book is {wide} pixels wider than a page: all of it would be printed smaller."
            )
        chapters = int(page.evaluate(ADD_CONTENTS))
        pages = _print_pages(page, path)
        page.eval_on_selector_all(
            "nav.contents a",
            "(links, pages) => links.forEach("
            "(link) => { link.dataset.page = pages[link.textContent.replace(/\\s/g, '')] ?? '' })",
            dict(pages),
        )
        _print_pages(page, path)
    return chapters


@click.command()
@click.argument("html", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False))
def main(html: Path, path: Path) -> None:
    """Print the book's single page HTML as the PDF PATH."""
    if not CHROMIUM.exists():
        raise click.ClickException(tools.CHROMIUM.reason)
    try:
        chapters = print_book(html, path)
    except PaperError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"The book as a PDF, {chapters} chapters: {path}")


if __name__ == "__main__":
    main()
