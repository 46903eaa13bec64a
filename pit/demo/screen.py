"""What the demo shows of each table: what the table has, and what the pit has of it, from the pit's own database."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table as Grid

from firmware.terminal import escape
from pit.demo.tables import DemoTable
from pit.status.freshness import status_of
from pit.status.tables import list_tables
from pit.store.database import Database


@dataclass(frozen=True)
class Line:
    """One table. `hands`: ended ones in the pit's list; `rows`: in the table's record; `have`: of these, at the pit."""

    name: str
    hands: int
    rows: int
    have: int
    heard_s: float | None
    trouble: str

    @property
    def text(self) -> str:
        """The line for an output that is not a terminal."""
        counts = f"{self.hands} hands, {self.rows} rows, the pit has {self.have}"
        return f"{self.name}: {counts}, heard {self.heard}  {self.trouble}".rstrip()

    @property
    def heard(self) -> str:
        """When the pit heard of the table last."""
        return "never" if self.heard_s is None else f"{self.heard_s:.0f} s ago"


def look(database: Database, tables: Sequence[DemoTable]) -> list[Line]:
    """Return a line for each table. Raises DatabaseError, JournalError."""
    with database.transaction() as connection:
        hands = dict(
            connection.execute(
                "SELECT name, count(*) FROM hand JOIN record USING (record_id) JOIN gaming_table USING (table_id)"
                " WHERE outcome <> 'open' GROUP BY name"
            ).fetchall()
        )
    known = {one.table.name: one for one in list_tables(database)}
    now_ms = time.time_ns() // 1_000_000
    lines = []
    for table in tables:
        state = known[table.name]
        heard_ms = state.fresh.heard_ms
        heard = (now_ms - heard_ms) / 1000 if heard_ms is not None else None
        differs = f"the record differs at row {state.fork_seq}" if state.fork_seq else ""
        lacks = map(str, status_of(state.fresh, now_ms).sentences)
        trouble = ", ".join(filter(None, (table.note, differs, state.stuck_why, *lacks)))
        if table.failure is not None:
            trouble = f"{type(table.failure).__name__}: {table.failure}"
        lines.append(
            Line(table.name, hands.get(table.name, 0), table.rows(), state.fresh.seq, heard, escape(trouble))
        )
    return lines


def is_listed(database: Database) -> bool:
    """Return whether all that the pit has is in its list of hands."""
    with database.transaction() as connection:
        behind = connection.execute(
            "SELECT FROM head JOIN projection USING (record_id) WHERE projection.seq < head.seq LIMIT 1"
        ).fetchone()
    return behind is None


def grid(lines: Sequence[Line], title: str) -> Grid:
    """Return the lines for a terminal."""
    shown = Grid(title=title, title_justify="left")
    for heading in ("table", "hands", "rows", "the pit has", "heard", ""):
        shown.add_column(heading, justify="left" if heading in ("table", "") else "right")
    for line in lines:
        shown.add_row(line.name, str(line.hands), str(line.rows), str(line.have), line.heard, line.trouble)
    return shown
