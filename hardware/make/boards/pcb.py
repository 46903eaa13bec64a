"""A board as KiCad reads it: outline, holes, parts, tracks; its footprints' library; the project's settings."""

import itertools
import json
from collections.abc import Sequence
from typing import Any, Final

from hardware.make.boards.circuit import Circuit, Part
from hardware.make.boards.form import GENERATOR, Node, Word, identity, letters, stroke
from hardware.make.boards.kinds import Kind, Pin
from hardware.make.boards.layout import Layout, Point
from hardware.make.boards.route import Track
from hardware.make.boards.schematic import LIBRARY

ORIGIN: Final = (50.8, 50.8)
"""Where the board's upper left corner lies on KiCad's page, in mm."""
SIDES: Final = ("F.Cu", "B.Cu")
ROOM: Final = 0.05
"""Millimetres that stay free round a part; no more, because resistors stand 2.54 mm apart."""
LAYERS: Final = (
    (0, "F.Cu", "signal"), (31, "B.Cu", "signal"), (34, "B.Paste", "user"), (35, "F.Paste", "user"),
    (36, "B.SilkS", "user"), (37, "F.SilkS", "user"), (38, "B.Mask", "user"), (39, "F.Mask", "user"),
    (44, "Edge.Cuts", "user"), (46, "B.CrtYd", "user"), (47, "F.CrtYd", "user"), (48, "B.Fab", "user"),
    (49, "F.Fab", "user"),
)  # fmt: skip


def _stamp(*names: object) -> Node:
    return Node("tstamp", Word(identity("pcb", *names)))


def _words(
    kind: str, text: str, at: tuple[float, ...], layer: str, size: float, name: str, *more: str
) -> Node:
    return Node(
        "fp_text",
        Word(kind),
        text,
        Node("at", *at),
        Node("layer", layer),
        letters(size, *more),
        _stamp(name, kind, text),
    )


def _frame(box: Sequence[float], layer: str, width: float) -> list[Node]:
    left, top, right, low = box
    corners = [(left, top), (right, top), (right, low), (left, low), (left, top)]
    return [
        Node("fp_line", Node("start", *a), Node("end", *b), stroke(width), Node("layer", layer))
        for a, b in itertools.pairwise(corners)
    ]


def _ref_at(kind: Kind) -> Point:
    """Return where a part's name is printed: on the part, beside a row of pins, or above a part that is too small."""
    left, top, right, low = kind.body
    if not kind.right:
        return -2.4 if kind.pad < 2 else -3.6, 0
    return ((left + right) / 2, (top + low) / 2) if kind.flat is None else (0, -1.5)


def _pad(kind: Kind, pin: Pin, turned: int, net: Node | None) -> Node:
    size = kind.flat or (kind.pad, kind.pad)
    shape = "rect" if kind.flat or (pin.number == "1" and len(kind.pins) > 2) else "circle"
    how = [Word("smd" if kind.flat else "thru_hole"), Word(shape)]
    hole = [] if kind.flat else [Node("drill", kind.drill)]
    layers = Node("layers", *(["F.Cu", "F.Paste", "F.Mask"] if kind.flat else ["*.Cu", "*.Mask"]))
    at = Node("at", *pin.at, *([turned] if turned else []))
    return Node("pad", pin.number, *how, at, Node("size", *size), *hole, layers, *([net] if net else []))


def footprint(
    kind: Kind,
    part: Part | None = None,
    at: Sequence[float] = (),
    nets: dict[str, Node] | None = None,
    path: str = "",
) -> Node:
    """Return a kind's footprint for the library, or a part's on its board."""
    name = part.ref if part else kind.symbol
    turned = int(at[2]) if at else 0
    left, top, right, low = kind.body
    across, up = ((side / 2) for side in kind.flat or (kind.pad, kind.pad))
    xs, ys = [pin.at[0] for pin in kind.pins], [pin.at[1] for pin in kind.pins]
    room = (
        *(min(left, min(xs) - across) - ROOM, min(top, min(ys) - up) - ROOM),
        *(max(right, max(xs) + across) + ROOM, max(low, max(ys) + up) + ROOM),
    )
    drawn = [
        *_frame(kind.body, "F.SilkS", 0.12),
        *_frame(kind.body, "F.Fab", 0.1),
        *_frame(room, "F.CrtYd", 0.05),
    ]
    if kind.marks:
        drawn += [_words("user", pin.name, (pin.at[0], 2.2), "F.SilkS", 0.8, name) for pin in kind.pins]
    ref = _words("reference", part.ref if part else "REF**", (*_ref_at(kind), turned), "F.SilkS", 0.8, name)
    value = _words("value", part.value if part else kind.symbol, (*_ref_at(kind), turned), "F.Fab", 0.8, name)
    pads = [_pad(kind, pin, turned, (nets or {}).get(pin.number)) for pin in kind.pins]
    what = Node("attr", Word("smd" if kind.flat else "through_hole"))
    rest = [what, ref, value, *drawn, *pads]
    layer, words = Node("layer", "F.Cu"), Node("descr", kind.words)
    if part:
        full = f"{LIBRARY}:{kind.symbol}"
        return Node("footprint", full, layer, _stamp(name), Node("at", *at), words, Node("path", path), *rest)
    head = Node("version", 20221018), Node("generator", Word(GENERATOR))
    return Node("footprint", kind.symbol, *head, layer, words, *rest)


def _hole(number: int, at: Point, wide: float) -> Node:
    name = f"H{number}"
    size = Node("size", wide, wide), Node("drill", wide)
    pad = Node(
        "pad",
        "",
        Word("np_thru_hole"),
        Word("circle"),
        Node("at", 0, 0),
        *size,
        Node("layers", "*.Cu", "*.Mask"),
        _stamp(name, "pad"),
    )
    attr = Node("attr", Word("board_only"), Word("exclude_from_pos_files"), Word("exclude_from_bom"))
    ref = _words("reference", name, (0, 0), "F.Fab", 0.8, name)
    value = _words("value", "hole", (0, 1), "F.Fab", 0.8, name)
    return Node(
        "footprint",
        "hole",
        Node("layer", "F.Cu"),
        _stamp(name),
        Node("at", ORIGIN[0] + at[0], ORIGIN[1] + at[1]),
        attr,
        ref,
        value,
        pad,
    )


def board(layout: Layout, tracks: Sequence[Track], title_at: Point) -> str:
    """Return a board's file; `title_at` is where its title is printed."""
    circuit = layout.circuit
    names, net_of_pin = [""], dict[tuple[str, str], Node]()
    for part in circuit.parts:
        for pin in part.kind.pins:
            if net := part.nets[pin.number]:
                if f"/{net}" not in names:
                    names.append(f"/{net}")
                net_of_pin[part.ref, pin.number] = Node("net", names.index(f"/{net}"), f"/{net}")
    x, y = ORIGIN
    inside: list[Node] = []
    for part in circuit.parts:
        (px, py), turned = layout.at[part.ref]
        nets = {pin: net for (ref, pin), net in net_of_pin.items() if ref == part.ref}
        at = (x + px, y + py, turned) if turned else (x + px, y + py, 0)
        inside.append(footprint(part.kind, part, at, nets, f"/{identity(circuit.name, part.ref)}"))
    inside += [_hole(number, at, layout.hole) for number, at in enumerate(layout.holes, start=1)]
    right, low = x + layout.size[0], y + layout.size[1]
    inside.append(
        Node(
            "gr_rect",
            Node("start", x, y),
            Node("end", right, low),
            stroke(0.1),
            Node("fill", Word("none")),
            Node("layer", "Edge.Cuts"),
            _stamp("edge"),
        )
    )
    inside.append(
        Node(
            "gr_text",
            f"Feltwatch {circuit.title.lower()}",
            Node("at", x + title_at[0], y + title_at[1], 0),
            Node("layer", "F.SilkS"),
            _stamp("title"),
            letters(1.0, "left"),
        )
    )
    for track in tracks:
        (a, b), (c, d) = track.ends
        net_node = Node("net", names.index(f"/{track.net}"))
        if track.ends[0] == track.ends[1]:
            via = Node("size", layout.track["via_mm"]), Node("drill", layout.track["via_drill_mm"])
            inside.append(Node("via", Node("at", x + a, y + b), *via, Node("layers", *SIDES), net_node))
        else:
            ends = Node("start", x + a, y + b), Node("end", x + c, y + d)
            inside.append(
                Node(
                    "segment",
                    *ends,
                    Node("width", layout.track["wide_mm"]),
                    Node("layer", SIDES[track.side]),
                    net_node,
                )
            )
    layers = Node("layers", *(Node(str(n), name, Word(what)) for n, name, what in LAYERS))
    setup = Node("setup", Node("pad_to_mask_clearance", 0))
    head = (
        Node("version", 20221018),
        Node("generator", Word(GENERATOR)),
        Node("general", Node("thickness", 1.6)),
        Node("paper", "A4"),
    )
    every = [Node("net", number, name) for number, name in enumerate(names)]
    return Node("kicad_pcb", *head, layers, setup, *every, *inside).text() + "\n"


def project(circuit: Circuit, track: dict[str, Any]) -> str:
    """Return a project's settings: what the check of the board measures against."""
    net_class = {
        "name": "Default",
        "clearance": track["gap_mm"],
        "track_width": track["wide_mm"],
        "via_diameter": track["via_mm"],
        "via_drill": track["via_drill_mm"],
    }
    rules = {
        "min_clearance": track["gap_mm"],
        "min_track_width": track["wide_mm"],
        "min_via_diameter": track["via_mm"],
        "min_copper_edge_clearance": 0.5,
    }
    settings = {
        "board": {"design_settings": {"rules": rules}},
        "meta": {"filename": f"{circuit.name}.kicad_pro", "version": 1},
        "net_settings": {"classes": [net_class], "meta": {"version": 3}},
    }
    return json.dumps(settings, indent=1) + "\n"
