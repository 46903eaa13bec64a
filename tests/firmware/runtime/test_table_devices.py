"""What hangs on the table: one that fails is a fault in its own name, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from firmware.devices.errors import DeviceError
from firmware.devices.panel.interface import Bounce
from firmware.devices.puck.reading import Disks, PuckReading, PuckState
from firmware.messages import Message
from firmware.runtime.table_devices import PUCK_GRACE, Devices

PLUG = Message("The plug is out.")


class PanelDevice:
    """Stands where every device of a panel would; what it is asked to do fails while it is `broken`."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken
        self.fault: Message | None = None
        self.done: list[object] = []

    def _do(self, what: object) -> None:
        if self.broken:
            raise DeviceError(PLUG)
        self.done.append(what)

    def start(self, put: Callable[[Any], None] | None = None) -> None:
        self._do("start")

    def show(self, lit: Mapping[Any, Any]) -> None:
        self._do(dict(lit))

    def beep(self, times: int) -> None:
        self._do(times)

    def use(self, disks: Disks) -> None:
        self._do(disks)

    def take_bounces(self) -> list[Bounce]:
        return []

    def close(self) -> None:
        self.done.append("close")


def reading(state: PuckState, detail: str = "") -> PuckReading:
    return PuckReading(state, None, detail, frozenset(), 0.0)


def nothing(_: object) -> None:
    """Take what a device puts."""


@pytest.mark.parametrize("name", ["lamps", "buzzer", "buttons"])
def test_a_device_that_does_not_begin_is_a_fault_and_the_others_begin(name: str) -> None:
    wired: dict[str, Any] = {
        each: PanelDevice(broken=each == name) for each in ("lamps", "buzzer", "buttons")
    }
    other = PanelDevice()
    devices = Devices(None, **wired, others=(other,))
    devices.start(nothing)
    assert devices.faults(None, 0.0) == {name: PLUG}
    assert [one.done for one in wired.values() if not one.broken] == [["start"]] * 2
    assert other.done == ["start"]
    if name != "buttons":
        assert getattr(devices, name) is None, "nothing more is asked of it"
    devices.show({}, 2)
    assert name in devices.faults(None, 0.0)


def test_a_buzzer_that_fails_is_no_fault_of_the_lamps_and_is_well_again_once_it_sounds() -> None:
    lamps, buzzer = PanelDevice(), PanelDevice()
    devices = Devices(None, None, lamps, buzzer=buzzer)
    devices.start(nothing)
    buzzer.broken = True
    devices.show({"ready": True}, 1)  # type: ignore[dict-item]
    assert devices.faults(None, 0.0) == {"buzzer": PLUG}
    assert lamps.done == ["start", {"ready": True}]
    buzzer.broken = False
    devices.show({}, 0)
    assert "buzzer" in devices.faults(None, 0.0), "it was not tried again yet"
    devices.show({}, 2)
    assert devices.faults(None, 0.0) == {}


def test_lamps_that_fail_are_a_fault_until_they_light_again() -> None:
    lamps, buzzer = PanelDevice(), PanelDevice()
    devices = Devices(None, None, lamps, buzzer=buzzer)
    devices.start(nothing)
    lamps.broken = True
    devices.show({}, 2)
    assert devices.faults(None, 0.0) == {"lamps": PLUG}
    assert buzzer.done == ["start", 2], "the buzzer calls all the same"
    lamps.broken = False
    devices.show({}, 0)
    assert devices.faults(None, 0.0) == {}


def test_a_puck_reader_is_given_a_moment_before_it_counts_as_a_fault() -> None:
    devices = Devices(PanelDevice(), None, None, lambda: {"power": "weak"})
    assert devices.faults(None, 100.0) == {"power": "weak"}
    assert "puck" not in devices.faults(None, 100.0 + PUCK_GRACE)
    assert devices.faults(None, 100.1 + PUCK_GRACE)["puck"] == Message("The puck reader does not answer.")
    unknown = reading(PuckState.UNKNOWN, "The cable is out.")
    assert devices.faults(unknown, 103.0)["puck"] == "The cable is out."
    assert "puck" not in devices.faults(reading(PuckState.NONE), 104.0), "it answers again"
    assert "puck" not in devices.faults(unknown, 104.0 + PUCK_GRACE)
    assert "puck" in devices.faults(unknown, 104.1 + PUCK_GRACE)


def test_a_table_without_a_puck_reader_misses_none() -> None:
    devices = Devices(None, None, None)
    assert devices.faults(None, 0.0) == devices.faults(None, 1000.0) == {}


def test_all_that_is_there_is_closed() -> None:
    wired = [PanelDevice() for _ in range(5)]
    puck, buttons, lamps, buzzer, other = wired
    Devices(puck, buttons, lamps, buzzer=buzzer, others=(other,)).close()
    assert [one.done for one in wired] == [["close"]] * 5
