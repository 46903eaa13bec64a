"""What can be done to a simulated camera in another process, and what it makes of its pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from firmware.adaptive_limit import AdaptiveLimit
from firmware.devices.camera.simulated import Room, RoomCamera
from firmware.devices.camera.source import CameraHung, CameraMissing, FrameLate, Image
from firmware.devices.camera.spoil import FARTHEST_PX, Spoil, spoil_picture
from tests.firmware.devices.conftest import Clock
from tests.waiting import DEADLINE

GREY = np.full((180, 320, 3), 120, np.uint8)


@pytest.fixture
def room(tmp_path: Path) -> Room:
    made = Room(tmp_path / "view.npy")
    made.show(GREY)
    return made


@pytest.fixture
def camera(room: Room, clock: Clock, tmp_path: Path) -> Iterator[RoomCamera]:
    made = RoomCamera(tmp_path / "view.npy", late_after=DEADLINE, hung_after=4.0, clock=clock)
    made.open()
    yield made
    made.close()


@contextmanager
def impatient(camera: RoomCamera) -> Iterator[None]:
    """A picture is late at once, where none comes; outside it may take its time."""
    camera._limit = AdaptiveLimit(0.05, 0.05)
    try:
        yield
    finally:
        camera._limit = AdaptiveLimit(DEADLINE, DEADLINE)


def until_hung(camera: RoomCamera, clock: Clock) -> None:
    with impatient(camera):
        with pytest.raises(FrameLate):
            camera.frame()
        clock.let_pass(4.0)
        with pytest.raises(CameraHung):
            camera.frame()


def test_an_unspoiled_camera_shows_the_picture(room: Room, camera: RoomCamera) -> None:
    assert (camera.frame().image == GREY).all()
    room.show(GREY + 1)
    assert (camera.frame().image == 121).all()


def test_a_picture_without_anything_beside_it_is_seen_too(tmp_path: Path) -> None:
    np.save(tmp_path / "alone.npy", GREY)
    camera = RoomCamera(tmp_path / "alone.npy")
    camera.open()
    assert (camera.frame().image == GREY).all()
    camera.close()


def test_a_pulled_cable_is_missing_until_it_is_opened_again(room: Room, camera: RoomCamera) -> None:
    room.unplug()
    with pytest.raises(CameraMissing):
        camera.frame()
    camera.close()
    with pytest.raises(CameraMissing, match="plug it in"):
        camera.open()
    room.replug()
    camera.open()
    camera.frame()
    room.unplug()
    room.replug()  # quicker than anybody looked
    with pytest.raises(CameraMissing):
        camera.frame()


def test_a_hung_driver_gives_nothing_until_it_is_opened_again(
    room: Room, camera: RoomCamera, clock: Clock
) -> None:
    room.hang()
    until_hung(camera, clock)
    camera.close()
    camera.open()
    camera.frame()


def test_a_frozen_camera_gives_nothing_until_it_thaws(room: Room, camera: RoomCamera, clock: Clock) -> None:
    room.change(frozen=True)
    until_hung(camera, clock)
    camera.close()
    camera.open()
    with impatient(camera), pytest.raises(FrameLate):
        camera.frame()
    room.change(frozen=False)
    camera.frame()


def test_late_frames_are_late(room: Room, camera: RoomCamera) -> None:
    room.change(late_s=1.5)
    with impatient(camera), pytest.raises(FrameLate):
        camera.frame()
    room.change(late_s=0.0)
    camera.frame()


def test_a_drifting_camera_slides_and_stops_somewhere(room: Room) -> None:
    picture = np.zeros((180, 320, 3), np.uint8)
    picture[:, 100:110] = 255

    def stripe(after: float) -> float:
        now = room.spoil.drift_since + after
        return float(spoil_picture(picture, room.spoil, now)[90, :, 0].nonzero()[0].mean())

    room.drift(10.0)
    assert stripe(0.0) == pytest.approx(104.5, abs=1)
    assert stripe(2.0) == pytest.approx(124.5, abs=1)
    assert stripe(99.0) == pytest.approx(104.5 + FARTHEST_PX, abs=1)
    room.drift(0.0)
    assert stripe(5.0) == pytest.approx(104.5, abs=1)


def brightness(picture: Image) -> tuple[int, float, int]:
    return int(picture.min()), float(picture.mean()), int(picture.max())


def test_glare_burns_out_bad_light_darkens_and_flicker_makes_bands() -> None:
    assert spoil_picture(GREY, Spoil(), 1.0) is GREY
    assert brightness(spoil_picture(GREY, Spoil(glare=1.0), 1.0))[::2] == (120, 255)
    assert brightness(spoil_picture(GREY, Spoil(light=0.25), 1.0)) == (30, 30.0, 30)
    banded = spoil_picture(GREY, Spoil(bands=0.5), 1.0)
    assert np.ptp(banded[:, 0, 0].astype(int)) >= 55
    assert np.ptp(banded[40]) == 0
    low, mean, high = brightness(spoil_picture(GREY, Spoil(garbage=True), 1.0))
    assert (low, high) == (0, 255)
    assert 120 < mean < 135
