"""Reading only what changed: the same as reading everything, whatever happens on the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.rendered import rendered
from vision.base.arrays import Image, Points
from vision.felt.layout import TableLayout, Zone
from vision.reading.memory import FORGET_AFTER, TableMemory
from vision.reading.network import CardReader, Indices
from vision.reading.still_reader import StillReader
from vision.reading.table_reading import TableReading, read
from vision.synthetic.props import Thing
from vision.synthetic.render import FACE_DOWN, Hands, Scene, deal

SCALE = 0.7


class CountingReader(CardReader):
    """Counts the zones that it is shown."""

    shown = 0

    def indices(self, picture: Image, threshold: float = 0.2) -> Indices:
        self.shown += 1
        return super().indices(picture, threshold)


class Clock:
    """Stands still until a test moves it."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def counting() -> CountingReader:
    return CountingReader(threads=1)


@pytest.fixture(scope="module")
def whole(layout: TableLayout) -> Scene:
    return rendered(deal(np.random.default_rng(1), layout), layout, seed=1, scale=SCALE)


def _noisy(frame: Image, seed: int) -> Image:
    noise = np.random.default_rng(seed).normal(0, 2, frame.shape).round().astype(np.int8)
    return np.asarray(cv2.add(frame, noise, dtype=cv2.CV_8U), np.uint8)


def _pasted(frame: Image, other: Scene, zone: Zone) -> Image:
    """Return a frame with a zone as another scene of the same camera shows it."""
    corners = cv2.perspectiveTransform(zone.corners_mm[None], other.homography)[0]
    mask = np.zeros(frame.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.round(corners).astype(np.int32), 255)
    return np.where(mask[..., None] > 0, other.frame, frame)


def _told(reading: TableReading) -> tuple[object, ...]:
    """Return what the table is told: names, sureness, the kinds of other objects, verdicts, markers."""
    cards = [(z.place, z.row, [(c.card, c.sure, c.denied) for c in z.cards]) for z in reading.zones]
    others = sorted(other.what for other in reading.others)
    verdicts = {name: (verdict.ok, verdict.text) for name, verdict in reading.verdicts.items()}
    return cards, others, verdicts, sorted(reading.markers)


def _places(reading: TableReading) -> Points:
    """Return where cards and other objects lie: n × 2 pixels."""
    corners = [card.corners for zone in reading.zones for card in zone.cards]
    corners += [other.corners for other in reading.others]
    return np.array([four.mean(axis=0) for four in corners]).reshape(-1, 2)


def _kinds(layout: TableLayout) -> list[Scene]:
    """Return tables of one camera under one light: whole, half empty, with cards face down, with a chip, empty."""
    hands = deal(np.random.default_rng(2), layout)
    other = deal(np.random.default_rng(3), layout)
    some: Hands = {p: {r: c[:-1] for r, c in rows.items()} for p, rows in hands.items()}
    backs: Hands = {p: {r: [FACE_DOWN] * len(c) for r, c in rows.items()} for p, rows in hands.items()}
    chip = [Thing("chip", 417, 395), Thing("chip", 700, 600)]
    tables: list[tuple[Hands, list[Thing]]] = [
        (hands, []),
        (other, []),
        (some, []),
        (backs, []),
        (hands, chip),
        ({}, []),
    ]
    return [rendered(laid, layout, seed=4, scale=SCALE, things=things) for laid, things in tables]


def _evening(layout: TableLayout, frames: int) -> Iterator[Image]:
    """Change some zones, or the felt as a whole, from frame to frame; each with its own noise."""
    scenes, rng = _kinds(layout), np.random.default_rng(5)
    frame = scenes[0].frame
    for number in range(frames):
        kind = scenes[int(rng.integers(len(scenes)))]
        chance = rng.random()
        if chance < 0.15:
            frame = kind.frame
        elif chance < 0.8:
            for k in rng.choice(len(layout.zones), int(rng.integers(1, 4)), replace=False):
                frame = _pasted(frame, kind, layout.zones[int(k)])
        yield _noisy(frame, number)


@pytest.mark.sampled
@pytest.mark.slow
def test_a_changing_table_read_by_its_changes_is_read_as_if_it_were_read_whole(
    layout: TableLayout, reader: CardReader
) -> None:
    memory = TableMemory(Clock())
    for number, frame in enumerate(_evening(layout, 12)):
        by_changes, whole = read(frame, layout, reader, memory=memory), read(frame, layout, reader)
        assert _told(by_changes) == _told(whole), number
        off = np.hypot(*np.moveaxis(_places(by_changes)[:, None] - _places(whole)[None], 2, 0))
        assert off.min(axis=0).max(initial=0) < 4, "within two millimetres"


def test_only_the_zone_that_changed_is_read_and_nothing_where_nothing_changed(
    whole: Scene, layout: TableLayout, counting: CountingReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = TableMemory(Clock())
    first = read(_noisy(whole.frame, 0), layout, counting, memory=memory)
    counting.shown, looks = 0, dict(memory.looks)
    monkeypatch.setattr("vision.reading.table_reading.find_felt", None)
    again = read(_noisy(whole.frame, 1), layout, counting, memory=memory)
    assert (counting.shown, _told(again)) == (0, _told(first))
    zone = layout.zones[4]
    hands = {place: {row: list(cards) for row, cards in rows.items()} for place, rows in whole.truth.items()}
    hands[zone.place][zone.row].reverse()
    other = rendered(hands, layout, seed=1, scale=SCALE)
    now = read(_pasted(whole.frame, other, zone), layout, counting, memory=memory)
    assert counting.shown == 1
    kept = sum(look is memory.looks.get(key) for key, look in looks.items())
    assert kept == len(looks) - zone.capacity, "what whole cards showed, except those of that zone"
    assert [c.card for c in now.zones[4].cards] == hands[zone.place][zone.row]


def test_a_slow_change_of_the_light_adds_up_until_all_is_read_again(
    whole: Scene, layout: TableLayout, counting: CountingReader
) -> None:
    memory = TableMemory(Clock())
    read(whole.frame, layout, counting, memory=memory)
    counting.shown = 0
    dimmer = [cv2.convertScaleAbs(whole.frame, alpha=1 - 0.01 * k) for k in range(1, 9)]
    for frame in dimmer:
        read(np.asarray(frame, np.uint8), layout, counting, memory=memory)
    assert counting.shown >= len(layout.zones)


@pytest.mark.parametrize("px", [0.5, 1.0])
def test_a_nudged_camera_is_noticed_and_the_felt_found_anew(
    px: float, whole: Scene, layout: TableLayout, counting: CountingReader
) -> None:
    memory = TableMemory(Clock())
    read(whole.frame, layout, counting, memory=memory)
    before = memory.view
    matrix = np.array([[1, 0, px], [0, 1, px]])
    size = whole.frame.shape[1::-1]
    moved = np.asarray(cv2.warpAffine(whole.frame, matrix, size, borderMode=cv2.BORDER_REPLICATE), np.uint8)
    reading = read(moved, layout, counting, memory=memory)
    assert before is not None
    assert reading.view is not None
    middle: Points = np.array([[layout.width_mm / 2, layout.height_mm / 2]])
    off = reading.view.to_image(middle) - before.to_image(middle)
    assert np.abs(off - px).max() < 0.1


def test_nothing_is_believed_for_long_even_if_every_frame_is_the_same(
    whole: Scene, layout: TableLayout, counting: CountingReader
) -> None:
    clock = Clock()
    memory = TableMemory(clock)
    for seconds, zones in ((0.0, 12), (FORGET_AFTER - 0.1, 0), (FORGET_AFTER, 12), (FORGET_AFTER + 1, 0)):
        clock.now, counting.shown = seconds, 0
        read(whole.frame, layout, counting, memory=memory)
        assert counting.shown == zones, seconds


def test_a_reading_that_fails_leaves_nothing_behind(
    whole: Scene, layout: TableLayout, counting: CountingReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = TableMemory(Clock())
    read(whole.frame, layout, counting, memory=memory)
    other = rendered({}, layout, seed=1, scale=SCALE).frame
    with monkeypatch.context() as broken:
        broken.setattr("vision.reading.table_reading.judge", None)
        with pytest.raises(TypeError):
            read(other, layout, counting, memory=memory)
    counting.shown = 0
    assert not any(zone.cards for zone in read(other, layout, counting, memory=memory).zones)
    assert counting.shown == len(layout.zones)


@pytest.mark.parametrize("changed", ["layout", "reference", "dealt", "size"])
def test_whatever_else_a_reading_depends_on_is_not_taken_from_before(
    changed: str, whole: Scene, layout: TableLayout, counting: CountingReader
) -> None:
    memory = TableMemory(Clock())
    read(whole.frame, layout, counting, memory=memory)
    counting.shown = 0
    frame = whole.frame[:-2] if changed == "size" else whole.frame
    some = TableLayout.load() if changed != "layout" else replace(layout, zones=layout.zones[:6])
    reference = np.eye(3) if changed == "reference" else None
    read(frame, some, counting, memory=memory, reference=reference, dealt=changed != "dealt")
    assert counting.shown == len(some.zones)


def test_a_zone_with_an_unclear_card_is_read_in_every_frame_that_has_to_agree(
    layout: TableLayout, counting: CountingReader
) -> None:
    """Noise may make it another card, or an unsure one, although its picture hardly changes."""
    frame = rendered({"B": {"back": ["As", "Kd", "7c"]}}, layout, seed=3, scale=SCALE).frame
    clear = StillReader(layout, counting, memory=TableMemory(Clock()))
    counting.calibrations.part.margin.__dict__["sure_from"] = 1e9  # no card is sure
    for number in range(2):
        clear.offer(_noisy(frame, number))
    counting.shown = 0
    clear.offer(_noisy(frame, 2))
    assert counting.shown == 2
