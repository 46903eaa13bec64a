"""The skeleton of a text (UTS #39): texts that look alike have the same one. It is compared, and never shown."""

import unicodedata
from functools import cache
from importlib.resources import files
from typing import Final

TABLE: Final = "confusables.txt"
_BLANK: Final = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x061C, 0x061C),  # Arabic letter mark
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian selectors and separator
    (0x200B, 0x200F),  # joiners, marks of direction
    (0x202A, 0x202E),  # bidi controls
    (0x2060, 0x206F),
    (0x2800, 0x2800),  # Braille blank
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),  # half-width Hangul filler
    (0xFFF0, 0xFFFC),  # object replacement, interlinear notes
    (0x13441, 0x13442),  # blank hieroglyphs
    (0x16FE4, 0x16FE4),  # Khitan filler
    (0x1BCA0, 0x1BCA3),  # shorthand controls
    (0x1D159, 0x1D159),  # null note head
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),  # tags, more variation selectors
)
"""Characters that show as nothing: Unicode's default ignorable ones, and blanks that it counts as letters or signs."""


def without_invisible(text: str) -> str:
    """Return a text without the characters that show as nothing; spaces stay.

    >>> without_invisible("K\\u200bi\\ufe0fm\\u3164")
    'Kim'
    """
    return "".join(letter for letter in text if not _is_invisible(letter))


def skeleton(text: str) -> str:
    """Return the skeleton of a text.

    >>> skeleton("К\\u0456m") == skeleton("Kim"), skeleton("Kim") == skeleton("Kit")
    (True, False)
    """
    prototypes = _prototypes()
    letters = unicodedata.normalize("NFD", without_invisible(text))
    return unicodedata.normalize("NFD", "".join(prototypes.get(letter, letter) for letter in letters))


def _is_invisible(letter: str) -> bool:
    if letter.isascii():
        return letter < " " or letter == "\x7f"
    code = ord(letter)
    return any(first <= code <= last for first, last in _BLANK) or unicodedata.category(letter) in (
        "Cc",
        "Cf",
    )


@cache
def _prototypes() -> dict[str, str]:
    """Return the prototype, one character or several, of each character that looks like others."""
    found = {}
    for line in (files("firmware.names") / TABLE).read_text(encoding="ascii").splitlines():
        if line and not line.startswith("#"):
            prototype, sources = line.split(" = ")
            text = "".join(chr(int(code, 16)) for code in prototype.split())
            found.update(dict.fromkeys((chr(int(code, 16)) for code in sources.split()), text))
    return found
