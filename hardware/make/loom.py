"""A loom: connectors, and the cables between them; as YAML in WireViz's form, so that other tools draw it, too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import yaml


@dataclass(frozen=True)
class Connector:
    """A connector: what it is, the labels of its pins; these count from 1 where nothing else is said."""

    kind: str
    labels: Sequence[str]
    place: str = ""
    pins: Sequence[int] = ()
    notes: str = ""

    @property
    def text(self) -> str:
        """What it is and where."""
        return ", ".join(word for word in (self.kind, self.place) if word)

    @property
    def numbers(self) -> Sequence[int]:
        """The number of each pin."""
        return self.pins or range(1, len(self.labels) + 1)

    def label(self, pin: int) -> str:
        """Return a pin's number and label."""
        return f"{pin}  {self.labels[self.numbers.index(pin)]}"


@dataclass(frozen=True)
class Cable:
    """A cable: the colour of each wire, the connector and the pins at either end, WireViz's other attributes."""

    colours: list[str]
    ends: tuple[str, str]
    pins: tuple[list[int], list[int]]
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Loom:
    """The connectors and the cables, by name."""

    title: str
    connectors: dict[str, Connector]
    cables: dict[str, Cable]

    @classmethod
    def of(cls, title: str, ends: dict[str, Any], cables: dict[str, Any]) -> Self:
        """Read a loom of `templates/looms.toml.j2`; `ends` are its connectors."""
        loom = cls(title, {name: Connector(**fields) for name, fields in ends.items()}, {})
        for name, attributes in cables.items():
            (left, *at), (right, *to) = (attributes.pop(side).split() for side in ("from", "to"))
            pins = [
                [int(pin) for pin in some]
                for some in (at or loom.connectors[left].numbers, to or loom.connectors[right].numbers)
            ]
            colours = attributes.pop("colours").split()
            loom.cables[name] = Cable(colours, (left, right), (pins[0], pins[1]), attributes)
        return loom

    def wires(self, cable: Cable) -> Iterator[tuple[str, str, str]]:
        """Give each wire of a cable: its left end, its colour, its right end."""
        left, right = (self.connectors[name] for name in cable.ends)
        for pin, colour, other in zip(cable.pins[0], cable.colours, cable.pins[1], strict=True):
            yield left.label(pin), colour, right.label(other)

    def wireviz(self) -> dict[str, Any]:
        """Return the loom in WireViz's form."""
        connectors, cables = {}, {}
        connections: list[Any] = []
        for name, end in self.connectors.items():
            fields = {
                "type": end.kind,
                "subtype": end.place,
                "pins": end.pins,
                "pinlabels": end.labels,
                "notes": end.notes,
            }
            connectors[name] = {key: value for key, value in fields.items() if value}
        for name, cable in self.cables.items():
            (left, right), (at, to), shield = cable.ends, cable.pins, cable.attributes.get("shield")
            cables[name] = {"wirecount": len(cable.colours), "colors": cable.colours, **cable.attributes}
            connections.append([{left: at}, {name: list(range(1, len(at) + 1))}, {right: to}])
            if shield:
                cables[name]["shield"] = True
                connections.append([{left: shield}, {name: "s"}])
        return {"connectors": connectors, "cables": cables, "connections": connections}

    def text(self) -> str:
        """Write the loom as YAML."""
        form = yaml.safe_dump(
            self.wireviz(), sort_keys=False, default_flow_style=None, width=110, allow_unicode=True
        )
        return (
            f"# {self.title}. Made by `make hardware` from the pins that the code uses: change those. UNTESTED "
            f"on hardware.\n{form}"
        )
