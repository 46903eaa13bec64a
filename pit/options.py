"""What the pit's commands share, in whatever folder they are: its database and its own folder."""

from pathlib import Path
from typing import Final

import click

from firmware.command_options import FILE, FOLDER

PIT_FOLDER: Final = Path("/var/lib/feltwatch-pit")
BACKUP_DISK: Final = Path("/srv/feltwatch-pit-backup")
BACKUP_STATE: Final = Path("/var/lib/feltwatch-pit-backup/last.json")
"""What the last backup came to: the floor's pages read it."""
pit_database_option = click.option(
    "--url",
    envvar="FELTWATCH_PIT_DATABASE",
    default="postgresql:///feltwatch_pit",
    help="The PostgreSQL database.",
)
MAKER_ROOT: Final = Path("/etc/feltwatch-pit/root.json")
"""The maker's root metadata that this pit was installed with; its tables trust the same maker."""
maker_root_option = click.option(
    "--maker-root",
    type=FILE,
    default=MAKER_ROOT,
    help="The maker's root metadata, by which a release is judged.",
)
pit_folder_option = click.option(
    "--folder",
    envvar="FELTWATCH_PIT",
    type=FOLDER,
    default=PIT_FOLDER,
    help="The pit's own folder: its authority, its keys, its files.",
)
