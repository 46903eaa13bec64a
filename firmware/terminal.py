"""Safe output to a terminal. Every command prints through this module.

A name, a note or a file name may contain control characters. A terminal would execute them: they could hide earlier
output or fake a verdict. So each line is escaped as a whole, including line ends, and printed as one line.
"""

import json
import re
import sys
import unicodedata
from typing import Final

_CONTROL: Final = {code: f"^{chr(code ^ 64)}" for code in (*range(32), 127)}
_NOT_ASCII: Final = re.compile(r"[^\x20-\x7e]")


def escape(text: object) -> str:
    """Return a text as one line that is safe to print; control characters are written as by `cat -v`.

    >>> print(escape("Ada\\x1b[2K\\rBert\\nAll of it holds."))
    Ada^[[2K^MBert^JAll of it holds.
    >>> print(escape("\\u9648 \\u202e \\x9b"))
    陈 \\u202e \\u009b
    """
    line = str(text)
    return line if line.isprintable() else "".join(map(_escape_character, line))


def _escape_character(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    code = ord(character)
    return _CONTROL.get(code) or (f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def json_to_print(value: object, indent: int | None = None) -> str:
    """Return a value as JSON that is safe to print: control characters in it are escaped.

    >>> json_to_print({"by": "陈\\x9b\\x7f"}) == '{"by": "陈\\\\u009b\\\\u007f"}'
    True
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return text if text.isascii() and "\x7f" not in text else _NOT_ASCII.sub(_escape_in_json, text)


def _escape_in_json(found: re.Match[str]) -> str:
    character = found.group()
    if character == "\n" or character.isprintable():  # in JSON, line ends occur only between values
        return character
    return "".join(
        f"\\u{unit:04x}" for unit in memoryview(character.encode("utf-16-le", "surrogatepass")).cast("H")
    )


def say(line: object = "", *, err: bool = False) -> None:
    """Print one line, escaped."""
    stream = sys.stderr if err else sys.stdout
    stream.write(f"{escape(line)}\n")
    stream.flush()


def say_all(text: str) -> None:
    """Print a text of several lines. Quoted values in it must be escaped already or have no line ends."""
    for line in text.removesuffix("\n").split("\n"):
        say(line)


def say_json(value: object, *, indent: int | None = None) -> None:
    """Print a value as JSON."""
    sys.stdout.write(f"{json_to_print(value, indent)}\n")
    sys.stdout.flush()
