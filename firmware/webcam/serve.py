"""Serves the page of a table with a webcam, on the loopback interface only.

python -m firmware.webcam.serve DATA TABLE-SOCKET PORT

It answers at once that it starts, and as the page once the table answers. It ends when its parent ends.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware.loading import loading
from firmware.page_process import end_with_starter, listen
from firmware.runtime.errors import AppError
from firmware.webcam.starting import starting

if TYPE_CHECKING:
    from flask import Flask

    from dealer_ui.server.app import Settings
    from firmware.table_client import TableLink

FIRST: Final = "/try"
"""The address that leads to what comes next: to lay the felt, or to play."""
RETRY_S: Final = 0.02


def main(data: str, table: str, port: str) -> None:
    """Serve until the parent ends."""
    try:
        listening = listen(int(port))
    except AppError as error:
        sys.exit(f"Error: {error}")
    with listening:
        with starting(listening):  # the imports take a second, and the table as long
            with loading():
                from dealer_ui.server.app import Settings
                from dealer_ui.web.serve import serve
                from firmware.table_client import TableLink

            settings = Settings(data=Path(data), socket=Path(table))
            app = _app(settings)
            _skip_set_up(TableLink(settings.socket))
        serve(app, listening, settings.streams)


def _app(settings: Settings) -> Flask:
    """Return the table's page with the address where a person begins."""
    from flask import redirect, url_for
    from werkzeug.wrappers import Response

    from dealer_ui.server.app import create_app
    from dealer_ui.web import guard
    from dealer_ui.web.services import services

    app = create_app(settings)

    @app.get(FIRST)
    @guard.open_to(guard.EVERYBODY)
    def first() -> Response:
        knows_felt = "felt" in services().live.state().calibrations
        return redirect(url_for("glance.page" if knows_felt else "camera.camera"))

    return app


def _skip_set_up(link: TableLink) -> None:
    """Wait until the table answers, and end its set-up: a trial has none."""
    while link.heartbeat() is None:
        time.sleep(RETRY_S)
    link.send({"do": "end_set_up", "skipped": True})  # refused where it is over: then nothing is to be done


if __name__ == "__main__":
    end_with_starter()
    main(*sys.argv[1:])
