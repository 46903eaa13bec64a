"""What protects a table, judged: fuses and sparks on wires that leave a box, heat, clock, reserve, earth; its page.

Computed from `electric.toml`; UNTESTED on hardware.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from firmware.puck_reader import config
from hardware.make.bom import Bom, load_of
from hardware.make.errors import BomError
from hardware.make.finding import Finding
from hardware.make.wiring import panel_cores

WARM: Final = {"PTC": 0.7, "fuse": 0.8}
"""The share of its nominal current that a limit carries for ever in a warm box: a PTC at 50 °C, a fuse of 5 × 20 mm."""
OPENS: Final = {"PTC": 2.0, "fuse": 2.1}
"""At how many times its nominal current a limit opens (Bourns' MF-R sheet; IEC 60127)."""
BEARS: Final = {0.14: 1.0, 0.75: 6.0}
"""Amperes that a core of so many mm² bears in a cable."""
AIR: Final = 1206.0
"""J/(m³·K), of air at 20 °C."""
MOST_M_PER_S: Final = 2.0
"""Of the air in the smallest opening: there it takes some 6 Pa of the fan's 20 and more."""
EARTHED: Final = (
    "beam",
    "far post",
    "near post",
    "foot plates",
    "carriers and lamps' housings",
    "bodies of the push-buttons",
)
COUNTED: Final = ("none", "one", "two", "three", "four")
M3_PER_S: Final = 0.000472
"""Of one CFM."""


def _name(bom: Bom, part_id: str) -> str:
    """A part's name and its recommended choice. Raises BomError: there is no such part."""
    for part in bom.part:
        if part.id == part_id:
            return f"{part.name}: {part.choice.name}"
    raise BomError(f"the parts list has no {part_id}")


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    return float(found[1]) if found else 0.0


def _stands(part: dict[str, Any]) -> bool:
    """Whether a TVS's stand-off is below the volts that its number names: P6KE6.8A, PESD5V0S1BA."""
    named = _number(r"P6KE([\d.]+)", part["part"]) or _number(r"PESD(\d+)V", part["part"])
    return bool(0 < part["stands_v"] <= named)


def _faults(one: dict[str, Any], said: dict[str, Any], bom: Bom) -> list[str]:
    """List what is wrong with the protection of these wires."""
    limit, holds, most, carries = one["limit"], one["limit_a"], one["most_v"], one.get("carries", [])
    kind = next((kind for kind in WARM if kind in limit), "")
    told = (
        _number(r"([\d.]+) A\b", limit)
        if kind
        else round(most / (_number(r"([\d.]+) kΩ", limit) * 1000 or 1), 4)
    )
    load, bears = _load(bom, carries), BEARS.get(one["core_mm2"], 0.0)
    fed = [part for part in bom.part if part.id in carries]
    volts = {supply.id: supply.volts for supply in bom.supply}
    names = " ".join(f"{part.name} {part.choice.name}" for part in bom.part)
    tvs = [part for part in said["tvs"] if part["part"] in one["tvs"] and part["part"] in names]
    number = re.compile(r"MF-R\d+|T [\d.]+ A")
    cores = {part.core_mm2 for part in bom.part if carries and list(part.feeds) == carries}
    checks = (
        (told == holds, f"its limit is not {holds:g} A"),
        (set(number.findall(limit)) <= set(number.findall(names)), "its limit is on no list"),
        (load <= holds * WARM.get(kind, 1.0), f"it does not carry {load:.2f} A"),
        (holds * OPENS.get(kind, 1.0) <= one["opens_a"] <= bears, f"it opens at {one['opens_a']:g} A"),
        (cores <= {one["core_mm2"]}, "its cable has other cores"),
        (all(volts[str(part.supply)] <= most for part in fed), f"it is on more than {most:g} V"),
        (
            bool(tvs) and all(part["stands_v"] >= most for part in tvs),
            f"no named and bought TVS for {most:g} V",
        ),
        (all(_stands(part) for part in tvs), "its TVS conducts earlier than that"),
    )
    return [fault for ok, fault in checks if not ok]


def _load(bom: Bom, carries: list[str]) -> float:
    """What these parts draw, amperes; each lamp has a fuse of its own."""
    pieces = next(part.quantity for part in bom.part if part.id == "lamps")
    return load_of(bom, carries) / (pieces if carries == ["lamps"] else 1)


def outgoing(said: dict[str, Any], pinmap: dict[str, Any], bom: Bom) -> list[Finding]:
    """Judge the wires that leave a box: the limit carries the load, opens below what they bear; the TVS stands off."""
    must = {core for core in panel_cores(pinmap) if core != "GND"}
    must |= {"puck 5 V", "lamp far +24V", "lamp near +24V"}
    found = []
    for one in said["outgoing"]:
        must -= set(one["wires"])
        wrong = _faults(one, said, bom)
        found.append(
            Finding(
                f"Leaves a box: {', '.join(one['wires'])}",
                "; ".join(wrong)
                or f"{_load(bom, one.get('carries', [])):.2f} A; {one['limit']}; {one['tvs']}",
                f"bears {BEARS.get(one['core_mm2'], 0.0):g} A; {one['most_v']:g} V",
                not wrong,
            )
        )
    found.append(Finding("Wires without protection", ", ".join(sorted(must)) or "none", "none", not must))
    return found


def box(said: dict[str, Any], bom: Bom) -> list[Finding]:
    """Judge heat, clock, battery, earth, ferrites."""
    heat, ups, earth, clock = said["heat"], said["ups"], said["earth"], said["clock"]
    (load,) = (load for load in bom.loads() if load.supply.id == "box")
    watts = {part.id: part.watts for part in load.parts}
    inside = watts["computer"] + watts["fan"] + load.watts * (1 - ups["converter"])
    flow = heat["fan_m3_per_s"] * heat["usable"]
    rise = heat["watts"] / (flow * AIR or heat["area_m2"] * heat["w_per_m2_k"])
    bought = _number(r"([\d.]+) CFM", _name(bom, "fan")) * M3_PER_S
    speed = flow / min(heat["in_cm2"], heat["out_cm2"]) * 1e4
    hours = ups["cell_ah"] * ups["pieces"] * ups["cell_v"] * ups["usable"] / load.watts
    missing = [name for name in EARTHED if name not in earth["bonded"]]
    missing += [f"{what}'s way" for what in ("once", "supply") if not earth.get(what)]
    charged = _number(r"rtc_bbat_vchg=(\d+)", clock["setting"]) / 1e6
    least, most = clock["cell_v"]
    cell = re.findall(r"ML\d{4}", clock["battery"])
    ferrites = [one for said_so in earth["ferrites"] for one in re.findall(r"\d{10}", said_so)]
    return [
        Finding(
            "Air in the box, above the room's",
            f"{rise:.0f} K at {heat['watts']:g} W",
            f"{heat['rise_k']:g} K",
            rise <= heat["rise_k"],
        ),
        Finding(
            "All heat of the box is counted",
            f"{heat['watts']:g} W",
            f"{inside:.1f} W: computer, fan, the UPS's loss",
            heat["watts"] >= inside,
        ),
        Finding(
            "The fan on the parts list is the one that is computed with",
            f"{heat['fan_m3_per_s'] / M3_PER_S:.1f} CFM",
            f"{bought / M3_PER_S:g} CFM",
            heat["fan_m3_per_s"] <= bought * 1.005,
        ),
        Finding(
            "Air in the box's smallest opening",
            f"{speed:.1f} m/s",
            f"{MOST_M_PER_S:g} m/s; {heat['in_cm2']:g} cm² in, on the parts list",
            speed <= MOST_M_PER_S
            and _number(r"([\d.]+) cm²", _name(bom, "enclosure")) == heat["in_cm2"]
            and heat["out_cm2"] <= math.pi / 4 * (_number(r"(\d+) × \d+", _name(bom, "fan")) / 10) ** 2,
        ),
        Finding(
            "The clock keeps time without mains",
            f"{clock['battery'] or 'no battery'}; charged at {charged:g} V",
            f"a battery on the parts list, {least:g} to {most:g} V",
            bool(cell) and cell[0] in _name(bom, "clock-battery") and least <= charged <= most,
        ),
        Finding(
            "The UPS lasts",
            f"{60 * hours:.0f} min at {load.watts:.1f} W",
            f"{ups['needed_min']:g} min",
            60 * hours >= ups["needed_min"]
            and f"{ups['cell_ah']:g} Ah" in ups["cells"]
            and ups["cells"].startswith(COUNTED[ups["pieces"]])
            and ups["usable"] <= 0.8 * ups["converter"],
        ),
        Finding(
            "Metal is bonded to earth",
            ", ".join(f"not the {name}" for name in missing) or "all that people touch",
            "all",
            not missing,
        ),
        Finding(
            "Ferrites on the cables that leave the box",
            ", ".join(ferrites) or "none",
            "2, by part number, on the parts list",
            len(set(ferrites)) >= 2 and all(one in _name(bom, "ferrites") for one in ferrites),
        ),
    ]


def electric_page(said: dict[str, Any]) -> str:
    """Write what protects, earths, cools and buffers the table, in Markdown."""
    bus, ups, earth, usb, heat, clock = (
        said[name] for name in ("bus", "ups", "earth", "usb", "heat", "clock")
    )
    lines = [
        "# Protection, earth, power in reserve",
        "",
        "Made by `make hardware` from `hardware/electric.toml`. What was read of data sheets is listed below, with its "
        "source:",
        "check every other figure against the maker's sheet. UNTESTED on hardware.",
        "",
        "| wires that leave a box | what limits their current | what takes a spark |",
        "|---|---|---|",
        *(f"| {', '.join(one['wires'])} | {one['limit']} | {one['tvs']} |" for one in said["outgoing"]),
        "",
        f"- **Readers' bus:** two {bus['gate']}, a gate for each reader, enabled by its select line; "
        f"{bus['series_ohm']:g} Ω in SCK and",
        f"  MOSI of each branch; {bus['pull_up_ohm'] / 1000:g} kΩ to 3.3 V on each select line, "
        f"{bus['idle_ohm'] / 1000:g} kΩ to ground at each",
        f"  gate's input; {config.BAUD / 1000:.0f} kHz.",
        f"- **Lamp driver:** {said['driver']['part']}: it fits a ULN2003A's place pin for pin, which would dim "
        "white and green lamps by half.",
        f"- **Earth:** {', '.join(earth['bonded'])}: toothed washers through the anodising, 0.1 Ω each at most. "
        f"{earth['once']}. "
        f"Earth comes from {earth['supply']}. Aim: {earth['goal']}.",
        *(f"- **Ferrite:** {one}." for one in earth["ferrites"]),
        f"- **Clock:** {clock['battery']}; `{clock['setting']}` in `config.txt`; {clock['warning']}.",
        f"- **Heat:** {heat['watts']:g} W in the box: a 40 mm fan of 6 CFM or more, on the Pi's 5 V, blowing out "
        f"through its own hole high in the box ({heat['out_cm2']:g} cm²); a grille of {heat['in_cm2']:g} cm², low on "
        "the other side.",
        f"- **USB:** the Pi 5's ports and its fan header give {usb['negotiated_a']:g} A together on its own 27 W "
        "supply, "
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
        "",
        "Not read, and relied on: check these first.",
        "",
        *(f"- {one['of']}." for one in said["unread"]),
    ]
    return "\n".join(lines) + "\n"
