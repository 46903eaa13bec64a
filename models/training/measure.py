"""Measures everything that is said of the reader: tables, photographs, enrolment, softened pictures, errors.

Rendered tables are of decks that were neither trained on nor calibrated on. Photographs are those marked `evaluate`.
"""

import datetime
import hashlib
import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from models.training.judge import (
    JudgedCard,
    Outcome,
    Photograph,
    Tables,
    describe_machine,
    enrol_deck,
    on_all_cores,
    read_photograph,
    read_tables,
    total,
)
from models.training.real_decks import DECKS, cut_deck
from models.training.unseen import JUDGING, ODD_JUDGING, deck_folder
from vision.felt.layout import TableLayout
from vision.synthetic.evaluation import Condition, grid, ordinary, photographs_with_labels, wilson
from vision.synthetic.render import Conditions

SCALES_PX_PER_MM = (2.0, 1.5, 1.2, 1.0, 0.8)
FEW = 2
"""Tables per deck and condition, at most, where no aim asks for a bound: limits, scales, odd decks."""
SOME = 6
"""Tables of each deck of real cards and look, at most: its photographs are few."""
SOFT_SHARE = 16
"""One softened table of each kind for so many ordinary ones: 50,000 softened cards go with 100,000 others."""
ERRORS_FILE = "reader_errors.json"

Key = tuple[str, str, str]
"""The part of what is measured, the deck or set of photographs, the condition."""
Tasks = dict[Key, Tables]
Outcomes = Mapping[Key, Outcome]


@dataclass(frozen=True)
class Measurements:
    """Everything measured in one run.

    Attributes:
        manifest, bytes: the model's manifest and size.
        machine, day, minutes: where, when, how long.
        tables, seed: tables per deck and condition; the seed of all.
        outcomes: of the parts "whole", "gaps" (tables that lack a third of their cards), both also "… enrolled",
            "scale", "softened", "real" (tables of real cards), "photographs" and "colourless".
        refused: decks whose enrolment was refused, and why.
    """

    manifest: Mapping[str, Any]
    bytes: int
    machine: str
    day: str
    minutes: float
    tables: int
    seed: int
    outcomes: Outcomes
    refused: Mapping[str, str]

    def part(
        self, part: str, decks: Collection[str] | None = None, conditions: Collection[Condition] | None = None
    ) -> dict[Key, Outcome]:
        """Return a part, of it some decks and conditions where they are named."""
        names = None if conditions is None else {c.name for c in conditions}
        return {
            key: outcome
            for key, outcome in self.outcomes.items()
            if key[0] == part and (decks is None or key[1] in decks) and (names is None or key[2] in names)
        }

    def over(
        self, part: str, decks: Collection[str] | None = None, conditions: Collection[Condition] | None = None
    ) -> Outcome:
        """Add up a part over some decks and conditions, over all unless they are named."""
        return total(self.part(part, decks, conditions).values())


def add_up(outcomes: Outcomes, by: Callable[[Key], str]) -> dict[str, Outcome]:
    """Add outcomes up by something in their keys."""
    found: dict[str, Outcome] = defaultdict(Outcome)
    for key, outcome in outcomes.items():
        found[by(key)] += outcome
    return dict(found)


def measure(model: Path, data: Path | None, tables: int, seed: int) -> Measurements:
    """Measure everything; `data` is the folder of photographs.

    Raises:
        TrainingError: a deck's pictures are missing.
    """
    began = time.monotonic()
    few, evening = min(tables, FEW), grid()[0]
    plain_ones = {
        name: Tables(model, deck_folder(name), evening, few, seed) for name in (*JUDGING, *ODD_JUDGING)
    }
    learnt = on_all_cores(enrol_deck, plain_ones, "decks enrolled")
    tasks: Tasks = {}
    for name, plain in plain_ones.items():
        found = learnt[name]
        profile = None if isinstance(found, str) else found
        for c in grid():
            many = tables if name in JUDGING and c.sets == "ordinary" else few
            tasks["whole", name, c.name] = replace(plain, condition=c, tables=many, profile=profile)
            if name in JUDGING and c.sets == "ordinary":
                many = math.ceil(1.5 * tables)
                tasks["gaps", name, c.name] = replace(
                    plain, condition=c, tables=many, profile=profile, gaps=True
                )
        for scale in SCALES_PX_PER_MM if name in JUDGING else ():
            tasks["scale", name, f"{scale:g} px/mm"] = replace(plain, condition=at_scale(scale))
    tasks |= soften_tables(model, JUDGING, math.ceil(tables / SOFT_SHARE), seed)
    if data:
        tasks |= real_tables(model, data, tuple(DECKS), min(tables, SOME), seed)
    return Measurements(
        manifest=manifest_of(model),
        bytes=model.stat().st_size,
        machine=describe_machine(),
        day=datetime.datetime.now(datetime.UTC).date().isoformat(),
        tables=tables,
        seed=seed,
        outcomes={**read_all(tasks), **(read_photographs(model, data) if data else {})},
        refused={name: why for name, why in learnt.items() if isinstance(why, str)},
        minutes=(time.monotonic() - began) / 60,
    )


def read_all(tasks: Tasks) -> dict[Key, Outcome]:
    """Read tables on all cores; return what came of them by key, and with a profile that of the part "… enrolled"."""
    found: dict[Key, Outcome] = {}
    for (part, deck, condition), (plain, enrolled) in on_all_cores(read_tables, tasks, "tables").items():
        found[part, deck, condition] = plain
        if enrolled.score.tables:
            found[f"{part} enrolled", deck, condition] = enrolled
    return found


def manifest_of(model: Path) -> dict[str, Any]:
    """Return what a model's manifest says."""
    return dict(json.loads(model.with_suffix(".json").read_text()))


def at_scale(px_per_mm: float) -> Condition:
    """Return an ordinary evening seen by a camera that gives so many pixels per millimetre of felt."""
    return Condition(
        f"{px_per_mm} px/mm", "scales", Conditions(), px_per_mm / TableLayout.load().camera.px_per_mm
    )


def read_photographs(model: Path, data: Path) -> dict[Key, Outcome]:
    """Read the photographs marked `evaluate`, as they are and without colour."""
    tasks = {
        (part, manifest.parent.name, file.name): Photograph(model, file, tuple(labels), part == "colourless")
        for part in ("photographs", "colourless")
        for manifest in sorted(data.glob("*/manifest.csv"))
        for file, labels in photographs_with_labels(manifest.parent)
    }
    return on_all_cores(read_photograph, tasks, "photographs")


def real_tables(model: Path, data: Path, decks: Sequence[str], tables: int, seed: int) -> Tasks:
    """Give the tables of real cards: so many of each deck on an ordinary evening, untidy, and with a third missing.

    Raises:
        TrainingError: photographs that a deck is cut from are missing.
    """
    evening, untidy = grid()[:2]
    tasks: Tasks = {}
    for name in decks:
        plain = Tables(model, cut_deck(name, data), evening, tables, seed)
        tasks["real", name, evening.name] = plain
        tasks["real", name, untidy.name] = replace(plain, condition=untidy)
        tasks["real", name, "a third missing"] = replace(plain, gaps=True)
    return tasks


def softenings(base: Condition) -> dict[str, tuple[Condition, int | None]]:
    """Worsen a condition in four ways and three steps: a lens out of focus, a webcam so wide, JPEG 30, noise."""
    usual = base.conditions
    found: dict[str, tuple[Condition, int | None]] = {}
    for blur in (2.4, 3.2, 4.0):
        found[f"blur {blur} px"] = replace(base, conditions=replace(usual, blur_px=blur)), None
    for width in (1300, 950, 640):
        found[f"webcam, {width} px wide, enlarged"] = base, width
    for blur in (0.6, 1.6, 2.4):
        softer = replace(usual, blur_px=max(blur, usual.blur_px), jpeg=30)
        found[f"JPEG 30, blur {blur} px"] = replace(base, conditions=softer), None
    for noise in (10.0, 18.0, 26.0):
        found[f"noise of {noise:.0f} levels"] = replace(base, conditions=replace(usual, noise=noise)), None
    return found


def soften_tables(model: Path, decks: Sequence[str], tables: int, seed: int) -> Tasks:
    """Give the tables of each deck in each softening of each ordinary condition; every other one lacks a third."""
    kinds = [(base, words, soft) for base in ordinary() for words, soft in softenings(base).items()]
    return {
        ("softened", name, f"{words}; {base.name}"): Tables(
            model, deck_folder(name), look, tables, seed + k, gaps=(k + n) % 2 == 1, webcam_px=width
        )
        for k, (base, words, (look, width)) in enumerate(kinds)
        for n, name in enumerate(decks)
    }


def count(outcome: Outcome) -> dict[str, int]:
    """Count what came of the cards of pictures that were fit to be read.

    `cards` that lay there, of them `unsure` ones named rightly, `misread_unsure`, `misread_sure`, `missed`;
    `extra_sure` and `extra_unsure`: names where no card lay.
    """

    def kind(card: JudgedCard) -> str:
        if not card.named:
            return "missed"
        certainty = "sure" if card.sure else "unsure"
        return certainty if card.right else f"{'misread' if card.laid else 'extra'}_{certainty}"

    fit = [card for card in outcome.cards if card.fit]
    counted = Counter(map(kind, fit))
    kinds = ("unsure", "misread_unsure", "misread_sure", "missed", "extra_unsure", "extra_sure")
    return {"cards": sum(bool(card.laid) for card in fit)} | {name: counted[name] for name in kinds}


def confusions(outcome: Outcome) -> dict[str, dict[str, int]]:
    """Count what was taken for what: by the card that lay there, the names it was wrongly given."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    wrong = Counter((c.laid, c.named) for c in outcome.cards if c.laid and c.named and not c.right)
    for (laid, named), times in sorted(wrong.items()):
        found[laid][named] = times
    return dict(found)


def write_errors(model: Path, tables: int, seed: int) -> Path:
    """Count how the reader errs, for `feltwatch simulate`, into `reader_errors.json`; return its path.

    Ordinary tables as they are, and with a person's hand over some of the cards. Odd decks and the limits of reading
    count for nothing but what is taken for what: ordinary tables show too few mistakes to tell.
    """
    tasks: Tasks = {}
    for name in (*JUDGING, *ODD_JUDGING):
        for c in grid():
            hard = name in ODD_JUDGING or c.sets != "ordinary"
            plain = Tables(model, deck_folder(name), c, 1 if hard else tables, seed)
            tasks["hard" if hard else "at rest", name, c.name] = plain
            if not hard:  # another seed: a table with a hand is not a second look at a table without one
                tasks["hands", name, c.name] = replace(plain, tables=1, seed=seed + 1, hand=True)
    found = read_all(tasks)
    at_rest, hands = (total(o for key, o in found.items() if key[0] == part) for part in ("at rest", "hands"))
    counted = count(at_rest)
    errors = {
        "model": hashlib.sha256(model.read_bytes()).hexdigest(),
        "command": f"python -m models.training errors --tables {tables} --seed {seed}",
        "pictures": "rendered tables of 52 cards, no photographs",
        "decks": list(JUDGING),
        "conditions": [c.name for c in ordinary()],
        "tables": at_rest.score.tables,
        "unfit": at_rest.unfit,
        "ordinary": counted,
        "misread_sure_at_most": round(wilson(counted["misread_sure"], counted["cards"])[1], 6),
        "under_a_hand": {"tables": hands.score.tables} | count(hands),
        "confusions": confusions(total(found.values())),
    }
    path = model.with_name(ERRORS_FILE)
    path.write_text(json.dumps(errors, indent=1, ensure_ascii=False) + "\n")
    return path
