"""`/photo` on the touchscreen: the address and the code with which a phone opens its page. Off unless configured."""

import segno
from flask import Blueprint, abort, current_app
from markupsafe import Markup

from dealer_ui.photo.codes import running
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web import guard
from dealer_ui.web.pages import page

blueprint = Blueprint("photo_code", __name__)


def is_on() -> bool:
    """Return whether the house has opened the page for phones."""
    return bool(current_app.config["PHOTO"])


@blueprint.get("/photo")
@guard.open_to(guard.EVERYBODY)
def code() -> str:
    """Show the address, the code of now, and both as a QR code."""
    if not is_on():
        abort(404)
    address = str(current_app.config["PHOTO"])
    codes = running(current_app.config["PHOTO_SECRET"])
    shown = codes.shown() if codes else None
    qr = ""
    if shown:
        scanned = segno.make_qr(f"{address}log-in#{shown.code}", error="m")
        qr = Markup(scanned.svg_inline(border=4, omitsize=True, light="#fff", dark="#000"))
    return page("photo/code.html", _("Photo"), address=address, shown=shown, qr=qr)
