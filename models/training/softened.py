"""Reads tables softened until a person hesitates: `python -m models.training softened`.

Every ordinary condition of the grid, worsened in four ways and three steps: a lens out of focus, a webcam's picture
enlarged, JPEG 30, noise. Whole tables and tables that lack a third of their cards take turns. What is sure may fall
as far as it likes; what is surely wrong may not be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click

from models.training.judge import Judged, Outcome, Tables, describe_machine, on_all_cores, read_tables, total
from models.training.markdown import table
from models.training.options import MODEL
from models.training.unseen import FOLDER, JUDGING, VALIDATION, need_decks
from vision.reading.network import default_model
from vision.synthetic.evaluation import Condition, ordinary, wilson

BLURS_PX = (2.4, 3.2, 4.0)
WEBCAMS_PX = (1300, 950, 640)
BLURS_JPEG_30_PX = (0.6, 1.6, 2.4)
NOISES = (10.0, 18.0, 26.0)
DECKS = {"judging": JUDGING, "calibrating": VALIDATION}


@dataclass(frozen=True)
class Softening:
    """One way to worsen a condition, at one of its steps."""

    way: str
    step: str
    condition: Condition
    webcam_px: int | None = None


def softenings(base: Condition) -> Iterator[Softening]:
    """Worsen a condition in each way and step."""
    usual = base.conditions
    for blur in BLURS_PX:
        yield Softening("blur", f"{blur} px", replace(base, conditions=replace(usual, blur_px=blur)))
    for width in WEBCAMS_PX:
        yield Softening("webcam, enlarged", f"{width} px wide", base, width)
    for blur in BLURS_JPEG_30_PX:
        softer = replace(usual, blur_px=max(blur, usual.blur_px), jpeg=30)
        yield Softening("JPEG 30", f"blur {blur} px", replace(base, conditions=softer))
    for noise in NOISES:
        yield Softening("noise", f"{noise:.0f} levels", replace(base, conditions=replace(usual, noise=noise)))


def measure(model: Path, decks: tuple[str, ...], tables: int, seed: int) -> dict[Softening, Outcome]:
    """Read so many tables of each deck in each softening of each ordinary condition; return what came of them."""
    kinds = [soft for base in ordinary() for soft in softenings(base)]
    keys, tasks = [], []
    for k, soft in enumerate(kinds):
        for n, name in enumerate(decks):
            gaps = (k + n) % 2 == 1
            keys.append(soft)
            look, width = soft.condition, soft.webcam_px
            tasks.append(Tables(model, FOLDER / name, look, tables, seed + k, gaps=gaps, webcam_px=width))
    found = on_all_cores(read_tables, tasks, "softened tables")
    return {
        soft: total(plain for key, (plain, _) in zip(keys, found, strict=True) if key is soft)
        for soft in kinds
    }


def section(found: dict[Softening, Outcome]) -> str:
    """Write a row for each way and step, all conditions together, and what was surely wrong."""
    head = ("softened by", "step", "cards", "named rightly", "sure and right", "surely wrong")
    rows = [
        _row(way, step, total(o for s, o in found.items() if (s.way, s.step) == (way, step)))
        for way, step in dict.fromkeys((soft.way, soft.step) for soft in found)
    ]
    rows.append(_row("**all**", "", everything := total(found.values())))
    wrong = [
        f"{_words(card)} ({soft.condition.name}, {soft.way}, {soft.step})"
        for soft, outcome in found.items()
        for card in outcome.cards
        if card.sure and not card.right
    ]
    at_most = wilson(everything.score.wrong, everything.score.cards)[1]
    lines = [table(head, rows), f"Surely wrong at 95 %: at most 1 in {1 / at_most:,.0f}."]
    return "\n\n".join([*lines, *([f"Surely wrong: {'; '.join(wrong)}."] if wrong else [])])


def _row(way: str, step: str, outcome: Outcome) -> tuple[str, ...]:
    score = outcome.score
    right, sure = (f"{n / max(1, score.cards):.1%}" for n in (score.right, score.sure))
    return way, step, f"{score.cards:,}", right, sure, str(score.wrong)


def _words(card: Judged) -> str:
    return f"{card.laid or 'no card'} as {card.named}, {card.margin:.1f} nats, evidence {card.evidence:.1f}"


@click.command()
@MODEL
@click.option(
    "--tables", default=1, show_default=True, type=click.IntRange(1), help="Tables per deck and softening."
)
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--decks",
    type=click.Choice(list(DECKS)),
    default="judging",
    show_default=True,
    help="Anyone who works on the reader looks at those that calibrate.",
)
@click.option("--deck", "only", multiple=True, help="Only this deck of them (again: more).")
def command(model: Path | None, tables: int, seed: int, decks: str, only: tuple[str, ...]) -> None:
    """Read tables softened until a person hesitates; end with 1 where a card was surely wrong."""
    names = tuple(name for name in DECKS[decks] if not only or name in only)
    need_decks(names)
    if not names:
        raise click.UsageError(f"None of these decks is {decks}: {', '.join(only)}.")
    found = measure(model or default_model(), names, tables, seed)
    click.echo(f"{', '.join(names)}; {tables} of each, seed {seed}; {describe_machine()}\n\n{section(found)}")
    if any(outcome.score.wrong for outcome in found.values()):
        raise SystemExit(1)
