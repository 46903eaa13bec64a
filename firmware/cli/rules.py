"""`feltwatch settle`: the rules core on the command line."""

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, NoReturn

import click

from firmware.cli.json_input import Input, json_inputs
from firmware.cli.settlement_text import settlement_text
from firmware.rules import HandError, load_profile, read_hand, settle, settlement_json
from firmware.terminal import say, say_json

IRREGULAR, MALFORMED = 1, 2
"""Exit statuses; if both apply, the higher one counts."""
OUTPUT_FAILED = 74
"""Exit status by convention: EX_IOERR of sysexits.h."""

_to_json = json.JSONEncoder(check_circular=False).encode


@click.command()
@click.argument("file", type=click.File("rb"), default="-", metavar="[FILE|-]")
@click.option("--profile", metavar="P", help="The profile for hands that name none: a name, or a .toml file.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object a line for each hand.")
@click.option(
    "--schema",
    type=click.Choice(("input", "output")),
    help="Settle nothing; print the JSON Schema of a hand (input) or of an answer of --json (output).",
)
def settle_command(file: BinaryIO, profile: str | None, is_json: bool, schema: str | None) -> None:
    """Settle hands given as JSON: who pays whom, how much, and why.

    FILE holds one hand, an array of hands, or one hand a line. Without FILE, or with -, hands are read from standard
    input. Each is answered as soon as it is read. The exit status is 2 if a hand was malformed, 1 if one was
    irregular and has to be resolved first, 130 if the command was interrupted, 74 if the answers could not be
    written.
    """
    if schema is not None:
        from firmware.rules.exchange_schema import input_schema, output_schema

        say_json(input_schema() if schema == "input" else output_schema(), indent=2)
        return
    if profile is not None:
        load_profile(profile)
    name = file.name if isinstance(getattr(file, "name", None), str) else "<stdin>"
    out = sys.stdout  # click.echo looks the stream up on every call
    status = count = 0
    inputs = json_inputs(file, before_reading=out.flush)
    try:
        for count, found in enumerate(_read_inputs(inputs, name), start=1):
            answer, asked = _settle_one(found, profile, name, is_json=is_json)
            if count > 1 and not is_json:
                out.write("\n")
            if answer:
                out.write(f"{answer}\n")
            status = max(status, asked)
        out.flush()
    except OSError as error:
        _give_up_output(error)
    if not count and not status:
        raise click.UsageError(f"{name} holds no hand")
    sys.exit(status)


def _read_inputs(inputs: Iterator[Input], name: str) -> Iterator[Input]:
    """Yield the inputs of a file. Raises click.UsageError if it cannot be read."""
    while True:
        try:
            found = next(inputs, None)
        except IsADirectoryError as error:
            raise click.UsageError(f"{name} cannot be read: {error.strerror}") from error
        if found is None:
            return
        yield found


def _give_up_output(error: OSError) -> NoReturn:
    """Exit with the status for output that cannot be written; no more is written."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # otherwise Python tries again at exit
    if error.errno != errno.EPIPE:
        with suppress(OSError):
            say(f"The answers cannot be written: {error.strerror or error}.", err=True)
    sys.exit(OUTPUT_FAILED)


LONGEST_MESSAGE = 400
"""Maximum characters of a message: it may quote megabytes."""


def _bound(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 1]}…"


def _settle_one(found: Input, profile: str | None, file: str, *, is_json: bool) -> tuple[str, int]:
    """Return the answer to one input and its exit status; print malformed input's error on standard error."""
    try:
        if found.error:
            raise HandError("", found.error)
        settlement = settle(*read_hand(found.value, profile))
    except HandError as error:
        message = _bound(str(error))
        say(f"{file}: line {found.line}: {message}", err=True)
        answer = {"error": {"line": found.line, "key": _bound(error.key), "message": message}}
        return _to_json(answer) if is_json else "", MALFORMED
    text = _to_json(settlement_json(settlement)) if is_json else settlement_text(settlement)
    return text, IRREGULAR if settlement.irregularities else 0
