"""The whole program under a real MicroPython: its own main.py, chips on its bus, the host at the other end of a pty.

Debian trixie's `micropython` is put into build/ by `make micropython`; without one these tests are skipped.
"""

from __future__ import annotations

import os
import pty
import subprocess
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from firmware.devices.puck.protocol import PuckLine
from firmware.devices.puck.reading import Disks, PuckReading, PuckState
from firmware.devices.puck.serial_port import SerialPuck
from firmware.puck_reader import config
from tests.firmware.devices.conftest import Sink
from tests.firmware.puck_reader.chips import Bus, Chip, Pn532Chip, Rc522Chip, Tag
from tests.tools import MICROPYTHON, MICROPYTHON_PROGRAM, need

HERE = Path(__file__).parent
DEALER, ACTION = "04D1A2B3C4E580", "04AC71B2C3E580"
DISKS = Disks(frozenset({DEALER}), frozenset({ACTION}))


@pytest.fixture(scope="session")
def micropython() -> str:
    """The interpreter: FELTWATCH_MICROPYTHON, or what `make micropython` made, or the system's."""
    need(MICROPYTHON)
    return MICROPYTHON_PROGRAM


class Board:
    """The RP2040: MicroPython with our program, five antennas on its bus, and a USB line that can be pulled."""

    def __init__(self, micropython: str, room: Path, kind: str) -> None:
        self._command = [micropython, str(HERE / "on_micropython/start.py"), kind]
        self._link = room / "feltwatch-puck"
        self._kind: type[Chip] = {"rc522": Rc522Chip, "pn532": Pn532Chip}[kind]
        self.disks = [Tag(bytes.fromhex(DEALER)), Tag(bytes.fromhex(ACTION))]
        self.chips: dict[int, Chip] = {}
        self.bus = Bus()
        self.fed = 0
        self._master = self._slave = -1  # held open: on USB nobody listening is not an error
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> str:
        return str(self._link)

    def plug(self) -> None:
        """Power: everything starts again."""
        self.chips = {seat: self._kind() for seat in config.ANTENNAS}
        self.bus = Bus(*self.chips.values())
        self._master, self._slave = pty.openpty()
        tty.setraw(self._master)
        (theirs_in, answer), (said, theirs_out) = os.pipe(), os.pipe()
        path = f"{HERE / 'on_micropython'}:{HERE.parents[2] / 'firmware'}"
        self._process = subprocess.Popen(
            self._command,
            stdin=self._master,
            stdout=self._master,
            pass_fds=(theirs_in, theirs_out),
            env={"MICROPYPATH": path, "FELTWATCH_BUS": f"{theirs_in} {theirs_out}"},
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._thread = threading.Thread(target=self._serve, args=(said, answer))
        self._thread.start()
        self._link.symlink_to(os.ttyname(self._slave))

    def unplug(self) -> None:
        """No power, no port."""
        if self._process is None:
            return
        self._link.unlink()
        self._process.kill()
        self._process.wait()
        self._process = None
        os.close(self._master)
        os.close(self._slave)
        assert self._thread is not None
        self._thread.join(10)
        assert not self._thread.is_alive()

    def lay(self, seat: int | None) -> None:
        """Both disks at this seat, or at none."""
        for at, chip in self.chips.items():
            chip.tags = list(self.disks) if at == seat else []

    def _serve(self, said_by: int, answer_to: int) -> None:
        pins = {
            number: pin
            for seat, (select, reset) in config.ANTENNAS.items()
            for number, pin in ((select, self.chips[seat].select), (reset, self.chips[seat].reset))
        }
        with os.fdopen(said_by, "rb") as said, os.fdopen(answer_to, "wb", 0) as answer:
            while what := said.read(1):
                match what:
                    case b"P":
                        number, level = said.read(2)
                        pins[number].value(level)
                    case b"X":
                        out = said.read(said.read(1)[0])
                        into = bytearray(len(out))
                        self.bus.write_readinto(out, into)
                        with suppress(BrokenPipeError):
                            answer.write(into)
                    case b"W":
                        said.read(1)
                    case b"F":
                        self.fed += 1


@pytest.fixture
def sink() -> Sink[PuckReading]:
    return Sink()


@pytest.fixture(params=["rc522", "pn532"])
def board(request: pytest.FixtureRequest, micropython: str, tmp_path: Path) -> Iterator[Board]:
    made = Board(micropython, tmp_path, request.param)
    made.plug()
    yield made
    made.unplug()


@pytest.fixture
def host(board: Board, sink: Sink[PuckReading]) -> Iterator[SerialPuck]:
    puck = SerialPuck(PuckLine(DISKS, config.ANTENNAS), board.port)
    puck.start(sink.put)
    yield puck
    puck.close()


def at_seat(seat: int | None) -> Callable[[PuckReading], bool]:
    return lambda reading: reading.seat == seat and reading.state in (PuckState.SEAT, PuckState.NONE)


@pytest.mark.slow
@pytest.mark.usefixtures("host")
def test_the_host_follows_the_disks_over_micropython(board: Board, sink: Sink[PuckReading]) -> None:
    sink.wait(at_seat(None))
    assert sink.got[-1].readers_ok == set(config.ANTENNAS)
    for seat in (2, 5, None, 1):
        board.lay(seat)
        sink.wait(at_seat(seat))
    assert PuckState.AMBIGUOUS not in {reading.state for reading in sink.got}
    assert board.bus.fields_seen
    assert board.fed

    board.chips[3].fault = "absent"
    sink.wait(lambda reading: 3 not in reading.readers_ok)
    board.chips[3].fault = ""
    sink.wait(lambda reading: 3 in reading.readers_ok)


@pytest.mark.slow
@pytest.mark.usefixtures("host")
def test_it_comes_back_when_it_is_plugged_in_again(board: Board, sink: Sink[PuckReading]) -> None:
    board.lay(4)
    sink.wait(at_seat(4))
    board.unplug()
    sink.wait(lambda reading: reading.state is PuckState.UNKNOWN)
    board.plug()
    board.lay(2)
    sink.wait(at_seat(2))


@pytest.mark.slow
def test_a_modem_probe_a_ctrl_c_and_noise_change_nothing(board: Board, sink: Sink[PuckReading]) -> None:
    with open(board.port, "wb", 0) as line:  # noqa: PTH123
        for probe in (
            b"AT\r\nAT+GCAP\r\n",
            b"\x03\x03",
            b"~x\x00\x78\xf0~\r\n",
            os.urandom(500),
            b"\x04\x01",
        ):
            line.write(probe)
            time.sleep(0.05)  # as a probing program does, which waits for an answer
    puck = SerialPuck(PuckLine(DISKS, config.ANTENNAS), board.port)
    puck.start(sink.put)
    try:
        board.lay(3)
        sink.wait(at_seat(3))
    finally:
        puck.close()
