"""What is electric about a table, judged: currents, edges, fuses, pins, lamps, heat. Computed from `electric.toml`;
UNTESTED on hardware.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any, Final

from firmware.puck_reader import config
from hardware.make.bom import MARGIN, Bom
from hardware.make.errors import BomError
from hardware.make.finding import Finding
from hardware.make.wiring import panel_cores

HIGH_V: Final = 2.95
"""What a 3.3 V line is at, when a resistor pulls it down from there."""
LOW_V: Final = 0.8
"""Below this the Pico reads a low (RP2040 data sheet)."""
EDGE: Final = 0.2
"""The share of a bit that an edge may take."""
BRIGHT: Final = 0.8
"""The share of its nominal current that each lamp gets at least."""
AIR: Final = 1206.0
"""J/(m³·K), of air at 20 °C."""
OVERLAY_PINS: Final = {
    "w1-gpio": (4,),
    "spi1-1cs": (16, 18, 19, 20, 21),
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
EARTHED: Final = ("beam", "far post", "near post", "foot plates", "bodies of the push-buttons")


def read(path: Path) -> dict[str, Any]:
    """Read `electric.toml` or `pinmap.toml`."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def amps(bom: Bom, names: list[str], volts: float) -> float:
    """Add up what these parts draw at most. Raises BomError: one draws nothing, or is no part."""
    watts = {part.id: part.watts for part in bom.part}
    if unknown := [name for name in names if not watts.get(name)]:
        raise BomError(f"electric.toml: {unknown[0]} draws nothing by the parts list")
    return sum(watts[name] for name in names) / volts


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
        drawn = amps(bom, rail["parts"], rail["volts"])
        found.append(
            Finding(
                f"Current: {rail['name']}",
                f"{drawn:.2f} A",
                f"{rail['limit_a']:g} A",
                0 < drawn <= rail["limit_a"],
            )
        )
    usb = said["usb"]
    drawn = amps(bom, usb["parts"], 5.1)
    for who, full in (
        ("the supply", usb["negotiates"] or bool(usb["flags"])),
        ("a UPS", bool(usb["ups_flags"])),
    ):
        limit = usb["negotiated_a"] if full else usb["else_a"]
        found.append(
            Finding(f"Current: the Pi's USB ports on {who}", f"{drawn:.2f} A", f"{limit:g} A", drawn <= limit)
        )
    return found


def edge_ns(net: dict[str, Any]) -> float:
    """Return how long a net's slower edge takes, nanoseconds."""
    rc = net["ohm"] * net["pf"] * 1e-3
    return float(2.2 * rc if net["drive"] == "push-pull" else rc * math.log(HIGH_V / LOW_V))


def edges(said: dict[str, Any], baud: int = config.BAUD) -> list[Finding]:
    """Judge the edges of the readers' bus, and that no reader can block it for the others."""
    limit = EDGE / baud * 1e9
    found = [
        Finding(
            f"Edge on {net['name']}",
            f"{edge_ns(net):.0f} ns",
            f"{limit:.0f} ns at {baud / 1000:.0f} kHz",
            edge_ns(net) <= limit,
        )
        for net in said["net"]
    ]
    shared = said["bus"]["shared"]
    found.append(
        Finding(
            "Readers share MISO",
            shared,
            "a tri-state gate each: in reset a reader may hold it high",
            "tri-state" in shared,
        )
    )
    return found


def outgoing(said: dict[str, Any], pinmap: dict[str, Any]) -> list[Finding]:
    """Judge that every wire that leaves a box is limited below what it bears, and has a part against sparks."""
    must = {core for core in panel_cores(pinmap) if core != "GND"}
    must |= {"puck 5 V", "lamp far +24V", "lamp near +24V"}
    found = []
    for one in said["outgoing"]:
        must -= set(one["wires"])
        named = any(letter.isdigit() for letter in one["tvs"])
        found.append(
            Finding(
                f"Leaves a box: {', '.join(one['wires'])}",
                f"{one['limit']}; {one['tvs']}",
                f"{one['rated_a']:g} A, a part by its number",
                bool(one["limit"]) and one["limit_a"] <= one["rated_a"] and named,
            )
        )
    found.append(Finding("Wires without protection", ", ".join(sorted(must)) or "none", "none", not must))
    return found


def pins(said: dict[str, Any], pinmap: dict[str, Any]) -> list[Finding]:
    """Judge our pins against the named UPS, the display, overlays that are on, and the Pi's own buses."""
    ups = said["ups"]
    ours = {
        entry["bcm"]: f"{section} {name}"
        for section, table in pinmap.items()
        if section != "reserved"
        for name, entry in table.items()
    }
    foreign = {pin: f"{ups['board'].split(' for')[0]}: I2C" for pin in ups["i2c"]}
    foreign |= {ups["charging"]: f"{ups['board'].split(' for')[0]}: charging"} | FIXED_PINS
    foreign |= dict.fromkeys(said["overlays"]["display"], "display")
    for name, taken in OVERLAY_PINS.items():
        if name not in said["overlays"]["free_of"]:
            foreign |= dict.fromkeys(taken, f"overlay {name}")
    fail = pinmap["power"]["fail"]["bcm"]
    taken_twice = [f"{ours[pin]} and {foreign[pin]} on {pin}" for pin in sorted(ours.keys() & foreign.keys())]
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
            "Power-fail line",
            f"BCM {fail}",
            f"BCM {ups['fail']}, as the {ups['board'].split(' for')[0]}",
            fail == ups["fail"],
        ),
        Finding(
            "The UPS's charging line is reserved",
            ", ".join(f"BCM {pin}" for pin in sorted(reserved)) or "nothing is reserved",
            f"BCM {ups['charging']}",
            ups["charging"] in reserved and not reserved & ours.keys(),
        ),
    ]


def lamps(said: dict[str, Any]) -> list[Finding]:
    """Judge that every lamp gets most of the current that it is made for."""
    driver, found = said["driver"], []
    for lamp in said["lamp"]:
        got = 1000 * (driver["feed_v"] - driver["drop_v"] - lamp["forward_v"]) / (lamp["ohm"] + driver["ohm"])
        share = got / lamp["nominal_ma"]
        found.append(
            Finding(
                f"Lamp current: {lamp['name']}",
                f"{got:.1f} mA of {lamp['nominal_ma']:g} ({share:.0%})",
                f"{BRIGHT:.0%}",
                share >= BRIGHT,
            )
        )
    return found


def box(said: dict[str, Any], bom: Bom) -> list[Finding]:
    """Judge heat, clock, battery, earth, ferrites."""
    heat, ups, earth = said["heat"], said["ups"], said["earth"]
    air = heat["fan_m3_per_s"] * heat["usable"] * AIR
    rise = heat["watts"] / (air or heat["area_m2"] * heat["w_per_m2_k"])
    (load,) = (load for load in bom.loads() if load.supply.id == "box")
    minutes = 60 * ups["watt_hours"] * ups["usable"] / load.watts
    missing = [name for name in EARTHED if name not in earth["bonded"]]
    return [
        Finding(
            "Air in the box, above the room's",
            f"{rise:.0f} K at {heat['watts']:g} W",
            f"{heat['rise_k']:g} K",
            rise <= heat["rise_k"],
        ),
        Finding(
            "The clock keeps time without mains",
            said["clock"]["battery"] or "no battery",
            "a battery and its setting",
            bool(said["clock"]["battery"] and said["clock"]["setting"]),
        ),
        Finding(
            "The UPS lasts",
            f"{minutes:.0f} min at {load.watts:.1f} W",
            f"{ups['needed_min']:g} min",
            minutes >= ups["needed_min"],
        ),
        Finding(
            "Metal is bonded to earth",
            ", ".join(f"not the {name}" for name in missing) or "all that people touch",
            "all",
            not missing,
        ),
        Finding(
            "Ferrites on the cables that leave the box",
            str(len(earth["ferrites"])),
            "2, by part number",
            sum(any(c.isdigit() for c in one) for one in earth["ferrites"]) >= 2,
        ),
    ]


def judge(said: dict[str, Any], pinmap: dict[str, Any], bom: Bom) -> list[Finding]:
    """Judge everything electric."""
    return [
        *rails(said, bom),
        *edges(said),
        *outgoing(said, pinmap),
        *pins(said, pinmap),
        *lamps(said),
        *box(said, bom),
    ]


def electric_page(said: dict[str, Any]) -> str:
    """Write what protects, earths, cools and buffers the table, in Markdown."""
    bus, ups, earth, usb, heat, clock = (
        said[name] for name in ("bus", "ups", "earth", "usb", "heat", "clock")
    )
    lines = [
        "# Protection, earth, power in reserve",
        "",
        "Made by `make hardware` from `hardware/electric.toml`. Part numbers and figures of data sheets are from "
        "memory, but for",
        "those of the last list: check the others against the maker's sheet. UNTESTED on hardware.",
        "",
        "| wires that leave a box | what limits their current | what takes a spark |",
        "|---|---|---|",
        *(f"| {', '.join(one['wires'])} | {one['limit']} | {one['tvs']} |" for one in said["outgoing"]),
        "",
        f"- **Readers' bus:** {bus['gates']}, a gate for each reader, enabled by its select line; "
        f"{bus['series_ohm']:g} Ω in SCK and",
        f"  MOSI of each branch; {bus['pull_up_ohm'] / 1000:g} kΩ to 3.3 V on each select line, "
        f"{bus['idle_ohm'] / 1000:g} kΩ to ground at each",
        f"  gate's input; {config.BAUD / 1000:.0f} kHz.",
        f"- **Lamp driver:** {said['driver']['part']}: it fits a ULN2003A's place pin for pin, which would dim "
        "white and green lamps by half.",
        f"- **Earth:** {', '.join(earth['bonded'])}: toothed washers through the anodising, 0.1 Ω each at most. "
        f"{earth['once']}. "
        f"Aim: {earth['goal']}.",
        *(f"- **Ferrite:** {one}." for one in earth["ferrites"]),
        f"- **Clock:** {clock['battery']}; `{clock['setting']}` in `config.txt`; {clock['warning']}.",
        f"- **Heat:** {heat['watts']:g} W in the box: a 40 mm fan of 6 CFM or more, on the Pi's 5 V; two grilles "
        "of 20 cm², one low, one high.",
        f"- **USB:** the Pi's ports give {usb['negotiated_a']:g} A together on its own 27 W supply, "
        f"{usb['else_a']:g} A on any other. On a UPS set "
        + " and ".join(usb["ups_flags"])
        + "; without a UPS set neither.",
        f"- **UPS (optional):** {ups['board']}, {ups['cells']}: BCM {ups['fail']} is low when the mains have "
        f"failed; BCM {ups['charging']} "
        f"stops its charging while it is high, and is never driven; I2C on {ups['i2c'][0]} and {ups['i2c'][1]}. "
        f"{ups['note'].capitalize()}.",
        "",
        "Read, not from memory (nothing was measured):",
        "",
        *(f"- {one['of']}: {one['where']}." for one in said["source"]),
    ]
    return "\n".join(lines) + "\n"
