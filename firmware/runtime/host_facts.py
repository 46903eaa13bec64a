"""Facts about the box that can be read without a call that may hang: disk, memory, clock, files.

The keys are those of `firmware.health.checks.Facts`; a fact that cannot be read is absent. Sensors and wear are
UNTESTED on hardware: they are read as the documentation of the kernel and of Raspberry Pi describes.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Protocol

from firmware.devices.clock import SystemClock
from firmware.devices.puck.reading import PuckReading
from firmware.record.journal.disk import MB, free_bytes
from firmware.runtime.reading.messages import JobDone, ReaderState, ReadingDone
from firmware.uplink.status_file import read_pit_status
from vision.reading.networks import networks_hash

ANTENNAS: Final = range(1, 6)


class Hardware(Protocol):
    """The table's hardware, as the table process holds it."""

    puck: Any
    buttons: Any

    @property
    def power(self) -> Any:
        """Returns, when it is called, the power supply's sensor values by name."""


class BoxFacts:
    """Collects facts about the box. Used on one thread."""

    def __init__(self, data: Path, root: Path = Path("/"), clock: SystemClock | None = None) -> None:
        """`root`: the folder that holds /proc and /sys."""
        self._data = data
        self._root = root
        self._clock = clock or SystemClock(root)
        self._picture: dict[str, Any] = {}
        self._camera_settings: list[dict[str, str]] = []
        self._model: tuple[str, str] | None = None

    def on_answer(self, answer: object) -> None:
        """Take an answer of the reading process: keep the last picture's verdicts, and the camera's settings."""
        match answer:
            case ReaderState():
                self._camera_settings, verdicts = [asdict(one) for one in answer.taken], None
            case ReadingDone():
                verdicts = answer.reading.get("verdicts")
            case JobDone():
                verdicts = answer.result.get("verdicts")
            case _:
                verdicts = None
        if verdicts:
            self._picture |= verdicts

    def of_table(self, hardware: Hardware, puck: PuckReading | None) -> dict[str, Any]:
        """Return the table process's facts: of the box, its devices and the last picture."""
        found = self.of_box() | {"answers": True, "buttons": hardware.buttons is not None}
        if self._picture:
            found["picture"] = dict(self._picture)
        if self._camera_settings:
            found["camera_settings"] = list(self._camera_settings)
        if puck is not None:
            answers = set(puck.readers_ok)
            # A reader with only one answering antenna counts as a module with a single antenna, such as an RDM6300.
            found |= {"readers_ok": len(answers), "readers": len(ANTENNAS) if len(answers) > 1 else 1}
        power = dict(hardware.power())
        names = ("celsius", "weak", "was_weak", "slowed")
        return found | {name: power[name] for name in names if power.get(name) is not None}

    def of_box(self) -> dict[str, Any]:
        """Return the facts that any process can read."""
        now = self._clock.read()
        stated, actual = self._hashes()
        facts: dict[str, Any] = {
            "free_mb": self._free_mb(),
            "worn_percent": self._wear(),
            "memory_mb": self._memory_mb(),
            "synchronised": now.state == "synchronised",
            "rtc": now.rtc,
            "jumped_ms": now.jumped_ms,
            "pit": read_pit_status(self._root),
            "model_named": stated or None,
            "model_hash": actual
            if stated
            else None,  # "" where the manifests are there and a network's file is not
        }
        return {name: value for name, value in facts.items() if value is not None}

    def _free_mb(self) -> int | None:
        try:
            return free_bytes(self._data) // MB
        except OSError:
            return None

    def _memory_mb(self) -> int | None:
        for line in _text(self._root / "proc/meminfo").splitlines():
            name, _colon, value = line.partition(":")
            if name == "MemAvailable" and value.split()[:1] and value.split()[0].isdecimal():
                return int(value.split()[0]) * 1024 // MB
        return None

    def _wear(self) -> int | None:
        """Return how many per cent of the writes that the data folder's eMMC allows are used up, in steps of ten.

        `life_time` holds two estimates, 0x01 (up to 10 %) to 0x0b (more than 100 %); 0x00 is not defined (JEDEC
        JESD84-B50, as the kernel shows it).
        """
        try:
            number = self._data.stat().st_dev
        except OSError:
            return None
        disk = self._root / f"sys/dev/block/{os.major(number)}:{os.minor(number)}"
        for place in (disk, disk.resolve().parent):  # a partition's folder is inside its disk's folder
            steps = [
                int(part, 16) for part in _text(place / "device/life_time").split() if part.startswith("0x")
            ]
            if steps and 0 < max(steps) <= 11:
                return max(steps) * 10
        return None

    def _hashes(self) -> tuple[str, str]:
        """Return the networks' hash that their manifests state, and that of their files; "" if missing. Cached."""
        if self._model is None:
            stated = actual = ""
            try:
                stated = networks_hash(files("models"), as_named=True)
                actual = networks_hash(files("models"))
            except (OSError, ValueError, KeyError, TypeError):
                pass
            self._model = stated, actual
        return self._model


def facts_of_pi(reading: Any) -> Mapping[str, Any]:
    """Return the facts in a reading of the Pi's own sensors (`firmware.devices.power.PowerReading`)."""
    values = {
        "celsius": reading.temperature_c,
        "weak": reading.undervoltage,
        "was_weak": reading.undervoltage_since_boot,
        "slowed": reading.throttled,
    }
    return {name: value for name, value in values.items() if value is not None}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
