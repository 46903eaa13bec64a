"""The phones' page for photographs, a phone that is let in, and photographs as phones send them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from flask import Flask
from flask.testing import FlaskClient
from PIL import Image

from dealer_ui.photo.app import create_app, desk
from dealer_ui.photo.codes import Codes
from firmware.messages import Message
from firmware.photo import read_once
from firmware.photo.reading_process import PhotoReading, PhotoRefused
from tests.firmware.photo.laid import laid

EXAMPLES: Final = Path(__file__).parents[2] / "docs" / "examples"
SECRET: Final = b"a secret of a test"
GPS: Final = 34853
TURNED: Final = 274
"""Numbers of EXIF's fields: where a picture was taken, and how it is to be turned."""


@cache
def read_here(data: bytes) -> PhotoReading:
    """Read a photograph as the process for it does, but here: once, and not below everything else on the machine."""
    answer = json.loads(read_once.read(data))
    if "refused" in answer:
        raise PhotoRefused(Message.from_json(answer["refused"]))
    return PhotoReading.from_json(answer)


def laid_reading(players: int = 2, **changed: Any) -> PhotoReading:
    """Return a reading of cards that nobody photographed; `changed`: what else is so of the cards."""
    cards = laid(players, **changed)
    corners = np.array([card.corners for card in cards])
    low = corners.min(axis=(0, 1)) - 20
    wide, high = (int(side) for side in corners.max(axis=(0, 1)) - low + 20)
    moved = tuple(
        replace(card, corners=tuple((x - low[0], y - low[1]) for x, y in card.corners)) for card in cards
    )
    _, jpeg = cv2.imencode(".jpg", np.full((high, wide, 3), 60, np.uint8))
    return PhotoReading(moved, jpeg.tobytes(), (wide, high))


def photo_app(read: Any = read_here) -> Flask:
    """The application, with a code that is known."""
    return create_app(Codes(SECRET), read=read)


def phone(app: Flask, address: str = "192.0.2.30") -> FlaskClient:
    """A phone that was not let in."""
    client = app.test_client()
    client.environ_base |= {"REMOTE_ADDR": address, "wsgi.url_scheme": "https", "HTTP_ACCEPT": "text/html"}
    return client


def let_in(app: Flask, address: str = "192.0.2.30") -> FlaskClient:
    """A phone on which the code was keyed."""
    client = phone(app, address)
    assert client.post("/log-in", data={"code": desk(app).codes.shown().parted}).status_code == 303
    return client


def example(name: str = "two-hands") -> bytes:
    """Return a photograph of the book."""
    return (EXAMPLES / f"{name}.jpg").read_bytes()


def with_place(data: bytes, turned: int = 6) -> bytes:
    """Return a photograph as a phone held upright takes it: its pixels lie on their side, and it tells where it was."""
    with Image.open(BytesIO(data)) as picture:
        exif = picture.getexif()
        exif[TURNED] = turned
        exif[0x010F], exif[0x0110] = "Maker of phones", "Phone"
        exif.get_ifd(GPS).update({1: "N", 2: (48.0, 51.0, 30.0), 3: "E", 4: (2.0, 17.0, 40.0)})
        out = BytesIO()
        sideways = picture.transpose({6: Image.Transpose.ROTATE_90, 3: Image.Transpose.ROTATE_180}[turned])
        sideways.save(out, "JPEG", quality=95, exif=exif, comment=b"taken at home")
        return out.getvalue()
