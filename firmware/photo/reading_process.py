"""Reads a photograph in a process of its own, which serves only this one and cannot delay or harm its caller.

A picture from elsewhere is unpacked there only: at the lowest priority, within limits of time and memory.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Final

from firmware.messages import Message, MessageError
from firmware.photo.asking import PhotoCard
from firmware.photo.grouping import Place

MAX_BYTES: Final = 16_000_000
"""Bytes of a photograph's file: four times what a phone takes."""
MAX_PIXELS: Final = 50_000_000
"""Pixels of a photograph."""
FORMATS: Final = ("JPEG", "PNG", "WEBP")
"""Pillow's names of the accepted formats. Of several pictures in a JPEG only the first is read."""
SHOWN_PX: Final = 1600
"""The long side of the picture that is kept to be shown: turned upright, written anew, without metadata."""
LONGEST_S: Final = 300.0

_GAVE_UP: Final = Message("This picture could not be read: it is damaged, or needs too much memory.")
NAMED: Final = Message("This file")
"""What a photograph is called in the sentences about it."""


class PhotoRefused(MessageError):
    """A photograph that cannot be read; the message is for the person who sent it."""


@dataclass(frozen=True)
class PhotoReading:
    """What was read in a photograph, and the picture to show.

    Attributes:
        cards: their corners are in the shown picture's pixels.
        jpeg: the picture, without anything that came with it.
        size: its width and height.
        verdicts: sentences about what is poor in the photograph.
    """

    cards: tuple[PhotoCard, ...]
    jpeg: bytes
    size: tuple[int, int]
    verdicts: tuple[Message, ...] = ()

    def to_json(self) -> str:
        """Return it as one line."""
        return json.dumps(
            {
                "cards": [
                    [
                        c.number,
                        c.card,
                        c.sure,
                        c.candidates,
                        c.evidence,
                        c.corners,
                        [c.place.x, c.place.y, c.place.turn],
                    ]
                    for c in self.cards
                ],
                "jpeg": base64.b64encode(self.jpeg).decode(),
                "size": self.size,
                "verdicts": [verdict.to_json() for verdict in self.verdicts],
            }
        )

    @classmethod
    def from_json(cls, data: Any) -> PhotoReading:
        """Return what `to_json` wrote."""
        cards = tuple(
            PhotoCard(
                number,
                card,
                sure,
                tuple(candidates),
                evidence,
                tuple((x, y) for x, y in corners),
                Place(*place),
            )
            for number, card, sure, candidates, evidence, corners, place in data["cards"]
        )
        width, height = data["size"]
        return cls(
            cards,
            base64.b64decode(data["jpeg"]),
            (width, height),
            tuple(map(Message.from_json, data["verdicts"])),
        )


def read_in_process(data: bytes, longest_s: float = LONGEST_S) -> PhotoReading:
    """Read a photograph's file. Raises PhotoRefused."""
    if len(data) > MAX_BYTES:
        raise PhotoRefused(
            "This file has more than %(most)s MB. Take the picture at a lower resolution.",
            most=MAX_BYTES // 1_000_000,
        )
    try:
        done = subprocess.run(
            [sys.executable, "-m", "firmware.photo.read_once"],
            input=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=longest_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PhotoRefused(
            "Reading this picture took too long and was ended. Take it again, nearer to the cards."
        ) from error
    except OSError as error:  # no memory for another process
        raise PhotoRefused(_GAVE_UP) from error
    try:
        answer = json.loads(done.stdout)
        refused = Message.from_json(answer["refused"]) if "refused" in answer else None
        reading = None if refused else PhotoReading.from_json(answer)
    except (ValueError, KeyError, TypeError) as error:  # it was ended by a limit, or died
        raise PhotoRefused(_GAVE_UP) from error
    if reading is None:
        raise PhotoRefused(refused or _GAVE_UP)
    return reading
