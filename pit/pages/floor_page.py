"""The floor page, its stream, and "I go"."""

import time
from functools import partial

from flask import Blueprint, Response, abort, current_app, jsonify, request

from dealer_ui.text.i18n import LANGUAGES, N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web.guard import token
from dealer_ui.web.services import services
from dealer_ui.web.stream import client_gone, following
from pit.pages import guard
from pit.pages.people import EVERYONE, FLOOR, PitSessions, record_act
from pit.pages.services import page as shown
from pit.pages.services import pit
from pit.pages.tile import Band

blueprint = Blueprint("floor", __name__, template_folder="templates")  # of all pages of the pit

BANDS = (
    (Band.NOW, N_("Needs somebody now")),
    (Band.SOON, N_("Soon")),
    (Band.DEALING, N_("Dealing")),
    (Band.CLOSED, N_("Closed")),
)


@blueprint.get("/")
@guard.open_to(EVERYONE)
def page() -> str:
    """Show every table's tile, by need."""
    return shown("floor", _("Floor"), floor=pit().live.now(), bands=BANDS, now_ms=pit().live.clock_ms())


@blueprint.get("/events")
@guard.open_to(EVERYONE)
def events() -> Response:
    """Stream the floor: every tile at first, then those that changed. It ends with the session."""
    served = pit()
    person = guard.current_person().name
    if not services().streams.take(person):
        abort(503, _("Too many screens follow the floor. Close one."))
    hello = {"build": current_app.config["BUILD"], "token": token(), "now": str(served.live.clock_ms())}
    own = request.args.get("language", "")
    sessions = services().sessions
    assert isinstance(sessions, PitSessions)
    cookie = request.cookies.get(sessions.cookie)
    disconnected = client_gone(request.environ.get("waitress.client_disconnected"), None)
    checked = [time.monotonic()]

    def gone() -> bool:
        if not sessions.is_open(cookie):
            return True
        if time.monotonic() - checked[0] > SESSION_CHECK_S:
            checked[0] = time.monotonic()
            if sessions.role(cookie, ()) is None:
                return True
        return disconnected()

    sent = following(served.live, served.messages, hello, own if own in LANGUAGES else "", gone)
    response = Response(sent, mimetype="text/event-stream")
    response.call_on_close(partial(services().streams.give_back, person))
    response.headers["X-Accel-Buffering"] = "no"
    return response


SESSION_CHECK_S = 30.0
"""Seconds after which an open floor page extends its session."""


@blueprint.post("/going/<int:table_id>")
@guard.open_to(FLOOR)
def going(table_id: int) -> tuple[Response, int]:
    """Put the person's name on a table's need, or take it off again."""
    asked = request.get_json(silent=True)
    need = asked.get("need") if isinstance(asked, dict) else None
    one = pit().live.now().of(table_id)
    if one is None or not isinstance(need, str):
        abort(400, _("The page sent a command that it may not send. Reload the page."))
    if one.tile.need != need:
        abort(409, _("This table needs something else now."))
    person = guard.current_person()
    with pit().database.transaction() as connection:
        if one.tile.going == person.name:
            connection.execute(
                "DELETE FROM going WHERE table_id = %s AND person = %s", (table_id, person.name)
            )
        else:
            connection.execute(
                "INSERT INTO going (table_id, person, need) VALUES (%s, %s, %s) ON CONFLICT (table_id)"
                " DO UPDATE SET person = excluded.person, need = excluded.need, at = now()",
                (table_id, person.name, need),
            )
    record_act(pit().database, person, "going", one.record_id, one.tile.hand, str(one.tile.title))
    pit().live.refresh()
    return jsonify(ok=True), 200
