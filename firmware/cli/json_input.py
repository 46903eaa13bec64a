"""JSON inputs from a stream: one object (also over several lines), an array, or JSON lines.

Each input gets one answer as soon as it is complete. An invalid input is reported in its place, and reading continues
after it: its end is found by its brackets, or by the line where the next input begins.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, NoReturn

DEEPEST = 100
"""Maximum depth of nested brackets; a hand has four."""
MAX_DIGITS = 4_300
"""Maximum digits of a number: Python reads no more."""
LONGEST_LINE = 1 << 24
"""Maximum bytes of a line that are kept."""
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Input:
    """One value of the stream, or its error."""

    line: int
    """The number of its first line, from 1."""
    value: object = None
    error: str = ""


def json_inputs(stream: BinaryIO, before_reading: Callable[[], object] = lambda: None) -> Iterator[Input]:
    """Yield every input of a stream, in order; `before_reading` is called before each read, which may block."""
    lines = _Lines(stream, before_reading)
    may_be_array = True  # at the start, and after an array
    while (line := lines.next()) is not None:
        if may_be_array and not line.error and _ARRAY.match(line.text):
            yield from _array(lines, line)
        else:
            yield _value(lines, line)
            may_be_array = False


# ---- lines ----


class _Line(NamedTuple):
    number: int
    text: str
    error: str = ""
    """The error if it is not text."""

    @property
    def goes_on(self) -> bool:
        """Whether the line may continue an object: it begins with a blank, a key or a closing bracket."""
        return self.text[0] in ' \t"}]'


class _Lines:
    """The lines of a stream that are not blank."""

    def __init__(self, stream: BinaryIO, before_reading: Callable[[], object]) -> None:
        self._lines = _split(stream, before_reading)
        self._back: list[_Line] = []
        self._number = 0

    def next(self) -> _Line | None:
        """Return the next line, or None at the end."""
        if self._back:
            return self._back.pop()
        for data in self._lines:
            self._number += 1
            error = ""
            if len(data) > LONGEST_LINE:
                return _Line(self._number, "?", f"this line has more than {LONGEST_LINE >> 20} MiB")
            try:
                text = data.decode()
            except UnicodeDecodeError as wrong:
                error = f"this is not UTF-8: byte 0x{data[wrong.start]:02x} at column {wrong.start + 1}"
                text = data.decode(errors="replace")
            if self._number == 1:
                text = text.removeprefix("\ufeff")
            if text.strip(" \t\r\n"):
                return _Line(self._number, text, error)
        return None

    def put_back(self, lines: list[_Line]) -> None:
        """Return these lines again, in their order."""
        self._back += reversed(lines)


def _split(stream: BinaryIO, before_reading: Callable[[], object]) -> Iterator[bytes]:
    """Yield lines without their ends as they arrive; of a line that is too long, only a (too long) beginning."""
    read = getattr(stream, "read1", stream.read)
    parts: list[bytes] = []
    size = 0
    while True:
        before_reading()
        data = read(_CHUNK)
        if not data:
            break
        *whole, rest = data.split(b"\n")
        for line in whole:
            yield b"".join((*parts, line))
            parts, size = [], 0
        if rest and size <= LONGEST_LINE:
            parts.append(rest)
            size += len(rest)
    if parts:
        yield b"".join(parts)


# ---- parsing a value ----


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; json would silently keep the last of two values."""
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'the key "{twice}" is there twice')
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
_SPACE = re.compile(r"[ \t\r\n]*")


def _parse(text: str, number: int) -> Input:
    """Parse a text that begins on this line; return its value or its error."""
    start = _end_of(_SPACE, text, 0)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        line = number + text.count("\n", 0, error.pos)
        column = error.pos - (text.rfind("\n", 0, error.pos) + 1) + 1
        return Input(number, error=f"this is not JSON: {error.msg} at line {line}, column {column}")
    except RecursionError:
        return Input(number, error=_TOO_DEEP)
    except ValueError as error:
        digits = f"a number has more than {MAX_DIGITS:,} digits"
        return Input(number, error=f"this is not JSON: {digits if 'digits' in str(error) else error}")
    if _end_of(_SPACE, text, end) < len(text):
        return Input(number, error=_MORE)
    return Input(number, value)


_TOO_DEEP = f"its brackets lie more than {DEEPEST} deep in each other"
_MORE = "there is more on this line after the object; put each hand on a line of its own"


def _end_of(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


# ---- the end of a value ----

_TOKEN = re.compile(
    r"""[ \t\r]*(?:(?P<opens>[{\[])|(?P<closes>[}\]])|(?P<comma>,)|(?P<colon>:)"""
    r"""|(?P<string>"(?:[^"\\]|\\.)*")|(?P<word>[^\s{}\[\],:"]+)|(?P<unclosed>"))"""
)
_PAIRS = {"}": "{", "]": "["}


class _Extent:
    """Follows a value line by line to its end, even if it is invalid."""

    def __init__(self) -> None:
        self._broken = False
        self.deepest = 0
        self._open: list[str] = []
        self._wants = "value"

    def is_broken(self) -> bool:
        """Return whether the brackets, commas and colons so far are invalid: then the end is uncertain."""
        return self._broken

    def feed(self, text: str, position: int = 0) -> int | None:
        """Process a line. Return where the value ends in it; None if it continues."""
        while match := _TOKEN.match(text, position):
            position = match.end()
            kind = match.lastgroup
            if kind == "closes":
                self._close(match.group(kind))
            else:
                self._take(kind or "", match.group(kind or 0))
            if not self._open:
                return position
        return None

    def _take(self, kind: str, token: str) -> None:
        wants = self._wants
        if kind == "opens":
            self._need(wants in ("value", "value or end"))
            self._open.append(token)
            self.deepest = max(self.deepest, len(self._open))
            self._wants = "key or end" if token == "{" else "value or end"
        elif kind == "comma":
            self._need(wants == "comma")
            self._wants = "key" if self._open and self._open[-1] == "{" else "value"
        elif kind == "colon":
            self._need(wants == "colon")
            self._wants = "value"
        elif kind == "string" and wants in ("key", "key or end"):
            self._wants = "colon"
        else:
            self._need(kind != "unclosed" and wants in ("value", "value or end"))
            self._wants = "comma"

    def _close(self, bracket: str) -> None:
        opener = _PAIRS[bracket]
        self._need(
            bool(self._open) and self._open[-1] == opener and self._wants not in ("key", "colon", "value")
        )
        if opener in self._open:
            while self._open.pop() != opener:
                pass
        self._wants = "comma"

    def _need(self, sound: bool) -> None:
        if not sound:
            self._broken = True


# ---- JSON lines, and objects over several lines ----


def _value(lines: _Lines, line: _Line) -> Input:
    """Return the value that begins on a line; later lines are taken only if they belong to it."""
    found = _parse(line.text, line.number)
    if line.error:
        found = Input(line.number, error=line.error)
    elif not found.error:
        return found
    extent = _Extent()
    if extent.feed(line.text) is not None or extent.is_broken():
        return _limit(found, extent)
    is_indented = len(line.text.strip()) == 1  # only the opening bracket, as in indented JSON
    taken = [line]
    while (more := lines.next()) is not None:
        if not more.goes_on and (extent.is_broken() or not is_indented):
            lines.put_back([more])
            break
        end = extent.feed(more.text)
        if not more.goes_on and extent.is_broken():
            lines.put_back([more])
            break
        taken.append(more)
        if end is not None and not (extent.is_broken() and not is_indented):
            return _limit(_join(taken), extent)
        if (extent.is_broken() or extent.deepest > DEEPEST) and not is_indented:
            break  # a value without end is not followed through all lines, for each of them
    if not is_indented:  # the lines that seemed to continue it do not belong to it
        lines.put_back(taken[1:])
        taken = taken[:1]
    return _limit(_join(taken), extent)


def _join(lines: list[_Line]) -> Input:
    """Return the value of several lines."""
    for line in lines:
        if line.error:
            return Input(lines[0].number, error=f"line {line.number}: {line.error}")
    return _parse("\n".join(line.text for line in lines), lines[0].number)


def _limit(found: Input, extent: _Extent) -> Input:
    return Input(found.line, error=_TOO_DEEP) if extent.deepest > DEEPEST else found


# ---- an array ----

_ARRAY = re.compile(r"[ \t\r]*\[[ \t\r]*($|[{\[\]])")
"""A line that begins an array of hands; any other bracket belongs to an invalid object."""
_NO_COMMA = "this is not JSON: the array goes on without a comma, or never ends"
_NEVER_ENDS = "this is not JSON: the array never ends"


@dataclass
class _Cursor:
    """A position in the lines."""

    lines: _Lines
    line: _Line
    position: int

    def peek(self) -> str:
        """Return the next character that is not blank, also on later lines; "" at the end."""
        while True:
            self.position = _end_of(_SPACE, self.line.text, self.position)
            if self.position < len(self.line.text):
                return self.line.text[self.position]
            following = self.lines.next()
            if following is None:
                return ""
            self.line, self.position = following, 0


def _array(lines: _Lines, line: _Line) -> Iterator[Input]:
    """Yield the elements of an array that begins on a line."""
    at = _Cursor(lines, line, line.text.index("[") + 1)
    is_due = False  # an element must follow a comma
    while (character := at.peek()) != "]":
        if not character:
            yield Input(at.line.number, error=_NEVER_ENDS)
            return
        found = _element(at)
        yield found
        character = at.peek()
        if not character:
            return
        is_due = character == ","
        at.position += is_due
        if found.error == _NO_COMMA and character == "{" and not at.position:
            lines.put_back([at.line])  # the array never ended; hands follow line by line
            return
    if is_due:
        yield Input(at.line.number, error="this is not JSON: an element is missing after the last comma")
    if at.line.text[at.position + 1 :].strip():
        yield Input(at.line.number, error="there is more after the array")


def _element(at: _Cursor) -> Input:
    """Return the element at the cursor and move to the comma, bracket or element after it."""
    number, column = at.line.number, at.position
    parts: list[str] = []
    alike: list[_Line] = []  # lines from the first one that begins like this element
    extent, error = _Extent(), ""
    while True:
        error = error or at.line.error
        end = extent.feed(at.line.text, at.position)
        parts.append(at.line.text[at.position : end])
        if end is not None:
            at.position = end
            break
        following = at.lines.next()
        if following is None or (alike and extent.deepest > DEEPEST):
            if following is not None:
                at.lines.put_back([following])
            at.position = len(at.line.text)
            if alike:  # brackets are missing
                at.lines.put_back(alike[1:])
                at.line, at.position = alike[0], 0
            return Input(number, error=_NEVER_ENDS)
        begins_alike = following.text[column : column + 1] == "{" and not following.text[:column].strip()
        at.line, at.position = following, 0
        if extent.is_broken() and begins_alike:  # brackets are missing: the next element begins like this one
            return _parse(" " * column + "\n".join(parts), number)
        if alike or begins_alike:
            alike.append(following)
    found = Input(number, error=error) if error else _parse(" " * column + "\n".join(parts), number)
    last = at.line
    if at.peek() in (",", "]"):
        return _limit(found, extent)
    while at.line is last and at.peek() not in (",", "]", "") and at.line is last:
        end = _Extent().feed(at.line.text, at.position)
        at.position = len(at.line.text) if end is None else end
    return Input(number, error=_NO_COMMA)
