"""Every figure of the acceptance with its limit, and where that limit stands. No limit is made here.

A figure without a known limit is only recorded.
"""

from collections.abc import Mapping
from typing import Final

from firmware.acceptance.findings import Limit
from firmware.acceptance.table_trial import READ_MS
from firmware.devices.panel.debounce import BOUNCE
from firmware.devices.power import HOT_C
from vision.felt.calibration import MAX_ERROR_PX, MAX_TILT_DEG, MIN_MARGIN_PX
from vision.felt.optics import FINE_PX_PER_MM
from vision.felt.quality import (
    MAX_BANDING,
    MAX_EDGE_MM,
    MAX_GLARE_MM2,
    MAX_MOVED_MM,
    MAX_WHITE,
    MIN_COLOUR,
    MIN_WHITE,
)

STILL_MINUTES: Final = 10.0
HEAT_MINUTES: Final = 60.0
"""How long the two long measurements take."""
PRESSES: Final = 20
"""Presses of each push-button."""

_QUALITY: Final = "vision/felt/quality.py"
_MOUNTED: Final = "vision/felt/calibration.py"
_ALL: Final = "docs/technician/acceptance.md: each"
_NONE: Final = "no limit is known"


def _none(title: str, source: str = _ALL) -> Limit:
    """Return the limit of what must not happen."""
    return Limit(title, "", source, most=0)


LIMITS: Final[Mapping[str, Limit]] = {
    "markers_missing": _none("Markers not found", "hardware/table.toml"),
    "fit_px": Limit("Felt lies off by", "px", f"{_MOUNTED} MAX_ERROR_PX", most=MAX_ERROR_PX),
    "tilt_deg": Limit("Camera leans", "°", f"{_MOUNTED} MAX_TILT_DEG", most=MAX_TILT_DEG),
    "edge_room_px": Limit("Room at the picture's edge", "px", f"{_MOUNTED} MIN_MARGIN_PX", MIN_MARGIN_PX),
    "edge_mm": Limit("An edge takes", "mm", f"{_QUALITY} MAX_EDGE_MM", most=MAX_EDGE_MM),
    "px_per_mm": Limit(
        "Pixels in the farthest zone", "px/mm", "hardware/out/checks.md, FINE_PX_PER_MM", FINE_PX_PER_MM
    ),
    "white": Limit(
        "White paper", "levels", f"{_QUALITY} MIN_WHITE, MAX_WHITE", least=MIN_WHITE, most=MAX_WHITE
    ),
    "colour": Limit("Colour", "levels", f"{_QUALITY} MIN_COLOUR", least=MIN_COLOUR),
    "settings_refused": Limit("Settings that the camera did not take", "", _NONE),
    "glare_mm2": Limit("Largest glare in a zone", "mm²", f"{_QUALITY} MAX_GLARE_MM2", most=MAX_GLARE_MM2),
    "banding_percent": Limit("Stripes", "%", f"{_QUALITY} MAX_BANDING", most=100 * MAX_BANDING),
    "white_spread": Limit("White paper differs between pictures by", "levels", _NONE),
    "calibration_px": Limit("Calibration is off by", "px", f"{_MOUNTED} MAX_ERROR_PX", most=MAX_ERROR_PX),
    "moved_mm": Limit("Felt moved in the picture by", "mm", f"{_QUALITY} MAX_MOVED_MM", most=MAX_MOVED_MM),
    "moved_first_mm": Limit("Of that in the first picture", "mm", _NONE),
    "antennas_silent": _none("Antennas that do not answer", "firmware/puck_reader/config.py: each"),
    "tags_read": _none("Tags read on an empty table"),
    "places_missing": _none("Seats at which both disks are not read"),
    "edges_missing": _none("Seats at which they are not read 20 mm off", "firmware/health/device_checks.py"),
    "between_wrong": _none("Wrong readings between two seats"),
    "two_wrong": _none("Disks not read apart"),
    "presses_missing": _none("Presses that did not count"),
    "presses_double": _none("Presses that counted more than once"),
    "crossed": _none("Push-buttons that answer for another"),
    "stuck": _none("Push-buttons that are stuck or loose", "firmware/devices/panel/debounce.py"),
    "bounce_ms": Limit(
        "Longest bounce", "ms", "firmware/devices/panel/debounce.py BOUNCE", most=1000 * BOUNCE
    ),
    "bounce_edges": Limit("Most changes in one bounce", "", _NONE),
    "rows_lost": _none("Rows of before the cut that are lost", "docs/evidence.md"),
    "hands_lost": _none("Hands lost", "docs/evidence.md"),
    "record_problems": _none("Faults in the record", "docs/evidence.md"),
    "start_s": Limit("From power to the table process", "s", _NONE),
    "celsius": Limit("Hottest", "°C", "firmware/devices/power.py HOT_C", below=HOT_C),
    "slowed": _none("Times that the processor was slowed down", "firmware/devices/power.py"),
    "weak": _none("Times that the supply was too weak", "firmware/devices/power.py"),
    "reading_ms": Limit(
        "Reading a full table, median", "ms", "firmware/acceptance/table_trial.py READ_MS", most=READ_MS
    ),
    "reading_worst_ms": Limit("Slowest reading", "ms", _NONE),
}
"""The limits, by the name of the figure."""
