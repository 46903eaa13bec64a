"""`feltwatch bench`: the figures, measured on this machine. Each part is measured by the folder that owns it."""

from __future__ import annotations

import click

from firmware.app.main import LazyGroup


@click.group(cls=LazyGroup, entry_group="feltwatch.bench")
def command() -> None:
    """Measure the product on this machine."""
