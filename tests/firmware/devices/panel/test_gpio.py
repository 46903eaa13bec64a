"""Buttons and lamps on gpiozero's mock pins, pressed from outside with contacts that bounce."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from firmware.devices.errors import DeviceError, DeviceRefused, DeviceSettings
from firmware.devices.panel.debounce import CALM, HOLD, LOOSE
from firmware.devices.panel.gpio import BLINK, LOOK_EVERY, GpioButtons, GpioBuzzer, GpioLamps, GpioPowerLine
from firmware.devices.panel.interface import BUTTONS, Light, Press
from firmware.devices.panel.simulated import SimulatedPanel
from firmware.messages import Message
from tests.firmware.devices.conftest import Buttons, Clock
from tests.waiting import until

if TYPE_CHECKING:
    from tests.firmware.devices.conftest import Sink


@pytest.fixture
def panel(clock: Clock) -> SimulatedPanel:
    return SimulatedPanel(seed=1, clock=clock, sleep=clock.let_pass)


@pytest.fixture
def buttons(panel: SimulatedPanel, clock: Clock, sink: Sink[Press]) -> Iterator[Buttons]:
    device = Buttons(panel.pins, panel.factory, clock)
    panel._sleep = device.let_pass
    device.start(sink.put)
    device.wait_until_begun()
    yield device
    device.close()


@pytest.fixture
def lamps(panel: SimulatedPanel) -> Iterator[GpioLamps]:
    device = GpioLamps(panel.pins, panel.factory)
    device.start()
    yield device
    device.close()


def told(panel: SimulatedPanel, sink: Sink[Press]) -> list[Press]:
    """What was told of the presses so far: holding red down is told after all of them, as a press and a hold."""
    panel.press("reject", 1.3)
    sink.wait(lambda press: press.button == "reject" and press.held)
    return sink.got[:-2]


def test_every_bouncing_press_is_one_press(
    panel: SimulatedPanel, buttons: Buttons, clock: Clock, sink: Sink[Press]
) -> None:
    before = clock()
    pressed = [button for _ in range(5) for button in BUTTONS]
    for button in pressed:
        panel.press(button, seconds=0.05)
        buttons.let_pass(0.04)
    got = told(panel, sink)
    assert [press.button for press in got] == pressed
    assert before <= got[0].at < before + 0.05


@pytest.mark.usefixtures("buttons")
def test_a_finger_that_presses_again_at_once_presses_twice(panel: SimulatedPanel, sink: Sink[Press]) -> None:
    for _ in range(4):
        panel.press("next")
    assert [press.held for press in told(panel, sink)] == [False] * 4


def test_a_loose_wire_is_one_fault_until_it_is_calm(
    panel: SimulatedPanel, buttons: Buttons, sink: Sink[Press]
) -> None:
    """68 presses in ten seconds: the first ones may be a finger's, the others are none."""
    faults: list[Message | None] = []
    for _ in range(68):
        panel.press("next", seconds=0.07)
        buttons.let_pass(0.077)
        if not faults or buttons.fault != faults[-1]:
            faults.append(buttons.fault)
    assert len(sink.got) == LOOSE[0][0] - 1
    assert faults == [
        None,
        Message(
            "Pressed faster than anybody can: %(loose)s. Look at its wires; meanwhile use the page.",
            loose="next",
        ),
    ]
    panel.press("confirm")
    buttons.let_pass(0.2)
    assert sink.wait(lambda press: press.button == "confirm"), "the others are believed"
    buttons.let_pass(CALM)
    until(lambda: buttons.fault is None)
    panel.press("next")
    buttons.let_pass(0.2)
    assert sink.wait(lambda press: press.button == "next")


@pytest.mark.usefixtures("buttons")
def test_two_at_once_are_nothing_on_pins(panel: SimulatedPanel, sink: Sink[Press]) -> None:
    panel.press_together("confirm", "reject", apart=0.01)
    panel.press("next")
    assert [press.button for press in told(panel, sink)] == ["next"]


def test_a_held_button_is_told_while_it_is_still_down(
    panel: SimulatedPanel, buttons: Buttons, sink: Sink[Press]
) -> None:
    panel.push("confirm")
    buttons.let_pass(HOLD / 2)
    assert [press.held for press in sink.got] == [False]
    buttons.let_pass(HOLD / 2)
    assert [press.held for press in sink.got] == [False, True]
    panel.let_go("confirm")
    assert len(told(panel, sink)) == 2


@pytest.mark.usefixtures("buttons")
def test_a_lost_edge_is_made_good_by_looking(panel: SimulatedPanel, clock: Clock, sink: Sink[Press]) -> None:
    def pause(seconds: float) -> None:
        time.sleep(seconds)
        clock.let_pass(LOOK_EVERY)

    pin: Any = panel.factory.pin(panel.pins.buttons["next"])
    pin._change_state(False)  # the pin goes down, and no edge is told
    until(lambda: sink.got, pause)
    pin._change_state(True)
    assert sink.got[0].button == "next"


def test_pins_that_cannot_be_read_are_a_fault_that_passes(
    panel: SimulatedPanel, buttons: GpioButtons, sink: Sink[Press], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: GpioButtons) -> dict[str, bool]:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(GpioButtons, "_down", broken)
        until(lambda: "use the page" in (str(buttons.fault or "")))
    until(lambda: buttons.fault is None)
    panel.press("next")
    assert [press.button for press in told(panel, sink)] == ["next"]


def test_after_close_nothing_is_put_and_the_pins_are_free(panel: SimulatedPanel, sink: Sink[Press]) -> None:
    for _ in range(2):
        device = GpioButtons(panel.pins, panel.factory)
        device.start(sink.put)
        device.close()
        device.close()
        assert device._thread is not None
        assert not device._thread.is_alive(), "nobody is left to put anything"
    panel.press("next")
    assert sink.got == []


@pytest.mark.usefixtures("buttons")
def test_pins_that_are_in_use_are_refused_with_a_sentence(panel: SimulatedPanel, sink: Sink[Press]) -> None:
    with pytest.raises(DeviceRefused, match="buttons' pins"):
        GpioButtons(panel.pins, panel.factory).start(sink.put)


@pytest.mark.parametrize("device", [GpioButtons, GpioLamps, GpioBuzzer, GpioPowerLine])
def test_the_pin_factory_is_never_guessed(panel: SimulatedPanel, device: type[Any]) -> None:
    with pytest.raises(DeviceSettings, match="pin factory"):
        device(panel.pins, None)


def test_the_lamps_show_the_whole_panel(panel: SimulatedPanel, lamps: GpioLamps) -> None:
    assert panel.lit() == frozenset()
    lamps.show({"ready": Light.ON, "next": Light.ON})
    assert panel.lit() == {"ready", "next"}
    lamps.show({"fault": Light.ON})
    assert panel.lit() == {"fault"}
    lamps.close()
    assert panel.lit() == frozenset()


def test_a_blinking_lamp_keeps_its_rhythm_when_it_is_shown_again(
    panel: SimulatedPanel, lamps: GpioLamps
) -> None:
    pin: Any = panel.factory.pin(panel.pins.lamps["confirm"])
    pin.clear_states()

    def five_times() -> bool:
        lamps.show({"confirm": Light.BLINK})
        return len(pin.states) >= 5

    until(five_times)
    lamps.show({})
    assert [state.state for state in pin.states[:5]] == [False, True, False, True, False]
    assert all(state.timestamp > 0.9 * BLINK for state in pin.states[2:5])
    assert not pin.state


def test_a_lamp_that_cannot_be_driven_is_a_sentence(
    panel: SimulatedPanel, lamps: GpioLamps, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin: Any = panel.factory.pin(panel.pins.lamps["ready"])

    def broken(value: float) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(pin, "_set_state", broken)
        with pytest.raises(DeviceError, match="lamp ready"):
            lamps.show({"ready": Light.ON})
    lamps.show({"ready": Light.ON})
    assert panel.lit() == {"ready"}


def test_lamps_that_are_in_use_are_refused_with_a_sentence(panel: SimulatedPanel, lamps: GpioLamps) -> None:
    lamps.show({"ready": Light.ON})
    with pytest.raises(DeviceRefused, match="lamps' pins"):
        GpioLamps(panel.pins, panel.factory).start()
    assert panel.lit() == {"ready"}


# buzzer and power-fail line


def test_the_buzzer_sounds_so_many_short_beeps(panel: SimulatedPanel) -> None:
    buzzer = GpioBuzzer(panel.pins, panel.factory)
    buzzer.start()
    pin: Any = panel.factory.pin(panel.pins.buzzer)
    pin.clear_states()
    buzzer.beep(2)
    until(lambda: not buzzer._device._blink_thread.is_alive())
    assert [state.state for state in pin.states] == [False, True, False, True, False]
    assert not panel.sounds()
    buzzer.beep(100)
    buzzer.close()
    buzzer.close()
    assert not panel.sounds()


def test_a_buzzer_that_cannot_be_driven_or_taken_is_a_sentence(
    panel: SimulatedPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    buzzer = GpioBuzzer(panel.pins, panel.factory)
    buzzer.start()
    with pytest.raises(DeviceRefused, match="buzzer's pin"):
        GpioBuzzer(panel.pins, panel.factory).start()

    def broken(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(buzzer._device, "beep", broken)
        with pytest.raises(DeviceError, match="buzzer cannot be driven"):
            buzzer.beep(1)
    buzzer.close()


def test_the_mains_is_gone_once_the_line_says_so_for_half_a_second(panel: SimulatedPanel) -> None:
    now = 0.0
    line = GpioPowerLine(panel.pins, panel.factory, clock=lambda: now)
    assert line.failing() is None
    line.start()
    said = []
    for cut, at in (
        (False, 0.0),
        (True, 1.0),
        (False, 1.2),
        (True, 2.0),
        (True, 2.4),
        (True, 2.6),
        (False, 3.0),
    ):
        now = at
        (panel.cut_mains if cut else panel.restore_mains)()
        said.append(line.failing())
    now = 3.6
    said.append(line.failing())
    assert said == [False, False, False, False, False, True, True, False]
    line.close()
    line.close()
    assert line.failing() is None


def test_a_power_fail_line_that_cannot_be_read_is_not_known(
    panel: SimulatedPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = GpioPowerLine(panel.pins, panel.factory)
    line.start()
    with pytest.raises(DeviceRefused, match="power-fail line"):
        GpioPowerLine(panel.pins, panel.factory).start()
    line._device.close()
    assert line.failing() is None
    line.close()


def test_a_pulled_panel_presses_nothing_and_shows_nothing(panel: SimulatedPanel, lamps: GpioLamps) -> None:
    lamps.show({"ready": Light.ON})
    panel.push("next")
    panel.unplug()
    assert (panel.down(), panel.lit()) == (frozenset(), frozenset())
    panel.push("next")
    assert panel.down() == frozenset()
    panel.replug()
    assert panel.lit() == {"ready"}
