"""`feltwatch bench vision`: how well and how fast the card reader reads on this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firmware.bench.harness import Result, benchmark, number, option, seed_option
from firmware.command_options import FOLDER, progress_bar
from vision.commands.options import PHOTOGRAPHS_HINT, THREADS, PhotographsFolder
from vision.felt.layout import TableLayout
from vision.reading.network import CardReader
from vision.synthetic.decks import Deck, DrawnDeck, PhotoDeck
from vision.synthetic.evaluation import Score, grid, score_deck, score_photographs, summary, wilson

Scores = dict[str, Score]


@benchmark(
    "vision",
    option(
        "--decks",
        None,
        "Folder of decks not trained on, each a folder of 52 pictures; else our own.",
        type=FOLDER,
    ),
    option(
        "--photos", None, "Folder of labelled photographs, such as ../shared/data.", type=PhotographsFolder()
    ),
    number("--tables", 2, "Tables of 52 cards per deck and condition."),
    THREADS,
    seed_option,
)
def command(decks: Path | None, photos: Path | None, tables: int, threads: int, seed: int) -> Result:
    """Measure the card reader: on rendered tables, on photographs, and its time for each stage."""
    reader = CardReader(threads=threads)
    ms: dict[str, list[float]] = {}
    by_condition, by_deck = _read_rendered(_decks(decks), reader, tables, seed, ms)
    photographed: Scores = {}
    for manifest in sorted(photos.glob("*/manifest.csv")) if photos else ():
        score = score_photographs(manifest.parent, reader)
        if score.tables:
            photographed[manifest.parent.name] = score
    return Result(
        "The card reader",
        f"Model {reader.sha256[:12]}, {threads} threads.",
        {
            "threads": threads,
            "model": reader.sha256,
            "median ms from a decoded frame": summary(ms),
            "conditions": list(_shares("condition", by_condition)),
            "decks": list(_shares("deck, ordinary conditions", by_deck)),
            "photographs": list(_shares("photographs, loose", photographed)),
        },
        [] if photos else [f"No photographs were read; --photos names their folder. {PHOTOGRAPHS_HINT}"],
    )


def _decks(folder: Path | None) -> list[Deck]:
    if folder is None:
        return [DrawnDeck()]
    return [PhotoDeck.from_folder(path) for path in sorted(folder.iterdir()) if path.is_dir()]


def _read_rendered(
    decks: list[Deck], reader: CardReader, tables: int, seed: int, ms: dict[str, list[float]]
) -> tuple[Scores, Scores]:
    """Read tables of each deck in each condition; return the scores by condition and by deck, and add to `ms`."""
    by_condition: Scores = {}
    by_deck: Scores = {}
    layout, conditions = TableLayout.load(), grid()
    with progress_bar("tables") as progress:
        for number, (condition, deck) in enumerate((c, d) for c in conditions for d in decks):
            score = score_deck(
                deck, condition, reader, layout, tables, seed, ms if condition.scale == 1 else None
            )
            is_ordinary = condition.sets == "ordinary"
            name = condition.name if is_ordinary else f"{condition.name} (limit)"
            by_condition[name] = by_condition.get(name, Score()) + score
            if is_ordinary:
                by_deck[deck.name] = by_deck.get(deck.name, Score()) + score
            progress(number + 1, len(conditions) * len(decks))
    return by_condition, by_deck


def _shares(kind: str, scores: Scores) -> Iterator[dict[str, Any]]:
    for name, score in scores.items():
        cards = max(1, score.cards)
        yield {
            kind: name,
            "cards": score.cards,
            "right": f"{score.right / cards:.2%} ({' to '.join(f'{p:.1%}' for p in wilson(score.right, score.cards))})",
            "sure and right": f"{score.sure / cards:.2%}",
            "silently wrong": f"{score.wrong} (≤ {wilson(score.wrong, score.cards)[1]:.2%})",
            "whole pictures": f"{score.whole}/{score.tables}",
            "most misread": " ".join(card for card, _ in Counter(score.misread).most_common(4)),
        }
