"""The commands that the book, the README and the folders' READMEs name: found, and parsed as the commands would."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from docs.facts import ROOT
from firmware.cli.main import main

PAGES: Final = sorted(
    path
    for path in (
        *(set(ROOT.glob("*.md")) - {ROOT / "CHANGELOG.md"}),  # history: it names what is gone
        *ROOT.glob("*/**/README.md"),
        *(ROOT / "docs").rglob("*.md"),
    )
    if not any(
        part.startswith((".", "build")) or part in ("cache", "dist", "node_modules")
        for part in path.relative_to(ROOT).parts
    )
)
_CODE: Final = re.compile(r"^ *```[^\n`]*\n(.*?)^ *```|`([^`\n]+)`|^ {4}(.+)$", re.MULTILINE | re.DOTALL)
_NAMES: Final = re.compile(r"[A-Z][A-Z_-]*|[PN]|…|.*…")
"""What stands for something to be filled in: FOLDER, NAME."""


@dataclass(frozen=True)
class Line:
    """A command as a page names it."""

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {' '.join(self.words)}"


def lines(tool: str) -> list[Line]:
    """Return every line of code that begins with `feltwatch` or `make`, also behind sudo."""
    found: dict[Line, None] = {}
    for page in PAGES:
        for block in _CODE.finditer(page.read_text(encoding="utf-8")):
            for code in re.split(r"\n|&&", next((group for group in block.groups() if group), "")):
                words = _words(code) if tool in code else ()
                if words[:1] == (tool,) and len(words) > 1:
                    found[Line(page.relative_to(ROOT).as_posix(), words)] = None
    return list(found)


def _words(code: str) -> tuple[str, ...]:
    code = re.sub(r"^\s*(sudo (-u [\w-]+ )?)?", "", code)
    try:
        words = shlex.split(code, comments=True)
    except ValueError:
        return ()
    ends = [number for number, word in enumerate(words) if word in (">", "<", "|", ";")]
    return tuple(words[: ends[0]] if ends else words)


def parsed(words: tuple[str, ...]) -> list[str]:
    """Return what a command would not take; nothing where it would.

    Options and their number of values, names of commands, choices and numbers are judged; whether a file exists is not.
    """
    command: click.Command = main
    context = click.Context(main, info_name="feltwatch")
    rest = list(words[1:])
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        if _NAMES.fullmatch(rest[0]) or rest[0] == "COMMAND":
            return []
        name = rest.pop(0)
        inner = command.get_command(context, name)
        if inner is None:
            return [f"there is no command {name}"]
        command, context = inner, click.Context(inner, info_name=name, parent=context)
    if {"--help", "-h", "--version"} & set(rest):
        return []
    if isinstance(command, click.Group):
        return [] if not rest else [f"{rest[0]} is no option of a group"]
    try:
        values, extra, _ = command.make_parser(context).parse_args(list(rest))
    except click.UsageError as error:
        return [error.format_message()]
    if extra:
        return [f"{extra[0]} is one word too many"]
    return [
        wrong for param in command.params if (wrong := _refused(context, param, values.get(param.name or "")))
    ]


def _refused(context: click.Context, param: click.Parameter, value: object) -> str:
    for given in value if isinstance(value, list | tuple) else [value]:
        if (
            not isinstance(given, str)
            or _NAMES.fullmatch(given)
            or isinstance(param.type, click.Path | click.File)
        ):
            continue
        try:
            param.type.convert(given, param, context)
        except click.BadParameter as error:
            return error.format_message()
    return ""


def module_of(words: tuple[str, ...]) -> Path:
    """Return where the module of a line `python -m MODULE` stands in the repository."""
    path = ROOT / Path(*words[2].split("."))
    return path / "__main__.py" if path.is_dir() else path.with_suffix(".py")
