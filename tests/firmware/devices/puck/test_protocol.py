"""The puck reader's line protocol: golden vectors, garbage, and no wrong seat whatever comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.devices.puck.protocol import (
    ASK,
    LONGEST,
    Frame,
    FrameParser,
    PuckLine,
    checksum,
    encode,
    snapshot,
)
from firmware.devices.puck.reading import Disks, PuckState
from tests.examples import examples

DEALER, ACTION = "04D1A2B3C4E580", "04AC71B2C3E580"
DISKS = Disks(frozenset({DEALER}), frozenset({ACTION}))
SEATS = range(1, 6)
HELLO = encode("HELLO", "puckd", "1", "484f535430303031")


def state(seat: int | None, uptime_ms: int, ok: str = "1f", number: int = 0) -> bytes:
    antennas = [f"{s}:{f'{DEALER}+{ACTION}' if s == seat else ''}" for s in SEATS]
    return encode("STATE", number, uptime_ms, *antennas, ok)


def known(seat: int | None = 2) -> PuckLine:
    """A line that knows the puck at this seat at 1.0 s."""
    line = PuckLine(DISKS, SEATS)
    line.opened(0.0)
    line.feed(HELLO + state(seat, 500) + state(seat, 1000), 1.0)
    assert line.reading(1.0).seat == seat
    return line


def test_the_check_value_of_crc_16_ccitt_false() -> None:
    assert checksum(b"123456789") == 0x29B1


@pytest.mark.parametrize(
    ("wire", "fields"),
    [
        (b"$HB,0*698A\r\n", ("HB", "0")),
        (b"$HELLO,puckd,1,484f535430303031*69D6\r\n", ("HELLO", "puckd", "1", "484f535430303031")),
    ],
)
def test_golden_sentences_both_ways(wire: bytes, fields: tuple[str, ...]) -> None:
    assert encode(*fields) == wire
    assert FrameParser().feed(wire) == [Frame(fields[0], fields[1:])]


def test_a_snapshot_is_understood() -> None:
    (sentence,) = FrameParser().feed(encode("STATE", 7, 123456, f"1:{ACTION}+{DEALER}", "2:", "3:", "5"))
    shot = snapshot(sentence)
    assert shot is not None
    assert shot.uptime_ms == 123456
    assert shot.sweep.tags == {(1, DEALER), (1, ACTION)}
    assert shot.sweep.readers_ok == {1, 3}


@pytest.mark.parametrize(
    "fields",
    [
        ("7", "1"),
        ("x", "1", "1:", "1"),
        ("7", "", "1:", "1"),
        ("7", "1", "0:", "1"),
        ("7", "1", "1:", "1:", "1"),
        ("7", "1", "2:", "1:", "3"),
        ("7", "1", "1:04", "1"),
        ("7", "1", f"1:{DEALER}+", "1"),
        ("7", "1", f"1:{DEALER.lower()}", "1"),
        ("7", "1", "1:", "3"),  # an antenna that is not listed answers
        ("7", "1", f"1:{DEALER}", "2:", "2"),  # a tag at an antenna that does not answer
        ("7", "1", "1:", ""),
        ("7", "1", "1:", "g"),
        ("7", "9" * 16, "1:", "1"),
    ],
)
def test_a_snapshot_that_makes_no_sense_is_dropped(fields: tuple[str, ...]) -> None:
    assert snapshot(Frame("STATE", fields)) is None


def test_sentences_survive_being_cut_anywhere() -> None:
    wire = HELLO + state(3, 1) + encode("HB", 4)
    whole = FrameParser().feed(wire)
    assert len(whole) == 3
    for cut in range(len(wire)):
        halves = FrameParser()
        assert halves.feed(wire[:cut]) + halves.feed(wire[cut:]) == whole


def test_a_sentence_after_noise_and_a_half_one_is_still_heard() -> None:
    sentences = FrameParser()
    assert sentences.feed(b"\x00\xff$STATE,1,2$HB,0*698A\r\n") == [Frame("HB", ("0",))]
    assert sentences.feed(b"$HB,0*698B\r\n$HB,0*698A\n") == []
    assert sentences.damaged == 2


def test_a_line_without_end_is_not_hoarded() -> None:
    sentences = FrameParser()
    for _ in range(1000):
        sentences.feed(b"$" + b"A" * 100)
    assert len(sentences._rest) <= LONGEST
    assert sentences.feed(b"\r\n" + HELLO) == [Frame("HELLO", ("puckd", "1", "484f535430303031"))]


def test_a_banner_lost_at_open_is_asked_for_until_it_comes() -> None:
    line = PuckLine(DISKS, SEATS)
    line.opened(10.0)
    assert line.due(10.0) == ASK
    assert line.due(10.1) == b""
    line.feed(state(2, 1) + state(2, 2), 10.2)
    assert line.reading(10.2).state is PuckState.UNKNOWN  # who says so?
    assert line.due(10.5) == ASK
    line.feed(HELLO, 10.6)
    line.due(11.0)
    assert line.due(60.0) == b""
    assert line.reader_id == "484f535430303031"


def test_a_change_is_asked_for_again_at_once() -> None:
    line = known(2)
    line.due(1.0)
    line.feed(state(4, 1500), 1.5)
    assert line.due(1.5) == ASK
    assert line.reading(1.5).seat == 2
    line.feed(state(4, 1510), 1.51)
    assert line.reading(1.51).seat == 4
    assert line.due(1.6) == b""


def test_a_repeated_snapshot_proves_nothing() -> None:
    line = known(2)
    for at in (1.5, 2.0, 2.5, 2.6):
        line.feed(state(2, 1000), at)
    assert line.reading(2.6).state is PuckState.UNKNOWN


def test_heartbeats_alone_do_not_keep_a_seat_known() -> None:
    line = known(2)
    assert line.feed(encode("HB", 1), 2.4)
    assert line.reading(2.6).state is PuckState.UNKNOWN


def test_another_protocol_version_is_a_fault_and_its_snapshots_are_not_read() -> None:
    line = PuckLine(DISKS, SEATS)
    line.opened(0.0)
    line.feed(encode("HELLO", "puckd", "2", "00") + state(2, 1) + state(2, 2), 0.1)
    reading = line.reading(0.1)
    assert (reading.state, reading.seat) == (PuckState.FAULT, None)
    assert "version 2" in str(reading.detail)


def test_the_end_of_a_conversation_forgets_everything() -> None:
    line = known(2)
    line.feed(b"$STATE,1,", 1.1)
    line.forget("gone")
    assert line.reading(1.1).detail == "gone"
    line.opened(1.2)
    line.feed(state(4, 1) + state(4, 2), 1.3)
    assert line.reading(1.3).state is PuckState.UNKNOWN
    line.feed(HELLO + state(4, 3) + state(4, 4), 1.4)
    assert line.reading(1.4).seat == 4


def test_a_modem_managers_probe_echoed_back_is_noise() -> None:
    line = known(2)
    assert line.feed(b"AT\r\nAT+GCAP\r\n~x\x00\x78\xf0~\r\nERROR\r\n", 1.1) is False
    assert line.reading(1.1).seat == 2


@examples(300)
@given(st.lists(st.binary(max_size=200), max_size=10))
def test_garbage_never_raises_and_never_names_a_seat(chunks: list[bytes]) -> None:
    line = PuckLine(DISKS, SEATS)
    line.opened(0.0)
    for number, chunk in enumerate(chunks):
        line.feed(chunk, number * 0.1)
        assert line.reading(number * 0.1).seat is None


@examples(300)
@given(st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=4)), min_size=1, max_size=6), st.data())
def test_mutated_sentences_never_name_another_seat(
    mutations: list[tuple[int, bytes]], data: st.DataObject
) -> None:
    line = known(2)
    wire = bytearray(b"".join(state(seat, 1000 + seat) for seat in (2, 2, 2)))
    for at, new in mutations:
        at %= len(wire)
        wire[at : at + data.draw(st.integers(0, 4))] = new
    line.feed(bytes(wire), 1.2)
    assert line.reading(1.2).seat in (2, None)
