"""A simulated network camera: a real MJPEG server over HTTP, which fails as such cameras do."""

import base64
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import cv2
import numpy as np

from firmware.devices.camera.source import Image

BOUNDARY: Final = "picture"
QUALITY: Final = 92


class MjpegServer:
    """Serves what `picture` returns as `/video`, on this machine only. The methods may be called from any thread.

    Each picture has a sensor's noise in its first eight rows of pixels, so that no two are alike. `rate`: pictures a
    second. `user`: "NAME:PASSWORD" that a client must give; "" for none.
    """

    def __init__(self, picture: Callable[[], Image], *, rate: float = 15.0, user: str = "") -> None:
        self._picture = picture
        self._gap = 1.0 / rate
        self._expected = f"Basic {base64.b64encode(user.encode()).decode()}" if user else ""
        self._going = threading.Event()
        self._going.set()
        self._repeats: bytes | None = None
        self._last = b""
        self._pulled = False
        self._noise = np.random.default_rng(1)
        self._server: ThreadingHTTPServer | None = None

    @property
    def port(self) -> int:
        """The port it listens on."""
        assert self._server is not None
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """The stream's address."""
        return f"http://127.0.0.1:{self.port}/video"

    def start(self, port: int = 0) -> None:
        """Begin to serve on a thread; port 0 is a free one."""
        camera = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                camera._serve(self)

            def log_message(self, *_args: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()

    def hang(self) -> None:
        """Send nothing more on any connection until `go_on`."""
        self._going.clear()

    def repeat(self) -> None:
        """Send the last picture again and again until `go_on`."""
        self._repeats = self._last

    def pull(self) -> None:
        """Close every connection, and refuse new ones until `go_on`."""
        self._pulled = True

    def go_on(self) -> None:
        """End every fault."""
        self._repeats = None
        self._pulled = False
        self._going.set()

    def stop(self) -> None:
        """End. May be called twice."""
        self._pulled = True
        self._going.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def _serve(self, request: BaseHTTPRequestHandler) -> None:
        if self._pulled:
            request.send_error(503)
            return
        if self._expected and request.headers.get("Authorization") != self._expected:
            request.send_response(401)
            request.send_header("WWW-Authenticate", 'Basic realm="camera"')
            request.end_headers()
            return
        request.send_response(200)
        request.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={BOUNDARY}")
        request.end_headers()
        try:
            while not self._pulled:
                self._going.wait()
                data = self._repeats or self._jpeg()
                self._last = data
                head = f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(data)}\r\n\r\n"
                request.wfile.write(head.encode() + data + b"\r\n")
                request.wfile.flush()
                time.sleep(self._gap)
        except OSError:
            return  # whoever looked has gone

    def _jpeg(self) -> bytes:
        image = self._picture().copy()
        image[:8] = self._noise.integers(0, 255, image[:8].shape, dtype=np.uint8)
        _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        return data.tobytes()
