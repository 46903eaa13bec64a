"""The dealer's buttons and lamps: what they are called and what they tell.

What a press *means* is the table's business; here is only that a person pressed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

ButtonName = Literal["confirm", "reject", "next"]
LampName = Literal["confirm", "reject", "next", "fault", "ready"]
BUTTONS: tuple[ButtonName, ...] = ("confirm", "reject", "next")
LAMPS: tuple[LampName, ...] = ("confirm", "reject", "next", "fault", "ready")


@dataclass(frozen=True, slots=True)
class Press:
    """A person pressed one button, alone."""

    button: ButtonName
    at: float
    """Monotonic seconds at which the button went down."""
    held: bool = False
    """False when it went down; a second Press with True follows while it is still held down."""


class Light(StrEnum):
    """What a lamp does."""

    OFF = "off"
    ON = "on"
    BLINK = "blink"


class Buttons(Protocol):
    """The dealer's buttons."""

    fault: str | None
    """What is wrong with the buttons just now, as a sentence; None while they work."""

    def start(self, put: Callable[[Press], None]) -> None:
        """Begin; `put` gets every press, on the device's own thread.

        Raises DeviceError if the pins cannot be used.
        """

    def close(self) -> None:
        """Stop and let go of the pins. Nothing is put afterwards. May be called twice."""


class Lamps(Protocol):
    """The dealer's lamps."""

    def start(self) -> None:
        """Take the pins; all lamps are dark. Raises DeviceError if the pins cannot be used."""

    def show(self, lights: Mapping[LampName, Light]) -> None:
        """Show the whole panel: a lamp that is not named is dark. Repeating the same does nothing.

        Raises DeviceError where a lamp cannot be driven.
        """

    def close(self) -> None:
        """All dark; let go of the pins. May be called twice."""


class Buzzer(Protocol):
    """The dealer's buzzer."""

    def start(self) -> None:
        """Take the pin; it is silent. Raises DeviceError if the pin cannot be used."""

    def beep(self, times: int) -> None:
        """Sound so many short beeps, without waiting for them. Raises DeviceError where it cannot be driven."""

    def close(self) -> None:
        """Silence; let go of the pin. May be called twice."""
