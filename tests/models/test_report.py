"""The report: what it concludes from counts, and that it is written whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.training import report
from models.training.judge import JudgedCard, Outcome
from models.training.measure import Key, Measurements
from models.training.unseen import JUDGING, ODD_JUDGING
from vision.reading.cards import CARDS
from vision.reading.network import Calibrations
from vision.synthetic.evaluation import Score, grid


def tables(count: int, wrong: int = 0) -> Outcome:
    rng = np.random.default_rng(count)
    cards = [
        JudgedCard(c, c, float(m), 6.0, sure=True) for c, m in zip(CARDS, rng.uniform(4, 12, 52), strict=True)
    ]
    cards += [
        JudgedCard("Jd", "4d", 1.0, 6.0),
        JudgedCard("", "Qs", 0.0, 1.0),
        JudgedCard("6h", ""),
    ]
    whole = count - wrong
    return Outcome(Score(52 * count, 52 * count - wrong, 52 * count - wrong, wrong, count, whole), cards, 0)


def outcomes() -> Iterator[tuple[Key, Outcome]]:
    for deck in (*JUDGING, *ODD_JUDGING):
        for c in grid():
            yield ("whole", deck, c.name), tables(2)
            if deck != ODD_JUDGING[0]:
                yield ("whole enrolled", deck, c.name), tables(2)
            if deck in JUDGING:
                yield ("gaps", deck, c.name), tables(2)
                yield ("gaps enrolled", deck, c.name), tables(2)
    yield ("scale", JUDGING[0], "2 px/mm"), tables(9)
    yield ("scale", JUDGING[0], "0.8 px/mm"), tables(9, wrong=3)
    yield ("softened", JUDGING[0], "blur 4.0 px; ordinary evening"), tables(3)
    yield ("real", "phone", "ordinary evening"), tables(2)
    yield ("photographs", "bidly_deals", "a.jpg"), tables(1)
    yield ("colourless", "bidly_deals", "a.jpg"), Outcome(Score(cards=52, tables=1), [], 1)


@pytest.fixture
def measured() -> Measurements:
    return Measurements(
        manifest={"sha256": "ab" * 32, "parameters": 1, "trained": {"crops": 1, "photographs": []}},
        bytes=800_000,
        machine="a machine",
        day="2026-01-01",
        minutes=1.0,
        tables=2,
        seed=0,
        outcomes=dict(outcomes()),
        refused={ODD_JUDGING[0]: "Picture 1 does not show the spread."},
    )


def met(m: Measurements, what: str) -> bool | None:
    return next(aim.met for aim in report.aims(m) if aim.what == what)


def test_too_few_cards_say_nothing_of_silent_errors(measured: Measurements) -> None:
    for what in (
        "ordinary decks",
        "ordinary decks, enrolled",
        "a third missing",
        "a third missing, enrolled",
    ):
        assert met(measured, f"{what}: silent errors") is None
    assert met(measured, "softened until a person hesitates") is None


def test_enough_cards_without_an_error_do(measured: Measurements) -> None:
    key = ("whole", JUDGING[0], grid()[0].name)
    many = replace(measured, outcomes={**measured.outcomes, key: tables(2000)})
    assert met(many, "ordinary decks: silent errors") is True


@pytest.mark.parametrize(
    ("what", "part", "deck", "condition"),
    [
        ("ordinary decks: silent errors", "whole", JUDGING[0], grid()[0].name),
        ("ordinary decks, enrolled: silent errors", "whole enrolled", JUDGING[0], grid()[0].name),
        ("a third missing: silent errors", "gaps", JUDGING[0], grid()[0].name),
        ("softened until a person hesitates", "softened", JUDGING[0], "blur 4.0 px; ordinary evening"),
        ("odd decks", "whole", ODD_JUDGING[0], grid()[0].name),
        ("real cards, not trained on: phone: silent errors", "real", "phone", "ordinary evening"),
    ],
)
def test_a_silent_error_is_no_aim_met(
    measured: Measurements, what: str, part: str, deck: str, condition: str
) -> None:
    bad = {**measured.outcomes, (part, deck, condition): tables(2, wrong=1)}
    assert met(measured, what) is not False
    assert met(replace(measured, outcomes=bad), what) is False


def test_tables_with_a_question_are_counted_against_the_aim(measured: Measurements) -> None:
    what = "ordinary decks, enrolled: no question"
    assert met(measured, what) is False
    unasked = {key: replace(outcome, unasked=2) for key, outcome in measured.outcomes.items()}
    assert met(replace(measured, outcomes=unasked), what) is True


def test_the_report_is_written_whole(measured: Measurements, tmp_path: Path) -> None:
    text = report.write(measured, Calibrations(), tmp_path).read_text()
    assert "nan" not in text
    assert "Jd as 4d" in text
    assert measured.refused[ODD_JUDGING[0]] in text
    for name in (*JUDGING, *ODD_JUDGING, "bidly_deals", "phone", "0.8 px/mm"):
        assert name in text


def test_without_photographs_the_report_says_so(measured: Measurements, tmp_path: Path) -> None:
    rendered = {
        key: o for key, o in measured.outcomes.items() if key[0] not in ("real", "photographs", "colourless")
    }
    text = report.write(replace(measured, outcomes=rendered), Calibrations(), tmp_path).read_text()
    assert text.count("No folder of photographs was given in this run.") == 2


def test_the_cards_figures_are_replaced_and_its_words_kept(measured: Measurements, tmp_path: Path) -> None:
    card = tmp_path / "MODEL_CARD.md"
    card.write_text(f"before\n{report.MARKS[0]}\nold figures\n{report.MARKS[1]}\nafter\n")
    report.update_card(measured, card)
    text = card.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old figures" not in text
    assert "silent errors" in text


def test_the_packaged_card_has_the_marks_between_which_figures_go() -> None:
    text = report.CARD.read_text()
    assert text.index(report.MARKS[0]) < text.index(report.MARKS[1])
