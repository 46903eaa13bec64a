"""Learning a deck from its spread, and the deck check."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import minimize

from firmware.cli.main import main
from tests.rendered import rendered
from vision.base.arrays import Image
from vision.base.errors import EnrolmentError, VisionFileError
from vision.felt.layout import TableLayout
from vision.reading.cards import CARDS
from vision.reading.enrolment import check_deck, enrol, least_correction, lesson, spread
from vision.reading.network import FEATURES, CardReader, DeckProfile, Floats, Indices, log_softmax
from vision.reading.profile_files import load_profile, profile_json, profile_of_json, save_profile
from vision.reading.table_reading import read
from vision.synthetic.decks import Deck, DrawnDeck, PhotoDeck

pytestmark = pytest.mark.slow

SCALE = 0.7


@cache
def tinted() -> Deck:
    """Our deck in other inks: black is violet, red is orange."""

    def tint(picture: Image) -> Image:
        drawn = picture.astype(np.float32)
        paper = drawn.min(axis=2, keepdims=True) / 255
        return np.asarray(np.clip(drawn + (1 - paper) * np.array([70, 30, 40]), 0, 255), np.uint8)

    drawn = DrawnDeck()
    return PhotoDeck("tinted", {code: tint(drawn.picture(code)) for code in CARDS}, drawn.width_mm)


@pytest.fixture(scope="module")
def frames() -> list[Image]:
    layout = TableLayout.load()
    return [rendered(spread(layout), layout, tinted(), seed=seed, scale=SCALE).frame for seed in (1, 2, 3)]


@pytest.fixture(scope="module")
def profile(frames: list[Image], reader: CardReader) -> DeckProfile:
    return enrol(frames, TableLayout.load(), reader, "violet")


def test_the_spread_lays_every_card_once(layout: TableLayout) -> None:
    laid = [c for rows in spread(layout).values() for cards in rows.values() for c in cards]
    assert sorted(laid) == sorted(CARDS)


@pytest.mark.slow
def test_an_enrolled_deck_reads_a_spread_it_was_not_learnt_from(
    profile: DeckProfile, layout: TableLayout
) -> None:
    fresh = rendered(spread(layout), layout, tinted(), seed=9, scale=SCALE).frame
    check = check_deck(read(fresh, layout, CardReader(threads=1, deck=profile)), layout)
    assert len(check.missing) <= 1
    assert not check.misplaced


@pytest.mark.slow
def test_a_profile_comes_back_from_its_file_with_the_same_hash(profile: DeckProfile, tmp_path: Path) -> None:
    save_profile(profile, tmp_path / "deck.npz")
    again = load_profile(tmp_path / "deck.npz")
    assert again.sha256 == profile.sha256
    assert again.name == "violet"
    assert profile_of_json(profile_json(profile, "a model"), "a model").sha256 == profile.sha256


def test_what_is_learnt_is_as_cheap_as_what_scipy_learns() -> None:
    rng = np.random.default_rng(4)
    features = np.column_stack([rng.gamma(0.5, 2, (120, 5)), np.ones(120)])
    before = np.hstack([log_softmax(rng.normal(0, 4, (120, size))) for size in (13, 4)])
    truth = np.exp(before)  # the last twenty rows are print
    truth[:100] = np.hstack([np.eye(13)[rng.integers(13, size=100)], np.eye(4)[rng.integers(4, size=100)]])

    def loss(flat: Floats) -> float:
        logits = before + features @ flat.reshape(17, 6).T
        named = np.hstack([log_softmax(logits[:, :13]), log_softmax(logits[:, 13:])])
        return float(-(named * truth).sum() / 100 + 0.02 * (flat**2).sum())

    scipy = minimize(loss, np.zeros(17 * 6), method="L-BFGS-B")
    assert loss(least_correction(features, before, truth, 100).ravel()) == pytest.approx(scipy.fun, abs=1e-4)
    assert scipy.fun < 0.95 * loss(np.zeros(17 * 6))


def test_a_profile_of_a_release_that_learnt_no_pips_is_read_and_keeps_its_hash(
    profile: DeckProfile, tmp_path: Path
) -> None:
    earlier = DeckProfile(profile.name, profile.weight, profile.bias)
    digest = hashlib.sha256(b"violet" + earlier.weight.tobytes() + earlier.bias.tobytes()).hexdigest()
    assert earlier.sha256 == digest != profile.sha256
    save_profile(earlier, tmp_path / "deck.npz")
    assert load_profile(tmp_path / "deck.npz").sha256 == digest
    text = profile_json(earlier, "a model")
    assert "pips" not in text
    assert profile_of_json(text, "a model").pips is None
    bent = text.replace('"bias":[', '"pips":[[1.0]],"bias":[')
    endless = text.replace('"bias":[', f'"bias":[{10**400},')
    for one in (bent, endless, "[" * 9_000):
        with pytest.raises(EnrolmentError, match="enrol the deck again"):
            profile_of_json(one, "a model")


def test_a_card_whose_ornament_its_pips_deny_is_asked_until_the_deck_is_enrolled(
    layout: TableLayout, reader: CardReader
) -> None:
    drawn = DrawnDeck()
    pictures = {code: drawn.picture(code).copy() for code in CARDS}
    height, width = pictures["4s"].shape[:2]
    # two more spades in the middle: a four with the pips of a six
    pip = pictures["4s"][round(0.12 * height) : round(0.3 * height), round(0.2 * width) : round(0.4 * width)]
    for across in (0.2, 0.6):
        y, x = round(0.41 * height), round(across * width)
        pictures["4s"][y : y + pip.shape[0], x : x + pip.shape[1]] = pip
    deck = PhotoDeck("ornament", pictures, drawn.width_mm)

    def unsure(cards: CardReader) -> list[str]:
        frame = rendered(spread(layout), layout, deck, seed=9, scale=SCALE).frame
        zones = read(frame, layout, cards).zones
        return [card.card for zone in zones for card in zone.cards if card.denied]

    assert unsure(reader) == ["4s"]
    frames = [rendered(spread(layout), layout, deck, seed=seed, scale=SCALE).frame for seed in (1, 2)]
    assert unsure(CardReader(threads=1, deck=enrol(frames, layout, reader, "ornament"))) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows["A"]["front"].pop(), "4c"),
        (lambda rows: rows.update(A=rows["B"], B=rows["A"]), "swapped"),
        (
            lambda rows: rows["C"].update(
                front=[rows["C"]["front"][k] for k in (1, 0, 2)],
            ),
            "swapped",
        ),
    ],
    ids=["a card is missing", "two suits are laid the other way round", "two cards are swapped"],
)
@pytest.mark.slow
def test_an_incomplete_or_wrongly_laid_deck_is_refused(
    change: Callable[[dict[str, dict[str, list[str]]]], object],
    message: str,
    layout: TableLayout,
    reader: CardReader,
) -> None:
    hands = spread(layout)
    change(hands)
    pictures = [rendered(hands, layout, seed=seed, scale=SCALE).frame for seed in (1, 2)]
    with pytest.raises(EnrolmentError, match=message):
        enrol(pictures, layout, reader, "wrong")


def test_print_that_looks_a_little_like_an_index_is_not_taught_as_the_card_it_is_printed_on(
    layout: TableLayout, reader: CardReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone = layout.zone("A", "back")
    first, second = zone.from_felt(zone.to_felt(layout.slots_mm(zone)))[:2]
    # two indices of the first card with print between them, and the second's only index, as faint as the print
    at = np.array([first - (25, 31), first + (25, 31), first - (15, 20), second - (25, 31)])
    along = zone.to_felt(np.array([[1.0, 0], [-1, 0], [1, 0], [1, 0]])) - zone.to_felt(np.zeros((1, 2)))
    heat = np.array([0.95, 0.9, 0.45, 0.45])
    seen = Indices(
        zone.to_felt(at), heat, np.zeros((4, 52)), along, np.full(4, 17.0), np.zeros((4, FEATURES))
    )
    monkeypatch.setattr("vision.reading.enrolment.observe", lambda *_, **__: (None, seen))
    monkeypatch.setattr(
        "vision.reading.enrolment.observe_whole", lambda *_: (np.empty((0, 2)), np.empty((0, 15)))
    )
    taught = lesson(np.zeros((2, 2, 3), np.uint8), layout, reader)
    assert [CARDS[k] for k in taught.cards] == ["Tc", "Tc", "Jc"]
    assert taught.elsewhere.heat.tolist() == [0.45]


def test_one_picture_is_not_enough(frames: list[Image], layout: TableLayout, reader: CardReader) -> None:
    with pytest.raises(EnrolmentError, match="at least 2"):
        enrol(frames[:1], layout, reader, "hasty")


def test_a_file_that_is_no_profile_is_told(tmp_path: Path) -> None:
    (tmp_path / "deck.npz").write_bytes(b"no profile")
    with pytest.raises(VisionFileError, match="enrol the deck again"):
        load_profile(tmp_path / "deck.npz")


@pytest.mark.slow
def test_the_deck_check_names_what_is_missing(layout: TableLayout, tmp_path: Path) -> None:
    hands = spread(layout)
    hands["D"]["back"].remove("As")
    cv2.imwrite(str(tmp_path / "spread.jpg"), rendered(hands, layout, scale=SCALE).frame)
    done = CliRunner().invoke(main, ["enrol", str(tmp_path / "spread.jpg"), "--check"])
    assert done.exit_code == 1
    assert "51 of 52" in done.stdout
    assert "As" in done.stdout


def test_without_pictures_the_command_shows_how_to_lay_the_cards() -> None:
    done = CliRunner().invoke(main, ["enrol"])
    assert done.exit_code == 0
    assert "A front" in done.stdout
    assert "2c 3c 4c" in done.stdout
