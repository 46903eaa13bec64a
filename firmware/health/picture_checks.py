"""Checks of a picture's figures: what each is called, its unit, and what to do about a bad one."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from firmware.health.check import Check, Verdict
from firmware.messages import Message, join_words


class Measure(NamedTuple):
    """A figure of a picture: what it is called, its unit, its decimals."""

    title: Message
    unit: str
    decimals: int


MEASURES: Final[Mapping[str, Measure]] = {
    "markers": Measure(Message("Markers found"), "", 0),
    "margin": Measure(Message("Room at the edge"), "px", 0),
    "tilt": Measure(Message("Camera leans"), "°", 1),
    "fit": Measure(Message("Felt lies off by"), "px", 2),
    "resolution": Measure(Message("Resolution"), "px/mm", 2),
    "sharpness": Measure(Message("An edge takes"), "mm", 2),
    "light": Measure(Message("White paper"), "", 0),
    "glare": Measure(Message("Glare"), "mm²", 0),
    "banding": Measure(Message("Flicker"), "%", 1),
    "colour": Measure(Message("Colour"), "", 0),
    "suits": Measure(Message("Suits"), "", 1),
    "deck": Measure(Message("Cards of an odd deck"), "", 0),
    "camera": Measure(Message("Moved by"), "mm", 1),
}
"""In the order in which they are shown: first what is put right first."""
_REMEDIES: Final[Mapping[str, Message]] = {
    "suits": Message(
        "Suits of one colour cannot be told apart: clean the lens, set the focus or hang the camera lower."
    )
}
"""Remedies whose text names suits; the others are said as vision gives them."""
_ZONES: Final = 4  # more are not named: the remedy is then for the whole table
_ROOM: Final = frozenset({"margin", "resolution", "colour", "suits"})
"""Figures that must reach their limit; the others must not pass it. Light has both, and says which."""


def picture_check(name: str, seen: Mapping[str, Any]) -> Check:
    """Return a verdict of vision on a picture as a check. Its `figures` are the value and the limit as text."""
    measure = MEASURES[name]
    value, limit = float(seen["figure"]), float(seen["limit"])
    shown, bound = (
        number(value, measure.unit, measure.decimals),
        number(limit, measure.unit, measure.decimals),
    )
    too_bright = name == "light" and value > limit and not seen["ok"]
    least = name in _ROOM or (name == "light" and not too_bright)
    texts = {"value": shown, "limit": ("≥ " if least else "≤ ") + bound}
    if name == "markers":
        texts = {"value": f"{value:.0f} / {limit:.0f}", "limit": ""}
    says = Message(str(seen.get("text", "")))
    if name in _REMEDIES and not seen["ok"]:
        says = _REMEDIES[name]
    zones = [zone.partition(" ") for zone in str(seen.get("where", "")).split(", ") if zone]
    if 0 < len(zones) <= _ZONES and not seen["ok"]:
        where = join_words(Message("%(place)s %(row)s", place=place, row=row) for place, _space, row in zones)
        says = Message("%(what)s Where: %(zones)s.", what=says, zones=where)
    verdict = Verdict.OK if seen["ok"] else Verdict.BAD
    return Check(name, measure.title, verdict, f"{shown} ({bound})", says, figures=texts)


def number(value: float, unit: str, decimals: int) -> str:
    """Format a figure with its unit; shares as percents.

    >>> number(0.0312, "%", 1), number(3.06, "mm", 1), number(4.2, "°", 1)
    ('3.1 %', '3.1 mm', '4.2°')
    """
    shown = round(value * 100 if unit == "%" else value, decimals)
    text = f"{'−' if shown < 0 else ''}{abs(shown):.{decimals}f}"
    return text + ("" if not unit else unit if unit == "°" else f" {unit}")
