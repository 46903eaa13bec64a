"""Everything the report says, measured: tables, photographs, enrolment, scale, time.

Rendered tables are of decks that were neither trained on nor calibrated on. Photographs are those marked
`evaluate`. Time is taken last, on the process's own, and the machine is named with it.
"""

from __future__ import annotations

import datetime
import json
import math
import multiprocessing
import os
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from models.training import real, softened
from models.training.judge import (
    KEPT,
    Outcome,
    Photograph,
    Spread,
    Tables,
    describe_machine,
    enrol_deck,
    on_all_cores,
    read_photograph,
    read_tables,
    total,
)
from models.training.softened import Softening
from models.training.unseen import FOLDER, JUDGING, ODD_JUDGING
from vision.base.arrays import Image
from vision.felt.layout import TableLayout
from vision.reading.network import CardReader, DeckProfile
from vision.reading.table_reading import read
from vision.synthetic.decks import DrawnDeck
from vision.synthetic.evaluation import Condition, grid, ordinary, photographs_with_labels, summary
from vision.synthetic.render import Conditions, deal, render_table
from vision.synthetic.yolo_peer import Compared, compare

SCALES_PX_PER_MM = (2.0, 1.5, 1.2, 1.0, 0.8)
FEW = 2
"""Tables per deck and condition, at most, where no aim asks for a bound: limits, scales, odd decks."""
SOME = 6
"""Tables of each deck of real cards and look, at most: its photographs are few."""
_TIMED = 9  # readings, of which the median is given


@dataclass(frozen=True)
class Measured:
    """Everything measured in one run.

    Attributes:
        manifest: the model's.
        bytes: the model file's size.
        machine, day: where and when.
        minutes: how long it took.
        tables: tables per deck and condition.
        conditions: the grid.
        ordinary, odd: by deck and condition, without enrolment.
        enrolled: likewise with it, the decks of both.
        gaps: the ordinary decks on tables that lack a third of their cards, without enrolment, and with it.
        refused: decks whose enrolment was refused, and why.
        scales: by px/mm, the ordinary decks.
        softened: tables softened until a person hesitates, by softening, the ordinary decks.
        real: tables of real cards, by deck.
        seed: of all tables.
        photographs, colourless: by set, as they are and without colour.
        ms: by threads, median milliseconds per stage of a full-size frame.
        resident: bytes that a process reading full-size frames takes at most.
        peer: another network's time next to ours, if one was given.
    """

    manifest: dict[str, Any]
    bytes: int
    machine: str
    day: str
    minutes: float
    tables: int
    conditions: tuple[Condition, ...]
    ordinary: dict[tuple[str, str], Outcome]
    odd: dict[tuple[str, str], Outcome]
    enrolled: dict[tuple[str, str], Outcome]
    gaps: tuple[dict[tuple[str, str], Outcome], dict[tuple[str, str], Outcome]]
    refused: dict[str, str]
    scales: dict[float, Outcome]
    softened: dict[Softening, Outcome]
    real: dict[str, Outcome]
    seed: int
    photographs: dict[str, Outcome]
    colourless: dict[str, Outcome]
    ms: dict[int, dict[str, float]]
    resident: int
    peer: Compared | None

    def over(
        self, part: dict[tuple[str, str], Outcome], decks: Iterable[str] | None = None, sets: str = "ordinary"
    ) -> Outcome:
        """Add up some decks (all unless named) over the conditions of a set; "" for all of them."""
        wanted = {c.name for c in self.conditions if sets in ("", c.sets)}
        names = None if decks is None else set(decks)
        return total(o for (d, c), o in part.items() if c in wanted and (names is None or d in names))

    def named(self, part: dict[tuple[str, str], Outcome], condition: str) -> Outcome:
        """Add up all decks under one condition."""
        return total(o for (_, c), o in part.items() if c == condition)


def measure(model: Path, data: Path | None, tables: int, seed: int, peer: Path | None) -> Measured:
    """Measure everything; `data` is the folder of photographs, `peer` the graph of another network."""
    began = time.monotonic()
    conditions, layout = grid(), TableLayout.load()
    evening = conditions[0]
    decks = (*JUDGING, *ODD_JUDGING)
    learnt = on_all_cores(
        enrol_deck, [Spread(model, FOLDER / name, evening, seed) for name in decks], "decks enrolled"
    )
    profiles = {n: p for n, p in zip(decks, learnt, strict=True) if isinstance(p, DeckProfile)}
    refused = {n: p for n, p in zip(decks, learnt, strict=True) if isinstance(p, str)}
    keys = [(name, c) for name in decks for c in conditions]
    few = min(tables, FEW)
    tasks = [
        Tables(
            model,
            FOLDER / name,
            c,
            tables if name in JUDGING and c.sets == "ordinary" else few,
            seed,
            profiles.get(name),
        )
        for name, c in keys
    ]
    finer = [(scale, name) for scale in SCALES_PX_PER_MM for name in JUDGING]
    tasks += [Tables(model, FOLDER / name, at_scale(scale, layout), few, seed) for scale, name in finer]
    lacking = [(name, c) for name in JUDGING for c in ordinary()]
    tasks += [
        Tables(model, FOLDER / name, c, math.ceil(1.5 * tables), seed, profiles.get(name), gaps=True)
        for name, c in lacking
    ]
    read_twice = on_all_cores(read_tables, tasks, "decks and conditions")
    found = {(name, c.name): both for (name, c), both in zip(keys, read_twice, strict=False)}
    scales: dict[float, Outcome] = {}
    for (scale, _), (plain, _) in zip(finer, read_twice[len(keys) :], strict=False):
        scales[scale] = scales.get(scale, Outcome()) + plain
    gaps = dict(zip(((n, c.name) for n, c in lacking), read_twice[-len(lacking) :], strict=True))
    photographs, colourless = _photographs(model, data) if data else ({}, {})
    laid = real.measure(model, data, tuple(real.DECKS), min(tables, SOME), seed) if data else {}
    machine = describe_machine()
    return Measured(
        manifest=json.loads(model.with_suffix(".json").read_text()),
        bytes=model.stat().st_size,
        machine=machine,
        day=datetime.datetime.now(datetime.UTC).date().isoformat(),
        tables=tables,
        conditions=conditions,
        ordinary={key: plain for key, (plain, _) in found.items() if key[0] in JUDGING},
        odd={key: plain for key, (plain, _) in found.items() if key[0] in ODD_JUDGING},
        enrolled={key: learnt for key, (_, learnt) in found.items() if key[0] in profiles},
        gaps=(
            {key: plain for key, (plain, _) in gaps.items()},
            {key: learnt for key, (_, learnt) in gaps.items() if key[0] in profiles},
        ),
        refused=refused,
        scales=scales,
        softened=softened.measure(model, JUDGING, 1, seed),
        photographs=photographs,
        real=laid,
        seed=seed,
        colourless=colourless,
        ms={threads: time_stages(model, threads) for threads in (2, 1)},
        resident=resident_bytes(model),
        peer=time_beside(model, peer) if peer else None,
        minutes=(time.monotonic() - began) / 60 + _minutes_before(),
    )


def _minutes_before() -> float:
    """Return what the results of a run that was stopped took, on all cores."""
    kept = KEPT.get()
    return kept.seconds / 60 / (os.cpu_count() or 1) if kept else 0.0


def at_scale(px_per_mm: float, layout: TableLayout) -> Condition:
    """Return an ordinary evening seen by a camera that gives so many pixels per millimetre of felt."""
    return Condition(f"{px_per_mm} px/mm", "scales", Conditions(), px_per_mm / layout.camera.px_per_mm)


def _photographs(model: Path, data: Path) -> tuple[dict[str, Outcome], dict[str, Outcome]]:
    sets = [
        (manifest.parent.name, Photograph(model, file, tuple(labels)))
        for manifest in sorted(data.glob("*/manifest.csv"))
        for file, labels in photographs_with_labels(manifest.parent)
    ]
    tasks = [photo for _, photo in sets]
    tasks += [replace(photo, colourless=True) for photo in tasks]
    outcomes = on_all_cores(read_photograph, tasks, "photographs")
    found: dict[str, Outcome] = {}
    grey: dict[str, Outcome] = {}
    for (name, _), outcome, without in zip(sets, outcomes, outcomes[len(sets) :], strict=False):
        found[name] = found.get(name, Outcome()) + outcome
        grey[name] = grey.get(name, Outcome()) + without
    return found, grey


def time_stages(model: Path, threads: int) -> dict[str, float]:
    """Return the median milliseconds of each stage of reading a full-size frame, and of all together."""
    layout, reader = TableLayout.load(), CardReader(model, threads)
    frame = rendered_table(layout)
    usual = cv2.getNumThreads()
    cv2.setNumThreads(threads)
    try:
        read(frame, layout, reader)  # the first reading pays for what is loaded lazily
        ms: dict[str, list[float]] = {}
        for _ in range(_TIMED):
            for stage, value in read(frame, layout, reader).ms.items():
                ms.setdefault(stage, []).append(value)
    finally:
        cv2.setNumThreads(usual)
    return summary(ms)


def resident_bytes(model: Path) -> int:
    """Return the most memory that a process of its own held while it read full-size frames."""
    frame = rendered_table(TableLayout.load())
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_read_and_weigh, model, frame).result()


def _read_and_weigh(model: Path, frame: Image) -> int:
    layout, reader = TableLayout.load(), CardReader(model, threads=2)
    for _ in range(_TIMED):
        read(frame, layout, reader)
    # getrusage would count what this process held before it became one of its own
    (peak,) = (line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    return int(peak.split()[1]) * 1024


def time_beside(model: Path, peer: Path) -> Compared:
    """Time our network on the zones of one table next to the other network."""
    layout = TableLayout.load()
    return compare(CardReader(model, threads=2), peer, rendered_table(layout), layout, threads=2)


def rendered_table(layout: TableLayout) -> Image:
    """Render the full-size frame on which time is taken."""
    rng = np.random.default_rng(0)
    return render_table(deal(rng, layout), layout, DrawnDeck(), seed=rng).frame
