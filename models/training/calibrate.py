"""Says what a margin is worth: `python -m models.training.calibrate`, after export; writes into the manifest.

Tables of decks that were never trained on, `VALIDATION`, are rendered and read under every condition of the grid;
the decks that judge the result are others. A logistic curve through (margin, right or wrong) gives the confidence;
the margin from which a card counts as sure is the least at which neither the curve nor what was seen exceeds the
budget of silent errors: the tightest of `BUDGETS` at which most cards are still sure.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from scipy.optimize import minimize

from models.training.judge import Tables, on_all_cores, read_tables
from models.training.unseen import FOLDER
from vision.evaluation import grid
from vision.reader import Calibration, Floats, default_model

VALIDATION = ("anglo", "bellot", "svg-cards", "tigullio")
"""Ordinary decks to calibrate on; others judge the result. A house with an odd deck enrols it."""

USEFUL = 0.95
"""Where fewer of the cards than this would be sure, dealers would be asked too often: the next budget is tried."""

BUDGETS = (1 / 20_000, 1 / 5_000, 1 / 1_000)
BUDGET = BUDGETS[0]
"""Silent errors allowed among the cards that are taken without asking."""


class CalibrationError(RuntimeError):
    """There is nothing to calibrate on."""


@dataclass(frozen=True)
class Samples:
    """Margins in nats and whether the card was named rightly; the mistakes in words, the surest first."""

    margins: Floats
    right: np.ndarray[tuple[int], np.dtype[np.bool_]]
    mistakes: tuple[str, ...] = ()


def collect(model: Path, tables: int, seed: int) -> Samples:
    """Read tables of the validation decks under all conditions; every card named is a sample.

    Pictures that the reader itself calls unfit are left out: nothing in them is ever taken without asking.

    Raises:
        CalibrationError: no card was named.
    """
    tasks = [Tables(model, FOLDER / name, c, tables, seed) for name in VALIDATION for c in grid()]
    found = on_all_cores(read_tables, tasks, "decks and conditions")
    named = [
        (card, f"{task.deck.name}, {task.condition.name}")
        for task, (plain, _) in zip(tasks, found, strict=True)
        for card in plain.cards
        if card.named and card.fit
    ]
    if not named:
        raise CalibrationError(f"{model.name} names no card on any table; train it longer")
    wrong = sorted((n for n in named if not n[0].right), key=lambda n: -n[0].margin)
    return Samples(
        np.array([card.margin for card, _ in named]),
        np.array([card.right for card, _ in named], bool),
        tuple(f"{c.margin:.2f} nats: {c.laid or 'no card'} as {c.named} ({where})" for c, where in wrong),
    )


def fit(samples: Samples) -> tuple[float, float]:
    """Return slope and offset of the logistic curve; a little prior keeps a clean sample from an endless slope."""
    x, y = np.minimum(samples.margins, 20.0), samples.right.astype(float)
    target = (y * (y.sum() + 1) + (1 - y)) / (np.where(y > 0, y.sum(), (1 - y).sum()) + 2)  # Platt's targets

    def cost(p: Floats) -> float:
        z = p[0] * x + p[1]
        return float((np.logaddexp(0, -z) * target + np.logaddexp(0, z) * (1 - target)).sum())

    slope, offset = minimize(cost, np.array([1.0, 0.0]), method="Nelder-Mead").x
    return float(slope), float(offset)


def threshold(samples: Samples, slope: float, offset: float, budget: float = BUDGET) -> float:
    """Return the least margin from which cards may be taken without asking.

    Both the curve and what was seen must stay within the budget for the cards from that margin on.
    """
    order = np.argsort(-samples.margins, kind="stable")
    margins, right = samples.margins[order], samples.right[order]
    count = np.arange(1, len(margins) + 1)
    expected = np.cumsum(1 / (1 + np.exp(slope * margins + offset))) / count
    within = np.flatnonzero((expected <= budget) & (np.cumsum(~right) / count <= budget))
    return float(margins[within[-1]]) if len(within) else float(margins[0]) * 1.05


def affordable(samples: Samples, slope: float, offset: float) -> tuple[float, float]:
    """Return the margin and the budget it keeps: the tightest one at which most cards are still sure."""
    for budget in BUDGETS:
        margin = threshold(samples, slope, offset, budget)
        if (samples.margins >= margin).mean() >= USEFUL:
            break
    return margin, budget


def write(samples: Samples, model: Path) -> Calibration:
    """Put what the samples say a margin is worth into the model's manifest."""
    slope, offset = fit(samples)
    margin, budget = affordable(samples, slope, offset)
    worth = Calibration(round(slope, 4), round(offset, 4), round(margin, 3))
    path = model.with_suffix(".json")
    manifest = json.loads(path.read_text())
    manifest["calibration"] = {
        "slope": worth.slope,
        "offset": worth.offset,
        "sure_margin": worth.sure_margin,
        "budget": budget,
        "decks": list(VALIDATION),
        "cards": len(samples.margins),
        "wrong": int((~samples.right).sum()),
    }
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return worth


@click.command()
@click.option(
    "--model",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="ONNX model; without it the packaged one.",
)
@click.option("--tables", default=3, show_default=True, help="Tables per deck and condition.")
@click.option("--seed", default=77, show_default=True)
def command(model: Path | None, tables: int, seed: int) -> None:
    """Say what a margin of the exported model is worth."""
    missing = [name for name in VALIDATION if not (FOLDER / name).is_dir()]
    if missing:
        raise click.UsageError(f"There are no pictures of {', '.join(missing)}: fetch them first (unseen).")
    model = model or default_model()
    try:
        samples = collect(model, tables, seed)
    except CalibrationError as error:
        raise click.ClickException(str(error)) from error
    worth = write(samples, model)
    sure = samples.margins >= worth.sure_margin
    click.echo(
        f"{len(sure)} cards, {int((~samples.right).sum())} wrong; "
        f"sure from {worth.sure_margin:.2f} nats on: {sure.mean():.2%}"
    )
    if samples.mistakes:
        click.echo("The surest mistakes:")
    for mistake in samples.mistakes[:10]:
        click.echo(f"  {mistake}")


if __name__ == "__main__":
    command()
