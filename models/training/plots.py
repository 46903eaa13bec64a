"""The report's pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from models.training.judge import Judged, Outcome
from vision.reading.cards import RANKS, SUITS
from vision.reading.network import Calibration
from vision.synthetic.evaluation import wilson

mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})

_RIGHT, _WRONG, _ENROLLED = "#3b7a57", "#b3372f", "#8fb8a0"
CONFIDENCES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
"""Edges of the classes of confidence."""
PASSED_OVER = "–"


def conditions(
    path: Path, names: Sequence[str], plain: Sequence[Outcome], enrolled: Sequence[Outcome]
) -> None:
    """Draw, by condition, tables wholly right and cards sure and right, with and without enrolment."""
    figure, axes = _figure(9, 3.4, 2)
    shares = (
        (axes[0], "tables wholly right", [(o.score.whole, o.score.tables) for o in (*plain, *enrolled)]),
        (axes[1], "cards sure and right", [(o.score.sure, o.score.cards) for o in (*plain, *enrolled)]),
    )
    n = len(names)
    for axis, title, counts in shares:
        for k, (label, colour) in enumerate((("as it comes", _RIGHT), ("enrolled", _ENROLLED))):
            part = counts[k * n : (k + 1) * n]
            at = np.asarray(np.arange(n) + (k - 0.5) * 0.38, np.float64)
            _bars(axis, at, part, colour, label)
        axis.set_yticks(range(n), names)
        axis.invert_yaxis()
        axis.set_title(title)
    axes[1].set_yticklabels([])
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=8)
    _save(figure, path)


def _bars(
    axis: Axes, at: NDArray[np.float64], counts: Sequence[tuple[int, int]], colour: str, label: str
) -> None:
    share = np.array([hits / of if of else 0 for hits, of in counts])
    ends = np.array([wilson(hits, of) for hits, of in counts]) if counts else np.empty((0, 2))
    errors = np.abs(np.stack([share - ends[:, 0], ends[:, 1] - share]))
    axis.barh(at, share, 0.36, color=colour, label=label, xerr=errors, error_kw={"lw": 0.8})
    axis.set_xlim(0, 1.02)
    axis.xaxis.set_major_formatter(PercentFormatter(1, 0))


def figures(path: Path, cards: Sequence[Judged], worth: Calibration) -> None:
    """Draw how margins are spread over right and wrong names, and evidence over cards and what is none."""
    figure, axes = _figure(9, 3, 2)
    named = [c for c in cards if c.named]
    spreads = (
        ("margin", [(c.margin, c.right) for c in named if c.laid], ("right", "wrong"), worth.margin),
        ("evidence", [(c.evidence, bool(c.laid)) for c in named], ("a card", "no card"), worth.evidence),
    )
    for axis, (what, values, labels, curve) in zip(axes, spreads, strict=True):
        edges = np.linspace(0, max(16.0, curve.sure_from * 1.1), 65)
        for held, colour, label in ((True, _RIGHT, labels[0]), (False, _WRONG, labels[1])):
            part = [min(nats, edges[-1]) for nats, so in values if so is held]
            axis.hist(part, edges, color=colour, alpha=0.75, label=f"{label} ({len(part)})")
        axis.axvline(curve.sure_from, color="black", lw=1, ls="--", label=f"sure from {curve.sure_from:.2f}")
        axis.set_yscale("symlog", linthresh=1)
        axis.set_xlabel(f"{what}, nats (the last class holds all above)")
        axis.legend(fontsize=8)
    axes[0].set_ylabel("cards")
    _save(figure, path)


def classes(cards: Sequence[Judged]) -> list[tuple[float, int, int]]:
    """Return mean confidence, right names and names for each class of confidence that is not empty."""
    named = [c for c in cards if c.named]
    number = np.clip(np.digitize([c.confidence for c in named], CONFIDENCES) - 1, 0, len(CONFIDENCES) - 2)
    found = []
    for k in range(len(CONFIDENCES) - 1):
        part = [c for c, n in zip(named, number, strict=True) if n == k]
        if part:
            mean = float(np.mean([c.confidence for c in part]))
            found.append((mean, sum(c.right for c in part), len(part)))
    return found


def reliability(path: Path, parts: Sequence[tuple[str, Sequence[Judged]]]) -> None:
    """Draw the share of right names over the confidence that was stated, both as odds."""
    figure, axes = _figure(5, 4)
    axis = axes[0]
    limits = np.array([0.1, 0.9999])
    axis.plot(_odds(limits), _odds(limits), color="grey", lw=0.8, ls="--")
    for (label, cards), colour, shift in zip(parts, (_RIGHT, "#34558b"), (-0.05, 0.05), strict=False):
        for k, (mean, right, of) in enumerate(classes(cards)):
            low, high = wilson(right, of)
            x = _odds(np.array([mean]))[0] + shift
            ends = _odds(np.array([low, high]))
            axis.plot([x, x], ends, color=colour, lw=1)
            share = _odds(np.array([right / of]))[0]
            axis.plot(x, share, "o", color=colour, ms=4, label=label if k == 0 else None)
    ticks = np.array([0.1, 0.5, 0.9, 0.99, 0.999, 0.9999])
    labels = [f"{100 * t:g} %" for t in ticks]
    axis.set_xticks(_odds(ticks), labels)
    axis.set_yticks(_odds(ticks), labels)
    axis.set_xlabel("confidence stated")
    axis.set_ylabel("share right (95 % interval)")
    axis.legend(fontsize=8)
    _save(figure, path)


def _odds(share: NDArray[np.float64]) -> NDArray[np.float64]:
    held = np.clip(share, 1e-2, 1 - 5e-5)
    return np.asarray(np.log10(held / (1 - held)))


def scales(path: Path, found: Sequence[tuple[float, Outcome]]) -> None:
    """Draw cards named rightly and cards sure over the picture's scale."""
    figure, axes = _figure(5, 3)
    x = [scale for scale, _ in found]
    lines = (("named rightly", "right", _RIGHT), ("sure and right", "sure", _ENROLLED))
    for label, part, colour in lines:
        counts = [(getattr(o.score, part), o.score.cards) for _, o in found]
        share = np.array([hits / max(of, 1) for hits, of in counts])
        ends = np.array([wilson(*c) for c in counts])
        errors = np.abs(np.stack([share - ends[:, 0], ends[:, 1] - share]))
        axes[0].errorbar(x, share, errors, fmt="o-", ms=4, lw=1.2, color=colour, label=label)
    axes[0].set_ylim(-0.02, 1.03)
    axes[0].yaxis.set_major_formatter(PercentFormatter(1, 0))
    axes[0].set_xlabel("px per mm of felt")
    axes[0].legend(fontsize=8)
    _save(figure, path)


def confusion(path: Path, cards: Sequence[Judged]) -> None:
    """Draw which ranks and suits were named for which: shares of the cards laid, counts where they err."""
    figure, axes = _figure(9, 4.6, 2, widths=(13, 6))
    laid = [c for c in cards if c.laid]
    for axis, symbols, place, title in ((axes[0], RANKS, 0, "rank"), (axes[1], SUITS, 1, "suit")):
        columns = symbols + PASSED_OVER
        counts = np.zeros((len(symbols), len(columns)), int)
        for card in laid:
            given = card.named[place] if card.named else PASSED_OVER
            counts[symbols.index(card.laid[place]), columns.index(given)] += 1
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        axis.imshow(np.log10(np.maximum(shares, 1e-5)), cmap="Greens", vmin=-5, vmax=0, aspect="auto")
        for row, column in zip(*np.nonzero(counts), strict=True):
            on_dark = shares[row, column] > 0.1
            text = f"{100 * shares[row, column]:.3g} %" if row == column else str(counts[row, column])
            axis.text(
                column, row, text, ha="center", va="center", fontsize=6, color="white" if on_dark else "black"
            )
        axis.set_xticks(range(len(columns)), list(columns))
        axis.set_yticks(range(len(symbols)), list(symbols))
        axis.set_xlabel(f"{title} named ({PASSED_OVER}: passed over)")
        axis.set_ylabel(f"{title} laid")
    _save(figure, path)


def _figure(
    width: float, height: float, count: int = 1, widths: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    figure = Figure((width, height), dpi=100, layout="constrained")
    axes = figure.subplots(1, count, squeeze=False, width_ratios=widths)
    return figure, list(axes[0])


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Software": None})
