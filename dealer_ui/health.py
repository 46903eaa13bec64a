"""`/healthz`: whether the page and what it stands on are well, for the service manager and `doctor`."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, jsonify

from dealer_ui import guard
from dealer_ui.services import services

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
@guard.open_to(guard.EVERYBODY)
def healthz() -> tuple[Response, int]:
    """Answer 200 where the record can be read and the table process answers, else 503."""
    moment = services().live.now()
    table = moment.screen.answering
    well = table and not moment.trouble
    return jsonify(
        ok=well,
        table=table,
        record=not moment.trouble,
        trouble=moment.trouble,
        seq=moment.screen.seq,
        training=bool(current_app.config.get("TRAINING")),
    ), 200 if well else 503
