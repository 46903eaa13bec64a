"""The mains frequency and the exposure: lamps flicker twice a period."""

from firmware.devices.errors import DeviceSettings
from firmware.messages import Message, Word, one_of


def half_periods(exposure_ms: float, mains_hz: int) -> int:
    """Return how many flickers an exposure lasts: a whole number, otherwise the picture has bands.

    Raises DeviceSettings.
    """
    flickers = exposure_ms * 2 * mains_hz / 1000
    if mains_hz not in (50, 60) or round(flickers) < 1 or abs(flickers - round(flickers)) > 0.01:
        good: Word = Message("another")
        if mains_hz in (50, 60):
            good = one_of(f"{n * 500 / mains_hz:.4g}" for n in (1, 2))
        raise DeviceSettings(
            "An exposure of %(exposure_ms)s ms lets lamps on %(mains_hz)s Hz mains make bands: use "
            "%(good)s ms.",
            exposure_ms=f"{exposure_ms:g}",
            mains_hz=mains_hz,
            good=good,
        )
    return round(flickers)
