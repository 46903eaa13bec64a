"""Says what the reader's figures are worth: `python -m models.training calibrate`, after export; into the manifest.

Tables of decks that were never trained on, `VALIDATION`, are rendered and read under every condition of the grid,
whole and with a third of the cards missing, each with limits of its own; the decks that judge the result are others.
Two logistic curves give the confidence, by margin and by evidence. A card is sure from the least margin and the least
evidence on at which the mistakes seen and those to be expected keep to a budget (for the margin, half of it).
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import gammaincinv

from models.training.judge import Tables, on_all_cores, read_tables
from models.training.samples import TrainingError
from models.training.unseen import VALIDATION, deck_folder
from vision.reading.network import Calibration, Curve, Floats
from vision.synthetic.evaluation import grid

Flags = NDArray[np.bool_]

TABLES = 10
"""Tables per deck and condition on which a model of the product is calibrated."""
USEFUL = 0.97
"""Where fewer of the cards than this would be sure, dealers would be asked too often: the next budget is tried."""
BUDGETS = (1 / 20_000, 1 / 5_000, 1 / 1_000)
"""Silent errors allowed among the cards that are taken without asking."""
EVIDENCE_BUDGET = 1 / 10_000
"""Cards too many allowed: to be silent, one must also stand in for a card that was missed in its row."""
LOOSE_BUDGET = 1 / 1_000
"""Silent errors allowed, by name and by presence, in photographs of anything."""
MIN_MARGIN = 4.5
MIN_EVIDENCE = 5.9
"""Nats below which no card is sure (evidence: none of a table that lacks cards), however few mistakes were counted:
pictures are softer than those that calibrate. On tables of the same decks softened until a person hesitates, with
lower limits, an ace was taken for another at 3.5 nats, and print for a card at 7.3 and evidence 5.1."""


@dataclass(frozen=True)
class Samples:
    """Figures in nats, each with whether what it speaks for held."""

    nats: Floats
    held: Flags


@dataclass(frozen=True)
class Collection:
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

    def sure(self, worth: Calibration) -> Flags:
        """Return which names would be taken without asking."""
        clear = self.margin >= worth.margin.sure_from
        return np.asarray(clear & (self.evidence >= worth.evidence.sure_from))


def collect(model: Path, tables: int, seed: int, *, gaps: bool = False, pips: bool = True) -> Collection:
    """Read tables of the validation decks under all conditions; every card named is a sample.

    With `gaps` a third of each table's cards are missing; without `pips` indices alone are read. Pictures that the
    reader itself calls unfit are left out: nothing in them is ever taken without asking.

    Raises:
        TrainingError: no card was named, or a deck's pictures are missing.
    """
    tasks = {
        f"{name}, {c.name}": Tables(model, deck_folder(name), c, tables, seed, gaps=gaps, pips=pips)
        for name in VALIDATION
        for c in grid()
    }
    found = on_all_cores(read_tables, tasks, "decks and conditions")
    named = [(c, where) for where, (outcome, _) in found.items() for c in outcome.cards if c.named and c.fit]
    if not named:
        raise TrainingError(f"{model.name} names no card on any table; train it longer")
    wrong = sorted((n for n in named if not n[0].right), key=lambda n: -n[0].margin)
    return Collection(
        np.array([card.margin for card, _ in named]),
        np.array([card.evidence for card, _ in named]),
        np.array([bool(card.laid) for card, _ in named]),
        np.array([card.right for card, _ in named]),
        tuple(f"{card} ({where})" for card, where in wrong),
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


def sure_from(samples: Samples, budget: float, curve: tuple[float, float] | None = None) -> float:
    """Return the least figure from which no more mistakes were seen, nor are expected by a curve, than the budget."""
    order = np.argsort(-samples.nats, kind="stable")
    nats, count = samples.nats[order], np.arange(1, len(order) + 1)
    within = np.cumsum(~samples.held[order]) / count <= budget
    if curve:
        within &= np.cumsum(1 / (1 + np.exp(curve[0] * nats + curve[1]))) / count <= budget
    rows = np.flatnonzero(within)
    return float(nats[rows[-1]]) if len(rows) else float(nats[0]) * 1.05


def tail_scale(samples: Samples) -> float:
    """Return by how many nats the margin grows while mistakes become e times as rare, at the worst that was seen.

    The upper end of a one-sided 95 % interval for an exponential tail, but no less than one nat. Names that two places
    claim alike have no margin at all; they are never sure and say nothing of the tail.
    """
    mistakes = samples.nats[~samples.held & (samples.nats > 0)]
    n = len(mistakes)
    return max(1.0, float(mistakes.sum()) / float(gammaincinv(n, 0.05))) if n else 1.0


def tail_from(samples: Samples, budget: float, scale: float) -> float:
    """Return the least margin from which no more mistakes than the budget are to be expected, one more than seen."""
    mistakes = int((~samples.held & (samples.nats > 0)).sum())
    return scale * max(0.0, math.log((mistakes + 1) / (budget * len(samples.nats))))


def affordable(
    collected: Collection,
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
        half = budget / 2
        margin = max(sure_from(collected.margins, half), tail_from(collected.margins, half, scale), least[0])
        clear = collected.presence(min(margin, float(collected.margin.max())))
        limits = margin, max(sure_from(clear, evidence_budget, fit(clear)), least[1])
        fitted = zip(curves, limits, strict=True)
        worth = Calibration(*(Curve(round(a, 4), round(b, 4), round(nats, 3)) for (a, b), nats in fitted))
        if collected.sure(worth).mean() >= USEFUL:
            break
    return worth, budget


def write(whole: Collection, part: Collection, alone: Collection, model: Path) -> Mapping[str, Calibration]:
    """Put what the samples say into the model's manifest: of whole tables, of gaps, of gaps by indices alone.

    With pips read too, mistakes are too few to say how fast they grow rarer: the scale is that of tables with gaps
    whose cards were read by their indices alone, where margins of mistakes are largest, and so is the curve of the
    confidence. Their limits are those of loose photographs.
    """
    names = alone.margins
    scale = tail_scale(names)
    found = {
        "whole": (whole, affordable(whole, scale, names, least=(MIN_MARGIN, 0.0))),
        "part": (part, affordable(part, scale, names, least=(MIN_MARGIN, MIN_EVIDENCE))),
        "loose": (alone, affordable(alone, scale, names, (LOOSE_BUDGET,), LOOSE_BUDGET, (MIN_MARGIN, 0.0))),
    }
    path = model.with_suffix(".json")
    manifest = json.loads(path.read_text())
    manifest["calibration"] = {"decks": list(VALIDATION)} | {
        name: {
            **asdict(worth),
            "budget": budget,
            "cards": int(collected.there.sum()),
            "wrong": int((collected.there & ~collected.right).sum()),
            "no_card": int((~collected.there).sum()),
        }
        for name, (collected, (worth, budget)) in found.items()
    }
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return {name: worth for name, (_, (worth, _)) in found.items()}


def calibrate(model: Path, tables: int, seed: int) -> str:
    """Read the tables, write the limits into the model's manifest; return in words what they come to.

    Raises:
        TrainingError: no card was named, or a deck's pictures are missing.
    """
    whole = collect(model, tables, seed)
    part, alone = (collect(model, tables, seed, gaps=True, pips=pips) for pips in (True, False))
    worth = write(whole, part, alone, model)
    lines = []
    for name, collected in (("whole", whole), ("part", part), ("loose", alone)):
        limits, sure = worth[name], collected.sure(worth[name])
        lines += [
            f"{name}: {int(collected.right.sum()):,} of {len(sure):,} names right; sure from "
            f"{limits.margin.sure_from:.2f} nats, evidence {limits.evidence.sure_from:.2f}: {sure.mean():.2%}, "
            f"of them wrong: {int((sure & ~collected.right).sum())}",
            *(f"  wrong: {mistake}" for mistake in collected.mistakes[:10]),
        ]
    return "\n".join(lines)
