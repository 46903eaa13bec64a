"""The camera setup's part of the interface description."""

from __future__ import annotations

from typing import Any, Final


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/responses/{name}"}


def _asked(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": {"type": "string"}}


def _answer(description: str, schema: str, kind: str = "application/json") -> dict[str, Any]:
    shape = {"$ref": f"#/components/schemas/{schema}"} if schema else {"type": "string"}
    return {"description": description, "content": {kind: {"schema": shape}}}


def _get(summary: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
    responses = {"200": given, "400": _ref("BadRequest"), **more.pop("responses", {})}
    return {"get": {"summary": summary, "responses": responses, **more}}


_WHAT: Final[list[dict[str, Any]]] = [
    {
        "name": "name",
        "in": "path",
        "required": True,
        "description": "What was calibrated: felt, lens or deck.",
        "schema": {"type": "string", "minLength": 1},
        "example": "felt",
    }
]

_TECHNICIANS: Final[dict[str, Any]] = {
    "security": [{"session": []}],
    "responses": {"302": {"description": "To the PIN page."}, "403": _ref("NotAllowed")},
}

_JOB: Final[list[dict[str, Any]]] = [
    {
        "name": "name",
        "in": "path",
        "required": True,
        "description": "The job's number, as the order's answer gave it.",
        "schema": {"type": "integer", "minimum": 0},
        "example": 1,
    }
]

_LED: Final = {"parameters": [_asked("back", "Where the page leads back to: an address of this server.")]}

PATHS: Final[dict[str, Any]] = {
    "/setup/camera": _get(
        "The bare felt, live, and its calibration",
        _answer("The page.", "", "text/html"),
        **_LED,
        **_TECHNICIANS,
    ),
    "/setup/lens": _get(
        "The lens's calibration", _answer("The page.", "", "text/html"), **_LED, **_TECHNICIANS
    ),
    "/setup/deck": _get("A deck is learnt", _answer("The page.", "", "text/html"), **_LED, **_TECHNICIANS),
    "/deck-check": _get("A deck is counted", _answer("The page.", "", "text/html"), **_LED),
    "/setup/compare/{name}": _get(
        "A calibration next to the one before",
        _answer("A part of a page.", "", "text/html"),
        parameters=_WHAT,
        **_TECHNICIANS | {"responses": {**_TECHNICIANS["responses"], "404": _ref("NotThere")}},
    ),
    "/setup/look": {
        "post": {
            "summary": "Ask for one look at the bare felt",
            "security": [{"token": [], "session": []}],
            "responses": {
                "200": _answer("Its job's number.", "Done"),
                "302": {"description": "To the PIN page."},
                "400": _ref("BadRequest"),
                "403": _ref("NotAllowed"),
                "409": _answer("The table refuses, and says why.", "Refusal"),
                "413": _ref("TooLong"),
                "503": _ref("NoTable"),
            },
        }
    },
    "/setup/job/{name}": _get(
        "How far a job of the camera has come, and what came of it",
        _answer("Its state; `html` is a part of a page.", "Job"),
        parameters=_JOB,
        security=[{}, {"session": []}],
        responses={
            "404": _ref("NotThere"),
            "409": _answer("The table refuses, and says why.", "Refusal"),
            "503": _ref("NoTable"),
        },
    ),
    "/setup/picture/{name}": _get(
        "The picture that a job took between hands",
        {"description": "The picture.", "content": {"image/jpeg": {}}},
        parameters=_JOB,
        **_TECHNICIANS
        | {"responses": {**_TECHNICIANS["responses"], "404": _ref("NotThere"), "503": _ref("NoTable")}},
    ),
}
