"""The /sim page as a Flask blueprint, added only to the demo's page."""

from pathlib import Path
from typing import Final

from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    jsonify,
    render_template,
    request,
    send_from_directory,
)

from dealer_ui.web import guard
from firmware.table_client import TableLink, TableUnreachable

ADDRESS: Final = "/sim"
SEATS: Final = range(1, 6)

blueprint = Blueprint("sim", __name__, url_prefix=ADDRESS, template_folder="templates")


def add_to(app: Flask, link: TableLink) -> None:
    """Add the room's routes at /sim to the demo's page. `link`: the connection to the `Room`."""
    app.extensions["feltwatch-sim"] = link
    app.config["LINKS"] = [("The simulated room", ADDRESS)]
    app.register_blueprint(blueprint)


@blueprint.get("")
@guard.open_to(guard.EVERYBODY)
def page() -> str:
    """Show the room."""
    return render_template(
        "sim.html",
        seats=SEATS,
        token=guard.token(),
        build=current_app.config["BUILD"],
        title="The simulated room · Feltwatch",
    )


@blueprint.get("/static/<path:name>")
@guard.open_to(guard.EVERYBODY)
def static(name: str) -> Response:
    """Return the page's style and script."""
    return send_from_directory(Path(__file__).parent / "static", name)


@blueprint.get("/room.json")
@guard.open_to(guard.EVERYBODY)
def room() -> Response:
    """Return the room's state."""
    return _order({"do": "look"})


@blueprint.post("/do")
@guard.open_to(guard.EVERYBODY)
def do() -> Response:
    """Execute one order in the room."""
    order = request.get_json(silent=True)
    if not isinstance(order, dict):
        abort(400, "An order is one JSON object.")
    return _order(order)


def _order(order: dict[str, object]) -> Response:
    link = current_app.extensions["feltwatch-sim"]
    try:
        answer = link.send(order)
    except TableUnreachable:
        abort(503, "The demo has ended, and its room with it.")
    response: Response = jsonify(answer)
    response.status_code = 200 if answer["ok"] else 400
    return response
