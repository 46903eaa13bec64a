"""A language in which every message that the catalogues know stands in brackets: what stands outside is in none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Final

from babel.messages.pofile import read_po
from babel.support import NullTranslations

from dealer_ui.i18n import CATALOGUES

CODE: Final = "xx"
OPEN, CLOSE = "⟦", "⟧"
SHOWN: Final = ("aria-label", "title", "alt", "placeholder")
SILENT: Final = frozenset({"script", "style", "svg", "datalist", "time", "code"})
"""What is drawn, or holds no words."""
VOID: Final = frozenset({"meta", "link", "img", "input", "br", "hr", "use", "path", "image", "polygon"})


@cache
def known() -> frozenset[tuple[str, str]]:
    """Return context and text of every message and every plural."""
    with (CATALOGUES / "messages.pot").open("rb") as file:
        catalogue = read_po(file)
    return frozenset(
        (message.context or "", text)
        for message in catalogue
        for text in ((message.id,) if isinstance(message.id, str) else message.id)
        if text
    )


class Pseudo(NullTranslations):
    """Says a known message in brackets, any other as it is."""

    def gettext(self, message: str) -> str:
        return _bracketed("", message)

    def ngettext(self, singular: str, plural: str, num: int) -> str:
        return _bracketed("", singular if num == 1 else plural)

    def pgettext(self, context: str, message: str) -> str:
        return _bracketed(context, message)


def _bracketed(context: str, message: str) -> str:
    return f"{OPEN}{message}{CLOSE}" if (context, message) in known() else message


def outside(html: str, data: frozenset[str]) -> Iterator[str]:
    """Yield every visible text with letters outside the brackets; `data` (names and the like) may stand there."""
    for text in _texts(html):
        bare, before = text, ""
        while bare != before:  # brackets lie within brackets
            before, bare = bare, re.sub(f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}", " ", bare)
        for one in sorted(data, key=len, reverse=True):
            bare = re.sub(rf"(?<!\w){re.escape(one)}(?!\w)", " ", bare)
        if re.search(r"[^\W\d_]{2}", bare):
            yield " ".join(text.split())


def _texts(html: str) -> list[str]:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.texts


class _Reader(HTMLParser):
    """Gathers what a person sees or hears of a page; what is said in a language of its own is passed over."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if not self._silent:
            self.texts += [text for name in SHOWN if (text := given.get(name))]
        if tag not in VOID:
            self._open.append((tag, tag in SILENT or (tag != "html" and "lang" in given)))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._silent and data.strip():
            self.texts.append(data)

    @property
    def _silent(self) -> bool:
        return any(silent for _, silent in self._open)
