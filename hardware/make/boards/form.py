"""KiCad's file format: nested lists in brackets, and numbers of things that are the same on every run."""

from __future__ import annotations

import uuid
from typing import Final

GENERATOR: Final = "feltwatch"
_SPACE: Final = uuid.UUID("5f3c2c1e-6d0b-4f63-9c1e-0f8f4d6b7a11")

Value = "str | float | Node"


class Word(str):
    """A word of the format itself; another string is written in quotation marks."""


class Node:
    """A list: its name, and what is in it."""

    def __init__(self, name: str, *inside: str | float | Node) -> None:
        self.name, self.inside = name, inside

    def text(self, deep: int = 0) -> str:
        """Write it; a list of lists begins a new line for each."""
        said = [self.name, *(_atom(value) for value in self.inside if not isinstance(value, Node))]
        lists = [value for value in self.inside if isinstance(value, Node)]
        head = f"({' '.join(said)}"
        if not any(isinstance(value, Node) for one in lists for value in one.inside) and len(lists) < 5:
            return head + "".join(f" {one.text()}" for one in lists) + ")"
        pad = "\n" + " " * (deep + 1)
        return head + "".join(pad + one.text(deep + 1) for one in lists) + ")"


def _atom(value: str | float | Node) -> str:
    if isinstance(value, Word):
        return value
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    assert not isinstance(value, Node)
    return f"{round(value, 4) + 0.0:g}"


def same(*names: object) -> Node:
    """Return the identifier of a thing: the same names, the same one."""
    return Node("uuid", Word(identity(*names)))


def identity(*names: object) -> str:
    """Return the identifier's text."""
    return str(uuid.uuid5(_SPACE, "/".join(map(str, names))))


def stroke(width: float) -> Node:
    """Return how a line is drawn."""
    return Node("stroke", Node("width", width), Node("type", Word("default")))


def letters(size: float, *more: str, hidden: bool = False) -> Node:
    """Return how text is written; `more`: how it is set against its place."""
    font = Node("font", Node("size", size, size), Node("thickness", round(size * 0.15, 3)))
    inside: list[str | float | Node] = [font]
    if more:
        inside.append(Node("justify", *map(Word, more)))
    if hidden:
        inside.append(Word("hide"))
    return Node("effects", *inside)
