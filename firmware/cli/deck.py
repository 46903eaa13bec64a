"""`feltwatch deck`: the decks that this table has learnt or was sent, and one of them as a file for other tables."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firmware.cli.options import data_option, need_record
from firmware.command_options import FILE
from firmware.terminal import say, say_json

if TYPE_CHECKING:
    from firmware.record.journal.reader import JournalReader
    from firmware.table.entry import Entry
    from firmware.table.events import DeckEnrolled


@click.group("deck")
def command() -> None:
    """List the decks in the record, and write one into a file that `feltwatch pit send` takes."""


@command.command("list")
@data_option
@click.option("--json", "is_json", is_flag=True, help="Print one JSON array.")
def list_command(data: Path, is_json: bool) -> None:
    """List the decks that this table has learnt or was sent, the last one first."""
    reader, found = _decks(data)
    in_use = reader.recover()[0].calibration_hash("deck")
    if is_json:
        say_json([_to_json(entry, event, in_use) for entry, event in found])
        return
    for entry, event in found:
        deck = event.calibration
        state = " in use" if deck.hash == in_use else ""
        say(f"{deck.hash[:12]}  {_minute(entry)}  {deck.name}  by {entry.actor}{state}")
    if not found:
        say("This table has learnt no deck. A technician lets it learn one: Set-up, Deck.")


@command.command("export")
@click.argument("deck")
@click.option(
    "--out", type=FILE, required=True, help="The file to write, such as blue-backs.json. It must not exist."
)
@data_option
def export_command(deck: str, out: Path, data: Path) -> None:
    """Write a deck of this table into a file for other tables with the same card reader.

    DECK is the deck's name, or at least the first eight digits of its hash. If several decks have that name, the last
    one is written. Take the file to the pit's server, and send it there: feltwatch pit send FILE --to TABLE
    """
    if out.suffix != ".json":
        raise click.UsageError(f"{out} does not end in .json: the pit knows a deck by that.")
    reader, found = _decks(data)
    decks = [event.calibration for _, event in found]
    matches = [one for one in decks if one.name == deck]
    matches = matches or [one for one in decks if len(deck) >= 8 and one.hash.startswith(deck)]
    if not matches:
        raise click.UsageError(f"This table has learnt no deck {deck}. See: feltwatch deck list")
    chosen = matches[0]
    text = reader.content(chosen.hash)
    if text is None:
        raise click.ClickException(f"The text of the deck {chosen.name} is missing from the record.")
    with out.open("xb") as file:  # fails if the file exists
        file.write(text)
    say(f"{out}: {chosen.name}, {len(text):,} bytes, {chosen.hash}")


def _decks(data: Path) -> tuple[JournalReader, list[tuple[Entry, DeckEnrolled]]]:
    """Return the record's reader, and each deck once with the row that last put it in use, the last one first."""
    from firmware.record.journal.journal import JournalReader
    from firmware.table.events import DeckEnrolled

    need_record(data)
    reader = JournalReader(data)
    found: dict[str, tuple[Entry, DeckEnrolled]] = {}
    for entry in reversed(reader.of_type(DeckEnrolled.type)):
        event = entry.event
        assert isinstance(event, DeckEnrolled)
        found.setdefault(event.calibration.hash, (entry, event))
    return reader, list(found.values())


def _minute(entry: Entry) -> str:
    return f"{datetime.fromtimestamp(entry.wall_ms / 1000):%Y-%m-%d %H:%M}"


def _to_json(entry: Entry, event: DeckEnrolled, in_use: str) -> dict[str, object]:
    deck = event.calibration
    return {
        "name": deck.name,
        "hash": deck.hash,
        "model": deck.stands_on.get("model", ""),
        "wall_ms": entry.wall_ms,
        "by": entry.actor,
        "in_use": deck.hash == in_use,
    }
