"""Writes both boards' KiCad project, `hardware/boards`. Laying tracks takes a minute: `tracks.json` keeps them."""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from hardware.make.boards import pcb, schematic
from hardware.make.boards.circuit import Circuit, panel_circuit, puck_circuit
from hardware.make.boards.layout import Layout
from hardware.make.boards.route import Router, Track
from hardware.make.finding import Finding, least
from hardware.make.tables import fill, toml

FOLDER: Final = "boards"
TRACKS: Final = "boards/tracks.json"
BOARDS: Final = ("panel", "puck")
TABLE: Final = """({kind}_lib_table
  (version 7)
  (lib (name "feltwatch")(type "KiCad")(uri "${{KIPRJMOD}}/feltwatch.{ending}")(options "")(descr ""))
)
"""
MIL: Final = 0.0254


def circuits(pins: dict[str, Any]) -> list[Circuit]:
    """Return both circuits."""
    return [panel_circuit(pins), puck_circuit()]


def layouts(root: Path, pins: dict[str, Any]) -> list[Layout]:
    """Return both boards with their parts placed. Raises DataTableError."""
    table = toml(root / "boards.toml")
    return [Layout(circuit, table) for circuit in circuits(pins)]


def asked(layout: Layout) -> str:
    """Return a hash of all that decides where tracks run."""
    facts = [layout.size, layout.hole, layout.holes, layout.track, *map(repr, layout.pads())]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def lay(root: Path, pins: dict[str, Any]) -> None:
    """Lay the tracks of each board whose parts have changed. Raises DataTableError: there is no way."""
    path = root / TRACKS
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for layout in layouts(root, pins):
        if kept.get(layout.circuit.name, {}).get("of") != asked(layout):
            laid = [
                [track.net, track.side, *(round(value, 4) for end in track.ends for value in end)]
                for track in Router(layout).route()
            ]
            kept[layout.circuit.name] = {"of": asked(layout), "tracks": laid}
    lines = [
        f'"{name}": {{"of": "{board["of"]}", "tracks": [\n'
        + ",\n".join(map(json.dumps, board["tracks"]))
        + "]}"
        for name, board in sorted(kept.items())
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


def tracks(root: Path, layout: Layout) -> list[Track]:
    """Return a board's tracks as they were laid. Raises KeyError, OSError."""
    kept = json.loads((root / TRACKS).read_text(encoding="utf-8"))[layout.circuit.name]["tracks"]
    return [Track(net, side, ((a, b), (c, d))) for net, side, a, b, c, d in kept]


def texts(root: Path, pins: dict[str, Any]) -> dict[str, str]:
    """Return every file of the project but the tracks', by its name; `root` is `hardware/`."""
    boards = layouts(root, pins)
    every = [layout.circuit for layout in boards]
    table = toml(root / "boards.toml")
    kinds = {kind.symbol: kind for circuit in every for kind in schematic.kinds(circuit)}
    made = {
        "feltwatch.kicad_sym": schematic.library(every),
        "sym-lib-table": TABLE.format(kind="sym", ending="kicad_sym"),
        "fp-lib-table": TABLE.format(kind="fp", ending="pretty"),
    }
    made |= {
        f"feltwatch.pretty/{name}.kicad_mod": pcb.footprint(kind).text() + "\n"
        for name, kind in kinds.items()
    }
    for layout in boards:
        name = layout.circuit.name
        made[f"{name}.kicad_sch"] = schematic.schematic(layout.circuit)
        made[f"{name}.kicad_pro"] = pcb.project(layout.circuit, layout.track)
        made[f"{name}.kicad_pcb"] = pcb.board(layout, tracks(root, layout), tuple(table[name]["title_mm"]))
    return {f"{FOLDER}/{name}": text for name, text in made.items()} | {
        "out/boards.md": fill("boards.md", boards=boards)
    }


def bears_a(track: dict[str, float]) -> float:
    """Return the current that warms a track on the outside by `rise_k`, by IPC-2221; its area is in square mils."""
    area = track["wide_mm"] / MIL * track["copper_um"] / 1000 / MIL
    return float(0.048 * track["rise_k"] ** 0.44 * area**0.725)


def tracks_bear(boards: dict[str, Any], electric: dict[str, Any]) -> Finding:
    """Judge that a track bears what opens the fuse before it."""
    track = boards["track"]
    most = max(wires["opens_a"] for wires in electric["outgoing"] if "PTC" in wires["limit"])
    rule = f"Tracks of both boards, {track['wide_mm']:g} mm, {track['rise_k']:g} K warmer"
    return least(rule, "{:.1f} A", bears_a(track), most, "{:.1f} A, what trips the panel's PTC")
