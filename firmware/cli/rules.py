"""`feltwatch settle` and `feltwatch profiles`: the rules core on the command line."""

from __future__ import annotations

import errno
import json
import os
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

import click

from firmware.cli.json_input import Input, json_inputs
from firmware.cli.settlement_text import settlement_text
from firmware.rules import (
    HandError,
    contradictions,
    load_chain,
    load_profile,
    profile_names,
    profile_toml,
    read_hand,
    settle,
    settlement_json,
)
from firmware.terminal import say, say_all, say_json

IRREGULAR, MALFORMED = 1, 2
"""Exit statuses; if both apply, the higher one counts."""
INTERRUPTED, OUTPUT_FAILED = 130, 74
"""Exit statuses by convention: 128 plus the signal's number; EX_IOERR of sysexits.h."""

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
        for count, found in enumerate(_readable(inputs, name), start=1):
            answer, asked = _settle_one(found, profile, name, is_json=is_json)
            if count > 1 and not is_json:
                out.write("\n")
            if answer:
                out.write(f"{answer}\n")
            status = max(status, asked)
        out.flush()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except OSError as error:
        _give_up_output(error)
    if not count and not status:
        raise click.UsageError(f"{name} holds no hand")
    sys.exit(status)


def _readable(inputs: Iterator[Input], name: str) -> Iterator[Input]:
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


@click.group()
def profiles() -> None:
    """List, show and check rule profiles, and write their house-rules page."""


@profiles.command("list")
@click.option("--json", "is_json", is_flag=True, help="Print a JSON array.")
def list_profiles(is_json: bool) -> None:
    """List the packaged profiles."""
    found = [load_profile(name) for name in profile_names()]
    if is_json:
        keys = ("name", "title", "source")
        say_json([{key: getattr(profile, key) for key in keys} for profile in found])
        return
    width = max(len(profile.name) for profile in found)
    for profile in found:
        say(f"{profile.name:<{width}}  {profile.title}")


@profiles.command()
@click.argument("profile", metavar="P")
@click.option("--json", "is_json", is_flag=True, help="Print a JSON object.")
def show(profile: str, is_json: bool) -> None:
    """Show a profile as TOML that names every option: a file to copy, change and check."""
    loaded = load_profile(profile)
    text = profile_toml(loaded)
    if is_json:
        say_json(tomllib.loads(text))
    else:
        say_all(text)


@profiles.command()
@click.argument("file", metavar="FILE")
def check(file: str) -> None:
    """Check a house's own profile; if it is not valid, say why and exit with 2."""
    from firmware.rules.profiles.document import changes

    loaded, *bases = load_chain(file)
    if found := contradictions(loaded):
        sentences = [f"  {contradiction.path}: {contradiction.sentence}" for contradiction in found]
        raise click.UsageError("\n".join((f"{file} contradicts itself:", *sentences)))
    say(f"{file} is sound: the profile {loaded.name}{f' extends {bases[0].name}' if bases else ''}.")
    for change in changes(loaded, bases[0]) if bases else ():
        say(f"  {change.path}: {change.after} It was: {change.before}")


@profiles.command()
@click.argument("profile", metavar="P")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write to a file: .md for Markdown, .pdf to print it.",
)
@click.option(
    "--language",
    default="en",
    show_default=True,
    metavar="CODE",
    help="The page's language: en, es, zh_Hans or zh_Hant.",
)
def document(profile: str, output: Path | None, language: str) -> None:
    """Write the house-rules page that a card room files with its internal controls.

    It has every rule as a sentence, in the order of play, with the paragraph of its source. It says how
    irregularities are handled, what the house has changed, and where the source can be read in another way.
    """
    loaded, *bases = load_chain(profile)
    if not bases and loaded.based_on in profile_names():
        bases = [load_profile(loaded.based_on)]
    from dealer_ui.profiles.house_rules import house_rules
    from dealer_ui.text.i18n import LANGUAGES, speaking
    from firmware.rules.profiles.document import markdown

    if output is not None and output.suffix not in (".md", ".pdf"):
        raise click.UsageError(f"{output} is neither Markdown nor PDF; name a file ending in .md or .pdf")
    if language not in LANGUAGES:
        raise click.UsageError(f"there is no language {language}; allowed: {', '.join(LANGUAGES)}")
    with speaking(language):
        blocks = house_rules(loaded, bases[0] if bases else None)
        if output is None:
            say_all(markdown(blocks))
            return
        try:
            if output.suffix == ".md":
                output.write_text(markdown(blocks), encoding="utf-8")
            else:
                from dealer_ui.reports.house_rules_pdf import write_pdf  # slow to load

                write_pdf(blocks, output)
        except OSError as error:
            raise click.ClickException(f"{output} cannot be written: {error.strerror}") from error
    say(f"{output} holds the house rules of {loaded.name}.")
