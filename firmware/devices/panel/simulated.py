"""A panel of mock pins, with buttons that bounce when pressed and lamps whose state can be read.

panel = SimulatedPanel()
buttons = GpioButtons(panel.pins, panel.factory)
buttons.start(queue.put)
panel.press("next")
"""

import random
import threading
import time
from collections.abc import Callable
from typing import Any

from gpiozero.pins.mock import MockFactory, MockPin

from firmware.devices.panel.interface import BUTTONS, ButtonName, LampName
from firmware.devices.panel.pins import PinMap

BOUNCE_LASTS = 0.008
BOUNCE_GAP = 0.0006
PRESS = 0.12
_WORN_GAPS = 8
LIFT = 0.05
"""Seconds between two presses of a finger; after less, the second one counts as a bounce."""


def bounces(rng: random.Random) -> list[float]:
    """Return the seconds between a contact's changes when it closes or opens. Their number is even.

    The model: after the first touch the contact bounces back a few times, each interval exponentially distributed
    around 0.6 ms, all of it within 8 ms. Push buttons of this size are quoted at 1 to 6 ms.
    """
    gaps = [rng.expovariate(1 / BOUNCE_GAP) for _ in range(2 * rng.randint(0, 6))]
    while sum(gaps) > BOUNCE_LASTS:
        gaps = gaps[:-2]
    return gaps


class SimulatedPanel:
    """Buttons and lamps on mock pins. A method takes as long as the physical act; call it from any thread."""

    def __init__(
        self,
        pins: PinMap | None = None,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """`clock` timestamps the pins' edges; `sleep` lets this clock advance."""
        self.pins = pins or PinMap.load()
        self.factory = MockFactory(pin_class=_pins_stamped_by(self._stamp))
        self._clock = clock
        self._sleep = sleep
        self._rng = random.Random(seed)
        self._finger = threading.Lock()
        self._plugged = True
        self._let_go_at: dict[ButtonName, float] = {}
        self._worn_s: dict[ButtonName, float] = {}
        self._edge_at: float | None = None
        for bcm in self.pins.buttons.values():
            self._pin(bcm).drive_high()  # the pull-up resistors outside the Pi
        self._pin(self.pins.power_fail).drive_high()

    def press(self, button: ButtonName, seconds: float = PRESS) -> None:
        """Press one button and release it after `seconds`."""
        self.press_together(button, seconds=seconds)

    def press_together(self, *buttons: ButtonName, seconds: float = PRESS, apart: float = 0.0) -> None:
        """Press several, one `apart` seconds after the other, and release all."""
        with self._finger:
            for number, button in enumerate(buttons):
                if number:
                    self._sleep(apart)
                self._push(button)
            self._sleep(seconds)
            for button in buttons:
                self._let_go(button)

    def push(self, button: ButtonName) -> None:
        """Push a button and keep it down."""
        with self._finger:
            self._push(button)

    def let_go(self, button: ButtonName) -> None:
        """Release a button."""
        with self._finger:
            self._let_go(button)

    def unplug(self) -> None:
        """Pull the panel's cable: the pull-ups hold every push-button open, the lamps are off, no error is raised."""
        with self._finger:
            for button in BUTTONS:
                self._let_go(button)
            self._plugged = False

    def replug(self) -> None:
        """Plug it in again."""
        self._plugged = True

    @property
    def plugged(self) -> bool:
        """Whether the cable is in."""
        return self._plugged

    def wear(self, button: ButtonName, seconds: float) -> None:
        """Make this button's contact bounce for so long; 0 mends it."""
        self._worn_s[button] = seconds

    def cut_mains(self) -> None:
        """Switch the mains off; the UPS's line shows it."""
        self._pin(self.pins.power_fail).drive_low()

    def restore_mains(self) -> None:
        """Switch the mains on again."""
        self._pin(self.pins.power_fail).drive_high()

    def on_mains(self) -> bool:
        """Whether the mains is on."""
        return bool(self._pin(self.pins.power_fail).state)

    def sounds(self) -> bool:
        """Whether the buzzer sounds now."""
        return bool(self._pin(self.pins.buzzer).state)

    def down(self) -> frozenset[ButtonName]:
        """The push-buttons whose contact is closed now."""
        return frozenset(name for name, bcm in self.pins.buttons.items() if not self._pin(bcm).state)

    def lit(self) -> frozenset[LampName]:
        """The lamps that are lit now."""
        if not self._plugged:
            return frozenset()
        return frozenset(name for name, bcm in self.pins.lamps.items() if self._pin(bcm).state)

    def _push(self, button: ButtonName) -> None:
        lifts_until = self._let_go_at.get(button, float("-inf")) + LIFT
        self._sleep(max(0.0, lifts_until - self._clock()))
        self._bounce(button, closed=True)

    def _let_go(self, button: ButtonName) -> None:
        self._bounce(button, closed=False)
        self._let_go_at[button] = self._clock()

    def _bounce(self, button: ButtonName, *, closed: bool) -> None:
        pin = self._pin(self.pins.buttons[button])
        if not self._plugged or bool(pin.state) != closed:
            return  # no cable, or already in this state
        drive = (pin.drive_low, pin.drive_high) if closed else (pin.drive_high, pin.drive_low)
        worn = self._worn_s.get(button, 0.0)
        gaps = [worn / _WORN_GAPS] * _WORN_GAPS if worn else bounces(self._rng)
        self._edge_at = self._clock()
        drive[0]()
        over = self._edge_at + max(BOUNCE_LASTS, 2 * worn)
        for number, gap in enumerate(gaps, start=1):
            self._sleep(gap)
            if self._clock() > over:
                break  # a busy computer slept longer than any contact bounces
            self._edge_at += gap
            drive[number % 2]()
        drive[0]()
        self._edge_at = None

    def _stamp(self) -> float:
        """Return the time of an edge: in a bounce that of the contact, however long the computer slept meanwhile."""
        return self._clock() if self._edge_at is None else self._edge_at

    def _pin(self, bcm: int) -> Any:
        return self.factory.pin(bcm)


def _pins_stamped_by(clock: Callable[[], float]) -> type[Any]:
    """Return a class of mock pins whose edges carry this clock's time; gpiozero's use the monotonic clock only."""

    class Pin(MockPin):  # type: ignore[misc]
        def _call_when_changed(self) -> None:
            self._last_change = clock()
            super()._call_when_changed()

    return Pin
