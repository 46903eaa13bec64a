"""What `--help` says: every command and every option of it is explained."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import click

COMMANDS = {
    entry.name: entry
    for group in ("feltwatch.commands", "feltwatch.bench")
    for entry in entry_points(group=group)
}
HARD = re.compile(
    r"\b(anew|afresh|beside|whoever|in the place of|in the rule's place|vouched|is told|he|his)\b"
)
"""Words that a newcomer has to read twice, and words that tell a person's sex."""
MAKEFILE = Path(__file__).parents[3] / "Makefile"


def below(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from below(child, f"{path} {name}")


def everything() -> Iterator[tuple[str, click.Command]]:
    for name, entry in COMMANDS.items():
        yield from below(entry.load(), name)


def test_every_command_and_every_option_says_what_it_is_for() -> None:
    for path, command in everything():
        assert command.help, path
        unsaid = [one.opts[0] for one in command.params if isinstance(one, click.Option) and not one.help]
        assert unsaid == [], f"feltwatch {path}"


def test_help_is_in_plain_words() -> None:
    for path, command in everything():
        options = (one.help or "" for one in command.params if isinstance(one, click.Option))
        for text in (command.help or "", *options):
            assert not HARD.search(text), f"feltwatch {path}: {text}"


def test_help_shows_each_example_on_a_line_of_its_own() -> None:
    for path, command in everything():
        for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
            lines = paragraph.splitlines()
            flows = len(lines) > 1 and not lines[0].startswith("\b")  # click fills such a paragraph
            assert not (flows and any(line.startswith("  ") for line in lines)), f"feltwatch {path}"


def test_make_help_names_every_target_and_says_what_it_does() -> None:
    text = MAKEFILE.read_text(encoding="utf-8")
    named = re.search(r"^\.PHONY: help (.+)$", text, re.MULTILINE)
    assert named is not None
    said = dict(re.findall(r'^\t@echo "make ([\w-]+) +(.+)"$', text, re.MULTILINE))
    assert set(said) == set(named[1].split())
    assert [line for line in said.values() if not re.match(r"[a-z]+s[ ,]", line)] == []
