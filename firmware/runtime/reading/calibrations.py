"""From the calibrations in force to what the camera reads by: their texts, and what is left out of them and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from firmware.runtime.reading.messages import ReaderSetup, ReadingDone
from firmware.table.entry import content_hash
from firmware.table.events.camera import Calibration
from firmware.table.house import House

KINDS: Final[Mapping[str, str]] = {"felt": "felt calibration", "lens": "lens calibration", "deck": "deck"}
"""What each is called in the journal's content table."""
MOVED: Final = "The camera or the felt has moved since it was calibrated; calibrate the felt between hands."
DROPPED: Final[Mapping[str, str]] = {
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
    answer: list[str] = []
    stands_on = {"felt": ("layout", house.layout_hash), "deck": ("model", house.model_hash)}
    for what, made in calibrations.items():
        name, now = stands_on.get(what, ("", ""))
        data = content(made.hash)
        if name and now and made.stands_on.get(name, now) != now:
            answer.append(DROPPED[what])
        elif data is None or content_hash(data) != made.hash:
            answer.append(f"The text of the {KINDS[what]} is missing from the record; do it again.")
        else:
            texts[what] = data.decode()
    if "lens" in calibrations and "lens" not in texts:
        texts.pop("felt", None)
    return ReaderSetup(**texts), " ".join(answer)


class CameraCalibration:
    """What the camera reads by, handed to the reading process, and whether it still holds."""

    def __init__(self, use: Callable[[ReaderSetup], None], content: Callable[[str], bytes | None]) -> None:
        """`use` hands a setup to the reading process; `content` gives the journal's content by hash."""
        self._use = use
        self._content = content
        self._left_out = ""
        self._moved = ""

    @property
    def trouble(self) -> str:
        """A sentence about what is amiss; empty where nothing is."""
        return self._left_out or self._moved

    def put_in_force(self, calibrations: Mapping[str, Calibration], house: House) -> None:
        """Have the camera read by these from now on."""
        setup, self._left_out = reader_setup(calibrations, house, self._content)
        self._moved = ""
        self._use(setup)

    def on_answer(self, reading: ReadingDone) -> None:
        """Look at what a reading says about the camera's place: knocked since the felt was calibrated, or not."""
        verdict = reading.reading.get("verdicts", {}).get("camera")
        self._moved = MOVED if verdict is not None and not verdict["ok"] else ""
