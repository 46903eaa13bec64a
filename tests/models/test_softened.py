"""Tables softened until a person hesitates: which there are, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from models.training import measure, report
from models.training.__main__ import main
from models.training.judge import JudgedCard, Outcome, enlarge_from
from models.training.measure import Key, Tasks, softenings
from vision.synthetic.evaluation import Score, grid

SOFT = ("softened", "anglo", "blur 4.0 px; ordinary evening")


def test_every_softening_worsens_its_condition_and_none_comes_twice() -> None:
    for base in grid():
        found = softenings(base)
        assert len(found) == 12
        for condition, webcam_px in found.values():
            usual, now = base.conditions, condition.conditions
            worse = now.blur_px > usual.blur_px or now.noise > usual.noise or now.jpeg == 30
            assert worse or webcam_px


def test_a_webcams_picture_is_as_large_as_before_and_has_lost_what_is_fine() -> None:
    fine = np.zeros((60, 80, 3), np.uint8)
    fine[:, ::2] = 255
    soft = enlarge_from(fine, 20)
    assert soft.shape == fine.shape
    assert np.ptp(soft.astype(int)) < 100


def test_a_card_that_was_surely_wrong_is_told_with_its_condition() -> None:
    outcome = Outcome(Score(cards=2, right=1, sure=1, wrong=1, tables=1), [])
    outcome.cards = [
        JudgedCard("Kc", "Ks", 9.0, 6.0, sure=True),
        JudgedCard("2c", "2c", 9.0, 6.0, sure=True),
    ]
    other = Outcome(Score(cards=50, right=50, sure=50), [])
    text = report.table_of_softenings(
        {SOFT: outcome, ("softened", "anglo", "noise; ordinary evening"): other}
    )
    assert "| blur 4.0 px | 2 | 50.00 %" in text
    assert "| **all** | 52 |" in text
    assert "Surely wrong: Kc as Ks, 9.0 nats, evidence 6.0 (anglo, blur 4.0 px; ordinary evening)." in text


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_surely_wrong_card_makes_the_command_fail(monkeypatch: pytest.MonkeyPatch, wrong: int) -> None:
    def read_all(tasks: Tasks) -> dict[Key, Outcome]:
        return {next(iter(tasks)): Outcome(Score(cards=9, right=9, wrong=wrong), [])}

    monkeypatch.setattr(measure, "deck_folder", Path)
    monkeypatch.setattr(report, "read_all", read_all)
    result = CliRunner().invoke(main, ["softened"])
    assert result.exit_code == wrong, result.output
    assert "| **all** | 9 |" in result.output
