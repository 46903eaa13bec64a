"""Sphinx's side of the book: brings facts in, and keeps links of pages to files that the book does not carry."""

import re
from pathlib import Path
from textwrap import indent
from typing import Final

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.typing import ExtensionMetadata

from docs.facts import ROOT, link_to_pages, render_fact
from docs.laminate import sheets

BLOCK: Final = re.compile(r"^( *)```\{made\} (.+)\n\1```$", re.MULTILINE)
"""A block that asks for a fact: how far it is indented, the fact's name, and what it is about."""


def _facts(app: Sphinx, page: str, source: list[str]) -> None:
    """Put each fact in its block's place; what is unknown is an error of the page."""

    def fact(block: re.Match[str]) -> str:
        try:
            return indent(render_fact(block[2]), block[1])
        except (KeyError, OSError) as error:
            raise ExtensionError(f"{page}: nothing in docs/facts.py makes “{block[2]}”: {error}") from error

    text = link_to_pages(source[0], Path(app.env.doc2path(page)).parent)
    source[0] = BLOCK.sub(fact, text)


def _sheets(app: Sphinx) -> None:
    """Make the dealer's card to laminate before any page is read: its page links both sheets."""
    sheets(ROOT / "build" / "card")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register it with Sphinx."""
    app.connect("builder-inited", _sheets)
    app.connect("source-read", _facts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
