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
RELEASE_KEY: Final = Path("/etc/feltwatch-pit/release.pub")
"""The release key that this pit was installed with; its tables trust the same."""
release_key_option = click.option(
    "--release-key",
    type=click.Path(path_type=Path, dir_okay=False),
    default=RELEASE_KEY,
    show_default=True,
    help="The key that a release must be signed with.",
)
pit_folder_option = click.option(
    "--folder",
    envvar="FELTWATCH_PIT",
    type=click.Path(path_type=Path, file_okay=False),
    default=PIT_FOLDER,
    show_default=True,
    help="The pit's own folder: its authority, its keys, its files.",
)
