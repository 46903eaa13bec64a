"""The `feltwatch` command: a group whose subcommands are imported only when they run."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points, version

import click

GROUP = "feltwatch.commands"


def _commands() -> dict[str, EntryPoint]:
    """Return the registered commands by name; each folder that owns one registers it in pyproject.toml."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


class LazyGroup(click.Group):
    """A click group that knows its commands' names from the package's entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every command's name, sorted."""
        return sorted(_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, or None if there is no such command."""
        entry = _commands().get(cmd_name)
        if entry is None:
            return None
        command = entry.load()
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("feltwatch"), prog_name="feltwatch")
def main() -> None:
    """Reads the cards on a Chinese Poker table, settles the hand and keeps the record."""
