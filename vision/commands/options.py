"""What several commands of the card reader share."""

from __future__ import annotations

import click

THREADS = click.option(
    "--threads",
    default=2,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Processor threads to read with.",
)


def one_line(text: str) -> str:
    """Return a text that may hold a file's name as one line that no terminal obeys.

    >>> one_line("felt.jpg"), one_line("felt\\n\\x1b[2K.jpg")
    ('felt.jpg', "'felt\\\\n\\\\x1b[2K.jpg'")
    """
    return text if text.isprintable() else repr(text)
