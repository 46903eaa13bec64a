"""The watch over a face-up table: real frames of a small table, the real reader, a clock turned by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from firmware.runtime.reading.change_detector import READ_ANYWAY, TableWatch, is_new, lacks, of_places
from firmware.runtime.reading.messages import KnownCard, Watch
from tests.rendered import rendered
from vision.base.arrays import Image
from vision.felt.layout import TableLayout
from vision.reading.network import CardReader
from vision.reading.table_reading import TableReading
from vision.synthetic.render import FACE_DOWN, Hands

pytestmark = pytest.mark.slow

NOTHING = Watch({})


class Clock:
    """Goes on by a tick at every look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.05
        return self.now


@pytest.fixture(scope="module")
def layout() -> TableLayout:
    return TableLayout.load()


@pytest.fixture(scope="module")
def picture(layout: TableLayout) -> Callable[[Hands], Image]:
    return lambda hands: rendered(hands, layout, seed=2, scale=0.6).frame


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr("time.sleep", lambda _: None)
    return Clock()


def cards(seen: object) -> dict[tuple[str, str], list[str]]:
    assert isinstance(seen, tuple), seen
    reading = seen[1]
    assert isinstance(reading, TableReading)
    return {(z.place, z.row): [c.card for c in z.cards] for z in reading.zones if z.cards}


def test_what_is_new_is_told_once(
    layout: TableLayout, picture: Callable[[Hands], Image], clock: Clock
) -> None:
    watch = TableWatch(CardReader(threads=1), clock)
    one, two = picture({"A": {"back": ["As", "Kd"]}}), picture({"A": {"back": ["As", "Kd"], "front": ["7c"]}})
    assert cards(watch.check(lambda: one, layout, NOTHING)) == {("A", "back"): ["As", "Kd"]}
    assert watch.check(lambda: one, layout, NOTHING) == ""
    assert cards(watch.check(lambda: two, layout, NOTHING))["A", "front"] == ["7c"]
    clock.now += READ_ANYWAY  # read again, and nothing new
    assert watch.check(lambda: two, layout, NOTHING) == ""
    assert cards(watch.check(lambda: two, layout, replace(NOTHING, fresh=True)))["A", "front"] == ["7c"]
    watch.forget()
    assert cards(watch.check(lambda: two, layout, NOTHING))["A", "front"] == ["7c"]


def test_a_closed_places_cards_are_not_read(
    layout: TableLayout, picture: Callable[[Hands], Image], clock: Clock
) -> None:
    """Not even where they are shown: no reading of them exists."""
    felt = picture({"A": {"back": ["As", "Kd"]}, "B": {"back": ["Qc", "Qd"], "front": [FACE_DOWN] * 3}})
    seen = TableWatch(CardReader(threads=1), clock).check(lambda: felt, of_places(layout, ("A",)), NOTHING)
    assert cards(seen) == {("A", "back"): ["As", "Kd"]}


def test_a_restless_table_is_given_up_after_a_moment_with_the_reason(
    layout: TableLayout, clock: Clock
) -> None:
    def frames() -> Iterator[Image]:
        rng = np.random.default_rng(1)
        while True:
            yield rng.integers(0, 255, (120, 160, 3), np.uint8)

    shown = frames()
    why = TableWatch(CardReader(threads=1), clock).check(lambda: next(shown), layout, NOTHING)
    assert "moves" in str(why) or "light" in str(why)
    assert clock.now < 3


@pytest.mark.parametrize(
    ("seen", "known", "new", "lost"),
    [
        ([("As", True)], [("As", True)], False, False),
        ([("As", True), ("Kd", True)], [("Kd", True), ("As", True)], False, False),
        ([("As", False)], [("As", True)], False, False),
        ([("As", True)], [("As", False)], True, False),
        ([("As", True), ("Kd", True)], [("As", True)], True, False),
        ([], [("As", True)], True, True),
        ([("Kd", True)], [("As", True)], True, True),
    ],
)
def test_a_zone_is_new_where_its_picture_proves_something(
    seen: list[tuple[str, bool]], known: list[tuple[str, bool]], new: bool, lost: bool
) -> None:
    zone = [{"card": card, "sure": sure} for card, sure in seen]
    record = tuple(KnownCard(card, sure) for card, sure in known)
    assert (is_new(zone, record), lacks(zone, record)) == (new, lost)
