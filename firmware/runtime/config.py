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

import json
import time
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from firmware.devices.camera.mains import half_periods
from firmware.devices.puck.serial_port import STABLE_NAME
from firmware.names import check_name, look_alike, looks_like
from firmware.pulse import PULSE
from firmware.record_folder import DATA, SOCKET
from firmware.runtime.errors import ConfigError

KEY: Final = Path("/var/lib/feltwatch-key")
"""The folder of the device's key: outside the record that it signs."""
HOUSE_CONFIG: Final = Path("/etc/feltwatch/feltwatch.toml")
"""The configuration of an installed box (docs/install.md)."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _check_name(name: str) -> str:
    """Return a name as it is, "" for none. Raises NameRefused, a ValueError."""
    if name:
        check_name(name)
    return name


class SeatConfig(_Section):
    """A seat in play."""

    seat: int = Field(ge=1, le=5)
    place: Literal["A", "B", "C", "D"]
    player: str = Field(default="", max_length=40)
    stack: int | None = Field(default=None, ge=0)

    @field_validator("player")
    @classmethod
    def _check_player(cls, player: str) -> str:
        return _check_name(player)

    @property
    def name(self) -> str:
        """The player's name, or the seat's name if there is none."""
        return self.player or f"Seat {self.seat}"


class PuckConfig(_Section):
    """The puck reader: its port, and the tag ids of the disks in hex, used until they are named
    (`firmware.runtime.disks`).

    `puckd`: a reader with an antenna at every seat. `none`: no reader; the dealer says the puck's seat by touch, and it
    moves by itself between hands. The other kinds read at one seat only: `seat`.
    """

    kind: Literal["puckd", "rdm6300", "id12la", "pn532", "none"] = "puckd"
    port: str = STABLE_NAME
    seat: int = Field(default=1, ge=1, le=5)
    dealer: tuple[str, ...] = ()
    action: tuple[str, ...] = ()


class PanelConfig(_Section):
    """Push-buttons, lamps and buzzer on the GPIO header. `none`: this table has none, and the page does their work."""

    kind: Literal["gpio", "none"] = "gpio"


class CameraConfig(_Section):
    """The camera and its settings; an option that is not set keeps the camera's own default
    (firmware/devices/README.md).

    `rpicam`: a camera on the Pi's ribbon cable. `uvc`: a USB camera, which takes the nearest value that it has.
    `files`: a picture, a folder of pictures one after another, or a video, instead of a camera. `replay`: a folder of
    captures of a recorded hand. `network`: a stream at an `address`.
    """

    kind: Literal["rpicam", "uvc", "network", "files", "replay"] = "rpicam"
    device: Path = Path("/dev/feltwatch-camera")
    """The USB camera's stable name, or the folder; not needed for a ribbon cable."""
    address: SecretStr = SecretStr("")
    """Network camera only: http://HOST:PORT/PATH (MJPEG) or rtsp://…, a name and a password in it if it asks for them.
    """
    layout: Path | None = None
    """The felt's layout, a TOML file; without one, the built-in layout."""
    sheets: bool = False
    """Whether four marker sheets may lie on the table in place of the printed felt (`feltwatch felt`)."""
    mains_hz: Literal[50, 60] = 50
    exposure_ms: float | None = Field(default=None, gt=0, le=100)
    """Milliseconds, a multiple of half the mains period: 10 at 50 Hz, 8.33 or 16.67 at 60 Hz. Default: one half period
    for a ribbon cable camera; a USB camera's own automatic.
    """
    gain: float | None = Field(default=None, gt=0)
    focus: Annotated[float, Field(ge=0)] | Literal["locked"] | None = None
    """Dioptres (1 / metres) for a ribbon cable camera; the camera's own steps for a USB camera; "locked": a lens
    without a motor, its focus held by a screw.
    """
    size: tuple[int, int] = (4032, 3024)
    """Width and height of a picture, pixels; for a ribbon cable camera a multiple of 64, and even. Default: the build's
    sensor without 12 columns on each side and 8 rows above and below. Default for a USB camera: 3840 by 2160.
    """
    white_balance_k: int | None = Field(default=None, ge=2000, le=10000)
    """USB camera only, in kelvin."""
    colour_gains: tuple[float, float] | None = None
    """Ribbon cable camera only: gains of red and blue relative to green."""
    late_s: float = Field(default=2.0, gt=0, le=60)
    """Minimum in seconds before a frame counts as late. The limit grows with the measured frame times."""
    late_ceiling_s: float = Field(default=20.0, gt=0, le=120)
    """Maximum of the same limit, in seconds."""
    hung_s: float = Field(default=4.0, gt=0, le=60)
    """Seconds without a frame after which the camera counts as hung and the reading process is replaced."""
    open_s: float = Field(default=8.0, gt=0, le=120)
    """Seconds allowed for opening the camera."""

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
    """Times in seconds.

    A pair of `x` and `x_ceiling` is an adaptive limit against hangs (`firmware.adaptive_limit`). `x` is its minimum and
    its value until something was measured; `x_ceiling` is its maximum.
    """

    turn_up: float = Field(default=3.0, ge=0, le=60)
    """From the showdown signal to the first reading, while the cards are being turned up."""
    still: float = Field(default=12.0, gt=0, le=300)
    """A table that takes longer to come to rest is not read; the dealer requests another reading."""
    answer: float = Field(default=10.0, gt=0, le=300)
    """A command that the table has not started by then is refused."""
    reading: float = Field(default=20.0, gt=0, le=300)
    """A reading that takes longer is abandoned and the reading process is replaced. Includes the wait for `still`."""
    reading_ceiling: float = Field(default=300.0, gt=0, le=3600)
    reading_start: float = Field(default=60.0, gt=0, le=300)
    """The same for the start of the reading process: it opens the camera and loads the model."""
    reading_start_ceiling: float = Field(default=600.0, gt=0, le=3600)
    camera_step: float = Field(default=20.0, gt=0, le=300)
    """The same for one step of a calibration, a deck enrolment or a deck count."""
    camera_step_ceiling: float = Field(default=300.0, gt=0, le=3600)
    reader_silence: float = Field(default=7.0, gt=0, le=300)
    """The same between two signs of life of an idle reading process, which sends one a second."""
    reader_silence_ceiling: float = Field(default=60.0, gt=0, le=3600)

    @model_validator(mode="after")
    def _ceilings_above_floors(self) -> Self:
        for name in ("reading", "reading_start", "camera_step", "reader_silence"):
            if getattr(self, f"{name}_ceiling") < getattr(self, name):
                raise ValueError(f"{name}_ceiling lies below {name}; give the ceiling at least as long")
        return self


class PowerConfig(_Section):
    """When the box shuts itself down on battery. The house must measure how long its battery lasts."""

    between_hands_s: float = Field(default=30.0, ge=0, le=3600)
    """Seconds without mains before it shuts down while no hand is open."""
    at_latest_s: float = Field(default=120.0, ge=0, le=3600)
    """The same during a hand; the hand continues where it was when the mains is back."""
    request: Path = Path("/run/feltwatch/poweroff")
    """The file whose presence makes the service manager switch the box off."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.at_latest_s < self.between_hands_s:
            raise ValueError("at_latest_s lies before between_hands_s; a hand gets at least as long")
        return self


class KeepingConfig(_Section):
    """Retention of images; rows are never deleted. Without limits no image is deleted."""

    days: int | None = Field(default=None, ge=1)
    """Images of older hands are deleted, but only while the clock is synchronised by the network."""
    megabytes: int | None = Field(default=None, ge=100)
    """Images beyond this size are deleted, the oldest hands' first."""


class PitConfig(_Section):
    """Which things from the pit come into force by themselves; everything else waits for a person at the table."""

    profiles: Literal["person", "at once"] = "person"
    """Whether a profile is put in force by a person with a PIN, or between hands by itself."""
    release_hours: str = Field(
        default="", pattern=r"^(([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9])?$"
    )
    """The hours, local time, in which a release may be installed by itself, between hands: "04:00-09:30". "": none."""

    def is_release_hour(self, local: time.struct_time) -> bool:
        """Return whether a local time is within these hours."""
        first, _, end = self.release_hours.partition("-")
        now = time.strftime("%H:%M", local)
        return first <= now < end if first < end else bool(end) and not end <= now < first


class ScreenConfig(_Section):
    """The touchscreen at the table, which acknowledges what it has painted."""

    kiosk: bool = True
    """Whether this table has a screen of its own (feltwatch-kiosk). Push-buttons then count for what it has painted."""
    turned_deg: Literal[0, 90, 180, 270] = 0
    """How far it hangs turned, clockwise; `feltwatch kiosk` turns picture and touches back."""
    silent_s: float = Field(default=3.0, ge=1, le=60)
    """Seconds without an acknowledgement after which the screen counts as dead."""
    leaving_s: float = Field(default=15.0, ge=1, le=120)
    """The same while it loads another page."""
    start_s: float = Field(default=60.0, ge=1, le=600)
    """Seconds from the start of the table process within which it must answer for the first time."""


NO_SCREEN: Final = ScreenConfig(kiosk=False)
"""A table that has no screen of its own."""


class UiConfig(BaseModel):
    """The page's section, checked by `feltwatch ui`."""

    model_config = ConfigDict(frozen=True, extra="allow")


_SEATS: Final = (
    SeatConfig(seat=1, place="A"),
    SeatConfig(seat=2, place="B"),
    SeatConfig(seat=4, place="C"),
    SeatConfig(seat=5, place="D"),
)


class Config(_Section):
    """The whole configuration."""

    data: Path = DATA
    in_memory: bool = False
    """Whether the record may lie on a RAM file system, where no power cut spares it: for demonstrations only."""
    profile: str = "washington-1-unit"
    options: dict[str, JsonValue] = Field(default_factory=dict)
    unit: int = Field(default=100, ge=1)
    """Cents a point."""
    table: str = Field(default="", max_length=20)
    """The table's number in the room."""
    language: str = ""
    """The page's language where a browser has chosen none."""
    seats: tuple[SeatConfig, ...] = Field(default=_SEATS, min_length=2, max_length=5)
    puck: PuckConfig = PuckConfig()
    panel: PanelConfig = PanelConfig()
    camera: CameraConfig = CameraConfig()
    times: TimesConfig = TimesConfig()
    power: PowerConfig = PowerConfig()
    keeping: KeepingConfig = KeepingConfig()
    pit: PitConfig = PitConfig()
    screen: ScreenConfig = ScreenConfig()
    pulse: Path = Path("/") / PULSE
    """The file that says when the table's socket last answered, for the uplink."""
    key: Path = KEY
    gpiochip: int | None = None
    ui: UiConfig = UiConfig()

    @field_validator("table")
    @classmethod
    def _check_table(cls, table: str) -> str:
        return _check_name(table)

    @model_validator(mode="after")
    def _no_look_alikes(self) -> Self:
        names = {seat.player for seat in self.seats if seat.player}
        for name in sorted(names):
            if (other := look_alike(name, sorted(names - {name}))) is not None:
                raise ValueError(str(looks_like(name, other)))
        return self

    @model_validator(mode="after")
    def _each_its_own(self) -> Self:
        # The fifth player sits out and takes the place that becomes free when another passes.
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
    def without(self) -> tuple[str, ...]:
        """The devices that this table does not have: "puck", "panel"."""
        kinds = {"puck": self.puck.kind, "panel": self.panel.kind}
        return tuple(name for name, kind in kinds.items() if kind == "none")

    @property
    def socket(self) -> Path:
        """The table's Unix socket."""
        return self.data / SOCKET


def load_config(path: Path | None = None, **overrides: Any) -> Config:
    """Return the configuration from a file (without one, the defaults), with some values overridden.

    Raises ConfigError with a message that names the file and the key.
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
        # Validated as JSON, whose types match TOML's: strict about 1 and "1", but an array may become a tuple.
        return Config.model_validate_json(json.dumps(values, default=str))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        why = first["msg"].removeprefix("Value error, ")
        name = f"The configuration {path}" if path else "The configuration"
        raise ConfigError(f"{name} cannot be used: {where + ': ' if where else ''}{why}.") from error
