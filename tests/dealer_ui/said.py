"""Finds the whole sentences that a module of the product may say, as templates: what `KNOWN` has to hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


def sentences(path: Path) -> Iterator[str]:
    """Yield every literal of a Python file that is a sentence for a person; f-strings with places for what they hold.

    Docstrings, log messages and what stands inside another literal are left out.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) or _logs(node)
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Constant, ast.JoinedStr))
    }
    skipped |= {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for inner in ast.walk(node)
        if inner is not node
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and id(node) not in skipped:
            said = template(node)
            if said[:1].isupper() and said.endswith(".") and said.count(" ") > 2:
                yield said


def template(node: ast.Constant | ast.JoinedStr) -> str:
    """Return a literal as a template: `f"Seat {seat.seat}"` is `"Seat %(seat)s"`."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    said = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            said += str(part.value).replace("%", "%%")
        elif isinstance(part, ast.FormattedValue):
            said += f"%({_name(part.value)})s"
    return said


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_")
        case ast.Call(func=function):
            return _name(function)
        case ast.Subscript(value=value):
            return _name(value)
    return "value"


def _logs(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="log"))):
            return True
    return False
