"""A view as HTML, part by part: the page renders them at first, the stream sends the same parts later.

Templates of parts use plain paths, not `url_for`: they are also rendered where there is no request.
"""

from __future__ import annotations

import json
import threading
from functools import lru_cache
from typing import Any

from flask import Flask, render_template

from dealer_ui.live import Moment
from dealer_ui.sheet import Sheet


def parts(moment: Moment) -> dict[str, str]:
    """Return the HTML of each live part of the page by its element's id."""
    screen = moment.screen
    rendered = {
        name: render_template(f"parts/{name}.html", screen=screen, trouble=moment.trouble).strip()
        for name in (
            "bar",
            "centre",
            "need",
            "strip",
            "more",
            "details",
            "chips",
            "between",
            "dealer",
            "used",
        )
    }
    rendered["rules"] = _rules(screen.sheet, screen.unit)
    for seat in screen.seats:
        rendered[f"place-{seat.place}"] = render_template("parts/seat.html", seat=seat).strip()
        rendered[f"look-{seat.place}"] = render_template("parts/look.html", seat=seat).strip()
    return rendered


@lru_cache(maxsize=4)
def _rules(sheet: Sheet | None, unit: str) -> str:
    """Return the rules' sheet: much to render, and the same from hand to hand."""
    return render_template("parts/rules.html", sheet=sheet, unit=unit).strip()


def title(moment: Moment) -> str:
    """Return the page's title."""
    screen = moment.screen
    return f"{screen.phase_title} · Feltwatch"


class Messages:
    """What the stream sends for each moment: rendered once, however many screens follow the table."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._version = -1
        self._text = ""

    def text(self, moment: Moment) -> str:
        """Return a moment's message as JSON. Needs no request."""
        with self._lock:
            if self._version != moment.version:
                with self._app.app_context():
                    self._text = json.dumps(_message(moment), separators=(",", ":"))
                self._version = moment.version
            return self._text


def _message(moment: Moment) -> dict[str, Any]:
    screen = moment.screen
    return {
        "seq": screen.seq,
        "hand": str(screen.hand or ""),
        "mode": screen.mode,
        "phase": screen.phase,
        "title": title(moment),
        "parts": parts(moment),
    }
