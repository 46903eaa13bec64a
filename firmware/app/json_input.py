"""JSON inputs from one text: one object (also over several lines), an array, or JSON lines.

One answer is owed for each input, so a broken one is reported in its place and the rest goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True, slots=True)
class Input:
    """One value of the text, or what is wrong with it."""

    line: int
    """Where it begins, from 1."""
    value: object = None
    error: str = ""


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; json would keep the last of two values and say nothing."""
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'the key "{twice}" is there twice')
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
_SPACE = re.compile(r"[ \t\r\n]*")
_BLANKS = re.compile(r"[ \t\r]*")
_LINE_END = re.compile(r"$", re.MULTILINE)
# A line that does not go on with an object: one that begins with neither a blank, a key nor a closing bracket.
_INPUT = re.compile(r"""(?<=\n)[^\s"}\]]""")


def json_inputs(text: str) -> Iterator[Input]:
    """Yield every input of the text, in order."""
    text = text.removeprefix("\ufeff")
    cursor = _Cursor(text)
    cursor.skip()
    if cursor.at("["):
        cursor.position += 1
        yield from _array(cursor)
    else:
        yield from _values(cursor)


class _Cursor:
    """A position in the text that knows its line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._line = 1
        self._counted = 0

    def at(self, character: str) -> bool:
        return self.text.startswith(character, self.position)

    @property
    def ended(self) -> bool:
        return self.position >= len(self.text)

    @property
    def line(self) -> int:
        self._line += self.text.count("\n", self._counted, self.position)
        self._counted = self.position
        return self._line

    @property
    def column(self) -> int:
        return self.position - (self.text.rfind("\n", 0, self.position) + 1)

    def skip(self, pattern: re.Pattern[str] = _SPACE) -> None:
        """Go past what the pattern matches here."""
        if match := pattern.match(self.text, self.position):
            self.position = match.end()

    def seek(self, pattern: re.Pattern[str]) -> None:
        """Go to where the pattern next matches, or to the end."""
        match = pattern.search(self.text, self.position)
        self.position = match.start() if match else len(self.text)

    def read(self) -> Input:
        """Return the value here and go past it; where it is broken, go to where that shows."""
        line, start = self.line, self.position
        try:
            value, self.position = _DECODER.raw_decode(self.text, start)
        except json.JSONDecodeError as error:
            self.position = max(error.pos, start + 1)
            return Input(
                line, error=f"this is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
            )
        except (ValueError, RecursionError) as error:
            self.seek(_LINE_END)
            return Input(line, error=f"this is not JSON: {error}")
        return Input(line, value)


def _values(cursor: _Cursor) -> Iterator[Input]:
    """Yield values that stand one after another, each from the beginning of a line."""
    while not cursor.ended:
        found = cursor.read()
        cursor.skip(_BLANKS)
        if not found.error and not cursor.ended and not cursor.at("\n"):
            found = Input(
                found.line,
                error="there is more on this line after the object; put each hand on a line of its own",
            )
        if found.error:
            # The further lines of a broken object are no inputs of their own.
            cursor.seek(_INPUT)
        yield found
        cursor.skip()


def _array(cursor: _Cursor) -> Iterator[Input]:
    """Yield the elements of an array that the cursor has just entered."""
    while True:
        cursor.skip()
        if cursor.at("]"):
            cursor.position += 1
            break
        column = cursor.column
        found = cursor.read()
        cursor.skip()
        if not found.error and not cursor.at(",") and not cursor.at("]"):
            found = Input(
                found.line, error="this is not JSON: the array goes on without a comma, or never ends"
            )
        yield found
        if found.error:
            # The next element is the next line that begins where this one began.
            cursor.seek(re.compile(rf"(?<=\n)[ \t]{{{column}}}(?={{)"))
            if cursor.ended:
                return
            continue
        if cursor.at(","):
            cursor.position += 1
    cursor.skip()
    if not cursor.ended:
        yield Input(cursor.line, error="there is more after the array")
