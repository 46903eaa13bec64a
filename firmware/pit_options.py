"""What the pit's commands share, in whatever folder they are: its database and its own folder."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

PIT_FOLDER: Final = Path("/var/lib/feltwatch-pit")
pit_database_option = click.option(
    "--url",
    envvar="FELTWATCH_PIT_DATABASE",
    default="postgresql:///feltwatch_pit",
    show_default=True,
    help="The PostgreSQL database.",
)
pit_folder_option = click.option(
    "--folder",
    envvar="FELTWATCH_PIT",
    type=click.Path(path_type=Path, file_okay=False),
    default=PIT_FOLDER,
    show_default=True,
    help="The pit's own folder: its authority, its keys, its files.",
)
