"""`python -m models.training`: the card reader's training, in one command (`all`) or step by step."""

from __future__ import annotations

import importlib

import click

STEPS = {  # in the order in which `all` takes them: module and what it does
    "all": ("pipeline", "Everything below, one after the other; stopped, it goes on where it was."),
    "art": ("art", "Fetch free card art to train on (npm, rsvg-convert)."),
    "unseen": ("unseen", "Fetch decks to judge by, never trained on (npm, rsvg-convert, apt-get)."),
    "train": ("train", "Train the network."),
    "pseudo": (
        "pseudo",
        "Cut labelled crops from the real training photographs with the half-trained network.",
    ),
    "export": ("export", "Write the trained network as ONNX with its manifest."),
    "calibrate": ("calibrate", "Say what a margin is worth, into the manifest."),
    "errors": ("errors", "Count how the reader errs, for the simulation of whole evenings."),
    "report": ("report", "Measure everything and write the report."),
    "softened": ("softened", "Read tables softened until a person hesitates."),
    "pips": ("pips", "Train the pip reader, which looks at whole cards."),
    "real": ("real", "Read tables of real cards cut out of photographs."),
    "quantise": ("quantise", "Make an int8 model of the exported one and hold it against it."),
}


class Steps(click.Group):
    """Imports a step only when it is wanted, so that the help needs no torch."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(STEPS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in STEPS:
            return None
        try:
            module = importlib.import_module(f"models.training.{STEPS[cmd_name][0]}")
        except ModuleNotFoundError as error:
            raise click.ClickException(
                f"This step needs {error.name}: run it with `make training`, or install '.[training]'."
            ) from error
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Steps"):
            formatter.write_dl([(name, words) for name, (_, words) in STEPS.items()])


@click.group(cls=Steps, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Makes the card reader's model: data, training, export, calibration, report."""


if __name__ == "__main__":
    main(prog_name="python -m models.training")
