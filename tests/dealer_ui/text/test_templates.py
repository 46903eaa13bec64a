"""All that the product says to a person: literal templates, in the catalogues, translated, with arguments that fit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from dealer_ui.text.i18n import CATALOGUES, LANGUAGES, SOURCE

ROOT: Final = Path(__file__).parents[3]
PRODUCT: Final = ("vision/felt", "vision/reading", "firmware", "dealer_ui", "pit")
ENGLISH: Final = re.compile(r"firmware/uplink/|pit/(?!pages/)")
"""Rooms beside the table's page, which speak English."""
MARKS: Final = {
    "Message": 0,
    "_": 0,
    "gettext": 0,
    "N_": 0,
    "ngettext": 0,
    "pgettext": 1,
    "NP_": 1,
    "_problem": 1,
    "_contradiction": 1,
    "_unproven": 0,
}
"""Function → which argument is the template. Errors are added to them."""
ROOTS: Final = frozenset({"MessageError", "VisionError"})
CONSOLE: Final = frozenset(
    {
        "AppError",
        "BackupError",
        "HandError",
        "LayoutError",
        "VisionFileError",
        "NoAnchor",
        "NoNote",
        "OpticsError",
        "DeckError",
        "RenderError",
        "ProfileError",
        "UnknownProfileError",
        "UnknownCardError",
        "UpdateRefused",
    }
)
"""Errors that only a console shows, in English; and their subclasses."""
CONSOLE_MODULES: Final = re.compile(
    r"firmware/(acceptance|bench|cli|photo|simulation|webcam)/|firmware/command_options|firmware/page_process|firmware/update/(release|repository|files|install)|firmware/record/evidence/dispute_verifier|vision/|firmware/rules/"
    r"|dealer_ui/(\w+/cli|server/(kiosk|openapi\w*)|remote/(access|front)|web/(serve|serve_behind_nginx|tls))\.py"
)
"""Modules whose sentences are said at a console; those of the rules and of vision that are shown are marked."""
NO_PLACES: Final = frozenset({"roles", "wait_s"})
"""Keyword arguments of errors that are not part of their message."""
PLACE: Final = re.compile(r"%\((\w+)\)s")

each_language = pytest.mark.parametrize("code", [code for code in LANGUAGES if code != SOURCE])


@dataclass(frozen=True)
class MessageCall:
    """A call that says something: where, its function and the call itself."""

    where: str
    function: str
    call: ast.Call

    @property
    def text(self) -> ast.expr | None:
        """The template, if it has one."""
        place = MARKS.get(self.function, 0)
        return self.call.args[place] if len(self.call.args) > place else None


@cache
def modules() -> dict[str, ast.Module]:
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for folder in PRODUCT
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not ENGLISH.match(path.relative_to(ROOT).as_posix())
    }


@cache
def below(roots: frozenset[str]) -> frozenset[str]:
    """Return these classes and all that derive from them."""
    trees = [*modules().values(), ast.parse((ROOT / "vision/base/errors.py").read_text(encoding="utf-8"))]
    bases = [
        (made.name, {base.id for base in made.bases if isinstance(base, ast.Name)})
        for tree in trees
        for made in ast.walk(tree)
        if isinstance(made, ast.ClassDef)
    ]
    found = roots
    while more := {name for name, of in bases if of & found} - found:
        found |= more
    return found


def errors() -> frozenset[str]:
    """Every error whose message a person may read on the page."""
    return below(ROOTS) - below(CONSOLE) - ROOTS


@cache
def said() -> tuple[MessageCall, ...]:
    functions = {*MARKS, *errors()}
    return tuple(
        MessageCall(f"{name}:{node.lineno}", node.func.id, node)
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions
    )


def templates() -> Iterator[tuple[MessageCall, str]]:
    for one in said():
        if isinstance(one.text, ast.Constant) and isinstance(one.text.value, str):
            yield one, one.text.value


def catalogue(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


def texts(value: Any) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


@cache
def known() -> frozenset[str]:
    found = catalogue(CATALOGUES / "messages.pot")
    return frozenset(text for message in found if message.id for text in texts(message.id))


def test_the_errors_of_every_package_that_speaks_are_found() -> None:
    assert {"CommandRefused", "CameraMissing", "JournalFull", "MarkersError", "StakesError"} <= errors()
    assert errors().isdisjoint(CONSOLE)


def test_no_message_is_put_together_before_it_is_said() -> None:
    """A template is written out, or comes ready made in a variable."""
    joined = (ast.JoinedStr, ast.BinOp)
    assert [one.where for one in said() if isinstance(one.text, joined)] == []


def test_every_template_is_in_the_catalogues() -> None:
    """`make words` gathers them."""
    found = [(one, text) for one, text in templates() if text]
    assert len(found) > 1500
    assert [f"{one.where}: {text}" for one, text in found if text not in known()] == []


def test_every_place_of_a_template_is_given_its_value() -> None:
    wrong = []
    for one, text in templates():
        names = {keyword.arg for keyword in one.call.keywords}
        if one.function in ("N_", "NP_", "ngettext", "_", "gettext", "pgettext") or None in names:
            continue
        if one.function == "Message" and not names:
            continue  # a template that is filled in elsewhere
        if set(PLACE.findall(text)) - NO_PLACES != names - NO_PLACES:
            wrong.append(f"{one.where}: {text}")
    assert wrong == []


@each_language
def test_every_template_is_translated_and_can_be_filled(code: str) -> None:
    found = catalogue(CATALOGUES / code / "LC_MESSAGES" / "messages.po")
    for one, text in templates():
        if one.function == "ngettext" or not text:
            continue
        context = one.call.args[0].value if one.function in ("pgettext", "NP_") else None  # type: ignore[attr-defined]
        message = found.get(text, context)
        assert message is not None, (one.where, text)
        assert message.string, (one.where, text)
        translated = texts(message.string)[-1]
        places = PLACE.findall(text)
        assert set(PLACE.findall(translated)) == set(places), (one.where, text)
        if places:
            filled = translated % {name: f"⟦{name}⟧" for name in places}
            assert all(f"⟦{name}⟧" in filled for name in places), (one.where, text)


def test_no_sentence_stands_outside_the_catalogues() -> None:
    """Also those that no state of a page shows: faults, refusals, errors. Consoles and the interface speak English."""
    assert [
        f"{name}: {text}"
        for name, tree in modules().items()
        if not CONSOLE_MODULES.match(name)
        for text in sentences(tree)
        if text not in known()
    ] == []


def sentences(tree: ast.Module) -> Iterator[str]:
    """Yield every literal that looks like a whole sentence for a person; an f-string with its places as "…".

    Docstrings, log messages and what stands inside another literal are left out.
    """
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) or _is_for_programmers(node)
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Constant, ast.JoinedStr)) and not _is_said(node)
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
            text = _text(node)
            if text[:1].isupper() and text.endswith(".") and text.count(" ") > 2:
                yield text


def _text(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)


def _is_for_programmers(node: ast.AST) -> bool:
    """A log message, or the message of a mistake of ours."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="log"))):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in ("RuntimeError", *below(CONSOLE))
    return False


def _is_said(node: ast.AST) -> bool:
    """Return whether an expression statement says something itself, such as `notes.append(Message(...))`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Yield, ast.YieldFrom))
