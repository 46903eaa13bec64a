"""`/openapi.json`: this server's interface, as OpenAPI 3.1.

The paths are written here by hand, and a test keeps them in step with the routes. The schemas of the bodies come from
the types that the code itself uses: commands as the table parses them, the view as the page renders it.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any, Final

from flask import Blueprint, Response, jsonify
from pydantic import TypeAdapter

from dealer_ui.server import openapi_camera as interface_camera
from dealer_ui.server import openapi_review as interface_past
from dealer_ui.view.screen import Screen
from dealer_ui.web import guard
from dealer_ui.web.commands import NOT_THE_BROWSERS
from dealer_ui.web.sessions import COOKIE
from firmware.table.command import COMMAND_ROLES, command_adapter

blueprint = Blueprint("interface", __name__)

_REF: Final = "#/components/schemas/{model}"


@blueprint.get("/openapi.json")
@guard.open_to(guard.EVERYBODY)
def openapi() -> Response:
    """Return the description of this interface."""
    return jsonify(description())


@cache
def description() -> dict[str, Any]:
    """Return the OpenAPI document."""
    schemas = {**_commands(), **_view(), **_OWN_SCHEMAS}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Feltwatch: the dealer's page",
            "version": version("feltwatch"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": (
                "Reads the table's record and hands commands to the table process, which judges them. Answers the "
                "names of its own machine only (another `Host`: 400). Anyone who sends no session is the dealer."
            ),
        },
        "paths": {
            path: {**item}
            for path, item in {**_PATHS, **interface_camera.PATHS, **interface_past.PATHS}.items()
        },
        "components": {
            "schemas": schemas,
            "responses": _RESPONSES,
            "securitySchemes": {
                "token": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-CSRF-Token",
                    "description": "Printed in the page, and in the stream's `hello`: read by no other site.",
                },
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": COOKIE,
                    "description": "Set by the answer to the command `unlock`.",
                },
            },
        },
    }


def _commands() -> dict[str, Any]:
    """Return the schemas of the commands that a browser may send, plus the roles that may send each."""
    whole = command_adapter().json_schema(ref_template=_REF)
    schemas: dict[str, Any] = whole.pop("$defs")
    for schema in schemas.values():
        properties = schema.get("properties", {})
        for name in NOT_THE_BROWSERS & set(properties):
            del properties[name]
        if "do" in properties:
            schema["required"] = sorted({*schema.get("required", ()), "do"})
    roles = "\n".join(f"- `{do}`: {', '.join(sorted(who))}" for do, who in sorted(COMMAND_ROLES.items()))
    return {**schemas, "Command": {**whole, "description": f"Who may give which:\n\n{roles}"}}


def _view() -> dict[str, Any]:
    whole = TypeAdapter(Screen).json_schema(mode="serialization", ref_template=_REF)
    schemas: dict[str, Any] = whole.pop("$defs")
    whole["properties"] |= {
        "mode": {"enum": ["need", "felt", "between", "quiz"]},
        "trouble": {"type": "string"},
    }
    whole["required"] = [*whole["required"], "mode", "trouble"]
    return {**schemas, "View": whole}


def _answer(description: str, schema: str, kind: str = "application/json") -> dict[str, Any]:
    shape = {"$ref": _REF.format(model=schema)} if schema else {"type": "string"}
    return {"description": description, "content": {kind: {"schema": shape}}}


def _error(description: str) -> dict[str, Any]:
    """Return an error response with one sentence: as JSON if JSON was sent or requested, else as text."""
    content = {
        "application/json": {"schema": {"$ref": _REF.format(model="Refusal")}},
        "text/plain": {"schema": {"type": "string"}},
    }
    return {"description": description, "content": content}


_RESPONSES: Final[dict[str, Any]] = {
    "BadRequest": _error("What was sent cannot be understood, or names another host."),
    "NotAllowed": _error("The role does not do, the token is missing, or another site asks."),
    "NotThere": _error("There is no such thing."),
    "TooLong": _error("The body is longer than a command can be."),
    "NoTable": _error("The table process does not answer."),
}

_OWN_SCHEMAS: Final[dict[str, Any]] = {
    "Refusal": {
        "type": "object",
        "required": ["ok", "error"],
        "properties": {
            "ok": {"const": False},
            "error": {"type": "string", "description": "A sentence for the person at the screen."},
            "ask": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The people whose PIN would do.",
            },
            "wait_s": {"type": "integer", "description": "Seconds left of a lock-out."},
        },
    },
    "FormRefusal": {
        "type": "object",
        "required": ["ok", "error", "errors"],
        "properties": {
            "ok": {"const": False},
            "error": {"type": "string"},
            "errors": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    },
    "ProfileOrder": {
        "type": "object",
        "required": ["do"],
        "properties": {
            "do": {"enum": ["check", "keep", "back", "use"]},
            "version": {"type": "string"},
            "fields": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
            "reason": {"type": "string"},
            "by": {"type": "string"},
            "pin": {"type": "string"},
        },
    },
    "Done": {
        "type": "object",
        "required": ["ok"],
        "properties": {
            "ok": {"const": True},
            "seq": {"type": "integer", "description": "The last event's number in the journal."},
            "job": {"type": "integer", "description": "The number of what the camera was asked to do."},
            "role": {"type": "string"},
            "name": {"type": "string"},
            "expires_s": {"type": "number"},
        },
    },
    "Job": {
        "type": "object",
        "required": ["ok", "state", "done", "of"],
        "properties": {
            "ok": {"const": True},
            "state": {"enum": ["running", "done", "failed"]},
            "done": {"type": "integer"},
            "of": {"type": "integer"},
            "why": {"type": "string", "description": "Why it failed."},
            "picture": {"type": "string", "description": "Where its picture is; empty without one."},
            "html": {"type": "string", "description": "What came of it, as a part of the page."},
            "enough": {"type": "boolean", "description": "What was collected may be used."},
        },
    },
    "StreamEvent": {
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "event": {"enum": ["hello", "view", "beat"]},
            "data": {"type": "string", "description": "JSON; of a `beat`, the number of the last view."},
        },
    },
    "TrialOrder": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "act": {"enum": ["begin", "look", "light", "ring", "keep"]},
            "name": {"type": "string", "maxLength": 40, "description": "The lamp to light."},
            "seen": {"type": ["boolean", "null"], "description": "What a person saw or heard."},
        },
    },
    "ClockOrder": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "date": {"type": "string", "maxLength": 10, "description": "2026-11-22, with the time."},
            "time": {"type": "string", "maxLength": 5, "description": "21:30, with the date."},
            "zone": {"type": "string", "maxLength": 80, "description": "Europe/Madrid."},
        },
    },
    "Trial": {
        "type": "object",
        "required": ["ok", "verdict", "html"],
        "properties": {
            "ok": {"const": True},
            "verdict": {"enum": ["pass", "fail", "waits"]},
            "html": {"type": "string", "description": "A part of the page."},
        },
    },
    "Session": {
        "type": "object",
        "required": ["role", "name", "left_s"],
        "properties": {
            "role": {"type": "string"},
            "name": {"type": "string"},
            "left_s": {"type": "integer", "description": "Seconds; 0 without a session."},
        },
    },
    "Health": {
        "type": "object",
        "required": ["ok", "table", "record", "trouble", "seq", "training"],
        "properties": {
            "ok": {"type": "boolean"},
            "table": {"type": "boolean", "description": "The table process answers."},
            "record": {"type": "boolean", "description": "The journal can be read."},
            "training": {
                "type": "boolean",
                "description": "This is the training page: no hand on it is played.",
            },
            "trouble": {"type": "string"},
            "seq": {"type": "integer"},
        },
    },
}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/responses/{name}"}


def _get(summary: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
    responses = {"200": given, "400": _ref("BadRequest"), **more.pop("responses", {})}
    return {"get": {"summary": summary, "responses": responses, **more}}


def _name(description: str, example: str) -> list[dict[str, Any]]:
    schema = {"type": "string", "minLength": 1}
    return [
        {
            "name": "name",
            "in": "path",
            "required": True,
            "description": description,
            "schema": schema,
            "example": example,
        }
    ]


def _asked(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": {"type": "string"}}


_PROFILE: Final = "A profile's name; of a house's own also with `@` and the beginning of a version's hash."
_VERSION: Final = "The beginning of the hash of a house profile's version; the newest without it."

_OF_TECHNICIANS: Final[list[dict[str, list[str]]]] = [{}, {"session": []}]
"""At a fresh box anyone who stands there; from its first technician on, technicians."""
_LEADS_ON: Final = {
    "302": {"description": "It leads to a step, or a browser to the PIN page."},
    "403": _ref("NotAllowed"),
}


_PATHS: Final[dict[str, Any]] = {
    "/": _get("The table, as a page", _answer("The page.", "", "text/html")),
    "/rules": _get("The rules in force, drawn with cards", _answer("A part of the page.", "", "text/html")),
    "/view.json": _get("The same as data", _answer("What the page shows.", "View")),
    "/events": _get(
        "The view, live",
        {
            "description": (
                "Server-sent events: `hello` (build, token), `view` (the parts of the page, at first and after each "
                "change), `beat` every second."
            ),
            "content": {"text/event-stream": {"schema": {"$ref": _REF.format(model="StreamEvent")}}},
        },
        parameters=[_asked("language", "`en`, `es`, `zh_Hans` or `zh_Hant`; the table's without it.")],
        responses={"503": _error("Too many screens follow this table.")},
    ),
    "/captures/{name}": _get(
        "A stored picture",
        {"description": "The picture.", "content": {"image/jpeg": {}, "image/png": {}}},
        parameters=_name(
            "The hand's folder and the file. Of past hands: for floor people and auditors.",
            "000001/frame.jpg",
        ),
        security=[{}, {"session": []}],
        responses={
            "206": {"description": "A part of it.", "content": {"image/jpeg": {}, "image/png": {}}},
            "304": {"description": "It has not changed: captures never do."},
            "403": _ref("NotAllowed"),
            "404": _ref("NotThere"),
            "416": _error("There is no such part of it."),
        },
    ),
    "/command": {
        "post": {
            "summary": "Ask something of the table",
            "security": [{"token": []}, {"token": [], "session": []}],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": {"$ref": _REF.format(model="Command")}}},
            },
            "responses": {
                "200": _answer("It is done, and durable.", "Done"),
                "400": _ref("BadRequest"),
                "403": _ref("NotAllowed"),
                "409": _answer("The table refuses, and says why.", "Refusal"),
                "413": _ref("TooLong"),
                "503": _ref("NoTable"),
            },
        }
    },
    "/pin": _get(
        "The page that asks for a PIN",
        _answer("The page.", "", "text/html"),
        parameters=[
            _asked("for", "A role whose people are asked; may come more than once."),
            _asked("back", "Where the page leads once the PIN is right: an address of this server."),
        ],
    ),
    "/set-up": _get(
        "The steps of the set-up",
        _answer("The page.", "", "text/html"),
        security=_OF_TECHNICIANS,
        responses=_LEADS_ON,
    ),
    "/set-up/next": _get(
        "The first step that nobody has settled yet",
        _answer("Never: it leads on.", "", "text/html"),
        security=_OF_TECHNICIANS,
        responses=_LEADS_ON,
    ),
    "/set-up/ready": _get(
        "What of the set-up is still to be done",
        _answer("The page.", "", "text/html"),
        security=_OF_TECHNICIANS,
        responses=_LEADS_ON,
    ),
    "/set-up/proposed": _get(
        "All that is still open of the first set-up, to be taken at once",
        _answer("The page.", "", "text/html"),
        security=_OF_TECHNICIANS,
        responses=_LEADS_ON,
    ),
    "/set-up/clock/zone": _get(
        "The parts of the world, or the time zones of one",
        _answer("The page.", "", "text/html"),
        parameters=[_asked("of", "A part of the world, such as Europe.")],
        security=_OF_TECHNICIANS,
        responses=_LEADS_ON,
    ),
    "/set-up/game/currency": _get(
        "In which currency sums are written",
        _answer("The page.", "", "text/html"),
        security=_OF_TECHNICIANS,
        responses=_LEADS_ON,
    ),
    "/set-up/clock/set": {
        "post": {
            "summary": "Set the box's clock",
            "security": [{"token": [], "session": []}],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": {"$ref": _REF.format(model="ClockOrder")}}},
            },
            "responses": {
                "200": _answer("It is set, and on record.", "Done"),
                "400": _ref("BadRequest"),
                "403": _ref("NotAllowed"),
                "409": _answer("The table refuses, and says why.", "Refusal"),
                "413": _ref("TooLong"),
                "503": _ref("NoTable"),
            },
        }
    },
    "/set-up/{name}": _get(
        "A step of the set-up",
        _answer("The page.", "", "text/html"),
        parameters=_name("The step.", "clock"),
        security=_OF_TECHNICIANS,
        responses={**_LEADS_ON, "404": _ref("NotThere")},
    ),
    "/set-up/{name}/trial": {
        "post": {
            "summary": "Go on with a device's trial",
            "parameters": _name("The step of the device.", "puck"),
            "security": [{"token": [], "session": []}],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": {"$ref": _REF.format(model="TrialOrder")}}},
            },
            "responses": {
                "200": _answer("How it stands.", "Trial"),
                "400": _ref("BadRequest"),
                "403": _ref("NotAllowed"),
                "409": _answer("The table refuses, and says why.", "Refusal"),
                "413": _ref("TooLong"),
                "503": _ref("NoTable"),
            },
        }
    },
    "/session": _get(
        "Who is signed on, and for how long still",
        _answer("Without a session: the dealer.", "Session"),
        security=[{}, {"session": []}],
    ),
    "/profiles": _get("The rule profiles and which is in force", _answer("The page.", "", "text/html")),
    "/profiles/compare": _get(
        "Two profiles side by side",
        _answer("The page.", "", "text/html"),
        parameters=[_asked("one", _PROFILE), _asked("other", _PROFILE)],
        responses={"404": _ref("NotThere")},
    ),
    "/profiles/{name}": {
        **_get(
            "A profile in words and cards",
            _answer("The page.", "", "text/html"),
            parameters=[*_name("The profile.", "traditional"), _asked("version", _VERSION)],
            responses={"404": _ref("NotThere")},
        ),
        "post": {
            "summary": "Check a form, write a version down, go back to one, put one in force",
            "security": [{"token": []}, {"token": [], "session": []}],
            "parameters": _name("The profile.", "traditional"),
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": {"$ref": _REF.format(model="ProfileOrder")}}},
            },
            "responses": {
                "200": _answer("It is sound, or done and durable.", "Done"),
                "400": _ref("BadRequest"),
                "403": _ref("NotAllowed"),
                "404": _ref("NotThere"),
                "409": _answer("The table refuses, and says why.", "Refusal"),
                "413": _ref("TooLong"),
                "422": _answer("Fields that will not do, each with a sentence.", "FormRefusal"),
                "503": _ref("NoTable"),
            },
        },
    },
    "/profiles/{name}/edit": _get(
        "A profile as a form",
        _answer("The page.", "", "text/html"),
        parameters=[*_name("The profile.", "traditional"), _asked("version", _VERSION)],
        responses={"404": _ref("NotThere")},
    ),
    "/profiles/{name}/house-rules.pdf": _get(
        "The house-rules page, to be printed",
        {"description": "A PDF.", "content": {"application/pdf": {}}},
        parameters=[*_name("The profile.", "traditional"), _asked("version", _VERSION)],
        responses={"404": _ref("NotThere")},
    ),
    "/health": _get(
        "Every check of the table's health, as a page",
        _answer("The page.", "", "text/html"),
        responses={"403": _ref("NotAllowed")},
    ),
    "/metrics": _get(
        "What Prometheus counts; to the machine itself only",
        {"description": "Prometheus's text format.", "content": {"text/plain": {}}},
        responses={"403": _ref("NotAllowed")},
    ),
    "/healthz": _get(
        "Whether the page and what it stands on are well",
        _answer("All is well.", "Health"),
        parameters=[_asked("checks", "Also every check's verdict; a bad one is 503.")],
        responses={"503": _answer("Something is not.", "Health")},
    ),
    "/openapi.json": _get(
        "This description",
        {
            "description": "OpenAPI 3.1.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
    ),
    "/static/{name}": _get(
        "The page's script, style and pictures",
        {
            "description": "The file.",
            "content": {
                kind: {}
                for kind in ("text/javascript", "text/css", "image/svg+xml", "font/woff2", "text/plain")
            },
        },
        parameters=_name("The file.", "feltwatch.css"),
        responses={
            "206": {"description": "A part of it.", "content": {"text/css": {}, "text/javascript": {}}},
            "304": {"description": "It has not changed."},
            "404": _ref("NotThere"),
            "416": _error("There is no such part of it."),
        },
    ),
}
