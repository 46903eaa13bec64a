"""`feltwatch demo`: the whole appliance on a simulated table, in one command, on any computer."""

from __future__ import annotations

import logging
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from firmware.command_options import FOLDER, PORT_NUMBER, profile_option
from firmware.page_process import STARTS_WITHIN, need_free, page_process
from firmware.runtime.config import Config
from firmware.runtime.errors import AppError
from firmware.stop_signals import call_at_signals
from firmware.terminal import say, say_json

if TYPE_CHECKING:
    from firmware.simulation.room_page.room import Room
    from firmware.table_client import TableLink

PINS: Final = {"Lee": ("technician", "135724"), "Kim": ("floor", "246813")}
"""People with a PIN at the demo's table, so that the functions of floor and technician can be tried too."""
STACK_UNITS: Final = 2000
ROOM: Final = "room.sock"
RETRY_S: Final = 0.2
"""Seconds before a command that timed out is sent again."""


@click.command("demo")
@profile_option
@click.option("--hands", type=click.IntRange(1), help="Number of hands to play; without it, until stopped.")
@click.option("--seed", type=int, default=1, help="The same seed deals the same cards.")
@click.option("--port", type=PORT_NUMBER, default=8013, help="The page's port.")
@click.option(
    "--headless", is_flag=True, help="Show no page and play as fast as possible; 20 hands without --hands."
)
@click.option(
    "--speed", type=click.FloatRange(min=0.05, max=1000), help="How many times as fast as a person to play."
)
@click.option(
    "--kiosk",
    is_flag=True,
    help="The page is a kiosk's (/?kiosk): push-buttons count for what it has painted.",
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON line for each hand.")
@click.option(
    "--data",
    envvar="FELTWATCH_DATA",
    type=FOLDER,
    help="Keep the record in this folder.  [default: a fresh temporary one]",
)
def command(
    profile: str,
    hands: int | None,
    seed: int,
    port: int,
    headless: bool,
    speed: float | None,
    kiosk: bool,
    is_json: bool,
    data: Path | None,
) -> None:
    """Play a simulated table through the real product.

    Rendered camera frames go through the card reader, a pseudo-terminal speaks the puck reader's protocol, mock pins
    press the buttons, and the dealer's page shows it live; you may play along. On the page /sim you move the puck,
    press the buttons, pull cables and spoil the light. Ctrl-C ends the demo.

    With --json each hand gives {"hand", "profile", "truth", "reading", "asked", "settlement"}. "truth" is the cards
    as they were laid, "reading" the cards as they were read, by seat and row; a seat that surrendered shows none.
    "asked" is the cards that the dealer was asked about.
    """
    from firmware.runtime.config import ScreenConfig
    from firmware.simulation.house import make_config

    logging.basicConfig(level=logging.ERROR, format="%(name)s: %(message)s")
    pace = speed or (None if headless else 1.0)
    with ExitStack() as stack:
        folder = data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-")))
        config = make_config(folder, profile, STACK_UNITS, 1.5 / pace if pace else 0.0)
        config = config.model_copy(update={"screen": ScreenConfig(kiosk=kiosk)})
        interrupted = _play(
            config, hands or (20 if headless else None), seed, pace, None if headless else port, is_json
        )
    if interrupted and headless:
        sys.exit(130)


def _play(
    config: Config, hands: int | None, seed: int, pace: float | None, port: int | None, is_json: bool
) -> bool:
    """Play; return whether it was interrupted. Without a port there is no page."""
    from firmware.record.journal.journal import JournalReader
    from firmware.simulation.live.players import Players
    from firmware.simulation.live.run import LiveRun
    from firmware.simulation.live.table import SimulatedTable
    from firmware.simulation.room_page.room import Room
    from firmware.table_client import TableLink

    if port is not None:
        need_free(port)
    over = threading.Event()
    with ExitStack() as stack:
        room = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-room-")))
        # Page and table start slowly: start both in parallel.
        page = None
        if port is not None:
            arguments = (config.data, config.socket, room / ROOM)
            page = stack.enter_context(
                page_process("firmware.simulation.room_page.serve", arguments, port, room)
            )
        table = stack.enter_context(SimulatedTable(config, room, seed))
        link = TableLink(config.socket)
        run = LiveRun(
            table,
            Players(seed, table.house.rules),
            JournalReader(config.data),
            link,
            seed,
            pace,
            among_people=port is not None,
        )

        def stop() -> None:
            over.set()
            run.stop()

        stack.enter_context(call_at_signals(stop))
        if page is not None:
            stack.enter_context(_open_room(room, Room(table, run)))
            page.wait()
            say(f"The dealer's page: {page.address}   (Ctrl-C ends the demo)", err=True)
            say(f"The simulated room: {page.address}sim   (move the puck, press, pull cables)", err=True)
            for line in sign_ons(link, config.data):
                say(line, err=True)
            say(f"The record: feltwatch hands list --data {config.data}", err=True)
        for report in run.play(hands):
            say_json(report) if is_json else say(_line(report))
        if port is not None and not over.is_set():
            say("All hands are played; the page stays open until Ctrl-C.", err=True)
            over.wait()
    return over.is_set()


def sign_ons(link: TableLink, data: Path, within: float = STARTS_WITHIN) -> Iterator[str]:
    """List the people who have a PIN, and yield for each how to sign on, or the reason why they cannot.

    On a busy machine a command may time out in the table; it is sent again for `within` seconds. A person in the record
    of an earlier demo is not listed again. Raises AppError.
    """
    deadline = time.monotonic() + within
    sender: dict[str, str] = {}
    for name, (role, pin) in PINS.items():
        listing = {"do": "list_person", "person": name, "role": role, "new_pin": pin, **sender}
        refusal = _list_person(link, data, listing, deadline)
        if refusal:
            yield f"The demo's {role} could not be listed: {refusal} Who is listed: feltwatch people list --data {data}"
        else:
            sender = sender or {"by": name, "pin": pin}
            yield f"Sign on as {role}: {name}, PIN {pin}"


def _list_person(link: TableLink, data: Path, listing: dict[str, str], deadline: float) -> str:
    """List a person, unless the record has them with this role and PIN. Return the refusal, "" if there is none."""
    from firmware.table_client import TableUnreachable

    while not _is_listed(data, listing):
        try:
            answer = link.send(listing, within=STARTS_WITHIN)
        except TableUnreachable as error:
            raise AppError(f"The demo's table takes no commands: {error}") from error
        if answer["ok"]:
            return ""
        if not answer.get("uncertain") or time.monotonic() > deadline:
            # a command that timed out may have been done late; then the repeat is refused
            return "" if _is_listed(data, listing) else str(answer["error"])
        time.sleep(RETRY_S)
    return ""


def _is_listed(data: Path, listing: dict[str, str]) -> bool:
    from firmware.access.pins import PinStore
    from firmware.record.journal.journal import JournalReader
    from firmware.table.errors import PinError

    person = JournalReader(data).recover()[0].person(listing["person"])
    if person is None or str(person.role) != listing["role"]:
        return False
    try:
        return PinStore(data).matches(person.pin, listing["new_pin"])
    except PinError:  # there is no PIN, or its file is lost
        return False


@contextmanager
def _open_room(folder: Path, room: Room) -> Iterator[None]:
    """Make the simulated room available to the page's process."""
    from firmware.runtime.socket_server import CommandSocket

    with closing(CommandSocket(folder / ROOM, room.answer)) as commands:
        commands.start()
        yield


def _line(report: dict[str, Any]) -> str:
    """Format a hand as one line."""
    rows = [
        (card, read)
        for seat, truth in report["truth"].items()
        for row in truth
        for card, read in zip(
            truth[row].split(), report["reading"].get(seat, {}).get(row, "").split(), strict=False
        )
    ]
    right = sum(card == read for card, read in rows)
    points = "   ".join(f"seat {seat} {points:+d}" for seat, points in report["settlement"]["points"].items())
    asked = f", asked about {' '.join(report['asked'])}" if report["asked"] else ""
    return f"Hand {report['hand']}:   {points}   ({right} of {len(rows)} cards read right{asked})"
