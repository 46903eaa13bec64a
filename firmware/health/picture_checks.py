"""Checks of a picture's figures: what each is called, its unit, and what to do about a bad one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from firmware.health.check import Check, Verdict
from firmware.messages import Message

NAMES: Final[Mapping[str, Message]] = {
    "markers": Message("Markers found"),
    "margin": Message("Room at the edge"),
    "tilt": Message("Camera leans"),
    "fit": Message("Felt lies off by"),
    "resolution": Message("Resolution"),
    "sharpness": Message("An edge takes"),
    "light": Message("White paper"),
    "glare": Message("Glare"),
    "banding": Message("Flicker"),
    "colour": Message("Colour"),
    "suits": Message("Suits"),
    "camera": Message("Moved by"),
}
"""In the order in which they are shown: first what is put right first."""
WELL: Final[Mapping[str, Message]] = {
    "markers": Message("All markers are seen."),
    "margin": Message("The felt lies well inside the picture."),
    "tilt": Message("The camera looks straight down."),
    "fit": Message("The felt lies flat."),
    "resolution": Message("The cards are large enough."),
    "sharpness": Message("The picture is sharp."),
    "light": Message("The light is right."),
    "glare": Message("No glare."),
    "banding": Message("No stripes."),
    "colour": Message("The picture has colours."),
    "suits": Message("Suits of one colour can be told apart."),
    "camera": Message("The camera is where it was."),
}
ILL: Final[Mapping[str, Message]] = {
    "markers": Message("Markers are hidden: clear the felt's edges and keep sleeves away."),
    "margin": Message("A marker lies too near the picture's edge: move the camera or hang it higher."),
    "tilt": Message("The camera leans: level it above the middle of the felt."),
    "fit": Message("The markers do not lie as on a flat felt: smooth the felt, or calibrate the lens."),
    "resolution": Message("The cards are too small: hang the camera lower or use its full resolution."),
    "sharpness": Message("The picture is out of focus: clean the lens and set the focus."),
    "light": Message("The picture is too dark: turn the lamps up or lengthen the exposure."),
    "glare": Message("Glare in zone %(place)s %(row)s: move or shade the lamp that is mirrored there."),
    "banding": Message("The light flickers: set the mains frequency and the exposure, or change the lamps."),
    "colour": Message("No colour in this picture: set the camera to colour."),
    "suits": Message(
        "Suits of one colour cannot be told apart: clean the lens, set the focus or hang the camera lower."
    ),
    "camera": Message(
        "The camera or the felt has moved since it was calibrated: fasten it and calibrate the felt."
    ),
}
_UNITS: Final[Mapping[str, tuple[str, int]]] = {
    "markers": ("", 0),
    "margin": ("px", 0),
    "tilt": ("°", 1),
    "fit": ("px", 2),
    "resolution": ("px/mm", 2),
    "sharpness": ("mm", 2),
    "light": ("", 0),
    "glare": ("mm²", 0),
    "banding": ("%", 1),
    "colour": ("", 0),
    "suits": ("", 1),
    "camera": ("mm", 1),
}
_ROOM: Final = frozenset({"margin", "resolution", "colour", "suits"})
"""Figures that must reach their limit; the others must not pass it. Light has both, and says which."""
BRIGHT: Final = Message("The picture is overexposed: shorten the exposure or dim the lamps.")


def picture_check(name: str, seen: Mapping[str, Any]) -> Check:
    """Return a verdict of vision on a picture as a check. Its `figures` are the value and the limit as text."""
    value, limit = float(seen["figure"]), float(seen["limit"])
    shown, bound = number(value, *_UNITS[name]), number(limit, *_UNITS[name])
    too_bright = name == "light" and value > limit and not seen["ok"]
    least = name in _ROOM or (name == "light" and not too_bright)
    texts = {"value": shown, "limit": ("≥ " if least else "≤ ") + bound}
    if name == "markers":
        texts = {"value": f"{value:.0f} / {limit:.0f}", "limit": ""}
    says = WELL[name] if seen["ok"] else BRIGHT if too_bright else ILL[name]
    if name == "glare" and not seen["ok"]:
        place, _space, row = str(seen.get("where", "")).partition(" ")
        says = Message(says.message, place=place, row=row)
    verdict = Verdict.OK if seen["ok"] else Verdict.BAD
    return Check(name, NAMES[name], verdict, f"{shown} ({bound})", says, figures=texts)


def number(value: float, unit: str, decimals: int) -> str:
    """Format a figure with its unit; shares as percents.

    >>> number(0.0312, "%", 1), number(3.06, "mm", 1), number(4.2, "°", 1)
    ('3.1 %', '3.1 mm', '4.2°')
    """
    shown = round(value * 100 if unit == "%" else value, decimals)
    text = f"{'−' if shown < 0 else ''}{abs(shown):.{decimals}f}"
    return text + ("" if not unit else unit if unit == "°" else f" {unit}")
