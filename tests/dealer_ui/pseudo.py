"""A language in which every message that the catalogues know stands in brackets: what stands outside is in none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html.parser import HTMLParser
from typing import Final

import pytest
from babel.messages.pofile import read_po
from babel.support import NullTranslations
from flask import Flask

from dealer_ui.setup.currency import COMMON
from dealer_ui.text import i18n
from dealer_ui.text.i18n import CATALOGUES
from dealer_ui.web.sessions import COOKIE as SESSION
from firmware.rules import load_profile, profile_names

CODE: Final = "xx"
OPEN, CLOSE = "⟦", "⟧"
SHOWN: Final = ("aria-label", "title", "alt", "placeholder")
SILENT: Final = frozenset({"script", "style", "svg", "datalist", "time", "code", "textarea"})
"""What is drawn, or holds no words."""
DRAWN: Final = re.compile(r"(<svg\b[^>]*>).*?</svg>", re.DOTALL)
"""A drawing, and its beginning, which may have a name. (No drawing lies in another.)"""
WORD: Final = re.compile(r"(?!\b(?:[2-9TJQKA][cdhs]|(?=[a-f]*\d)[0-9a-f]{8})\b)\b[^\W\d_]{2}")
"""The beginning of a word; a card's code and the beginning of a hash are none."""
DATA: Final = frozenset(
    {
        "Feltwatch",
        "Lin",
        "Moreno",
        "Moreno F.",
        "Okafor",
        "Tran",
        "Ines",
        "Bo",
        "Vu",
        "Ngo",
        "Ito",
        "Friday Game",
    }
    | {
        "W" * 40,
        "Maximiliane Wolkenstein-Oberhausen-Trost",
        "friday-game",
        "test",
        "CSV",
        "PDF",
        "px",
        "MB",
        "ms",
        "mm",
    }
    | {load_profile(name).title for name in profile_names()}
    | set(profile_names())
    | {"The camera gives no picture. Check its cable."}
)
"""Names of people, games and formats, units, and a sentence that no device of ours says."""
SUMS: Final = "|".join(
    [
        *(re.escape(one.pattern).replace(r"\{\}", r"\d[\d,.]*") for one in COMMON),
        *(rf"(?<!\w){re.escape(one.symbol)}(?!\w)" for one in COMMON),
    ]
)
"""A sum in a currency, or the symbol that is written small next to it: no word."""
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
    """Yield every visible text with letters outside the brackets; `data` (names and the like) may stand there.

    A message may go on through several elements, as where a part of it is bold.
    """
    reader = _Reader()
    reader.feed(DRAWN.sub(r"\1</svg>", html))
    reader.close()
    for text in (*reader.attributes, "\n".join(reader.texts)):
        bare, before = text, ""
        while bare != before:  # brackets lie within brackets
            before, bare = bare, re.sub(f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}", " ", bare)
        bare = _any_of(data).sub(" ", bare)
        yield from (" ".join(line.split()) for line in bare.split("\n") if WORD.search(line))


@cache
def _any_of(data: frozenset[str]) -> re.Pattern[str]:
    names = sorted(data, key=len, reverse=True)
    return re.compile(rf"{SUMS}|(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")


@contextmanager
def pseudo() -> Iterator[None]:
    """Let the page speak it, where a browser's cookie asks for `CODE`."""
    with pytest.MonkeyPatch.context() as patch:
        real = i18n._catalogue
        patch.setitem(i18n.LANGUAGES, CODE, CODE)
        patch.setattr(i18n, "_catalogue", lambda code: Pseudo() if code == CODE else real(code))
        yield


def unsaid(app: Flask, path: str, session: str = "") -> list[str]:
    """Return what of a page stands in no catalogue; `session` is the token of anyone who is signed on."""
    with pseudo():
        client = app.test_client()
        client.set_cookie(i18n.COOKIE, CODE, domain="localhost")
        client.set_cookie(SESSION, session, domain="localhost")
        page = client.get(path, headers={"Accept": "text/html"})
    return sorted(set(outside(page.text, DATA)))


class _Reader(HTMLParser):
    """Gathers what a person sees or hears of a page; what is said in a language of its own is passed over."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.attributes: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if not self._silent:
            self.attributes += [text for name in SHOWN if (text := given.get(name))]
        other = tag != "html" and "lang" in given  # quoted, or a language's own name
        as_it_is = given.get("translate") == "no" or given.get("id") == "used"
        if tag not in VOID:
            self._open.append((tag, tag in SILENT or other or as_it_is))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._silent and data.strip():
            self.texts.append(data)

    @property
    def _silent(self) -> bool:
        return any(silent for _, silent in self._open)
