"""What `--help` says: every command and every option of it is explained."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points

import click
import pytest

COMMANDS = {entry.name: entry for entry in entry_points(group="feltwatch.commands")}


def below(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from below(child, f"{path} {name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_says_what_it_is_for(name: str) -> None:
    for path, command in below(COMMANDS[name].load(), name):
        assert command.help, path
        unsaid = [one.opts[0] for one in command.params if isinstance(one, click.Option) and not one.help]
        assert unsaid == [], f"feltwatch {path}"
