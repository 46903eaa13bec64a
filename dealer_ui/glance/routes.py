"""The glance page, its data as JSON, and the captures it shows."""

from flask import (
    Blueprint,
    Response,
    abort,
    after_this_request,
    current_app,
    jsonify,
    redirect,
    render_template,
    request,
    send_file,
)
from werkzeug.wrappers import Response as Redirect

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.view.render import parts, rules_sheet, title, why_not_live
from dealer_ui.web import guard
from dealer_ui.web.services import KIOSK, services
from firmware.table.errors import CaptureError

blueprint = Blueprint("glance", __name__)

NEVER_STORED = "no-store"


@blueprint.get("/")
@guard.open_to(guard.EVERYBODY)
def page() -> str | Redirect:
    """Show the table; on a box that is not set up yet, redirect to the setup.

    The screen at the table opens it as `/?kiosk`, and has a stream of its own from then on.
    """
    if "kiosk" in request.args:
        after_this_request(_mark_kiosk)
    snapshot = services().live.now()
    if snapshot.wants_set_up:
        return redirect("/set-up/next")
    return render_template(
        "glance.html",
        screen=snapshot.screen,
        parts=parts(snapshot),
        title=title(snapshot),
        why_not_live=why_not_live(snapshot),
        token=guard.token(),
        build=current_app.config["BUILD"],
    )


@blueprint.get("/rules")
@guard.open_to(guard.EVERYBODY)
def rules() -> str:
    """Return the rules in force as a part of the page, loaded on demand because of its size."""
    screen = services().live.now().screen
    return rules_sheet(screen.sheet, screen.unit)


@blueprint.get("/view.json")
@guard.open_to(guard.EVERYBODY)
def data() -> Response:
    """Return the view as JSON, for programs."""
    snapshot = services().live.now()
    return jsonify({**snapshot.screen.to_json(), "trouble": snapshot.trouble})


def _mark_kiosk(response: Response) -> Response:
    response.set_cookie(KIOSK, "1", httponly=True, samesite="Strict")
    return response


@blueprint.get("/captures/<path:name>")
@guard.open_to(guard.EVERYBODY)
def capture(name: str) -> Response:
    """Return a stored image: of the current hand to everybody, of past hands to floor people and auditors.

    An invalid capture name is 404, whatever file may exist there.
    """
    served = services()
    try:
        path = served.captures.path(name)
        if path.parent.name != f"{served.live.state().hand:06}":
            guard.need(guard.PAST, N_("A picture of a past hand"))
        response = send_file(path, conditional=True)
    except (CaptureError, OSError):
        abort(404, _("There is no such picture; it may have been taken off the disk by the retention rules."))
    # A browser's cache outlives a log-off: images that will need a PIN must not be in it.
    response.headers["Cache-Control"] = NEVER_STORED
    return response
