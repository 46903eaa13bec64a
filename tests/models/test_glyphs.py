"""The letters and suits that drawn decks are printed with."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from models.training import glyphs
from models.training.glyphs import (
    FONTS,
    draw_suits,
    font_files,
    rank_fonts,
    suit_sets,
    text_mask,
)
from models.training.samples import TrainingError
from vision.reading.cards import RANKS, SUITS

pytestmark = pytest.mark.usefixtures("fonts")


def test_only_fonts_under_listed_terms_are_used() -> None:
    listed = tuple(name for names in FONTS.values() for name in names.split())
    assert all(path.name.startswith(listed) for path in font_files())
    assert set(FONTS) <= {"OFL-1.1", "Apache-2.0", "Bitstream Vera"}


def test_every_font_draws_every_rank_differently() -> None:
    for font in random.Random(0).sample(rank_fonts(), k=min(12, len(rank_fonts()))):
        drawn = [text_mask("10" if rank == "T" else rank, font) for rank in RANKS]
        shapes = {(m.shape, m.tobytes()) for m in drawn if m is not None}
        assert len(shapes) == len(RANKS), font.name


def test_without_a_font_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(glyphs, "FONT_ROOT", tmp_path)
    with pytest.raises(TrainingError, match="fonts-dejavu-core"):
        rank_fonts.__wrapped__()


def test_a_set_has_four_suits_of_different_shape_cut_to_their_ink() -> None:
    for masks in islice(suit_sets(random.Random(1)), 12):
        assert set(masks) == set(SUITS)
        assert len({(m.shape, m.tobytes()) for m in masks.values()}) == 4
        for mask in masks.values():
            edges = (mask[0], mask[-1], mask[:, 0], mask[:, -1])
            assert mask.dtype == np.uint8
            assert all(edge.max() > 60 for edge in edges)


def test_curves_draw_the_same_suits_for_the_same_seed_and_others_for_another() -> None:
    first, same, other = (draw_suits(random.Random(seed)) for seed in (3, 3, 4))
    assert all(np.array_equal(first[s], same[s]) for s in SUITS)
    assert not any(np.array_equal(first[s], other[s]) for s in SUITS)


def test_a_drawn_spade_is_a_heart_upside_down_with_a_stem() -> None:
    suits = draw_suits(random.Random(5))
    widest = {s: int(np.argmax((suits[s] > 127).sum(axis=1))) / len(suits[s]) for s in "hs"}
    assert widest["h"] < 0.5 < widest["s"]
