"""What is electric about a table, judged: currents, edges, pins, lamps; fuses, heat and earth are in `protect.py`.

Computed from `electric.toml`; UNTESTED on hardware.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any, Final

from firmware.devices.panel.debounce import SETTLE
from firmware.puck_reader import config
from hardware.make import protect
from hardware.make.bom import MARGIN, Bom, load_of
from hardware.make.finding import Finding
from hardware.make.wiring import HEADER_BCM, LAMP_OHMS

HIGH_V: Final = 2.95
"""What a 3.3 V line is at, when a resistor pulls it down from there."""
LOW_V: Final = 0.8
"""Below this the Pico reads a low (RP2040 data sheet)."""
PIN_V: Final = 3.3
FREE_V: Final = 2.3
"""Above this a Pi reads a high: from memory, with reserve."""
EDGE: Final = 0.2
"""The share of a bit that an edge may take."""
GATES_A_CHIP: Final = 4
BRIGHT, MOST_BRIGHT = 0.8, 1.15
"""The share of its nominal current that each lamp gets at least, and at most."""
OVERLAY_PINS: Final = {
    "w1-gpio": (4,),
    "spi1-1cs": (18, 19, 20, 21),
    "i2s": (18, 19, 20, 21),
    "pwm": (12, 13, 18, 19),
    "gpio-poweroff": (26,),
}
"""Pins of the header that an overlay takes by default (the Pi's own documentation)."""
FIXED_PINS: Final = {
    0: "ID EEPROM",
    1: "ID EEPROM",
    14: "UART",
    15: "UART",
    7: "SPI",
    8: "SPI",
    9: "SPI",
    10: "SPI",
    11: "SPI",
}
UPS_PINS: Final = dict.fromkeys(("Geekworm X1200", "Geekworm X1207", "Geekworm X1209"), (6, 16, [2, 3]))
"""The lines of each board that was read: low when the mains have failed, high stops its charging, I2C."""
UPS_FLAGS: Final = ("usb_max_current_enable=1", "PSU_MAX_CURRENT=5000")
"""What makes a Pi 5 give its USB ports all, where its supply does not negotiate."""


def read(path: Path) -> dict[str, Any]:
    """Read `electric.toml` or `pinmap.toml`."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def on_usb(bom: Bom) -> list[str]:
    """List the parts that draw from the Pi's USB ports: what the list's USB cables feed."""
    return [name for part in bom.part if "USB cable" in part.name for name in part.feeds]


def rails(said: dict[str, Any], bom: Bom) -> list[Finding]:
    """Judge the current of every supply and rail, and of the Pi's USB ports."""
    found = [
        Finding(
            f"Current: {load.supply.name}",
            f"{load.watts / load.supply.volts:.2f} A",
            f"{load.allowed / load.supply.volts:.2f} A ({MARGIN:.0%} of {load.supply.amps:g} A stay free)",
            load.ok,
        )
        for load in bom.loads()
    ]
    for rail in said["rail"]:
        drawn = load_of(bom, rail["parts"])
        found.append(
            Finding(
                f"Current: {rail['name']}",
                f"{drawn:.2f} A",
                f"{rail['limit_a']:g} A",
                0 < drawn <= rail["limit_a"],
            )
        )
    usb, ups = said["usb"], said["ups"]
    plugged = on_usb(bom)
    drawn = load_of(bom, plugged) + usb["cooler_a"]
    supply = next(part for part in bom.part if part.id == "psu").choice.name
    flagged = [flag for flag in UPS_FLAGS if any(flag in one for one in usb["ups_flags"])]
    for who, full in (
        ("the supply", supply.startswith(tuple(usb["negotiates"])) or bool(usb["flags"])),
        ("a UPS", len(flagged) == len(UPS_FLAGS)),
    ):
        limit = usb["negotiated_a"] if full else usb["else_a"]
        found.append(
            Finding(
                f"Current: the Pi's USB ports and fan header on {who}",
                f"{drawn:.2f} A",
                f"{limit:g} A",
                drawn <= limit,
            )
        )
    (box,) = (load for load in bom.loads() if load.supply.id == "box")
    drawn, allowed = box.watts / box.supply.volts, ups["amps"] * (1 - MARGIN)
    found.append(Finding("Current: the UPS's output", f"{drawn:.2f} A", f"{allowed:.2f} A", drawn <= allowed))
    counted = [
        *said["pi"]["parts"],
        *plugged,
        *(name for rail in said["rail"] if "behind" not in rail for name in rail["parts"]),
    ]
    drawing = {part.id for part in box.parts}
    lost = sorted(drawing - set(counted)) + sorted({name for name in counted if counted.count(name) > 1})
    return [
        *found,
        Finding("Each part that draws is on one rail", ", ".join(lost) or "each", "each, once", not lost),
    ]


def edge_ns(ohm: float, picofarad: float, *, driven: bool = True) -> float:
    """Return how long an edge takes, ns: 10 to 90 % where a pin drives it, else a resistor's fall to a low."""
    rc = ohm * picofarad * 1e-3
    return float(2.2 * rc if driven else rc * math.log(HIGH_V / LOW_V))


def edges(said: dict[str, Any], bom: Bom, baud: int = config.BAUD) -> list[Finding]:
    """Judge the edges of the readers' bus, and that no reader can block it for the others."""
    bus, readers = said["bus"], len(config.ANTENNAS)
    branch = bus["pf_per_m"] * bom.length_m("antenna-cable") + bus["input_pf"]
    gated = "tri-state" in bus["shared"]
    nets = [
        ("SCK, MOSI, all branches", edge_ns(bus["pin_ohm"] + bus["series_ohm"], readers * branch)),
        ("MISO, from each reader to its gate", edge_ns(bus["reader_ohm"], branch)),
        (
            "MISO, from the gates to the Pico",
            edge_ns(bus["gate_ohm"] if gated else bus["idle_ohm"], bus["joined_pf"], driven=gated),
        ),
    ]
    limit = EDGE / baud * 1e9
    chips = math.ceil(bus["gates"] / GATES_A_CHIP)
    board = next(part for part in bom.part if part.id == "puck-parts").name
    parts = (
        f"{chips} × {bus['gate']}",
        f"{2 * readers} × {bus['series_ohm']:g} Ω",
        f"{readers + 1} × {bus['pull_up_ohm'] / 1000:g} kΩ",  # one more holds GP16 down
        f"{readers} × {bus['idle_ohm'] / 1000:g} kΩ",
    )
    return [
        *(
            Finding(
                f"Edge on {name}", f"{edge:.0f} ns", f"{limit:.0f} ns at {baud / 1000:.0f} kHz", edge <= limit
            )
            for name, edge in nets
        ),
        Finding(
            "Readers share MISO",
            f"{bus['shared']}, {bus['gates']} gates",
            f"a tri-state gate each, {readers}: in reset a reader may hold it high",
            gated and bus["gates"] >= readers,
        ),
        Finding(
            "The puck board's parts are on the list",
            ", ".join(parts),
            "in its name",
            all(part in board for part in parts),
        ),
    ]


def contacts(said: dict[str, Any], bom: Bom) -> list[Finding]:
    """Judge a push-button's edge against the program's time for bouncing, and both levels at the pin."""
    net = said["contact"]
    up, series, down = (net[name] for name in ("pull_up_ohm", "series_ohm", "pull_down_ohm"))
    ms = edge_ns(up, net["nf"]) / 1e3  # Ω · nF: ns · 1000
    pressed, free = PIN_V * series / (series + up), PIN_V * down / (down + up)
    board = next(part for part in bom.part if part.id == "panel-parts").name
    parts = (f"3 × {up / 1000:g} kΩ", f"3 × {series / 1000:g} kΩ", f"3 × {net['nf']:g} nF")
    return [
        Finding("Edge on a contact", f"{ms:.1f} ms", f"{SETTLE * 1000:g} ms to settle", ms <= SETTLE * 1000),
        Finding(
            "A contact's levels at the pin",
            f"{pressed:.2f} V pressed, {free:.2f} V free against the pin's own pull-down",
            f"{LOW_V:g} and {FREE_V:g} V",
            pressed <= LOW_V and free >= FREE_V,
        ),
        Finding(
            "The panel board's parts are on the list",
            ", ".join(parts),
            "in its name",
            all(p in board for p in parts),
        ),
    ]


def regulator(said: dict[str, Any], bom: Bom) -> Finding:
    """Judge whether enough volts arrive at the readers' regulator."""
    it = said["regulator"]
    (loss,) = (loss for loss in bom.losses() if loss.cable.id == it["cable"])
    arrives = loss.of_volts - it["port_v"] - loss.volts - load_of(bom, it["parts"]) * it["ptc_ohm"]
    needed = it["out_v"] + it["dropout_v"]
    return Finding(
        "Volts at the readers' regulator", f"{arrives:.2f} V", f"{needed:.1f} V", arrives >= needed
    )


def pins(said: dict[str, Any], pinmap: dict[str, Any], bom: Bom) -> list[Finding]:
    """Judge our pins against the named UPS, the display, overlays that are on, and the Pi's own buses."""
    ups = said["ups"]
    board = ups["board"].split(" for")[0]
    bought = next(part for part in bom.part if part.id == "ups").choice.name
    ours = {
        entry["bcm"]: f"{section} {name}"
        for section, table in pinmap.items()
        if section != "reserved"
        for name, entry in table.items()
    }
    foreign = dict.fromkeys(ups["i2c"], f"{board}: I2C")
    foreign |= {ups["charging"]: f"{board}: charging"} | FIXED_PINS
    foreign |= dict.fromkeys(said["overlays"]["display"], "display")
    for name, taken in OVERLAY_PINS.items():
        if name not in said["overlays"]["free_of"]:
            foreign |= dict.fromkeys(taken, f"overlay {name}")
    fail = pinmap["power"]["fail"]["bcm"]
    every = [
        (f"{section} {name}", entry) for section, table in pinmap.items() for name, entry in table.items()
    ]
    wrong_pin = [name for name, entry in every if HEADER_BCM.get(entry["pin"]) != entry["bcm"]]
    numbers = [entry["bcm"] for _, entry in every]
    doubled = [f"{name} on {entry['bcm']}" for name, entry in every if numbers.count(entry["bcm"]) > 1]
    taken_twice = doubled + [
        f"{ours[pin]} and {foreign[pin]} on {pin}" for pin in sorted(ours.keys() & foreign.keys())
    ]
    if ours.get(ups["fail"], "power fail") != "power fail":
        taken_twice.append(f"{ours[ups['fail']]} and the UPS's mains line on {ups['fail']}")
    reserved = {entry["bcm"] for entry in pinmap.get("reserved", {}).values()}
    return [
        Finding(
            "Our pins against UPS, display, overlays, buses",
            "; ".join(taken_twice) or "no pin is taken twice",
            "none twice",
            not taken_twice,
        ),
        Finding(
            "Each BCM number is at the header's pin that is named",
            ", ".join(wrong_pin) or "each",
            "each",
            not wrong_pin,
        ),
        Finding(
            "Power-fail line",
            f"BCM {fail}",
            f"BCM {ups['fail']}, as the {board}",
            fail == ups["fail"]
            and bought.startswith(board)
            and UPS_PINS.get(board) == (ups["fail"], ups["charging"], ups["i2c"]),
        ),
        Finding(
            "The UPS's charging line is reserved",
            ", ".join(f"BCM {pin}" for pin in sorted(reserved)) or "nothing is reserved",
            f"BCM {ups['charging']}",
            ups["charging"] in reserved and not reserved & ours.keys(),
        ),
    ]


def lamps(said: dict[str, Any], bom: Bom) -> list[Finding]:
    """Judge that every lamp gets about the current that it is made for, and that its resistor is the looms'."""
    driver, found = said["driver"], []
    (loss,) = (loss for loss in bom.losses() if loss.cable.id == driver["cable"])
    feed = loss.of_volts - loss.volts - loss.amps * driver["ptc_ohm"]
    for lamp in said["lamp"]:
        got = 1000 * (feed - driver["drop_v"] - lamp["forward_v"]) / (lamp["ohm"] + driver["ohm"])
        share = got / lamp["nominal_ma"]
        found.append(
            Finding(
                f"Lamp current: {lamp['name']}",
                f"{got:.1f} mA of {lamp['nominal_ma']:g} ({share:.0%}) from {feed:.2f} V",
                f"{BRIGHT:.0%} to {MOST_BRIGHT:.0%}",
                BRIGHT <= share <= MOST_BRIGHT,
            )
        )
    other = {lamp["pin"]: lamp["ohm"] for lamp in said["lamp"] if "pin" in lamp}
    told = next(part for part in bom.part if part.id == "status").name
    agree = other == LAMP_OHMS and all(f"{ohm:g} Ω" in told for ohm in other.values())
    return [
        *found,
        Finding(
            "Status lamps: resistors of looms and parts list",
            ", ".join(f"{name} {ohm:g} Ω" for name, ohm in other.items()),
            ", ".join(f"{name} {ohm:g} Ω" for name, ohm in LAMP_OHMS.items()),
            agree,
        ),
    ]


def judge(said: dict[str, Any], pinmap: dict[str, Any], bom: Bom) -> list[Finding]:
    """Judge everything electric."""
    return [
        *rails(said, bom),
        *edges(said, bom),
        regulator(said, bom),
        *contacts(said, bom),
        *protect.outgoing(said, pinmap, bom),
        *pins(said, pinmap, bom),
        *lamps(said, bom),
        *protect.box(said, bom),
    ]
