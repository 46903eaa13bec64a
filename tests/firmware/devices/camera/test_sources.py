"""Cameras: pictures from files and from a function; late, hung, unplugged."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from firmware.adaptive_limit import AdaptiveLimit
from firmware.devices.camera.files import FileFrames
from firmware.devices.camera.replay import ReplayFrames
from firmware.devices.camera.source import (
    CameraHung,
    CameraMissing,
    FrameLate,
    FrameSource,
    FrameUnreadable,
    Image,
    NoMoreFrames,
)
from firmware.devices.errors import DeviceError, DeviceMissing
from tests.firmware.devices.camera.program_camera import ProgramCamera
from tests.firmware.devices.conftest import Clock
from tests.waiting import DEADLINE, until


def picture(shade: int) -> Image:
    return np.full((4, 6, 3), shade, np.uint8)


# files


def test_a_folder_gives_its_pictures_in_order_and_says_when_they_end(tmp_path: Path) -> None:
    for name, shade in (("b.png", 20), ("a.PNG", 10), ("c.jpg", 30)):
        cv2.imwrite(str(tmp_path / name), picture(shade))
    (tmp_path / "notes.txt").write_text("no picture")
    source: FrameSource = FileFrames(tmp_path)
    source.open()
    before = time.monotonic()
    frames = [source.frame() for _ in range(3)]
    assert [round(float(frame.image.mean())) for frame in frames] == [10, 20, 30]
    assert frames[0].image.shape == (4, 6, 3)
    assert before <= frames[0].at <= frames[2].at <= time.monotonic()
    with pytest.raises(NoMoreFrames):
        source.frame()


def test_one_picture_may_be_shown_again_and_again(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.png"), picture(10))
    source = FileFrames(tmp_path / "a.png", repeat=True)
    source.open()
    assert [int(source.frame().image[0, 0, 0]) for _ in range(3)] == [10, 10, 10]


def test_a_file_that_is_no_picture_is_named_and_the_next_one_follows(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"not a picture")
    (tmp_path / "b.jpg").write_bytes(b"")
    cv2.imwrite(str(tmp_path / "c.png"), picture(30))
    source = FileFrames(tmp_path)
    source.open()
    for name in ("a.jpg", "b.jpg"):
        with pytest.raises(FrameUnreadable, match=name):
            source.frame()
    assert int(source.frame().image[0, 0, 0]) == 30


def test_no_picture_at_all_is_a_missing_camera(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(CameraMissing, match="There is no picture") as caught:
            FileFrames(path).open()
        assert isinstance(caught.value, DeviceMissing)
        assert isinstance(caught.value, FileNotFoundError)


# any camera that is worked with deadlines


@pytest.fixture
def camera(clock: Clock) -> Iterator[ProgramCamera]:
    simulated = ProgramCamera(lambda: picture(7), late_after=DEADLINE, hung_after=0.8, clock=clock)
    simulated.open()
    yield simulated
    simulated.thaw()
    simulated.close()


@contextmanager
def frozen(camera: ProgramCamera) -> Iterator[None]:
    """While it is frozen, a picture is late at once; outside it may take its time."""
    camera.freeze()
    camera._limit = AdaptiveLimit(0.02, 0.02)
    try:
        yield
    finally:
        camera._limit = AdaptiveLimit(DEADLINE, DEADLINE)
        camera.thaw()


def test_a_camera_gives_what_its_source_shows_now(camera: ProgramCamera) -> None:
    before = time.monotonic()
    frame = camera.frame()
    assert before <= frame.at <= time.monotonic()
    assert int(frame.image[0, 0, 0]) == 7
    camera.show(lambda: picture(8))
    assert int(camera.frame().image[0, 0, 0]) == 8


def test_a_late_picture_is_an_error_and_is_never_given_for_the_next_one(camera: ProgramCamera) -> None:
    with pytest.raises(FrameLate) as caught, frozen(camera):
        camera.frame()
    assert isinstance(caught.value, TimeoutError)
    assert isinstance(caught.value, DeviceError)
    camera.show(lambda: picture(9))
    asked = time.monotonic()
    frame = camera.frame()
    assert frame.at >= asked
    assert int(frame.image[0, 0, 0]) == 9


def test_a_hung_camera_is_late_at_first_and_hung_in_the_end(camera: ProgramCamera, clock: Clock) -> None:
    with frozen(camera):
        for _ in range(2):
            with pytest.raises(FrameLate):
                camera.frame()
            clock.let_pass(0.5)
        with pytest.raises(CameraHung, match="restart"):
            camera.frame()


def test_a_camera_whose_every_picture_outlasts_the_first_limit_is_given_its_time(clock: Clock) -> None:
    slow = ProgramCamera(
        lambda: picture(7), late_after=0.05, hung_after=60.0, late_ceiling=DEADLINE, clock=clock
    )
    slow.open()
    slow.freeze()
    with pytest.raises(FrameLate):
        slow.frame()
    clock.let_pass(DEADLINE)
    slow.thaw()
    until(lambda: slow._limit.seconds == DEADLINE)
    assert int(slow.frame().image[0, 0, 0]) == 7, "none is late any more"
    slow.close()


def test_pictures_in_time_leave_the_limit_where_it_is(clock: Clock) -> None:
    camera = ProgramCamera(lambda: picture(7), late_after=DEADLINE, late_ceiling=9 * DEADLINE, clock=clock)
    camera.open()
    for _ in range(5):
        camera.frame()
    assert camera._limit.seconds == DEADLINE
    camera.close()


def test_a_camera_that_thaws_works_again(camera: ProgramCamera) -> None:
    with pytest.raises(FrameLate), frozen(camera):
        camera.frame()
    assert int(camera.frame().image[0, 0, 0]) == 7


def test_a_hung_camera_can_be_closed() -> None:
    camera = ProgramCamera(lambda: picture(7), late_after=0.2, hung_after=0.5)
    camera.open()
    camera.freeze()
    with pytest.raises(FrameLate):
        camera.frame()
    camera.close()
    camera.close()
    camera.thaw()


def test_a_camera_that_hangs_while_it_is_opened_is_hung() -> None:
    class StubbornCamera(ProgramCamera):
        def _open(self) -> None:
            self._going.wait()

    camera = StubbornCamera(lambda: picture(7), late_after=0.2, open_within=0.2)
    camera.freeze()
    with pytest.raises(CameraHung, match="does not open"):
        camera.open()
    camera.thaw()
    camera.close()


def test_an_unplugged_camera_is_missing_until_it_is_opened_again(camera: ProgramCamera) -> None:
    camera.unplug()
    with pytest.raises(CameraMissing):
        camera.frame()
    camera.close()
    with pytest.raises(CameraMissing, match="plug it in"):
        camera.open()
    camera.replug()
    camera.open()
    assert int(camera.frame().image[0, 0, 0]) == 7


@pytest.mark.parametrize(
    "thing", [None, np.zeros((4, 6), np.uint8), np.zeros((4, 6, 3)), np.zeros((0, 0, 3), np.uint8)]
)
def test_what_is_no_picture_is_refused(camera: ProgramCamera, thing: Any) -> None:
    camera.show(lambda: thing)
    with pytest.raises(FrameUnreadable):
        camera.frame()


def test_an_error_of_the_source_reaches_the_caller(camera: ProgramCamera) -> None:
    def broken() -> Image:
        raise TimeoutError("the source's own")

    camera.show(broken)
    with pytest.raises(TimeoutError, match="the source's own"):
        camera.frame()


# a recorded hand


def recorded(folder: Path, *shades: int) -> Path:
    folder.mkdir()
    for number, shade in enumerate(shades, 1):
        cv2.imwrite(str(folder / f"{number:09}-{number}-1-frame.jpg"), picture(shade))
        cv2.imwrite(str(folder / f"{number:09}-{number}-1-a-front.jpg"), picture(1))
    return folder


def shown(source: FrameSource) -> list[int]:
    source.open()
    shades = []
    with suppress(NoMoreFrames):
        while True:
            shades.append(round(float(source.frame().image.mean())))
    return shades


def test_a_recorded_hand_gives_its_full_frames_each_for_one_reading(tmp_path: Path) -> None:
    assert shown(ReplayFrames(recorded(tmp_path / "000007", 30, 60), looks=2)) == [30, 30, 60, 60]
    recorded(tmp_path / "000008", 90)
    assert shown(ReplayFrames(tmp_path, looks=1)) == [30, 60, 90]


def test_a_recorded_hand_is_not_rewound_by_opening_it_again(tmp_path: Path) -> None:
    source = ReplayFrames(recorded(tmp_path / "000007", 30, 60), looks=1)
    source.open()
    source.frame()
    source.close()
    assert shown(source) == [60]


def test_a_folder_without_a_recorded_hand_is_a_missing_camera(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.jpg"), picture(3))
    with pytest.raises(CameraMissing, match="No hand was recorded"):
        ReplayFrames(tmp_path).open()


def test_pictures_are_checked_without_using_one_up(tmp_path: Path) -> None:
    source = ReplayFrames(recorded(tmp_path / "000007", 30), looks=1)
    source.open()
    source.check()
    assert round(float(source.frame().image.mean())) == 30
    with pytest.raises(CameraMissing):
        FileFrames(tmp_path / "nowhere").check()
