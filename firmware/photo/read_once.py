"""The process that reads one photograph and ends: its file on standard input, what was read as JSON on standard output.

python -m firmware.photo.read_once < PICTURE
"""

import contextlib
import json
import os
import resource
import sys
from dataclasses import replace
from io import BytesIO
from typing import Final

MEMORY: Final = 6 * 1024**3
"""Bytes of address space, most of which is never used: libraries, threads, and a picture of the most pixels."""
PROCESSOR_S: Final = 100


def step_back() -> None:
    """Run with the lowest priority, within limits. What the service's sandbox forbids to set is left as it is."""
    with contextlib.suppress(OSError):
        os.nice(19)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    for what, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, PROCESSOR_S),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))


def read(data: bytes) -> str:
    """Return the answer: what was read, or why nothing is."""
    from firmware.messages import Message
    from firmware.photo.reading_process import NAMED
    from vision.base.errors import VisionError

    try:
        return _read(data)
    except VisionError as error:
        # in the error the file's name is plain text already: the Message instead, so that the page translates it
        values = {name: NAMED if value == str(NAMED) else value for name, value in error.values.items()}
        return json.dumps({"refused": Message(error.template, **values).to_json()})


def _read(data: bytes) -> str:
    import cv2
    import numpy as np
    from PIL import Image

    from firmware.messages import Message
    from firmware.photo.cli import photo_cards
    from firmware.photo.reading_process import FORMATS, MAX_PIXELS, NAMED, SHOWN_PX, PhotoReading
    from vision.base.errors import PictureError
    from vision.base.pictures import picture_of
    from vision.reading.network import CardReader
    from vision.reading.surface_reading import read_surface

    Image.MAX_IMAGE_PIXELS = None  # they are counted below, before anything is unpacked
    try:
        Image.open(BytesIO(data), formats=FORMATS).close()
    except Exception as error:
        raise PictureError(
            "%(file)s is not a picture that can be read; use JPEG or PNG.", file=NAMED
        ) from error
    picture = picture_of(data, NAMED, MAX_PIXELS)
    reading = read_surface(picture, CardReader(threads=1))
    height, width = picture.shape[:2]
    times = min(1.0, SHOWN_PX / max(width, height))
    size = max(1, round(width * times)), max(1, round(height * times))
    shown = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    _, jpeg = cv2.imencode(".jpg", np.ascontiguousarray(shown), [cv2.IMWRITE_JPEG_QUALITY, 85])
    cards = tuple(
        replace(card, corners=tuple((x * times, y * times) for x, y in card.corners))
        for card in photo_cards(reading)
    )
    poor = tuple(Message(verdict.text) for verdict in reading.verdicts.values() if not verdict.ok)
    return PhotoReading(cards, jpeg.tobytes(), size, poor).to_json()


def main() -> None:
    """Read the picture on standard input."""
    step_back()
    sys.stdout.write(read(sys.stdin.buffer.read()))


if __name__ == "__main__":
    main()
