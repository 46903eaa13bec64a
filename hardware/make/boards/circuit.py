"""What is joined to what on both boards, from the same pins as the looms (`../wiring.py`). UNTESTED on hardware."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from firmware.puck_reader import config
from hardware.make.boards.kinds import Kind, chip, pair, pico, row
from hardware.make.wiring import GATES, PICO_PINS, panel_cores, panel_wires


@dataclass(frozen=True)
class Part:
    """A part: its name on the board, what is bought, its kind, the net at each of its pins; "" is none."""

    ref: str
    value: str
    kind: Kind
    nets: dict[str, str]


@dataclass
class Circuit:
    """A board's parts, in the groups in which the drawing shows them, and the nets that a supply feeds."""

    name: str
    title: str
    fed: tuple[str, ...]
    groups: dict[str, list[Part]] = field(default_factory=dict)

    def add(self, group: str, ref: str, value: str, kind: Kind, nets: Iterable[str] | dict[str, str]) -> None:
        """Put a part into a group: a net for each pin in the order of its kind, or by the pin's number."""
        pins = [pin.number for pin in kind.pins]
        joined = nets if isinstance(nets, dict) else dict(zip(pins, nets, strict=True))
        each = {pin: joined.get(pin, "") for pin in pins}
        self.groups.setdefault(group, []).append(Part(ref, value, kind, each))

    @property
    def parts(self) -> list[Part]:
        """Every part."""
        return [part for parts in self.groups.values() for part in parts]

    @property
    def nets(self) -> dict[str, list[tuple[str, str]]]:
        """Every net's pins: part and number."""
        found: dict[str, list[tuple[str, str]]] = {}
        for part in self.parts:
            for pin, net in part.nets.items():
                if net:
                    found.setdefault(net, []).append((part.ref, pin))
        return found


def panel_circuit(pinmap: dict[str, Any]) -> Circuit:
    """Return the panel board: what lies between the header's wires and the cores of the panel's cable."""
    it = Circuit("panel", "Panel board", ("GND",))
    wires, cores = [wire["name"] for wire in panel_wires(pinmap)], panel_cores(pinmap)
    it.add("From the Pi's header", "J1", "wires of W1", row("from the Pi", wires), wires)
    ends = [*cores, "GND"]
    kind = row("to the panel", [*cores, "GND, to the beam's earth"], screws=True)
    it.add("To the panel", "J2", "terminal strip", kind, ends)
    for number, name in enumerate(pinmap["buttons"], start=1):
        group, pin, core = f"Contact of {name}", f"push-button {name}", f"contact {name}"
        it.add(group, f"R{number + 3}", "10 kΩ", pair("R"), ("3V3", pin))
        it.add(group, f"C{number}", "100 nF", pair("C"), (pin, "GND"))
        it.add(group, f"R{number}", "1 kΩ", pair("R"), (pin, core))
        it.add(group, f"D{number}", "PESD5V0S1BA", pair("TVS"), (core, "GND"))
    sinks = [*(f"lamp {name}" for name in pinmap["lamps"]), *pinmap["buzzer"]]
    driver = chip(
        "TBD62003APG",
        [*((f"I{n}", "input") for n in range(1, 8)), ("GND", "power_in"), ("COMMON", "passive")],
        [(f"O{n}", "open_collector") for n in range(7, 0, -1)],
    )
    pins = {str(n): name for n, name in enumerate(sinks, start=1)} | {"8": "GND", "9": "+5V"}
    pins |= {str(17 - n): f"{name} -" for n, name in enumerate(sinks, start=1)}
    it.add("Lamps and buzzer", "U1", "TBD62003APG", driver, pins)
    it.add("The panel's 5 V", "F1", "MF-R050", pair("PTC"), ("5V", "+5V"))
    it.add("The panel's 5 V", "D4", "P6KE6.8A", pair("DO15"), ("+5V", "GND"))
    return it


def puck_circuit() -> Circuit:
    """Return the puck reader's board: the microcontroller, a gate and a plug for each seat, the readers' supply."""
    it = Circuit("puck", "Puck reader's board", ("GND", "3V3"))
    pins = {PICO_PINS[config.SCK]: "SCK", PICO_PINS[config.MOSI]: "MOSI", PICO_PINS[config.MISO]: "MISO"}
    pins |= {PICO_PINS[config.SERVICE]: "SERVICE", 40: "VBUS"} | dict.fromkeys(range(3, 40, 5), "GND")
    gates: dict[int, dict[str, str]] = {}
    for number, (seat, (select, reset)) in enumerate(config.ANTENNAS.items()):
        pins |= {PICO_PINS[select]: f"SEL{seat}", PICO_PINS[reset]: f"RST{seat}"}
        group, first = f"Seat {seat}", 4 * number
        wires = ["3V3", "GND", f"SCK{seat}", f"MOSI{seat}", f"MISO{seat}", f"SEL{seat}", f"RST{seat}"]
        names = ["3V3", "GND", "SCK", "MOSI", "MISO", "SDA (select)", "RST"]
        it.add(group, f"J{seat}", f"plug of seat {seat}", row("plug", names), wires)
        it.add(group, f"R{first + 1}", "47 Ω", pair("R"), ("SCK", f"SCK{seat}"))
        it.add(group, f"R{first + 2}", "47 Ω", pair("R"), ("MOSI", f"MOSI{seat}"))
        it.add(group, f"R{first + 3}", "100 kΩ", pair("R"), ("GND", f"MISO{seat}"))
        it.add(group, f"R{first + 4}", "10 kΩ", pair("R"), ("3V3", f"SEL{seat}"))
        gate = GATES[number % 4 + 1]
        joined = zip(map(str, gate), (f"SEL{seat}", f"MISO{seat}", "MISO"), strict=True)
        gates.setdefault(number // 4 + 1, {"7": "GND", "14": "3V3"}).update(joined)
    for used in gates.values():  # a gate without a seat is off, its input at a level
        for enable, into, _ in GATES.values():
            used.setdefault(str(enable), "3V3")
            used.setdefault(str(into), "GND")
    named = dict(sorted((pin, f"GP{gp}") for gp, pin in PICO_PINS.items()))
    it.add("Microcontroller", "A1", "Raspberry Pi Pico", pico(named), {str(k): v for k, v in pins.items()})
    last = 4 * len(config.ANTENNAS) + 1
    it.add("Microcontroller", f"R{last}", "10 kΩ", pair("R"), ("MISO", "GND"))
    it.add("Microcontroller", "JP1", "service", row("service", ["SERVICE", "GND"]), ("SERVICE", "GND"))
    gate_pins = {number: (f"{n}{what}", kind) for n, pins in GATES.items() for number, what, kind in zip(
        pins, ("~OE", "A", "Y"), ("input", "input", "tri_state"), strict=True)}  # fmt: skip
    gate_pins |= {7: ("GND", "power_in"), 14: ("VCC", "power_in")}
    sides = [gate_pins[n] for n in range(1, 8)], [gate_pins[n] for n in range(8, 15)]
    for number, nets in gates.items():
        it.add("Gates of the readers' MISO", f"U{number}", "SN74AHC125N", chip("SN74AHC125N", *sides), nets)
        it.add("Gates of the readers' MISO", f"C{number}", "100 nF", pair("C"), ("3V3", "GND"))
    it.add("The readers' 3.3 V", "F1", "MF-R030", pair("PTC"), ("VBUS", "5V"))
    it.add("The readers' 3.3 V", "D1", "P6KE6.8A", pair("DO15"), ("5V", "GND"))
    ends = ("5V", "GND", "3V3")
    it.add("The readers' 3.3 V", "J6", "regulator", row("regulator", ["IN", "GND", "OUT"], marks=True), ends)
    return it
