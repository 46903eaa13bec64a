"""The panel on real pins: buttons and lamps through gpiozero, with any pin factory."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import gpiozero
from gpiozero.pins import Factory

from firmware.devices.errors import DeviceError, DeviceRefused, DeviceSettings
from firmware.devices.panel.debounce import Bounces, Debounce, PressedButtons
from firmware.devices.panel.interface import BUTTONS, Bounce, ButtonName, LampName, Light, Press
from firmware.devices.panel.pins import PinMap
from firmware.messages import Message
from firmware.threads import start_thread

log = logging.getLogger(__name__)

LOOK_EVERY = 0.1
"""Seconds between two samples of the pins, so that a lost edge never leaves a button hanging."""
BEEP = 0.08
"""Seconds that a short beep lasts, and seconds of silence between two beeps."""
BLINK = 0.25
"""Seconds on and seconds off of a blinking lamp: 2 Hz, well below the rates that trouble people (3 Hz and more)."""


def _check(factory: object) -> Factory:
    if not isinstance(factory, Factory):
        raise DeviceSettings("The panel needs a pin factory, not %(factory)s.", factory=f"{factory!r}")
    return factory


class GpioButtons:
    """The three buttons. `Buttons` on gpiozero pins, active low.

    >>> buttons = GpioButtons(PinMap.load(), pi_pin_factory())  # doctest: +SKIP
    >>> buttons.start(queue.put)  # doctest: +SKIP
    """

    def __init__(self, pins: PinMap, factory: Factory, clock: Callable[[], float] = time.monotonic) -> None:
        self._pins = pins
        self._factory = _check(factory)
        self._clock = clock
        self._inputs: dict[ButtonName, Any] = {}
        self._watchers: list[Callable[[float, int], None]] = []  # gpiozero itself holds only weak references
        self._edges: queue.SimpleQueue[tuple[ButtonName, bool, float] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._bounces = Bounces()
        self._bounces_lock = threading.Lock()
        self.fault: Message | None = None
        """The current fault of the buttons as a message; None while they work."""

    def start(self, put: Callable[[Press], None]) -> None:
        """Start; see `Buttons.start`."""
        if self._thread is not None:
            raise RuntimeError("These buttons were started before.")
        try:
            for name in BUTTONS:
                self._inputs[name] = gpiozero.InputDevice(
                    self._pins.buttons[name], pull_up=True, pin_factory=self._factory
                )
            for name, device in self._inputs.items():
                self._watch(name, device.pin)
        except (gpiozero.GPIOZeroError, OSError) as error:
            self._let_go()
            raise DeviceRefused("The push-buttons' pins cannot be used: %(error)s.", error=error) from error
        self._thread = start_thread(self._run, put, name="buttons")

    def take_bounces(self) -> list[Bounce]:
        """Return how the contacts bounced; see `Buttons.take_bounces`."""
        with self._bounces_lock:
            return self._bounces.take(self._clock())

    def close(self) -> None:
        """Stop; see `Buttons.close`."""
        if self._thread is not None and self._thread.is_alive():
            self._edges.put(None)
            self._thread.join()
        self._let_go()

    def _let_go(self) -> None:
        for device in self._inputs.values():
            device.close()
        self._inputs.clear()
        self._watchers.clear()

    def _watch(self, name: ButtonName, pin: Any) -> None:
        def changed(ticks: float, state: int) -> None:
            self._edges.put((name, not state, ticks))

        self._watchers.append(changed)
        pin.edges = "both"
        pin.bounce = None
        pin.when_changed = changed

    def _down(self) -> dict[ButtonName, bool]:
        return {name: bool(device.is_active) for name, device in self._inputs.items()}

    def _run(self, put: Callable[[Press], None]) -> None:
        while True:
            try:
                return self._follow(put)
            except Exception as error:  # lgpio.error derives from Exception directly
                self._set_fault(
                    Message("The push-buttons cannot be read (%(error)s): use the page.", error=error)
                )
                time.sleep(LOOK_EVERY)

    def _follow(self, put: Callable[[Press], None]) -> None:
        panel = PressedButtons(self._down())
        last = self._clock()
        while True:
            now = self._clock()
            wait = LOOK_EVERY if panel.due is None else min(max(panel.due - now, 0.001), LOOK_EVERY)
            try:
                edge = self._edges.get(timeout=wait)
            except queue.Empty:
                last = self._clock()
                presses = panel.sample(self._down(), last)
            else:
                if edge is None:
                    return
                name, down, at = edge
                with self._bounces_lock:
                    self._bounces.edge(name, at)
                # `at` is the kernel's timestamp. Old kernels take it from the wall clock: it is then far in the
                # future, and is replaced by the time now.
                last = min(max(at, last), self._clock())
                presses = panel.edge(name, down, last)
            for press in presses:
                put(press)
            self._set_fault(_find_fault(panel, last))

    def _set_fault(self, fault: Message | None) -> None:
        if fault != self.fault:
            log.warning("buttons: %s", fault or "working again")
            self.fault = fault


def _find_fault(panel: PressedButtons, now: float) -> Message | None:
    """Return the fault of the buttons as a message; None if there is none."""
    if stuck := ", ".join(sorted(panel.stuck(now))):
        return Message("Stuck down: %(stuck)s. Free the push-button; meanwhile use the page.", stuck=stuck)
    if loose := ", ".join(sorted(panel.loose(now))):
        return Message(
            "Pressed faster than anybody can: %(loose)s. Look at its wires; meanwhile use the page.",
            loose=loose,
        )
    return None


class GpioLamps:
    """The five lamps. `Lamps` on gpiozero pins, active high through the driver."""

    def __init__(self, pins: PinMap, factory: Factory) -> None:
        self._pins = pins
        self._factory = _check(factory)
        self._leds: dict[LampName, Any] = {}
        self._lights: dict[LampName, Light] = {}

    def start(self) -> None:
        """Open the pins; see `Lamps.start`."""
        try:
            for name, bcm in self._pins.lamps.items():
                self._leds[name] = gpiozero.LED(bcm, pin_factory=self._factory)
        except (gpiozero.GPIOZeroError, OSError) as error:
            self.close()
            raise DeviceRefused("The lamps' pins cannot be used: %(error)s.", error=error) from error
        self._lights = dict.fromkeys(self._leds, Light.OFF)

    def show(self, lights: Mapping[LampName, Light]) -> None:
        """Set the whole panel; see `Lamps.show`. Raises DeviceError."""
        for name, led in self._leds.items():
            light = lights.get(name, Light.OFF)
            if light is self._lights[name]:
                continue  # do not restart a lamp that is already blinking
            try:
                match light:
                    case Light.OFF:
                        led.off()
                    case Light.ON:
                        led.on()
                    case Light.BLINK:
                        led.blink(BLINK, BLINK)
            except Exception as error:  # lgpio.error derives from Exception directly
                raise DeviceError(
                    "The lamp %(name)s cannot be driven (%(error)s): check the panel's cable.",
                    name=name,
                    error=error,
                ) from error
            self._lights[name] = light

    def close(self) -> None:
        """Switch all lamps off; see `Lamps.close`."""
        for led in self._leds.values():
            led.off()
            led.close()
        self._leds.clear()


class GpioBuzzer:
    """An active buzzer. `Buzzer` on a gpiozero pin, active high through the driver."""

    def __init__(self, pins: PinMap, factory: Factory) -> None:
        self._bcm = pins.buzzer
        self._factory = _check(factory)
        self._device: Any = None

    def start(self) -> None:
        """Open the pin; see `Buzzer.start`."""
        try:
            self._device = gpiozero.Buzzer(self._bcm, pin_factory=self._factory)
        except (gpiozero.GPIOZeroError, OSError) as error:
            raise DeviceRefused("The buzzer's pin cannot be used: %(error)s.", error=error) from error

    def beep(self, times: int) -> None:
        """Sound; see `Buzzer.beep`."""
        try:
            self._device.beep(BEEP, BEEP, n=times)
        except Exception as error:  # lgpio.error derives from Exception directly
            raise DeviceError(
                "The buzzer cannot be driven (%(error)s): check the panel's cable.", error=error
            ) from error

    def close(self) -> None:
        """Silence it; see `Buzzer.close`."""
        if self._device is not None:
            self._device.off()
            self._device.close()
            self._device = None


class GpioPowerLine:
    """The UPS's line: low while the mains is off and the box runs on battery."""

    SETTLE = 0.5
    """Seconds that the line must be stable: a UPS that switches over is not a power cut."""

    def __init__(self, pins: PinMap, factory: Factory, clock: Callable[[], float] = time.monotonic) -> None:
        self._bcm = pins.power_fail
        self._factory = _check(factory)
        self._clock = clock
        self._device: Any = None
        self._line = Debounce(settle=self.SETTLE)

    def start(self) -> None:
        """Open the pin. Raises DeviceRefused."""
        try:
            self._device = gpiozero.InputDevice(self._bcm, pull_up=True, pin_factory=self._factory)
        except (gpiozero.GPIOZeroError, OSError) as error:
            raise DeviceRefused(
                "The power-fail line's pin cannot be used: %(error)s.", error=error
            ) from error

    def failing(self) -> bool | None:
        """Return whether the mains is off; None if the line cannot be read. Call at least every second."""
        if self._device is None:
            return None
        try:
            self._line.sample(bool(self._device.is_active), self._clock())
        except Exception as error:  # lgpio.error derives from Exception directly
            log.debug("the power-fail line cannot be read: %s", error)
            return None
        return self._line.level

    def close(self) -> None:
        """Release the pin. May be called twice."""
        if self._device is not None:
            self._device.close()
            self._device = None
