"""`feltwatch pit table add` at a terminal: shows the code, waits for the table, has the five words compared."""

import io
import time
from collections.abc import Callable
from typing import Final

import click
import segno

from firmware.terminal import say
from firmware.uplink.code import parse
from firmware.uplink.enrolment import GIVEN_UP
from pit.door import enrolment
from pit.errors import PitError
from pit.store.database import Database
from pit.store.facts import fact

LOOK_EVERY_S: Final = 1.0


def bring_in(
    database: Database,
    name: str,
    addresses: tuple[str, ...],
    by: str,
    *,
    renews: bool,
    wait: Callable[[float], object] = time.sleep,
) -> None:
    """Make a code and follow it to its end. Raises PitError with the reason if the table was not enrolled."""
    where = addresses or tuple(fact(database, "addresses").split())
    if not where:
        raise PitError("Say where the tables find this pit, once: --pit HOST:PORT")
    number = enrolment.make_code(database, name, where, by, renews=renews)
    try:
        _show(enrolment.look_at_code(database, number))
        _follow(database, number, by, wait)
    except (KeyboardInterrupt, click.Abort):
        enrolment.give_up(database, number)
        raise


def _show(one: enrolment.Enrolment | None) -> None:
    assert one is not None
    code, picture = parse(one.code), io.StringIO()
    segno.make_qr(one.code, error="m").terminal(picture, compact=True)
    for line in picture.getvalue().splitlines():
        click.echo(line)
    letters = code.letters
    say("At the table: Set-up, The pit. Hold this before its camera, or type:")
    say("  " + " ".join(letters[at : at + 5] for at in range(0, len(letters), 5)))
    say("  " + " ".join(code.addresses))
    say("Good once, for fifteen minutes. Waiting for the table; Ctrl-C gives the code up.")


def _follow(database: Database, number: int, by: str, wait: Callable[[float], object]) -> None:
    refused = None
    while True:
        one = enrolment.look_at_code(database, number)
        assert one is not None
        if one.refused_at != refused:
            refused = one.refused_at
            say(f"Refused: {one.refused}", err=True)
        match one.stage:
            case "done":
                say(f"{one.name} is enrolled. It sends its record by itself.")
                return
            case "dead":
                raise PitError(one.why or GIVEN_UP)
            case "compare":
                say(f"{one.name} shows five words. Here they are: {one.words}")
                enrolment.compare(database, number, by, same=click.confirm("Are they the same?"))
            case "shown" | "waits":
                wait(LOOK_EVERY_S)
