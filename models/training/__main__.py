"""`python -m models.training`: the card reader's training, in one command (`all`) or step by step."""

import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import click

from models.training.samples import DOCS, PACKAGE, RUN, TrainingError
from vision.base.errors import VisionError
from vision.cli.options import PhotographsFolder
from vision.reading.network import default_model

Option = Callable[[click.Command], click.Command]

_FOLDER = click.Path(path_type=Path, file_okay=False)
_ONNX = click.Path(path_type=Path, dir_okay=False, exists=True)


class Steps(click.Group):
    """Shows what a step returns, and its errors in a sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order in which `all` takes them

    def invoke(self, ctx: click.Context) -> None:
        try:
            click.echo(super().invoke(ctx))
        except ModuleNotFoundError as error:
            raise click.ClickException(
                f"This step needs {error.name}: run it with `make training`, or install '.[training]'."
            ) from error
        except (TrainingError, VisionError, OSError, subprocess.SubprocessError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Steps, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Makes the card reader's model: data, training, export, calibration, report."""


def step(name: str, target: str, words: str, *options: Option) -> None:
    """Add a command that calls a function of a module, which is imported only then: the help needs no torch."""
    module, function = target.split(":")

    def run(**given: object) -> object:
        return getattr(import_module(f"models.training.{module}"), function)(**given)

    command = click.command(name, help=words)(run)
    for option in reversed(options):
        command = option(command)
    main.add_command(command)


def number(name: str, default: int, words: str = "") -> Option:
    """Return an option that takes a whole number."""
    return click.option(f"--{name}", type=click.IntRange(0), default=default, show_default=True, help=words)


def tables(default: int) -> Option:
    """Return the option of how many tables."""
    return number("tables", default, "Tables per deck and condition.")


def photographs(*, required: bool = False) -> Option:
    """Return the option of the photographs' folder."""
    words = "Folder of labelled photographs, such as ../shared/data."
    return click.option("--data", type=PhotographsFolder(), required=required, help=words)


def folder(name: str, default: Path, words: str) -> Option:
    """Return an option that takes a folder."""
    return click.option(f"--{name}", type=_FOLDER, default=default, help=words)


def everything(data: Path | None, crops: int, seed: int, run: Path, out: Path, tables: int) -> str:
    """Make the data, train, export, calibrate and report; stopped, it goes on where it was."""
    from models.training import art, calibrate, pips, report, signs, unseen
    from models.training.export import export
    from models.training.glyphs import rank_fonts
    from models.training.train import train

    rank_fonts()  # says at once what is missing
    for decks in (art, unseen):
        try:
            if not decks.is_there():
                decks.fetch()
        except (TrainingError, OSError, subprocess.SubprocessError) as error:
            click.echo(f"Training goes on without these decks: {error}", err=True)
    train(data, crops, seed, run)
    model = export(run, out)
    click.echo(f"Exported: {model}, {pips.train(data, pips.CARDS_SHOWN, pips.SEED, out)}")
    click.echo(f"Exported: {signs.train(data, signs.CUTS, signs.SEED, out)}")
    if not unseen.is_there():
        return "Neither calibrated nor judged: there are no decks that were not trained on."
    click.echo(calibrate.calibrate(model, calibrate.TABLES, 77))
    return f"Report: {report.write_report(model, data, tables, 0, DOCS if out == PACKAGE else out)}"


_MODEL = click.option(
    "--model", type=_ONNX, default=default_model, help="ONNX model; by default the packaged one."
)
_RUN = folder("run", RUN, "Folder of the checkpoint; training goes on from the one there.")
_OUT = folder("out", PACKAGE, "Folder for the model; by default that of the product is replaced.")
_SEED = number("seed", 0)
_LEARN = (photographs(), number("crops", 1_000_000, "Crops to show in all."), number("seed", 1), _RUN)
_DECK = click.option("--deck", "decks", multiple=True, metavar="NAME", help="Only this deck (again: more).")
_CALIBRATING = click.option(
    "--calibrating", is_flag=True, help="Of the decks that calibrate, not of those that judge."
)
_CUTS = number("cuts", 140_000, "Cuts of signs to make.")
_CARDS, _REPORT = number("cards", 300_000, "Cards to show."), folder("out", DOCS, "Folder for the report.")
_WRITE, _REAL = "Measure and write everything.", "Read tables of real cards cut out of photographs."
_SOFTEN = "Read softened tables; end with 1 where a card was surely wrong."
for each in (
    ("all", "__main__:everything", "Everything below, one after the other.", *_LEARN, _OUT, tables(2)),
    ("art", "art:fetch", "Fetch free card art to train on (npm, rsvg-convert)."),
    ("unseen", "unseen:fetch", "Fetch decks to judge by, never trained on (npm, rsvg-convert, apt-get)."),
    ("train", "train:train", "Train the network.", *_LEARN),
    ("export", "export:export", "Write the trained network as ONNX with its manifest.", _RUN, _OUT),
    ("pips", "pips:train", "Train the pip reader.", photographs(), _CARDS, number("seed", 5), _OUT),
    ("signs", "signs:train", "Train the suit witness.", photographs(), _CUTS, number("seed", 3), _OUT),
    ("calibrate", "calibrate:calibrate", "Set the limits.", _MODEL, tables(10), number("seed", 77)),
    ("errors", "measure:write_errors", "Count how the reader errs.", _MODEL, tables(4), number("seed", 5)),
    ("report", "report:write_report", _WRITE, _MODEL, photographs(), tables(2), _SEED, _REPORT),
    ("softened", "report:read_softened", _SOFTEN, _MODEL, tables(1), _SEED, _CALIBRATING),
    ("real", "report:real", _REAL, _MODEL, photographs(required=True), tables(6), _SEED, _DECK),
):
    step(*each)


if __name__ == "__main__":
    main(prog_name="python -m models.training")
