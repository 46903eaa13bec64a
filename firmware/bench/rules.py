"""`feltwatch bench rules`: the rules core's speed on this machine."""

import json
import os
import random
import subprocess
from collections.abc import Iterator, Sequence

from firmware.bench.harness import Result, benchmark, each, fastest, number, seed_option
from firmware.bench.processes import feltwatch
from firmware.rules import CARDS, Card, Hand, Profile, Rows, SeatHand, cards_text, foul, load_profile, settle
from firmware.rules.strength import Scale

PROFILE = "california-face-up"


@benchmark(
    "rules",
    number("--rounds", 15, "Rounds of each task."),
    number("--hands", 20_000, "Hands that are given to the settle command."),
    seed_option,
)
def command(rounds: int, hands: int, seed: int) -> Result:
    """Measure strengths, naturals, settlements and the settle command."""
    return Result(
        "How fast the rules are",
        "The fastest of several rounds, in processor time.",
        {
            "figures": [
                {"task": task, "figure": one} for task, one in _figures(random.Random(seed), rounds, hands)
            ]
        },
    )


def _figures(deal: random.Random, rounds: int, hands: int) -> Iterator[tuple[str, float]]:
    profile = load_profile(PROFILE)
    fives = [deal.sample(CARDS, 5) for _ in range(2_000)]
    yield "strength of 5 cards, ns", fastest(rounds, each(profile.scale.five, fives)) / len(fives) * 1e9
    thirteens = [_rows(deal.sample(CARDS, 13)) for _ in range(2_000)]
    naturals = each(lambda rows: profile.natural_finder.bits(*rows), thirteens)
    yield "all ten naturals of 13 cards, ns", fastest(rounds, naturals) / len(thirteens) * 1e9
    four = [_hand(deal, profile) for _ in range(300)]
    explained = each(lambda hand: _explain(hand, profile), four)
    yield "settlement of 4 hands, every sentence said, µs", fastest(rounds, explained) / len(four) * 1e6
    settled = each(lambda hand: settle(hand, profile), four)
    yield "settlement of 4 hands, sentences left for later, µs", fastest(rounds, settled) / len(four) * 1e6
    yield "tables of the scale built, ms", fastest(rounds, lambda: Scale("lowest")) * 1e3
    lines = [_json(_hand(deal, profile)) for _ in range(hands)]
    many = fastest(min(rounds, 3), lambda: _settle_command(lines), _children_s)
    yield f"feltwatch settle, {hands:,} JSON lines, hands/s", len(lines) / many
    one = fastest(min(rounds, 6), lambda: _settle_command(lines[:1]), _children_s)
    yield "feltwatch settle, one hand, whole process, s", one


def _settle_command(lines: list[str]) -> None:
    subprocess.run(
        feltwatch("settle", "--json"),
        input="\n".join(lines),
        text=True,
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _children_s() -> float:
    """Return the processor time in seconds of all ended child processes."""
    times = os.times()
    return times.children_user + times.children_system


def _explain(hand: Hand, profile: Profile) -> None:
    for pair in settle(hand, profile).pairs:
        for line in pair.lines:
            line.why  # noqa: B018 - its sentence is made when it is asked for


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
        {"seat": seat.seat, "stack": seat.stack}
        | {name: cards_text(cards) for name, cards, _ in (seat.rows.named() if seat.rows else ())}
        for seat in hand.seats
    ]
    return json.dumps({"profile": PROFILE, "unit": hand.unit, "button": hand.button, "seats": seats})
