"""Looks what the tables of each channel have shown, asks them for its release, and stops a release where one fails.

Everything is in the database, and one turn is one transaction: a pit that is killed at any moment goes on from there.
"""

import logging
from collections.abc import Callable
from typing import Final

from firmware.messages import Message, text_to_store
from pit.channels.facts import Facts
from pit.channels.judge import MARKS, turn
from pit.channels.store import Channels, read_channels, several, stop
from pit.errors import PitError
from pit.files.requests import ask, withdraw
from pit.store.background import BackgroundThread
from pit.store.database import Connection, Database

log = logging.getLogger(__name__)
EVERY_S: Final = 5.0
"""Seconds between two turns."""
AWAY_S: Final = 60.0
"""Seconds without a turn after which nobody is called silent for that time: the pit itself was away."""
BY: Final = "channels"
"""Who asks tables, in their requests."""
_LEAVE: Final = """DELETE FROM channel_table w WHERE NOT EXISTS (SELECT FROM gaming_table t JOIN channel c USING
    (channel) WHERE t.table_id = w.table_id AND t.struck_at IS NULL AND c.sha256 = w.sha256)"""
_COME: Final = """INSERT INTO channel_table (table_id, sha256)
    SELECT table_id, sha256 FROM gaming_table JOIN channel USING (channel)
    WHERE struck_at IS NULL AND sha256 IS NOT NULL ON CONFLICT DO NOTHING"""
_JUDGED: Final = """UPDATE channel_table SET was_updated = was_updated OR %(mark)s = 'updated', mark = %(mark)s,
    why = %(why)s, since = to_timestamp(%(since)s) WHERE table_id = %(table)s AND
    (mark, why, since) IS DISTINCT FROM (%(mark)s, %(why)s, to_timestamp(%(since)s))"""
_DONE: Final = """SELECT table_id, sha256 FROM file_request q WHERE ended_at IS NULL AND asked_by = %s
    AND NOT EXISTS (SELECT FROM channel_table w JOIN channel c USING (sha256) WHERE w.table_id = q.table_id
    AND w.sha256 = q.sha256 AND stopped_why = '' AND mark IN ('asked', 'runs', 'updated'))"""
"""What channels ask for and do not want any more. Where the release runs, its request ends by itself."""
_DUE: Final = """SELECT table_id, sha256 FROM channel_table w WHERE mark = 'asked' AND NOT EXISTS (SELECT FROM
    file_request q WHERE q.table_id = w.table_id AND q.sha256 = w.sha256 AND ended_at IS NULL) ORDER BY table_id"""


class Stepper(BackgroundThread):
    """One pit's channels. `turn` does what is due; as a thread it does so every few seconds."""

    def __init__(self, database: Database, leads: Callable[[], bool] = lambda: True) -> None:
        """`leads`: whether this process, of several on one database, is the one that takes the turns."""
        super().__init__("channels", "Channels wait", again_s=EVERY_S)
        self._database, self._leads = database, leads
        self._facts = Facts()
        self._listening = self._looked = float("-inf")

    def turn(self) -> float:
        """Take a turn, where this process leads; return the seconds until the next. Raises DatabaseError."""
        if not self._leads():
            return EVERY_S
        with self._database.transaction() as connection:
            channels = read_channels(connection, is_locked=True)
            [(now,)] = connection.execute("SELECT extract(epoch FROM now())::float8").fetchall()
            if not 0 <= now - self._looked < AWAY_S:
                self._listening = now
            self._looked = now
            self._turn(connection, channels, now)
        return EVERY_S

    def _turn(self, connection: Connection, channels: Channels, now: float) -> None:
        connection.execute(_LEAVE)
        connection.execute(_COME)
        held = {one.sha256: one for one in channels.values()}
        names = {table.table_id: table.name for one in channels.values() for table in one.tables}
        for sha256, members in self._facts.members(connection).items():
            release, is_stopped = held[sha256].release, bool(held[sha256].stopped)
            judged, causes = turn(release, members, now, self._listening, is_stopped=is_stopped)
            rows = [vars(one) | {"table": key, "why": text_to_store(one.why)} for key, one in judged.items()]
            connection.cursor().executemany(_JUDGED, rows)
            if causes:
                mark, who = judged[causes[0]].mark, several([names[key] for key in causes])
                log.warning("Release %s stops: %s, %s", release, who, mark)
                why = Message("%(name)s: %(what)s", name=who, what=MARKS[mark])
                stop(connection, sha256, release, why)
        for table, sha256 in connection.execute(_DONE, (BY,)).fetchall():
            withdraw(connection, table, BY, sha256=sha256)
        for table, sha256 in connection.execute(_DUE).fetchall():
            try:
                ask(connection, table, sha256, BY)
            except PitError as error:
                log.warning("Table %s cannot be asked: %s", table, error)
                stored = text_to_store(error.sentence)
                connection.execute("UPDATE channel_table SET why = %s WHERE table_id = %s", (stored, table))
