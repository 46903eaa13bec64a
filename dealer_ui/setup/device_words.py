"""The result of a device test in words: a sentence, a figure and what to do. The table sends an identifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dealer_ui.review.timeline import day_of, time_of
from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say, say_json

Figures = Mapping[str, Any]

_CABLE: Final = N_("Check both ends of its cable, then try again.")
_PANEL: Final = N_("Check the cable of the panel. Meanwhile the page does what the buttons do.")
_PUCK: Final = N_("Plug the puck reader in. Meanwhile the dealer keys the button's seat on the page.")

FOUND: Final[Mapping[str, tuple[str, str]]] = {
    "camera_starts": (N_("The camera is being started; that may take a minute."), ""),
    "camera_takes": (N_("A picture is being taken…"), ""),
    "camera_well": (N_("The camera gives pictures."), ""),
    "camera_fails": ("%(says)s", _CABLE),
    "puck_absent": (N_("The puck reader says nothing."), _PUCK),
    "puck_fails": ("%(says)s", _PUCK),
    "puck_diskless": (
        N_("No disk of this table is known yet. Lay the disk that says DEALER on the mark of any seat."),
        N_("Its tag is then listed below: say there which disk it is. The same with ACTION."),
    ),
    "puck_unnamed": (
        N_("A tag is read. Which disk is it?"),
        N_("Without a dealer disk the button is keyed."),
    ),
    "puck_moves": (N_("Lay both disks at each seat in turn. Still to come: %(left)s."), ""),
    "puck_nowhere": (
        N_("No disk is seen. Lay both disks on the mark of a seat. Still to come: %(left)s."),
        N_("If it lies there: shift it a little. The reader sees it within two centimetres of the mark."),
    ),
    "puck_twice": (
        N_("A disk is seen at two seats: %(at)s."),
        N_("Take spare disks off the table."),
    ),
    "puck_apart": (N_("The two disks lie at different seats."), N_("Lay them together.")),
    "puck_well": (N_("Both disks were seen at every seat."), ""),
    "puck_well_alone": (
        N_("The dealer disk was seen at every seat. No action disk was seen."),
        N_("A table with a single disk plays so. With two, lay both at a seat and try again."),
    ),
    "puck_deaf": (
        N_("These seats' antennas do not answer: %(dead)s."),
        N_(
            "Check their plugs at the reader under the table, then try again. Meanwhile the dealer keys the button."
        ),
    ),
    "buttons_press": (N_("Press the button that blinks: %(asks)s."), ""),
    "buttons_well": (N_("All three buttons answer."), ""),
    "buttons_absent": (N_("No buttons are connected."), _PANEL),
    "buttons_fail": ("%(says)s", _PANEL),
    "buttons_crossed": (
        N_("Asked was %(asked)s, pressed was %(came)s."),
        N_(
            "If you did press %(asked)s, two wires are crossed: swap them at the panel's plug. Otherwise try again."
        ),
    ),
    "lamps_look": (N_("Light the lamp, look at it, then say what you see: %(asks)s."), ""),
    "lamps_well": (N_("All lamps light."), ""),
    "lamps_absent": (N_("No lamps are connected."), _PANEL),
    "lamps_fail": ("%(says)s", _PANEL),
    "lamps_dark": (
        N_("These stay dark: %(dark)s."),
        N_("Check the lamp and its wire. The page shows all that the lamps show."),
    ),
    "buzzer_ring": (N_("Let it sound three times."), ""),
    "buzzer_listen": (N_("It should have sounded three times. Did you hear it?"), ""),
    "buzzer_well": (N_("The buzzer sounds."), ""),
    "buzzer_absent": (N_("No buzzer is connected."), N_("The page has sounds of its own.")),
    "buzzer_fails": ("%(says)s", _PANEL),
    "buzzer_silent": (
        N_("The buzzer was not heard."),
        N_("Check its wires and their polarity. The page has sounds of its own."),
    ),
    "disk_well": (N_("The disk is written to and has room."), ""),
    "disk_fails": (
        N_("The disk cannot be written to: %(says)s."),
        N_("Put another card or disk into the box."),
    ),
    "disk_full": (
        N_("There is little room on the disk."),
        N_("Export the record and make room, or put a larger disk in: a hand takes up to 10 MB."),
    ),
    "disk_slow": (
        N_("The disk is slow."),
        N_(
            "A worn or poor card is slow before it fails: replace it by one made to be written to all the time."
        ),
    ),
    "clock_synchronised": (N_("The network keeps this clock."), ""),
    "clock_battery": (N_("A battery keeps this clock; no network corrects it."), ""),
    "clock_alone": (
        N_("Neither a network nor a battery keeps this clock: after a power cut it is wrong."),
        N_(
            "Fit the clock's battery, or connect the box to a network with time. The record keeps its order anyway."
        ),
    ),
    "clock_jumped": (
        N_("The clock has just jumped by %(jumped_s)s s."),
        N_("The network has set it. Look at the time again."),
    ),
    "power_well": (N_("The supply is well."), ""),
    "power_fails": ("%(says)s", N_("See what it says, then try again.")),
    "power_unknown": (
        N_("The supply's sensors say nothing here."),
        N_("Check the wire of the battery's power-fail line. A power cut costs nothing that was recorded."),
    ),
}
"""What is found → the sentence, and what to do about it."""

LEFT: Final = "_left"
"""How the name of what somebody went on without ends."""

NAMES: Final[Mapping[str, str]] = {
    "next": N_("white"),
    "confirm": N_("green"),
    "reject": N_("red"),
    "fault": N_("the fault lamp"),
    "ready": N_("the ready lamp"),
}
"""Buttons and lamps."""


def name_of(part: str) -> str:
    """Name a button or lamp."""
    return _(NAMES[part]) if part in NAMES else part


def found(why: str, figures: Figures, asks: str = "") -> tuple[str, str]:
    """Describe the result of a test, and what to do; the latter may be empty."""
    sentence, advice = FOUND.get(why.removesuffix(LEFT), ("", ""))
    values = {name: _word(name, value) for name, value in figures.items()} | {"asks": name_of(asks)}
    result = _(sentence, **values) if sentence else why
    if why.endswith(LEFT):
        result = _("Nobody tried it to the end.")
    return result, _(advice, **values) if advice else ""


def _word(name: str, value: Any) -> str:
    if name == "says":
        return say_json(value) if isinstance(value, Mapping | str) else say(value)
    if name in ("asked", "came", "dark"):
        return ", ".join(name_of(part) for part in str(value).split())
    if name in ("left", "at", "dead", "seats"):
        return ", ".join(str(value).split())
    return str(value)


def figure(device: str, figures: Figures) -> str:
    """Describe a device's measurements in a few words; empty if there are none."""
    statement = _FIGURES.get(device)
    return statement(figures) if statement and figures else ""


def _camera(figures: Figures) -> str:
    return f"{figures['width']} × {figures['height']} px" if "width" in figures else ""


def _puck(figures: Figures) -> str:
    if "seen" not in figures:
        return ""
    return _("%(seen)s of %(wanted)s seats", seen=figures["seen"], wanted=figures["wanted"])


def _buttons(figures: Figures) -> str:
    return _("%(pressed)s of %(wanted)s", pressed=figures["pressed"], wanted=figures["wanted"])


def _lamps(figures: Figures) -> str:
    return _("%(lit)s of %(wanted)s", lit=figures["lit"], wanted=figures["wanted"])


def _disk(figures: Figures) -> str:
    if "free_mb" not in figures:
        return ""
    room = _("%(gb)s GB free", gb=f"{figures['free_mb'] / 1000:.1f}")
    if figures["ms"] is None:
        return room
    speed = _("1 MB in %(ms)s ms", ms=round(figures["ms"]))
    return f"{room} · {speed}"


def _clock(figures: Figures) -> str:
    return when(figures["wall_ms"], seconds=True)


def _power(figures: Figures) -> str:
    parts = []
    if figures.get("mains") is not None:
        parts.append(_("mains") if figures["mains"] else _("battery"))
    if figures.get("celsius") is not None:
        parts.append(f"{figures['celsius']:.0f} °C")
    return " · ".join(parts)


def when(wall_ms: int, *, seconds: bool = False) -> str:
    """Format a time in the box's own time zone, the same in every language."""
    time = time_of(wall_ms)
    return f"{day_of(wall_ms)} {time if seconds else time[:5]}"


_FIGURES: Final[Mapping[str, Callable[[Figures], str]]] = {
    "camera": _camera,
    "puck": _puck,
    "buttons": _buttons,
    "lamps": _lamps,
    "disk": _disk,
    "clock": _clock,
    "power": _power,
}
