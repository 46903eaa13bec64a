"""The texts of the camera's pages: figures with names and units, and vision's remedy for a bad one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import row_name

NAMES: Final[Mapping[str, tuple[str, str, int]]] = {
    "markers": (N_("Markers found"), "", 0),
    "margin": (N_("Room at the edge"), "px", 0),
    "tilt": (N_("Camera leans"), "°", 1),
    "fit": (N_("Felt lies off by"), "px", 2),
    "resolution": (N_("Resolution"), "px/mm", 2),
    "sharpness": (N_("An edge takes"), "mm", 2),
    "light": (N_("White paper"), "", 0),
    "glare": (N_("Glare"), "mm²", 0),
    "banding": (N_("Flicker"), "%", 1),
    "colour": (N_("Colour"), "", 0),
    "suits": (N_("Suits"), "", 1),
    "camera": (N_("Moved by"), "mm", 1),
}
"""What each verdict's figure is called, its unit, its decimals; first what is put right first."""
_ILL: Final[Mapping[str, str]] = {
    "glare": N_("Glare in zone %(zone)s: move or shade the lamp that is mirrored there."),
    "suits": N_(
        "Suits of one colour cannot be told apart: clean the lens, set the focus or hang the camera lower."
    ),
}
"""Remedies whose text names a zone or suits; the others are said as vision gives them."""
_ROOM: Final = frozenset({"margin", "resolution", "colour", "suits"})
"""Figures that must reach their limit; the others must not pass it. Light has both, and says which."""

FIGURES: Final[Mapping[str, tuple[str, str, int]]] = {
    "error_px": (N_("Markers lie off by"), "px", 2),
    "wander_px": (N_("Markers wander by"), "px", 2),
    "px_per_mm": NAMES["resolution"],
    "tilt_deg": NAMES["tilt"],
    "height_mm": (N_("Camera's height"), "mm", 0),
    "across_mm": (N_("Right of the middle"), "mm", 0),
    "down_mm": (N_("Below the middle"), "mm", 0),
    **{name: NAMES[name] for name in ("sharpness", "light", "glare", "banding")},
    "focal_px": (N_("Focal length"), "px", 0),
    "angle_deg": (N_("Angle of view"), "°", 1),
    "bend_px": (N_("Corners are bent by"), "px", 1),
    "pictures": (N_("Pictures"), "", 0),
    "sure_before": (N_("Read surely before"), "", 0),
    "sure_after": (N_("Read surely now"), "", 0),
}
"""The figures that a calibration keeps: what each is called, its unit, its decimals."""


@dataclass(frozen=True)
class Figure:
    """A figure as shown; `says` is a sentence with the remedy if it is not well."""

    name: str
    ok: bool
    figure: str
    limit: str
    says: str


def figures(verdicts: Mapping[str, Mapping[str, Any]]) -> list[Figure]:
    """Return a reading's verdicts as shown, in order.

    >>> level = {"ok": True, "figure": 0.61, "limit": 2.0, "text": "The camera looks straight down."}
    >>> figures({"tilt": level})[0].figure
    '0.6°'
    """
    return [_figure(name, verdicts[name]) for name in NAMES if name in verdicts]


def _figure(name: str, verdict: Mapping[str, Any]) -> Figure:
    ok, value, limit = bool(verdict["ok"]), float(verdict["figure"]), float(verdict["limit"])
    title, unit, decimals = NAMES[name]
    if name == "markers":
        shown, bound = f"{value:.0f} / {limit:.0f}", ""
    else:
        shown = number(value, unit, decimals)
        least = name in _ROOM or (name == "light" and not (value > limit and not ok))
        bound = ("≥ " if least else "≤ ") + number(limit, unit, decimals)
    place, _space, row = str(verdict.get("where", "")).partition(" ")
    says = (
        _(_ILL[name], zone=f"{place} {row_name(row)}")
        if name in _ILL and not ok
        else say(verdict.get("text", ""))
    )
    return Figure(_(title), ok, shown, bound, says)


def number(value: float, unit: str, decimals: int) -> str:
    """Format a figure with its unit; shares as percents.

    >>> number(0.0312, "%", 1), number(3.06, "mm", 1), number(4.2, "°", 1)
    ('3.1 %', '3.1 mm', '4.2°')
    """
    shown = round(value * 100 if unit == "%" else value, decimals)
    text = f"{'−' if shown < 0 else ''}{abs(shown):.{decimals}f}"
    return text + ("" if not unit else unit if unit == "°" else f" {unit}")


def compared(now: Mapping[str, float], before: Mapping[str, float] | None) -> list[tuple[str, str, str]]:
    """Return the figures of two calibrations side by side: name, now, before ("" if there is none)."""
    rows = []
    for name, (words, unit, decimals) in FIGURES.items():
        if name in now:
            was = number(before[name], unit, decimals) if before and name in before else ""
            rows.append((_(words), number(now[name], unit, decimals), was))
    return rows


def moved(movement: Mapping[str, float]) -> list[str]:
    """Describe what moved between two calibrations, seen on the felt; empty if unknown."""
    if not movement:
        return []
    if movement["most_mm"] < 0.5:
        return [_("Nothing has moved: at most %(mm)s mm.", mm=f"{movement['most_mm']:.1f}")]
    right, down = movement["right_mm"], movement["down_mm"]
    sentences = [
        _("The felt's corners lie up to %(mm)s mm elsewhere in the picture.", mm=f"{movement['most_mm']:.1f}")
    ]
    if abs(right) >= 0.5:
        sentences.append(
            _("%(mm)s mm to the right.", mm=f"{right:.1f}")
            if right > 0
            else _("%(mm)s mm to the left.", mm=f"{-right:.1f}")
        )
    if abs(down) >= 0.5:
        sentences.append(
            _("%(mm)s mm down.", mm=f"{down:.1f}") if down > 0 else _("%(mm)s mm up.", mm=f"{-down:.1f}")
        )
    if abs(movement["turned_deg"]) >= 0.05:
        sentences.append(_("Turned by %(degrees)s°.", degrees=f"{movement['turned_deg']:.2f}"))
    if abs(movement["larger"]) >= 0.001:
        sentences.append(_("Larger by %(percent)s %%.", percent=f"{100 * movement['larger']:.1f}"))
    return sentences
