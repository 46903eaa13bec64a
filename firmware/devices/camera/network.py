"""A camera in the network: MJPEG over HTTP, or RTSP through OpenCV. RTSP is UNTESTED: no such camera was at hand.

A thread of its own empties the stream all the time, so that no picture waits in a buffer and grows old there; of MJPEG
only the picture that is wanted is decoded. How long a picture was on its way is not known: the first one that arrives
after a call may have been on its way already, so the second one is taken.
"""

from __future__ import annotations

import base64
import http.client
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

import cv2
import numpy as np

from firmware.devices.camera.address import PORTS, parts_of, without_secrets
from firmware.devices.camera.source import CameraError, CameraMissing, Frame, Image
from firmware.devices.camera.timed_camera import TimedCamera
from firmware.threads import start_thread

FROZEN_S: Final = 1.5
"""Seconds of one and the same picture after which an MJPEG stream is frozen: a sensor's noise makes no two alike."""
FROZEN_VIDEO_S: Final = 6.0
"""The same for RTSP, whose codec may leave an unchanged picture as it is until its next whole one."""
CONNECT_S: Final = 3.0
SILENT_S: Final = 30.0
"""Seconds without a byte after which a stream has ended; a picture is late long before."""
MAX_LINES: Final = 1000
"""Lines, and bytes of a line, before a picture; more is no MJPEG."""
MAX_BYTES: Final = 50_000_000
NEWER: Final = 2
"""Which picture after a call is taken."""


def open_stream(address: str) -> Any:
    """Open a stream. It blocks for some seconds at most."""
    if urlsplit(address).scheme.startswith("http"):
        return HttpStream(address)
    # FFmpeg's own lines would name the address as it is
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    limits = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, 5000, cv2.CAP_PROP_READ_TIMEOUT_MSEC, 5000]
    return cv2.VideoCapture(address, cv2.CAP_FFMPEG, limits)


class HttpStream:
    """An MJPEG stream, used as OpenCV's VideoCapture is; `read` returns the next JPEG's bytes."""

    def __init__(self, address: str) -> None:
        parts = parts_of(address)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._line = kind(parts.hostname or "", parts.port, timeout=SILENT_S)
        headers = {}
        if parts.username is not None:
            user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers["Authorization"] = f"Basic {base64.b64encode(user.encode()).decode()}"
        self._answer: http.client.HTTPResponse | None = None
        self._socket: socket.socket | None = None
        with suppress(OSError, http.client.HTTPException, ValueError):
            self._line.request(
                "GET", f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}", headers=headers
            )
            self._socket = self._line.sock
            answer = self._line.getresponse()
            if answer.status == http.HTTPStatus.OK and answer.headers.get_content_maintype() == "multipart":
                self._answer = answer

    def isOpened(self) -> bool:  # noqa: N802
        """Return whether it is a stream of pictures."""
        return self._answer is not None

    @property
    def is_empty(self) -> bool:
        """Whether everything that has arrived was read: what comes next was not waiting here."""
        return self._socket is None or not select.select([self._socket], [], [], 0)[0]

    def read(self) -> tuple[bool, bytes]:
        """Return the next picture as it came; False at the end."""
        try:
            data = self._next()
        except (OSError, http.client.HTTPException, ValueError):
            data = b""
        return bool(data), data

    def release(self) -> None:
        """Close it."""
        self._line.close()

    def _next(self) -> bytes:
        """Return what follows the next part's head. Raises ValueError for a head that never ends."""
        assert self._answer is not None
        size = 0
        for _line in range(MAX_LINES):
            line = self._answer.readline(MAX_LINES)
            name, _colon, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                size = int(value)
            if not line or (size and line in (b"\r\n", b"\n")):
                break
        else:
            raise ValueError("this is no MJPEG stream whose pictures have a length")
        return self._answer.read(size) if 0 < size <= MAX_BYTES else b""


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
        self._name = without_secrets(self._parts)
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

    def _take(self) -> Frame:
        assert self._stream is not None
        stream, frozen = self._stream, FROZEN_S if not self._stream.repeats else FROZEN_VIDEO_S
        stream.look()
        while True:
            with stream.news:
                stream.news.wait_for(lambda: stream.is_new or stream.ended, timeout=0.1)
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
                if stream.is_new and stream.picture is not None:
                    picture, at = stream.picture, stream.at
                    break
        image = _decode(picture) if isinstance(picture, bytes) else picture
        if image is None:
            raise CameraError("The camera %(device)s gave a damaged picture.", device=self._name)
        return Frame(image, at)

    def _release(self) -> None:
        if self._stream is not None:
            self._stream.stop()
            self._stream = None


def _decode(data: bytes) -> Image | None:
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        return None
    return None if image is None else cast(Image, image)


class _Stream:
    """Empties a stream on a thread of its own, and keeps the newest picture.

    `count`: pictures so far; one that repeats the last counts only with `repeats`. Guarded by `news`.
    """

    def __init__(self, capture: Any, *, repeats: bool) -> None:
        self.news = threading.Condition()
        self.repeats = repeats
        self.count = 0
        self.picture: Image | bytes | None = None
        self.at = self._changed_at = self._came_at = time.monotonic()
        self.ended = False
        self._stopping = False
        self._wanted: int | None = None
        self._capture = capture
        start_thread(self._run, name="stream")

    def look(self) -> None:
        """Want a picture from now on: nothing that waits in a buffer now, nor what is on its way."""
        with self.news:
            self._wanted = None

    @property
    def is_new(self) -> bool:
        """Whether the newest picture is such a one."""
        return self._wanted is not None and self.count >= self._wanted

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
                # Where this process was held up, pictures have piled up and are old: they are read away first.
                if self._wanted is None and getattr(self._capture, "is_empty", True):
                    with self.news:
                        self._wanted = self.count + NEWER
                good, picture = self._capture.read()
                if not good:
                    break
                self._take(picture)
        finally:
            with self.news:
                self.ended = True
                self.news.notify_all()
            self._capture.release()

    def _take(self, picture: Image | bytes) -> None:
        now, last = time.monotonic(), self.picture
        if isinstance(picture, bytes):
            same = picture == last
        else:
            same = not isinstance(last, bytes) and last is not None and np.array_equal(picture, last)
        with self.news:
            self._came_at = now
            if not same:
                self._changed_at = now
            if not same or self.repeats:
                self.picture, self.at = picture, now
                self.count += 1
            self.news.notify_all()
