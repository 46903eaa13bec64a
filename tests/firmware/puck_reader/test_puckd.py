"""The reader's own program: framing, what lies where, and a conversation with the host over a pty."""

from __future__ import annotations

import os
import pty
import random
import select
import threading
import time
import tty
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.devices.puck.protocol import FrameParser, PuckLine, encode, snapshot
from firmware.devices.puck.reading import Disks, PuckReading, PuckState
from firmware.devices.puck.serial_port import SerialPuck
from firmware.puck_reader.framing import Questions, crc16, sentence, state
from firmware.puck_reader.presence import Picture
from firmware.puck_reader.puckd import Puckd, Reader, ReaderFault
from tests.waiting import DEADLINE

DEALER, ACTION = "04D1A2B3C4E580", "04AC71B2C3E580"

# framing


def test_sentences_have_the_golden_checksums() -> None:
    assert crc16(b"123456789") == 0x29B1
    assert sentence("HB", 0) == b"$HB,0*698A\r\n"
    assert sentence("HELLO", "puckd", 1, "484f535430303031") == b"$HELLO,puckd,1,484f535430303031*69D6\r\n"


@given(st.lists(st.text("ABCabc0123:+", max_size=9), max_size=5))
def test_both_ends_frame_alike(fields: list[str]) -> None:
    assert sentence("STATE", *fields) == encode("STATE", *fields)


def test_the_host_understands_a_snapshot() -> None:
    (heard,) = FrameParser().feed(state(3, 12_345_678_901, [(2, [DEALER, ACTION]), (1, [])], {1, 2}))
    shot = snapshot(heard)
    assert shot is not None
    assert shot.uptime_ms == 12_345_678_901  # four and a half months
    assert shot.sweep.tags == {(2, DEALER), (2, ACTION)}
    assert shot.sweep.readers_ok == {1, 2}


@pytest.mark.parametrize("heard", [b"?\n", b"?\r\n", b"noise\n?\n", b" ? \n", b"\x03\xff\n?\n", b"AT\r\n?\r"])
def test_a_question_is_heard(heard: bytes) -> None:
    assert Questions().feed(heard)


@pytest.mark.parametrize("heard", [b"?", b"AT\r\n", b"??\n", b"x?\n", b"\n\n", b"AT+GCAP?\r\n", b"~x\xf0~\n"])
def test_a_modem_probe_and_noise_are_no_question(heard: bytes) -> None:
    assert not Questions().feed(heard)


@given(st.lists(st.binary(max_size=80), max_size=20))
def test_noise_is_not_hoarded(chunks: list[bytes]) -> None:
    questions = Questions()
    for chunk in chunks:
        questions.feed(chunk)
        assert len(questions._line) <= 32
    assert questions.feed(b"\n?\n")


# presence


class Felt:
    """Antennas scanned in turn, 30 ms each, as the program does it."""

    def __init__(self, seats: int = 3) -> None:
        self.picture = Picture(list(range(1, seats + 1)))
        self.tags: dict[int, set[str] | None] = {seat: set() for seat in range(1, seats + 1)}
        self.now_ms = 0
        self.told: list[tuple[int, dict[int, set[str]], set[int]]] = []

    def sweep(self, times: int = 1, see: Callable[[int], set[str] | None] | None = None) -> None:
        for _ in range(times):
            for seat in sorted(self.tags):
                self.now_ms += 30
                tags = self.tags[seat] if see is None else see(seat)
                if self.picture.scanned(seat, tags, self.now_ms):
                    self.told.append((self.now_ms, self.seen(), set(self.picture.ok)))

    def seen(self) -> dict[int, set[str]]:
        return {seat: set(tags) for seat, tags in self.picture.tags if tags}


def test_a_disk_that_is_laid_is_told_once_within_a_second() -> None:
    felt = Felt()
    felt.sweep(10)
    assert felt.picture.ok == {1, 2, 3}
    laid_at = felt.now_ms
    felt.tags[2] = {DEALER, ACTION}
    felt.sweep(20)
    told = [entry for entry in felt.told if entry[0] > laid_at]
    assert [tags for _, tags, _ in told] == [{2: {DEALER, ACTION}}]
    assert told[0][0] - laid_at <= 1000


def test_a_single_sighting_is_nothing() -> None:
    felt = Felt()
    felt.sweep(10)
    felt.tags[2] = {DEALER}
    felt.sweep(1)
    felt.tags[2] = set()
    felt.sweep(20)
    assert all(not tags for _, tags, _ in felt.told)


def test_a_disk_that_is_missed_now_and_then_stays() -> None:
    felt = Felt()
    felt.tags[2] = {DEALER}
    felt.sweep(20)
    told = len(felt.told)
    rng = random.Random(1)
    misses = 0

    def sometimes(seat: int) -> set[str]:
        nonlocal misses
        if seat != 2:
            return set()
        misses = misses + 1 if rng.random() < 0.5 and misses < 4 else 0
        return {DEALER} if misses == 0 else set()

    felt.sweep(200, sometimes)
    assert len(felt.told) == told
    assert felt.seen() == {2: {DEALER}}


def test_a_moved_disk_is_never_told_at_two_seats() -> None:
    felt = Felt(5)
    felt.tags[2] = {DEALER, ACTION}
    felt.sweep(20)
    felt.tags[2] = set()
    felt.sweep(1)  # in the air
    felt.tags[4] = {DEALER, ACTION}
    moved_at = felt.now_ms
    felt.sweep(20)
    after = [entry for entry in felt.told if entry[0] > moved_at]
    assert [tags for _, tags, _ in after] == [{4: {DEALER, ACTION}}]
    assert after[0][0] - moved_at < 1500


def test_a_copied_tag_at_two_seats_is_told_as_it_is() -> None:
    felt = Felt()
    felt.tags.update({1: {DEALER}, 3: {DEALER}})
    felt.sweep(20)
    assert felt.seen() == {1: {DEALER}, 3: {DEALER}}


def test_a_lifted_disk_is_gone_after_five_misses() -> None:
    felt = Felt()
    felt.tags[2] = {DEALER}
    felt.sweep(20)
    lifted_at = felt.now_ms
    felt.tags[2] = set()
    felt.sweep(20)
    assert felt.seen() == {}
    assert 5 * 90 <= felt.told[-1][0] - lifted_at <= 1000


def test_a_dead_antenna_is_told_at_once_and_what_it_knew_is_forgotten() -> None:
    felt = Felt()
    felt.tags[2] = {DEALER}
    felt.sweep(20)
    felt.tags[2] = None
    died_at = felt.now_ms
    felt.sweep(2)
    assert felt.picture.ok == {1, 2, 3}  # a scan or two may fail
    felt.sweep(1)
    assert (felt.seen(), felt.picture.ok) == ({}, {1, 3})
    assert felt.now_ms - died_at < 300
    felt.tags[2] = {DEALER}
    felt.sweep(20)
    assert (felt.seen(), felt.picture.ok) == ({2: {DEALER}}, {1, 2, 3})


# the program


class Antenna(Reader):
    """An antenna whose tags are laid by the test."""

    def __init__(self) -> None:
        self.tags: set[str] | None = set()

    def scan(self) -> set[str]:
        if self.tags is None:
            raise ReaderFault("dead")
        return set(self.tags)


def test_it_says_hello_at_the_start_and_when_asked_and_a_snapshot_twice_a_second() -> None:
    puckd = Puckd({seat: Antenna() for seat in (1, 2)}, "0a0b")
    said = b"".join(puckd.turn(now, b"") for now in range(0, 3000, 20))
    kinds = [heard.kind for heard in FrameParser().feed(said)]
    assert kinds.count("HELLO") == 1
    assert kinds.count("HB") == 3
    assert 6 <= kinds.count("STATE") <= 8
    asked = puckd.turn(3000, b"AT\r\n?\n") + puckd.turn(3020, b"")
    assert {"HELLO", "STATE"} <= {heard.kind for heard in FrameParser().feed(asked)}


def test_a_snapshot_carries_a_new_time_whenever_the_antennas_were_swept_again() -> None:
    puckd = Puckd({seat: Antenna() for seat in (1, 2, 3)}, "0a0b")
    said = b"".join(puckd.turn(now, b"?\n") for now in range(0, 3000, 25))
    shots = [snapshot(heard) for heard in FrameParser().feed(said) if heard.kind == "STATE"]
    uptimes = [shot.uptime_ms for shot in shots if shot]
    assert len(uptimes) == len(shots)
    assert uptimes == sorted(set(uptimes))


@pytest.fixture
def table() -> Iterator[tuple[dict[int, Antenna], str]]:
    """The program on a pty, and the antennas that it sweeps."""
    antennas = {seat: Antenna() for seat in range(1, 6)}
    master, slave = pty.openpty()
    tty.setraw(master)
    stop = threading.Event()

    def run() -> None:
        readers: dict[int, Reader] = dict(antennas)
        puckd, began = Puckd(readers, "e660443043192a2f"), time.monotonic()
        while not stop.wait(0.005):
            heard = os.read(master, 64) if select.select([master], [], [], 0)[0] else b""
            if said := puckd.turn(int((time.monotonic() - began) * 1000), heard):
                os.write(master, said)

    thread = threading.Thread(target=run)
    thread.start()
    yield antennas, os.ttyname(slave)
    stop.set()
    thread.join()
    os.close(slave)
    os.close(master)


@pytest.mark.slow
def test_the_host_follows_the_program_over_its_line(table: tuple[dict[int, Antenna], str]) -> None:
    antennas, port = table
    got: list[PuckReading] = []
    more = threading.Condition()

    def put(reading: PuckReading) -> None:
        with more:
            got.append(reading)
            more.notify_all()

    def wait(wanted: Callable[[PuckReading], bool]) -> None:
        with more:
            assert more.wait_for(lambda: bool(got) and wanted(got[-1]), timeout=DEADLINE), got[-3:]

    link = PuckLine(Disks(frozenset({DEALER}), frozenset({ACTION})), range(1, 6))
    host = SerialPuck(link, port)
    host.start(put)
    try:
        wait(lambda reading: reading.state is PuckState.NONE)
        antennas[2].tags = {DEALER, ACTION}
        wait(lambda reading: reading.seat == 2)
        antennas[2].tags, antennas[5].tags = set(), {DEALER, ACTION}
        wait(lambda reading: reading.seat == 5)
        assert PuckState.AMBIGUOUS not in {reading.state for reading in got}
        antennas[5].tags = None
        wait(lambda reading: reading.state is PuckState.UNKNOWN and reading.readers_ok == {1, 2, 3, 4})
    finally:
        host.close()
