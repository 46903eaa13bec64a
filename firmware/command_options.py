"""What the commands of `feltwatch` share: options with one meaning everywhere, and a progress bar."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import click

from firmware.record_folder import DATA

ANY_PATH: Final = click.Path(path_type=Path)
FILE: Final = click.Path(path_type=Path, dir_okay=False)
FOLDER: Final = click.Path(path_type=Path, file_okay=False)
PORT_NUMBER: Final = click.IntRange(1, 65535)

config_option = click.option("--config", "config_file", type=ANY_PATH, help="The configuration, a TOML file.")
record_option = partial(
    click.option,
    "--data",
    envvar="FELTWATCH_DATA",
    type=click.Path(path_type=Path, readable=False),
    default=DATA,
    help="The folder of the record.",
)
"""Makes the option of a command that works on one record."""
data_option_unopened = record_option()
"""For a command that does not read the folder, or not always."""
configured_data_option = click.option(
    "--data", envvar="FELTWATCH_DATA", type=ANY_PATH, help=f"The folder of the record.  [default: {DATA}]"
)
"""For a command whose configuration may name the folder."""
profile_option = click.option(
    "--profile", default="washington-1-unit", help="The rules: a name or a .toml file."
)


@contextmanager
def progress_bar(words: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal's standard error; it is given how much is done, and of how much."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task(words, visible=False)
        yield lambda done, of: progress.update(bar, completed=done, total=of, visible=True)
