"""From nothing to a model with its report: `python -m models.training all --data DATA --crops N`.

The half-trained network labels crops of the real photographs a few times on the way, better each time. A run that
was stopped goes on from its checkpoint when the same command is given again.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import click

from models.training import art, calibrate, pips, unseen
from models.training.export import export
from models.training.glyphs import FontsError, rank_fonts
from models.training.options import output, training
from models.training.pseudo import BOXED, label_photographs
from models.training.report import DOCS, write_report
from models.training.samples import PACKAGE
from models.training.train import BATCH, Job, Trainer, run

CALIBRATION_TABLES = 10
"""Tables per deck and condition on which a model of the product is calibrated."""
PAUSES = (0.25, 0.5, 0.75)
"""Shares of the training after which the photographs are labelled again."""


@click.command()
@training
@output("the exported model and its report")
@click.option("--tables", default=2, show_default=True, help="Tables per deck and condition in the report.")
def command(
    data: Path | None, crops: int, seed: int, makers: int, folder: Path, out: Path, tables: int
) -> None:
    """Make the data, train, export, calibrate and report."""
    decks = fetch_decks()
    try:
        rank_fonts()
    except FontsError as error:
        raise click.ClickException(str(error)) from error
    checkpoint = train(Job(folder, data, crops, seed, makers))
    click.echo(f"Trained: {checkpoint}")
    model = export(checkpoint, out)
    click.echo(f"Exported: {model}, {pips.train(data, pips.CARDS_SHOWN, pips.SEED, out)}")
    if not decks:
        click.echo("Neither calibrated nor judged: there are no decks that were not trained on.", err=True)
        return
    try:
        calibrate.calibrate(model, CALIBRATION_TABLES, 77)
    except calibrate.CalibrationError as error:
        raise click.ClickException(str(error)) from error
    docs = DOCS if out == PACKAGE else out
    click.echo(f"Report: {write_report(model, data, tables, docs=docs)}")


def fetch_decks() -> bool:
    """Fetch what is not there yet: art to train on, decks to judge by; return whether there are any of these."""
    if not list(art.CACHE.glob("art/*/As.png")):
        try:
            click.echo("Fetching card art …")
            art.fetch()
        except (art.ArtError, OSError, subprocess.SubprocessError) as error:
            click.echo(f"Training goes on without card art: {error}", err=True)
    if not unseen.missing():
        return True
    try:
        click.echo("Fetching decks to judge by …")
        unseen.fetch()
    except (art.ArtError, OSError, subprocess.SubprocessError) as error:
        click.echo(f"There are no decks to judge by: {error}", err=True)
    return not unseen.missing()


def train(job: Job) -> Path:
    """Train, labelling the real photographs again at each of the pauses."""
    if job.data is None or not (job.data / BOXED / "boxes.csv").exists():
        return run(job)
    for share in PAUSES:
        until = int(share * job.crops)
        if Trainer(job).done >= until + BATCH:  # passed in an earlier run
            continue
        checkpoint = run(replace(job, until=until))
        click.echo(label_photographs(job.data, export(checkpoint, job.folder), job.folder))
    return run(job)
