"""Enrols the table at a pit: a code is held before the camera, or typed; then five words are compared.

The page speaks to nothing outside the box: the table process writes the request, and a program that the service
manager starts speaks to the pit and says how far it is.
"""

import time

from flask import Blueprint, Response, render_template, request

from dealer_ui.setup.inbox import files_here
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say_answer
from dealer_ui.web import guard
from dealer_ui.web.commands import give
from dealer_ui.web.pages import own_address, page
from dealer_ui.web.services import services
from firmware.table.people import Role
from firmware.uplink.join_request import OVER, JoinProgress, read_join_progress

blueprint = Blueprint("pit_setup", __name__)
TECHNICIAN = frozenset({Role.TECHNICIAN})
NEW = "new"
"""The name of no request: the page begins again."""


@blueprint.get("/setup/pit")
@guard.open_to(TECHNICIAN)
def pit() -> str:
    """Wait for a code before the camera; with a request's name, or while one is under way, show how far it is."""
    job = request.args.get("job") or _under_way()
    return page(
        "camera/pit.html",
        _("The pit"),
        back=own_address(request.args.get("back", "/set-up")),
        table=services().live.state().house.table,
        job="" if job == NEW else job,
        silent=_silent(),
        has_files=bool(files_here()),
    )


@blueprint.post("/setup/pit/look")
@guard.open_to(TECHNICIAN)
def look() -> tuple[Response, int]:
    """Look for a code once. The page repeats it by itself, so it does not extend a session."""
    return give({"do": "read_code"})


@blueprint.get("/setup/pit/progress")
@guard.open_to(TECHNICIAN)
def progress() -> str:
    """Return the part of the page that says how far a request is, by its name."""
    found = read_join_progress(services().join)
    job = request.args.get("job", "")
    if found is None or found.id != job:
        found = JoinProgress(job, beat_s=time.monotonic())  # nobody has taken it up yet
    is_dead = found.step not in OVER and not found.goes_on(time.monotonic())
    why = _silent() if is_dead else say_answer(found.refusal) if found.step == "failed" else ""
    return render_template("camera/join.html", progress=found, why=why)


def _under_way() -> str:
    found = read_join_progress(services().join)
    return found.id if found and found.goes_on(time.monotonic()) else ""


def _silent() -> str:
    return _("The box enrols no table now. Call the technician of the house.")
