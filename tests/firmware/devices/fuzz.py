"""Random and damaged frames through every parser of the puck readers: none may raise, none may name a wrong seat.

    make fuzz                              # a million frames through each
    make fuzz ARGS="--frames 50000 --seed 7"

`make test` sends a share of it (test_fuzz.py).
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator

import click
from rich.console import Console
from rich.progress import track

from firmware.devices.puck.protocol import LONGEST, PuckLine, encode
from firmware.devices.puck.reading import Disks, PuckReading, PuckState
from firmware.devices.puck.spot_em4100 import Em4100Spot
from firmware.devices.puck.spot_pn532 import ACK, FROM_CHIP, Pn532Spot
from firmware.devices.puck.spot_pn532 import encode as chip_frame
from firmware.puck_reader import pn532 as driver
from firmware.puck_reader.framing import Questions
from firmware.puck_reader.puckd import ReaderFault

DEALER, ACTION, STRANGER = "04D1A2B3C4E580", "04AC71B2C3E580", "DEADBEEF"
DISKS = Disks(frozenset({DEALER}), frozenset({ACTION}))
LF_DISKS = Disks(frozenset({"1F00644BB6"}))
LF_FRAMES = (b"\x021F00644BB686\x03", b"\x020500207B326C\r\n\x03", b"\x02000414CD7EA3\x03")
SEATS = range(1, 6)
TRUE_SEAT = 2
STEP = 0.01
"""Seconds between two frames: a known seat outlives 150 damaged ones."""
RANDOM_SHARE = 0.1
"""The share of frames that are nothing but noise."""

Frames = Iterator[None]
"""Sends one frame at every `next`, and asserts what must hold after it."""


def damaged(wire: bytes, rng: random.Random) -> bytes:
    """The frame with one to six faults: bits turned, bytes lost, inserted, doubled; or noise in its place."""
    if rng.random() < RANDOM_SHARE:
        return rng.randbytes(rng.randint(0, 120))
    line = bytearray(wire)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(line)) if line else 0
        match rng.randrange(5):
            case 0 if line:
                line[at] ^= 1 << rng.randrange(8)
            case 1 if line:
                line[at] = rng.randrange(256)
            case 2:
                del line[at : at + rng.randint(1, 8)]
            case 3:
                line[at:at] = rng.randbytes(rng.randint(1, 8))
            case _:
                line[at:at] = line[at : at + rng.randint(1, 20)]
    return bytes(line)


def _never_wrong(reading: PuckReading, seat: int) -> None:
    assert reading.seat in (seat, None), reading
    assert (reading.state is PuckState.SEAT) == (reading.seat is not None), reading


def puck_line(rng: random.Random) -> Frames:
    """The RP2040's line: damaged snapshots of a button at seat 2 or nowhere, and whole ones now and then."""

    def snapshot(number: int) -> bytes:
        seat = rng.choice((TRUE_SEAT, TRUE_SEAT, None))
        antennas = [f"{s}:{f'{DEALER}+{ACTION}' if s == seat else ''}" for s in SEATS]
        return encode("STATE", number, number * 10, *antennas, "1f")

    line = PuckLine(DISKS, SEATS)
    line.opened(0.0)
    line.feed(encode("HELLO", "puckd", "1", "00"), 0.0)
    number = 0
    while True:
        number += 1
        now = number * STEP
        line.due(now)
        whole = rng.random() < 0.1
        wire = snapshot(number)
        line.feed(wire if whole else damaged(wire, rng), now)
        _never_wrong(line.reading(now), TRUE_SEAT)
        assert len(line._parser._rest) <= LONGEST
        yield


def rdm6300(rng: random.Random) -> Frames:
    """An RDM6300 or ID-12LA: damaged frames of the disk and of other tags."""
    repeats = rng.random() < 0.5
    spot = Em4100Spot(LF_DISKS, TRUE_SEAT, repeats)
    spot.opened(0.0)
    number = 0
    while True:
        number += 1
        now = number * STEP
        spot.feed(damaged(rng.choice(LF_FRAMES), rng), now)
        reading = spot.reading(now)
        _never_wrong(reading, TRUE_SEAT)
        assert not reading.action_at
        yield


def pn532(rng: random.Random) -> Frames:
    """A PN532 on its serial line: damaged answers that list the disks or others."""

    def listed(*tags: str) -> bytes:
        targets = "".join(f"{n:02X}004400{len(tag) // 2:02X}{tag}" for n, tag in enumerate(tags, 1))
        return bytes.fromhex(f"4B{len(tags):02X}{targets}")

    answers = [listed(), listed(DEALER), listed(DEALER, ACTION), listed(STRANGER, ACTION), b"\x15", b"\x33"]
    spot = Pn532Spot(DISKS, TRUE_SEAT)
    spot.opened(0.0)
    number = 0
    while True:
        number += 1
        now = number * STEP
        spot.due(now)
        frame = ACK + chip_frame(rng.choice(answers), FROM_CHIP)
        spot.feed(frame if rng.random() < 0.1 else damaged(frame, rng), now)
        _never_wrong(spot.reading(now), TRUE_SEAT)
        assert len(spot._frames._rest) <= 262
        yield


def questions(rng: random.Random) -> Frames:
    """What the reader's program hears: damaged questions, modem probes and noise."""
    heard = Questions()
    while True:
        wire = damaged(rng.choice((b"?\n", b"AT\r\nAT+GCAP\r\n", b"$HB,0*698A\r\n")), rng)
        before = heard._line
        if heard.feed(wire):
            assert b"?" in before + wire
        assert len(heard._line) <= 32
        yield


def reader_driver(rng: random.Random) -> Frames:
    """What the reader's PN532 driver hears on its bus: damaged lists of tags."""
    listed = bytes.fromhex(f"D54B02 01004400 07{DEALER} 02004400 07{ACTION}")
    frame = (
        b"\x00\x00\xff" + bytes((len(listed), -len(listed) & 0xFF)) + listed + bytes((-sum(listed) & 0xFF, 0))
    )
    while True:
        answer = driver.unframe(damaged(frame, rng))
        if answer is not None:
            try:
                tags = driver._tags_of(answer)
            except ReaderFault:
                pass
            else:
                assert all(len(tag) in (8, 14, 20) for tag in tags)
        yield


PARSERS: tuple[Callable[[random.Random], Frames], ...] = (puck_line, rdm6300, pn532, questions, reader_driver)


@click.command()
@click.option(
    "--frames", type=click.IntRange(1), default=1_000_000, show_default=True, help="Through each parser."
)
@click.option("--seed", default=1, show_default=True, help="The same seed sends the same frames.")
def command(frames: int, seed: int) -> None:
    """Send random and damaged frames through every parser of the puck readers."""
    console = Console(stderr=True)
    for parser in PARSERS:
        sends = parser(random.Random(seed))
        began = time.monotonic()
        name = parser.__name__
        for number in track(range(frames), name, console=console):
            try:
                next(sends)
            except Exception as error:
                console.print_exception()
                click.echo(f"{name}: frame {number + 1} of seed {seed} is taken wrongly: {error!r}", err=True)
                sys.exit(1)
        click.echo(
            f"{name}: {frames:,} frames in {time.monotonic() - began:.0f} s, none raised, none named a wrong seat"
        )


if __name__ == "__main__":
    command()
