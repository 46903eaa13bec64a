"""Profiles and decks that come from the pit, read as files of another author: nothing that cannot be used is taken."""

import json
from typing import Final

from firmware.table.errors import CommandRefused
from firmware.table.people import check_name
from firmware.table.topics.profiles import KeepProfile, profile_of_text, text_to_keep

LARGEST: Final = 1e4
"""Beyond any figure of a deck: those that `vision.reading.enrolment` learns stay below 50, as large ones cost it."""
SHAPES: Final = {"weight": (17, 112), "bias": (17,), "pips": (52, 15)}
"""Rows and columns of a deck's figures (`vision.reading.profile_files`); `pips` may be missing."""


def profile_of(data: bytes) -> tuple[str, str]:
    """Return a profile's name and its complete text. Raises CommandRefused for one that no table can play."""
    try:
        text = text_to_keep(KeepProfile(text=data.decode(), reason="Sent by the pit"))
    except CommandRefused:
        raise
    except ValueError as error:
        why = str(error).partition("\n")[0]
        raise CommandRefused("The profile cannot be used: %(error)s", error=why) from error
    return profile_of_text(text).name, text


def deck_of(data: bytes, model: str) -> tuple[str, str]:
    """Return the name of an enrolled deck, and the card reader's model that it was learnt with.

    Raises CommandRefused for a file that is no deck, or of another model than `model`; "" fits any.
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
