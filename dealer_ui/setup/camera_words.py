"""The texts of the camera's pages: figures with names and units, and vision's remedy for a bad one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from firmware.health.check import Verdict
from firmware.health.picture_checks import MEASURES, Measure, number, picture_check
from firmware.messages import Message

FIGURES: Final[Mapping[str, Measure]] = {
    "error_px": Measure(Message("Markers lie off by"), "px", 2),
    "wander_px": Measure(Message("Markers wander by"), "px", 2),
    "px_per_mm": MEASURES["resolution"],
    "tilt_deg": MEASURES["tilt"],
    "height_mm": Measure(Message("Camera's height"), "mm", 0),
    "across_mm": Measure(Message("Right of the middle"), "mm", 0),
    "down_mm": Measure(Message("Below the middle"), "mm", 0),
    **{name: MEASURES[name] for name in ("sharpness", "light", "glare", "banding")},
    "focal_px": Measure(Message("Focal length"), "px", 0),
    "angle_deg": Measure(Message("Angle of view"), "°", 1),
    "bend_px": Measure(Message("Corners are bent by"), "px", 1),
    "pictures": Measure(Message("Pictures"), "", 0),
    "sure_before": Measure(Message("Read surely before"), "", 0),
    "sure_after": Measure(Message("Read surely now"), "", 0),
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
    return [_figure(name, verdicts[name]) for name in MEASURES if name in verdicts]


def _figure(name: str, verdict: Mapping[str, Any]) -> Figure:
    check = picture_check(name, verdict)
    value, limit = check.figures["value"], check.figures["limit"]
    return Figure(say(check.title), check.verdict is Verdict.OK, value, limit, say(check.says))


def compare_figures(
    now: Mapping[str, float], before: Mapping[str, float] | None
) -> list[tuple[str, str, str]]:
    """Return the figures of two calibrations side by side: name, now, before ("" if there is none)."""
    rows = []
    for name, (title, unit, decimals) in FIGURES.items():
        if name in now:
            was = number(before[name], unit, decimals) if before and name in before else ""
            rows.append((say(title), number(now[name], unit, decimals), was))
    return rows


def describe_movement(movement: Mapping[str, float]) -> list[str]:
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
