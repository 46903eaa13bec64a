"""Says what a margin is worth: `python -m models.training.calibrate`, after export; writes into the manifest.

Tables of decks that were never trained on, `VALIDATION`, are rendered and read under every condition of the grid;
the decks that judge the result are others. A logistic curve through (margin, right or wrong) gives the confidence;
the margin from which a card counts as sure is the least at which the curve expects no more silent errors than the
budget allows, and above which none was seen.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from rich.progress import track
from scipy.optimize import minimize

from models.training.unseen import FOLDER
from vision.decks import PhotoDeck
from vision.evaluation import Condition, grid
from vision.layout import TableLayout
from vision.reader import CardReader, Floats, default_model
from vision.reading import read
from vision.render import deal, render_table

VALIDATION = ("anglo", "bellot", "svg-cards", "tigullio", "neoclassical", "plastic", "bonded")
"""Decks to calibrate on; `bench vision` judges by the others."""

BUDGET = 1 / 20_000
"""Silent errors allowed among the cards that are taken without asking."""


@dataclass(frozen=True)
class Samples:
    """Margins in nats and whether the card was named rightly."""

    margins: Floats
    right: np.ndarray[tuple[int], np.dtype[np.bool_]]


def collect(reader: CardReader, layout: TableLayout, tables: int, seed: int) -> Samples:
    """Read tables of the validation decks under all conditions; every card read is a sample."""
    margins: list[float] = []
    right: list[bool] = []
    jobs = [(name, c, k) for name in VALIDATION for c in grid() for k in range(tables)]
    for number, (name, condition, _) in enumerate(track(jobs, "tables")):
        deck = PhotoDeck.from_folder(FOLDER / name)
        for margin, ok in _table(deck, condition, reader, layout, np.random.default_rng([seed, number])):
            margins.append(margin)
            right.append(ok)
    return Samples(np.array(margins), np.array(right))


def _table(
    deck: PhotoDeck, condition: Condition, reader: CardReader, layout: TableLayout, rng: np.random.Generator
) -> list[tuple[float, bool]]:
    scene = render_table(
        deal(rng, layout), layout, deck, seed=rng, conditions=condition.conditions, scale=condition.scale
    )
    laid = np.array([card.corners.mean(axis=0) for card in scene.cards])
    found = []
    for zone in read(scene.frame, layout, reader).zones:
        for card in zone.cards:
            nearest = int(np.linalg.norm(laid - card.corners.mean(axis=0), axis=1).argmin())
            found.append((card.margin, scene.cards[nearest].code == card.card))
    return found


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
    """Return the least margin from which cards may be taken without asking."""
    order = np.argsort(-samples.margins)
    margins = samples.margins[order]
    wrong = 1 / (1 + np.exp(slope * margins + offset))
    expected = np.cumsum(wrong) / np.arange(1, len(margins) + 1)
    within = np.flatnonzero(expected <= budget)
    least = float(margins[within[-1]]) if len(within) else float(margins[0])
    mistakes = samples.margins[~samples.right]
    return max(least, float(mistakes.max()) * 1.05 if len(mistakes) else 0.0)


@click.command()
@click.option("--tables", default=3, show_default=True, help="Tables per deck and condition.")
@click.option("--seed", default=77, show_default=True)
def command(tables: int, seed: int) -> None:
    """Calibrate the exported model's confidence."""
    missing = [name for name in VALIDATION if not (FOLDER / name).is_dir()]
    if missing:
        raise click.UsageError(
            f"There are no pictures of {', '.join(missing)}: run models.training.unseen first."
        )
    samples = collect(CardReader(), TableLayout.load(), tables, seed)
    slope, offset = fit(samples)
    margin = threshold(samples, slope, offset)
    path: Path = default_model().with_suffix(".json")
    manifest = json.loads(path.read_text())
    manifest["calibration"] = {
        "slope": round(slope, 4),
        "offset": round(offset, 4),
        "sure_margin": round(margin, 3),
        "budget": BUDGET,
        "decks": list(VALIDATION),
        "cards": len(samples.margins),
        "wrong": int((~samples.right).sum()),
    }
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    sure = samples.margins >= margin
    click.echo(
        f"{len(sure)} cards, {int((~samples.right).sum())} wrong; sure from {margin:.2f} nats on: {sure.mean():.2%}"
    )


if __name__ == "__main__":
    command()
