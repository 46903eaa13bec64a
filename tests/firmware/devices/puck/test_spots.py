"""Single readers as spots for a disk: golden frames, garbage, and a whole conversation over a pty."""

from __future__ import annotations

import os
import pty
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.devices.puck.reading import Disks, PuckReading, PuckState
from firmware.devices.puck.serial_port import SerialPuck
from firmware.devices.puck.spot_em4100 import Em4100Spot, TagFrames
from firmware.devices.puck.spot_pn532 import (
    ACK,
    FROM_CHIP,
    LIST_TWO,
    SAM_CONFIGURATION,
    TRY_TWICE,
    WAKE,
    ChipFrames,
    Pn532Spot,
    encode,
    tags_of,
)
from tests.examples import examples

if TYPE_CHECKING:
    from tests.firmware.devices.conftest import Sink

# RDM6300 and ID-12LA

GOLDEN = {
    "1F00644BB6": "86",
    "100086F444": "26",
    "000414CD7E": "A3",
    "01C8F00800": "31",
    "0C000621A5": "8E",
}
ID_20LA = bytes.fromhex("02 30 35 30 30 32 30 37 42 33 32 36 43 0D 0A 03")
LF_DISKS = Disks(frozenset({"1F00644BB6"}))
FRAME = b"\x021F00644BB686\x03"


@pytest.mark.parametrize(("tag", "check"), GOLDEN.items())
@pytest.mark.parametrize("ending", [b"\x03", b"\r\n\x03"])
def test_golden_frames_are_read(tag: str, check: str, ending: bytes) -> None:
    assert TagFrames().feed(b"\x02" + (tag + check).encode() + ending) == [tag]


def test_the_frame_of_an_id_20la_on_the_wire_is_read() -> None:
    assert TagFrames().feed(ID_20LA) == ["0500207B32"]


@pytest.mark.parametrize(
    "wire",
    [
        b"\x021F00644BB687\x03",  # wrong checksum
        b"\x021F00644BB6A9\x03",  # the checksum without the version byte would be this: 86 xor 1F = 99; neither holds
        b"\x0200000000000" + b"0\x03",  # the ghost of an empty field
        b"\x021f00644bb686\x03",
        b"\x021F00644BB6863",
    ],
)
def test_frames_that_do_not_hold_are_dropped(wire: bytes) -> None:
    assert TagFrames().feed(wire) == []


def test_frames_survive_being_cut_anywhere_and_noise_between_them() -> None:
    wire = b"\xff\x02\x02" + FRAME + b"\x00\x03" + ID_20LA
    for cut in range(len(wire)):
        frames = TagFrames()
        assert frames.feed(wire[:cut]) + frames.feed(wire[cut:]) == ["1F00644BB6", "0500207B32"]


def test_a_disk_on_an_rdm6300_is_known_after_two_readings_and_unknown_when_it_goes() -> None:
    spot = Em4100Spot(LF_DISKS, seat=3)
    spot.opened(0.0)
    assert spot.due(0.0) == b""
    spot.feed(FRAME, 0.05)
    assert spot.reading(0.05).state is PuckState.UNKNOWN
    spot.feed(FRAME, 0.1)
    reading = spot.reading(0.1)
    assert (reading.state, reading.seat) == (PuckState.SEAT, 3)
    gone = spot.reading(1.7)
    assert (gone.state, gone.seat) == (PuckState.UNKNOWN, None)
    assert "no disk lies on it" in str(gone.detail)


def test_an_id_12la_tells_once_and_is_believed_for_a_moment() -> None:
    spot = Em4100Spot(LF_DISKS, seat=3, repeats=False)
    spot.opened(0.0)
    spot.feed(b"\x021F00644BB686\r\n\x03", 0.1)
    assert spot.reading(0.1).seat == 3
    assert spot.reading(1.7).state is PuckState.UNKNOWN


def test_a_strange_tag_is_no_button_and_no_proof_that_the_disk_is_absent() -> None:
    spot = Em4100Spot(LF_DISKS, seat=3)
    spot.feed(ID_20LA * 2, 0.1)
    reading = spot.reading(0.1)
    assert (reading.state, reading.strangers) == (PuckState.UNKNOWN, ((3, "0500207B32"),))


# PN532


@pytest.mark.parametrize(
    ("data", "wire"),
    [
        (SAM_CONFIGURATION, "00 00 FF 05 FB D4 14 01 17 00 00 00"),
        (bytes.fromhex("4A 01 00"), "00 00 FF 04 FC D4 4A 01 00 E1 00"),
        (LIST_TWO, "00 00 FF 04 FC D4 4A 02 00 E0 00"),
        (TRY_TWICE, "00 00 FF 06 FA D4 32 05 FF 01 01 F4 00"),
    ],
)
def test_commands_are_framed_as_recorded(data: bytes, wire: str) -> None:
    assert encode(data) == bytes.fromhex(wire)


def test_answers_are_read_as_recorded() -> None:
    no_tag = bytes.fromhex("00 00 FF 03 FD D5 4B 00 E0 00")
    assert encode(bytes.fromhex("4B 00"), FROM_CHIP) == no_tag
    assert ChipFrames().feed(ACK + no_tag) == [b"", bytes.fromhex("4B 00")]
    assert tags_of(bytes.fromhex("4B 00")) == frozenset()


DEALER, ACTION = "04D1A2B3C4E580", "04AC71B2C3E580"
DISKS = Disks(frozenset({DEALER}), frozenset({ACTION}))


def listed(*tags: str, sel_res: str = "00", ats: str = "") -> bytes:
    targets = [
        f"{number:02X} 0044 {sel_res} {len(tag) // 2:02X} {tag} {ats}"
        for number, tag in enumerate(tags, start=1)
    ]
    return bytes.fromhex(f"4B {len(tags):02X} " + " ".join(targets))


@pytest.mark.parametrize(
    ("answer", "tags"),
    [
        (listed(DEALER), {DEALER}),
        (listed(DEALER, ACTION), {DEALER, ACTION}),
        (listed("DEADBEEF", DEALER), {"DEADBEEF", DEALER}),
        (listed(DEALER, sel_res="20", ats="05 78 80 70 02"), {DEALER}),
        (listed(DEALER)[:-1], None),
        (listed(DEALER) + b"\x00", None),
        (listed(DEALER, sel_res="20"), None),
        (listed(DEALER, ACTION, DEALER), None),
        (bytes.fromhex("4B 01 02 0044 00 04 DEADBEEF"), None),  # target 2 of 1
        (bytes.fromhex("4B"), None),
        (bytes.fromhex("41 00"), None),
    ],
)
def test_listed_targets_are_understood_or_dropped(answer: bytes, tags: set[str] | None) -> None:
    assert tags_of(answer) == tags


def test_chip_frames_survive_being_cut_anywhere_and_noise_between_them() -> None:
    answer = listed(DEALER, ACTION)
    wire = b"\xff\x00\xff\x05" + ACK + encode(answer, FROM_CHIP) + b"\x55\x00" + ACK
    assert ChipFrames().feed(wire) == [b"", answer, b""]
    for cut in range(len(wire)):
        frames = ChipFrames()
        assert frames.feed(wire[:cut]) + frames.feed(wire[cut:]) == [b"", answer, b""]


def test_a_chip_that_does_not_answer_is_woken_again_and_again() -> None:
    spot = Pn532Spot(DISKS, seat=2)
    spot.opened(0.0)
    assert spot.due(0.0) == WAKE + encode(SAM_CONFIGURATION)
    assert spot.due(0.4) == b""
    assert spot.due(0.6) == WAKE + encode(SAM_CONFIGURATION)
    assert spot.reading(5.0).state is PuckState.UNKNOWN


def test_a_chip_is_woken_configured_and_asked() -> None:
    spot = Pn532Spot(DISKS, seat=2)
    spot.opened(0.0)
    spot.due(0.0)
    spot.feed(ACK + encode(b"\x15", FROM_CHIP), 0.01)
    assert spot.due(0.01) == encode(TRY_TWICE)
    spot.feed(ACK + encode(b"\x33", FROM_CHIP), 0.02)
    for now in (0.03, 0.3):
        assert spot.due(now) == encode(LIST_TWO)
        spot.feed(ACK + encode(listed(DEALER, ACTION), FROM_CHIP), now + 0.01)
    assert spot.due(0.35) == b""
    assert (spot.reading(0.32).state, spot.reading(0.32).seat) == (PuckState.SEAT, 2)
    assert spot.due(0.5) == encode(LIST_TWO)
    assert spot.due(1.5) == WAKE + encode(SAM_CONFIGURATION)  # it fell silent
    assert spot.reading(1.9).state is PuckState.UNKNOWN


@pytest.mark.parametrize(
    ("tags", "state"),
    [((), PuckState.NONE), ((ACTION,), PuckState.NONE), ((ACTION, "DEADBEEF"), PuckState.UNKNOWN)],
)
def test_two_other_tags_may_hide_the_disk_from_a_chip_that_lists_two(
    tags: tuple[str, ...], state: PuckState
) -> None:
    spot = Pn532Spot(DISKS, seat=2)
    spot.opened(0.0)
    for now, answer in ((0.0, b"\x15"), (0.1, b"\x33"), (0.2, listed(*tags)), (0.5, listed(*tags))):
        spot.due(now)
        spot.feed(encode(answer, FROM_CHIP), now)
    assert spot.reading(0.5).state is state


def test_an_answer_that_nobody_asked_for_proves_nothing() -> None:
    spot = Pn532Spot(DISKS, seat=2)
    spot.opened(0.0)
    spot.feed(encode(listed(DEALER), FROM_CHIP) * 5, 0.1)
    assert spot.reading(0.1).state is PuckState.UNKNOWN


# both, under garbage

Make = Callable[[], "Em4100Spot | Pn532Spot"]
SPOTS: list[Make] = [lambda: Em4100Spot(LF_DISKS, 3), lambda: Pn532Spot(DISKS, 3)]


@pytest.mark.parametrize("make", SPOTS)
@examples(300)
@given(st.lists(st.binary(max_size=300), max_size=10))
def test_garbage_never_raises_and_never_finds_a_disk(make: Make, chunks: list[bytes]) -> None:
    spot = make()
    spot.opened(0.0)
    for number, chunk in enumerate(chunks):
        spot.due(number * 0.1)
        spot.feed(chunk, number * 0.1)
        assert spot.reading(number * 0.1).seat is None


@contextmanager
def far_end(answer: Callable[[bytes], bytes]) -> Iterator[str]:
    """A pty at whose far end `answer` gives what to say to what was heard."""
    master, slave = pty.openpty()
    tty.setraw(master)
    stop = threading.Event()

    def run() -> None:
        os.set_blocking(master, False)
        while not stop.wait(0.01):
            try:
                heard = os.read(master, 4096)
            except BlockingIOError:
                heard = b""
            if said := answer(heard):
                os.write(master, said)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield os.ttyname(slave)
    finally:
        stop.set()
        thread.join()
        os.close(slave)
        os.close(master)


@pytest.mark.slow
def test_a_pn532_on_a_port_is_a_puck_reader(sink: Sink[PuckReading]) -> None:
    tags: list[str] = []

    def chip(heard: bytes) -> bytes:
        for command, answer in (
            (encode(SAM_CONFIGURATION), b"\x15"),
            (encode(TRY_TWICE), b"\x33"),
            (encode(LIST_TWO), listed(*tags)),
        ):
            if command in heard:
                return ACK + encode(answer, FROM_CHIP)
        return b""

    with far_end(chip) as port:
        puck = SerialPuck(Pn532Spot(DISKS, seat=4), port)
        puck.start(sink.put)
        sink.wait(lambda reading: reading.state is PuckState.NONE)
        tags.extend((DEALER, ACTION))
        sink.wait(lambda reading: reading.seat == 4)
        tags.clear()
        sink.wait(lambda reading: reading.state is PuckState.NONE)
        puck.close()


@pytest.mark.slow
def test_an_rdm6300_on_a_port_is_a_puck_reader(sink: Sink[PuckReading]) -> None:
    is_there = threading.Event()
    is_there.set()
    with far_end(lambda heard: FRAME if is_there.is_set() else b"") as port:
        puck = SerialPuck(Em4100Spot(LF_DISKS, seat=4), port)
        puck.start(sink.put)
        sink.wait(lambda reading: reading.seat == 4)
        is_there.clear()
        sink.wait(lambda reading: reading.state is PuckState.UNKNOWN)
        puck.close()
