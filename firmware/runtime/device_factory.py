"""Creates the real devices from the configuration. UNTESTED on hardware."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from firmware.devices.errors import DeviceError
from firmware.devices.power import PowerWatch
from firmware.devices.puck.reading import Disks
from firmware.messages import Message, Text
from firmware.runtime.config import CameraConfig, Config
from firmware.runtime.table_devices import Devices

if TYPE_CHECKING:
    from firmware.devices.camera.source import FrameSource
    from firmware.devices.panel.gpio import GpioButtons, GpioBuzzer, GpioLamps, GpioPowerLine
    from firmware.devices.puck.reading import PuckReader

MAINS_GONE: Final = Message(
    "The mains is gone and the box runs on its battery: finish the hand. It shuts itself "
    "down soon; nothing is lost, and the hand goes on when the mains is back."
)


@dataclass(frozen=True)
class _Panel:
    """The devices on the GPIO header."""

    buttons: GpioButtons
    lamps: GpioLamps
    buzzer: GpioBuzzer
    power_line: GpioPowerLine


def open_devices(config: Config) -> Devices:
    """Return the table's devices. A missing device becomes a fault, and the table runs without it."""
    faults: dict[str, Text] = {}
    puck: PuckReader | None = None
    disks = Disks()
    panel: _Panel | None = None
    try:
        disks = Disks(frozenset(config.puck.dealer), frozenset(config.puck.action))
        puck = _puck(config, disks)
    except DeviceError as error:
        faults["puck"] = error.sentence
    try:
        panel = _panel(config) if "panel" not in config.without else None
    except DeviceError as error:
        faults["buttons"] = error.sentence
    watch = PowerWatch()

    def trouble() -> dict[str, Text]:
        now = dict(faults)
        if watch.warning:
            now["power"] = watch.warning
        if panel is not None:
            now |= panel_trouble(panel.buttons, panel.power_line)
        return now

    if panel is None:
        return Devices(
            puck, None, None, trouble, others=(watch,), power=lambda: power(watch, None), disks=disks
        )
    line = panel.power_line
    return Devices(
        puck,
        panel.buttons,
        panel.lamps,
        trouble,
        panel.buzzer,
        others=(watch, line),
        mains_gone=lambda: bool(line.failing()),
        power=lambda: power(watch, line),
        disks=disks,
    )


def power(watch: PowerWatch | None, line: GpioPowerLine | None) -> dict[str, bool | float | None]:
    """Return the power supply's sensor values: the UPS's line and the Pi's own."""
    failing = line.failing() if line else None
    seen = watch.reading if watch else None
    return {
        "mains": None if failing is None else not failing,
        "weak": seen.undervoltage if seen else None,
        "was_weak": seen.undervoltage_since_boot if seen else None,
        "celsius": seen.temperature_c if seen else None,
        "slowed": seen.throttled if seen else None,
    }


def panel_trouble(buttons: GpioButtons, power_line: GpioPowerLine) -> dict[str, Text]:
    """Return the faults of the panel's devices: a stuck push-button, no mains."""
    faults: dict[str, Text] = {}
    if buttons.fault:
        faults["buttons"] = buttons.fault
    if power_line.failing():
        faults["power"] = MAINS_GONE
    return faults


def make_camera(config: CameraConfig) -> FrameSource:
    """Make the configured camera; the caller opens it."""
    match config.kind:
        case "files":
            from firmware.devices.camera.files import FileFrames, VideoFrames
            from firmware.devices.camera.source import PICTURES

            if config.device.is_file() and config.device.resolve().suffix.lower() not in PICTURES:
                return VideoFrames(config.device)
            return FileFrames(config.device, repeat=True)
        case "replay":
            from firmware.devices.camera.replay import ReplayFrames

            return ReplayFrames(config.device)
        case "rpicam":
            from firmware.devices.camera.rpicam import RpicamCamera, RpicamSettings

            fixed = _given_settings(config, "gain", "focus", "colour_gains")
            if config.focus == "locked":
                fixed["focus"] = None
            fixed |= {"mains_hz": config.mains_hz, "exposure_ms": config.exposure}
            fixed["width"], fixed["height"] = config.size
            return RpicamCamera(RpicamSettings(**fixed), **_timing(config))
        case "network":
            from firmware.devices.camera.network import NetworkCamera

            return NetworkCamera(config.address.get_secret_value(), **_timing(config))
        case "uvc":
            from firmware.devices.camera.uvc import UvcCamera, UvcSettings

            fixed = _given_settings(config, "gain", "focus", "white_balance_k", "exposure_ms")
            if config.focus == "locked":
                del fixed["focus"]
            if "mains_hz" in config.model_fields_set:
                fixed["mains_hz"] = config.mains_hz
            if "size" in config.model_fields_set:
                fixed["width"], fixed["height"] = config.size
            return UvcCamera(config.device, UvcSettings(**fixed), **_timing(config))


def _given_settings(config: CameraConfig, *names: str) -> dict[str, Any]:
    """Return those of the named settings that the configuration gives."""
    named = {name: getattr(config, name) for name in names}
    return {name: value for name, value in named.items() if value is not None}


def _timing(config: CameraConfig) -> dict[str, Any]:
    return {
        "late_after": config.late_s,
        "late_ceiling": config.late_ceiling_s,
        "hung_after": config.hung_s,
        "open_within": config.open_s,
    }


def _puck(config: Config, disks: Disks) -> PuckReader | None:
    from firmware.devices.puck.protocol import PuckLine
    from firmware.devices.puck.serial_port import Link, SerialPuck
    from firmware.devices.puck.spot_em4100 import Em4100Spot
    from firmware.devices.puck.spot_pn532 import Pn532Spot

    puck = config.puck
    link: Link
    match puck.kind:
        case "none":
            return None
        case "puckd":
            link = PuckLine(disks, seats=range(1, 6))
        case "pn532":
            link = Pn532Spot(disks, puck.seat)
        case "rdm6300" | "id12la":
            link = Em4100Spot(disks, puck.seat, repeats=puck.kind == "rdm6300")
    return SerialPuck(link, puck.port)


def _panel(config: Config) -> _Panel:
    from firmware.devices.panel.gpio import GpioButtons, GpioBuzzer, GpioLamps, GpioPowerLine
    from firmware.devices.panel.pins import PinMap, pi_pin_factory

    pins, factory = PinMap.load(), pi_pin_factory(config.gpiochip)
    return _Panel(
        GpioButtons(pins, factory),
        GpioLamps(pins, factory),
        GpioBuzzer(pins, factory),
        GpioPowerLine(pins, factory),
    )
