"""The tables: health, release, last heard, drift; and each table's own page."""

import time
from dataclasses import dataclass
from typing import Final

from flask import Blueprint, abort

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from pit.copies import backup
from pit.follow.search import FoundHand, SearchFilter, search
from pit.follow.totals import DAY_MS, DAYS, Day, Span, days_of, outside
from pit.options import BACKUP_STATE
from pit.pages import coverage_words, guard
from pit.pages.files_page import files_of
from pit.pages.floor import number_in
from pit.pages.people import EVERYONE, HANDS
from pit.pages.services import page, pit
from pit.status.freshness import Status, status_of
from pit.status.tables import TableState
from pit.status.tables import list_tables as tables_listed

blueprint = Blueprint("tables", __name__)
LAST: Final = 10
HEADS: Final = (
    N_("Day"),
    N_("Hands"),
    N_("Cards read"),
    N_("Asked, %"),
    N_("Read wrong, %"),
    N_("Reading, s"),
)


@dataclass(frozen=True)
class Row:
    """One table."""

    state: TableState
    status: Status


def _rows() -> list[Row]:
    now_ms = pit().live.clock_ms()
    rows = [Row(state, status_of(state.fresh, now_ms)) for state in tables_listed(pit().database)]
    return sorted(rows, key=lambda row: number_in(row.state.table.name))


@blueprint.get("/tables")
@guard.open_to(EVERYONE)
def show_list() -> str:
    """List all tables."""
    made = backup.last(BACKUP_STATE)
    return page(
        "tables",
        _("Tables"),
        rows=_rows(),
        sent=files_of(),
        at="",
        is_server=BACKUP_STATE.parent.is_dir(),
        backup_ms=round(made.at * 1000) if made else None,
        is_late=made is not None and time.time() - made.at > backup.LATE_S,
    )


@blueprint.get("/tables/<int:table_id>")
@guard.open_to(EVERYONE)
def table(table_id: int) -> str:
    """Show one table: its tile, its health, its last days, and its last hands to those who may see hands."""
    row = next((one for one in _rows() if one.state.table.table_id == table_id), None)
    if row is None:
        abort(404, _("There is no such table."))
    name, now_ms = row.state.table.name, pit().live.clock_ms()
    found: list[FoundHand] = []
    if guard.current_person().role in HANDS:
        found = search(pit().database, SearchFilter(table=name), LAST)
    days: list[Day] = [day for some in days_of(pit().database, now_ms, name).values() for day in some]
    return page(
        "table",
        name,
        row=row,
        sent=files_of(table_id),
        at="table",
        one=pit().live.now().of(table_id),
        hands=found,
        heads=[_(words) for words in HEADS],
        days=sorted(days, reverse=True),
        covers=(covers := coverage_words.coverage_of(Span(now_ms - DAYS * DAY_MS, now_ms + 1, name))),
        covered=coverage_words.sentence(covers),
        unusual=list(outside(sorted(days), now_ms // 86_400_000)),
    )
