"""A camera that receives its pictures from a program, with the faults of real cameras.

`RoomCamera` runs in a process of its own, like a real camera: it reads a picture file, and the simulated faults from
another file next to it. The `Room` writes both.
"""

import json
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from firmware.devices.camera.source import CameraMissing, Frame, Image
from firmware.devices.camera.spoil import Spoil, spoil_picture
from firmware.devices.camera.timed_camera import TimedCamera


class Room:
    """The picture and simulated faults of a `RoomCamera` in another process. Call from any thread."""

    def __init__(self, view: Path) -> None:
        """`view`: the picture's file; the file of the simulated faults is next to it."""
        self._view = view
        self._lock = threading.Lock()
        self._spoil = Spoil()
        self._keep(self._spoil)

    @property
    def spoil(self) -> Spoil:
        """The current faults."""
        return self._spoil

    def show(self, image: Image) -> None:
        """Replace the picture atomically."""
        new = self._view.with_name(f".{self._view.name}")
        with new.open("wb") as file:
            np.save(file, image)
        new.rename(self._view)

    def unplug(self) -> None:
        """Pull the cable."""
        with self._lock:
            self._keep(replace(self._spoil, plugged=False, pulls=self._spoil.pulls + 1))

    def replug(self) -> None:
        """Plug it in again; an open camera must be opened again."""
        self.change(plugged=True)

    def hang(self) -> None:
        """Hang the driver: a camera that is open gets no more frames until it is opened again."""
        with self._lock:
            self._keep(replace(self._spoil, hangs=self._spoil.hangs + 1))

    def drift(self, px_per_second: float) -> None:
        """Make the camera's view drift from now on; 0 puts it back."""
        self.change(drift_px_s=px_per_second, drift_since=time.monotonic())

    def change(self, **spoil: float) -> None:
        """Change fields of `Spoil`: light, glare, bands, late_s, garbage, frozen ..."""
        with self._lock:
            self._keep(replace(self._spoil, **spoil))  # type: ignore[arg-type]

    def _keep(self, spoil: Spoil) -> None:
        path = _befalls(self._view)
        new = path.with_name(f".{path.name}")
        new.write_text(json.dumps(asdict(spoil)))
        new.rename(path)
        self._spoil = spoil


class RoomCamera(TimedCamera):
    """A camera that reads the picture in a file, with the faults stored next to it. `timing` goes to `TimedCamera`."""

    def __init__(self, view: Path, **timing: Any) -> None:
        super().__init__(**timing)
        self._view = view
        self._opened = Spoil()
        self._over = threading.Event()

    def close(self) -> None:
        """Release; see `FrameSource.close`. Wakes a thread that waits for a picture."""
        self._over.set()
        super().close()

    def _open(self) -> None:
        self._over = threading.Event()
        self._opened = self._now()
        if not self._opened.plugged:
            raise CameraMissing("The camera is not connected: plug it in.")

    def _take(self) -> Frame:
        opened, over = self._opened, self._over
        time.sleep(self._now().late_s)
        at = time.monotonic()
        while (spoil := self._now()).frozen or spoil.hangs != opened.hangs:
            if over.wait(0.02):
                raise CameraMissing("The camera was closed.")
        if spoil.pulls != opened.pulls or not spoil.plugged:
            raise CameraMissing("The camera gives no pictures: check its cable.")
        return Frame(spoil_picture(np.load(self._view), spoil, at), at)

    def _release(self) -> None:
        """Nothing to release."""

    def _now(self) -> Spoil:
        try:
            return Spoil(**json.loads(_befalls(self._view).read_text()))
        except FileNotFoundError:
            return Spoil()  # no faults are stored


def _befalls(view: Path) -> Path:
    return view.with_suffix(".befalls.json")
