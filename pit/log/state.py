"""How far the records are proven, for pages and metrics."""

import time
from dataclasses import dataclass
from typing import Final

from pit.status.freshness import FORKS
from pit.store.database import Connection


@dataclass(frozen=True)
class LogProgress:
    """One table: how far its record goes, and how far the log has it.

    `signed`: the last signed row that is in the log; `held`: the size of the last checkpoint that it has cosigned;
    both 0 if there is none. `differs`: the row at which its record differs from the pit's; `bad`: the first row whose
    signature does not hold, and why.
    """

    table_id: int
    name: str
    head: int
    signed: int
    held: int
    held_ms: int | None
    differs: int | None
    bad: tuple[int, str] | None


@dataclass(frozen=True)
class LogState:
    """The log: its newest checkpoint, and the newest that most tables have cosigned.

    `unproven_s`: for how long the oldest checkpoint that is not proven waits, 0 if all are. `set_back_ms`: when a later
    epoch began because the database had been set back, None if never.
    """

    epoch: int = 0
    origin: str = ""
    key: bytes = b""
    size: int = 0
    note: str = ""
    at_ms: int | None = None
    proven: int = 0
    proven_ms: int | None = None
    signers: int = 0
    heard: int = 0
    unproven_s: float = 0.0
    set_back_ms: int | None = None
    waits_ms: int | None = None
    """Since when a checkpoint waits for the second server (`WAITS`), None if none does."""


WAITS: Final = "log_waits"
"""The fact of the house that says since when a checkpoint waits for the second server, UTC milliseconds; "" if none
does."""
SEEN: Final = "epoch_seen"
"""The fact of the house that says up to which epoch somebody has looked into why epochs began."""


def new_epoch(connection: Connection) -> tuple[int, int] | None:
    """Return the newest epoch and when it began, UTC milliseconds; None for the first, or one that was looked into."""
    row = connection.execute(
        "SELECT epoch, (extract(epoch FROM opened_at) * 1000)::bigint FROM epoch WHERE epoch > greatest(1, coalesce("
        " (SELECT value::bigint FROM house_fact WHERE name = %s), 0)) ORDER BY epoch DESC LIMIT 1",
        (SEEN,),
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else None


def tables(connection: Connection) -> list[LogProgress]:
    """Return all tables that are not struck off, by name, each with its newest record."""
    rows = connection.execute(
        "SELECT t.table_id, t.name, coalesce(h.seq, 0), coalesce(l.seq, 0), coalesce(c.size, 0),"
        " (extract(epoch FROM c.at) * 1000)::bigint, f.fork_seq, m.bad_seq, m.bad_why FROM gaming_table t"
        " LEFT JOIN LATERAL (SELECT head.* FROM record JOIN head USING (record_id) WHERE record.table_id = t.table_id"
        "  ORDER BY heard_at DESC, record_id DESC LIMIT 1) h ON true"
        f" LEFT JOIN {FORKS} f ON f.table_id = t.table_id"
        " LEFT JOIN log_mark m ON m.record_id = h.record_id"
        " LEFT JOIN LATERAL (SELECT seq FROM leaf WHERE leaf.record_id = h.record_id ORDER BY seq DESC LIMIT 1) l"
        " ON true"
        " LEFT JOIN LATERAL (SELECT size, at FROM cosignature WHERE cosignature.table_id = t.table_id"
        "  ORDER BY epoch DESC, size DESC LIMIT 1) c ON true WHERE t.struck_at IS NULL ORDER BY t.name"
    ).fetchall()
    return [
        LogProgress(
            table_id, name, head, signed, held, held_ms, differs, (bad, why) if bad is not None else None
        )
        for table_id, name, head, signed, held, held_ms, differs, bad, why in rows
    ]


def log_state(connection: Connection) -> LogState:
    """Return how the log stands."""
    fact = connection.execute(
        "SELECT value FROM house_fact WHERE name = %s AND value <> ''", (WAITS,)
    ).fetchone()
    waits_ms = int(fact[0]) if fact else None
    waits_s = max(0.0, time.time() - waits_ms / 1000) if waits_ms else 0.0
    newest = connection.execute(
        "SELECT epoch, origin, key, size, note, (extract(epoch FROM at) * 1000)::bigint FROM checkpoint"
        " JOIN epoch USING (epoch) ORDER BY epoch DESC, size DESC LIMIT 1"
    ).fetchone()
    if newest is None:
        return LogState(unproven_s=waits_s, waits_ms=waits_ms)
    proven = connection.execute(
        "SELECT size, (extract(epoch FROM at) * 1000)::bigint, signers, heard FROM proven WHERE epoch = %s"
        " ORDER BY size DESC LIMIT 1",
        newest[:1],
    ).fetchone() or (0, None, 0, 0)
    unproven = connection.execute(
        "SELECT extract(epoch FROM now() - at)::float8 FROM checkpoint WHERE epoch = %s AND size > %s"
        " ORDER BY size LIMIT 1",
        (newest[0], proven[0]),
    ).fetchone()
    back = connection.execute(
        "SELECT (extract(epoch FROM opened_at) * 1000)::bigint FROM epoch WHERE epoch > 1 ORDER BY epoch DESC LIMIT 1"
    ).fetchone()
    epoch, origin, key, size, note, at_ms = newest
    proven_size, proven_ms, signers, heard = proven
    return LogState(
        epoch=epoch,
        origin=origin,
        key=bytes(key),
        size=size,
        note=note,
        at_ms=at_ms,
        proven=proven_size,
        proven_ms=proven_ms,
        signers=signers,
        heard=heard,
        unproven_s=max(unproven[0] if unproven else 0.0, waits_s),
        waits_ms=waits_ms,
        set_back_ms=back[0] if back else None,
    )
