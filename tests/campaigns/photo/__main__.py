"""`python -m tests.campaigns.photo`: composes photographs of hands, settles them and counts what came of it."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import click
import cv2

from firmware.photo.asking import ROWS, Answers, Outcome, PhotoCard, Question, consider
from firmware.photo.cli import photo_cards
from firmware.rules import read_hand, settle, settlement_json
from models.training.judge import describe_machine
from tests.campaigns.photo.scenes import DECKS, Photograph, compose
from vision.reading.network import CardReader
from vision.reading.surface_reading import read_surface

_FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)
_MAX_QUESTIONS = 12
_PROFILE = "traditional"


@dataclass(frozen=True)
class Result:
    """What came of one photograph: "right", "wrong" or "open", after how many questions; seconds of the reading."""

    words: str
    end: str
    asked: int
    wall_s: float
    cpu_s: float
    why: str


def judge(photograph: Photograph, reader: CardReader) -> Result:
    """Settle a photograph, answering each question with the truth."""
    wall, cpu = time.perf_counter(), time.process_time()
    reading = read_surface(photograph.picture, reader)
    cards = photo_cards(reading)
    answers, asked = Answers(), 0
    outcome = consider(cards, answers, _PROFILE)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    why = [str(question.text) for question in outcome.questions]
    why += map(str, () if outcome.hand else outcome.sentences)
    why += [verdict.text for verdict in reading.verdicts.values() if not verdict.ok]
    while outcome.questions and asked < _MAX_QUESTIONS:
        answered = answer(outcome.questions[0], outcome, cards, answers, photograph)
        if answered is None:
            break
        answers, asked = answered, asked + 1
        outcome = consider(cards, answers, _PROFILE)
    end = "open" if outcome.settlement is None else "right" if is_right(outcome, photograph) else "wrong"
    return Result(photograph.words, end, asked, wall, cpu, " ".join(why))


def answer(
    question: Question, outcome: Outcome, cards: list[PhotoCard], answers: Answers, photograph: Photograph
) -> Answers | None:
    """Return the answers with the true one to a question; None where a person would have to draw."""
    if question.kind == "card":
        card = next(card for card in cards if card.number == int(question.key))
        size = math.dist(card.corners[0], card.corners[2])
        code, far = min(
            ((code, math.dist(card.middle, place)) for code, place in photograph.places.items()),
            key=lambda at: at[1],
        )
        return replace(answers, cards={**answers.cards, card.number: code if far < 0.25 * size else None})
    if question.kind == "missing":
        number, _, row = question.key.partition(".")
        seat = next(seat for seat in outcome.seats if seat.seat == int(number))
        seen = {card.card for card in seat.rows[ROWS.index(row)]}
        hand = max(photograph.hands, key=lambda hand: len(seen & {*hand[ROWS.index(row)]}))
        left = [code for code in hand[ROWS.index(row)] if code not in seen]
        return replace(answers, missing={**answers.missing, (seat.seat, row): tuple(left)})
    if question.kind == "grouping":
        true = {frozenset(row) for hand in photograph.hands for row in hand}
        for k, option in enumerate(question.options, 1):
            if {frozenset(row.split()) for hand in option.split(" | ") for row in hand.split(" / ")} == true:
                return replace(answers, grouping=k)
    return None


def is_right(outcome: Outcome, photograph: Photograph) -> bool:
    """Tell whether hands and settlement are those of what was laid."""
    assert outcome.hand is not None
    assert outcome.settlement is not None
    laid = {tuple(frozenset(row) for row in hand): hand for hand in photograph.hands}
    seats = []
    for seat in outcome.hand["seats"]:
        hand = laid.get(tuple(frozenset(seat[name].split()) for name in ROWS))
        if hand is None:
            return False
        seats.append(
            {"seat": seat["seat"]} | {name: " ".join(row) for name, row in zip(ROWS, hand, strict=True)}
        )
    truth = settle(*read_hand({"button": outcome.hand["button"], "seats": seats}, _PROFILE))
    one, other = settlement_json(truth), settlement_json(outcome.settlement)
    return bool(one["points"] == other["points"] and one["paid"] == other["paid"] and len(seats) == len(laid))


@click.command()
@click.option(
    "--data", type=_FOLDER, required=True, help="Folder of labelled photographs, such as ../shared/data."
)
@click.option("--cards", type=_FOLDER, required=True, help="Folder with a folder of cards for each deck.")
@click.option("--kind", type=click.Choice([*DECKS]), default="real", show_default=True, help="Which decks.")
@click.option("--scenes", default=60, show_default=True, type=click.IntRange(1), help="Photographs.")
@click.option(
    "--first", default=0, show_default=True, type=click.IntRange(0), help="The number of the first."
)
@click.option(
    "--seed", default=46, show_default=True, help="The seed; 1 is what the product was developed on."
)
@click.option(
    "--keep", type=click.Path(path_type=Path), help="Write the photographs that were not settled right here."
)
def main(data: Path, cards: Path, kind: str, scenes: int, first: int, seed: int, keep: Path | None) -> None:
    """Compose photographs, settle them and count: right after none or one question, wrong, still open.

    The exit status is 1 if one was settled wrongly, or fewer than 95 of 100 right after at most one question.
    """
    reader = CardReader(threads=2)
    results = []
    for number in range(first, first + scenes):
        photograph = compose(seed, number, kind, cards, data)
        result = judge(photograph, reader)
        results.append(result)
        click.echo(
            f"{number}: {result.end}, {result.asked} asked; {result.words}; {result.wall_s:.1f} s, "
            f"{result.cpu_s:.1f} s of processor. {result.why}".rstrip()
        )
        if keep is not None and (result.end != "right" or result.asked > 1):
            keep.mkdir(parents=True, exist_ok=True)
            cv2.imwrite(str(keep / f"{kind}-{seed}-{number}.jpg"), photograph.picture)
    ends = Counter(result.end for result in results)
    good = sum(result.end == "right" and result.asked <= 1 for result in results)
    none = sum(result.end == "right" and not result.asked for result in results)
    cpu, wall = (sorted(getattr(result, name) for result in results) for name in ("cpu_s", "wall_s"))
    click.echo(
        f"{kind}, seed {seed}: {good} of {scenes} settled right after at most one question ({none} without any), "
        f"{ends['wrong']} wrongly, {ends['open']} open. Reading and rows: {cpu[scenes // 2]:.1f} s of processor "
        f"(most {cpu[-1]:.1f}), {wall[scenes // 2]:.1f} s (most {wall[-1]:.1f}). {describe_machine()}"
    )
    if ends["wrong"] or good < 0.95 * scenes:
        raise SystemExit(1)


if __name__ == "__main__":
    main(prog_name="python -m tests.campaigns.photo")
