"""The one rule of names: which are accepted, and when one looks like another.

Only new names are judged. A name that a record or a list holds already stays as it is: it replays, logs on, is removed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from firmware.messages import Message, MessageError
from firmware.names.skeleton import skeleton, without_invisible

LONGEST: Final = 40
"""Letters of a name of a person, a player, a table or a deck."""
MOST_MARKS: Final = 4
"""Marks in a row over or under one letter (UTS #39, 5.4). Hebrew and Vietnamese need up to four; more cover the names
above and below."""
_SMALL_CAPITALS: Final = str.maketrans("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋĸʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "ABCDEFGHIJKKLMNOPRSTUVWYZ")
_SPACES: Final = frozenset({"Zs", "Zl", "Zp"})


class NameRefused(MessageError, ValueError):
    """A name that nobody may be given."""


def normal_spelling(name: str) -> str:
    """Return a name as it is stored: composed letters (NFC), one space between its words, none around them.

    >>> normal_spelling(" Jose\\u0301   Ruiz ") == "Jos\\u00e9 Ruiz"
    True
    """
    return unicodedata.normalize("NFC", " ".join(name.split()))


def check_name(name: str, most: int = LONGEST) -> str:
    """Return a new name as it is stored. Raises NameRefused for one that cannot be read or told on a screen.

    It has a letter or a digit, and nothing that shows as nothing or moves its neighbours: no filler, no mark of
    direction, no joiner, no control, private or unassigned character.

    >>> check_name("Nguyễn Thị Ánh"), check_name("O'Brien")
    ('Nguyễn Thị Ánh', "O'Brien")
    """
    name = normal_spelling(name)
    if not 1 <= len(name) <= most:
        raise NameRefused("A name has 1 to %(most)s letters.", most=most)
    if strange := next((letter for letter in name if _is_strange(letter)), None):
        raise NameRefused(
            "A name has only letters that can be seen. This one holds %(code)s. Type it again.",
            code=f"U+{ord(strange):04X}",
        )
    if not any(unicodedata.category(letter)[0] in "LN" for letter in name):
        raise NameRefused("A name has a letter or a digit.")
    if _is_piled(name):
        raise NameRefused(
            "A letter of a name has at most %(most)s marks above and below, each once.", most=MOST_MARKS
        )
    return name


def new_name(name: str, taken: Iterable[str], most: int = LONGEST) -> str:
    """Return a new name as it is stored; one that is taken letter by letter is returned as well, for the caller.

    Raises NameRefused, also for one that looks like a taken one.
    """
    taken = list(taken)
    for form in (name, normal_spelling(name)):
        if form in taken:
            return form
    name = check_name(name, most)
    if other := look_alike(name, taken):
        raise NameRefused(looks_like(name, other))
    return name


def looks_like(name: str, other: str) -> Message:
    """Return the sentence for a name that looks like another."""
    return Message(
        "%(name)s looks like %(other)s, a name that is taken. Choose one that nobody takes for it.",
        name=name,
        other=other,
    )


def look_alike(name: str, others: Iterable[str]) -> str | None:
    """Return the first of the other names that a person at a screen may take for this one; None if there is none.

    Small and capital letters count as the same.

    >>> look_alike("К\\u0456m", ["Ada", "Kim"]), look_alike("kim", ["Kim"]), look_alike("Kit", ["Kim"])
    ('Kim', 'Kim', None)
    """
    looks = _looks(name)
    return next((other for other in others if looks & _looks(other)), None)


def is_blank(name: str) -> bool:
    """Return whether a name shows as nothing at all.

    >>> is_blank("\\u3164 \\u2800"), is_blank("Kim")
    (True, False)
    """
    return not any(unicodedata.category(letter) not in _SPACES for letter in without_invisible(name))


def _is_strange(letter: str) -> bool:
    """Return whether a character is none that is seen by itself or on a letter; a space is one."""
    if letter == " ":
        return False
    category = unicodedata.category(letter)
    return category[0] in "CZ" or not without_invisible(letter)


def _is_piled(name: str) -> bool:
    """Return whether a letter has too many marks, the same one twice, or a mark stands without a letter."""
    marks: list[str] = []
    before = " "
    for letter in unicodedata.normalize("NFD", name):
        category = unicodedata.category(letter)
        if category[0] == "M" and before == " ":
            return True
        marks = [*marks, letter] if category in ("Mn", "Me") else []
        if len(marks) > MOST_MARKS or len(set(marks)) < len(marks):
            return True
        before = letter
    return False


def _looks(name: str) -> frozenset[str]:
    """Return what a name looks like: as written, plain letters for fancy ones (NFKC), and all in capitals.

    Names of which one of these is the same look alike. Capitals also join what small letters part: к and k.
    """
    name = normal_spelling(name)
    plain = unicodedata.normalize("NFKC", without_invisible(name))
    capitals = plain.translate(_SMALL_CAPITALS).casefold().upper()
    return frozenset(skeleton(" ".join(form.split())) for form in (name, plain, capitals))
