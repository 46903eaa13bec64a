"""What a table is asked for: texts that its rows name by hash, and images of a hand that somebody needs.

The database table is `wish`, the key in an answer `wishes`.
"""

import json
from collections.abc import Collection, Iterable
from typing import Any, Final, Literal

from firmware.record.journal.captures import captures_in_json
from firmware.uplink.wire import is_hash
from pit.status.tables import Table
from pit.store.database import Connection

AT_ONCE: Final = 20
"""Data requests in one answer."""
DATA_REQUESTS: Final = f"""(SELECT coalesce(json_agg(json_build_object('kind', kind, 'hash', hash, 'name', name)), '[]')
    FROM (SELECT kind, hash, name FROM wish WHERE wish.table_id = gaming_table.table_id AND ended_at IS NULL
          ORDER BY wish_id LIMIT {AT_ONCE}) AS open_wish)"""
"""What a row of `gaming_table` is asked for, as JSON, the oldest request first."""
Kind = Literal["content", "image"]


def request_data(
    connection: Connection, record_id: int, kind: Kind, hashes: Iterable[tuple[str, str]]
) -> None:
    """Ask a record's table for things by name and hash, each once."""
    connection.cursor().executemany(
        "INSERT INTO wish (table_id, kind, hash, name) SELECT table_id, %s, %s, %s FROM record WHERE record_id = %s"
        " ON CONFLICT DO NOTHING",
        [(kind, digest, name, record_id) for name, digest in hashes if is_hash(digest)],
    )


def images_of_hand(connection: Connection, record_id: int, hand: int) -> list[tuple[str, str]]:
    """Return name and hash of the images that a hand's rows name."""
    found: dict[str, str] = {}
    for (payload,) in connection.execute(
        "SELECT payload FROM entry JOIN hand ON hand.record_id = entry.record_id AND seq BETWEEN first AND last"
        " WHERE entry.record_id = %s AND hand.hand = %s AND payload LIKE '%%\"sha256\":%%' ORDER BY seq",
        (record_id, hand),
    ):
        found |= {image.name: image.sha256 for image in captures_in_json(json.loads(payload))}
    return list(found.items())


def data_requests_of(connection: Connection, table: Table) -> list[dict[str, Any]]:
    """Return what a table is asked for now, the oldest request first."""
    row = connection.execute(
        f"SELECT {DATA_REQUESTS} FROM gaming_table WHERE table_id = %s", (table.table_id,)
    ).fetchone()
    return row[0] if row else []


def fulfil(connection: Connection, table: Table, digest: str, kind: Kind) -> bool:
    """End a data request; return False if there was none. One that was ended before may be fulfilled again."""
    done = connection.execute(
        "UPDATE wish SET ended_at = coalesce(ended_at, now()), missing = false"
        " WHERE table_id = %s AND hash = %s AND kind = %s",
        (table.table_id, digest, kind),
    )
    return done.rowcount > 0


def end_missing(connection: Connection, table: Table, hashes: Collection[str]) -> None:
    """End requests for what the table does not have any more."""
    if not hashes:
        return
    connection.execute(
        "UPDATE wish SET ended_at = now(), missing = true WHERE table_id = %s AND hash = ANY(%s) AND ended_at IS NULL",
        (table.table_id, list(hashes)),
    )
