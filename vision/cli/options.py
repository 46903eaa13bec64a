"""Options shared by several commands of the card reader."""

from pathlib import Path
from typing import Any, Final

import click

ANY_PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
LAYOUT = click.option(
    "--layout",
    "layout_file",
    type=ANY_PATH,
    metavar="FILE",
    help="The felt's layout, a TOML file; without it the standard felt.",
)
THREADS = click.option(
    "--threads", default=2, type=click.IntRange(1, 64), help="Processor threads to read with."
)


class PhotographsFolder(click.Path):
    """A folder of labelled photographs: one folder a set, each with its manifest.csv."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the folder; refuse one without photographs with a sentence about where to get them."""
        folder = Path(str(super().convert(value, param, ctx)))
        if not any(folder.glob("*/manifest.csv")):
            where = one_line(str(folder))
            self.fail(f"There are no labelled photographs in {where}. {PHOTOGRAPHS_HINT}", param, ctx)
        return folder

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return the message for a missing parameter."""
        return f"It names the folder of labelled photographs. {PHOTOGRAPHS_HINT}"


PHOTOGRAPHS_HINT: Final = (
    "They are no part of this repository (ASSETS.md says where they come from). The figures of this project were "
    "measured with those in ../shared/data."
)


def one_line(text: str) -> str:
    """Return a text that may hold a file's name as one line without terminal control characters.

    >>> one_line("felt.jpg"), one_line("felt\\n\\x1b[2K.jpg")
    ('felt.jpg', "'felt\\\\n\\\\x1b[2K.jpg'")
    """
    return text if text.isprintable() else repr(text)
