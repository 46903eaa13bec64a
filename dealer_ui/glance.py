"""The glance page, its data as JSON, and the captures it shows."""

from __future__ import annotations

from flask import Blueprint, Response, abort, current_app, jsonify, render_template, send_file

from dealer_ui import guard
from dealer_ui.render import parts, title
from dealer_ui.services import services
from firmware.table.errors import CaptureError

blueprint = Blueprint("glance", __name__)

A_DAY = 24 * 3600


@blueprint.get("/")
@guard.open_to("screen")
def page() -> str:
    """Show the table."""
    moment = services().live.now()
    return render_template(
        "glance.html",
        screen=moment.screen,
        parts=parts(moment),
        title=title(moment),
        token=guard.token(),
        build=current_app.config["BUILD"],
    )


@blueprint.get("/view.json")
@guard.open_to("screen")
def data() -> Response:
    """Give the view as JSON, for programs."""
    moment = services().live.now()
    return jsonify({**moment.screen.as_json(), "trouble": moment.trouble})


@blueprint.get("/captures/<path:name>")
@guard.open_to("screen")
def capture(name: str) -> Response:
    """Give a stored image. A name that no capture can have is 404, whatever lies there."""
    try:
        path = services().captures.path(name)
        response = send_file(path, conditional=True, max_age=A_DAY)  # a capture never changes
    except (CaptureError, OSError):
        abort(404, "There is no such picture; it may have been taken off the disk by the retention rules.")
    response.headers["Cache-Control"] = f"private, max-age={A_DAY}, immutable"
    return response
