"""What protects a table, judged: fuses and sparks on wires that leave a box, heat, clock, reserve, earth; its page.

Computed from `electric.toml`; UNTESTED on hardware.
"""

import math
import re
from typing import Any, Final

from firmware.puck_reader import config
from hardware.make.bom import Bom
from hardware.make.finding import Finding, least, most, none
from hardware.make.tables import fill
from hardware.make.wiring import panel_cores

WARM: Final = {"PTC": 0.7, "fuse": 0.8}
"""The share of its nominal current that a limit carries for ever in a warm box: a PTC at 50 °C, a fuse of 5 × 20 mm."""
OPENS: Final = {"PTC": 2.0, "fuse": 2.1}
"""At how many times its nominal current a limit opens (Bourns' MF-R sheet; IEC 60127)."""
BEARS: Final = {0.14: 1.0, 0.75: 6.0}
"""Amperes that a core of so many mm² bears in a cable."""
AIR: Final = 1206.0
"""J/(m³·K), of air at 20 °C."""
BODIES: Final = "bodies of the push-buttons"
MAX_AIR_M_PER_S: Final = 2.0
"""Speed of the air in the smallest opening: there it takes some 6 Pa of the fan's 20 and more."""
EARTHED: Final = ("beam", "far post", "near post", "foot plates", "carriers and lamps' housings", BODIES)
COUNTED: Final = ("none", "one", "two", "three", "four")
M3_PER_S: Final = 0.000472
"""Of one CFM."""


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    return float(found[1]) if found else 0.0


def _stands(part: dict[str, Any]) -> bool:
    """Whether a TVS's stand-off is below the volts that its number names: P6KE6.8A, PESD5V0S1BA."""
    named = _number(r"P6KE([\d.]+)", part["part"]) or _number(r"PESD(\d+)V", part["part"])
    return bool(0 < part["stands_v"] <= named)


def _faults(one: dict[str, Any], said: dict[str, Any], bom: Bom) -> list[str]:
    """List what is wrong with the protection of these wires."""
    limit, holds, most_v, carries = one["limit"], one["limit_a"], one["most_v"], one.get("carries", [])
    kind = next((kind for kind in WARM if kind in limit), "")
    told = _number(r"([\d.]+) A\b", limit)
    if not kind:
        told = round(most_v / (_number(r"([\d.]+) kΩ", limit) * 1000 or 1), 4)
    load, bears = _load(bom, carries), BEARS.get(one["core_mm2"], 0.0)
    names = " ".join(f"{part.name} {part.choice.name}" for part in bom.part)
    tvs = [part for part in said["tvs"] if part["part"] in one["tvs"] and part["part"] in names]
    stands = bool(tvs) and all(part["stands_v"] >= most_v for part in tvs)
    numbers, bought = (set(re.findall(r"MF-R\d+|T [\d.]+ A", text)) for text in (limit, names))
    cores = {part.core_mm2 for part in bom.part if carries and list(part.feeds) == carries}
    checks = (
        (told == holds, f"its limit is not {holds:g} A"),
        (numbers <= bought, "its limit is on no list"),
        (load <= holds * WARM.get(kind, 1.0), f"it does not carry {load:.2f} A"),
        (holds * OPENS.get(kind, 1.0) <= one["opens_a"] <= bears, f"it opens at {one['opens_a']:g} A"),
        (cores <= {one["core_mm2"]}, "its cable has other cores"),
        (
            max((bom.volts[bom.get(part).supply] for part in carries), default=0) <= most_v,
            f"it is on more than {most_v:g} V",
        ),
        (stands, f"no named and bought TVS for {most_v:g} V"),
        (all(_stands(part) for part in tvs), "its TVS conducts earlier than that"),
    )
    return [fault for ok, fault in checks if not ok]


def _load(bom: Bom, carries: list[str]) -> float:
    """What these parts draw, amperes; each lamp has a fuse of its own."""
    return bom.amps(carries) / (bom.get("lamps").quantity if carries == ["lamps"] else 1)


def outgoing(said: dict[str, Any], pinmap: dict[str, Any], bom: Bom) -> list[Finding]:
    """Judge the wires that leave a box: the limit carries the load, opens below what they bear; the TVS stands off."""
    must = {core for core in panel_cores(pinmap) if core != "GND"}
    must |= {"puck 5 V", "lamp far +24V", "lamp near +24V"}
    found = []
    for one in said["outgoing"]:
        must -= set(one["wires"])
        fine = f"{_load(bom, one.get('carries', [])):.2f} A; {one['limit']}; {one['tvs']}"
        limit = f"bears {BEARS.get(one['core_mm2'], 0.0):g} A; {one['most_v']:g} V"
        wires = f"Leaves a box: {', '.join(one['wires'])}"
        found.append(none(wires, _faults(one, said, bom), fine, limit, "; "))
    return [*found, none("Wires without protection", sorted(must), "none", "none")]


def box(said: dict[str, Any], bom: Bom) -> list[Finding]:
    """Judge heat, clock, battery, earth, ferrites."""
    heat, ups, earth, clock = said["heat"], said["ups"], said["earth"], said["clock"]
    (load,) = (load for load in bom.loads() if load.supply.id == "box")
    fan, grille, ferrite = bom.get("fan"), bom.get("enclosure"), bom.get("ferrites")
    inside = bom.get("computer").watts + fan.watts + load.watts * (1 - ups["converter"])
    flow = heat["fan_m3_per_s"] * heat["usable"]
    rise = heat["watts"] / (flow * AIR or heat["area_m2"] * heat["w_per_m2_k"])
    bought = fan.number(r"([\d.]+) CFM")
    round_cm2 = math.pi / 4 * (fan.number(r"(\d+) × \d+") / 10) ** 2
    speed = flow / min(heat["in_cm2"], heat["out_cm2"]) * 1e4
    minutes = 60 * ups["cell_ah"] * ups["pieces"] * ups["cell_v"] * ups["usable"] / load.watts
    cells = ups["cells"].startswith(COUNTED[ups["pieces"]]) and f"{ups['cell_ah']:g} Ah" in ups["cells"]
    missing = [f"not the {name}" for name in EARTHED if name not in earth["bonded"]]
    missing += [f"not the {what}'s way" for what in ("once", "supply") if not earth.get(what)]
    charged = _number(r"rtc_bbat_vchg=(\d+)", clock["setting"]) / 1e6
    low, high = clock["cell_v"]
    cell = re.findall(r"ML\d{4}", clock["battery"])
    ferrites = re.findall(r"\d{10}", " ".join(earth["ferrites"]))
    watts, counted = f"{heat['watts']:g} W", "{:.1f} W: computer, fan, the UPS's loss"
    return [
        most("Air in the box, above the room's", f"{{:.0f}} K at {watts}", rise, heat["rise_k"], "{:g} K"),
        least("All heat of the box is counted", "{:g} W", heat["watts"], inside, counted),
        Finding(
            "The fan on the parts list is the one that is computed with",
            f"{heat['fan_m3_per_s'] / M3_PER_S:.1f} CFM",
            f"{bought:g} CFM",
            heat["fan_m3_per_s"] <= bought * M3_PER_S * 1.005,
        ),
        Finding(
            "Air in the box's smallest opening",
            f"{speed:.1f} m/s",
            f"{MAX_AIR_M_PER_S:g} m/s; {heat['in_cm2']:g} cm² in, on the parts list",
            speed <= MAX_AIR_M_PER_S
            and grille.number(r"([\d.]+) cm²") == heat["in_cm2"]
            and heat["out_cm2"] <= round_cm2,
        ),
        Finding(
            "The clock keeps time without mains",
            f"{clock['battery'] or 'no battery'}; charged at {charged:g} V",
            f"a battery on the parts list, {low:g} to {high:g} V",
            bool(cell) and cell[0] in bom.get("clock-battery").text and low <= charged <= high,
        ),
        Finding(
            "The UPS lasts",
            f"{minutes:.0f} min at {load.watts:.1f} W",
            f"{ups['needed_min']:g} min",
            minutes >= ups["needed_min"] and cells and ups["usable"] <= 0.8 * ups["converter"],
        ),
        none("Metal is bonded to earth", missing, "all that people touch", "all"),
        Finding(
            "Ferrites on the cables that leave the box",
            ", ".join(ferrites) or "none",
            "2, by part number, on the parts list",
            len(set(ferrites)) >= 2 and all(one in ferrite.text for one in ferrites),
        ),
    ]


def electric_page(said: dict[str, Any]) -> str:
    """Write what protects, earths, cools and buffers the table, in Markdown."""
    return fill("electric.md", baud=config.BAUD, **said)
