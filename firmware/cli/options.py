"""Shared options, and commands to the running table with the user's name and PIN."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from firmware.command_options import ANY_PATH, record_option
from firmware.record_folder import SOCKET
from firmware.runtime.config import KEY
from firmware.terminal import say

WITHIN: Final = 60.0
"""Timeout in seconds for an answer; a dispute file with its PDF is slow."""
CLOCKS_DIFFER_MS: Final = 60_000
"""Milliseconds by which the clocks of a table and of the machine with its record may differ without a word."""


NAME_IT: Final = (
    "Name the folder with --data FOLDER, or in the variable FELTWATCH_DATA. "
    "feltwatch demo prints the folder of its record."
)
_NAMED: Final[dict[ParameterSource | None, str]] = {
    ParameterSource.DEFAULT: ", where a box has it",
    ParameterSource.ENVIRONMENT: ", the folder in FELTWATCH_DATA",
}
"""How the folder was chosen if it was not given on the command line."""


def time_ms(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Return a day or a time of the box's own zone as milliseconds since 1970. An option's callback."""
    if value is None:
        return None
    try:
        return round(datetime.fromisoformat(value).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError) as error:
        raise click.BadParameter(f"{value!r} is no time; write 2026-11-20 or 2026-11-20T18:30.") from error


def need_open(folder: Path) -> None:
    """Raise click.UsageError if this user may not read a folder; otherwise every read of it would seem to fail."""
    there = os.access(folder, os.F_OK) and folder.is_dir()
    if there and not os.access(folder, os.R_OK | os.X_OK):
        command = click.get_current_context().command_path
        raise click.UsageError(
            f"{folder} is not open to this user. On a box: sudo -u feltwatch-table {command}"
        )


def _open_to_us(_context: click.Context, _param: click.Parameter, folder: Path) -> Path:
    need_open(folder)
    return folder


data_option = record_option(callback=_open_to_us)
by_option = click.option(
    "--by", metavar="NAME", help="The listed person who gives the command; needed while the table runs."
)
key_option = click.option(
    "--key-folder", envvar="FELTWATCH_KEY", type=ANY_PATH, default=KEY, help="The folder of the device's key."
)


def need_record(data: Path) -> None:
    """Raise click.UsageError if a folder holds no record: a mistyped name must not look like an empty table.

    Raises JournalError if the record cannot be read.
    """
    from firmware.record.journal.journal import JournalReader

    if not JournalReader(data).head()[0]:
        raise no_record(data)


def no_record(data: Path, what: str = "record") -> click.UsageError:
    """Return the error for a folder without a record (or `what`): where it was searched, and how to name another."""
    context = click.get_current_context(silent=True)
    source = context.get_parameter_source("data") if context else None
    return click.UsageError(f"There is no {what} in {data}{_NAMED.get(source, '')}. {NAME_IT}")


def say_missing_record(data: Path) -> None:
    """Print on standard error that a folder holds no record, for a command that continues without one."""
    from firmware.record.journal.journal import JournalReader

    path = JournalReader(data).path
    if not path.exists() or not path.stat().st_size:
        say(no_record(data).message, err=True)


def say_times_to_come(latest_ms: int | None) -> None:
    """Print on standard error that the record's times cannot all be right, if its latest one is still to come."""
    if latest_ms is not None and latest_ms > time.time_ns() // 1_000_000 + CLOCKS_DIFFER_MS:
        say(
            "Some of these times are still to come: the table's clock was wrong, or this machine's is.",
            err=True,
        )


def need_new(out: Path) -> None:
    """Raise click.UsageError if there is a file of this name: none is replaced."""
    if out.exists():
        raise click.UsageError(f"{out} is there already; choose another name with --out.")


@contextmanager
def write_whole_file(out: Path) -> Iterator[Path]:
    """Yield the name to write a file under; afterwards it has its own. Without it, if writing fails.

    Raises click.ClickException if it cannot be written.
    """
    part = out.with_name(f".{out.name}.part")
    try:
        yield part
        part.replace(out)
    except OSError as error:
        raise click.ClickException(f"{out} cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def need_writable(data: Path) -> None:
    """Raise click.UsageError if the change is impossible: no table runs, and this user may not write to its record."""
    from firmware.table_client import TableLink

    if (
        data.is_dir()
        and not os.access(data, os.W_OK | os.X_OK)
        and not TableLink(data / SOCKET).is_listening()
    ):
        raise click.UsageError(
            f"The table process is not running, and {data} is not this user's to write. On a box: "
            f"sudo -u feltwatch-table {click.get_current_context().command_path}"
        )


def pin_asked(text: str, new: bool = False) -> str:
    """Return a PIN: prompted for without echo on a terminal, otherwise a line of the input."""
    if sys.stdin.isatty():
        return str(click.prompt(text, hide_input=True, confirmation_prompt=new))
    return sys.stdin.readline().strip()


def ask_table(order: dict[str, Any], by: str | None, data: Path) -> dict[str, Any] | None:
    """Send a command to the running table and return its answer; None if no table runs.

    Raises click.ClickException with the table's message if it refuses.
    """
    from firmware.table_client import TableLink

    link = TableLink(data / SOCKET, timeout=WITHIN)
    if not link.is_listening():
        return None
    signed = {"by": by} if by else {}
    if by and (pin := pin_asked(f"PIN of {by}")):  # an empty one is not a try
        signed["pin"] = pin
    answer = link.send(order | {"at": "console"} | signed)
    if not answer["ok"]:
        hint = (
            " Add --by NAME, somebody who has such a PIN; it is then asked for."
            if answer.get("ask") and not by
            else ""
        )
        raise click.ClickException(f"{answer['error']}{hint}")
    return answer
