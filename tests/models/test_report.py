"""The report: what it concludes from counts, and that it is written whole; where matplotlib is installed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is installed for training only: make training")

from models.training import report
from models.training.aims import aims
from models.training.judge import Judged, Outcome
from models.training.measure import Measured
from models.training.plots import classes
from models.training.softened import Softening
from models.training.unseen import JUDGING, ODD_JUDGING
from vision.reading.cards import CARDS
from vision.reading.network import Calibrations
from vision.synthetic.evaluation import Score, grid
from vision.synthetic.yolo_peer import Compared

MAX_PICTURE_BYTES = 100_000


def tables(count: int, wrong: int = 0) -> Outcome:
    rng = np.random.default_rng(count)
    cards = [
        Judged(c, c, float(m), 6.0, 0.999, True) for c, m in zip(CARDS, rng.uniform(4, 12, 52), strict=True)
    ]
    cards += [Judged("Jd", "4d", 1.0, 6.0, 0.4), Judged("", "Qs", 0.0, 1.0, 0.3), Judged("6h", "")]
    whole = count - wrong
    return Outcome(Score(52 * count, 52 * count - wrong, 52 * count - wrong, wrong, count, whole), cards, 0)


@pytest.fixture
def measured() -> Measured:
    def part(decks: tuple[str, ...]) -> dict[tuple[str, str], Outcome]:
        return {(deck, c.name): tables(2) for deck in decks for c in grid()}

    stages = {"markers": 30.0, "network": 50.0, "total": 140.0}
    return Measured(
        manifest={"sha256": "ab" * 32, "parameters": 1, "trained": {"crops": 1, "photographs": []}},
        bytes=800_000,
        machine="a machine",
        day="2026-01-01",
        minutes=1.0,
        tables=2,
        conditions=grid(),
        ordinary=part(JUDGING),
        odd=part(ODD_JUDGING),
        enrolled=part((*JUDGING, *ODD_JUDGING[1:])),
        gaps=(part(JUDGING), part(JUDGING)),
        refused={ODD_JUDGING[0]: "Picture 1 does not show the spread."},
        softened={Softening("blur", "4 px", grid()[0]): tables(3)},
        scales={2.0: tables(9), 0.8: tables(9, wrong=3)},
        real={"phone": tables(2)},
        seed=0,
        photographs={"bidly_deals": tables(1)},
        colourless={"bidly_deals": Outcome(Score(cards=52, tables=1), [], 1)},
        ms={2: stages, 1: stages},
        resident=250_000_000,
        peer=Compared(50.0, 200.0, "yolo11n-1280, 1280 × 1280"),
    )


def met(m: Measured, what: str) -> bool | None:
    return next(aim.met for aim in aims(m) if aim.what == what)


def test_too_few_cards_say_nothing_of_silent_errors(measured: Measured) -> None:
    for what in (
        "ordinary decks",
        "ordinary decks, enrolled",
        "a third missing",
        "a third missing, enrolled",
    ):
        assert met(measured, f"{what}: silent errors") is None
    assert met(measured, "softened until a person hesitates") is None


def test_enough_cards_without_an_error_do(measured: Measured) -> None:
    key = (JUDGING[0], grid()[0].name)
    many = replace(measured, ordinary=measured.ordinary | {key: tables(2000)})
    assert met(many, "ordinary decks: silent errors") is True


def test_a_silent_error_is_no_aim_met(measured: Measured) -> None:
    key = (JUDGING[0], grid()[0].name)
    bad = replace(
        measured,
        ordinary=measured.ordinary | {key: tables(2, wrong=1)},
        enrolled=measured.enrolled | {key: tables(2, wrong=1)},
        softened={next(iter(measured.softened)): tables(3, wrong=1)},
        odd=measured.odd | {(ODD_JUDGING[0], grid()[0].name): tables(2, wrong=1)},
        real={"phone": tables(2, wrong=1)},
    )
    for what in (
        "ordinary decks: silent errors",
        "ordinary decks, enrolled: silent errors",
        "softened until a person hesitates",
        "odd decks",
        "real cards, not trained on: phone: silent errors",
    ):
        assert met(measured, what) is not False
        assert met(bad, what) is False


def test_tables_with_a_question_are_counted_against_the_aim(measured: Measured) -> None:
    what = "ordinary decks, enrolled: no question"
    assert met(measured, what) is False
    unasked = {key: replace(outcome, unasked=2) for key, outcome in measured.enrolled.items()}
    assert met(replace(measured, enrolled=unasked), what) is True


def test_what_was_not_measured_is_not_claimed(measured: Measured) -> None:
    without = replace(measured, peer=None)
    assert met(without, "the network's share of YOLO11n at 1280 px") is None
    assert met(measured, "the network's share of yolo11n-1280, 1280 × 1280") is True


def test_the_report_is_written_whole_with_small_pictures(measured: Measured, tmp_path: Path) -> None:
    path = report.write(measured, Calibrations(), tmp_path)
    text = path.read_text()
    assert "nan" not in text
    assert "Jd as 4d" in text
    assert measured.refused[ODD_JUDGING[0]] in text
    pictures = {picture.name: picture.stat().st_size for picture in (tmp_path / "reader-report").iterdir()}
    assert len(pictures) == 5
    assert max(pictures.values()) <= MAX_PICTURE_BYTES
    assert all(f"reader-report/{name}" in text for name in pictures)


def test_the_cards_figures_are_replaced_and_its_words_kept(measured: Measured, tmp_path: Path) -> None:
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


def test_names_are_classed_by_the_confidence_that_was_stated() -> None:
    cards = [Judged("As", "As", 5, 6, 0.97), Judged("As", "Ad", 5, 6, 0.97), Judged("2c", "2c", 9, 6, 0.9995)]
    assert [(right, of) for _, right, of in classes(cards)] == [(1, 2), (1, 1)]
