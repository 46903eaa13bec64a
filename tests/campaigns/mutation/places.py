"""Where a fault can be put: the changes that the rules of the README allow, found in the syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final

from tests.campaigns.mutation.fault import AROUND, Fault

KINDS: Final = ("comparison", "arithmetic", "boolean", "constant", "dropped")

AREAS: Final[dict[str, tuple[str, ...]]] = {
    "rules": ("firmware/rules",),
    "table": ("firmware/table",),
    "record": ("firmware/record", "firmware/access", "firmware/health"),
    "reading": ("vision/base", "vision/felt", "vision/reading", "firmware/runtime/reading"),
    "page": ("dealer_ui",),
    "pit": ("pit", "firmware/uplink"),
    "box": ("firmware/devices", "firmware/runtime/inbox"),
}
"""The folders of each area, with all that lies below them."""

_OPPOSITE: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_BOUNDARY: Final[dict[type[ast.cmpop], str]] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_COMPARED: Final = re.compile(r"==|!=|<=|>=|<|>|is\s+not|is|not\s+in|in")
_OTHER: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
_TEXT: Final = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.Set)
_PATH: Final = re.compile(r"path|folder|data|root|dir|name|file", re.IGNORECASE)
_NO_EFFECT: Final = re.compile(r"\b(log|logger|logging|warnings|print|echo|console|gc)\b|^_?log")
_CLEANING: Final = re.compile(
    r"\.(close|join|flush|unlink|cancel|shutdown|terminate|kill|wait|sleep|clear|start)\($|sleep\($"
)
_PACE: Final = re.compile(
    r"timeout|pause|second|interval|every|poll|backlog|buffer|cache|chunk|thread|worker|block|maxsize|stacklevel"
    r"|indent|width|height|margin|size|font|leading|daemon|exist_ok|ensure_ascii|parents|slots|frozen|kw_only",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A change of the characters from `start` to `end` of one file."""

    kind: str
    node: ast.AST
    start: int
    end: int
    text: str


class _Finder:
    def __init__(self, source: str, measured: bool, random: Random) -> None:
        self._source = source
        self._bytes = source.encode()
        self._lines = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._measured, self._random = measured, random
        self.places: list[Place] = []

    def _offset(self, line: int, column: int) -> int:
        """Where a place of the syntax tree (which counts columns in bytes) lies, in characters of the source."""
        return len(self._bytes[: self._lines[line - 1] + column].decode())

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._offset(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.end_lineno, node.end_col_offset)

    def _add(self, kind: str, node: ast.AST, start: int, end: int, text: str) -> None:
        self.places.append(Place(kind, node, start, end, text))

    def block(self, statements: list[ast.stmt], owner: ast.AST) -> None:
        for statement in statements:
            self._statement(statement, owner)

    def _statement(self, node: ast.stmt, owner: ast.AST) -> None:
        match node:
            case ast.FunctionDef(name="__repr__" | "__str__" | "__del__"):
                return
            case ast.FunctionDef(args=arguments, body=body) | ast.AsyncFunctionDef(args=arguments, body=body):
                for default in [*arguments.defaults, *filter(None, arguments.kw_defaults)]:
                    self._expression(default)
                self.block(body, node)
            case ast.ClassDef(body=body):
                self.block(body, node)
            case (
                ast.Import() | ast.ImportFrom() | ast.Raise() | ast.Assert() | ast.Expr(value=ast.Constant())
            ):
                return
            case (
                ast.If(test=ast.Compare(left=ast.Name(id="__name__")))
                | ast.If(test=ast.Name(id="TYPE_CHECKING"))
            ):
                return
            case ast.AnnAssign(target=target, value=value):
                if value is not None and not _PACE.search(ast.unparse(target)):
                    self._expression(value)
            case ast.While(body=body, orelse=orelse):
                self.block(body + orelse, owner)  # no fault in its condition: it would only hang
            case _:
                if self._can_drop(node, owner):
                    self._add("dropped", node, self._start(node), self._end(node), "pass")
                self._inner(node, owner)

    def _inner(self, node: ast.stmt, owner: ast.AST) -> None:
        """Look into the expressions and blocks of a statement."""
        match node:
            case ast.Expr(value=ast.Call() as call) if _NO_EFFECT.search(ast.unparse(call.func)):
                return
            case ast.Assign(targets=targets) if _PACE.search(" ".join(ast.unparse(t) for t in targets)):
                return
            case ast.AugAssign(target=target, op=operator, value=value):
                self._operator(node, operator, target, value, "=")
                self._expression(value)
                return
        for child in ast.iter_child_nodes(node):
            match child:
                case ast.stmt():
                    self._statement(child, owner)
                case ast.ExceptHandler(body=body) | ast.match_case(body=body):
                    if isinstance(child, ast.match_case) and child.guard is not None:
                        self._expression(child.guard)
                    self.block(body, owner)
                case ast.withitem(context_expr=expression):
                    self._expression(expression)
                case ast.expr():
                    self._expression(child)

    def _can_drop(self, node: ast.stmt, owner: ast.AST) -> bool:
        if not isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        match node:
            case ast.Expr(value=ast.Call() as call):
                called = ast.unparse(call.func) + "("
                return not (
                    _NO_EFFECT.search(called) or _CLEANING.search(called) or called.startswith("super()")
                )
            case ast.AugAssign():
                return True
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                return owner.name != "__init__"
            case ast.If(body=body, orelse=[]):
                return isinstance(body[-1], ast.Raise | ast.Return | ast.Continue | ast.Break)
        return False

    def _expression(self, node: ast.expr) -> None:
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                self._comparison(node, left, operator, right)
            case ast.BinOp(left=left, op=operator, right=right):
                self._operator(node, operator, left, right)
            case ast.BoolOp(op=operator, values=values):
                self._boolean(node, operator, values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._add("boolean", node, self._start(node), self._start(operand), "")
            case ast.Constant():
                self._constant(node)
            case ast.Call(func=called) if _NO_EFFECT.search(ast.unparse(called)) or (
                ast.unparse(called) in ("cast", "TypeVar", "isinstance", "getattr", "round")
            ):
                return
        for child in ast.iter_child_nodes(node):
            match child:
                case ast.keyword(arg=name, value=value):
                    if name is None or not _PACE.search(name):
                        self._expression(value)
                case ast.comprehension(iter=iterated, ifs=conditions):
                    for expression in [iterated, *conditions]:
                        self._expression(expression)
                case ast.Slice() | ast.expr() if not isinstance(node, ast.JoinedStr | ast.FormattedValue):
                    self._expression(child)

    def _comparison(self, node: ast.expr, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> None:
        gap = self._end(left), self._start(right)
        found = _COMPARED.search(self._source, *gap)
        if found is None or (isinstance(left, ast.Attribute) and left.attr in ("platform", "version_info")):
            return
        choices = [_OPPOSITE[type(operator)]]
        if type(operator) in _BOUNDARY and not (self._measured or _is_float(left) or _is_float(right)):
            choices.append(_BOUNDARY[type(operator)])
        self._add("comparison", node, found.start(), found.end(), self._random.choice(choices))

    def _operator(
        self,
        node: ast.expr | ast.stmt,
        operator: ast.operator,
        left: ast.expr,
        right: ast.expr,
        tail: str = "",
    ) -> None:
        if type(operator) not in _OTHER or any(_is_no_number(side) for side in (left, right)):
            return
        if isinstance(operator, ast.Div) and _PATH.search(ast.unparse(left)):
            return
        old, new = _OTHER[type(operator)]
        at = self._source.find(old + tail, self._end(left), self._start(right))
        if at >= 0:
            self._add("arithmetic", node, at, at + len(old), new)

    def _boolean(self, node: ast.expr, operator: ast.boolop, values: list[ast.expr]) -> None:
        old, new = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
        left, right = self._random.choice(list(pairwise(values)))
        found = re.compile(rf"\b{old}\b").search(self._source, self._end(left), self._start(right))
        if found is not None:
            self._add("boolean", node, found.start(), found.end(), new)

    def _constant(self, node: ast.Constant) -> None:
        match node.value:
            case bool(value):
                new = str(not value)
            case int(value):
                new = str(value + 1)
            case float(value):
                new = repr(value * 2 if value else 1.0)
            case _:
                return
        self._add("constant", node, self._start(node), self._end(node), new)


def _is_float(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _is_no_number(node: ast.expr) -> bool:
    """Say whether arithmetic with this joins texts, lists or types: another operator could not run at all."""
    if isinstance(node, ast.Name):
        return node.id[:1].isupper() and not node.id.isupper()
    return isinstance(node, _TEXT) or any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in ast.walk(node)
    )


def files(root: Path, area: str) -> list[Path]:
    """The files of an area, below the root, sorted."""
    found = (path.relative_to(root) for folder in AREAS[area] for path in (root / folder).rglob("*.py"))
    return sorted(found)


def faults(root: Path, area: str, random: Random) -> Iterator[Fault]:
    """Every fault that the rules allow in an area, not yet numbered."""
    for path in files(root, area):
        source = (root / path).read_text(encoding="utf-8")
        tree = ast.parse(source)
        finder = _Finder(source, area == "reading", random)
        finder.block(tree.body, tree)
        for place in finder.places:
            yield _fault(path, area, source, place)


def _fault(path: Path, area: str, source: str, place: Place) -> Fault:
    first = source.rfind("\n", 0, place.start) + 1
    last = source.find("\n", place.end) + 1 or len(source)
    new = source[first : place.start] + place.text + source[place.end : last]
    line = source.count("\n", 0, first) + 1
    before, after = source[:first].splitlines(keepends=True), source[last:].splitlines(keepends=True)
    return Fault(
        number=0,
        area=area,
        kind=place.kind,
        file=str(path),
        line=line,
        before="".join(before[-AROUND:]),
        old=source[first:last],
        new=new,
        after="".join(after[:AROUND]),
    )


def changes_code(root: Path, fault: Fault) -> bool:
    """Say whether the code with the fault is still Python, and no longer the same."""
    source = (root / fault.file).read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    at, end = fault.line - 1, fault.line - 1 + fault.old.count("\n")
    changed = "".join([*lines[:at], fault.new, *lines[end:]])
    try:
        return ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False
