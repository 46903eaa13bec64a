"""Serves the page of a table with a webcam, on the loopback interface only.

python -m firmware.webcam.serve DATA TABLE-SOCKET PORT

It ends when its parent ends.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dealer_ui.server.app import Settings, create_app
from dealer_ui.web.serve import need_listening, serve
from firmware.page_process import HOST, end_with_starter


def main(data: str, table: str, port: str) -> None:
    """Serve until the parent ends."""
    settings = Settings(data=Path(data), socket=Path(table))
    listening = need_listening("The page", HOST, int(port), "Choose another port with --port.")
    with listening:
        serve(create_app(settings), listening, settings.streams)


if __name__ == "__main__":
    end_with_starter()
    main(*sys.argv[1:])
