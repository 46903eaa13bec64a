"""Options that several commands of the card reader have."""

from __future__ import annotations

import click

THREADS = click.option(
    "--threads",
    default=2,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Processor threads to read with.",
)
