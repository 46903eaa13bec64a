"""`/metrics`: the pit and its tables for Prometheus, without names of people, cards or PINs.

A scraper shows the token in the pit's folder (`guard.METRICS_TOKEN`); people need a session.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from flask import Blueprint, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pit.channels.store import Channel, Channels, read_channels
from pit.copies.backup import last
from pit.log.keys import list_keys
from pit.log.state import log_state, new_epoch
from pit.options import BACKUP_STATE
from pit.pages import guard
from pit.pages.certificates import End, ends
from pit.pages.people import OPEN_SESSION, PitRole
from pit.pages.services import pit
from pit.status import freshness
from pit.status.freshness import Lack, status_of
from pit.status.table_health import health_of
from pit.store.database import Database, rows_by_name
from pit.store.workers import LEASE_S

blueprint = Blueprint("metrics", __name__)

_TABLES: Final = f"""
SELECT t.name, coalesce(h.release, '') AS release, f.fork_seq IS NOT NULL AS fork,
       coalesce(n.stuck_why, p.stuck_why) IS NOT NULL AS stuck,
       d.hands, d.cards, d.unsure AS cards_asked, d.corrected, d.errors, d.faults, {freshness.COLUMNS}
FROM gaming_table t {freshness.FROM}
LEFT JOIN LATERAL (SELECT sum(hands) AS hands, sum(cards) AS cards, sum(unsure) AS unsure, sum(corrected) AS corrected,
                   sum(errors) AS errors, sum(faults) AS faults FROM down_total WHERE record_id = h.record_id) d ON true
WHERE t.struck_at IS NULL ORDER BY t.name
"""
_GAUGES: Final = (
    ("feltwatch_pit_fork", "1 while the table's record differs from what the pit has"),
    ("feltwatch_pit_stuck", "1 while a projection waits for a later release"),
    ("feltwatch_pit_hands", "Hands settled and closed"),
    ("feltwatch_pit_cards", "Cards read"),
    ("feltwatch_pit_cards_asked", "Cards that the dealer was asked about"),
    ("feltwatch_pit_corrected", "Certain cards and rows that a person changed"),
    ("feltwatch_pit_errors", "Cards surely read and then corrected"),
    ("feltwatch_pit_faults", "Faults of devices"),
)


_FRESH: Final = (
    (
        "feltwatch_pit_well",
        "1 while the table is live and whole: what its tile, its lists and reports say, too",
    ),
    ("feltwatch_pit_rows", "Rows of the table's record"),
    ("feltwatch_pit_behind_rows", "Rows that the table has and the pit lacks"),
    ("feltwatch_pit_projection_behind_rows", "Rows that pages and reports do not know of yet"),
)
_AGES: Final = (
    ("feltwatch_pit_heard_seconds", "Seconds since the table was heard of"),
    ("feltwatch_pit_process_seconds", "Seconds since the table process last answered"),
    ("feltwatch_pit_last_row_seconds", "Seconds since the last row that the pit has was made"),
)
"""A table without a value has no sample."""


class _Scrape(Collector):
    def __init__(self, database: Database, now_ms: Callable[[], int], certificate: Path | None) -> None:
        self._database, self._now_ms, self._certificate = database, now_ms, certificate

    def collect(self) -> Iterator[Metric]:
        with self._database.transaction() as connection:
            rows = rows_by_name(connection, _TABLES)
            slots = connection.execute(
                "SELECT slot_name, active, wal_status IS NOT DISTINCT FROM 'lost' FROM pg_replication_slots"
            ).fetchall()
            (disputes, people, quarantined, processes) = connection.execute(
                "SELECT (SELECT count(*) FROM listed_hand WHERE disputed),"
                f" (SELECT count(*) FROM session, person WHERE {OPEN_SESSION}), (SELECT count(*) FROM quarantine),"
                " (SELECT count(*) FROM worker WHERE abs(extract(epoch FROM now() - seen)) < %s)",
                (LEASE_S,),
            ).fetchone() or (0, 0, 0, 0)
            log, keys, epoch = log_state(connection), list_keys(connection), new_epoch(connection)
            channels = read_channels(connection)
        yield GaugeMetricFamily("feltwatch_pit_tables", "Tables that are enrolled", len(rows))
        yield GaugeMetricFamily(
            "feltwatch_pit_processes", "The pit's processes that take and follow rows", processes
        )
        yield GaugeMetricFamily("feltwatch_pit_disputes", "Open disputes", disputes)
        yield GaugeMetricFamily("feltwatch_pit_sessions", "People logged in", people)
        yield GaugeMetricFamily("feltwatch_pit_quarantined", "Offers that were refused and kept", quarantined)
        made = last(BACKUP_STATE)
        yield GaugeMetricFamily(
            "feltwatch_pit_backup_time_seconds",
            "When the last backup was begun; 0: never",
            made.at if made else 0,
        )
        yield from _copy_metrics(slots)
        yield _certificate_metric(ends(self._database, self._certificate))
        yield GaugeMetricFamily("feltwatch_pit_log_size", "Signed heads in the log's epoch", log.size)
        yield GaugeMetricFamily(
            "feltwatch_pit_log_epoch", "More than 1: the database was set back", log.epoch
        )
        yield GaugeMetricFamily(
            "feltwatch_pit_log_epoch_unseen",
            "1 while nobody has looked into why the log's newest epoch began",
            float(epoch is not None),
        )
        yield GaugeMetricFamily(
            "feltwatch_pit_unproven_seconds",
            "For how long a checkpoint waits for the signatures of most tables",
            log.unproven_s,
        )
        yield GaugeMetricFamily(
            "feltwatch_pit_unaccepted_keys",
            "Tables that sign with a key that nobody has accepted",
            sum(bool(one.other) for one in keys),
        )
        yield from _channel_metrics(channels)
        yield from _table_metrics(rows, self._now_ms())


def _channel_metrics(channels: Channels) -> Iterator[Metric]:
    """Yield how each channel's release is."""
    gauges: tuple[tuple[str, str, Callable[[Channel], float]], ...] = (
        (
            "feltwatch_pit_channel_release",
            "1 while the channel holds a release",
            lambda one: bool(one.sha256),
        ),
        ("feltwatch_pit_channel_stopped", "1 while its release is stopped", lambda one: bool(one.stopped)),
        ("feltwatch_pit_channel_tables", "Tables of the channel", lambda one: len(one.tables)),
        ("feltwatch_pit_channel_updated", "Tables of it that run its release well", lambda one: one.updated),
    )
    for name, says, value in gauges:
        family = GaugeMetricFamily(name, says, labels=["channel"])
        for one in channels.values():
            family.add_metric([one.name], value(one))
        yield family


def _certificate_metric(found: tuple[End, ...]) -> Metric:
    """Return when the pit's own certificates end."""
    end = GaugeMetricFamily(
        "feltwatch_pit_certificate_end_time_seconds", "When a certificate ends", labels=["certificate"]
    )
    for one in found:
        end.add_metric([one.name], one.at.timestamp())
    return end


def _copy_metrics(slots: list[tuple[Any, ...]]) -> Iterator[Metric]:
    active = GaugeMetricFamily(
        "feltwatch_pit_slot_active", "1 while who copies the database is there", labels=["slot"]
    )
    lost = GaugeMetricFamily(
        "feltwatch_pit_slot_lost", "1 once who copies was away for too long and begins again", labels=["slot"]
    )
    for name, is_active, is_lost in slots:
        active.add_metric([name], float(is_active))
        lost.add_metric([name], float(is_lost))
    yield from (active, lost)


def _table_metrics(rows: list[dict[str, Any]], now_ms: int) -> Iterator[Metric]:
    families = [GaugeMetricFamily(name, says, labels=["table"]) for name, says in (*_GAUGES, *_FRESH)]
    ages = [GaugeMetricFamily(name, says, labels=["table"]) for name, says in _AGES]
    release = GaugeMetricFamily("feltwatch_pit_release", "The table's release", labels=["table", "release"])
    lacking = GaugeMetricFamily(
        "feltwatch_pit_lack", "1 while this is not live or whole", labels=["table", "lack"]
    )
    check = GaugeMetricFamily(
        "feltwatch_pit_check",
        "The table's own health checks that are not well",
        labels=["table", "check", "verdict"],
    )
    for row in rows:
        name, version, fresh = row["name"], row["release"], freshness.of_row(row)
        status = status_of(fresh, now_ms)
        behind = max(0, fresh.table_seq - fresh.seq), fresh.seq - fresh.followed
        of_row = [row[metric.removeprefix("feltwatch_pit_")] for metric, _ in _GAUGES]
        for family, value in zip(families, (*of_row, status.is_well, fresh.seq, *behind), strict=True):
            family.add_metric([name], float(value or 0))
        for family, at_ms in zip(ages, (fresh.heard_ms, fresh.answered_ms, fresh.last_ms), strict=True):
            if at_ms is not None:
                family.add_metric([name], max(0, now_ms - at_ms) / 1000)
        for lack in Lack:
            lacking.add_metric([name, lack.value], float(status.has(lack)))
        if version:
            release.add_metric([name, version], 1)
        for one in health_of(row["fresh_health"]).checks or ():
            check.add_metric([name, one.name, one.verdict], 1)
    yield from (*families, *ages, release, lacking, check)


@blueprint.get("/metrics")
@guard.open_to(frozenset({PitRole.TECHNICIAN, PitRole.OWNER}))
def metrics() -> Response:
    """Return all metrics in Prometheus's text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Scrape(pit().database, pit().live.clock_ms, pit().certificate))
    return Response(generate_latest(registry), mimetype="text/plain; version=0.0.4")
