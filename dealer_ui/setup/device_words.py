"""The measurements of a device test in a few words. Its sentence and advice: `firmware.health.device_checks`."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from dealer_ui.review.timeline import day_of, time_of
from dealer_ui.text.i18n import gettext as _

Figures = Mapping[str, Any]


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
