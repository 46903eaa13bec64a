"""A network camera against a real MJPEG server: new pictures, and frozen, late, repeated and absent ones each told."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from firmware.adaptive_limit import AdaptiveLimit
from firmware.devices.camera.network import NetworkCamera
from firmware.devices.camera.source import CameraError, CameraMissing, FrameLate, Image
from firmware.devices.errors import DeviceSettings
from tests.firmware.devices.camera.mjpeg_server import MjpegServer
from tests.waiting import until

shade = 40


def picture() -> Image:
    return np.full((96, 128, 3), shade, np.uint8)


@pytest.fixture
def server() -> Iterator[MjpegServer]:
    server = MjpegServer(picture, rate=30, user="ann:geheim")
    server.start()
    yield server
    server.stop()


def of(server: MjpegServer, user: str = "ann:geheim@") -> NetworkCamera:
    return NetworkCamera(server.address.replace("//", f"//{user}"), late_after=2.0, hung_after=30.0)


def test_a_network_camera_gives_what_it_sees_after_the_call(server: MjpegServer) -> None:
    global shade
    camera = of(server)
    camera.open()
    for shade in (40, 90, 140):
        frame = camera.frame()
        assert abs(float(frame.image[40:].mean()) - shade) < 3, "never a picture from before"
    camera.close()


def test_a_frozen_a_hung_and_an_absent_camera_are_each_a_sentence(server: MjpegServer) -> None:
    camera = of(server)
    camera.open()
    camera.frame()
    server.repeat()
    with pytest.raises(CameraError, match="one and the same picture"):
        until(lambda: camera.frame() is None)
    server.go_on()
    until(lambda: _well(camera))
    camera._limit = AdaptiveLimit(0.2, 0.2)
    server.hang()
    with pytest.raises(FrameLate):
        until(lambda: camera.frame() is None)
    server.go_on()
    camera._limit = AdaptiveLimit(2.0, 20.0)
    until(lambda: _well(camera))
    server.pull()
    with pytest.raises(CameraMissing, match="sends no more pictures"):
        until(lambda: camera.frame() is None)
    camera.close()
    with pytest.raises(CameraMissing, match="gives no pictures"):
        camera.open()
    server.go_on()
    camera.open()
    camera.frame()
    camera.close()
    server.stop()
    with pytest.raises(CameraMissing, match="Nothing answers"):
        camera.open()


def _well(camera: NetworkCamera) -> bool:
    try:
        camera.frame()
    except CameraError:
        return False
    return True


def test_a_name_and_a_password_are_in_no_message(
    server: MjpegServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    camera = of(server, "ann:wrong-secret@")
    with pytest.raises(CameraMissing, match="asks for a name and a password") as refused:
        camera.open()
    with pytest.raises(DeviceSettings) as bad:
        NetworkCamera("ftp://ann:wrong-secret@host/")
    said = "".join((*capfd.readouterr(), caplog.text, str(refused.value), str(bad.value), repr(camera)))
    assert "wrong-secret" not in said


def test_a_video_codec_that_leaves_a_picture_as_it_is_is_not_frozen_at_once() -> None:
    """RTSP, through a stand-in for OpenCV's capture: an unchanged picture counts as new for some seconds."""

    class StillCapture:
        def __init__(self) -> None:
            self.closed = False

        def isOpened(self) -> bool:  # noqa: N802
            return True

        def read(self) -> tuple[bool, Any]:
            return not self.closed, picture()

        def release(self) -> None:
            self.closed = True

    still = StillCapture()
    camera = NetworkCamera("rtsp://10.0.0.9/live", lambda _address: still, connect=False)
    camera.open()
    assert camera.frame().image.shape == (96, 128, 3)
    assert camera._stream is not None
    camera._stream._changed_at -= 100
    with pytest.raises(CameraError, match="frozen"):
        camera.frame()
    camera.close()
    until(lambda: still.closed)
