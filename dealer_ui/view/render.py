"""A view as HTML, part by part: the page renders all parts first, and the stream sends the changed ones later.

Templates of parts use plain paths, not `url_for`: they are also rendered where there is no request.
"""

import json
import threading
from functools import lru_cache
from typing import Any

from flask import Flask, current_app, render_template

from dealer_ui.text.i18n import SOURCE, html_language, language, speaking
from dealer_ui.text.i18n import gettext as _
from dealer_ui.view.live import Snapshot
from dealer_ui.view.rules_sheet import Sheet


def parts(snapshot: Snapshot) -> dict[str, str]:
    """Return the HTML of each live part of the page by its element's id."""
    screen = snapshot.screen
    rendered = {
        name: render_template(f"parts/{name}.html", screen=screen, trouble=snapshot.trouble).strip()
        for name in (
            "bar",
            "centre",
            "need",
            "strip",
            "more",
            "stops",
            "faults",
            "details",
            "chips",
            "between",
            "chairs",
            "dealer",
            "used",
            *(("quiz",) if current_app.config.get("TRAINING") else ()),
        )
    }
    for seat in screen.seats:
        rendered[f"place-{seat.place}"] = render_template("parts/seat.html", seat=seat, screen=screen).strip()
        rendered[f"look-{seat.place}"] = render_template("parts/look.html", seat=seat, screen=screen).strip()
    return rendered


def rules_sheet(sheet: Sheet | None, unit: str) -> str:
    """Return the rules' sheet. It is slow to render and rarely changes."""
    return _rules_sheet(sheet, unit, language())


@lru_cache(maxsize=8)
def _rules_sheet(sheet: Sheet | None, unit: str, _language: str) -> str:
    return render_template("parts/rules.html", sheet=sheet, unit=unit).strip()


def title(snapshot: Snapshot) -> str:
    """Return the page's title."""
    screen = snapshot.screen
    return f"{screen.phase_title} · Feltwatch"


def why_not_live(snapshot: Snapshot) -> str:
    """Return why the page shows nothing live, where the table or its record is lost."""
    if snapshot.trouble:
        return _("The record cannot be shown; nothing can be done here now.")
    return _("The table process does not answer. What is shown is the record; nothing can be done here now.")


class Messages:
    """The stream's message for each snapshot: rendered once, however many screens follow the table.

    A stream begins with the whole view; later messages carry the parts that changed since the stream's last one.
    """

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._by_language: dict[str, _LanguageMessages] = {}

    def text(self, snapshot: Snapshot, has: int | None = None, language: str = SOURCE) -> tuple[str, int]:
        """Return the message for a receiver that `has` an earlier snapshot, and the snapshot that it then has.

        That is the given snapshot, or a later one rendered for another receiver meanwhile. `has` must be in the same
        language. Needs no request.
        """
        with self._lock:
            in_language = self._by_language.setdefault(language, _LanguageMessages(self._app, language))
            return in_language.text(snapshot, has)


class _LanguageMessages:
    """The messages of one language."""

    def __init__(self, app: Flask, language: str) -> None:
        self._app = app
        self._language = language
        self._version = -1
        self._head: dict[str, Any] = {}
        self._parts: dict[str, str] = {}
        self._changed: dict[str, int] = {}
        """The version of the snapshot in which each part changed last."""
        self._texts: dict[int | None, str] = {}
        """The message by the version that its receiver has."""

    def text(self, snapshot: Snapshot, has: int | None) -> tuple[str, int]:
        if self._version < snapshot.version:
            self._render(snapshot.in_language(self._language))
        if has not in self._texts:
            parts = {n: html for n, html in self._parts.items() if has is None or self._changed[n] > has}
            self._texts[has] = json.dumps({**self._head, "parts": parts}, separators=(",", ":"))
        return self._texts[has], self._version

    def _render(self, snapshot: Snapshot) -> None:
        with self._app.app_context(), speaking(self._language):
            rendered, why = parts(snapshot), why_not_live(snapshot)
        for name, html in rendered.items():
            if self._parts.get(name) != html:
                self._changed[name] = snapshot.version
        screen = snapshot.screen
        self._head = {
            "seq": screen.seq,
            "hand": str(screen.hand or ""),
            "mode": screen.mode,
            "phase": screen.phase,
            "title": title(snapshot),
            "language": html_language(self._language),
            "cues": " ".join(screen.cues),
            "sums": screen.sums,
            "paid": sum(pay.state == "paid" for pay in screen.payments),
            "answering": screen.answering,
            "set_up": not snapshot.wants_set_up,
            "since": screen.silent_since,
            "why": why,
        }
        self._version, self._parts, self._texts = snapshot.version, rendered, {}
