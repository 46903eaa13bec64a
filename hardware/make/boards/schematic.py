"""The drawing of a circuit: each part with its nets' names at its pins, group by group, as KiCad reads it."""

from typing import Final

from hardware.make.boards.circuit import Circuit, Part
from hardware.make.boards.form import GENERATOR, Node, Word, identity, letters, same, stroke
from hardware.make.boards.kinds import Kind, Pin, pair

LIBRARY: Final = "feltwatch"
STEP: Final = 2.54
LEG: Final = 2.54
TOP: Final = 20.32
LOW: Final = 271.78
WIDE: Final = 88.9
"""A column's width."""
FLAG: Final = "PWR_FLAG"
WIRE: Final = [(-2.54, 0.0), (2.54, 0.0)]
LEFT: Final = [(-2.2, 1.4), (0.0, 0.0), (-2.2, -1.4), (-2.2, 1.4)]
RIGHT: Final = [(2.2, 1.4), (0.0, 0.0), (2.2, -1.4), (2.2, 1.4)]
SIGNS: Final = {
    "C": [
        *([(x, 2.0), (x, -2.0)] for x in (-0.5, 0.5)),
        *([(x, 0.0), (far, 0.0)] for x, far in ((-0.5, -2.54), (0.5, 2.54))),
    ],
    "DO15": [[(-1.3, 1.6), (-1.3, -1.6)], [(1.3, 1.6), (-1.3, 0.0), (1.3, -1.6), (1.3, 1.6)], WIRE],
    "TVS": [LEFT, RIGHT, [(0.0, 1.4), (0.0, -1.4)], WIRE],
}
"""What is drawn for a part with two pins, in lines; any other one is a box."""


def _shape(kind: Kind) -> tuple[list[Node], dict[str, tuple[float, float, int]]]:
    """Return a kind's sign, y up, and where each pin ends and which way it points (0: from the left)."""
    rows = max(len(kind.left), len(kind.right))
    if len(kind.pins) == 2 and kind.right:
        box = [[(-2.54, 1.0), (2.54, 1.0), (2.54, -1.0), (-2.54, -1.0), (-2.54, 1.0)]]
        if kind.name == "PTC":
            box.append([(-2.8, -1.8), (-1.8, -1.8), (1.8, 1.8)])
        lines = [_line(points) for points in SIGNS.get(kind.name, box)]
        return lines, {"1": (-2.54 - LEG, 0, 0), "2": (2.54 + LEG, 0, 180)}
    half = 10.16 if kind.right else 12.7
    high = rows * STEP / 2
    ends = {}
    for side, x, turned in ((kind.left, -half - LEG, 0), (kind.right, half + LEG, 180)):
        order = side if turned == 0 else side[::-1]  # numbers run up the right side
        for index, pin in enumerate(order):
            ends[pin.number] = (x, (rows - 1) * STEP / 2 - index * STEP, turned)
    return [_line([(-half, high), (half, high), (half, -high), (-half, -high), (-half, high)])], ends


def _line(points: list[tuple[float, float]]) -> Node:
    each = Node("pts", *(Node("xy", x, y) for x, y in points))
    return Node("polyline", each, stroke(0.2), Node("fill", Node("type", Word("none"))))


def symbol(kind: Kind, prefix: str = "") -> Node:
    """Return a kind's sign for a library or a drawing."""
    name, bare = f"{prefix}{kind.symbol}", kind.symbol
    lines, ends = _shape(kind)
    long = len(kind.pins) > 2 or not kind.right
    pins = [
        Node(
            "pin", Word(pin.electric), Word("line"),
            Node("at", *ends[pin.number]), Node("length", LEG),
            Node("name", pin.name, letters(1.27)), Node("number", pin.number, letters(1.0)),
        )
        for pin in kind.pins
    ]  # fmt: skip
    hide = [] if long else [Node("pin_numbers", Word("hide"))]
    names = Node("pin_names", Node("offset", 0.6), *([] if long else [Word("hide")]))
    ref = {"C": "C", "TVS": "D", "DO15": "D", "PTC": "F", "R": "R", "Pico": "A"}.get(
        kind.name, "U" if kind.right else "J"
    )
    told = [("Reference", ref), ("Value", bare), ("Footprint", f"{LIBRARY}:{bare}"), ("Datasheet", "~")]
    return Node(
        "symbol", name, *hide, names, Node("in_bom", Word("yes")), Node("on_board", Word("yes")),
        *(_told(key, value, 0, 0, hidden=at > 1) for at, (key, value) in enumerate(told)),
        Node("symbol", f"{bare}_0_1", *lines), Node("symbol", f"{bare}_1_1", *pins),
    )  # fmt: skip


def _flag(prefix: str = "") -> Node:
    """Return KiCad's sign that a net is fed."""
    pin = Node("pin", Word("power_out"), Word("line"), Node("at", 0, 0, 90), Node("length", 0))
    pin.inside = (*pin.inside, Node("name", "pwr", letters(1.27)), Node("number", "1", letters(1.27)))
    told = [("Reference", "#FLG"), ("Value", FLAG), ("Footprint", ""), ("Datasheet", "~")]
    lines = _line([(0, 0), (0, 1.5), (-1, 2.2), (0, 3), (1, 2.2), (0, 1.5)])
    return Node(
        "symbol", f"{prefix}{FLAG}", Node("power"), Node("pin_numbers", Word("hide")),
        Node("pin_names", Node("offset", 0), Word("hide")), Node("in_bom", Word("no")), Node("on_board", Word("no")),
        *(_told(key, value, 0, 3, hidden=True) for key, value in told),
        Node("symbol", f"{FLAG}_0_0", pin), Node("symbol", f"{FLAG}_0_1", lines),
    )  # fmt: skip


def _told(key: str, value: str, x: float, y: float, *, hidden: bool = False) -> Node:
    return Node("property", key, value, Node("at", x, y, 0), letters(1.27, hidden=hidden))


def kinds(circuit: Circuit) -> list[Kind]:
    """Return every kind of a circuit once, by its symbol's name."""
    return list({part.kind.symbol: part.kind for part in circuit.parts}.values())


def library(circuits: list[Circuit]) -> str:
    """Return the library of all signs."""
    every = {kind.symbol: kind for circuit in circuits for kind in kinds(circuit)}
    head = Node("version", 20220914), Node("generator", Word(GENERATOR))
    return Node("kicad_symbol_lib", *head, *map(symbol, every.values()), _flag()).text() + "\n"


class Sheet:
    """A drawing that grows from the top left, column by column; y down."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit, self.x, self.y, self.drawn = circuit, 20.32, TOP, list[Node]()
        self.root = identity(circuit.name, "sheet")

    def text(self, x: float, y: float, words: str, size: float = 2.0) -> None:
        """Write words."""
        self.drawn.append(
            Node(
                "text",
                words,
                Node("at", x, y, 0),
                letters(size, "left", "bottom"),
                same(self.circuit.name, words),
            )
        )

    def place(
        self,
        name: str,
        ref: str,
        value: str,
        footprint: str,
        x: float,
        y: float,
        high: float,
        pins: list[str],
    ) -> None:
        """Draw a sign."""
        mine = self.circuit.name, ref
        shown = ref[0] != "#"
        kept = Word("yes" if shown else "no")
        use = Node("path", f"/{self.root}", Node("reference", ref), Node("unit", 1))
        self.drawn.append(
            Node(
                "symbol", Node("lib_id", f"{LIBRARY}:{name}"), Node("at", x, y, 0), Node("unit", 1),
                Node("in_bom", kept), Node("on_board", kept), Node("dnp", Word("no")), same(*mine),
                _told("Reference", ref, x, y - high - 1.5, hidden=not shown),
                _told("Value", value, x, y + high + 1.8, hidden=not shown),
                _told("Footprint", footprint, x, y, hidden=True), _told("Datasheet", "~", x, y, hidden=True),
                *(Node("pin", pin, same(*mine, pin)) for pin in pins),
                Node("instances", Node("project", self.circuit.name, use)),
            )
        )  # fmt: skip

    def end(self, ref: str, pin: Pin, net: str, x: float, y: float, turned: int) -> None:
        """Draw a pin's wire and its net's name; or that nothing is joined to it."""
        mine = self.circuit.name, ref, pin.number
        if not net:
            self.drawn.append(Node("no_connect", Node("at", x, y), same(*mine, "none")))
            return
        out = x - STEP if turned == 0 else x + STEP
        self.drawn.append(
            Node("wire", Node("pts", Node("xy", x, y), Node("xy", out, y)), stroke(0), same(*mine, "wire"))
        )
        at = Node("at", out, y, 180 if turned == 0 else 0)
        set_ = ("right", "bottom") if turned == 0 else ("left", "bottom")
        self.drawn.append(Node("label", net, at, letters(1.27, *set_), same(*mine, "label")))

    def part(self, part: Part, x: float, y: float) -> None:
        """Draw a part with all its nets' names."""
        _, ends = _shape(part.kind)
        high = max(len(part.kind.left), len(part.kind.right)) * STEP / 2
        pins = [pin.number for pin in part.kind.pins]
        place = f"{LIBRARY}:{part.kind.symbol}"
        self.place(part.kind.symbol, part.ref, part.value, place, x, y, max(high, 1.5), pins)
        for pin in part.kind.pins:
            at, up, turned = ends[pin.number]
            self.end(part.ref, pin, part.nets[pin.number], x + at, y - up, turned)

    def group(self, title: str, parts: list[Part]) -> None:
        """Draw a group: large parts one below the other, small ones in pairs."""
        large = [part for part in parts if len(part.kind.pins) > 2 or not part.kind.right]
        small = [part for part in parts if part not in large]
        rows = [max(len(one.kind.left), len(one.kind.right)) for one in large]
        room = 5 * STEP + sum(n + 4 for n in rows) * STEP + 4 * STEP * ((len(small) + 1) // 2)
        if self.y + room > LOW and self.y > TOP:
            self.x, self.y = self.x + WIDE, TOP
        self.text(self.x, self.y, title)
        self.y += 3 * STEP
        for one, n in zip(large, rows, strict=True):
            # a whole number of steps from the top to each pin
            self.part(one, self.x + 35.56, self.y + (n - 1) * STEP / 2)
            self.y += (n + 4) * STEP
        for index, one in enumerate(small):
            self.part(one, self.x + 17.78 + 40.64 * (index % 2), self.y)
            self.y += 4 * STEP if index % 2 or one is small[-1] else 0
        self.y += 2 * STEP


def schematic(circuit: Circuit) -> str:
    """Return the drawing of a circuit."""
    sheet = Sheet(circuit)
    for title, parts in circuit.groups.items():
        sheet.group(title, parts)
    sheet.text(sheet.x, sheet.y, "Fed from outside, for KiCad's check")
    for number, net in enumerate(circuit.fed, start=1):
        x, y, ref = sheet.x + 25.4 * number, sheet.y + 4 * STEP, f"#FLG{number}"
        sheet.place(FLAG, ref, FLAG, "", x, y, 3, ["1"])
        sheet.end(ref, pair("R").pins[1], net, x, y, 180)
    block = Node(
        "title_block",
        Node("title", circuit.title),
        Node("comment", 1, "Made by make hardware. UNTESTED on hardware"),
    )
    signs = Node(
        "lib_symbols", *(symbol(kind, f"{LIBRARY}:") for kind in kinds(circuit)), _flag(f"{LIBRARY}:")
    )
    head = (
        Node("version", 20230121),
        Node("generator", Word(GENERATOR)),
        Node("uuid", Word(sheet.root)),
        Node("paper", "A3"),
    )
    pages = Node("sheet_instances", Node("path", "/", Node("page", "1")))
    return Node("kicad_sch", *head, block, signs, *sheet.drawn, pages).text() + "\n"
