"""`feltwatch bench`: benchmarks on this machine. Each part is implemented in the folder that it measures."""

import click

from firmware.cli.main import LazyGroup


@click.group(cls=LazyGroup, entry_group="feltwatch.bench", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Measure the product on this machine: one part, or all of them."""
    group = context.command
    if context.invoked_subcommand is None and isinstance(group, LazyGroup):
        for name in group.list_commands(context):
            part = group.get_command(context, name)
            if part is not None:
                click.secho(f"== {name}", bold=True)
                with part.make_context(name, [], parent=context) as inner:
                    part.invoke(inner)
