"""Evaluates the reader: counts over rendered tables and labelled photographs, with their uncertainty.

Nothing is trained or tuned here, and only photographs marked `evaluate` are read.
"""

from __future__ import annotations

import csv
import math
import statistics
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path

import numpy as np

from vision.base.pictures import load_picture
from vision.felt.layout import TableLayout
from vision.reading.loose_cards import read_photograph
from vision.reading.network import CardReader
from vision.reading.table_reading import TableReading, read
from vision.synthetic.decks import Deck
from vision.synthetic.render import Conditions, deal, render_table


@dataclass
class Score:
    """Counts of cards and tables.

    Attributes:
        cards: cards on the tables.
        right: of them, named rightly (sure or not).
        sure: of them, named rightly and sure.
        wrong: names given surely to something that was not there: the silent errors.
        tables: pictures read.
        whole: of them, every card right and nothing else named.
    """

    cards: int = 0
    right: int = 0
    sure: int = 0
    wrong: int = 0
    tables: int = 0
    whole: int = 0
    misread: list[str] = field(default_factory=list)

    def add(self, truth: Sequence[str], named: Sequence[tuple[str, bool]]) -> bool:
        """Count one zone or photograph: the cards there, and those named with whether they are sure.

        Returns:
            Whether exactly the cards that were there were named.
        """
        there, got = set(truth), {card for card, _ in named}
        self.cards += len(truth)
        self.right += len(there & got)
        self.sure += len({card for card, sure in named if sure} & there)
        self.wrong += sum(sure and card not in there for card, sure in named)
        self.misread += sorted(there - got)
        return there == got and len(named) == len(truth)

    def __add__(self, other: Score) -> Score:
        return Score(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def wilson(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Return the Wilson score interval of a share (95 % by default); (0, 1) without any counts."""
    if of == 0:
        return 0.0, 1.0
    p = hits / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Condition:
    """One row of the grid: a name, whether it counts towards the aims, how the table is rendered."""

    name: str
    sets: str
    conditions: Conditions
    scale: float


def grid() -> tuple[Condition, ...]:
    """Return the committed grid of conditions (`vision/grid.toml`)."""
    rows = tomllib.loads((resources.files("vision") / "grid.toml").read_text())["condition"]
    found = []
    for row in rows:
        name, sets, scale = row.pop("name"), row.pop("sets"), row.pop("scale", 1.0)
        found.append(Condition(name, sets, Conditions(**row), scale))
    return tuple(found)


def ordinary() -> tuple[Condition, ...]:
    """Return the conditions of the grid that count towards the aims."""
    return tuple(condition for condition in grid() if condition.sets == "ordinary")


def score_table(
    hands: Mapping[str, Mapping[str, Sequence[str]]], reading: TableReading, score: Score
) -> None:
    """Count one table's reading against the cards that were laid."""
    exact = [
        score.add(hands[zone.place][zone.row], [(c.card, c.sure) for c in zone.cards])
        and list(hands[zone.place][zone.row]) == [c.card for c in zone.cards]
        for zone in reading.zones
    ]
    score.tables += 1
    score.whole += all(exact)


def score_deck(
    deck: Deck,
    condition: Condition,
    reader: CardReader,
    layout: TableLayout,
    tables: int,
    seed: int = 0,
    ms: dict[str, list[float]] | None = None,
) -> Score:
    """Render and read tables of 52 cards of a deck; the same tables for the same seed.

    `ms`, if given, collects the milliseconds of each stage.
    """
    score = Score()
    for number in range(tables):
        rng = np.random.default_rng([seed, number, zlib.crc32(f"{deck.name}/{condition.name}".encode())])
        hands, look = deal(rng, layout), condition.conditions
        scene = render_table(hands, layout, deck, seed=rng, conditions=look, scale=condition.scale)
        reading = read(scene.frame, layout, reader)
        score_table(hands, reading, score)
        for stage, value in reading.ms.items():
            if ms is not None:
                ms.setdefault(stage, []).append(value)
    return score


def photographs_with_labels(folder: Path, split: str = "evaluate") -> Iterator[tuple[Path, list[str]]]:
    """Yield the photographs of a set that are marked so (`evaluate` or `train`), with their cards."""
    with (folder / "manifest.csv").open() as rows:
        for row in csv.DictReader(rows):
            if row["split"] == split:
                yield folder / row["file"], row["labels"].split()


def score_photographs(folder: Path, reader: CardReader) -> Score:
    """Read a set's photographs loosely: scale, place and number of cards unknown."""
    score = Score()
    for path, labels in photographs_with_labels(folder):
        cards, _ = read_photograph(load_picture(path), reader)
        score.whole += score.add(labels, [(c.card, c.sure) for c in cards])
        score.tables += 1
    return score


def summary(ms: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the median milliseconds of each stage and of all of them together."""
    total = [sum(values) for values in zip(*ms.values(), strict=True)]
    medians = {stage: round(statistics.median(values), 1) for stage, values in ms.items()}
    return medians | {"total": round(statistics.median(total), 1)}
