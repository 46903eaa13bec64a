"""Readings over several frames: still tables, hands, changed light, frames that disagree."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.rendered import rendered
from vision.base.arrays import Image
from vision.felt.layout import TableLayout
from vision.reading.network import CardReader
from vision.reading.objects import Other
from vision.reading.still_reader import StillReader, WaitReason, join_readings
from vision.reading.table_reading import TableReading, ZoneReading, read
from vision.synthetic.render import Scene, deal


@pytest.fixture(scope="module")
def scene() -> Scene:
    layout = TableLayout.load()
    # a whole deck is named with less evidence
    hands = deal(np.random.default_rng(1), layout, ["A", "B", "C", "D"])
    return rendered(hands, layout, seed=1, scale=0.6)


@pytest.fixture(scope="module")
def reading(scene: Scene, reader: CardReader) -> TableReading:
    return read(scene.frame, TableLayout.load(), reader)


def _noisy(frame: Image, seed: int) -> Image:
    noise = np.random.default_rng(seed).integers(-3, 4, frame.shape, np.int8)
    return np.asarray(cv2.add(frame, noise, dtype=cv2.CV_8U), np.uint8)


@pytest.mark.slow
def test_three_frames_of_a_still_table_make_a_reading(
    scene: Scene, layout: TableLayout, reader: CardReader
) -> None:
    still = StillReader(layout, reader)
    answers = [still.offer(_noisy(scene.frame, k)) for k in range(4)]
    assert answers[:3] == [WaitReason.FIRST, WaitReason.MORE, WaitReason.MORE]
    assert isinstance(answers[3], TableReading)
    cards = {(z.place, z.row): [c.card for c in z.cards] for z in answers[3].zones if z.cards}
    assert cards == {(p, r): c for p, rows in scene.truth.items() for r, c in rows.items()}


def test_a_hand_over_the_table_starts_the_count_again(
    scene: Scene, layout: TableLayout, reader: CardReader
) -> None:
    still = StillReader(layout, reader)
    hand = scene.frame.copy()
    cv2.line(hand, (200, 0), (900, 700), (120, 150, 200), 90)
    answers = [still.offer(f) for f in (scene.frame, scene.frame, hand, hand, scene.frame)]
    assert answers[2] is WaitReason.MOVING
    assert answers[4] is WaitReason.MOVING
    assert not any(isinstance(a, TableReading) for a in answers)


def test_a_lamp_switched_off_is_waited_out(scene: Scene, layout: TableLayout, reader: CardReader) -> None:
    still = StillReader(layout, reader)
    dark = np.clip(scene.frame * 0.6, 0, 255).astype(np.uint8)
    still.offer(scene.frame)
    assert still.offer(dark) is WaitReason.LIGHT
    assert still.offer(dark) is WaitReason.MORE


def _with_first_card(reading: TableReading, card: str | None) -> TableReading:
    """Change the first card of the first zone that has cards, or take it away."""
    zones = list(reading.zones)
    k = next(i for i, z in enumerate(zones) if z.cards)
    first, *rest = zones[k].cards
    kept = [] if card is None else [replace(first, card=card, candidates=(card,))]
    zones[k] = ZoneReading(zones[k].place, zones[k].row, (*kept, *rest))
    return replace(reading, zones=tuple(zones))


def _first_zone(reading: TableReading) -> ZoneReading:
    return next(z for z in reading.zones if z.cards)


def test_frames_that_agree_leave_every_card_sure(reading: TableReading) -> None:
    assert all(c.sure for z in join_readings([reading] * 3).zones for c in z.cards)


def test_a_card_on_which_frames_disagree_is_unsure_with_both_names(reading: TableReading) -> None:
    other = "2c" if _first_zone(reading).cards[0].card != "2c" else "3c"
    joint = join_readings([reading, _with_first_card(reading, other), reading])
    card = _first_zone(joint).cards[0]
    assert not card.sure
    assert {other, _first_zone(reading).cards[0].card} <= set(card.candidates)
    assert sum(not c.sure for z in joint.zones for c in z.cards) == 1


@pytest.mark.parametrize("missing_in", [0, 2], ids=["the first frame", "the last frame"])
def test_a_card_that_one_frame_does_not_show_is_kept_and_asked_about(
    missing_in: int, reading: TableReading
) -> None:
    frames = [reading] * 3
    frames[missing_in] = _with_first_card(reading, None)
    joint = join_readings(frames)
    name = _first_zone(reading).cards[0].card
    (card,) = [c for z in joint.zones for c in z.cards if c.card == name]
    assert not card.sure


def test_another_thing_that_not_every_frame_shows_is_kept_once(reading: TableReading) -> None:
    corners = np.array([[100.0, 100], [150, 100], [150, 150], [100, 150]])
    back, near, far = Other("back", corners), Other("back", corners + 4), Other("back", corners + 90)
    frames = [replace(reading, others=others) for others in ((back, far), (near,), ())]
    assert [float(other.corners[0, 0]) for other in join_readings(frames).others] == [104.0, 190.0]
    hand = replace(reading, others=(Other("hand", corners),))
    assert [other.what for other in join_readings([hand, frames[1], frames[1]]).others] == ["back", "hand"]
