"""What comes down from the pit: a file that a technician takes, a release that the box begins to install.

Profiles and decks are read as files of another author, here and at the pit: nothing that cannot be used is taken.
"""

import json
from typing import Final, Literal

from pydantic import Field

from firmware.messages import Message
from firmware.table.command import Command
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, stays
from firmware.table.people import TECHNICIAN, check_name
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.topics.profiles import complete_profile

LARGEST: Final = 1e4
"""Beyond any figure of a deck: those that `vision.reading.enrolment` learns stay below 50, as large ones cost it."""
SHAPES: Final = {"weight": (17, 112), "bias": (17,), "pips": (52, 15)}
"""Rows and columns of a deck's figures (`vision.reading.profile_files`); `pips` may be missing."""


class UpdateBegun(Event, leads=stays(BETWEEN_HANDS)):
    """The box began to install a release that came from the pit; the next `table_started` says what runs.

    `hash` is the SHA-256 of its archive, `number` the pit's request, 0 in a row of an earlier release. The row's actor
    is the technician who ordered it, or `pit:` and who offered it.
    """

    type = "update_begun"
    title = Message("Update begun")
    release: str
    hash: str
    number: int = 0


class TakeFile(Command, roles=TECHNICIAN):
    """Take a file from the pit that lies in the inbox: use a profile or a deck, install a release.

    It is named by its request's number and its SHA-256: what a page showed is what is taken.
    """

    do: Literal["take_file"] = "take_file"
    number: int = Field(ge=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


def profile_of(data: bytes) -> tuple[str, str]:
    """Return a profile's name and its complete text. Raises CommandRefused for one that no table can play."""
    try:
        return complete_profile(data.decode())
    except UnicodeDecodeError as error:
        raise CommandRefused("The profile cannot be used: %(error)s", error=error) from error


def deck_of(data: bytes, model: str) -> tuple[str, str]:
    """Return the name of an enrolled deck, and the card reader's model that it was learnt with.

    Raises CommandRefused for a file that is not a deck, or whose model is not `model`; "" accepts any.
    """
    try:
        values = json.loads(data.decode())  # the reader takes UTF-8 alone, without a mark at its beginning
        name, learnt_with = values["name"], values["model"]
        fits = all(_fits(values[part], shape) for part, shape in SHAPES.items() if part in values)
        whole = fits and {"weight", "bias"} <= set(values) and isinstance(name, str)
    except (ValueError, TypeError, LookupError, RecursionError):
        whole = False
    if not whole or not isinstance(learnt_with, str) or check_name(name) != name:
        raise CommandRefused("This is no deck profile; enrol the deck again.")
    if model and learnt_with != model:
        raise CommandRefused(
            "The deck %(name)s was learnt with another card reader's model; enrol the deck again.", name=name
        )
    return name, learnt_with


def _fits(value: object, shape: tuple[int, ...]) -> bool:
    if not shape:
        return isinstance(value, int | float) and type(value) is not bool and -LARGEST <= value <= LARGEST
    return isinstance(value, list) and len(value) == shape[0] and all(_fits(one, shape[1:]) for one in value)
