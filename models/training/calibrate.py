"""Says what the reader's figures are worth: `python -m models.training calibrate`, after export; into the manifest.

Tables of decks that were never trained on, `VALIDATION`, are rendered and read under every condition of the grid,
whole and with a third of the cards missing, each with limits of its own; the decks that judge the result are others.
Two logistic curves give the confidence: through the margins (named rightly or not) and through the evidence (was
there a card at all). A card is sure from the least margin and the least evidence on at which the mistakes seen and
those to be expected keep to a budget: for the margin half of that of silent errors, the tightest of `BUDGETS` at which
most cards are still sure; for the evidence `EVIDENCE_BUDGET`. For loose photographs, which settle nothing and are read
by their indices alone, both are `LOOSE_BUDGET`. No margin falls below `LEAST_MARGIN`.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import chi2

from models.training.judge import Tables, on_all_cores, read_tables
from models.training.options import MODEL
from models.training.unseen import FOLDER, VALIDATION, need_decks
from vision.reading.network import Calibration, Curve, Floats, default_model
from vision.synthetic.evaluation import grid

Flags = NDArray[np.bool_]

USEFUL = 0.97
"""Where fewer of the cards than this would be sure, dealers would be asked too often: the next budget is tried."""

BUDGETS = (1 / 20_000, 1 / 5_000, 1 / 1_000)
BUDGET = BUDGETS[0]
"""Silent errors allowed among the cards that are taken without asking."""


EVIDENCE_BUDGET = 1 / 10_000
"""Cards too many allowed: to be silent, one must also stand in for a card that was missed in its row."""

LOOSE_BUDGET = 1 / 1_000
"""Silent errors allowed, by name and by presence, in photographs of anything."""


LEAST_MARGIN = 4.5
LEAST_EVIDENCE = 5.9
"""Nats below which no card is sure (evidence: none of a table that lacks cards), however few mistakes were counted:
pictures are softer than those that calibrate. On tables of the same decks softened until a person hesitates, with
lower limits, an ace was taken for another at 3.5 nats, and print for a card at 7.3 and evidence 5.1."""


class CalibrationError(RuntimeError):
    """There is nothing to calibrate on."""


@dataclass(frozen=True)
class Samples:
    """Figures in nats, each with whether what it speaks for held."""

    nats: Floats
    held: Flags


@dataclass(frozen=True)
class Collected:
    """Everything named: margins and evidence in nats, whether a card lay there, and whether the name was its own.

    `mistakes`: those in words, the surest first.
    """

    margin: Floats
    evidence: Floats
    there: Flags
    right: Flags
    mistakes: tuple[str, ...] = ()

    @property
    def margins(self) -> Samples:
        """Whether a card was named rightly, by margin; where there is none no name is wrong or right."""
        return Samples(self.margin[self.there], self.right[self.there])

    def presence(self, from_margin: float = 0.0) -> Samples:
        """Whether there was a card at all, by evidence, for names of at least such a margin."""
        clear = self.margin >= from_margin
        return Samples(self.evidence[clear], self.there[clear])


def collect(model: Path, tables: int, seed: int, *, gaps: bool = False, pips: bool = True) -> Collected:
    """Read tables of the validation decks under all conditions; every card named is a sample.

    With `gaps` a third of each table's cards are missing; without `pips` indices alone are read. Pictures that the
    reader itself calls unfit are left out: nothing in them is ever taken without asking.

    Raises:
        CalibrationError: no card was named.
    """
    tasks = [
        Tables(model, FOLDER / name, c, tables, seed, gaps=gaps, pips=pips)
        for name in VALIDATION
        for c in grid()
    ]
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
    return Collected(
        np.array([card.margin for card, _ in named]),
        np.array([card.evidence for card, _ in named]),
        np.array([bool(card.laid) for card, _ in named]),
        np.array([card.right for card, _ in named]),
        tuple(
            f"{c.margin:.2f} nats, evidence {c.evidence:.2f}: {c.laid or 'no card'} as {c.named} ({where})"
            for c, where in wrong
        ),
    )


def fit(samples: Samples) -> tuple[float, float]:
    """Return slope and offset of the logistic curve; a little prior keeps a clean sample from an endless slope."""
    x, y = np.minimum(samples.nats, 20.0), samples.held.astype(float)
    target = (y * (y.sum() + 1) + (1 - y)) / (np.where(y > 0, y.sum(), (1 - y).sum()) + 2)  # Platt's targets

    def cost(p: Floats) -> float:
        z = p[0] * x + p[1]
        return float((np.logaddexp(0, -z) * target + np.logaddexp(0, z) * (1 - target)).sum())

    slope, offset = minimize(cost, np.array([1.0, 0.0]), method="Nelder-Mead").x
    return float(slope), float(offset)


def seen_from(samples: Samples, budget: float) -> float:
    """Return the least figure from which no more mistakes than the budget were seen."""
    nats, seen, _ = _from_above(samples, 0.0, 0.0)
    return _least(nats, seen <= budget)


def expected_from(samples: Samples, slope: float, offset: float, budget: float) -> float:
    """Return the least figure from which neither were more mistakes seen nor does the curve expect more."""
    nats, seen, expected = _from_above(samples, slope, offset)
    return _least(nats, (seen <= budget) & (expected <= budget))


def _from_above(samples: Samples, slope: float, offset: float) -> tuple[Floats, Floats, Floats]:
    """Return the figures from the highest on, with the shares of mistakes seen and expected down to each."""
    order = np.argsort(-samples.nats, kind="stable")
    nats, count = samples.nats[order], np.arange(1, len(order) + 1)
    seen = np.cumsum(~samples.held[order]) / count
    return nats, seen, np.cumsum(1 / (1 + np.exp(slope * nats + offset))) / count


def _least(nats: Floats, within: Flags) -> float:
    rows = np.flatnonzero(within)
    return float(nats[rows[-1]]) if len(rows) else float(nats[0]) * 1.05


def tail_scale(samples: Samples) -> float:
    """Return by how many nats the margin grows while mistakes become e times as rare, at the worst that was seen.

    The upper end of a one-sided 95 % interval for an exponential tail, but no less than one nat. Names that two places
    claim alike have no margin at all; they are never sure and say nothing of the tail.
    """
    mistakes = samples.nats[~samples.held & (samples.nats > 0)]
    n = len(mistakes)
    return max(1.0, 2 * float(mistakes.sum()) / float(chi2.ppf(0.05, 2 * n))) if n else 1.0


def tail_from(samples: Samples, budget: float, scale: float) -> float:
    """Return the least margin from which no more mistakes than the budget are to be expected, one more than seen."""
    mistakes = int((~samples.held & (samples.nats > 0)).sum())
    return scale * max(0.0, math.log((mistakes + 1) / (budget * len(samples.nats))))


def affordable(
    collected: Collected,
    scale: float,
    names: Samples,
    budgets: tuple[float, ...] = BUDGETS,
    evidence_budget: float = EVIDENCE_BUDGET,
    least: tuple[float, float] = (0.0, 0.0),
) -> tuple[Calibration, float]:
    """Return the calibration and the budget it keeps: the tightest one at which most cards are still sure.

    `scale`: of the tail of mistakes. `names`: whose curve says how probably a name is right. `least`: the lowest
    limits for margin and evidence. The evidence has to tell cards from print only among names that the margin lets
    through.
    """
    curves = fit(names), fit(collected.presence())
    for budget in budgets:
        from_margin = max(
            seen_from(collected.margins, budget / 2),
            tail_from(collected.margins, budget / 2, scale),
            least[0],
        )
        clear = collected.presence(min(from_margin, float(collected.margin.max())))
        sure_from = from_margin, max(expected_from(clear, *fit(clear), evidence_budget), least[1])
        worth = Calibration(
            *(
                Curve(round(slope, 4), round(offset, 4), round(nats, 3))
                for (slope, offset), nats in zip(curves, sure_from, strict=True)
            )
        )
        if sure(collected, worth).mean() >= USEFUL:
            break
    return worth, budget


def sure(collected: Collected, worth: Calibration) -> Flags:
    """Return which names would be taken without asking."""
    return np.asarray(
        (collected.margin >= worth.margin.sure_from) & (collected.evidence >= worth.evidence.sure_from)
    )


def calibrations(
    whole: Collected, part: Collected, alone: Collected
) -> dict[str, tuple[Collected, Calibration, float]]:
    """Return, by the name it has in `Calibrations`, what was collected, what it is worth, and the budget it keeps.

    With pips read too, mistakes are too few to say how fast they grow rarer: the scale is that of tables with gaps
    whose cards were read by their indices alone, where margins of mistakes are largest, and so is the curve of the
    confidence. Their limits are those of loose photographs.
    """
    names = alone.margins
    scale = tail_scale(names)
    return {
        "whole": (whole, *affordable(whole, scale, names, least=(LEAST_MARGIN, 0.0))),
        "part": (part, *affordable(part, scale, names, least=(LEAST_MARGIN, LEAST_EVIDENCE))),
        "loose": (
            alone,
            *affordable(alone, scale, names, (LOOSE_BUDGET,), LOOSE_BUDGET, (LEAST_MARGIN, 0.0)),
        ),
    }


def write(whole: Collected, part: Collected, alone: Collected, model: Path) -> dict[str, Calibration]:
    """Put what the samples say into the model's manifest: of whole tables, of gaps, of gaps by indices alone."""
    path = model.with_suffix(".json")
    manifest = json.loads(path.read_text())
    found = calibrations(whole, part, alone)
    manifest["calibration"] = {"decks": list(VALIDATION)} | {
        name: {
            **asdict(worth),
            "budget": budget,
            "cards": int(collected.there.sum()),
            "wrong": int((collected.there & ~collected.right).sum()),
            "no_card": int((~collected.there).sum()),
        }
        for name, (collected, worth, budget) in found.items()
    }
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return {name: worth for name, (_, worth, _) in found.items()}


def tell(what: str, collected: Collected, worth: Calibration) -> None:
    """Print what is sure by a calibration."""
    taken = sure(collected, worth)
    click.echo(
        f"{what}: {int(collected.right.sum()):,} of {len(taken):,} names right; sure from "
        f"{worth.margin.sure_from:.2f} nats, evidence {worth.evidence.sure_from:.2f}: {taken.mean():.2%}, "
        f"of them wrong: {int((taken & ~collected.right).sum())}"
    )


def calibrate(model: Path, tables: int, seed: int) -> None:
    """Read the tables, write the limits into the model's manifest and print what they come to.

    Raises:
        CalibrationError: no card was named.
    """
    whole = collect(model, tables, seed)
    part, alone = (collect(model, tables, seed, gaps=True, pips=pips) for pips in (True, False))
    worth = write(whole, part, alone, model)
    for what, collected, name in (
        ("Whole tables", whole, "whole"),
        ("Tables with gaps", part, "part"),
        ("Tables with gaps, indices alone, by the limits of loose photographs", alone, "loose"),
    ):
        tell(what, collected, worth[name])
        for mistake in collected.mistakes[:10]:
            click.echo(f"  wrong: {mistake}")


@click.command()
@MODEL
@click.option(
    "--tables",
    default=10,
    show_default=True,
    help="Tables per deck and condition, as many again with cards missing.",
)
@click.option("--seed", default=77, show_default=True)
def command(model: Path | None, tables: int, seed: int) -> None:
    """Say what a margin of the exported model is worth."""
    need_decks(VALIDATION)
    try:
        calibrate(model or default_model(), tables, seed)
    except CalibrationError as error:
        raise click.ClickException(str(error)) from error
