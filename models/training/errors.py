"""Counts how the reader errs, for `feltwatch simulate`: `python -m models.training errors`, after calibrate.

Tables of decks that were neither trained nor calibrated on are rendered and read under the ordinary conditions, as
they are and with a person's hand over some of the cards; what came of every card is counted, and written to
`reader_errors.json` next to the model. Rendered tables are not photographs: the file says what was measured, on what.

Odd decks and the limits of reading count for nothing but what is taken for what: ordinary tables show too few mistakes
to tell.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from models.training.judge import Outcome, Tables, on_all_cores, read_tables, total
from models.training.options import MODEL
from models.training.unseen import FOLDER, JUDGING, ODD_JUDGING, need_decks
from vision.reading.network import default_model
from vision.synthetic.evaluation import grid, ordinary, wilson

FILE = "reader_errors.json"


def count(outcome: Outcome) -> dict[str, int]:
    """Count what came of the cards of pictures that were fit to be read.

    `cards` that lay there, of them `unsure` ones named rightly, `misread_unsure`, `misread_sure`, `missed`;
    `extra_sure` and `extra_unsure`: names where no card lay.
    """
    cards = [card for card in outcome.cards if card.fit]
    laid = [card for card in cards if card.laid]
    extra = [card for card in cards if not card.laid]
    named = [card for card in laid if card.named]
    return {
        "cards": len(laid),
        "unsure": sum(card.right and not card.sure for card in named),
        "misread_unsure": sum(not card.right and not card.sure for card in named),
        "misread_sure": sum(not card.right and card.sure for card in named),
        "missed": len(laid) - len(named),
        "extra_unsure": sum(not card.sure for card in extra),
        "extra_sure": sum(card.sure for card in extra),
    }


def confusions(outcomes: Iterable[Outcome]) -> dict[str, dict[str, int]]:
    """Count what was taken for what: by the card that lay there, the names it was wrongly given."""
    pairs = Counter(
        (card.laid, card.named)
        for outcome in outcomes
        for card in outcome.cards
        if card.laid and card.named and not card.right
    )
    found: dict[str, dict[str, int]] = {}
    for (laid, named), times in sorted(pairs.items()):
        found.setdefault(laid, {})[named] = times
    return found


def measure_errors(model: Path, tables: int, seed: int) -> dict[str, Any]:
    """Render, read and count; return what `reader_errors.json` holds."""
    plain = [Tables(model, FOLDER / name, c, tables, seed) for name in JUDGING for c in ordinary()]
    # another seed: a table with a hand is no second look at a table without one
    handed = [Tables(model, FOLDER / name, c, 1, seed + 1, hand=True) for name in JUDGING for c in ordinary()]
    hard = [Tables(model, FOLDER / name, c, 1, seed) for name in ODD_JUDGING for c in grid()]
    hard += [
        Tables(model, FOLDER / name, c, 1, seed) for name in JUDGING for c in grid() if c.sets != "ordinary"
    ]
    outcomes = [
        first for first, _ in on_all_cores(read_tables, [*plain, *handed, *hard], "decks and conditions")
    ]
    at_rest = total(outcomes[: len(plain)])
    under_hands = total(outcomes[len(plain) : len(plain) + len(handed)])
    counted = count(at_rest)
    return {
        "model": hashlib.sha256(model.read_bytes()).hexdigest(),
        "command": f"python -m models.training errors --tables {tables} --seed {seed}",
        "pictures": "rendered tables of 52 cards, no photographs",
        "decks": list(JUDGING),
        "conditions": [c.name for c in ordinary()],
        "tables": at_rest.score.tables,
        "unfit": at_rest.unfit,
        "ordinary": counted,
        "misread_sure_at_most": round(wilson(counted["misread_sure"], counted["cards"])[1], 6),
        "under_a_hand": {"tables": under_hands.score.tables} | count(under_hands),
        "confusions": confusions(outcomes),
    }


@click.command()
@MODEL
@click.option("--tables", default=4, show_default=True, help="Tables per deck and condition.")
@click.option("--seed", default=5, show_default=True)
def command(model: Path | None, tables: int, seed: int) -> None:
    """Count how the reader errs, for the simulation of whole evenings."""
    need_decks((*JUDGING, *ODD_JUDGING))
    model = model or default_model()
    errors = measure_errors(model, tables, seed)
    path = model.with_name(FILE)
    path.write_text(json.dumps(errors, indent=1, ensure_ascii=False) + "\n")
    counted = errors["ordinary"]
    click.echo(
        f"{counted['cards']} cards: {counted['unsure']} unsure, {counted['misread_unsure']} misread unsurely, "
        f"{counted['misread_sure']} surely (at most {errors['misread_sure_at_most']:.2%} at 95 %), "
        f"{counted['missed']} missed. {path}"
    )
