"""Devices tried by a technician: what is found, and that nothing pressed meanwhile plays a hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import pytest

from firmware.access.control import Sender
from firmware.devices.clock import SystemClock
from firmware.devices.panel.interface import LAMPS, Bounce, Light, Press
from firmware.devices.puck.reading import Disks, PuckReading, PuckState, Sweep, judge
from firmware.devices.puck.simulated import ACTION_TAG, DEALER_TAG
from firmware.health.device_checks import SLOW_MS
from firmware.messages import Message
from firmware.runtime.config import Config
from firmware.runtime.device_tests import LASTS_S, DeviceTests, Finding
from firmware.table import CommandRefused, Phase, State, fold
from firmware.table import events as ev
from firmware.table.events import Device
from firmware.table.people import Role
from firmware.table.settings import HouseSeat, HouseSettings
from firmware.table.topics.camera import AskJob, Look
from firmware.table.topics.setup import EndTrial, NameDisk, TryDevice
from tests.firmware.running_table import Table as Process

ADA = Sender("technician:Ada", Role.TECHNICIAN, "Ada")
SEATS = HouseSettings(seats=tuple(HouseSeat(n, f"p{n}") for n in (1, 2, 3, 4)))


class Hardware:
    """A panel that only says what was asked of it."""

    def __init__(self) -> None:
        self.buttons: Any = self
        self.lamps: Any = object()
        self.buzzer: Any = self
        self.beeps: list[int] = []
        self.disks = Disks(frozenset({DEALER_TAG}))
        self.power: Callable[[], Mapping[str, bool | float | None]] = lambda: {"mains": True, "celsius": None}

    def use(self, disks: Disks) -> None:
        self.disks = disks

    def beep(self, times: int) -> None:
        self.beeps.append(times)

    def take_bounces(self) -> list[Bounce]:
        return [Bounce("next", 3, 1.5)]


@dataclass
class Table:
    """Stands where the table process stands."""

    data: Path
    now: float = 100.0
    state: State = field(default_factory=lambda: State(set_up=True, house=SEATS))
    troubles: dict[str, str | None] = field(default_factory=dict)
    written: list[tuple[ev.Event, str]] = field(default_factory=list)
    picture: dict[str, Any] | None = None
    room: int = 0
    hardware: Hardware = field(default_factory=Hardware)

    def __post_init__(self) -> None:
        self.device_tests = DeviceTests(
            self.data, self.hardware, lambda: self.now, room=lambda folder: self.room
        )

    def write(self, events: Sequence[ev.Event], actor: str) -> int:
        self.state = fold(events, self.state)
        self.written += [(event, actor) for event in events]
        return len(self.written)

    def relight(self) -> None:
        """Nothing to see."""

    def trouble_of(self, device: str) -> str | None:
        return self.troubles.get(device, "")

    def camera(self, command: Look | AskJob, sender: Sender) -> dict[str, Any]:
        if self.picture is None:
            raise CommandRefused("The camera is busy.")
        return {"ok": True, "job": 7} if isinstance(command, Look) else {"ok": True, **self.picture}

    def attempt(self, device: Device, **fields: Any) -> dict[str, Any]:
        return self.device_tests.handle(TryDevice(device=device, **fields), self, ADA)

    def press(self, *names: Any) -> None:
        for name in names:
            assert self.device_tests.takes(Press(name, self.now), self.state)

    def disk(
        self, *seats: int, state: PuckState = PuckState.SEAT, ok: Sequence[int] = (1, 2, 3, 4, 5)
    ) -> None:
        seat = seats[0] if state is PuckState.SEAT else None
        self.device_tests.puck(PuckReading(state, seat, "", frozenset(ok), self.now, seats, seats))


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def said(answer: dict[str, Any]) -> tuple[str, str]:
    return answer["verdict"], answer["why"]


def test_the_disk_is_moved_from_seat_to_seat(table: Table) -> None:
    table.disk(3)
    answer = table.attempt("puck")
    assert said(answer) == ("waits", "puck_moves")
    assert answer["figures"]["left"] == "1 2 4 5"
    table.disk(state=PuckState.NONE)
    assert said(table.attempt("puck")) == ("waits", "puck_nowhere")
    table.disk(1, 2, state=PuckState.AMBIGUOUS)
    assert said(table.attempt("puck")) == ("waits", "puck_twice")
    for seat in (1, 2, 4, 5):
        table.disk(seat)
    answer = table.attempt("puck")
    assert said(answer) == ("pass", "puck_well")
    assert (answer["figures"]["seen"], answer["figures"]["wanted"]) == (5, 5)
    assert said(table.attempt("puck", act="begin")) == ("waits", "puck_moves"), (
        "begun again: the disk lies at 5"
    )


def test_an_antenna_that_does_not_answer_fails_and_is_named(table: Table) -> None:
    table.attempt("puck")
    table.disk(1, ok=(1, 2, 4, 5))
    answer = table.attempt("puck")
    assert said(answer) == ("fail", "puck_deaf")
    assert answer["figures"]["dead"] == "3"


def test_a_reader_of_one_spot_needs_that_spot_only(table: Table) -> None:
    table.attempt("puck")
    table.disk(1, ok=(1,))
    assert said(table.attempt("puck")) == ("pass", "puck_well")


def test_a_puck_reader_that_says_nothing_fails_with_its_reason(table: Table) -> None:
    assert said(table.attempt("puck")) == ("waits", "puck_absent")
    table.troubles["puck"] = "The puck reader is not connected: plug it in."
    answer = table.attempt("puck")
    assert said(answer) == ("fail", "puck_fails")
    assert "plug it in" in answer["figures"]["says"]


def test_the_buttons_are_asked_for_one_after_another(table: Table) -> None:
    assert table.attempt("buttons")["asks"] == "next"
    assert table.device_tests.lights(table.state) == {"next": Light.BLINK}
    table.press("next")
    assert table.attempt("buttons")["asks"] == "confirm"
    table.press("next", "confirm", "reject")  # what was pressed before may be pressed again
    answer = table.attempt("buttons")
    assert said(answer) == ("pass", "buttons_well")
    assert answer["presses"] == {"next": 2, "confirm": 1, "reject": 1}, "a press that counts twice is seen"
    assert answer["bounces"][-1] == ["next", 3, 1.5]


def test_crossed_buttons_fail_until_they_are_tried_again(table: Table) -> None:
    table.attempt("buttons")
    table.press("reject")
    answer = table.attempt("buttons")
    assert said(answer) == ("fail", "buttons_crossed")
    assert (answer["figures"]["asked"], answer["figures"]["came"]) == ("next", "reject")
    assert table.attempt("buttons", act="begin")["asks"] == "next"


def test_each_lamp_is_lit_alone_and_a_person_says_what_they_see(table: Table) -> None:
    for name in LAMPS:
        assert table.attempt("lamps")["asks"] == name
        table.attempt("lamps", act="light", name=name)
        assert table.device_tests.lights(table.state) == {name: Light.ON}
        answer = table.attempt("lamps", seen=name != "fault")
        assert table.device_tests.lights(table.state) == {}
    assert said(answer) == ("fail", "lamps_dark")
    assert answer["figures"]["dark"] == "fault"
    with pytest.raises(CommandRefused, match="no such lamp"):
        table.attempt("lamps", act="light", name="sun")


def test_the_buzzer_is_rung_and_heard(table: Table) -> None:
    assert said(table.attempt("buzzer", seen=True)) == ("waits", "buzzer_ring"), "nothing has sounded yet"
    assert said(table.attempt("buzzer", act="ring")) == ("waits", "buzzer_listen")
    assert table.hardware.beeps == [3]
    assert said(table.attempt("buzzer", seen=False)) == ("fail", "buzzer_silent")
    table.attempt("buzzer", act="ring")
    assert said(table.attempt("buzzer", seen=True)) == ("pass", "buzzer_well")


@pytest.mark.parametrize(
    ("device", "why"), [("buttons", "buttons_absent"), ("lamps", "lamps_absent"), ("buzzer", "buzzer_absent")]
)
def test_what_is_not_there_fails(table: Table, device: Device, why: str) -> None:
    setattr(table.hardware, device, None)
    assert said(table.attempt(device)) == ("fail", why)


@pytest.mark.parametrize("device", get_args(Device))
def test_what_a_device_says_is_wrong_with_it_fails_its_trial(table: Table, device: Device) -> None:
    table.troubles[device] = "It is on fire."
    answer = table.attempt(device)
    if device != "clock":  # of the clock only the clock itself is believed
        assert (answer["verdict"], answer["figures"]["says"]) == ("fail", "It is on fire.")


def test_the_camera_works_once_it_has_taken_a_picture(table: Table) -> None:
    table.troubles["camera"] = None
    assert said(table.attempt("camera")) == ("waits", "camera_starts")
    table.troubles["camera"] = ""
    assert said(table.attempt("camera")) == ("waits", "camera_takes"), "it is busy"
    table.picture = {"state": "running"}
    assert said(table.attempt("camera")) == ("waits", "camera_takes")
    table.picture = {"state": "done", "result": {"size": [2304, 1296]}}
    answer = table.attempt("camera")
    assert said(answer) == ("pass", "camera_well")
    assert answer["figures"] == {"width": 2304, "height": 1296}
    table.picture = {"state": "failed", **Message("The lens cap is on.").to_json()}
    answer = table.attempt("camera", act="begin")
    assert (answer["verdict"], answer["figures"]) == ("fail", {"says": Message("The lens cap is on.")})


def test_the_disk_is_written_to_and_measured(table: Table) -> None:
    table.room = 5_000_000_000
    answer = table.attempt("disk")
    assert said(answer) == ("pass", "disk_well")
    assert answer["figures"]["free_mb"] == 5000
    assert list(table.data.iterdir()) == []
    table.room = 400_000_000
    assert said(table.attempt("disk")) == ("fail", "disk_full")


def test_a_slow_card_and_one_that_cannot_be_written_fail(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.room = 5_000_000_000
    monkeypatch.setattr("os.fsync", lambda handle: setattr(table, "now", table.now + SLOW_MS / 900))
    assert said(table.attempt("disk")) == ("fail", "disk_slow")

    def broken(handle: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.fsync", broken)
    assert said(table.attempt("disk", act="begin")) == ("fail", "disk_fails")


@pytest.mark.parametrize(
    ("files", "verdict", "why"),
    [
        ({}, "fail", "clock_alone"),
        ({"sys/class/rtc/rtc0/hctosys": "1"}, "pass", "clock_battery"),
        ({"run/systemd/timesync/synchronized": ""}, "pass", "clock_synchronised"),
    ],
)
def test_a_clock_is_worth_what_keeps_it(table: Table, files: dict[str, str], verdict: str, why: str) -> None:
    for name, text in files.items():
        (table.data / name).parent.mkdir(parents=True)
        (table.data / name).write_text(text)
    table.device_tests = DeviceTests(table.data, table.hardware, lambda: table.now, SystemClock(table.data))
    answer = table.attempt("clock")
    assert said(answer) == (verdict, why)
    assert abs(answer["figures"]["wall_ms"] / 1000 - time.time()) < 60


def test_a_power_supply_that_says_nothing_is_not_called_well(table: Table) -> None:
    assert said(table.attempt("power")) == ("pass", "power_well")
    table.hardware.power = lambda: {"mains": None}
    assert said(table.attempt("power")) == ("fail", "power_unknown")


# ---- what is kept, and the trial itself ----


def test_a_verdict_is_kept_once_it_is_one(table: Table) -> None:
    with pytest.raises(CommandRefused, match="not been tried to the end"):
        table.attempt("buttons", act="keep")
    table.press("next", "confirm", "reject")
    table.attempt("buttons", act="keep")
    event, actor = table.written[-1]
    assert event == ev.DeviceTried("buttons", "pass", "buttons_well", {"pressed": 3, "wanted": 3}, {})
    assert actor == "technician:Ada"


def test_who_goes_on_without_a_device_leaves_that_in_the_record(table: Table) -> None:
    table.attempt("buttons", act="keep", seen=False)
    event, _ = table.written[-1]
    assert isinstance(event, ev.DeviceTried)
    assert (event.verdict, event.why) == ("fail", "buttons_press_left")


def test_a_trial_ends_by_command_or_when_its_page_says_nothing_any_more(table: Table) -> None:
    table.attempt("puck")
    table.now += LASTS_S - 1
    assert not table.device_tests.is_over(table.state)
    table.now += 2
    assert table.device_tests.is_over(table.state)
    table.device_tests.handle(EndTrial(), table, ADA)
    assert [event.type for event, _ in table.written] == ["trial_begun", "trial_ended"]
    table.device_tests.handle(EndTrial(), table, ADA)
    assert len(table.written) == 2, "it was over already"


def test_no_device_is_tried_while_a_hand_is_open(table: Table) -> None:
    table.state = replace(table.state, phase=Phase.SETTING)
    with pytest.raises(CommandRefused, match="between hands"):
        table.attempt("lamps")


# ---- which tag is which disk ----


def lay(table: Table, *tags: str) -> None:
    """Lay tags at seat 2, and judge them as the reader does."""
    sweep = Sweep(frozenset((2, tag) for tag in tags), frozenset(range(1, 6)))
    table.device_tests.puck(judge(sweep, table.hardware.disks, frozenset(range(1, 6)), table.now))


def name(table: Table, tag: str, disk: Any) -> dict[str, Any]:
    return table.device_tests.handle(NameDisk(tag=tag, disk=disk), table, ADA)


def test_a_table_without_a_disk_lists_what_is_laid_down_and_names_it(table: Table) -> None:
    table.hardware.disks = Disks()
    lay(table)
    answer = table.attempt("puck")
    assert said(answer) == ("waits", "puck_diskless")
    assert answer["tags"] == []
    lay(table, DEALER_TAG, ACTION_TAG)
    answer = table.attempt("puck")
    assert said(answer) == ("waits", "puck_unnamed")
    assert answer["tags"] == [(2, ACTION_TAG, ""), (2, DEALER_TAG, "")]
    name(table, DEALER_TAG, "dealer")
    name(table, ACTION_TAG, "action")
    assert table.hardware.disks == Disks(frozenset({DEALER_TAG}), frozenset({ACTION_TAG}))
    assert [event for event, _ in table.written if isinstance(event, ev.DisksNamed)] == [
        ev.DisksNamed((DEALER_TAG,), (), (), ()),
        ev.DisksNamed((DEALER_TAG,), (ACTION_TAG,), (DEALER_TAG,), ()),
    ]
    lay(table, DEALER_TAG, ACTION_TAG)
    assert table.attempt("puck")["figures"]["at"] == "2"


def test_a_disk_that_is_lost_is_forgotten_and_one_that_is_not_read_is_not_named(table: Table) -> None:
    lay(table, ACTION_TAG)
    assert table.attempt("puck")["tags"] == [(2, ACTION_TAG, ""), (0, DEALER_TAG, "dealer")]
    name(table, DEALER_TAG, "")
    assert table.hardware.disks == Disks()
    with pytest.raises(CommandRefused, match="does not read that tag"):
        name(table, DEALER_TAG, "dealer")


def test_one_tag_is_not_both_disks(table: Table) -> None:
    lay(table, DEALER_TAG)
    table.attempt("puck")
    before = len(table.written)
    with pytest.raises(CommandRefused, match=r"cannot be both disks: forget it first, .*\.$"):
        name(table, DEALER_TAG, "action")
    assert (table.hardware.disks, len(table.written)) == (Disks(frozenset({DEALER_TAG})), before)


def test_disks_are_named_only_while_the_puck_reader_is_tried(table: Table) -> None:
    lay(table, ACTION_TAG)
    with pytest.raises(CommandRefused, match="while the puck reader is tried"):
        name(table, ACTION_TAG, "action")
    table.attempt("lamps")
    with pytest.raises(CommandRefused, match="while the puck reader is tried"):
        name(table, ACTION_TAG, "action")


def test_every_finding_is_plain_data() -> None:
    assert set(vars(Finding("pass", "x"))) == {"verdict", "why", "figures", "asks"}


# ---- on the real table process ----


@pytest.fixture
def fresh(config: Config) -> Iterator[Process]:
    process = Process(config, fresh=True)
    yield process
    process.stop()


def test_presses_at_a_fresh_box_and_while_devices_are_tried_open_no_hand(fresh: Process) -> None:
    fresh.press("next")
    fresh.do('{"do":"list_person","person":"Ada","role":"technician","new_pin":"258053"}')
    ada = '"by":"Ada","pin":"258053"'
    fresh.do(f'{{"do":"try_device","device":"buttons",{ada}}}')
    assert fresh.state.on_trial
    for name in ("next", "confirm", "reject"):
        fresh.press(name)
    answer = fresh.ask(f'{{"do":"try_device","device":"buttons","act":"keep",{ada}}}')
    assert said(answer) == ("pass", "buttons_well")
    refused = fresh.ask('{"do":"next"}')
    assert "being tried" in refused["error"]
    fresh.do(f'{{"do":"end_trial",{ada}}}', f'{{"do":"end_set_up",{ada}}}')
    assert fresh.state.phase is Phase.IDLE
    fresh.press("next")
    fresh.until_phase(Phase.DEALING)


def test_a_trial_whose_page_dies_ends_by_itself_and_is_in_the_record(
    fresh: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firmware.runtime.device_tests.LASTS_S", 0.3)
    fresh.do('{"do":"list_person","person":"Ada","role":"technician","new_pin":"258053"}')
    fresh.do('{"do":"try_device","device":"lamps","by":"Ada","pin":"258053"}')
    fresh.until(lambda state: not state.on_trial)
    assert fresh.types()[-1] == "trial_ended"


@pytest.mark.parametrize("device", ["puck", "buttons", "lamps", "buzzer"])
def test_a_device_that_the_table_has_not_by_its_configuration_is_not_asked_for(
    table: Table, device: Any
) -> None:
    table.state = replace(table.state, without=("puck", "panel"))
    table.hardware.buttons = table.hardware.lamps = table.hardware.buzzer = None
    table.troubles = {"puck": "silent", "buttons": "silent"}
    found = table.attempt(device)
    assert (found["verdict"], found["why"]) == ("pass", "not_installed")
