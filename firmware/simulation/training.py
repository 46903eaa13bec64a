"""`feltwatch training`: simulated hands on the dealer's real page, with questions; never in a table's record."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from firmware.command_options import FOLDER, PORT_NUMBER, profile_option
from firmware.terminal import say

if TYPE_CHECKING:
    from firmware.simulation.live.training_table import TrainingTable

PORT: Final = 8014
TABLE_PORT: Final = 8013


@click.command("training")
@profile_option
@click.option("--port", type=PORT_NUMBER, default=PORT, help="The training page's port.")
@click.option(
    "--table-port",
    type=PORT_NUMBER,
    default=TABLE_PORT,
    help="The port of the table's own page, which the training page leads back to.",
)
@click.option("--seed", type=int, help="The same seed deals the same cards.  [default: others each time]")
@click.option(
    "--data", type=FOLDER, help="Keep the training record in this folder.  [default: a fresh temporary one]"
)
def command(profile: str, port: int, table_port: int, seed: int | None, data: Path | None) -> None:
    """Train dealers: simulated hands on the real page, each with questions, until it is stopped.

    The questions: who fouled, is this a natural, who settles first, how much is paid. When they are answered or
    skipped, the settlement is shown, with the rule behind each answer. Every screen says that this is not a real game.
    Face-up games are trained with hands that are set already. The hands are never written to a table's record, and
    the other commands refuse a training record.
    """
    from firmware.simulation.live.training_table import TrainingTable

    with ExitStack() as stack:
        folder = data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-training-")))
        table = TrainingTable(folder, profile, time.time_ns() if seed is None else seed)
        _serve(stack.enter_context(table), port, table_port)


def _serve(table: TrainingTable, port: int, table_port: int) -> None:
    from dealer_ui.server.app import Settings, create_app
    from dealer_ui.web.serve import need_listening, serve

    listening = need_listening("The training page", "127.0.0.1", port, "Choose another port with --port.")
    settings = Settings(data=table.data, socket=table.socket, training=True, sibling_port=table_port)
    app = create_app(settings)
    say(f"Training, no game: http://localhost:{port}/   (Ctrl-C ends it)", err=True)
    with listening:
        serve(app, listening, settings.streams)
