"""`/events`: the table's view by server-sent events (`dealer_ui.web.stream`)."""

import threading

from flask import Blueprint, Response, abort, current_app, request

from dealer_ui.text.i18n import LANGUAGES
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web import guard
from dealer_ui.web.services import KIOSK, services
from dealer_ui.web.stream import client_gone, following

blueprint = Blueprint("stream", __name__)


@blueprint.get("/events")
@guard.open_to(guard.EVERYBODY)
def events() -> Response:
    """Stream the view."""
    served = services()
    taken: threading.Event | None = None
    if KIOSK in request.cookies:
        taken = served.kiosk.take()
        served.live.wake()  # the previous kiosk stream ends now
    elif not served.streams.take():
        abort(503, _("Too many screens follow this table. Close one."))
    hello = {"build": current_app.config["BUILD"], "token": guard.token()}
    own = request.args.get("language", "")
    gone = client_gone(request.environ.get("waitress.client_disconnected"), taken)
    sent = following(served.live, served.messages, hello, own if own in LANGUAGES else "", gone)
    response = Response(sent, mimetype="text/event-stream")
    if taken is None:
        response.call_on_close(served.streams.give_back)
    return response
