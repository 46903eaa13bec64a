"""Builds the camera's setup from the calibrations in force, and states which ones are left out and why."""

from collections.abc import Callable, Mapping
from typing import Final

from firmware.messages import Message, Text, in_turn
from firmware.runtime.reading.messages import ReaderSetup, ReadingDone
from firmware.table.entry import content_hash
from firmware.table.events import Calibration
from firmware.table.house import House
from firmware.table.values import SHEETS

KINDS: Final[Mapping[str, str]] = {"felt": "felt calibration", "lens": "lens calibration", "deck": "deck"}
"""The kind of each in the journal's content table."""
MISSING: Final[Mapping[str, Message]] = {
    "felt": Message("The text of the felt calibration is missing from the record; do it again."),
    "lens": Message("The text of the lens calibration is missing from the record; do it again."),
    "deck": Message("The text of the deck is missing from the record; do it again."),
}
MOVED: Final = Message(
    "The camera or the felt has moved since it was calibrated; calibrate the felt between hands."
)
DROPPED: Final[Mapping[str, Message]] = {
    "felt": Message("The felt's calibration is of another layout; calibrate the felt again."),
    "deck": Message("The enrolled deck was learnt with another card reader's model; enrol the deck again."),
}


def reader_setup(
    calibrations: Mapping[str, Calibration], house: House, content: Callable[[str], bytes | None]
) -> tuple[ReaderSetup, Text]:
    """Return the camera's setup, and a message about what is left out of it.

    `content` returns the journal's content by hash. Left out are: a felt's calibration of another layout, a deck that
    another model was enrolled with, a text that is missing from the record.
    """
    texts: dict[str, str] = {}
    problems: list[Message] = []
    stands_on = {"felt": ("layout", house.layout_hash), "deck": ("model", house.model_hash)}
    for what, made in calibrations.items():
        name, now = stands_on.get(what, ("", ""))
        data = content(made.hash)
        if name and now and SHEETS not in made.stands_on and made.stands_on.get(name, now) != now:
            problems.append(DROPPED[what])
        elif data is None or content_hash(data) != made.hash:
            problems.append(MISSING[what])
        else:
            texts[what] = data.decode()
    own = calibrations["felt"].stands_on if "felt" in texts else {}
    if SHEETS in own:
        data = content(own["layout"])
        if data is None or content_hash(data) != own["layout"]:
            problems.append(MISSING["felt"])
            del texts["felt"]
        else:
            texts["layout"] = data.decode()
    if "lens" in calibrations and "lens" not in texts:
        for what in ("felt", "layout"):
            texts.pop(what, None)
    return ReaderSetup(**texts), in_turn(problems)


class CameraCalibration:
    """The camera's setup, passed to the reading process, and whether it still holds."""

    def __init__(self, use: Callable[[ReaderSetup], None], content: Callable[[str], bytes | None]) -> None:
        """`use` passes a setup to the reading process; `content` returns the journal's content by hash."""
        self._use = use
        self._content = content
        self._left_out: Text = ""
        self._moved: Text = ""

    @property
    def trouble(self) -> Text:
        """The fault as a message; "" if there is none."""
        return self._left_out or self._moved

    def put_in_force(self, calibrations: Mapping[str, Calibration], house: House) -> None:
        """Make the camera use these calibrations from now on."""
        setup, self._left_out = reader_setup(calibrations, house, self._content)
        self._moved = ""
        self._use(setup)

    def on_answer(self, reading: ReadingDone) -> None:
        """Check whether a reading shows that the camera has moved since the felt was calibrated."""
        verdict = reading.reading.get("verdicts", {}).get("camera")
        self._moved = MOVED if verdict is not None and not verdict["ok"] else ""
