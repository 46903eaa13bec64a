"""How the reader's errors are counted for the simulation."""

from __future__ import annotations

import hashlib
import json

from models.training.judge import JudgedCard, Outcome
from models.training.measure import ERRORS_FILE, confusions, count
from vision.reading.network import default_model


def test_what_came_of_each_card_is_counted_once() -> None:
    cards = [
        JudgedCard("As", "As", sure=True),
        JudgedCard("Ks", "Ks"),
        JudgedCard("Qs", "Qc"),
        JudgedCard("Js", "Jc", sure=True),
        JudgedCard("Ts", ""),
        JudgedCard("", "9s"),
        JudgedCard("", "8s", sure=True),
        JudgedCard("7s", "7c", sure=True, fit=False),
    ]
    assert count(Outcome(cards=cards)) == {
        "cards": 5,
        "unsure": 1,
        "misread_unsure": 1,
        "misread_sure": 1,
        "missed": 1,
        "extra_unsure": 1,
        "extra_sure": 1,
    }


def test_what_is_taken_for_what_is_counted_over_all_pictures() -> None:
    first = Outcome(cards=[JudgedCard("Qs", "Qc"), JudgedCard("As", "As")])
    second = Outcome(cards=[JudgedCard("Qs", "Qc", fit=False), JudgedCard("", "9s"), JudgedCard("2c", "")])
    assert confusions(first + second) == {"Qs": {"Qc": 2}}


def test_the_packaged_counts_are_of_the_packaged_model() -> None:
    model = default_model()
    errors = json.loads(model.with_name(ERRORS_FILE).read_text())
    assert errors["model"] == hashlib.sha256(model.read_bytes()).hexdigest(), (
        "run `python -m models.training errors` after a new model"
    )
    assert errors["ordinary"]["cards"] > 8_000
