"""The looms of what is plugged: mains, supplies, the Pi's ports, lamps; the UPS."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hardware.make.bom import Bom
from hardware.make.wiring import HEADER_BCM

EARTH_NOTE = "the housing is on the mains lead's earth: measure 0.1 ohm to the plug's earth pin"


def supply_loom(bom: Bom) -> dict[str, Any]:
    """The loom of what is plugged: mains, both supplies, the Pi's ports, the lamps behind their fuses."""
    box, light = ({s.id: s for s in bom.supply}[name] for name in ("box", "light"))
    camera = next(part for part in bom.part if part.id == "camera").choice.name.partition(",")[0]
    connectors: dict[str, Any] = {
        "Strip": {
            "type": "socket strip",
            "subtype": "on the near post",
            "pinlabels": ["socket 1", "socket 2"],
            "notes": "the only mains on the table",
        },
        "Box_supply": {
            "type": "USB-C supply",
            "subtype": f"{box.volts:g} V {box.amps:g} A",
            "pinlabels": ["mains", "USB-C"],
        },
        "Lamp_supply": {
            "type": "LED driver",
            "subtype": f"{light.volts:g} V {light.amps:g} A, no PWM",
            "pinlabels": ["mains", "+24V", "-", "housing: a screw through an ear"],
        },
        "Fuses": {
            "type": "fuse holders",
            "subtype": "T 2.5 A, P6KE33A each",
            "pinlabels": ["in", "-", "out, far", "out, near"],
        },
        "Pi": {
            "type": "Raspberry Pi",
            "subtype": "in the box",
            "pinlabels": ["USB-C power", "CAM/DISP 0", "HDMI 0", "USB 1", "USB 2"],
        },
        "Camera": {"type": camera, "subtype": "below the beam", "pinlabels": ["ribbon"]},
        "Display": {
            "type": "display",
            "subtype": "before the dealer",
            "pinlabels": ["HDMI", "USB (touch, power)"],
        },
        "Pico": {"type": "puck reader", "subtype": "under the table", "pinlabels": ["micro-USB"]},
        "Lamp_far": {"type": "LED bar", "subtype": "24 V, far", "pinlabels": ["+24V", "-"]},
        "Lamp_near": {"type": "LED bar", "subtype": "24 V, near", "pinlabels": ["+24V", "-"]},
        "Frame": {"type": "near post", "subtype": "lug M8", "pinlabels": ["earth"]},
    }
    plugged = {"wirecount": 1, "colors": ["BK"]}
    pair = {"wirecount": 2, "gauge": "0.75 mm2", "length": bom.length_m("lamp-cable"), "colors": ["RD", "BK"]}
    ferrite = {"notes": "any USB port; ferrite at the box"}
    cables: dict[str, Any] = {
        "M1": plugged | {"type": "mains plug"},
        "M2": plugged | {"type": "mains plug"},
        "W1": plugged | {"type": "its own USB-C cable", "length": 1.2},
        "W2": plugged | {"type": "ribbon, 15 to 22 pins", "length": bom.length_m("camera-cable")},
        "W3": plugged | {"type": "HDMI to micro-HDMI", "length": bom.length_m("display-cable")},
        "W4": plugged | {"type": "USB", "length": bom.length_m("display-cable")} | ferrite,
        "W5": plugged | {"type": "USB, micro-B", "length": bom.length_m("puck-cable")} | ferrite,
        "WF": pair
        | {
            "length": 0.1,
            "notes": "each P6KE33A from a fuse's far side to -, its band to +; set the supply to 24.0 V before a lamp "
            "is on it",
        },
        "W6": pair,
        "W7": pair,
        "PE": {"wirecount": 1, "gauge": "2.5 mm2", "length": 0.5, "colors": ["GNYE"], "notes": EARTH_NOTE},
    }
    connections: list[Any] = [
        [{"Strip": 1}, {"M1": 1}, {"Box_supply": 1}],
        [{"Strip": 2}, {"M2": 1}, {"Lamp_supply": 1}],
        [{"Box_supply": 2}, {"W1": 1}, {"Pi": 1}],
        [{"Pi": 2}, {"W2": 1}, {"Camera": 1}],
        [{"Pi": 3}, {"W3": 1}, {"Display": 1}],
        [{"Pi": 4}, {"W4": 1}, {"Display": 2}],
        [{"Pi": 5}, {"W5": 1}, {"Pico": 1}],
        [{"Lamp_supply": [2, 3]}, {"WF": [1, 2]}, {"Fuses": [1, 2]}],
        [{"Fuses": [3, 2]}, {"W6": [1, 2]}, {"Lamp_far": [1, 2]}],
        [{"Fuses": [4, 2]}, {"W7": [1, 2]}, {"Lamp_near": [1, 2]}],
        [{"Lamp_supply": [4]}, {"PE": [1]}, {"Frame": [1]}],
    ]
    return {"connectors": connectors, "cables": cables, "connections": connections}


def ups_loom(pinmap: Path, electric: dict[str, Any]) -> dict[str, Any]:
    """The loom of the optional UPS: between the box's supply and the Pi, by spring contacts below the header."""
    table = tomllib.loads(pinmap.read_text(encoding="utf-8"))
    ups, pin_of = electric["ups"], {bcm: pin for pin, bcm in HEADER_BCM.items()}
    fail, charging = table["power"]["fail"], table["reserved"]["charging"]
    pins = [2, 6, *(pin_of[bcm] for bcm in ups["i2c"]), fail["pin"], charging["pin"]]
    labels = [
        "5V",
        "GND",
        *(f"BCM {bcm} I2C" for bcm in ups["i2c"]),
        f"BCM {fail['bcm']} power fail",
        f"BCM {charging['bcm']} charging",
    ]
    contacts = ["5V", "GND", "SDA", "SCL", "power fail", "charging"]
    connectors: dict[str, Any] = {
        "Box_supply": {"type": "USB-C supply", "pinlabels": ["USB-C"]},
        "UPS": {
            "type": ups["board"].partition(" for ")[0],
            "subtype": "below the Pi",
            "pinlabels": ["USB-C in", *contacts],
            "notes": "power fail: low while it runs on its battery. charging: high stops it; the Pi never drives "
            "it. Cells: " + ups["cells"],
        },
        "Pi": {"type": "Raspberry Pi 5", "subtype": "header, from below", "pins": pins, "pinlabels": labels},
    }
    cables: dict[str, Any] = {
        "W1": {"wirecount": 1, "type": "its own USB-C cable", "colors": ["BK"], "length": 1.2},
        "W2": {
            "wirecount": len(pins),
            "type": "spring contacts: screw the board on",
            "colors": ["RD", "BK", "GN", "YE", "VT", "WH"],
        },
    }
    connections: list[Any] = [
        [{"Box_supply": 1}, {"W1": 1}, {"UPS": 1}],
        [{"UPS": [2, 3, 4, 5, 6, 7]}, {"W2": [1, 2, 3, 4, 5, 6]}, {"Pi": pins}],
    ]
    return {"connectors": connectors, "cables": cables, "connections": connections}
