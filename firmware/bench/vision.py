"""`feltwatch bench vision`: how well and how fast the card reader reads on this machine."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from firmware.bench.harness import Result, benchmark, number, option, seed_option
from firmware.command_options import FOLDER, progress_bar
from firmware.worker_pool import ignore_interrupts, worker_pool
from vision.cli.options import PHOTOGRAPHS_HINT, THREADS, PhotographsFolder
from vision.felt.layout import TableLayout
from vision.reading.memory import TableMemory
from vision.reading.network import CardReader
from vision.reading.table_reading import LEARN_PX_PER_MM, read
from vision.synthetic.decks import Deck, DrawnDeck, PhotoDeck
from vision.synthetic.evaluation import Score, grid, score_deck, score_photographs, summary, wilson
from vision.synthetic.render import deal, render_table

Scores = dict[str, Score]
TIMES: Final = 9
"""How often a frame is read for its processor time; the least counts."""


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
            "processor": processor(seed),
            "conditions": list(_shares("condition", by_condition)),
            "decks": list(_shares("deck, ordinary conditions", by_deck)),
            "photographs": list(_shares("photographs, loose", photographed)),
        },
        [] if photos else [f"No photographs were read; --photos names their folder. {PHOTOGRAPHS_HINT}"],
    )


def processor(seed: int) -> dict[str, float]:
    """Return the processor's milliseconds for a frame, on one thread as on a box of two cores, and their ratios."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of the process that measures; as of the reading process
    with worker_pool(1) as pool:
        with ignore_interrupts():
            measured = pool.submit(_measure, seed)
        ms = measured.result()
    network, full = ms["the network alone, 2 px/mm"], ms["a full frame"]
    ratios = {name: round(one / network, 2) for name, one in ms.items()}
    return ms | {
        "a full frame over the network alone": ratios["a full frame"],
        "all zones changed over the network alone": ratios["all zones changed"],
        "one zone changed over a full frame": round(ms["one zone changed"] / full, 2),
    }


def _measure(seed: int) -> dict[str, float]:
    cv2.setNumThreads(1)
    reader, layout, memory = CardReader(threads=1), TableLayout.load(), TableMemory(clock=lambda: 0.0)
    rng = np.random.default_rng(seed)
    first, second = deal(rng, layout), deal(rng, layout)
    zone = layout.zones[4]
    one = first | {zone.place: first[zone.place] | {zone.row: first[zone.place][zone.row][::-1]}}
    frames = [render_table(hands, layout, seed=seed).frame for hands in (first, one, second)]
    view = read(frames[0], layout, reader, memory=memory).view
    assert view is not None
    crops = [view.rectify(frames[0], each, LEARN_PX_PER_MM) for each in layout.zones]

    def over(*turns: int) -> float:
        return _least_ms(lambda k: read(frames[turns[k % len(turns)]], layout, reader, memory=memory))

    return {
        "the network alone, 2 px/mm": _least_ms(lambda _: [reader.indices(crop) for crop in crops]),
        "a full frame": _least_ms(lambda _: read(frames[0], layout, reader)),
        "all zones changed": over(2, 0),
        "one zone changed": over(1, 0),
        "nothing changed": over(0),
    }


def _least_ms(run: Callable[[int], object]) -> float:
    """Return the least processor time of a few runs, numbered: other programs add to it by sharing caches."""
    took = []
    for turn in range(TIMES + 1):
        began = time.process_time()
        run(turn)
        took.append(1000 * (time.process_time() - began))
    return round(min(took[1:]), 1)


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
