"""The `feltwatch` command: a group whose subcommands are imported only when they run."""

from __future__ import annotations

import errno
import io
import os
import sys
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path
from typing import Any, Final

import click

from firmware.terminal import escaped, say

_HELP: Final = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""Raised by click for a group without a command; its message is the group's help. Click 8.1 does not have it."""


class LazyGroup(click.Group):
    """A click group with commands from entry points; each folder registers its own."""

    def __init__(self, *, entry_group: str, **settings: Any) -> None:
        super().__init__(**settings)
        self._entry_group = entry_group

    def _entries(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=self._entry_group)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every command's name, sorted."""
        return sorted(self._entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, or None if there is no such command."""
        entry = self._entries().get(cmd_name)
        if entry is None:
            return None
        command = entry.load()
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Its errors and those of the system are printed as one escaped sentence."""
        _ready_streams()
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            if isinstance(error, _HELP):
                raise  # our own text, of many lines
            vars(error)["message"] = escaped(error.message)  # declared final, but printed by `show`
            raise
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # the reader of the output has closed it: click ends quietly
            raise click.ClickException(escaped(_refused(error))) from error


def _ready_streams() -> None:
    """Make all streams usable: one may be closed, or limited to ASCII."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open()  # noqa: SIM115
    if sys.stdout is None:
        say("Standard output is closed.", err=True)
        sys.exit(os.EX_IOERR)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _refused(error: OSError) -> str:
    why = error.strerror or str(error)
    return f"{error.filename} cannot be used: {why}." if error.filename else f"{why.rstrip('.')}."


@click.group(
    cls=LazyGroup, entry_group="feltwatch.commands", context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(version("feltwatch"), prog_name="feltwatch")
def main() -> None:
    """Reads the cards on a Chinese Poker table, settles the hand and keeps the record."""
