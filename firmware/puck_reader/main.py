"""The program on the RP2040: pins, bus, USB line and watchdog around `Puckd`. UNTESTED on hardware.

MicroPython only; the modules that it connects are tested under CPython.
"""

import select
import sys
import time

import machine
import micropython

from . import config
from .puckd import Puckd

WATCHDOG_MS = 3000
"""A turn takes about 30 ms, and 100 with a PN532 that hangs; a bus that blocks ends in a reset."""
MAX_RECEIVED = 64
"""Bytes read in one turn."""


def _chip():
    if config.CHIP == "rc522":
        from .rc522 import Rc522

        return Rc522
    if config.CHIP == "pn532":
        from .pn532 import Pn532

        return Pn532
    raise ValueError("config.CHIP must be rc522 or pn532")


def _readers():
    spi = machine.SPI(
        0,
        baudrate=config.BAUD,
        sck=machine.Pin(config.SCK),
        mosi=machine.Pin(config.MOSI),
        miso=machine.Pin(config.MISO),
    )
    chip = _chip()
    return {
        seat: chip(spi, machine.Pin(cs, machine.Pin.OUT), machine.Pin(rst, machine.Pin.OUT), time.sleep_ms)
        for seat, (cs, rst) in config.ANTENNAS.items()
    }


def run() -> None:
    """Run for ever (an error ends in a reset by the watchdog); return at once if the service pin is grounded."""
    if not machine.Pin(config.SERVICE, machine.Pin.IN, machine.Pin.PULL_UP).value():
        return
    micropython.kbd_intr(-1)  # noise may hold a Ctrl-C, which must not stop the program
    watchdog = machine.WDT(timeout=WATCHDOG_MS)
    puckd = Puckd(_readers(), "".join([f"{byte:02x}" for byte in machine.unique_id()]))
    line = select.poll()
    line.register(sys.stdin, select.POLLIN)
    room = select.poll()
    room.register(sys.stdout, select.POLLOUT)
    now_ms, ticks = 0, time.ticks_ms()
    while True:
        received = b""
        while len(received) < MAX_RECEIVED and line.poll(0):
            received += sys.stdin.buffer.read(1)
        passed = time.ticks_diff(time.ticks_ms(), ticks)  # ticks wrap after 12 days, our time does not
        now_ms, ticks = now_ms + passed, time.ticks_add(ticks, passed)
        text = puckd.turn(now_ms, received)
        if text and room.poll(0):  # nobody reads: the bytes are lost, and the state is sent again after 0.5 s
            sys.stdout.buffer.write(text)
        watchdog.feed()
