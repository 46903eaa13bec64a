"""The JSON Schemas of `feltwatch settle`, against the code that reads hands and writes answers; the book's examples."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result
from jsonschema_rs import meta, validator_for

from firmware.cli.main import main
from firmware.rules import Hand, HandError, cards_text, load_profile, profile_names, read_hand, settle_json
from firmware.rules.exchange import LARGEST_NUMBER
from firmware.rules.exchange_schema import input_schema, output_schema
from firmware.rules.words import ROW_NAMES
from tests.firmware.rules.random_settlements import hand as random_hand
from tests.firmware.rules.settle_fuzz import lines

Json = dict[str, Any]

HANDS: Final = validator_for(input_schema())
ANSWERS: Final = validator_for(output_schema())
PAGE: Final = Path(__file__).parents[3] / "docs/developer/settle.md"
LOW: Final = {"front": "8c 7d 5c", "middle": "2c 2d Js 9d 6c", "back": "3c 3d 4c 4d 6s"}
HIGH: Final = {"front": "Ac Kh Qh", "middle": "5s 5h Jh 9h 6d", "back": "7h 7s 8h 8s 10h"}
GOOD: Final[Json] = {
    "profile": "washington-1-unit",
    "button": 1,
    "seats": [{"seat": 1, **LOW}, {"seat": 2, **HIGH}],
}
SURRENDERED: Final[Json] = {
    "profile": "poker-flush-eastern",
    "button": 1,
    "seats": [{"seat": 1, "surrenders": True}, {"seat": 2, **HIGH}],
}


def run(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(main, ["settle", *arguments], input=stdin)


def to_json(hand: Hand, profile: str) -> Json:
    """Return a hand as the JSON object that `read_hand` reads."""
    seats = []
    for seat in hand.seats:
        told = {name: getattr(seat, name) for name in type(seat).__slots__ if name != "rows"}
        if seat.rows is not None:
            told |= {name: cards_text(cards) for name, cards in zip(ROW_NAMES, seat.rows, strict=True)}
        seats.append(told)
    return {"profile": profile, "button": hand.button, "unit": hand.unit, "seats": seats}


def seat_with(**changed: object) -> Json:
    """Return a good hand whose first seat has other values."""
    first, *others = GOOD["seats"]
    return {**GOOD, "seats": [first | changed, *others]}


def without(hand: Json, key: str) -> Json:
    return {name: value for name, value in hand.items() if name != key}


@pytest.mark.parametrize("schema", [input_schema, output_schema])
def test_a_schema_is_one_of_draft_2020_12(schema: Any) -> None:
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    meta.validate(schema())


@pytest.mark.parametrize("name", profile_names())
def test_random_hands_and_their_answers_fit_under_every_profile(name: str) -> None:
    profile, deal = load_profile(name), random.Random(f"schema {name}")
    for _ in range(200):
        hand = to_json(random_hand(deal, profile), name)
        HANDS.validate(hand)
        ANSWERS.validate(settle_json(hand))


def test_every_damaged_hand_that_is_read_fits() -> None:
    read = irregular = 0
    for line in lines(22, 3_000):
        try:
            hand = json.loads(line)
            answer = settle_json(hand)
        except (ValueError, RecursionError, HandError):
            continue
        HANDS.validate(hand)
        ANSWERS.validate(answer)
        read += 1
        irregular += bool(answer["irregularities"])
    assert read > 500
    assert irregular > 0


@pytest.mark.parametrize(
    "hand",
    [
        GOOD,
        SURRENDERED,
        seat_with(front="Ac Kh ??", player=None, stack=None, acted=-2, declares=False),
        seat_with(front="", middle=" 10h  Th "),
        {**GOOD, "options": {"scoring.scoop": 3}, "unit": LARGEST_NUMBER},
    ],
)
def test_what_is_read_fits_and_so_does_its_answer(hand: Json) -> None:
    HANDS.validate(hand)
    ANSWERS.validate(settle_json(hand))


@pytest.mark.parametrize(
    "hand",
    [
        without(GOOD, "button"),
        without(GOOD, "seats"),
        {**GOOD, "buton": 1},
        {**GOOD, "button": 6},
        {**GOOD, "button": True},
        {**GOOD, "button": "one"},
        {**GOOD, "unit": 0},
        {**GOOD, "unit": LARGEST_NUMBER + 1},
        {**GOOD, "unit": 1.5},
        {**GOOD, "seats": GOOD["seats"][:1]},
        {**GOOD, "seats": [*GOOD["seats"], *GOOD["seats"], *GOOD["seats"]]},
        {**GOOD, "options": {"scoring.scop": 3}},
        {**GOOD, "options": []},
        {**GOOD, "profile": 7},
        seat_with(seat=0),
        seat_with(front="8c 7d 5x"),
        seat_with(front="8c7d 5c"),
        seat_with(front=None),
        seat_with(stack=-1),
        seat_with(stack="100"),
        seat_with(declares=1),
        seat_with(player=1),
        seat_with(nickname="A"),
        {**GOOD, "seats": [without(GOOD["seats"][0], "back"), GOOD["seats"][1]]},
        {**SURRENDERED, "seats": [{"seat": 1, "surrenders": True, "front": "8c 7d 5c"}, {"seat": 2, **HIGH}]},
        {**SURRENDERED, "seats": [{"seat": 1, "surrenders": True, "declares": True}, {"seat": 2, **HIGH}]},
        [],
        "As",
    ],
)
def test_what_the_schema_refuses_the_command_refuses_too(hand: object) -> None:
    assert not HANDS.is_valid(hand)
    with pytest.raises(HandError):
        read_hand(hand)


def test_an_error_fits_and_an_answer_with_anything_more_or_less_does_not() -> None:
    done = run("--json", stdin='{"button": 1}\n{"seats": [\n')
    assert done.exit_code == 2
    for line in done.stdout.splitlines():
        ANSWERS.validate(json.loads(line))
    answer = settle_json(GOOD)
    for key in answer:
        assert not ANSWERS.is_valid(without(answer, key)), key
    assert not ANSWERS.is_valid({**answer, "more": 1})
    answer["pairs"][0]["lines"][0]["id"] = "row_lost"
    assert not ANSWERS.is_valid(answer)


@pytest.mark.parametrize(("which", "schema"), [("input", input_schema), ("output", output_schema)])
def test_the_command_prints_its_schemas(which: str, schema: Any) -> None:
    done = run("--schema", which)
    assert (done.exit_code, json.loads(done.stdout)) == (0, schema())


def test_the_examples_of_the_book_are_what_the_command_answers() -> None:
    blocks = re.findall(r"^```json\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 6
    for given, told in zip(blocks[::2], blocks[1::2], strict=True):
        HANDS.validate(json.loads(given))
        done = run("--json", stdin=given)
        answer = json.loads(done.stdout)
        rules = load_profile(answer["profile"])
        assert (done.exit_code, answer.pop("profile_hash")) == (0, rules.hash)
        assert {"profile_hash": "(64 hexadecimal digits)", **answer} == json.loads(told)
