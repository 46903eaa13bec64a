"""The `feltwatch` command: a group whose subcommands are imported only when they run."""

import errno
import io
import os
import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path
from typing import Any, Final

import click
from click.exceptions import NoArgsIsHelpError, NoSuchCommand

from firmware.terminal import escape, say

INTERRUPTED: Final = 130
"""The exit status after Ctrl-C, by convention: 128 plus the signal's number."""

_EXIT_CODES: Final[Mapping[str, int]] = {
    "firmware.record.evidence.dispute_verifier.CannotCheck": 2,
    "firmware.record.evidence.anchors.NoAnchor": 2,
    "firmware.update.trust.UpdateRefused": 2,
    "firmware.runtime.errors.ConfigError": 2,
    "firmware.rules.errors.ProfileError": 2,
    "vision.base.errors.CalibrationError": 1,
    "vision.base.errors.MarkersError": 1,
    "vision.base.errors.VisionError": 2,
    "firmware.devices.errors.DeviceError": 1,
    "firmware.runtime.errors.AppError": 1,
    "firmware.table.errors.TableError": 1,
    "firmware.rules.errors.RulesError": 1,
    "dealer_ui.web.passphrases.AccessError": 2,
    "dealer_ui.web.errors.PageError": 1,
}
"""Exit codes of our packages' errors; 2 is wrong usage. Names, not classes: a class would have to be imported here."""


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the named command. Raises NoSuchCommand, which offers the commands of a similar name."""
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:  # click looks among imported commands only
            names = self.list_commands(ctx)
            raise NoSuchCommand(error.command_name, possibilities=names, ctx=ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Its errors and those of the system are printed as one escaped sentence."""
        _make_streams_usable()
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort) as error:
            if isinstance(error, click.Abort) and not isinstance(error.__context__, KeyboardInterrupt):
                raise  # a question was answered with no, or its input has ended
            say("Interrupted.", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from error
        except click.ClickException as error:
            if isinstance(error, NoArgsIsHelpError):
                raise  # our own text, of many lines
            # click prints it; it is declared final, hence `vars`
            vars(error)["message"] = escape(error.message)
            raise
        except Exception as error:
            if (code := _exit_code(error)) is not None:
                kind = click.UsageError if code == 2 else click.ClickException
                raise kind(escape(_sentence(str(error)))) from error
            if not isinstance(error, OSError) or error.errno == errno.EPIPE:
                raise  # a fault of ours; or the reader of the output has closed it: click ends quietly
            raise click.ClickException(escape(_sentence_of_system(error))) from error


def _make_streams_usable() -> None:
    """Replace a closed stream, or exit without an output; print in an ASCII terminal what it cannot show as escapes."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open()  # noqa: SIM115
    if sys.stdout is None:
        say("Standard output is closed.", err=True)
        sys.exit(os.EX_IOERR)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _exit_code(error: Exception) -> int | None:
    """Return the exit code of an error of our packages, by its nearest listed class; None for any other error."""
    names = (f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__)
    return next((_EXIT_CODES[name] for name in names if name in _EXIT_CODES), None)


def _sentence(text: str) -> str:
    """Return a message as a sentence; the name of a file at its start stays as it is."""
    if {".", "/"} & set(text.partition(" ")[0]):
        return text
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _sentence_of_system(error: OSError) -> str:
    why = error.strerror or str(error)
    return f"{error.filename} cannot be used: {why}." if error.filename else f"{why.rstrip('.')}."


@click.group(
    cls=LazyGroup,
    entry_group="feltwatch.commands",
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(version("feltwatch"), prog_name="feltwatch")
def main() -> None:
    """Reads the cards on a Chinese Poker table, settles the hand and keeps the record."""
