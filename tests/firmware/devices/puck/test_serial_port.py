"""The puck reader on a real serial port object over a pty: plugged, pulled, frozen, babbling."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import serial

from firmware.devices.puck.protocol import PuckLine, encode
from firmware.devices.puck.reading import PuckReading, PuckState
from firmware.devices.puck.serial_port import SerialPuck
from firmware.devices.puck.simulated import ACTION_TAG, DEALER_TAG, SimulatedPuck
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from tests.firmware.devices.conftest import Sink

SEATS = range(1, 6)


@pytest.fixture
def reader() -> Iterator[SimulatedPuck]:
    with SimulatedPuck(SEATS) as simulated:
        yield simulated


class HeldClock:
    """The monotonic clock, until it is held: from then on only the test lets time pass."""

    def __init__(self) -> None:
        self._held: float | None = None

    def __call__(self) -> float:
        return time.monotonic() if self._held is None else self._held

    def hold(self) -> None:
        self._held = time.monotonic()

    def let_pass(self, seconds: float) -> None:
        assert self._held is not None
        self._held += seconds


class CountedLine(PuckLine):
    """Counts how often the port was opened, and how often the reader was heard."""

    def __init__(self, reader: SimulatedPuck) -> None:
        self.openings = self.heard = 0
        super().__init__(reader.disks, SEATS)

    def opened(self, now: float) -> None:
        self.openings += 1
        super().opened(now)

    def feed(self, data: bytes, now: float) -> bool:
        alive = super().feed(data, now)
        self.heard += alive
        return alive


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def link(reader: SimulatedPuck) -> CountedLine:
    return CountedLine(reader)


@pytest.fixture
def host(
    reader: SimulatedPuck, link: CountedLine, clock: HeldClock, sink: Sink[PuckReading]
) -> Iterator[SerialPuck]:
    puck = SerialPuck(link, reader.port, clock)
    puck.start(sink.put)
    yield puck
    puck.close()


def at_seat(seat: int) -> Callable[[PuckReading], bool]:
    return lambda reading: reading.state is PuckState.SEAT and reading.seat == seat


def in_state(state: PuckState) -> Callable[[PuckReading], bool]:
    return lambda reading: reading.state is state


@pytest.mark.usefixtures("host")
class TestAPluggedReader:
    def test_it_is_heard_soon_and_tells_that_nothing_lies(self, sink: Sink[PuckReading]) -> None:
        sink.wait(in_state(PuckState.NONE))
        assert sink.got[0].state is PuckState.UNKNOWN

    def test_a_moved_puck_is_followed(self, reader: SimulatedPuck, sink: Sink[PuckReading]) -> None:
        reader.move_to(1)
        sink.wait(at_seat(1))
        for seat in (2, 5, 3):
            reader.move_to(seat)
            sink.wait(at_seat(seat))
        reader.lift()
        sink.wait(in_state(PuckState.NONE))

    def test_two_disks_apart_a_copy_and_a_dead_antenna_are_each_shown(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        reader.lay(DEALER_TAG, 2)
        reader.lay(ACTION_TAG, 3)
        sink.wait(in_state(PuckState.APART))
        reader.lay(DEALER_TAG, 4)
        sink.wait(in_state(PuckState.AMBIGUOUS))
        reader.lift()
        reader.break_antenna(3)
        assert sink.wait(in_state(PuckState.UNKNOWN)).readers_ok == {1, 2, 4, 5}
        reader.mend_antenna(3)
        sink.wait(in_state(PuckState.NONE))

    @pytest.mark.parametrize(
        "moment",
        [
            "known",
            "lifted",
            "frozen",
            "babbling",
            "just plugged",
            "stuck",
            "apart",
            "a copy",
            "an antenna dead",
        ],
    )
    def test_unplugged_in_any_state_it_is_unknown_and_known_again_once_it_is_back(
        self, reader: SimulatedPuck, sink: Sink[PuckReading], moment: str
    ) -> None:
        reader.move_to(4)
        sink.wait(at_seat(4))
        match moment:
            case "lifted":
                reader.lift()
            case "frozen":
                reader.freeze()
            case "babbling":
                reader.babble(os.urandom(300))
            case "just plugged":
                reader.replug()
            case "stuck":
                reader.stick()
            case "apart":
                reader.lay(ACTION_TAG, 1)
            case "a copy":
                reader.lay(DEALER_TAG, 1)
            case "an antenna dead":
                reader.break_antenna(4)
        reader.unplug()
        gone = sink.wait(in_state(PuckState.UNKNOWN))
        assert gone.seat is None
        sink.wait(lambda reading: "not connected" in str(reading.detail))
        reader.lift()
        reader.move_to(5)
        reader.mend_antenna(4)
        reader.replug()
        sink.wait(at_seat(5))

    def test_a_cable_pulled_and_put_back_again_and_again_never_wears_out(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        for seat in (1, 2, 3, 4):
            reader.unplug()
            reader.move_to(seat)
            reader.replug()
            sink.wait(at_seat(seat))

    def test_a_frozen_reader_is_unknown_and_comes_back(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        reader.move_to(2)
        sink.wait(at_seat(2))
        reader.freeze()
        sink.wait(in_state(PuckState.UNKNOWN))
        reader.move_to(3)
        reader.thaw()
        sink.wait(at_seat(3))
        assert 2 not in [reading.seat for reading in sink.got[-2:]]

    def test_a_reader_that_sticks_is_unknown_although_it_talks(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        reader.move_to(2)
        sink.wait(at_seat(2))
        reader.stick()
        reader.move_to(3)
        sink.wait(in_state(PuckState.UNKNOWN))
        reader.thaw()
        sink.wait(at_seat(3))

    def test_babble_moves_nothing(
        self, reader: SimulatedPuck, clock: HeldClock, sink: Sink[PuckReading]
    ) -> None:
        reader.move_to(2)
        sink.wait(at_seat(2))
        clock.hold()
        told = len(sink.got)
        for _ in range(20):
            reader.babble(os.urandom(200))
            reader.babble(encode("STATE", 1, 2, "3:")[:-4])
            reader.babble(b"AT\r\nAT+CGMI\r\n$$$***\r\n")
        reader.move_to(3)
        sink.wait(at_seat(3))
        assert [reading.seat for reading in sink.got[told:]] == [3]

    def test_a_modem_manager_that_probes_the_line_and_reads_its_answers_moves_nothing(
        self, reader: SimulatedPuck, clock: HeldClock, sink: Sink[PuckReading]
    ) -> None:
        reader.move_to(2)
        sink.wait(at_seat(2))
        clock.hold()
        told = len(sink.got)
        line = os.open(reader.port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)  # it cares for no lock
        try:
            for probe in (b"AT\r\n", b"AT+GCAP\r\n", b"ATI\r\n", b"AT+CGMI\r\n") * 3:
                os.write(line, probe)
                if select.select([line], [], [], 0.05)[0]:
                    with suppress(BlockingIOError):  # the host was quicker
                        os.read(line, 40)  # takes half a sentence away from the host
        finally:
            os.close(line)
        reader.move_to(3)
        sink.wait(at_seat(3))
        seats = [reading.seat for reading in sink.got[told:]]
        assert [seat for seat in seats if seat is not None] == [3], "nothing, or the truth"

    def test_other_firmware_is_a_fault_until_ours_is_plugged_in(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        reader.carry_version("9")
        reader.replug()
        assert "version 9" in str(sink.wait(in_state(PuckState.FAULT)).detail)
        reader.carry_version("1")
        reader.replug()
        sink.wait(in_state(PuckState.NONE))

    def test_the_same_is_not_told_twice(
        self, reader: SimulatedPuck, link: CountedLine, sink: Sink[PuckReading]
    ) -> None:
        reader.move_to(2)
        sink.wait(at_seat(2))
        heard = link.heard
        until(lambda: link.heard >= heard + 3)
        assert all(not after.same_as(before) for before, after in zip(sink.got, sink.got[1:], strict=False))


def test_an_absent_reader_is_a_reading_and_is_waited_for(
    reader: SimulatedPuck, sink: Sink[PuckReading]
) -> None:
    reader.unplug()
    host = SerialPuck(PuckLine(reader.disks, SEATS), reader.port)
    host.start(sink.put)
    try:
        reading = sink.wait(in_state(PuckState.UNKNOWN))
        assert "plug it in" in str(reading.detail)
        reader.move_to(3)
        reader.replug()
        sink.wait(at_seat(3))
    finally:
        host.close()


def test_a_port_that_is_gone_is_tried_again_at_least_every_0_8_seconds(
    tmp_path: Path, sink: Sink[PuckReading]
) -> None:
    """So a reader that is plugged in again is back within two seconds."""
    waits: list[float | None] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout)
            return super().wait(0)

    host = SerialPuck(PuckLine(SimulatedPuck.disks, SEATS), str(tmp_path / "gone"), clock=lambda: 0.0)
    host._stop = Stop()
    host.start(sink.put)
    until(lambda: len(waits) >= 6)
    host.close()
    assert waits[:6] == [0.2, 0.4, 0.8, 0.8, 0.8, 0.8]


def test_a_port_held_by_another_program_is_named_and_taken_when_it_is_free(
    reader: SimulatedPuck, sink: Sink[PuckReading]
) -> None:
    other = serial.Serial(reader.port, exclusive=True)
    host = SerialPuck(PuckLine(reader.disks, SEATS), reader.port)
    host.start(sink.put)
    try:
        assert "Another program" in str(sink.wait(in_state(PuckState.UNKNOWN)).detail)
        other.close()
        sink.wait(in_state(PuckState.NONE))
    finally:
        other.close()
        host.close()


def test_what_piled_up_while_the_program_was_held_up_is_thrown_away(
    reader: SimulatedPuck, clock: HeldClock, sink: Sink[PuckReading]
) -> None:
    """The thread is held up inside `put`, as a stopped process would be, while the puck moves on."""
    go_on = threading.Event()
    holding = threading.Event()

    def slow_put(reading: PuckReading) -> None:
        sink.put(reading)
        if reading.seat == 2 and not go_on.is_set():
            holding.set()
            go_on.wait(DEADLINE)

    clock.hold()
    host = SerialPuck(PuckLine(reader.disks, SEATS), reader.port, clock)
    reader.move_to(2)
    host.start(slow_put)
    try:
        assert holding.wait(DEADLINE)
        piled = reader.snapshots
        until(lambda: reader.snapshots >= piled + 2)
        clock.let_pass(1.3)
        told = len(sink.got)
        reader.move_to(5)
        go_on.set()
        sink.wait(at_seat(5))
        assert [reading.seat for reading in sink.got[told:]] == [None, 5]
    finally:
        go_on.set()
        host.close()


def test_after_close_nothing_is_put_and_the_port_is_free(
    reader: SimulatedPuck, sink: Sink[PuckReading]
) -> None:
    host = SerialPuck(PuckLine(reader.disks, SEATS), reader.port)
    host.start(sink.put)
    sink.wait(in_state(PuckState.NONE))
    host.close()
    host.close()
    assert host._thread is not None
    assert not host._thread.is_alive(), "nobody is left to put anything"
    serial.Serial(reader.port, exclusive=True).close()


def test_a_fault_of_our_own_is_survived(
    reader: SimulatedPuck, sink: Sink[PuckReading], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = PuckLine(reader.disks, SEATS)
    feed, failed = link.feed, threading.Event()

    def failing_once(data: bytes, now: float) -> bool:
        if not failed.is_set():
            failed.set()
            raise ZeroDivisionError
        return feed(data, now)

    monkeypatch.setattr(link, "feed", failing_once)
    host = SerialPuck(link, reader.port)
    host.start(sink.put)
    try:
        sink.wait(in_state(PuckState.NONE))
        assert any("starts over" in str(reading.detail) for reading in sink.got)
    finally:
        host.close()


def test_a_reader_that_says_nothing_is_opened_anew_and_named_silent_only_once(
    reader: SimulatedPuck, sink: Sink[PuckReading], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firmware.devices.puck.serial_port.SILENT_TOO_LONG", 0.3)
    reader.freeze()
    link = CountedLine(reader)
    host = SerialPuck(link, reader.port)
    host.start(sink.put)
    try:
        sink.wait(lambda reading: "does not tell" in str(reading.detail))
        until(lambda: link.openings >= 4)
        assert {reading.state for reading in sink.got} == {PuckState.UNKNOWN}
        assert [str(reading.detail).partition(":")[0] for reading in sink.got] == [
            "The puck reader is connected and starting.",
            "The puck reader is connected but does not tell where the puck lies",
        ]
        reader.thaw()
        sink.wait(in_state(PuckState.NONE))
    finally:
        host.close()
