"""What is electric about a table, judged: currents, edges, pins, lamps; fuses, heat and earth are in `protect.py`.

Computed from `electric.toml`; UNTESTED on hardware.
"""

import math
from typing import Any, Final

from firmware.devices.panel.debounce import SETTLE
from firmware.puck_reader import config
from hardware.make import protect
from hardware.make.bom import MARGIN, Bom
from hardware.make.finding import Finding, least, most, none
from hardware.make.wiring import HEADER_BCM, LAMP_OHMS

TomlTable = dict[str, Any]

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
MIN_CURRENT, MAX_CURRENT = 0.8, 1.15
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
    **dict.fromkeys((0, 1), "ID EEPROM"),
    **dict.fromkeys((14, 15), "UART"),
    **dict.fromkeys((7, 8, 9, 10, 11), "SPI"),
}
UPS_PINS: Final = dict.fromkeys(("Geekworm X1200", "Geekworm X1207", "Geekworm X1209"), (6, 16, [2, 3]))
"""The lines of each board that was read: low when the mains have failed, high stops its charging, I2C."""
UPS_FLAGS: Final = ("usb_max_current_enable=1", "PSU_MAX_CURRENT=5000")
"""What makes a Pi 5 give its USB ports all, where its supply does not negotiate."""


def on_usb(bom: Bom) -> list[str]:
    """List the parts that draw from the Pi's USB ports: what the list's USB cables feed."""
    return [name for part in bom.part if "USB cable" in part.name for name in part.feeds]


def rails(said: TomlTable, bom: Bom) -> list[Finding]:
    """Judge the current of every supply and rail, and of the Pi's USB ports."""
    usb, plugged = said["usb"], on_usb(bom)
    found = []
    for load in bom.loads():
        drawn, allowed = load.watts / load.supply.volts, load.allowed / load.supply.volts
        limit = f"{{:.2f}} A ({MARGIN:.0%} of {load.supply.amps:g} A stay free)"
        found.append(most(f"Current: {load.supply.name}", "{:.2f} A", drawn, allowed, limit))
    for rail in said["rail"]:
        drawn = bom.amps(rail["parts"])
        found.append(most(f"Current: {rail['name']}", "{:.2f} A", drawn, rail["limit_a"], "{:g} A"))
    drawn = bom.amps(plugged) + usb["cooler_a"]
    negotiated = bom.get("psu").choice.name.startswith(tuple(usb["negotiates"])) or bool(usb["flags"])
    flagged = all(any(flag in one for one in usb["ups_flags"]) for flag in UPS_FLAGS)
    for who, full in (("the supply", negotiated), ("a UPS", flagged)):
        rule = f"Current: the Pi's USB ports and fan header on {who}"
        found.append(most(rule, "{:.2f} A", drawn, usb["negotiated_a" if full else "else_a"], "{:g} A"))
    (box,) = (load for load in bom.loads() if load.supply.id == "box")
    drawn, allowed = box.watts / box.supply.volts, said["ups"]["amps"] * (1 - MARGIN)
    found.append(most("Current: the UPS's output", "{:.2f} A", drawn, allowed, "{:.2f} A"))
    counted = [*said["pi"]["parts"], *plugged]
    counted += [name for rail in said["rail"] if "behind" not in rail for name in rail["parts"]]
    lost = sorted({part.id for part in box.parts} - set(counted))
    lost += sorted({name for name in counted if counted.count(name) > 1})
    return [*found, none("Each part that draws is on one rail", lost, "each", "each, once")]


def edge_ns(ohm: float, picofarad: float, *, driven: bool = True) -> float:
    """Return how long an edge takes, ns: 10 to 90 % where a pin drives it, else a resistor's fall to a low."""
    rc = ohm * picofarad * 1e-3
    return float(2.2 * rc if driven else rc * math.log(HIGH_V / LOW_V))


def _list(board: str, parts: tuple[str, ...], bom: Bom) -> Finding:
    name = bom.get(f"{board}-parts").name
    held = all(part in name for part in parts)
    return Finding(f"The {board} board's parts are on the list", ", ".join(parts), "in its name", held)


def edges(said: TomlTable, bom: Bom, baud: int = config.BAUD) -> list[Finding]:
    """Judge the edges of the readers' bus, and that no reader can block it for the others."""
    bus, readers = said["bus"], len(config.ANTENNAS)
    branch = bus["pf_per_m"] * bom.length_m("antenna-cable") + bus["input_pf"]
    gated = "tri-state" in bus["shared"]
    joined = edge_ns(bus["gate_ohm"] if gated else bus["idle_ohm"], bus["joined_pf"], driven=gated)
    nets = (
        ("SCK, MOSI, all branches", edge_ns(bus["pin_ohm"] + bus["series_ohm"], readers * branch)),
        ("MISO, from each reader to its gate", edge_ns(bus["reader_ohm"], branch)),
        ("MISO, from the gates to the Pico", joined),
    )
    limit, limited = EDGE / baud * 1e9, f"{{:.0f}} ns at {baud / 1000:.0f} kHz"
    parts = (
        f"{math.ceil(bus['gates'] / GATES_A_CHIP)} × {bus['gate']}",
        f"{2 * readers} × {bus['series_ohm']:g} Ω",
        f"{readers + 1} × {bus['pull_up_ohm'] / 1000:g} kΩ",  # one more holds GP16 down
        f"{readers} × {bus['idle_ohm'] / 1000:g} kΩ",
    )
    shared = Finding(
        "Readers share MISO",
        f"{bus['shared']}, {bus['gates']} gates",
        f"a tri-state gate each, {readers}: in reset a reader may hold it high",
        gated and bus["gates"] >= readers,
    )
    found = [most(f"Edge on {name}", "{:.0f} ns", edge, limit, limited) for name, edge in nets]
    return [*found, shared, _list("puck", parts, bom)]


def contacts(said: TomlTable, bom: Bom) -> list[Finding]:
    """Judge a push-button's edge against the program's time for bouncing, and both levels at the pin."""
    net = said["contact"]
    up, series, down = (net[name] for name in ("pull_up_ohm", "series_ohm", "pull_down_ohm"))
    ms = edge_ns(up, net["nf"]) / 1e3  # Ω · nF: ns · 1000
    pressed, free = PIN_V * series / (series + up), PIN_V * down / (down + up)
    levels = f"{pressed:.2f} V pressed, {free:.2f} V free against the pin's own pull-down"
    held = pressed <= LOW_V and free >= FREE_V
    parts = (f"3 × {up / 1000:g} kΩ", f"3 × {series / 1000:g} kΩ", f"3 × {net['nf']:g} nF")
    return [
        most("Edge on a contact", "{:.1f} ms", ms, SETTLE * 1000, "{:g} ms to settle"),
        Finding("A contact's levels at the pin", levels, f"{LOW_V:g} and {FREE_V:g} V", held),
        _list("panel", parts, bom),
    ]


def regulator(said: TomlTable, bom: Bom) -> Finding:
    """Judge whether enough volts arrive at the readers' regulator."""
    it = said["regulator"]
    (loss,) = (loss for loss in bom.losses() if loss.cable.id == it["cable"])
    arrives = loss.of_volts - it["port_v"] - loss.volts - bom.amps(it["parts"]) * it["ptc_ohm"]
    rule, needed = "Volts at the readers' regulator", it["out_v"] + it["dropout_v"]
    return least(rule, "{:.2f} V", arrives, needed, "{:.1f} V")


def pins(said: TomlTable, pinmap: TomlTable, bom: Bom) -> list[Finding]:
    """Judge our pins against the named UPS, the display, overlays that are on, and the Pi's own buses."""
    ups = said["ups"]
    board, lines = ups["board"].split(" for")[0], (ups["fail"], ups["charging"], ups["i2c"])
    every = {f"{section} {name}": entry for section, table in pinmap.items() for name, entry in table.items()}
    ours = {entry["bcm"]: name for name, entry in every.items() if not name.startswith("reserved")}
    foreign = dict.fromkeys(ups["i2c"], f"{board}: I2C")
    foreign |= {ups["charging"]: f"{board}: charging"} | FIXED_PINS
    foreign |= dict.fromkeys(said["overlays"]["display"], "display")
    for name, taken in OVERLAY_PINS.items():
        if name not in said["overlays"]["free_of"]:
            foreign |= dict.fromkeys(taken, f"overlay {name}")
    wrong_pin = [name for name, entry in every.items() if HEADER_BCM.get(entry["pin"]) != entry["bcm"]]
    numbers = [entry["bcm"] for entry in every.values()]
    twice = [f"{name} on {bcm}" for name, bcm in zip(every, numbers, strict=True) if numbers.count(bcm) > 1]
    twice += [f"{ours[pin]} and {foreign[pin]} on {pin}" for pin in sorted(ours.keys() & foreign.keys())]
    if ours.get(ups["fail"], "power fail") != "power fail":
        twice.append(f"{ours[ups['fail']]} and the UPS's mains line on {ups['fail']}")
    reserved = {entry["bcm"] for entry in pinmap.get("reserved", {}).values()}
    fail = pinmap["power"]["fail"]["bcm"]
    agrees = bom.get("ups").choice.name.startswith(board) and UPS_PINS.get(board) == lines
    right = fail == ups["fail"] and agrees
    ours_alone = ("no pin is taken twice", "none twice", "; ")
    return [
        none("Our pins against UPS, display, overlays, buses", twice, *ours_alone),
        none("Each BCM number is at the header's pin that is named", wrong_pin, "each", "each"),
        Finding("Power-fail line", f"BCM {fail}", f"BCM {ups['fail']}, as the {board}", right),
        Finding(
            "The UPS's charging line is reserved",
            ", ".join(f"BCM {pin}" for pin in sorted(reserved)) or "nothing is reserved",
            f"BCM {ups['charging']}",
            ups["charging"] in reserved and not reserved & ours.keys(),
        ),
    ]


def lamps(said: TomlTable, bom: Bom) -> list[Finding]:
    """Judge that every lamp gets about the current that it is made for, and that its resistor is the looms'."""
    driver, found = said["driver"], []
    (loss,) = (loss for loss in bom.losses() if loss.cable.id == driver["cable"])
    feed = loss.of_volts - loss.volts - loss.amps * driver["ptc_ohm"]
    for lamp in said["lamp"]:
        got = 1000 * (feed - driver["drop_v"] - lamp["forward_v"]) / (lamp["ohm"] + driver["ohm"])
        share = got / lamp["nominal_ma"]
        figure = f"{got:.1f} mA of {lamp['nominal_ma']:g} ({share:.0%}) from {feed:.2f} V"
        limit, held = f"{MIN_CURRENT:.0%} to {MAX_CURRENT:.0%}", MIN_CURRENT <= share <= MAX_CURRENT
        found.append(Finding(f"Lamp current: {lamp['name']}", figure, limit, held))
    other = {lamp["pin"]: lamp["ohm"] for lamp in said["lamp"] if "pin" in lamp}
    named = all(f"{ohm:g} Ω" in bom.get("status").name for ohm in other.values())
    here, there = (", ".join(f"{name} {ohm:g} Ω" for name, ohm in one.items()) for one in (other, LAMP_OHMS))
    rule = "Status lamps: resistors of looms and parts list"
    return [*found, Finding(rule, here, there, other == LAMP_OHMS and named)]


def judge(said: TomlTable, pinmap: TomlTable, bom: Bom) -> list[Finding]:
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
