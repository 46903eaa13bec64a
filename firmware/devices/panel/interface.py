"""The interfaces of the dealer's buttons, lamps and buzzer.

What a press *means* is decided by the table; here it is only detected.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from firmware.messages import Message

ButtonName = Literal["confirm", "reject", "next"]
LampName = Literal["confirm", "reject", "next", "fault", "ready"]
BUTTONS: tuple[ButtonName, ...] = ("confirm", "reject", "next")
LAMPS: tuple[LampName, ...] = ("confirm", "reject", "next", "fault", "ready")


@dataclass(frozen=True, slots=True)
class Press:
    """A press of one button alone."""

    button: ButtonName
    at: float
    """Monotonic seconds at which the push-button went down."""
    held: bool = False
    """False when it goes down; a second Press with True follows if it is held down."""


@dataclass(frozen=True, slots=True)
class Bounce:
    """How a contact bounced when it closed or opened once."""

    button: ButtonName
    edges: int
    """Its changes; one for a contact that does not bounce."""
    lasted_ms: float
    """From the first change to the last."""


class Light(StrEnum):
    """The state of a lamp."""

    OFF = "off"
    ON = "on"
    BLINK = "blink"


class Buttons(Protocol):
    """The dealer's buttons."""

    fault: Message | None
    """The current fault of the push-buttons as a message; None while they work."""

    def start(self, put: Callable[[Press], None]) -> None:
        """Start; `put` receives every press, on the device's own thread.

        Raises DeviceError if the pins cannot be used.
        """

    def take_bounces(self) -> list[Bounce]:
        """Return how the contacts bounced since the last call, as far as it is remembered. From any thread."""

    def close(self) -> None:
        """Stop and release the pins. Nothing is put afterwards. May be called twice."""


class Lamps(Protocol):
    """The dealer's lamps."""

    def start(self) -> None:
        """Open the pins with all lamps off. Raises DeviceError if the pins cannot be used."""

    def show(self, lights: Mapping[LampName, Light]) -> None:
        """Set the whole panel: a lamp that is not named is off. Repeating the same has no effect.

        Raises DeviceError if a lamp cannot be set.
        """

    def close(self) -> None:
        """Switch all lamps off and release the pins. May be called twice."""


class Buzzer(Protocol):
    """The dealer's buzzer."""

    def start(self) -> None:
        """Open the pin, silent. Raises DeviceError if the pin cannot be used."""

    def beep(self, times: int) -> None:
        """Sound this many short beeps, without waiting for them. Raises DeviceError if that fails."""

    def close(self) -> None:
        """Silence it and release the pin. May be called twice."""
