"""Options that several steps of the training have."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from models.training.samples import PACKAGE, RUN
from vision.commands.options import PhotographsFolder

_Command = TypeVar("_Command", bound=Callable[..., None])

MODEL = click.option(
    "--model",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="ONNX model; without it the packaged one.",
)
CHECKPOINT = click.option(
    "--run",
    "folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=RUN,
    help="Folder of the checkpoint.",
)


def output(what: str) -> Callable[[_Command], _Command]:
    """Return the option of the folder that a step writes into; by default the product's own."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        default=PACKAGE,
        help=f"Folder of {what}; by default that of the product is replaced.",
    )


def default_makers() -> int:
    """Return how many scene processes leave a core for the training itself."""
    return max(1, (os.cpu_count() or 2) - 1)


def training(command: _Command) -> _Command:
    """Give a command what a training is told: `data`, `crops`, `seed`, `makers`, `folder`."""
    for option in (
        click.option(
            "--run",
            "folder",
            type=click.Path(path_type=Path, file_okay=False),
            default=RUN,
            help="Folder of the checkpoint; training goes on from the one found there.",
        ),
        click.option("--makers", default=default_makers(), show_default=True, help="Scene processes."),
        click.option("--seed", default=1, show_default=True),
        click.option("--crops", default=1_000_000, show_default=True, help="Crops to show in all."),
        click.option(
            "--data",
            type=PhotographsFolder(),
            help="Folder of labelled photographs, such as ../shared/data; without it only drawn cards are trained on.",
        ),
    ):
        command = option(command)
    return command
