"""The proof page: how far each table's record is proven, what differs, and the checkpoint to print.

A new epoch of the log is an alarm on the floor page until somebody has looked into it here.
"""

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from dealer_ui.text.i18n import gettext as _
from firmware.record.evidence.signing import fingerprint
from pit.log import keys
from pit.log.state import SEEN, log_state, new_epoch, tables
from pit.pages import guard
from pit.pages.floor import number_in
from pit.pages.people import PitRole, record_act
from pit.pages.services import page, pit
from pit.status import freshness
from pit.store.facts import set_fact

blueprint = Blueprint("proof", __name__)
PROOF = frozenset({PitRole.AUDITOR, PitRole.TECHNICIAN, PitRole.OWNER})
"""Who may see it; nothing of it is secret."""


@blueprint.get("/proof")
@guard.open_to(PROOF)
def show() -> str:
    """Show how far the records are proven."""
    with pit().database.transaction() as connection:
        state = log_state(connection)
        of_tables = {one.table_id: one for one in keys.list_keys(connection)}
        epoch = new_epoch(connection)
        known, now_ms = freshness.read(connection), pit().live.clock_ms()
        rows = [
            (one, of_tables[one.table_id], freshness.status_of(known[one.table_id], now_ms))
            for one in tables(connection)
        ]
    return page(
        "proof",
        _("Proof"),
        log=state,
        unseen=epoch[0] if epoch else None,
        rows=sorted(rows, key=lambda row: number_in(row[0].name)),
        words=fingerprint(state.key) if state.key else "",
    )


@blueprint.post("/proof/seen")
@guard.open_to(PROOF)
def seen() -> Response:
    """End the alarm of a new epoch: who looked into it is recorded."""
    with pit().database.transaction() as connection:
        epoch = new_epoch(connection)
        if epoch and request.form.get("epoch") == str(epoch[0]):
            record_act(pit().database, guard.current_person(), "proof.seen", detail=str(epoch[0]))
            set_fact(connection, SEEN, str(epoch[0]))
    return redirect(url_for("proof.show"), 303)
