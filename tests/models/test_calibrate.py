"""What a margin is worth, and what a reading is held against."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from models.training import calibrate
from models.training.calibrate import (
    BUDGETS,
    EVIDENCE_BUDGET,
    MIN_EVIDENCE,
    MIN_MARGIN,
    Collection,
    Samples,
    affordable,
    collect,
    fit,
    sure_from,
    tail_from,
    tail_scale,
    write,
)
from models.training.judge import JudgedCard, Outcome, outcome
from models.training.samples import TrainingError
from models.training.unseen import DECKS, JUDGING, ODD_JUDGING, VALIDATION
from vision.felt.layout import TableLayout
from vision.felt.quality import PictureVerdict
from vision.reading.network import Calibration, Calibrations, CardReader, Curve, default_model
from vision.reading.table_reading import ReadCard, TableReading, ZoneReading
from vision.synthetic.decks import DrawnDeck
from vision.synthetic.render import Scene, deal, render_table

BUDGET = BUDGETS[0]


def drawn(slope: float, offset: float, count: int = 20_000) -> Samples:
    """Margins, right with the probability that a known curve gives."""
    rng = np.random.default_rng(1)
    margins = rng.uniform(0, 12, count)
    right = rng.random(count) < 1 / (1 + np.exp(-(slope * margins + offset)))
    return Samples(margins, right)


def test_the_curve_through_samples_of_a_known_curve_is_that_curve() -> None:
    slope, offset = fit(drawn(0.9, -1.0))
    assert slope == pytest.approx(0.9, rel=0.08)
    assert offset == pytest.approx(-1.0, abs=0.2)


def test_a_sample_without_a_mistake_gives_no_endless_slope() -> None:
    slope, offset = fit(Samples(np.linspace(3, 10, 500), np.ones(500, bool)))
    assert np.isfinite([slope, offset]).all()
    assert 1 / (1 + np.exp(-(slope * 10 + offset))) < 1 - 1e-5


def test_nothing_as_bad_as_a_mistake_that_was_seen_counts_as_sure() -> None:
    samples = Samples(np.array([1.0, 5.0, 9.0, 10.0]), np.array([True, False, True, True]))
    assert sure_from(samples, BUDGET) == 9.0


def test_neither_the_curve_nor_what_was_seen_may_exceed_the_budget() -> None:
    samples = drawn(1.0, 0.0)
    slope, offset = fit(samples)
    sure = samples.nats >= sure_from(samples, EVIDENCE_BUDGET, (slope, offset))
    assert sure.any()
    assert (1 / (1 + np.exp(slope * samples.nats[sure] + offset))).mean() <= EVIDENCE_BUDGET
    assert (~samples.held[sure]).mean() <= EVIDENCE_BUDGET


def test_from_the_margin_on_no_more_mistakes_come_than_the_budget_has() -> None:
    """Held against other samples of the same known tail than those it was found on."""
    rng = np.random.default_rng(3)

    def mistakes(count: int) -> Samples:
        wrong = rng.random(count) < 3e-3
        return Samples(np.where(wrong, rng.exponential(1.3, count), rng.uniform(5, 20, count)), ~wrong)

    found = mistakes(20_000)
    margin = tail_from(found, BUDGET, tail_scale(found))
    fresh = mistakes(2_000_000)
    assert (fresh.nats[~fresh.held] >= margin).sum() <= BUDGET * len(fresh.nats)


def test_the_fewer_cards_were_read_the_larger_a_margin_is_asked_for() -> None:
    clean = [Samples(np.full(n, 9.0), np.ones(n, bool)) for n in (1_000, 100_000)]
    assert tail_from(clean[0], BUDGET, 1.0) > tail_from(clean[1], BUDGET, 1.0)


def test_names_that_two_places_claim_alike_do_not_make_the_tail_shorter() -> None:
    surest = Samples(
        np.array([*np.full(10_000, 9.0), 4.0, 5.0, 6.0]), np.array([True] * 10_000 + [False] * 3)
    )
    ties = Samples(np.append(surest.nats, np.zeros(500)), np.append(surest.held, np.zeros(500, bool)))
    assert tail_scale(ties) == tail_scale(surest) > 5.0


def collected(slope: float, offset: float) -> Collection:
    """Names right by a known curve; one in a thousand where there is no card, with less to show for it."""
    samples = drawn(slope, offset)
    rng = np.random.default_rng(2)
    there = rng.random(len(samples.nats)) > 1e-3
    evidence = np.where(there, rng.uniform(6, 20, len(there)), rng.uniform(0, 8, len(there)))
    return Collection(samples.nats, evidence, there, samples.held & there)


def test_the_manifest_keeps_what_it_said_beside_the_calibration(tmp_path: Path) -> None:
    manifest = tmp_path / "reader.json"
    manifest.write_text(json.dumps({"sha256": "of the model"}))
    worth = write(collected(1.0, 0.0), collected(0.8, 0.0), collected(0.6, 0.0), tmp_path / "reader.onnx")
    stored = json.loads(manifest.read_text())
    assert stored["sha256"] == "of the model"
    (tmp_path / "reader.onnx").write_bytes(default_model().read_bytes())
    assert CardReader(tmp_path / "reader.onnx").calibrations == Calibrations(**worth)
    assert worth["loose"].evidence.sure_from <= worth["part"].evidence.sure_from


def test_no_limit_of_a_table_falls_below_the_least_however_few_mistakes_were_seen(tmp_path: Path) -> None:
    (tmp_path / "reader.json").write_text("{}")
    clean = collected(9.0, 9.0)
    worth = write(clean, clean, collected(0.6, 0.0), tmp_path / "reader.onnx")
    assert worth["whole"].margin.sure_from == worth["part"].margin.sure_from == MIN_MARGIN
    assert worth["part"].evidence.sure_from >= MIN_EVIDENCE


def test_what_is_sure_keeps_to_the_budget_it_claims() -> None:
    found = collected(1.5, 0.0)
    worth, budget = affordable(found, 1.0, found.margins)
    taken = found.sure(worth)
    assert taken.any()
    assert (~found.right[taken & found.there]).mean() <= budget
    assert (~found.there[taken]).mean() <= EVIDENCE_BUDGET


def test_a_card_is_sure_only_by_name_and_by_presence() -> None:
    worth = Calibration(Curve(1.0, 0.0, 3.0), Curve(1.0, 0.0, 2.0))
    assert worth.sure(3.0, 2.0)
    assert not worth.sure(2.9, 9.0)
    assert not worth.sure(9.0, 1.9)
    assert worth.confidence(3.0, 2.0) < min(worth.margin(3.0), worth.evidence(2.0))


def read(monkeypatch: pytest.MonkeyPatch, found: dict[str, Outcome]) -> None:
    """Let tables give these outcomes, by deck and condition, and nothing else."""
    monkeypatch.setattr(calibrate, "deck_folder", Path)
    monkeypatch.setattr(
        calibrate,
        "on_all_cores",
        lambda _work, tasks, _title: {key: (found.get(key, Outcome()), Outcome()) for key in tasks},
    )


def test_a_model_that_names_nothing_is_not_calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    read(monkeypatch, {})
    with pytest.raises(TrainingError, match="train it longer"):
        collect(Path("reader.onnx"), tables=1, seed=0)


def test_the_surest_mistake_comes_first_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Outcome(
        cards=[
            JudgedCard("8c", "Tc", 3.0, 7.0),
            JudgedCard("", "6s", 5.0, 2.0),
            JudgedCard("As", "As", 9.0, 8.0),
        ]
    )
    unfit = Outcome(cards=[JudgedCard("2c", "3c", 8.0, fit=False)])
    read(monkeypatch, {"anglo, ordinary evening": found + unfit})
    told = collect(Path("reader.onnx"), tables=1, seed=0)
    assert told.margins.nats.tolist() == [3.0, 9.0]  # where there is no card no name is wrong or right
    assert told.presence().nats.tolist() == [7.0, 2.0, 8.0]
    assert told.presence().held.tolist() == [True, False, True]
    assert told.presence(4.0).nats.tolist() == [2.0, 8.0]
    assert told.mistakes[0].startswith("no card as 6s, 5.0 nats, evidence 2.0 (anglo, ")
    assert len(told.mistakes) == 2


def test_decks_that_judge_are_none_that_calibrate_and_together_they_are_all() -> None:
    assert not set(VALIDATION) & {*JUDGING, *ODD_JUDGING}
    assert len(set(DECKS)) == len(DECKS) == len(VALIDATION) + len(JUDGING) + len(ODD_JUDGING)


def test_the_manifest_names_the_packaged_model_by_its_hash() -> None:
    manifest = json.loads(default_model().with_suffix(".json").read_text())
    assert manifest["sha256"] == CardReader().sha256


@pytest.fixture(scope="module")
def scene() -> Scene:
    layout, rng = TableLayout.load(), np.random.default_rng(1)
    return render_table(deal(rng, layout), layout, DrawnDeck(), seed=rng, scale=0.3)


def reading_of(scene: Scene, names: dict[str, str], fit: bool = True) -> TableReading:
    """The scene's own truth as a reading, with some cards misnamed; an empty name leaves the card out."""
    zones = []
    for zone in TableLayout.load().zones:
        cards = [c for c in scene.cards if (c.place, c.row) == (zone.place, zone.row)]
        named = [(names.get(c.code, c.code), c) for c in cards]
        zones.append(
            ZoneReading(
                zone.place,
                zone.row,
                tuple(ReadCard(name, 5.0, 6.0, 0.9, True, (name,), c.corners) for name, c in named if name),
            )
        )
    verdicts = {
        name: PictureVerdict(name, fit, 0.0, 0.0, "", "") for name in ("resolution", "light", "colour")
    }
    return TableReading((1, 1), (), tuple(zones), verdicts=verdicts)


def judged(found: Outcome) -> set[tuple[str, str]]:
    return {(card.laid, card.named) for card in found.cards if not card.right}


def test_a_perfect_reading_is_wholly_right(scene: Scene) -> None:
    found = outcome(scene, reading_of(scene, {}))
    assert (found.score.cards, found.score.right, found.score.sure, found.score.whole) == (52, 52, 52, 1)
    assert judged(found) == set()
    assert found.unfit == 0


def test_a_misnamed_card_is_held_against_the_one_that_lay_there(scene: Scene) -> None:
    laid, elsewhere = scene.cards[2].code, scene.cards[50].code
    found = outcome(scene, reading_of(scene, {laid: elsewhere, elsewhere: ""}))
    assert judged(found) == {(laid, elsewhere), (elsewhere, "")}
    assert found.score.wrong == 1
    assert found.score.whole == 0


def test_a_card_passed_over_is_named_nothing(scene: Scene) -> None:
    laid = scene.cards[0].code
    found = outcome(scene, reading_of(scene, {laid: ""}))
    assert judged(found) == {(laid, "")}
    assert found.score.wrong == 0


def test_on_a_felt_that_is_not_seen_no_card_was_read(scene: Scene) -> None:
    found = outcome(scene, None)
    assert (found.score.cards, found.score.right, found.score.wrong, found.unfit) == (52, 0, 0, 1)
    assert {card.named for card in found.cards} == {""}


def test_cards_of_an_unfit_picture_are_marked(scene: Scene) -> None:
    found = outcome(scene, reading_of(scene, {}, fit=False))
    assert found.unfit == 1
    assert not any(card.fit for card in found.cards)
