"""The rules for all names: which names are accepted, and when two names look alike.

Only new names are checked. A name that is already in a record or a list stays as it is. It can still be replayed, used
to log on, and removed.
"""

import unicodedata
from collections.abc import Iterable
from typing import Final

from firmware.messages import Message, MessageError
from firmware.names.skeleton import skeleton, without_invisible

LONGEST: Final = 40
"""The maximum length of a name of a person, a player, a table or a deck, in characters."""
MAX_MARKS: Final = 4
"""The maximum number of successive marks on one letter (UTS #39, 5.4).

Hebrew and Vietnamese need up to four. More would cover the names in the lines above and below.
"""
_SMALL_CAPITALS: Final = str.maketrans("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋĸʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "ABCDEFGHIJKKLMNOPRSTUVWYZ")
_SPACES: Final = frozenset({"Zs", "Zl", "Zp"})


class NameRefused(MessageError, ValueError):
    """A new name is not allowed."""


def normal_spelling(name: str) -> str:
    """Return a name as it is stored: composed letters (NFC), one space between words, none before or after.

    >>> normal_spelling(" Jose\\u0301   Ruiz ") == "Jos\\u00e9 Ruiz"
    True
    """
    return unicodedata.normalize("NFC", " ".join(name.split()))


def check_name(name: str, most: int = LONGEST) -> str:
    """Return a new name as it is stored. Raises NameRefused if people could not read it, or tell it from others.

    A name needs a letter or a digit. It must not contain characters that are invisible or move their neighbours:
    fillers, direction marks, joiners, and control, private or unassigned characters.

    >>> check_name("Nguyễn Thị Ánh"), check_name("O'Brien")
    ('Nguyễn Thị Ánh', "O'Brien")
    """
    name = normal_spelling(name)
    if not 1 <= len(name) <= most:
        raise NameRefused("A name has 1 to %(most)s letters.", most=most)
    if forbidden := next((letter for letter in name if _is_forbidden(letter)), None):
        raise NameRefused(
            "A name has only letters that can be seen. This one holds %(code)s. Type it again.",
            code=f"U+{ord(forbidden):04X}",
        )
    if not any(unicodedata.category(letter)[0] in "LN" for letter in name):
        raise NameRefused("A name has a letter or a digit.")
    if _has_wrong_marks(name):
        raise NameRefused(
            "A letter of a name has at most %(most)s marks above and below, each once.", most=MAX_MARKS
        )
    return name


def new_name(name: str, taken: Iterable[str], most: int = LONGEST) -> str:
    """Check a new name, also against the taken names. Return it as it is stored.

    A name that is exactly a taken one is returned too: the caller decides about it. Raises NameRefused if the name is
    not allowed, or looks like a taken one.
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
    """Return the message that refuses a name because it looks like another one."""
    return Message(
        "%(name)s looks like %(other)s, a name that is taken. Choose one that nobody takes for it.",
        name=name,
        other=other,
    )


def look_alike(name: str, others: Iterable[str]) -> str | None:
    """Return the first of the other names that people could confuse with this one on a screen; None if there is none.

    Small and capital letters count as the same.

    >>> look_alike("К\\u0456m", ["Ada", "Kim"]), look_alike("kim", ["Kim"]), look_alike("Kit", ["Kim"])
    ('Kim', 'Kim', None)
    """
    forms = _visual_forms(name)
    return next((other for other in others if forms & _visual_forms(other)), None)


def is_blank(name: str) -> bool:
    """Return whether nothing of a name is visible.

    >>> is_blank("\\u3164 \\u2800"), is_blank("Kim")
    (True, False)
    """
    return not any(unicodedata.category(letter) not in _SPACES for letter in without_invisible(name))


def _is_forbidden(letter: str) -> bool:
    """Return whether a name must not contain a character: an invisible, control, private or unassigned one."""
    if letter == " ":
        return False
    category = unicodedata.category(letter)
    return category[0] in "CZ" or not without_invisible(letter)


def _has_wrong_marks(name: str) -> bool:
    """Return whether a letter has too many marks or the same mark twice, or a mark has no letter before it."""
    marks: list[str] = []
    before = " "
    for letter in unicodedata.normalize("NFD", name):
        category = unicodedata.category(letter)
        if category[0] == "M" and before == " ":
            return True
        marks = [*marks, letter] if category in ("Mn", "Me") else []
        if len(marks) > MAX_MARKS or len(set(marks)) < len(marks):
            return True
        before = letter
    return False


def _visual_forms(name: str) -> frozenset[str]:
    """Return the skeletons of three forms of a name: as written, with plain letters (NFKC), and in capitals.

    Two names look alike if they have one of these in common. Some letters look alike only as capitals: к and k.
    """
    name = normal_spelling(name)
    plain = unicodedata.normalize("NFKC", without_invisible(name))
    capitals = plain.translate(_SMALL_CAPITALS).casefold().upper()
    return frozenset(skeleton(" ".join(form.split())) for form in (name, plain, capitals))
