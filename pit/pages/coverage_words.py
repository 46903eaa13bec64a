"""What a report covers, in words: "complete to 14:02; Table 6 missing since 13:40"."""

from collections.abc import Iterator

from dealer_ui.review.timeline import day_of, time_of
from dealer_ui.text.i18n import gettext as _
from pit.follow.coverage import Coverage, Gap, coverage
from pit.follow.totals import Span
from pit.pages.floor import number_in
from pit.pages.services import pit
from pit.status.tables import list_tables


def coverage_of(span: Span) -> Coverage:
    """Return what a report of a span covers now."""
    tables = sorted(list_tables(pit().database), key=lambda one: number_in(one.table.name))
    return coverage(tables, span, pit().live.clock_ms())


def sentence(of: Coverage) -> str:
    """Return it as one sentence."""
    return "; ".join(_parts(of))


def _parts(of: Coverage) -> Iterator[str]:
    if of.complete_ms is not None:
        yield _("complete to %(time)s", time=_time(of.complete_ms))
    elif not of.gaps:
        yield _("no table is enrolled")
    for gap in of.gaps:
        yield missing(gap)
    for table in of.unsure:
        yield _("not known whether %(table)s records", table=table)


def missing(gap: Gap, *, alone: bool = False) -> str:
    """Say what is missing of a table; `alone`: its name stands there already."""
    if alone:
        return _missing(gap)
    if gap.since_ms is None:
        return _("%(table)s missing: never heard of", table=gap.table)
    if gap.struck:
        return _("%(table)s struck off at %(time)s", table=gap.table, time=_time(gap.since_ms))
    return _("%(table)s missing since %(time)s", table=gap.table, time=_time(gap.since_ms))


def _missing(gap: Gap) -> str:
    if gap.since_ms is None:
        return _("never heard of")
    if gap.struck:
        return _("struck off at %(time)s", time=_time(gap.since_ms))
    return _("missing since %(time)s", time=_time(gap.since_ms))


def columns(of: Coverage) -> tuple[tuple[str, str], ...]:
    """Return the same as columns of a CSV file, each with its value: times in UTC milliseconds."""
    gaps = (f"{gap.table} since {'ever' if gap.since_ms is None else gap.since_ms}" for gap in of.gaps)
    return (
        ("complete_to_ms", "" if of.complete_ms is None else str(of.complete_ms)),
        ("missing", "; ".join(gaps)),
        ("not_known", "; ".join(of.unsure)),
    )


def _time(ms: int) -> str:
    today = day_of(pit().live.clock_ms())
    return time_of(ms)[:5] if day_of(ms) == today else f"{day_of(ms)} {time_of(ms)[:5]}"
