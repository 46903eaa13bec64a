"""A camera in the network: MJPEG over HTTP, or RTSP, through OpenCV. RTSP is UNTESTED: no such camera was at hand.

A thread of its own empties the stream all the time, so that no picture waits in a buffer and grows old there. How long
a picture was on its way is not known: the first one that arrives after a call may have been on its way already, so the
second one is taken.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import cv2
import numpy as np

from firmware.devices.camera.source import CameraError, CameraMissing, Frame, Image, Taken
from firmware.devices.camera.timed import TimedCamera
from firmware.devices.errors import DeviceSettings
from firmware.threads import start_thread

PORTS: Final = {"http": 80, "https": 443, "rtsp": 554, "rtsps": 322}
"""The schemes that are understood, with their ports."""
FROZEN_S: Final = 1.5
"""Seconds of one and the same picture after which an MJPEG stream is frozen: a sensor's noise makes no two alike."""
FROZEN_VIDEO_S: Final = 6.0
"""The same for RTSP, whose codec may leave an unchanged picture as it is until its next whole one."""
CONNECT_S: Final = 3.0
NEWER: Final = 2
"""Which picture after a call is taken."""


def parts_of(address: str) -> SplitResult:
    """Return the parts of a camera's address. Raises DeviceSettings, whose message has no name and no password."""
    try:
        parts = urlsplit(address)
        good = parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise DeviceSettings(
            "A camera's address is http://HOST:PORT/PATH or rtsp://HOST:PORT/PATH; this one is not."
        )
    return parts


def shown(parts: SplitResult) -> str:
    """Return an address without name, password and query, for people and logs."""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"


def open_stream(address: str) -> Any:
    """Open a stream through OpenCV. It blocks for some seconds at most."""
    os.environ.setdefault(
        "OPENCV_FFMPEG_LOGLEVEL", "-8"
    )  # FFmpeg's own lines would name the address as it is
    limits = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, 5000, cv2.CAP_PROP_READ_TIMEOUT_MSEC, 5000]
    return cv2.VideoCapture(address, cv2.CAP_FFMPEG, limits)


class NetworkCamera(TimedCamera):
    """A network camera as a `FrameSource`. `address` may hold a name and a password; no message of it does.

    Raises DeviceSettings for an address that is none.
    """

    def __init__(
        self, address: str, capture: Callable[[str], Any] = open_stream, connect: bool = True, **timing: Any
    ) -> None:
        super().__init__(**timing)
        self._address = address
        self._parts = parts_of(address)
        self._name = shown(self._parts)
        self._new_capture = capture
        self._connect = connect
        self._stream: _Stream | None = None

    def _open(self) -> None:
        if self._connect:
            where = (self._parts.hostname, self._parts.port or PORTS[self._parts.scheme])
            try:
                socket.create_connection(where, timeout=CONNECT_S).close()
            except OSError as error:
                raise CameraMissing(
                    "Nothing answers at %(camera)s: is the camera on, and in this network?", camera=self._name
                ) from error
        capture = self._new_capture(self._address)
        if not capture.isOpened():
            capture.release()
            raise CameraMissing(
                "%(camera)s gives no pictures: look at its path, and whether it asks for a name and a password.",
                camera=self._name,
            )
        self._stream = _Stream(capture, repeats=self._parts.scheme.startswith("rtsp"))
        size = (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
        width, height = (int(capture.get(prop)) for prop in size)
        self.taken = (Taken("size", f"{width} × {height}", f"{width} × {height}"),)

    def _take(self) -> Frame:
        assert self._stream is not None
        stream, frozen = self._stream, FROZEN_S if not self._stream.repeats else FROZEN_VIDEO_S
        wanted = stream.count + NEWER
        while True:
            with stream.news:
                stream.news.wait_for(lambda: stream.count >= wanted or stream.ended, timeout=0.1)
                if stream.ended:
                    raise CameraMissing(
                        "%(camera)s sends no more pictures: is the camera still on?", camera=self._name
                    )
                if (same := stream.same_for) >= frozen:
                    raise CameraError(
                        "%(camera)s has sent one and the same picture for %(seconds)s s: it is frozen. Restart it.",
                        camera=self._name,
                        seconds=f"{same:.0f}",
                    )
                if stream.count >= wanted and stream.image is not None:
                    return Frame(stream.image, stream.at)

    def _release(self) -> None:
        if self._stream is not None:
            self._stream.stop()
            self._stream = None


class _Stream:
    """Empties a stream on a thread of its own, and keeps the newest picture.

    `count`: pictures so far; one that repeats the last counts only with `repeats`. Guarded by `news`.
    """

    def __init__(self, capture: Any, *, repeats: bool) -> None:
        self.news = threading.Condition()
        self.repeats = repeats
        self.count = 0
        self.image: Image | None = None
        self.at = self._changed_at = self._came_at = time.monotonic()
        self.ended = False
        self._stopping = False
        self._capture = capture
        start_thread(self._run, name="stream")

    @property
    def same_for(self) -> float:
        """Seconds for which pictures came that are all the same; 0 where the last one differed from its predecessor."""
        return self._came_at - self._changed_at

    def stop(self) -> None:
        """End the thread after its current picture; it closes the stream."""
        self._stopping = True

    def _run(self) -> None:
        try:
            while not self._stopping:
                good, image = self._capture.read()
                if not good:
                    break
                self._take(image)
        finally:
            with self.news:
                self.ended = True
                self.news.notify_all()
            self._capture.release()

    def _take(self, image: Image) -> None:
        now = time.monotonic()
        same = self.image is not None and np.array_equal(image, self.image)
        with self.news:
            self._came_at = now
            if not same:
                self._changed_at = now
            if not same or self.repeats:
                self.image, self.at = image, now
                self.count += 1
            self.news.notify_all()
