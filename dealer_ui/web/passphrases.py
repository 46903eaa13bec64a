"""People who log in with a name and a passphrase: what a name and a passphrase may be, and how long a session lasts."""

import unicodedata
from collections.abc import Iterable
from typing import Final

from dealer_ui.web.errors import PageError
from firmware.messages import MessageError
from firmware.names import NameRefused, new_name

SHORTEST_PASSPHRASE: Final = 12
"""Letters. So few log-ins are let through that even a poor passphrase of this length is not guessed in years."""
LONGEST_PASSPHRASE: Final = 200
IDLE_S: Final = 15 * 60.0
"""Seconds without a request after which a session is over."""
LONGEST_S: Final = 10 * 3600.0
"""Seconds after which a session is over even if requests still come: a shift."""


class AccessError(PageError, MessageError, ValueError):
    """An invalid name or passphrase, or a list of people that cannot be read or written."""


def check_name(name: str, listed: Iterable[str]) -> str:
    """Return a new name in its stored form, or the listed name that it is. Raises AccessError."""
    try:
        return new_name(name, listed)
    except NameRefused as error:
        raise AccessError(error.sentence) from error


def check_passphrase(passphrase: str, name: str) -> str:
    """Return a passphrase of this person in its stored form. Raises AccessError for an invalid one."""
    passphrase = normalize(passphrase)
    if not SHORTEST_PASSPHRASE <= len(passphrase) <= LONGEST_PASSPHRASE:
        raise AccessError(
            "A passphrase has %(least)s to %(most)s letters: several words do.",
            least=SHORTEST_PASSPHRASE,
            most=LONGEST_PASSPHRASE,
        )
    if len(set(passphrase)) < 6 or name.casefold() in passphrase.casefold():
        raise AccessError(
            "That passphrase is too easy to guess; choose several words that have no name in them."
        )
    return passphrase


def normalize(passphrase: str) -> str:
    """Normalize a passphrase: keyboards encode accented letters in two ways."""
    return unicodedata.normalize("NFC", passphrase).strip()
