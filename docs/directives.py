"""Sphinx's side of the book: brings facts in, and keeps links of pages to files that the book does not carry."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from docs.facts import linked, made


class Made(SphinxDirective):
    """A block that asks for a fact: its name, and what it is about."""

    required_arguments = 1
    optional_arguments = 0
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the fact as part of the page; what is unknown is an error of the page."""
        try:
            text = made(self.arguments[0])
        except (KeyError, OSError) as error:
            raise self.error(f"Nothing in docs/facts.py makes “{self.arguments[0]}”: {error}") from error
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _links(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = linked(source[0], Path(app.env.doc2path(page)).parent)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register both with Sphinx."""
    app.add_directive("made", Made)
    app.connect("source-read", _links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
