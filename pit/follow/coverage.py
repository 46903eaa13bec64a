"""What a report over the tables covers: up to when it has everything, and which tables it lacks since when. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pit.follow.totals import Span
from pit.status.freshness import Lack, complete_ms, status_of
from pit.status.tables import TableState


@dataclass(frozen=True)
class Gap:
    """A table whose rows since a time are missing in a report: UTC milliseconds, or None if it never sent any."""

    table: str
    since_ms: int | None
    struck: bool = False
    """Whether a person struck the table off then."""


@dataclass(frozen=True)
class Coverage:
    """What a report covers."""

    complete_ms: int | None = None
    """Up to when it has everything of all tables without a gap, UTC milliseconds; None: each table has one."""
    gaps: tuple[Gap, ...] = ()
    unsure: tuple[str, ...] = ()
    """Tables whose rows are all here, but for which it is not known whether their process answers."""

    def of(self, table: str) -> Gap | None:
        """Return the gap of a table."""
        return next((gap for gap in self.gaps if gap.table == table), None)


def coverage(tables: Iterable[TableState], span: Span, now_ms: int) -> Coverage:
    """Return what a report of a span covers."""
    gaps: list[Gap] = []
    ends: list[int] = []
    unsure: list[str] = []
    for one in tables:
        name = one.table.name
        if span.table not in ("", name):
            continue
        upto = complete_ms(one.fresh, now_ms)
        lacks = {lack for lack, _ in status_of(one.fresh, now_ms).lacks}
        if one.struck_at is not None:
            if upto is not None and _ms(one.struck_at) >= span.since_ms:
                gaps.append(Gap(name, min(upto, _ms(one.struck_at)), struck=True))
        elif upto is None or lacks - {Lack.PULSE}:
            gaps.append(Gap(name, upto))
        else:
            ends.append(upto)
            if lacks:
                unsure.append(name)
    return Coverage(min(ends, default=None), tuple(gaps), tuple(unsure))


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)
