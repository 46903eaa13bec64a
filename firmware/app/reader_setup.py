"""From the calibrations in force to what the camera reads by: their texts, and what is left out of them and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from firmware.app.reading_messages import ReaderSetup
from firmware.table.events_camera import Calibration
from firmware.table.house import House
from firmware.table.journal import content_hash

KINDS: Final[Mapping[str, str]] = {"felt": "felt calibration", "lens": "lens calibration", "deck": "deck"}
"""What each is called in the journal's content table."""
_DROPPED: Final[Mapping[str, str]] = {
    "felt": "The felt's calibration is of another layout; calibrate the felt again.",
    "deck": "The enrolled deck was learnt with another card reader's model; enrol the deck again.",
}


def reader_setup(
    calibrations: Mapping[str, Calibration], house: House, content: Callable[[str], bytes | None]
) -> tuple[ReaderSetup, str]:
    """Return what the camera reads by, and a sentence about what it has to leave out.

    `content` gives the journal's content by hash. What is left out is told and never guessed: a felt's calibration of
    another layout, a deck that another model learnt, a text that the record has lost.
    """
    texts: dict[str, str] = {}
    told: list[str] = []
    stands_on = {"felt": ("layout", house.layout_hash), "deck": ("model", house.model_hash)}
    for what, made in calibrations.items():
        name, now = stands_on.get(what, ("", ""))
        data = content(made.hash)
        if name and now and made.stands_on.get(name, now) != now:
            told.append(_DROPPED[what])
        elif data is None or content_hash(data) != made.hash:
            told.append(f"The text of the {KINDS[what]} is missing from the record; do it again.")
        else:
            texts[what] = data.decode()
    if "lens" in calibrations and "lens" not in texts:
        texts.pop("felt", None)
    return ReaderSetup(**texts), " ".join(told)
