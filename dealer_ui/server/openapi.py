"""`/openapi.json`: the interface for programs and scripts, as OpenAPI 3.1.

Made from the code: addresses from the routes, summaries from their functions, bodies from the types: commands as the
table parses them, the view as the page renders it, answers of `web/answers.py`. Pages for people are not listed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from inspect import getdoc
from typing import Any, Final

from flask import Blueprint, Flask, Response, current_app, jsonify
from pydantic import TypeAdapter
from werkzeug.routing import Rule

from dealer_ui.setup.routes import ACTS, CLOCK
from dealer_ui.view.screen import Screen
from dealer_ui.web import answers, guard
from dealer_ui.web.commands import NOT_THE_BROWSERS
from dealer_ui.web.sessions import COOKIE
from firmware.table.command import COMMAND_ROLES, command_adapter

blueprint = Blueprint("interface", __name__)

_REF: Final = "#/components/schemas/{model}"
_JSON: Final = "application/json"
_TEXT: Final = {"type": "string"}
_TYPES: Final = (
    answers.Refusal,
    answers.Acknowledgement,
    answers.Job,
    answers.Trial,
    answers.PaintOrder,
    answers.KioskScreen,
    answers.Session,
    answers.StickProgress,
    answers.StickProfiles,
    answers.Health,
    answers.StreamEvent,
    answers.ProfileOrder,
    answers.ProfileFileOrder,
)
_SECURITY: Final = {
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
}


@dataclass(frozen=True)
class _Route:
    """What a route's own function does not say: `answer` and `order` name schemas."""

    answer: str = ""
    order: str = ""
    kinds: tuple[str, ...] = (_JSON,)
    """Media types of the answer; without `answer` nothing is said of its content."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of the query's fields."""
    refusals: tuple[int, ...] = ()
    """Status codes besides those that follow from method, path and roles."""
    file: bool = False
    """Parts of it may be asked for, and whether it has changed."""


_PICTURES: Final = ("image/jpeg", "image/png")
_ROUTES: Final[Mapping[str, _Route]] = {
    "glance.data": _Route("View"),
    "glance.capture": _Route(kinds=_PICTURES, refusals=(403,), file=True),
    "stream.events": _Route(
        "StreamEvent",
        kinds=("text/event-stream",),
        query={"language": "A code of `dealer_ui/text/i18n.py`; the table's without it."},
        refusals=(503,),
    ),
    "orders.command": _Route("Acknowledgement", "Command"),
    "kiosk.painted": _Route("Acknowledgement", "PaintOrder"),
    "kiosk.screen": _Route("KioskScreen"),
    "pin.session": _Route("Session"),
    "pin.judge_new_pin": _Route("Acknowledgement", "NewPin"),
    "health.healthz": _Route(
        "Health", query={"checks": "Also every check's verdict; a bad one is 503."}, refusals=(503,)
    ),
    "health.metrics": _Route(kinds=("text/plain",), refusals=(403,)),
    "set_up.set_clock": _Route("Acknowledgement", "ClockOrder"),
    "set_up.trial": _Route("Trial", "TrialOrder"),
    "camera.look": _Route("Acknowledgement"),
    "pit_setup.look": _Route("Acknowledgement"),
    "camera.job": _Route("Job", refusals=(409, 503)),
    "camera.picture": _Route(kinds=_PICTURES, refusals=(503,)),
    "profiles.change": _Route("Acknowledgement", "ProfileOrder", refusals=(422,)),
    "profile_file.bring": _Route("Acknowledgement", "ProfileFileOrder", refusals=(422,)),
    "profile_file.on_stick": _Route(
        "StickProfiles", query={"job": "The name that `read_stick` gave the request."}
    ),
    "stick.progress": _Route("StickProgress", query={"job": "The name that `export_hand` gave the request."}),
    "interface.openapi": _Route(kinds=(_JSON,)),
}
_REASONS: Final = {
    302: "To the PIN page.",
    400: "What was sent cannot be understood, or names another host.",
    403: "The role does not do, the token is missing, or another site asks.",
    404: "There is no such thing.",
    409: "The table refuses, and says why.",
    413: "The body is longer than a command can be.",
    416: "There is no such part of it.",
    422: "Fields that will not do, each with a sentence.",
    503: "The table process does not answer, or the record cannot be read.",
}


@blueprint.get("/openapi.json")
@guard.open_to(guard.EVERYBODY)
def openapi() -> Response:
    """Return the description of this interface."""
    return jsonify(description(current_app))


def description(app: Flask) -> dict[str, Any]:
    """Return the OpenAPI document of an application."""
    paths: dict[str, dict[str, Any]] = {}
    for rule in app.url_map.iter_rules():
        if route := _ROUTES.get(rule.endpoint):
            for method in (rule.methods or set()) & {"GET", "POST"}:
                path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
                view = app.view_functions[rule.endpoint]
                paths.setdefault(path, {})[method.lower()] = _operation(rule, method, view, route)
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
        "paths": paths,
        "components": {"schemas": _schemas(), "securitySchemes": _SECURITY},
    }


def _operation(rule: Rule, method: str, view: Any, route: _Route) -> dict[str, Any]:
    is_post, roles = method == "POST", guard.roles_of(view)
    codes = {
        400,
        *route.refusals,
        *({403, 409, 413, 503} if is_post else ()),
        *({404} if rule.arguments else ()),
        *(() if roles == guard.EVERYBODY else {302, 403}),
        *({416} if route.file else ()),
    }
    content = {kind: {"schema": _ref(route.answer)} if route.answer else {} for kind in route.kinds}
    responses = {
        "200": {"description": "It is done." if is_post else "What was asked for.", "content": content},
        **{str(code): _refusal(code, route) for code in sorted(codes)},
    }
    if route.file:
        responses |= {
            "206": {"description": "A part of it.", "content": content},
            "304": {"description": "It has not changed."},
        }
    operation: dict[str, Any] = {
        "summary": (getdoc(view) or "").partition("\n")[0],
        "description": f"Open to: {', '.join(sorted(roles))}.",
        "security": [{"token": []}, {"token": [], "session": []}] if is_post else [{}, {"session": []}],
        "parameters": [
            *(_parameter(name, "path", rule) for name in sorted(rule.arguments)),
            *(
                {"name": name, "in": "query", "description": words, "schema": _TEXT}
                for name, words in route.query.items()
            ),
        ],
        "responses": responses,
    }
    if route.order:
        operation["requestBody"] = {"required": True, "content": {_JSON: {"schema": _ref(route.order)}}}
    return operation


def _parameter(name: str, place: str, rule: Rule) -> dict[str, Any]:
    is_number = f"<int:{name}>" in rule.rule
    schema = {"type": "integer", "minimum": 0} if is_number else {"type": "string", "minLength": 1}
    return {"name": name, "in": place, "required": True, "schema": schema}


def _refusal(code: int, route: _Route) -> dict[str, Any]:
    """Return an error response: one sentence as JSON if JSON was sent or requested, else as a text or a small page."""
    answer = {"description": _REASONS[code]}
    if code < 400:
        return answer
    schema = _ref("Health" if code == 503 and route.answer == "Health" else "Refusal")
    return {
        **answer,
        "content": {
            _JSON: {"schema": schema},
            "text/plain": {"schema": _TEXT},
            "text/html": {"schema": _TEXT},
        },
    }


def _ref(model: str) -> dict[str, str]:
    return {"$ref": _REF.format(model=model)}


def _schemas() -> dict[str, Any]:
    """Return every schema; a browser may not say who gives a command. Roles stand in the commands' description."""
    found: dict[str, Any] = {}
    adapters: dict[str, TypeAdapter[Any]] = {
        "Command": command_adapter(),
        "View": TypeAdapter(Screen),
        **{one.__name__: TypeAdapter(one) for one in _TYPES},
    }
    for name, adapter in adapters.items():
        schema = adapter.json_schema(
            mode="serialization" if name == "View" else "validation", ref_template=_REF
        )
        found |= {**schema.pop("$defs", {}), name: schema}
        if name == "Command":
            for model in found.values():
                properties = model.get("properties", {})
                for hidden in NOT_THE_BROWSERS & set(properties):
                    del properties[hidden]
                if "do" in properties:
                    model["required"] = sorted({*model.get("required", ()), "do"})
    roles = "\n".join(f"- `{do}`: {', '.join(sorted(who))}" for do, who in sorted(COMMAND_ROLES.items()))
    found["Command"]["description"] = f"Who may give which:\n\n{roles}"
    for order, command, fields in (("ClockOrder", "SetClock", CLOCK), ("TrialOrder", "TryDevice", ACTS)):
        properties = {name: found[command]["properties"][name] for name in sorted(fields)}
        found[order] = {"type": "object", "additionalProperties": False, "properties": properties}
    view = found["View"]
    view["properties"] |= {"mode": {"enum": ["need", "felt", "between", "quiz"]}, "trouble": _TEXT}
    view["required"] = [*view["required"], "mode", "trouble"]
    return found
