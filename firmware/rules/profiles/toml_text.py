"""Parse a profile's TOML text: its tables, the line of each key, and an error message for text that is not TOML."""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from firmware.messages import Message
from firmware.rules.errors import ProfileError

LONGEST_TEXT: Final = 60_000
"""Maximum length of a profile's text in characters; a packaged profile in full has 8,000 to 10,000."""
_MAX_DOTS: Final = 20
_QUOTED: Final = re.compile(r'"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'')


@lru_cache(maxsize=32)
def tables_of(text: str) -> Mapping[str, Any]:
    """Return the tables of a TOML text, cached because callers parse the same text often. Raises ProfileError.

    A key with thousands of parts is refused first: tomllib takes minutes to parse it.
    """
    if len(text) > LONGEST_TEXT:
        raise ProfileError(
            Message(
                "this is too long for a profile: %(letters)s letters, allowed are %(most)s",
                letters=len(text),
                most=LONGEST_TEXT,
            )
        )
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MAX_DOTS and _QUOTED.sub("", line).partition("#")[0].count(".") > _MAX_DOTS:
            raise ProfileError(Message("a key has more than %(most)s parts", most=_MAX_DOTS), line=number)
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(str(error), text) from error
    except RecursionError:
        raise ProfileError(Message("this is no profile: its tables lie in each other without end")) from None
    except ValueError:  # Python refuses very long numbers, because reading them takes too long
        raise ProfileError(Message("a number in it has thousands of digits")) from None


_MESSAGES: Final = (
    ("overwrite|twice|[Dd]uplicate|immutable", Message("this name stands in the file twice")),
    (
        r"Unterminated string|Illegal character '\\n'|Expected \"'\"",
        Message("a text has no closing quotation mark"),
    ),
    ("Unclosed", Message("a bracket is not closed")),
    (
        "Invalid value|Expected newline or end of document after a statement",
        Message(
            "a value is a number, true, false, or a text in straight quotation marks, and a line has one"
        ),
    ),
    ("Illegal|invalid character|scalar", Message("here is a character that no text may hold")),
)
"""Patterns of tomllib's error messages, each with the message for the page."""
_ANY_OTHER_ERROR: Final = Message('a line is a name, the sign = and a value, as in name = "ours"')
_AT: Final = r"\(at line (\d+), column (\d+)\)"


def _not_toml(error: str, text: str) -> ProfileError:
    """Translate tomllib's error message for the page."""
    why = next((message for pattern, message in _MESSAGES if re.search(pattern, error)), _ANY_OTHER_ERROR)
    at = re.search(_AT, error)
    if at is None:
        return ProfileError(Message("this is not TOML: %(why)s", why=why), line=text.rstrip().count("\n") + 1)
    return ProfileError(
        Message("this is not TOML, from character %(column)s on: %(why)s", column=int(at[2]), why=why),
        line=int(at[1]),
    )


_TOKEN: Final = (
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*"
    r"|[\[\]{}=\n]"
    r"|[^\"'#\[\]{}=\n]+"
    r"|."
)
_PART: Final = r'"((?:\\.|[^"\\])*)"|\'([^\']*)\'|([\w-]+)'


class KeyLines:
    """The line number of each key in a valid TOML text.

    >>> KeyLines('[foul]\\npoints = 3\\n[bonus.front]\\n"QQ" = 7')["bonus.front"]
    3
    """

    def __init__(self, text: str) -> None:
        self._lines: dict[str, int] = {}
        table = ""
        line, key, depth = 1, "", 0
        path, entry = "", 0
        is_value = False
        for token in map(re.Match.group, re.finditer(_TOKEN, text.removeprefix("\ufeff") + "\n", re.DOTALL)):
            if token == "\n" and not depth:
                if key.startswith("["):
                    table = self._note("", key, line)
                key, is_value = "", False
            elif is_value:
                if token == "{" and depth == 1:  # an entry of a list
                    self._lines[f"{path}.{entry}"] = line
                    entry += 1
                depth += (token in "[{") - (token in "]}")
            elif token == "=":
                path, entry = self._note(table, key, line), 0
                is_value = True
            elif not token.startswith("#"):
                key = (key + token).lstrip()
            line += token.count("\n")

    def _note(self, table: str, key: str, line: int) -> str:
        path = table
        for part in (next(filter(None, found), "") for found in re.findall(_PART, key)):
            path = f"{path}.{part}" if path else part
            self._lines.setdefault(path, line)
        return path

    def __getitem__(self, path: str) -> int:
        """Return the line of a key; of the nearest table around it if the key is missing; else 0."""
        while path:
            if path in self._lines:
                return self._lines[path]
            path = path.rpartition(".")[0]
        return 0
