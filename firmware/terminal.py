"""What is printed at a terminal. Every command prints through here.

A name, a note or a file's name may hold control characters: a terminal would obey them, hide what was printed before or
show a verdict that nobody gave. So a line is escaped as a whole, its line ends as well, and printed as one line.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from typing import Final

_CONTROL: Final = {code: f"^{chr(code ^ 64)}" for code in (*range(32), 127)}
_NOT_ASCII: Final = re.compile(r"[^\x20-\x7e]")


def escaped(text: object) -> str:
    """Return a text as one line that any terminal shows and none obeys; control characters as `cat -v` writes them.

    >>> print(escaped("Ada\\x1b[2K\\rBert\\nAll of it holds."))
    Ada^[[2K^MBert^JAll of it holds.
    >>> print(escaped("\\u9648 \\u202e \\x9b"))
    陈 \\u202e \\u009b
    """
    line = str(text)
    return line if line.isprintable() else "".join(map(_escaped_character, line))


def _escaped_character(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    code = ord(character)
    return _CONTROL.get(code) or (f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def escaped_json(value: object, indent: int | None = None) -> str:
    """Return a value as JSON of the same meaning in which no character is one that a terminal obeys.

    >>> escaped_json({"by": "陈\\x9b\\x7f"}) == '{"by": "陈\\\\u009b\\\\u007f"}'
    True
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return text if text.isascii() and "\x7f" not in text else _NOT_ASCII.sub(_escaped_in_json, text)


def _escaped_in_json(found: re.Match[str]) -> str:
    character = found.group()
    if character == "\n" or character.isprintable():  # a line end stands between values only
        return character
    return "".join(
        f"\\u{unit:04x}" for unit in memoryview(character.encode("utf-16-le", "surrogatepass")).cast("H")
    )


def say(line: object = "", *, err: bool = False) -> None:
    """Print one line, escaped."""
    stream = sys.stderr if err else sys.stdout
    stream.write(f"{escaped(line)}\n")
    stream.flush()


def say_all(text: str) -> None:
    """Print a text of several lines. What it quotes must be escaped already, or be unable to hold a line end."""
    for line in text.removesuffix("\n").split("\n"):
        say(line)


def say_json(value: object, *, indent: int | None = None) -> None:
    """Print a value as JSON."""
    sys.stdout.write(f"{escaped_json(value, indent)}\n")
    sys.stdout.flush()
