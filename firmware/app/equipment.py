"""The real devices, as the configuration names them. UNTESTED on hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.app.config import CameraConfig, Config
from firmware.app.table_process import Devices
from firmware.devices.errors import DeviceError

if TYPE_CHECKING:
    from firmware.devices.camera import FrameSource
    from firmware.devices.gpio import GpioButtons, GpioLamps
    from firmware.devices.puck import PuckReader


def open_devices(config: Config) -> Devices:
    """Return the table's devices; what is missing is told as a fault, and the table runs without it."""
    faults: dict[str, str] = {}
    puck: PuckReader | None = None
    panel: tuple[GpioButtons, GpioLamps] | None = None
    try:
        puck = _puck(config)
    except DeviceError as error:
        faults["puck"] = str(error)
    try:
        panel = _panel(config)
    except DeviceError as error:
        faults["buttons"] = str(error)
    buttons, lamps = panel or (None, None)

    def trouble() -> dict[str, str]:
        stuck = buttons.fault if buttons else None
        return {**faults, "buttons": stuck} if stuck else faults

    return Devices(puck, buttons, lamps, trouble)


def make_camera(config: CameraConfig) -> FrameSource:
    """Make the configured camera; whoever takes it opens it."""
    if config.kind == "files":
        from firmware.devices.camera_files import FileFrames

        return FileFrames(config.device, repeat=True)
    from firmware.devices.camera_uvc import UvcCamera

    return UvcCamera(config.device)


def _puck(config: Config) -> PuckReader:
    from firmware.devices.puck import Disks
    from firmware.devices.puck_line import PuckLine
    from firmware.devices.puck_serial import SerialPuck

    disks = Disks(frozenset(config.puck.dealer), frozenset(config.puck.action))
    return SerialPuck(PuckLine(disks, seats=range(1, 6)), config.puck.port)


def _panel(config: Config) -> tuple[GpioButtons, GpioLamps]:
    from firmware.devices.gpio import GpioButtons, GpioLamps
    from firmware.devices.pins import PinMap, pi_pin_factory

    pins, factory = PinMap.load(), pi_pin_factory(config.gpiochip)
    return GpioButtons(pins, factory), GpioLamps(pins, factory)
