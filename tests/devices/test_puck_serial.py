"""The puck reader on a real serial port object over a pty: plugged, pulled, frozen, babbling."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
import serial

from firmware.devices.puck import PuckReading, PuckState
from firmware.devices.puck_line import PuckLine, encode
from firmware.devices.puck_serial import SerialPuck
from firmware.devices.simulated.puck import ACTION_TAG, DEALER_TAG, SimulatedPuck
from tests.patience import is_busy

if TYPE_CHECKING:
    from tests.devices.conftest import Sink

SEATS = range(1, 6)


@pytest.fixture
def reader() -> Iterator[SimulatedPuck]:
    with SimulatedPuck(SEATS) as simulated:
        yield simulated


@pytest.fixture
def host(reader: SimulatedPuck, sink: Sink[PuckReading]) -> Iterator[SerialPuck]:
    puck = SerialPuck(PuckLine(reader.disks, SEATS), reader.port)
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
        sink.wait(in_state(PuckState.NONE), within=2)
        assert sink.got[0].state is PuckState.UNKNOWN

    def test_a_moved_puck_is_followed_within_a_second(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        reader.move_to(1)
        sink.wait(at_seat(1), within=2)
        for seat in (2, 5, 3):
            reader.move_to(seat)
            sink.wait(at_seat(seat), within=1)
        reader.lift()
        sink.wait(in_state(PuckState.NONE), within=1)

    def test_two_disks_apart_a_copy_and_a_dead_antenna_are_each_shown(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        reader.lay(DEALER_TAG, 2)
        reader.lay(ACTION_TAG, 3)
        sink.wait(in_state(PuckState.APART), within=2)
        reader.lay(DEALER_TAG, 4)
        sink.wait(in_state(PuckState.AMBIGUOUS), within=1)
        reader.lift()
        reader.break_antenna(3)
        assert sink.wait(in_state(PuckState.UNKNOWN), within=1).readers_ok == {1, 2, 4, 5}
        reader.mend_antenna(3)
        sink.wait(in_state(PuckState.NONE), within=1)

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
    def test_unplugged_in_any_state_it_is_unknown_at_once_and_back_within_two_seconds(
        self, reader: SimulatedPuck, sink: Sink[PuckReading], moment: str
    ) -> None:
        reader.move_to(4)
        sink.wait(at_seat(4), within=2)
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
        gone = sink.wait(in_state(PuckState.UNKNOWN), within=1)
        assert gone.seat is None
        time.sleep(0.7)  # long enough for the host's patience to grow
        assert "not connected" in sink.got[-1].detail
        reader.lift()
        reader.move_to(5)
        reader.mend_antenna(4)
        reader.replug()
        sink.wait(at_seat(5), within=2)

    def test_a_cable_pulled_and_put_back_again_and_again_never_wears_out(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        for seat in (1, 2, 3, 4):
            reader.unplug()
            reader.move_to(seat)
            reader.replug()
            sink.wait(at_seat(seat), within=2)

    def test_a_frozen_reader_is_unknown_after_a_second_and_a_half_and_comes_back(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        reader.move_to(2)
        sink.wait(at_seat(2), within=2)
        reader.freeze()
        sink.wait(in_state(PuckState.UNKNOWN), within=1.5 + 0.7)
        reader.move_to(3)
        reader.thaw()
        sink.wait(at_seat(3), within=2)
        assert 2 not in [reading.seat for reading in sink.got[-2:]]

    def test_a_reader_that_sticks_is_unknown_although_it_talks(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        reader.move_to(2)
        sink.wait(at_seat(2), within=2)
        reader.stick()
        reader.move_to(3)
        sink.wait(in_state(PuckState.UNKNOWN), within=1.5 + 0.7)
        reader.thaw()
        sink.wait(at_seat(3), within=2)

    def test_babble_moves_nothing(self, reader: SimulatedPuck, sink: Sink[PuckReading]) -> None:
        reader.move_to(2)
        sink.wait(at_seat(2), within=2)
        heard = len(sink.got)
        for _ in range(20):
            reader.babble(os.urandom(200))
            reader.babble(encode("STATE", 1, 2, "3:")[:-4])
            reader.babble(b"AT\r\nAT+CGMI\r\n$$$***\r\n")
            time.sleep(0.05)
        moved = {reading.seat for reading in sink.got[heard:]}
        assert moved <= ({2, None} if is_busy() else set())  # a machine that stops for a second knows nothing

    def test_a_modem_manager_that_probes_the_line_and_reads_its_answers_moves_nothing(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        reader.move_to(2)
        sink.wait(at_seat(2), within=2)
        heard = len(sink.got)
        line = os.open(reader.port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)  # it cares for no lock
        try:
            for probe in (b"AT\r\n", b"AT+GCAP\r\n", b"ATI\r\n", b"AT+CGMI\r\n") * 3:
                os.write(line, probe)
                time.sleep(0.05)
                with suppress(BlockingIOError):
                    os.read(line, 40)  # takes half a sentence away from the host
        finally:
            os.close(line)
        sink.wait(at_seat(2), within=2)
        assert {reading.seat for reading in sink.got[heard:]} <= {2, None}

    def test_other_firmware_is_a_fault_until_ours_is_plugged_in(
        self, reader: SimulatedPuck, sink: Sink[PuckReading]
    ) -> None:
        reader.carry_version("9")
        reader.replug()
        assert "version 9" in sink.wait(in_state(PuckState.FAULT), within=2).detail
        reader.carry_version("1")
        reader.replug()
        sink.wait(in_state(PuckState.NONE), within=2)

    def test_the_same_is_not_told_twice(self, reader: SimulatedPuck, sink: Sink[PuckReading]) -> None:
        reader.move_to(2)
        sink.wait(at_seat(2), within=2)
        time.sleep(1.2)
        assert all(not after.same_as(before) for before, after in zip(sink.got, sink.got[1:], strict=False))


def test_an_absent_reader_is_a_reading_and_is_waited_for(
    reader: SimulatedPuck, sink: Sink[PuckReading]
) -> None:
    reader.unplug()
    host = SerialPuck(PuckLine(reader.disks, SEATS), reader.port)
    host.start(sink.put)
    try:
        reading = sink.wait(in_state(PuckState.UNKNOWN), within=1)
        assert "plug it in" in reading.detail
        reader.move_to(3)
        reader.replug()
        sink.wait(at_seat(3), within=2)
    finally:
        host.close()


def test_a_port_held_by_another_program_is_named_and_taken_when_it_is_free(
    reader: SimulatedPuck, sink: Sink[PuckReading]
) -> None:
    other = serial.Serial(reader.port, exclusive=True)
    host = SerialPuck(PuckLine(reader.disks, SEATS), reader.port)
    host.start(sink.put)
    try:
        assert "Another program" in sink.wait(in_state(PuckState.UNKNOWN), within=1).detail
        other.close()
        sink.wait(in_state(PuckState.NONE), within=2)
    finally:
        other.close()
        host.close()


def test_what_piled_up_while_the_program_was_held_up_is_thrown_away(
    reader: SimulatedPuck, sink: Sink[PuckReading]
) -> None:
    """The thread is held up inside `put`, as a stopped process would be, while the puck moves on."""
    go_on = threading.Event()
    holding = threading.Event()

    def slow_put(reading: PuckReading) -> None:
        sink.put(reading)
        if reading.seat == 2 and not go_on.is_set():
            holding.set()
            go_on.wait(10)

    host = SerialPuck(PuckLine(reader.disks, SEATS), reader.port)
    reader.move_to(2)
    host.start(slow_put)
    try:
        assert holding.wait(3)
        time.sleep(1.3)
        heard = len(sink.got)
        reader.move_to(5)
        go_on.set()
        sink.wait(at_seat(5), within=2)
        told = [reading.seat for reading in sink.got[heard:]]
        assert told == [None, 5] or (is_busy() and 2 not in told)
    finally:
        go_on.set()
        host.close()


def test_after_close_nothing_is_put_and_the_port_is_free(
    reader: SimulatedPuck, sink: Sink[PuckReading]
) -> None:
    host = SerialPuck(PuckLine(reader.disks, SEATS), reader.port)
    host.start(sink.put)
    sink.wait(in_state(PuckState.NONE), within=2)
    host.close()
    host.close()
    heard = len(sink.got)
    reader.move_to(2)
    time.sleep(0.3)
    assert len(sink.got) == heard
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
        sink.wait(in_state(PuckState.NONE), within=3)
        assert any("starts over" in reading.detail for reading in sink.got)
    finally:
        host.close()


def test_a_reader_that_says_nothing_is_opened_anew_and_named_silent_only_once(
    reader: SimulatedPuck, sink: Sink[PuckReading], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firmware.devices.puck_serial.SILENT_TOO_LONG", 0.3)
    reader.freeze()
    host = SerialPuck(PuckLine(reader.disks, SEATS), reader.port)
    host.start(sink.put)
    try:
        sink.wait(lambda reading: "does not tell" in reading.detail, within=3)
        time.sleep(1.2)
        assert {reading.state for reading in sink.got} == {PuckState.UNKNOWN}
        assert [reading.detail.partition(":")[0] for reading in sink.got] == [
            "The puck reader is connected and starting.",
            "The puck reader is connected but does not tell where the button lies",
        ]
        reader.thaw()
        sink.wait(in_state(PuckState.NONE), within=2)
    finally:
        host.close()
