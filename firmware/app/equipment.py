"""The real devices, as the configuration names them. UNTESTED on hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    match config.kind:
        case "files":
            from firmware.devices.camera_files import FileFrames

            return FileFrames(config.device, repeat=True)
        case "replay":
            from firmware.devices.camera_replay import ReplayFrames

            return ReplayFrames(config.device)
        case "rpicam":
            from firmware.devices.camera_rpicam import RpicamCamera, RpicamSettings

            return RpicamCamera(RpicamSettings(**_fixed(config, "gain", "focus", "colour_gains")))
        case "uvc":
            from firmware.devices.camera_uvc import UvcCamera, UvcSettings

            return UvcCamera(config.device, UvcSettings(**_fixed(config, "gain", "focus", "white_balance_k")))


def _fixed(config: CameraConfig, *names: str) -> dict[str, Any]:
    named = {name: getattr(config, name) for name in names}
    fixed = {name: value for name, value in named.items() if value is not None}
    return fixed | {"mains_hz": config.mains_hz, "exposure_ms": config.exposure}


def _puck(config: Config) -> PuckReader:
    from firmware.devices.puck import Disks
    from firmware.devices.puck_line import PuckLine
    from firmware.devices.puck_serial import Link, SerialPuck
    from firmware.devices.spot_em4100 import Em4100Spot
    from firmware.devices.spot_pn532 import Pn532Spot

    puck = config.puck
    disks = Disks(frozenset(puck.dealer), frozenset(puck.action))
    link: Link
    match puck.kind:
        case "puckd":
            link = PuckLine(disks, seats=range(1, 6))
        case "pn532":
            link = Pn532Spot(disks, puck.seat)
        case "rdm6300" | "id12la":
            link = Em4100Spot(disks, puck.seat, repeats=puck.kind == "rdm6300")
    return SerialPuck(link, puck.port)


def _panel(config: Config) -> tuple[GpioButtons, GpioLamps]:
    from firmware.devices.gpio import GpioButtons, GpioLamps
    from firmware.devices.pins import PinMap, pi_pin_factory

    pins, factory = PinMap.load(), pi_pin_factory(config.gpiochip)
    return GpioButtons(pins, factory), GpioLamps(pins, factory)
