"""What a device's test found, as a `Check`: the sentence and what to do. The record has an identifier and figures."""

from collections.abc import Mapping
from typing import Any, Final

from firmware.health.check import Check, Verdict
from firmware.messages import Message, Word, join_words, message_of, text_of

ROOM_MB: Final = 1000
"""Free megabytes below which space should be freed: room for a hundred hands of 10 MB."""
SLOW_MS: Final = 250.0
"""Milliseconds to write and sync a megabyte above which a card is too slow for a table."""

VERDICTS: Final[Mapping[str, Verdict]] = {"pass": Verdict.OK, "fail": Verdict.BAD, "waits": Verdict.WAITS}
"""The record's words for the verdict of a test."""

LITTLE_ROOM: Final = Message("There is little room on the disk.")
MAKE_ROOM: Final = Message(
    "Export the record and make room, or put a larger disk in: a hand takes up to 10 MB."
)
_CABLE: Final = Message("Check both ends of its cable, then try again.")
_PANEL: Final = Message("Check the cable of the panel. Meanwhile the page does what the push-buttons do.")
_PUCK: Final = Message("Plug the puck reader in. Meanwhile the dealer keys the puck's seat on the page.")

NOT_INSTALLED: Final = "not_installed"
"""What is found of a device that the table has not, by its configuration."""

FOUND: Final[Mapping[str, tuple[Message | None, Message | None]]] = {
    NOT_INSTALLED: (Message("Not installed, by the configuration."), None),
    "camera_starts": (Message("The camera is being started; that may take a minute."), None),
    "camera_takes": (Message("A picture is being taken…"), None),
    "camera_well": (Message("The camera gives pictures."), None),
    "camera_fails": (None, _CABLE),
    "puck_absent": (Message("The puck reader says nothing."), _PUCK),
    "puck_fails": (None, _PUCK),
    "puck_diskless": (
        Message(
            "No disk of this table is known yet. Lay the disk that says DEALER in the circle of any seat."
        ),
        Message("Its tag is then listed below: say there which disk it is. The same with ACTION."),
    ),
    "puck_unnamed": (
        Message("A tag is read. Which disk is it?"),
        Message("Without a dealer disk the puck's seat is keyed."),
    ),
    "puck_moves": (Message("Lay both disks at each seat in turn. Still to come: %(left)s."), None),
    "puck_nowhere": (
        Message("No disk is seen. Lay both disks in the circle of a seat. Still to come: %(left)s."),
        Message(
            "If it lies there: shift it a little. The reader sees it within two centimetres of the circle's middle."
        ),
    ),
    "puck_twice": (
        Message("A disk is seen at two seats: %(at)s."),
        Message("Take spare disks off the table."),
    ),
    "puck_apart": (Message("The two disks lie at different seats."), Message("Lay them together.")),
    "puck_well": (Message("Both disks were seen at every seat."), None),
    "puck_well_alone": (
        Message("The dealer disk was seen at every seat. No action disk was seen."),
        Message("A table with a single disk plays so. With two, lay both at a seat and try again."),
    ),
    "puck_deaf": (
        Message("These seats' antennas do not answer: %(dead)s."),
        Message(
            "Check their plugs at the reader under the table, then try again. "
            "Meanwhile the dealer keys the puck's seat."
        ),
    ),
    "buttons_press": (Message("Press the push-button that blinks: %(asks)s."), None),
    "buttons_well": (Message("All three push-buttons answer."), None),
    "buttons_absent": (Message("No push-buttons are connected."), _PANEL),
    "buttons_fail": (None, _PANEL),
    "buttons_crossed": (
        Message("Asked was %(asked)s, pressed was %(came)s."),
        Message(
            "If you did press %(asked)s, two wires are crossed: swap them at the panel's plug. Otherwise try again."
        ),
    ),
    "lamps_look": (Message("Light the lamp, look at it, then say what you see: %(asks)s."), None),
    "lamps_well": (Message("All lamps light."), None),
    "lamps_absent": (Message("No lamps are connected."), _PANEL),
    "lamps_fail": (None, _PANEL),
    "lamps_dark": (
        Message("These stay dark: %(dark)s."),
        Message("Check the lamp and its wire. The page shows all that the lamps show."),
    ),
    "buzzer_ring": (Message("Let it sound three times."), None),
    "buzzer_listen": (Message("It should have sounded three times. Did you hear it?"), None),
    "buzzer_well": (Message("The buzzer sounds."), None),
    "buzzer_absent": (Message("No buzzer is connected."), Message("The page has sounds of its own.")),
    "buzzer_fails": (None, _PANEL),
    "buzzer_silent": (
        Message("The buzzer was not heard."),
        Message("Check its wires and their polarity. The page has sounds of its own."),
    ),
    "disk_well": (Message("The disk is written to and has room."), None),
    "disk_fails": (
        Message("The disk cannot be written to: %(says)s."),
        Message("Put another card or disk into the box."),
    ),
    "disk_full": (LITTLE_ROOM, MAKE_ROOM),
    "disk_slow": (
        Message("The disk is slow."),
        Message(
            "A worn or poor card is slow before it fails: replace it by one made to be written to all the time."
        ),
    ),
    "clock_synchronised": (Message("The network keeps this clock."), None),
    "clock_battery": (Message("A battery keeps this clock; no network corrects it."), None),
    "clock_alone": (
        Message("Neither a network nor a battery keeps this clock: after a power cut it is wrong."),
        Message(
            "Fit the clock's battery, or connect the box to a network with time. The record keeps its order anyway."
        ),
    ),
    "clock_jumped": (
        Message("The clock has just jumped by %(jumped_s)s s."),
        Message("The network has set it. Look at the time again."),
    ),
    "power_well": (Message("The supply is well."), None),
    "power_fails": (None, Message("See what it says, then try again.")),
    "power_unknown": (
        Message("The supply's sensors say nothing here."),
        Message(
            "Check the wire of the battery's power-fail line. A power cut costs nothing that was recorded."
        ),
    ),
}
"""What is found → the sentence (None: what the device says), and what to do about it.

`asks` and the figures are their arguments.
"""

LEFT: Final = "_left"
"""The end of the identifier if somebody went on without the device."""

NAMES: Final[Mapping[str, Message]] = {
    "next": Message("white"),
    "confirm": Message("green"),
    "reject": Message("red"),
    "fault": Message("the fault lamp"),
    "ready": Message("the ready lamp"),
}
"""Buttons and lamps."""


def name_of(part: str) -> Message:
    """Name a button or lamp."""
    return NAMES.get(part, Message(part))


def judge_clock(synchronised: bool | None, rtc: bool | None, jumped_ms: int | None) -> str:
    """Return what is found of the clock, as an identifier of `FOUND`."""
    if jumped_ms:
        return "clock_jumped"
    if synchronised:
        return "clock_synchronised"
    return "clock_battery" if rtc else "clock_alone"


def device_check(device: str, verdict: str, why: str, figures: Mapping[str, Any], asks: str = "") -> Check:
    """Return a test's result as a check; `verdict` and `why` are those of the record."""
    says, advice = FOUND.get(why.removesuffix(LEFT), (Message(why), None))
    words = {name: _word(name, value) for name, value in figures.items()} | {"asks": name_of(asks)}
    if why.endswith(LEFT):
        says = Message("Nobody tried it to the end.")
    result = words["says"] if says is None else _with(says, words)
    assert isinstance(result, Message)
    doing = None if advice is None else _with(advice, words)
    found = Verdict.ABSENT if why == NOT_INSTALLED else VERDICTS[verdict]
    return Check(device, Message(device), found, "", result, doing, figures)


def _with(template: Message, words: Mapping[str, Word]) -> Message:
    """Return a message with those of the words that it has places for."""
    used = {name: word for name, word in words.items() if f"%({name})s" in template.message}
    return Message(template.message, **used)


def _word(name: str, value: Any) -> Word:
    if name == "says":
        return message_of(text_of(value))
    if name in ("asked", "came", "dark") and value:
        return join_words([name_of(part) for part in str(value).split()])
    if name in ("left", "at", "dead", "seats"):
        return ", ".join(str(value).split())
    return str(value)
