"""Serves the demo's page: the dealer's page of the box, with /sim added. On the loopback interface only.

python -m firmware.simulation.room_page.serve DATA TABLE-SOCKET ROOM-SOCKET PORT

It ends when its parent ends: the parent holds the other end of its standard input.
"""

import sys
from pathlib import Path

from dealer_ui.server.app import Settings, create_app
from dealer_ui.web.serve import listen_on, serve
from firmware.page_process import end_with_starter
from firmware.simulation.room_page.page import add_to
from firmware.simulation.training import PORT as TRAINING_PORT
from firmware.table_client import TableLink


def main(data: str, table: str, room: str, port: str) -> None:
    """Serve until the parent ends."""
    settings = Settings(data=Path(data), socket=Path(table), sibling_port=TRAINING_PORT)
    app = create_app(settings)
    add_to(app, TableLink(Path(room)))
    try:
        listening = listen_on("127.0.0.1", int(port))
    except OSError as error:
        sys.exit(
            f"The page cannot listen on port {port} ({error.strerror or error}); choose another with --port."
        )
    with listening:
        serve(app, listening, settings.streams)


if __name__ == "__main__":
    end_with_starter()
    main(*sys.argv[1:])
