"""`feltwatch bench rules`: the rules core's speed on this machine, compared with other libraries.

Every figure is the best of several rounds, in processor time. The libraries take turns in each round, so that a busy
moment of the machine affects them alike: "times ours" is the median of the rounds' ratios. The ratio of the best rounds
stands next to it; on a busy machine it jumps, because each library has its best round at another moment. Other
libraries get the same hands as their own objects, made before the clock starts.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from firmware.bench.harness import Run, children_time, json_option, machine, publish, ratio, table, timed
from firmware.rules import (
    CARDS,
    Card,
    Hand,
    Profile,
    Rows,
    SeatHand,
    cards_text,
    foul,
    load_profile,
    settle,
)
from firmware.rules.strength import Scale

PEERS = ("treys", "phevaluator", "eval7", "pokerkit")
PROFILE = "california-face-up"


@dataclass(frozen=True, slots=True)
class Figure:
    """One library's figure for one task."""

    task: str
    who: str
    value: float
    unit: str
    times_ours: float | None = None
    """Their time as a multiple of ours, the median over the rounds; None for our own figure."""
    best_times_ours: float | None = None
    """The same of the best rounds."""


@click.command(name="rules")
@click.option(
    "--rounds",
    default=15,
    show_default=True,
    type=click.IntRange(1),
    help="Rounds: figures are of the fastest one.",
)
@click.option(
    "--hands",
    default=20_000,
    show_default=True,
    type=click.IntRange(1),
    help="Hands that are given to the settle command.",
)
@click.option("--seed", default=0, show_default=True, help="The same seed deals the same hands.")
@json_option
def command(rounds: int, hands: int, seed: int, as_json: bool) -> None:
    """Measure strengths, naturals, settlements and the settle command, next to other libraries if installed."""
    deal = random.Random(seed)
    figures = list(_figures(deal, rounds, hands))
    missing = [peer for peer in PEERS if _peer(peer) is None]
    result = {"machine": machine(), "figures": [asdict(figure) for figure in figures], "missing": missing}
    shown = table(("task", "who", "figure", "times ours", "of the best rounds"), map(_row, figures))
    absent = f"Not installed: {', '.join(missing)}. They come with: pip install 'feltwatch[bench]'"
    publish(result, as_json, machine(), shown, *([absent] if missing else []))


def _row(figure: Figure) -> tuple[str, ...]:
    ratios = ("" if one is None else f"{one:.2f}" for one in (figure.times_ours, figure.best_times_ours))
    return figure.task, figure.who, f"{figure.value:,.4g} {figure.unit}", *ratios


def _peer(name: str) -> Any:
    """Return a library's module, or None if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def _each(function: Callable[[Any], object], items: Iterable[Any]) -> Run:
    """Return a run that calls a function for each item, and discards the results."""

    def run() -> None:
        for item in items:
            function(item)

    return run


def _figures(deal: random.Random, rounds: int, hands: int) -> Iterator[Figure]:
    profile = load_profile(PROFILE)
    yield from _strengths(deal, rounds, profile.scale)
    yield from _batch(deal, rounds)
    yield from _naturals(deal, rounds, profile)
    yield from _settlements(deal, rounds, profile)
    yield from _tables(rounds)
    yield from _command(deal, min(rounds, 3), hands, profile)


def _compared(task: str, times: dict[str, list[float]], unit: str, scaled: float) -> Iterator[Figure]:
    """Yield the figures of a task; the first one is ours."""
    (us, ours), *others = times.items()
    yield Figure(task, us, min(ours) * scaled, unit)
    for who, theirs in others:
        best = min(theirs)
        yield Figure(task, who, best * scaled, unit, ratio(theirs, ours), best / min(ours))


def _strengths(deal: random.Random, rounds: int, scale: Scale) -> Iterator[Figure]:
    hands = [tuple(deal.sample(CARDS, 5)) for _ in range(2_000)]
    runs: dict[str, Run] = {"feltwatch": _each(scale.five, hands)}
    runs |= _peers_strengths(hands)
    yield from _compared("strength of 5 cards", timed(rounds, runs), "ns", 1e9 / len(hands))


def _peers_strengths(hands: Sequence[tuple[Card, ...]]) -> dict[str, Run]:
    """Return the runs of the installed libraries for the hands, each with its fastest public call."""
    codes = [[card.code for card in hand] for hand in hands]
    runs: dict[str, Run] = {}
    if treys := _peer("treys"):
        runs["treys"] = _treys(treys, codes)
    if phevaluator := _peer("phevaluator"):
        runs["phevaluator"] = _phevaluator(phevaluator, codes)
    if eval7 := _peer("eval7"):
        runs["eval7"] = _each(eval7.evaluate, [[eval7.Card(code) for code in hand] for hand in codes])
    if pokerkit := _peer("pokerkit"):
        rows = [(pokerkit.StandardHighHand, tuple(pokerkit.Card.parse("".join(hand)))) for hand in codes]
        runs["pokerkit"] = _pokerkit(rows)
    return runs


def _treys(treys: Any, codes: Sequence[Sequence[str]]) -> Run:
    evaluate = treys.Evaluator().evaluate
    hands = [[treys.Card.new(code) for code in hand] for hand in codes]

    def run() -> None:
        for hand in hands:
            evaluate(hand, [])

    return run


def _phevaluator(phevaluator: Any, codes: Sequence[Sequence[str]]) -> Run:
    evaluate = phevaluator.evaluate_cards
    hands = [[phevaluator.Card.to_id(code) for code in hand] for hand in codes]

    def run() -> None:
        for a, b, c, d, e in hands:
            evaluate(a, b, c, d, e)

    return run


def _pokerkit(rows: Sequence[tuple[Any, Any]]) -> Run:
    """Return the run of pokerkit for rows with their kinds of hand: its `entry` is what it compares."""

    def run() -> None:
        for kind, cards in rows:
            kind(cards).entry  # noqa: B018

    return run


def _batch(deal: random.Random, rounds: int) -> Iterator[Figure]:
    import numpy as np

    from firmware.bench.batch import strengths

    shuffled = np.random.default_rng(deal.randrange(2**32)).random((100_000, 52)).argpartition(5, axis=1)
    cards = np.ascontiguousarray(np.tile(shuffled[:, :5].astype(np.uint8), (10, 1)).T)
    best = min(timed(rounds, {"feltwatch, NumPy": lambda: strengths(cards)})["feltwatch, NumPy"])
    yield Figure(
        "strengths of 5 cards in a batch", "feltwatch, NumPy", cards.shape[1] / best / 1e6, "million/s"
    )


def _naturals(deal: random.Random, rounds: int, profile: Profile) -> Iterator[Figure]:
    hands = [_rows(deal.sample(CARDS, 13)) for _ in range(2_000)]
    bits = profile.natural_finder.bits

    def run() -> None:
        for front, middle, back in hands:
            bits(front, middle, back)

    runs: dict[str, Run] = {"feltwatch": run}
    yield from _compared("all ten naturals of 13 cards", timed(rounds, runs), "ns", 1e9 / len(hands))


def _settlements(deal: random.Random, rounds: int, profile: Profile) -> Iterator[Figure]:
    hands = [_hand(deal, profile) for _ in range(300)]

    def settled() -> None:
        for hand in hands:
            settle(hand, profile)

    def explained() -> None:
        for hand in hands:
            for pair in settle(hand, profile).pairs:
                for line in pair.lines:
                    line.why  # noqa: B018

    runs: dict[str, Run] = {
        "feltwatch, every sentence said": explained,
        "feltwatch, sentences left for later": settled,
    }
    if pokerkit := _peer("pokerkit"):
        texts = _pokerkit_rows(pokerkit, hands)
        cards = [(kind, tuple(pokerkit.Card.parse(text))) for kind, text in texts]
        runs["pokerkit, the rows alone, from cards"] = _pokerkit(cards)
        runs["pokerkit, the rows alone, from text"] = _pokerkit(texts)
    yield from _compared("settlement of 4 hands", timed(rounds, runs), "µs", 1e6 / len(hands))


def _pokerkit_rows(pokerkit: Any, hands: Sequence[Hand]) -> list[tuple[Any, str]]:
    """Return the twelve rows of each hand, each with pokerkit's kind of hand.

    pokerkit has no three-card hands without straights and flushes; those of Rhode Island hold'em are the nearest.
    """
    standard, three = pokerkit.StandardHighHand, pokerkit.RhodeIslandHoldemHand
    return [
        (three if len(row) == 3 else standard, cards_text(row).replace(" ", ""))
        for hand in hands
        for seat in hand.seats
        for row in seat.rows or ()
    ]


def _tables(rounds: int) -> Iterator[Figure]:
    runs: dict[str, Run] = {"feltwatch": lambda: Scale("lowest")}
    yield from _compared("tables of the scale built", timed(rounds, runs), "ms", 1e3)


def _command(deal: random.Random, rounds: int, hands: int, profile: Profile) -> Iterator[Figure]:
    """Yield the processor times of `feltwatch settle` as a whole process: for many hands, and for one."""
    lines = [_json(_hand(deal, profile)) for _ in range(hands)]
    program = (sys.executable, "-m", "firmware.cli", "settle", "--json")
    with tempfile.TemporaryDirectory() as folder:
        many, one = Path(folder) / "many.jsonl", Path(folder) / "one.json"
        many.write_text("\n".join(lines), encoding="utf-8")
        one.write_text(lines[0], encoding="utf-8")

        def process(path: Path) -> None:
            subprocess.run([*program, str(path)], stdout=subprocess.DEVNULL, check=True)

        best = min(timed(rounds, {"many": lambda: process(many)}, children_time)["many"])
        yield Figure(f"feltwatch settle, {hands:,} JSON lines", "feltwatch", len(lines) / best, "hands/s")
        best = min(timed(rounds * 2, {"one": lambda: process(one)}, children_time)["one"])
        yield Figure("feltwatch settle, one hand, whole process", "feltwatch", best, "s")


def _rows(cards: Sequence[Card]) -> Rows:
    return Rows(tuple(cards[:3]), tuple(cards[3:8]), tuple(cards[8:13]))


def _hand(deal: random.Random, profile: Profile) -> Hand:
    """Return a hand of four seats without a foul: fouls have fewer lines."""
    deck = deal.sample(CARDS, 52)
    seats = []
    for seat in (1, 2, 3, 4):
        cards = deck[13 * seat - 13 : 13 * seat]
        rows = _rows(sorted(cards, key=lambda card: card.rank))
        while foul(rows, profile):
            rows = _rows(deal.sample(cards, 13))
        seats.append(SeatHand(seat=seat, rows=rows, stack=deal.randrange(10_000, 100_000)))
    return Hand(seats=tuple(seats), button=2, unit=500)


def _json(hand: Hand) -> str:
    seats = [
        {
            "seat": seat.seat,
            "stack": seat.stack,
            **{name: cards_text(cards) for name, cards, _ in (seat.rows.named() if seat.rows else ())},
        }
        for seat in hand.seats
    ]
    return json.dumps({"profile": PROFILE, "unit": hand.unit, "button": hand.button, "seats": seats})
