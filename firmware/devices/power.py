"""The box's power supply and temperature. UNTESTED on hardware: written from Raspberry Pi's documentation.

A value that cannot be read is None, never an old value. The Pi throttles its processor from 80 °C. Its undervoltage
flag means a supply of less than 4.63 V.
"""

import logging
import re
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from firmware.messages import Message, Text, in_turn
from firmware.threads import start_thread

VCGENCMD = "vcgencmd"
ANSWER_WITHIN = 2.0
"""Timeout of vcgencmd in seconds. The program calls the Pi's firmware and hangs if the firmware hangs."""
HOT_C = 80.0
"""The temperature in °C from which a warning is shown."""
LOOK_EVERY = 5.0
"""Seconds between two readings of the sensors."""
log = logging.getLogger(__name__)
_THROTTLED = re.compile(r"throttled=0x([0-9a-fA-F]{1,8})\s*")
# Bits of get_throttled for the present. The bit for "since boot" is 16 places higher.
_UNDERVOLTAGE, _CAPPED, _THROTTLED_NOW, _SOFT_LIMIT = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_SINCE_BOOT = 16


@dataclass(frozen=True, slots=True)
class PowerReading:
    """The power supply and the temperature; None: unknown."""

    undervoltage: bool | None
    """Whether the supply is below 4.63 V now."""
    undervoltage_since_boot: bool | None
    throttled: bool | None
    """Whether the processor is throttled now, because of undervoltage or heat."""
    temperature_c: float | None
    """The processor's temperature in °C."""

    def warnings(self) -> list[Message]:
        """Return warnings that need action, as sentences; empty if there are none or nothing is known."""
        warnings: list[Message] = []
        if self.undervoltage:
            warnings.append(Message("The power supply is too weak: use the 5 V, 5 A one and its own cable."))
        elif self.undervoltage_since_boot:
            warnings.append(
                Message("The power supply was too weak since the box started: use the 5 V, 5 A one.")
            )
        if self.temperature_c is not None and self.temperature_c >= HOT_C:
            warnings.append(
                Message(
                    "The box is at %(celsius)s °C: check its fan and the air around it.",
                    celsius=f"{self.temperature_c:.0f}",
                )
            )
        elif self.throttled and not self.undervoltage:
            warnings.append(Message("The box runs slowly to cool down: check its fan and the air around it."))
        return warnings


class Power:
    """Reads the Pi's built-in sensors. Each value is read independently of the others."""

    def __init__(self, sys: Path = Path("/sys"), vcgencmd: str = VCGENCMD) -> None:
        self._sys = sys
        self._vcgencmd = vcgencmd

    def read(self) -> PowerReading:
        """Read the sensors now. Takes up to two seconds if the firmware does not answer. Never raises."""
        flags = self._throttled()

        def flag(bits: int) -> bool | None:
            return None if flags is None else bool(flags & bits)

        return PowerReading(
            undervoltage=flag(_UNDERVOLTAGE),
            undervoltage_since_boot=flag(_UNDERVOLTAGE << _SINCE_BOOT),
            throttled=flag(_CAPPED | _THROTTLED_NOW | _SOFT_LIMIT),
            temperature_c=self._temperature(),
        )

    def _throttled(self) -> int | None:
        try:
            output = subprocess.run(
                [self._vcgencmd, "get_throttled"],
                capture_output=True,
                text=True,
                timeout=ANSWER_WITHIN,
                check=True,
                stdin=subprocess.DEVNULL,
            ).stdout
        except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
            return None
        match = _THROTTLED.fullmatch(output)
        return int(match[1], 16) if match else None

    def _temperature(self) -> float | None:
        for zone in sorted((self._sys / "class/thermal").glob("thermal_zone*")):
            try:
                if "cpu" in (zone / "type").read_text(encoding="ascii"):
                    return int((zone / "temp").read_text(encoding="ascii")) / 1000
            except (OSError, ValueError):
                continue
        return None


class PowerWatch:
    """Reads the sensors regularly, and keeps the last reading and its warnings.

    It uses its own thread, because vcgencmd can hang.
    """

    def __init__(self, power: Power | None = None, every: float = LOOK_EVERY) -> None:
        self._power = power or Power()
        self._every = every
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.reading: PowerReading | None = None
        """The last reading; None before the first."""
        self.warning: Text = ""
        """The warnings of the last reading, as one text; empty if there are none or nothing is known."""

    def start(self) -> None:
        """Start the thread."""
        self._thread = start_thread(self._run, name="power")

    def close(self) -> None:
        """Stop the thread, and wait until it ends. May be called twice."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self.reading = self._power.read()
            warning = in_turn(self.reading.warnings())
            if warning != self.warning:
                log.warning("power: %s", warning or "well again")
            self.warning = warning
            self._stop.wait(self._every)
