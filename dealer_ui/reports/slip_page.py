"""The page of the slip, for the end of a shift: the record's signed head as a QR code, and as a PDF to print."""

from typing import Any

from flask import Blueprint, Response, abort, request
from markupsafe import Markup
from werkzeug.exceptions import HTTPException

from dealer_ui.review.routes import refused
from dealer_ui.review.timeline import day_of, time_of
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.view.screen import Action
from dealer_ui.web import guard
from dealer_ui.web.pages import attachment, own_address, page
from dealer_ui.web.services import services
from firmware.record.evidence.anchors import Anchor
from firmware.table.errors import JournalError, UnknownEvent
from firmware.table.events import HeadSigned
from firmware.uplink.held_checkpoint import read_checkpoint

blueprint = Blueprint("slip", __name__)
blueprint.register_error_handler(HTTPException, refused)


def _last_anchor() -> tuple[Anchor | None, int]:
    """Return the last anchor, None if there is none, and the number of rows after the anchored row."""
    reader = services().reader
    try:
        entry, (head, _hash) = reader.last_anchor(), reader.head()
    except (JournalError, UnknownEvent) as error:
        abort(503, say(error))
    if entry is None or not isinstance(entry.event, HeadSigned):
        return None, head
    return Anchor.of(entry.event), head - entry.seq


@blueprint.get("/slip")
@guard.open_to(guard.EVERYBODY)
def slip() -> str:
    """Show the last signed head of the record and the signing key; neither is secret."""
    anchor, later = _last_anchor()
    back = own_address(request.args.get("back", "/"))
    values: dict[str, Any] = {
        "anchor": anchor,
        "later": later,
        "sign": Action(_("Sign the record now"), {"do": "sign_head"}, tone="go"),
    }
    if anchor is not None:
        from dealer_ui.reports.slip import (
            slip_svg,
        )  # imported late: the drawing libraries would delay the start by a second

        values["held"] = read_checkpoint(services().pit)
        values["qr"] = Markup(slip_svg(anchor))
        values["when"] = f"{day_of(anchor.wall_ms)} {time_of(anchor.wall_ms)}"
    return page("review/slip.html", _("Slip of the record"), back=back, **values)


@blueprint.get("/slip.pdf")
@guard.open_to(guard.EVERYBODY)
def slip_as_pdf() -> Response:
    """Return the slip as a PDF, 80 mm wide."""
    anchor, _later = _last_anchor()
    if anchor is None:
        abort(404, _("Nothing was signed yet: sign the record first."))
    from dealer_ui.reports.slip import slip_pdf

    return attachment(
        slip_pdf(anchor, read_checkpoint(services().pit)), "application/pdf", f"slip-{anchor.seq}.pdf"
    )
