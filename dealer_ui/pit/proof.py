"""The proof page: how far each table's record is proven, what differs, and the checkpoint to print."""

from __future__ import annotations

from flask import Blueprint

from dealer_ui.pit import guard
from dealer_ui.pit.floor import number_in
from dealer_ui.pit.people import PitRole
from dealer_ui.pit.services import page, pit
from dealer_ui.text.i18n import gettext as _
from firmware.pit.log import keys
from firmware.pit.log.state import log_state, tables
from firmware.record.evidence.signing import fingerprint

blueprint = Blueprint("proof", __name__)
PROOF = frozenset({PitRole.AUDITOR, PitRole.TECHNICIAN, PitRole.OWNER})
"""Who may see it; nothing of it is secret."""


@blueprint.get("/proof")
@guard.open_to(PROOF)
def shown() -> str:
    """Show how far the records are proven."""
    with pit().database.transaction() as connection:
        state = log_state(connection)
        of_tables = {one.table_id: one for one in keys.listed(connection)}
        rows = [(one, of_tables[one.table_id]) for one in tables(connection)]
    return page(
        "proof",
        _("Proof"),
        log=state,
        rows=sorted(rows, key=lambda row: number_in(row[0].name)),
        words=fingerprint(state.key) if state.key else "",
    )
