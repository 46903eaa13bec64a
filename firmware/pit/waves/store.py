"""Waves in the database: begun, stopped and continued by people, shown on pages. Only the newest one goes on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

import psycopg.errors

from firmware.messages import Message, Text
from firmware.pit.database import Connection, Database
from firmware.pit.errors import PitError
from firmware.pit.waves.facts import text_from
from firmware.pit.waves.plan import Accepted, Failure, Judged, Mark, Member, Phase, Rules, go_on, steps_of

CONSOLE: Final = "console"
ANOTHER_BEGAN: Final = Message("There is no such wave, or another one began since.")
_COLUMNS: Final = (
    "wave_id, sha256, release, share, silent_s, within_s, phase, step, began_by, phase_by,"
    " extract(epoch FROM began_at)::float8, extract(epoch FROM phase_at)::float8,"
    " extract(epoch FROM judged_at)::float8"
)


@dataclass(frozen=True)
class Wave:
    """A wave. Times are in seconds since 1970; `judged_at` is when the pit looked last, None before it did."""

    wave_id: int
    sha256: str
    release: str
    rules: Rules
    phase: Phase
    step: int
    began_by: str
    phase_by: str
    began_at: float
    phase_at: float
    judged_at: float | None


@dataclass(frozen=True)
class WaveTable:
    """A table of a wave as the pit judged it last. `has_stopped`: it is why the wave stopped."""

    table_id: int
    name: str
    step: int
    mark: Mark
    accepted: Accepted
    failure: Failure | None = None
    since: float | None = None
    why: Text = ""
    reached_at: float | None = None
    heard_at: float | None = None
    has_stopped: bool = False
    state: str = ""
    """How far the open request is: asked, fetched, waiting; "" without one."""
    says: Text = ""
    """What the table says of it: what it waits for, what is in the way."""


@dataclass(frozen=True)
class Candidate:
    """A table that a wave may go to. `is_heard`: it was heard of within the time after which a table is silent."""

    table_id: int
    name: str
    release: str
    is_heard: bool


def newest(connection: Connection, *, is_locked: bool = False) -> Wave | None:
    """Return the newest wave, None if there was none. `is_locked`: others who change it wait."""
    lock = " FOR UPDATE" if is_locked else ""
    row = connection.execute(f"SELECT {_COLUMNS} FROM wave ORDER BY wave_id DESC LIMIT 1{lock}").fetchone()
    return _wave(row) if row else None


def listed(connection: Connection) -> list[tuple[Wave, int, int]]:
    """Return all waves, the newest first, each with how many of its tables are updated, and how many it has."""
    rows = connection.execute(
        f"SELECT {_COLUMNS}, (SELECT count(*) FROM wave_table w WHERE w.wave_id = wave.wave_id AND mark = %s),"
        " (SELECT count(*) FROM wave_table w WHERE w.wave_id = wave.wave_id) FROM wave ORDER BY wave_id DESC",
        (Mark.UPDATED.value,),
    ).fetchall()
    return [(_wave(row[:-2]), row[-2], row[-1]) for row in rows]


def tables_of(connection: Connection, wave: Wave) -> list[WaveTable]:
    """Return a wave's tables in its order."""
    rows = connection.execute(
        "SELECT w.table_id, t.name, w.step, w.mark, w.accepted, w.failure, extract(epoch FROM w.since)::float8, w.why,"
        " extract(epoch FROM w.reached_at)::float8, (SELECT extract(epoch FROM max(heard_at))::float8 FROM record"
        " JOIN head USING (record_id) WHERE record.table_id = w.table_id), w.stopped_for IS NOT NULL,"
        " coalesce(q.state, ''), coalesce(q.why, '') FROM wave_table w JOIN gaming_table t USING (table_id)"
        " LEFT JOIN file_request q ON q.table_id = w.table_id AND q.sha256 = %s AND q.ended_at IS NULL"
        " WHERE w.wave_id = %s ORDER BY w.place",
        (wave.sha256, wave.wave_id),
    ).fetchall()
    return [
        WaveTable(
            *(table_id, name, step, Mark(mark), Accepted(accepted), Failure(failure) if failure else None),
            *(since, text_from(why), *rest, text_from(says)),
        )
        for table_id, name, step, mark, accepted, failure, since, why, *rest, says in rows
    ]


def candidates(connection: Connection, silent_s: int) -> list[Candidate]:
    """Return all tables that are not struck off: those that are heard of first, then by name."""
    rows = connection.execute(
        "SELECT t.table_id, t.name, coalesce(h.release, ''), coalesce(h.heard_at > now() - %s * interval '1 second',"
        " false) AS is_heard FROM gaming_table t LEFT JOIN LATERAL (SELECT head.* FROM record JOIN head"
        " USING (record_id) WHERE record.table_id = t.table_id ORDER BY heard_at DESC, record_id DESC LIMIT 1) h"
        " ON true"
        " WHERE struck_at IS NULL ORDER BY is_heard DESC, length(t.name), t.name",
        (silent_s,),
    ).fetchall()
    return [Candidate(*row) for row in rows]


def start(
    database: Database,
    sha256: str,
    by: str,
    *,
    first: str = "",
    without: Collection[str] = (),
    rules: Rules | None = None,
) -> int:
    """Begin a wave of an offered release; return its number. Tables that are not heard of now are not waited for.

    `first`: the first table's name; else the first one that is heard of. Raises PitError with a sentence.
    """
    rules = rules or Rules()
    if not (1 <= rules.share <= 100 and rules.silent_s > 0 and rules.within_s > 0):
        raise PitError("A share is 1 to 100 per cent, and a time more than nothing.")
    try:
        with database.transaction() as connection:
            return _start(connection, sha256, by, first, without, rules)
    except psycopg.errors.UniqueViolation as error:
        raise PitError("A wave is under way. Stop it first.") from error


def _start(
    connection: Connection, sha256: str, by: str, first: str, without: Collection[str], rules: Rules
) -> int:
    file = connection.execute(
        "SELECT version FROM offered_file WHERE sha256 = %s AND kind = 'release' AND removed_at IS NULL",
        (sha256,),
    ).fetchone()
    if file is None:
        raise PitError("There is no such release. Offer its file first.")
    if (wave := newest(connection, is_locked=True)) is not None and wave.phase is Phase.RUNNING:
        raise PitError("A wave is under way. Stop it first.")
    tables = candidates(connection, rules.silent_s)
    names = {one.name for one in tables}
    for name in (*without, *([first] if first else [])):
        if name not in names:
            raise PitError("There is no table %(name)s.", name=name)
    heard = [one for one in tables if one.is_heard and one.name not in without]
    if first and first not in {one.name for one in heard}:
        raise PitError("%(name)s cannot be first: it is not heard of, or left out.", name=first)
    if not heard:
        raise PitError("No table is heard of now. A wave begins with one that is.")
    order = sorted(tables, key=lambda one: (one.name != first, one not in heard))
    row = connection.execute(
        "INSERT INTO wave (sha256, release, share, silent_s, within_s, began_by) VALUES (%s, %s, %s, %s, %s, %s)"
        " RETURNING wave_id",
        (sha256, file[0], rules.share, rules.silent_s, rules.within_s, by),
    ).fetchone()
    assert row is not None
    members = {
        one.table_id: Member(
            place,
            accepted=Accepted.LEFT_OUT
            if one.name in without
            else Accepted.NOTHING
            if one.is_heard
            else Accepted.NO_WAIT,
        )
        for place, one in enumerate(order)
    }
    steps = steps_of(members, rules)
    connection.cursor().executemany(
        "INSERT INTO wave_table (wave_id, table_id, place, accepted, step) VALUES (%s, %s, %s, %s, %s)",
        [(row[0], key, one.place, one.accepted, steps[key]) for key, one in members.items()],
    )
    return int(row[0])


def stop(database: Database, wave_id: int, by: str) -> None:
    """Stop a wave: no further table is asked. Raises PitError if it does not run."""
    with database.transaction() as connection:
        _need(connection, wave_id, Phase.RUNNING)
        _enter(connection, wave_id, Phase.STOPPED, by)


def resume(database: Database, wave_id: int, by: str, without: Collection[int] = ()) -> None:
    """Let a stopped wave go on: `without` these tables, which failed, or with all of them tried again.

    Raises PitError if it was not stopped, if another wave began since, or if nothing is left to wait for.
    """
    try:
        with database.transaction() as connection:
            _resume(connection, wave_id, by, without)
    except psycopg.errors.UniqueViolation as error:
        raise PitError(ANOTHER_BEGAN) from error


def _resume(connection: Connection, wave_id: int, by: str, without: Collection[int]) -> None:
    wave = _need(connection, wave_id, Phase.STOPPED)
    tables = tables_of(connection, wave)
    failed = {one.table_id for one in tables if one.failure is not None}
    if wrong := set(without) - failed:
        names = ", ".join(one.name for one in tables if one.table_id in wrong)
        raise PitError("%(names)s: only a table that failed is left out.", names=names or "?")
    row = connection.execute("SELECT extract(epoch FROM now())::float8").fetchone()
    assert row is not None
    members = {
        one.table_id: Member(
            place=place,
            reached_at=one.reached_at,
            accepted=one.accepted,
            is_struck=one.mark is Mark.STRUCK,
            was_updated=one.mark is Mark.UPDATED,
        )
        for place, one in enumerate(tables)
    }
    judged = {one.table_id: Judged(one.mark, one.since, one.failure) for one in tables}
    after = go_on(members, judged, without, row[0])
    if not any(one.is_waited_for for one in after.values()):
        raise PitError("No table would be left that the wave waits for. Begin another one.")
    for key, one in after.items():
        connection.execute(
            "UPDATE wave_table SET accepted = %s, stopped_for = NULL, was_updated = was_updated AND NOT %s,"
            " reached_at = CASE WHEN %s THEN now() ELSE reached_at END WHERE wave_id = %s AND table_id = %s",
            (one.accepted, *[one.reached_at != members[key].reached_at] * 2, wave_id, key),
        )
    _enter(connection, wave_id, Phase.RUNNING, by)


def _need(connection: Connection, wave_id: int, phase: Phase) -> Wave:
    wave = newest(connection, is_locked=True)
    if wave is None or wave.wave_id != wave_id:
        raise PitError(ANOTHER_BEGAN)
    if wave.phase is not phase:
        raise PitError("The wave is not as it was shown any more. Look again.")
    return wave


def _enter(connection: Connection, wave_id: int, phase: Phase, by: str) -> None:
    connection.execute(
        "UPDATE wave SET phase = %s, phase_at = now(), phase_by = %s WHERE wave_id = %s",
        (phase.value, by, wave_id),
    )


def _wave(row: tuple[Any, ...]) -> Wave:
    wave_id, sha256, release, share, silent_s, within_s, phase, *rest = row
    return Wave(wave_id, sha256, release, Rules(share, silent_s, within_s), Phase(phase), *rest)
