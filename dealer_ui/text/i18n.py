"""The page's languages: catalogues of sentences, and which one is spoken now.

English stands in the source as the message itself; the others lie in `translations/`, made with Babel. Messages have
named places: `gettext("Seat %(seat)s is empty.", seat=3)`. Words are looked up when they are shown, never at import:
mark a constant with `N_` and hand it to `gettext` later. Everything here also works outside a request: a stream's
views are made in threads (`with speaking("es"):`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Final

from babel.support import NullTranslations, Translations
from flask import Flask, g, has_app_context, request

from firmware.rules import currency, paying_in
from firmware.table.settings import HouseSettings

LANGUAGES: Final = {"en": "English", "zh_Hans": "简体中文", "zh_Hant": "繁體中文", "es": "Español"}
"""Every language by its own name, in the order in which they are offered."""

SOURCE: Final = "en"
"""What the source is written in: it has no catalogue."""

CATALOGUES: Final = Path(__file__).parents[1] / "translations"
COOKIE: Final = "language"
"""Names the language of one browser; without it a browser follows the table's."""

_spoken: ContextVar[str | None] = ContextVar("language", default=None)


def language() -> str:
    """Return the language that is spoken now: of a `speaking` block, else of the request, else English."""
    return _spoken.get() or (str(g.get("language", SOURCE)) if has_app_context() else SOURCE)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Say everything within in this language; one that there is none of is English."""
    token = _spoken.set(known(code))
    try:
        yield
    finally:
        _spoken.reset(token)


def known(code: str | None) -> str:
    """Return the code of a language that the page speaks; English for any other."""
    return code if code in LANGUAGES else SOURCE


def gettext(message: str, /, **args: Any) -> str:
    """Say a message in the language spoken now, `%(name)s` filled from `args`."""
    text: str = _catalogue(language()).gettext(message)
    return text % args if args else text


def ngettext(singular: str, plural: str, num: int, /, **args: Any) -> str:
    """Say a message that counts: `ngettext("%(num)s card", "%(num)s cards", 3)`."""
    text: str = _catalogue(language()).ngettext(singular, plural, num)
    return text % {"num": num, **args}


def pgettext(context: str, message: str, /, **args: Any) -> str:
    """Say a message that is said differently here than elsewhere: `pgettext("row", "front")`."""
    text: str = str(_catalogue(language()).pgettext(context, message))
    return text % args if args else text


def N_(message: str, /) -> str:  # noqa: N802 - gettext's own name for it
    """Mark a message for the catalogues and return it as it is: for constants, said later by `gettext`."""
    return message


def NP_(_context: str, message: str, /) -> str:  # noqa: N802
    """Mark a message with its context and return it as it is: for constants, said later by `pgettext`."""
    return message


def html_language(code: str) -> str:
    """Return a language as HTML writes it: `zh-Hans`."""
    return code.replace("_", "-")


def speak(app: Flask, house: Callable[[], HouseSettings]) -> None:
    """Let an application speak: its templates, and every request in its browser's language or else the table's.

    Sums are said in the table's currency.
    """
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.policies["ext.i18n.trimmed"] = True
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]
        _unfilled, _unfilled_plural, newstyle=True, pgettext=_unfilled_context
    )
    app.jinja_env.globals.update(
        LANGUAGES=LANGUAGES, language=language, html_language=html_language, currency=currency
    )

    @app.before_request
    def _choose() -> None:
        g.own_language = own_language()
        if request.endpoint != "static":  # which says nothing, and needs no look at the record
            settings = house()
            g.language = g.own_language or known(settings.language)
            g.paying = ExitStack()
            g.paying.enter_context(paying_in(settings.currency))

    @app.teardown_request
    def _forget(_error: BaseException | None) -> None:
        if "paying" in g:
            g.pop("paying").close()


def own_language() -> str:
    """Return the language that the request's browser asks for itself; empty where it follows the table's."""
    asked = request.cookies.get(COOKIE, "")
    return asked if asked in LANGUAGES else ""


def _unfilled(message: str) -> str:
    """Jinja fills the places itself, and escapes what goes into them."""
    text: str = _catalogue(language()).gettext(message)
    return text


def _unfilled_plural(singular: str, plural: str, num: int) -> str:
    text: str = _catalogue(language()).ngettext(singular, plural, num)
    return text


def _unfilled_context(context: str, message: str) -> str:
    return str(_catalogue(language()).pgettext(context, message))


@cache
def _catalogue(code: str) -> NullTranslations:
    return NullTranslations() if code == SOURCE else Translations.load(CATALOGUES, [code])
