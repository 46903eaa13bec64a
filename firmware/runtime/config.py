"""The appliance's configuration: one TOML file, checked as a whole, defaults for the reference build.

data = "/var/lib/feltwatch"
profile = "washington-1-unit"
unit = 100                      # cents a point

[[seats]]
seat = 1
place = "A"
player = "Ann"
stack = 20000                   # cents, at the first hand; absent: uncapped

[camera]
kind = "uvc"
device = "/dev/v4l/by-id/usb-camera"
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from firmware.devices.camera.mains import half_periods
from firmware.devices.puck.serial_port import STABLE_NAME
from firmware.runtime.errors import ConfigError

DATA: Final = Path("/var/lib/feltwatch")
KEY: Final = Path("/var/lib/feltwatch-key")
"""The folder of the device's key: outside the record that it signs."""
HOUSE_CONFIG: Final = Path("/etc/feltwatch/feltwatch.toml")
"""The configuration of an installed box (docs/install.md)."""
SOCKET: Final = "table.sock"
"""The table's socket, in the data folder: the page finds it there."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SeatConfig(_Section):
    """A seat that plays."""

    seat: int = Field(ge=1, le=5)
    place: Literal["A", "B", "C", "D"]
    player: str = Field(default="", max_length=40)
    stack: int | None = Field(default=None, ge=0)

    @property
    def name(self) -> str:
        """The player's name, or the seat's."""
        return self.player or f"Seat {self.seat}"


class PuckConfig(_Section):
    """The puck reader: its port, and the tag ids of the disks in hex, until they are named (`firmware.runtime.disks`).

    `puckd`: the reader with an antenna at every seat. The others read one `spot`, the seat that `seat` names.
    """

    kind: Literal["puckd", "rdm6300", "id12la", "pn532"] = "puckd"
    port: str = STABLE_NAME
    seat: int = Field(default=1, ge=1, le=5)
    dealer: tuple[str, ...] = ()
    action: tuple[str, ...] = ()


class CameraConfig(_Section):
    """The camera, and how it is fixed; what is not named is the camera's own default (firmware/devices/README.md).

    `rpicam`: a camera on the Pi's ribbon cable. `uvc`: a USB camera. `files`: a picture or a folder of pictures, one
    after another, in the place of a camera. `replay`: a hand's folder of captures, seen as it was recorded.
    """

    kind: Literal["rpicam", "uvc", "files", "replay"] = "rpicam"
    device: Path = Path("/dev/feltwatch-camera")
    """The USB camera's stable name, or the folder; a ribbon cable needs none."""
    layout: Path | None = None
    """The felt's layout, a TOML file; the product's own without one."""
    mains_hz: Literal[50, 60] = 50
    exposure_ms: float | None = Field(default=None, gt=0, le=100)
    """A multiple of half the mains period: 10 at 50 Hz, 8.33 or 16.67 at 60 Hz; without it, one."""
    gain: float | None = Field(default=None, gt=0)
    focus: float | None = Field(default=None, ge=0)
    """Dioptres (1 / metres) at a ribbon cable, a USB camera's own steps there."""
    white_balance_k: int | None = Field(default=None, ge=2000, le=10000)
    """Of a USB camera, in kelvin."""
    colour_gains: tuple[float, float] | None = None
    """Of a camera on a ribbon cable: red and blue against green."""
    late_s: float = Field(default=2.0, gt=0, le=60)
    """Seconds after which a frame is late, at least. Frames that do come later let this limit grow."""
    late_ceiling_s: float = Field(default=20.0, gt=0, le=120)
    """The same at most."""
    hung_s: float = Field(default=4.0, gt=0, le=60)
    """Seconds without any frame after which the camera hangs, and the reading process is replaced."""
    open_s: float = Field(default=8.0, gt=0, le=120)
    """Seconds that opening it may take."""

    @model_validator(mode="after")
    def _fits_mains(self) -> Self:
        half_periods(self.exposure, self.mains_hz)
        return self

    @model_validator(mode="after")
    def _hung_after_late(self) -> Self:
        if self.late_ceiling_s < self.late_s:
            raise ValueError("late_ceiling_s lies below late_s; give the ceiling at least as long")
        if self.hung_s < self.late_s:
            raise ValueError("hung_s lies below late_s; a frame is late before its camera hangs")
        return self

    @property
    def exposure(self) -> float:
        """The exposure in milliseconds."""
        return self.exposure_ms or 500 / self.mains_hz


class TimesConfig(_Section):
    """Seconds.

    A pair of `x` and `x_ceiling` is an adaptive limit against hangs (`firmware.adaptive_limit`): never shorter than
    the first, which also holds until something was timed, and never longer than the second.
    """

    turn_up: float = Field(default=3.0, ge=0, le=60)
    """From the showdown signal to the first look: the cards are being turned up."""
    still: float = Field(default=12.0, gt=0, le=300)
    """A table that takes longer to lie still is not read; the dealer looks again."""
    answer: float = Field(default=10.0, gt=0, le=300)
    """A command that the table has not begun by then is refused."""
    reading: float = Field(default=20.0, gt=0, le=300)
    """A reading that takes longer is given up, and the reading process replaced. It includes waiting for `still`."""
    reading_ceiling: float = Field(default=300.0, gt=0, le=3600)
    reading_start: float = Field(default=60.0, gt=0, le=300)
    """The same for the reading process's start: it opens the camera and loads the model."""
    reading_start_ceiling: float = Field(default=600.0, gt=0, le=3600)
    camera_step: float = Field(default=20.0, gt=0, le=300)
    """The same for one step of a calibration, of a deck learnt or counted."""
    camera_step_ceiling: float = Field(default=300.0, gt=0, le=3600)
    reader_silence: float = Field(default=7.0, gt=0, le=300)
    """The same between two signs of life of a reading process that nothing is asked of; it gives one a second."""
    reader_silence_ceiling: float = Field(default=60.0, gt=0, le=3600)

    @model_validator(mode="after")
    def _ceilings_above_floors(self) -> Self:
        for name in ("reading", "reading_start", "camera_step", "reader_silence"):
            if getattr(self, f"{name}_ceiling") < getattr(self, name):
                raise ValueError(f"{name}_ceiling lies below {name}; give the ceiling at least as long")
        return self


class PowerConfig(_Section):
    """When the box shuts itself down on its battery. What the battery lasts is the house's to measure."""

    between_hands_s: float = Field(default=30.0, ge=0, le=3600)
    """Seconds without mains after which it shuts down where no hand is open."""
    at_latest_s: float = Field(default=120.0, ge=0, le=3600)
    """The same in the middle of a hand; the hand goes on from where it was when the mains is back."""
    request: Path = Path("/run/feltwatch/poweroff")
    """The file whose presence asks the service manager for it."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.at_latest_s < self.between_hands_s:
            raise ValueError("at_latest_s lies before between_hands_s; a hand gets at least as long")
        return self


class KeepingConfig(_Section):
    """What is kept of images; rows are kept for ever. Without limits nothing is dropped."""

    days: int | None = Field(default=None, ge=1)
    """Images of hands older than this go; only while the network has set the clock."""
    megabytes: int | None = Field(default=None, ge=100)
    """Images beyond this go, the oldest hands' first."""


class UiConfig(BaseModel):
    """The page's own section: `feltwatch ui` checks it."""

    model_config = ConfigDict(frozen=True, extra="allow")


_SEATS: Final = (
    SeatConfig(seat=1, place="A"),
    SeatConfig(seat=2, place="B"),
    SeatConfig(seat=3, place="C"),
    SeatConfig(seat=4, place="D"),
)


class Config(_Section):
    """The whole configuration."""

    data: Path = DATA
    profile: str = "washington-1-unit"
    options: dict[str, JsonValue] = Field(default_factory=dict)
    unit: int = Field(default=100, ge=1)
    table: str = Field(default="", max_length=20)
    """The table's number in the room."""
    language: str = ""
    """The page's, where a browser has chosen none."""
    seats: tuple[SeatConfig, ...] = Field(default=_SEATS, min_length=2, max_length=5)
    puck: PuckConfig = PuckConfig()
    camera: CameraConfig = CameraConfig()
    times: TimesConfig = TimesConfig()
    power: PowerConfig = PowerConfig()
    keeping: KeepingConfig = KeepingConfig()
    key: Path = KEY
    gpiochip: int | None = None
    ui: UiConfig = UiConfig()

    @model_validator(mode="after")
    def _each_its_own(self) -> Self:
        # The fifth player sits out and gets whatever place is free when another passes.
        for what in ("seat", "place") if len(self.seats) <= len(_SEATS) else ("seat",):
            values = [getattr(seat, what) for seat in self.seats]
            if len(set(values)) != len(values):
                raise ValueError(f"two seats share one {what}; give each its own")
        if self.key.absolute().is_relative_to(self.data.absolute()):
            raise ValueError(
                "key lies in the data folder; keep it elsewhere, or a copy of the record carries it"
            )
        stacks = {seat.name: seat.stack for seat in self.seats}
        if any(stacks[seat.name] != seat.stack for seat in self.seats):
            raise ValueError("one player has two different stacks; give the same at both seats")
        return self

    @property
    def socket(self) -> Path:
        """The table's Unix socket."""
        return self.data / SOCKET


def load_config(path: Path | None = None, **overrides: Any) -> Config:
    """Return the configuration of a file (without one, the defaults), with some values overridden.

    Raises ConfigError with a sentence that names the file and the key.
    """
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"The configuration {path} cannot be read: {error.strerror}.") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"The configuration {path} is no TOML: {error}.") from error
    values |= {key: value for key, value in overrides.items() if value is not None}
    try:
        # By way of JSON, whose types are TOML's: strict about 1 and "1", while an array may become a tuple.
        return Config.model_validate_json(json.dumps(values, default=str))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        why = first["msg"].removeprefix("Value error, ")
        name = f"The configuration {path}" if path else "The configuration"
        raise ConfigError(f"{name} cannot be used: {where + ': ' if where else ''}{why}.") from error
