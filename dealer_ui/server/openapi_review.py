"""The part of the interface description for past hands and the shift report."""

from __future__ import annotations

from typing import Any, Final

_HAND: Final = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "The hand's number. All but the last ten: for floor people and auditors.",
    "schema": {"type": "integer", "minimum": 1},
    "example": 1,
}


def _asked(name: str, description: str, kind: str = "string") -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": {"type": kind}}


def _answer(description: str, kind: str) -> dict[str, Any]:
    schema = {"type": "string"} if kind.startswith("text/") else {}
    return {"description": description, "content": {kind: {"schema": schema} if schema else {}}}


def _response(description: str) -> dict[str, Any]:
    """Return a response with one sentence: as a page with a back link, or as JSON if requested."""
    refusal = {"$ref": "#/components/schemas/Refusal"}
    return {
        "description": description,
        "content": {
            "text/html": {"schema": {"type": "string"}},
            "application/json": {"schema": refusal},
            "text/plain": {"schema": {"type": "string"}},
        },
    }


def _get(summary: str, kind: str = "text/html", *asked: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "get": {
            "summary": summary,
            "parameters": list(asked),
            "security": [{}, {"session": []}],
            "responses": {
                "200": _answer(summary + ".", kind),
                "302": {"description": "To the PIN page."},
                "400": _response("What was asked for cannot be."),
                "403": _response("The role does not do."),
                "404": _response("There is no such thing."),
                "503": _response("The record cannot be read."),
                **more,
            },
        }
    }


_SPAN: Final = (
    _asked("down", "A down's number; the last one of it.", "integer"),
    _asked("from", "Rows from this time on, as 2026-11-20T18:30."),
    _asked("to", "Rows before this time."),
)
_FILE: Final = {
    "206": {"description": "A part of it.", "content": {"application/zip": {}}},
    "304": {"description": "It has not changed."},
    "416": _response("There is no such part of it."),
}

PATHS: Final[dict[str, Any]] = {
    "/review": _get(
        "Past hands, the newest first",
        "text/html",
        _asked("seat", "Only hands in which this seat played.", "integer"),
        _asked("player", "Only hands of this player."),
        _asked("profile", "Only hands under this profile."),
        _asked("dealer", "Only hands of this dealer."),
        _asked("with", "Only hands with: correction, foul, natural, dispute, not_reviewed."),
        _asked("from", "Only hands from this time on, as 2026-11-20T18:30."),
        _asked("to", "Only hands before this time."),
        _asked("day", "Only hands of this day, as 2026-11-20; in the place of from and to."),
        _asked("hour", "Only hands of this hour of the day, counted from its midnight.", "integer"),
        _asked("before", "Only hands before this number: a further page.", "integer"),
    ),
    "/review/{name}": _get("A past hand: its cards and its settlement with every clause", "text/html", _HAND),
    "/review/{name}/story": _get("A past hand, row by row", "text/html", _HAND),
    "/review/{name}/look": _get(
        "What the camera saw and what was read in it",
        "text/html",
        _HAND,
        _asked("row", "The number of the look's row; the last look without it.", "integer"),
        _asked("card", "The number of a card in it, to see it closer.", "integer"),
        _asked(
            "marks",
            "`off`: the picture alone; `on`: with what was read. Without it a hand in dispute is bare.",
        ),
    ),
    "/review/{name}/changes": _get("The looks side by side, with what changed", "text/html", _HAND),
    "/review/{name}/again": _get(
        "A past hand settled again next to what stands",
        "text/html",
        _HAND,
        _asked("profile", "A profile's name; the hand's own without it."),
    ),
    "/review/{name}/dispute": _get(
        "A past hand's corrections, and what reopens, marks and exports it", "text/html", _HAND
    ),
    "/review/{name}/file": _get("A past hand's dispute file", "application/zip", _HAND, **_FILE),
    "/review/{name}/proof": _get(
        "Its hash and the words of its key, as a part of the page", "text/html", _HAND
    ),
    "/review/{name}/stick": _get(
        "How far it is on its way to a USB stick",
        "application/json",
        _HAND,
        _asked("job", "The name of the request, as `export_hand` gave it."),
    ),
    "/report": _get("What a shift came to", "text/html", *_SPAN),
    "/report.csv": _get("What a shift came to, a line a down", "text/csv", *_SPAN),
    "/report.pdf": _get("What a shift came to, with plots", "application/pdf", *_SPAN),
    "/menu": _get(
        "The ways to every page except the table's",
        "text/html",
        _asked("back", "Where the page leads back to."),
    ),
    "/slip": _get(
        "The record's head as it was last signed, as a QR code",
        "text/html",
        _asked("back", "Where the page leads back to."),
    ),
    "/slip.pdf": _get("The same as a slip to print", "application/pdf"),
}
