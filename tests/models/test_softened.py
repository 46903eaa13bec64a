"""Tables softened until a person hesitates: which there are, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from models.training import softened
from models.training.judge import Judged, Outcome, _enlarged_from
from models.training.softened import Softening, command, section, softenings
from models.training.unseen import JUDGING
from vision.synthetic.evaluation import Score, grid


def test_every_softening_worsens_its_condition_and_none_comes_twice() -> None:
    for base in grid():
        found = list(softenings(base))
        assert len({(soft.way, soft.step) for soft in found}) == len(found) == 12
        for soft in found:
            usual, now = base.conditions, soft.condition.conditions
            worse = now.blur_px > usual.blur_px or now.noise > usual.noise or now.jpeg == 30
            assert worse or soft.webcam_px


def test_a_webcams_picture_is_as_large_as_before_and_has_lost_what_is_fine() -> None:
    fine = np.zeros((60, 80, 3), np.uint8)
    fine[:, ::2] = 255
    soft = _enlarged_from(fine, 20)
    assert soft.shape == fine.shape
    assert np.ptp(soft.astype(int)) < 100


def test_a_card_that_was_surely_wrong_is_told_with_its_condition() -> None:
    soft = Softening("blur", "4 px", grid()[0])
    outcome = Outcome(Score(cards=2, right=1, sure=1, wrong=1, tables=1), [])
    outcome.cards = [
        Judged("Kc", "Ks", 9.0, 6.0, 0.99, sure=True),
        Judged("2c", "2c", 9.0, 6.0, 0.99, sure=True),
    ]
    text = section(
        {soft: outcome, replace(soft, step="5 px"): Outcome(Score(cards=50, right=50, sure=50), [])}
    )
    assert "| blur | 4 px | 2 | 50.0% | 50.0% | 1 |" in text
    assert "| **all** |  | 52 |" in text
    assert "Surely wrong: Kc as Ks, 9.0 nats, evidence 6.0 (ordinary evening, blur, 4 px)." in text


def test_a_surely_wrong_card_makes_the_command_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(wrong: int) -> dict[Softening, Outcome]:
        return {Softening("blur", "4 px", grid()[0]): Outcome(Score(cards=9, right=9, wrong=wrong), [])}

    monkeypatch.setattr(softened, "need_decks", lambda names: None)
    for wrong in (0, 1):
        monkeypatch.setattr(softened, "measure", lambda *_, wrong=wrong: found(wrong))
        result = CliRunner().invoke(command, ["--deck", JUDGING[0]])
        assert result.exit_code == wrong, result.output


def test_a_deck_that_does_not_judge_is_not_taken_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softened, "need_decks", lambda names: None)
    result = CliRunner().invoke(command, ["--deck", "anglo"])
    assert result.exit_code == 2
    assert "None of these decks is judging: anglo." in result.output
