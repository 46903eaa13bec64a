"""The files that were sent to tables: how far each is, and withdrawing one."""

from typing import Final

from flask import Blueprint, abort, redirect, request, url_for
from werkzeug.wrappers import Response

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from firmware.uplink.wire import is_hash
from pit.files.requests import TableRequest, requests, withdraw
from pit.pages import guard
from pit.pages.enrol_page import KEEPERS
from pit.pages.people import record_act
from pit.pages.services import pit

blueprint = Blueprint("files", __name__)
MAX_REQUESTS: Final = 200
KINDS: Final = {"profile": N_("Profile"), "deck": N_("Deck"), "release": N_("Release")}
STATES: Final = {
    "asked": N_("to be fetched"),
    "fetched": N_("fetched"),
    "waiting": N_("waits at the table"),
    "in_force": N_("in force"),
    "refused": N_("refused"),
    "withdrawn": N_("withdrawn"),
}
"""What a state is called."""


def files_of(table_id: int | None = None) -> list[TableRequest]:
    """Return what was sent to a table, or to all, the newest first; for those who may send only."""
    if guard.current_person().role not in KEEPERS:
        return []
    with pit().database.transaction() as connection:
        return requests(connection, table_id)[:MAX_REQUESTS]


@blueprint.app_template_filter()
def file_kind(one: TableRequest) -> str:
    """Return what a file's kind is called."""
    return _(KINDS[one.file.kind])


@blueprint.app_template_filter()
def file_state(one: TableRequest) -> str:
    """Return how far a request is, in words."""
    return _(STATES[one.state])


@blueprint.post("/tables/<int:table_id>/files/<sha256>")
@guard.open_to(KEEPERS)
def take_back(table_id: int, sha256: str) -> Response:
    """Withdraw a file from a table."""
    if not is_hash(sha256) or table_id >= 1 << 62:
        abort(404, _("There is no such file."))
    with pit().database.transaction() as connection:
        done = withdraw(connection, table_id, guard.current_person().name, sha256=sha256)
    if not done:
        abort(409, _("It is over already: look at the page again."))
    record_act(pit().database, guard.current_person(), "files.withdraw", detail=sha256[:12])
    back = (
        url_for("tables.table", table_id=table_id, _anchor="files")
        if request.form.get("at") == "table"
        else url_for("tables.show_list", _anchor="files")
    )
    return redirect(back, 303)
