"""The page's languages: message catalogues and the current language.

English stands in the source as the message itself; the others are in `translations/`, made with Babel. Messages have
named places: `gettext("Seat %(seat)s is empty.", seat=3)`. Messages are translated when they are shown, never at
import: mark a constant with `N_` and pass it to `gettext` later. Everything here also works outside a request, because
a stream's views are made in threads (`with speaking("es"):`).
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path
from typing import Any, Final

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
    """Return the current language: of a `speaking` block, else of the request, else English."""
    return _spoken.get() or (str(g.get("language", SOURCE)) if has_app_context() else SOURCE)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Use this language within the block; English if it is unknown."""
    token = _spoken.set(supported_language(code))
    try:
        yield
    finally:
        _spoken.reset(token)


def supported_language(code: str | None) -> str:
    """Return the code of a supported language; English for any other."""
    return code if code in LANGUAGES else SOURCE


def gettext(message: str, /, **args: Any) -> str:
    """Translate a message into the current language, with `%(name)s` filled from `args`."""
    text: str = _catalogue(language()).gettext(message)
    return text % args if args else text


def ngettext(singular: str, plural: str, num: int, /, **args: Any) -> str:
    """Translate a message with a plural: `ngettext("%(num)s card", "%(num)s cards", 3)`."""
    text: str = _catalogue(language()).ngettext(singular, plural, num)
    return text % {"num": num, **args}


def pgettext(context: str, message: str, /, **args: Any) -> str:
    """Translate a message that depends on its context: `pgettext("row", "front")`."""
    text: str = str(_catalogue(language()).pgettext(context, message))
    return text % args if args else text


def N_(message: str, /) -> str:  # noqa: N802 - gettext's own name for it
    """Mark a message for the catalogues and return it unchanged: for constants that `gettext` translates later."""
    return message


def NP_(_context: str, message: str, /) -> str:  # noqa: N802
    """Mark a message with its context and return it unchanged: for constants that `pgettext` translates later."""
    return message


def html_language(code: str) -> str:
    """Return a language's HTML code: `zh-Hans`."""
    return code.replace("_", "-")


def set_up(app: Flask, house: Callable[[], HouseSettings]) -> None:
    """Set an application up for translation: its templates, and each request in its browser's or the table's language.

    Sums are written in the table's currency.
    """
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.policies["ext.i18n.trimmed"] = True
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]
        _leave_places, _leave_places_plural, newstyle=True, pgettext=_leave_places_context
    )
    app.jinja_env.globals.update(
        LANGUAGES=LANGUAGES, language=language, html_language=html_language, currency=currency
    )

    @app.before_request
    def _choose() -> None:
        g.own_language = own_language()
        if request.endpoint != "static":  # no texts, so no need to read the record
            settings = house()
            g.language = g.own_language or supported_language(settings.language)
            g.paying = ExitStack()
            g.paying.enter_context(paying_in(settings.currency))

    @app.teardown_request
    def _forget(_error: BaseException | None) -> None:
        if "paying" in g:
            g.pop("paying").close()


def own_language() -> str:
    """Return the language that the request's browser has chosen; empty if it follows the table's."""
    asked = request.cookies.get(COOKIE, "")
    return asked if asked in LANGUAGES else ""


def _leave_places(message: str) -> str:
    """Translate a message, its places left open: Jinja escapes the values and fills them in itself."""
    text: str = _catalogue(language()).gettext(message)
    return text


def _leave_places_plural(singular: str, plural: str, num: int) -> str:
    text: str = _catalogue(language()).ngettext(singular, plural, num)
    return text


def _leave_places_context(context: str, message: str) -> str:
    return str(_catalogue(language()).pgettext(context, message))


@cache
def _catalogue(code: str) -> NullTranslations:
    return NullTranslations() if code == SOURCE else translation("messages", CATALOGUES, [code])
