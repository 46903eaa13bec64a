"""`feltwatch bench vision`: benchmarks of the card reader on this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from firmware.bench.harness import json_option, machine, publish, table
from vision.commands.options import PHOTOGRAPHS_HINT, THREADS, PhotographsFolder
from vision.felt.layout import TableLayout
from vision.reading.network import CardReader
from vision.synthetic.decks import Deck, DrawnDeck, PhotoDeck
from vision.synthetic.evaluation import Condition, Score, grid, score_deck, score_photographs, summary, wilson
from vision.synthetic.render import deal, render_table
from vision.synthetic.yolo_peer import Compared, compare


@click.command(name="vision")
@click.option(
    "--decks",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder of decks not trained on, one folder of 52 pictures each; without it the product's own deck.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Only this deck; may be given more than once.")
@click.option(
    "--photos",
    type=PhotographsFolder(),
    help="Folder of labelled photographs, such as ../shared/data; only those marked `evaluate` are read.",
)
@click.option("--tables", default=2, show_default=True, help="Tables of 52 cards per deck and condition.")
@click.option(
    "--yolo",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="ONNX graph of another network, timed next to the reader (models/training/yolo_graph.py makes YOLO11n's).",
)
@THREADS
@click.option("--seed", default=0, show_default=True, help="The same seed lays the same tables.")
@json_option
def command(
    decks: Path | None,
    only: tuple[str, ...],
    photos: Path | None,
    tables: int,
    yolo: Path | None,
    threads: int,
    seed: int,
    as_json: bool,
) -> None:
    """Measure the card reader: on rendered tables, on photographs, and its time for each stage."""
    reader, layout = CardReader(threads=threads), TableLayout.load()
    judged = _decks(decks, only)
    peer = _beside(reader, yolo, layout, threads, seed) if yolo else None
    ms: dict[str, list[float]] = {}
    by_condition: dict[str, Score] = {}
    by_deck: dict[str, Score] = {}
    conditions = grid()
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("tables", total=len(judged) * len(conditions) * tables)
        for condition in conditions:
            for deck in judged:
                timed = ms if condition.scale == 1 else None
                score = score_deck(deck, condition, reader, layout, tables, seed, timed)
                by_condition[condition.name] = by_condition.get(condition.name, Score()) + score
                if condition.sets == "ordinary":
                    by_deck[deck.name] = by_deck.get(deck.name, Score()) + score
                progress.advance(task, tables)
    photographed = _photographs(photos, reader) if photos else {}
    result = {
        "machine": machine(threads),
        "model": reader.sha256,
        "conditions": _plain(by_condition),
        "decks": _plain(by_deck),
        "photographs": _plain(photographed),
        "ms": summary(ms),
        "peer": asdict(peer) | {"share": peer.share} if peer else None,
    }
    shown: list[str | Table] = [
        f"Model {reader.sha256[:12]} on {machine(threads)}",
        _table("condition", _in_order(by_condition, conditions)),
        _table("deck, ordinary conditions", by_deck),
    ]
    if photographed:
        shown.append(_table("photographs, loose", photographed))
    elif not photos:
        shown.append(f"No photographs were read; --photos names their folder. {PHOTOGRAPHS_HINT}")
    shown.append("Median ms from a decoded frame: " + ", ".join(f"{k} {v}" for k, v in summary(ms).items()))
    if peer:
        shown.append(
            f"In turn, {threads} threads: 12 zones with our network {peer.ours_ms:.1f} ms, "
            f"{peer.peer} {peer.peer_ms:.1f} ms: ours takes {peer.share:.2f} of its time"
        )
    publish(result, as_json, *shown)


def _beside(reader: CardReader, graph: Path, layout: TableLayout, threads: int, seed: int) -> Compared:
    rng = np.random.default_rng(seed)
    frame = render_table(deal(rng, layout), layout, seed=rng).frame
    return compare(reader, graph, frame, layout, threads=threads)


def _decks(folder: Path | None, only: tuple[str, ...]) -> list[Deck]:
    if folder is None:
        return [DrawnDeck()]
    names = sorted(p.name for p in folder.iterdir() if p.is_dir())
    return [PhotoDeck.from_folder(folder / name) for name in names if not only or name in only]


def _photographs(folder: Path, reader: CardReader) -> dict[str, Score]:
    scores = {}
    for manifest in sorted(folder.glob("*/manifest.csv")):
        score = score_photographs(manifest.parent, reader)
        if score.tables:
            scores[manifest.parent.name] = score
    return scores


def _plain(scores: dict[str, Score]) -> dict[str, Any]:
    return {name: asdict(score) for name, score in scores.items()}


def _in_order(scores: dict[str, Score], conditions: tuple[Condition, ...]) -> dict[str, Score]:
    return {c.name + ("" if c.sets == "ordinary" else " (limit)"): scores[c.name] for c in conditions}


def _table(title: str, scores: dict[str, Score]) -> Table:
    head = (title, "cards", "right", "sure and right", "silently wrong", "whole pictures", "most misread")
    rows = []
    for name, score in scores.items():
        low, high = wilson(score.right, score.cards)
        often = sorted(set(score.misread), key=lambda c: -score.misread.count(c))[:4]
        right = f"{score.right / max(1, score.cards):.2%} ({low:.1%}-{high:.1%})"
        sure = f"{score.sure / max(1, score.cards):.2%}"
        wrong = f"{score.wrong} (≤ {wilson(score.wrong, score.cards)[1]:.2%})"
        whole = f"{score.whole}/{score.tables}"
        rows.append((name, str(score.cards), right, sure, wrong, whole, " ".join(often)))
    return table(head, rows)
