"""The pit's PostgreSQL database: its connections, and the migrations of its schema.

Migrations only go forward. Each runs in one transaction and under an advisory lock, so that two services that start at
the same time do not both migrate. A database whose schema this release does not know is refused. The pit is updated
before its tables, and is never set back to an older release.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow, dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from firmware.messages import Message
from pit.errors import UNREADABLE, DatabaseError, LockTimeout, StatementTimeout

Connection = psycopg.Connection[TupleRow]


def rows_by_name(connection: Connection, text: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """Return the rows of a query as dictionaries, by column name. Raises psycopg.Error."""
    return connection.cursor(row_factory=dict_row).execute(text, values).fetchall()


Change = TypeVar("Change")
MIGRATIONS: Final = Path(__file__).with_name("migrations")
_OPTIONS: Final = "-c lock_timeout={:d} -c statement_timeout={:d} -c idle_in_transaction_session_timeout={:d}"


class Limits(NamedTuple):
    """Seconds for which a connection may wait for a lock, work on a statement, or leave a transaction idle.

    The database itself aborts what takes longer, so that nothing waits for it for ever.
    """

    lock_s: float
    statement_s: float
    idle_s: float

    @property
    def options(self) -> str:
        """The limits as libpq's `options`."""
        return _OPTIONS.format(*(round(1000 * seconds) for seconds in self))


ANSWERING: Final = Limits(5.0, 30.0, 60.0)
"""For the door, the pages and `pit/follow`: a person waits for them, or the rows of other tables do."""
LONG_JOB: Final = Limits(30.0, 3600.0, 600.0)
"""For work that reads or makes everything again: reindexing, verifying, copying the rows of a restored record."""
MIGRATING: Final = Limits(60.0, 3600.0, 600.0)
"""For migrations and rights: they may rewrite a whole table, or wait for another service that does."""
REFUSED_S: Final = 2
"""Seconds to wait for the reason when the server refuses connections."""
ANSWER_WITHIN_S: Final = 10.0
"""Seconds to wait for a connection before the door answers "later"."""
IDLE_S: Final = 30.0
"""Seconds after which an unused connection is closed. A few busy connections cost less than many."""
SURE_S: Final = 1.0
"""Seconds after its last use for which a connection is not checked. A check costs as much as a statement."""
FEW: Final = 10
"""Up to this number of rows, INSERT costs less than COPY."""
REFUSED: Final = (
    *UNREADABLE,
    *(psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError),
    psycopg.errors.ProgramLimitExceeded,  # a text too long for an index
)
"""The errors of writing a row with values that no release of Feltwatch wrote."""
_SCHEMA_ERRORS: Final = (
    *(psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn),
)
"""Errors that `REFUSED` includes, but that no value causes: the schema or the rights are wrong."""
log = logging.getLogger(__name__)
_LOCK: Final = 0x46454C54
"""The advisory lock of migrations."""
logging.getLogger("alembic").setLevel(logging.WARNING)  # it logs each of its plug-ins


logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())
"""The pool logs each attempt to connect.

A service writes these lines to its log. A command at the console prints one sentence instead.
"""


class Database:
    """A pool of connections to one database, for several threads. A context manager: it opens and closes the pool."""

    def __init__(self, url: str, *, connections: int = 8, limits: Limits = ANSWERING) -> None:
        """`url`: as for libpq; `postgresql:///pit` is the local database. Does not connect yet."""
        self.url: Final = url
        self._limits = limits
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            # `transaction` begins transactions itself. Only a checkpoint waits for a standby (log/keeper.py).
            kwargs={"autocommit": True, "options": f"-c synchronous_commit=local {limits.options}"},
            min_size=1,
            max_size=connections,
            max_idle=IDLE_S,
            open=False,
            timeout=ANSWER_WITHIN_S,
            check=self._check,
        )
        self._used: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()

    def __enter__(self) -> Database:
        self._pool.open()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Yield a connection in a transaction, which is committed at the end and undone by an error.

        Raises DatabaseError if the database does not answer. Then nothing is stored, or it is unknown whether the
        transaction was committed. Every write here can be repeated. Raises LockTimeout or StatementTimeout beyond the
        limits.
        """
        with self._connected() as connection, connection.transaction():
            yield connection

    def at_once(self, query: str, values: Sequence[Any]) -> TupleRow | None:
        """Run one statement in its own transaction, and return its first row. Raises the errors of `transaction`."""
        with self._connected() as connection:
            return connection.execute(query.encode(), values).fetchone()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        try:
            with self._pool.connection() as connection:
                yield connection
                self._used[connection] = time.monotonic()
        except psycopg.errors.LockNotAvailable as error:
            raise LockTimeout(
                Message(
                    "Something else in the database has held this for more than %(seconds)s s. Nothing was changed. "
                    "Try again; if it goes on, tell the technician.",
                    seconds=f"{self._limits.lock_s:g}",
                )
            ) from error
        except psycopg.errors.QueryCanceled as error:
            raise StatementTimeout(
                Message(
                    "The database needs more than %(seconds)s s for this. Nothing was changed. Ask for less at once: a "
                    "shorter time, or one table.",
                    seconds=f"{self._limits.statement_s:g}",
                )
            ) from error
        except psycopg.errors.IdleInTransactionSessionTimeout as error:
            raise StatementTimeout(
                Message(
                    "A step of the pit's own took more than %(seconds)s s, and the database has undone it. Nothing was "
                    "changed. Try again; if it goes on, tell the technician.",
                    seconds=f"{self._limits.idle_s:g}",
                )
            ) from error
        except PoolTimeout as error:
            raise DatabaseError(
                "The database does not answer (%(why)s).", why=self._refusal(error)
            ) from error
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise DatabaseError("The database does not answer (%(why)s).", why=first_line(error)) from error

    def _refusal(self, timeout: PoolTimeout) -> str:
        """Return why no connection could be had. The pool's own error says only that it has waited."""
        try:
            psycopg.connect(self.url, connect_timeout=REFUSED_S).close()
        except psycopg.Error as error:
            return first_line(error)
        return first_line(timeout)  # all connections are in use

    def _check(self, connection: Connection) -> None:
        """Let the pool replace a lost connection. One that was used a moment ago is not checked."""
        if time.monotonic() - self._used.get(connection, 0.0) > SURE_S:
            ConnectionPool.check_connection(connection)


def take_long(connection: Connection) -> None:
    """Give the rest of a transaction the limits of a long job (`LONG_JOB`)."""
    for name, seconds in (("statement", LONG_JOB.statement_s), ("lock", LONG_JOB.lock_s)):
        connection.execute("SELECT set_config(%s, %s, true)", (f"{name}_timeout", f"{seconds:g}s"))


def first_line(error: Exception) -> str:
    """Return the first line of a PostgreSQL error. The other lines quote the statement."""
    return str(error).partition("\n")[0] or type(error).__name__


def migrate(url: str) -> str:
    """Bring the database to this release's schema, and return its revision. Raises DatabaseError.

    If the schema is current, the right to read it is enough. The door's role has no right to migrate.
    """
    known, newest = _revisions()
    try:
        with psycopg.connect(url, autocommit=True, options=MIGRATING.options) as lock_holder:
            lock_holder.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
            if _known_revision(lock_holder, known) != newest:
                _upgrade(url, newest)
    except psycopg.errors.InsufficientPrivilege as error:
        raise DatabaseError(
            "The database has to be brought to this release's schema by its owner, with: feltwatch pit migrate"
        ) from error
    except psycopg.Error as error:
        raise DatabaseError("The database cannot be used: %(why)s.", why=first_line(error)) from error
    return newest


def _upgrade(url: str, newest: str) -> None:
    from alembic.operations import Operations  # slow import, needed once a release
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory
    from sqlalchemy import create_engine
    from sqlalchemy.exc import ProgrammingError
    from sqlalchemy.pool import NullPool

    scripts = ScriptDirectory(str(MIGRATIONS), version_locations=[str(MIGRATIONS)])
    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: psycopg.connect(url, options=MIGRATING.options),
        poolclass=NullPool,
    )
    try:
        with engine.begin() as connection:
            steps = {"fn": lambda revision, _: scripts._upgrade_revs(newest, revision)}
            context = MigrationContext.configure(connection, opts=steps)
            with Operations.context(context):
                context.run_migrations()
    except ProgrammingError as error:
        if isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
            raise error.orig from error
        raise
    engine.dispose()


def is_current(url: str) -> bool:
    """Return whether the database has this release's schema; False for an older one. Raises DatabaseError."""
    known, newest = _revisions()
    try:
        with psycopg.connect(url, options=ANSWERING.options) as connection:
            return _known_revision(connection, known) == newest
    except psycopg.Error as error:
        raise DatabaseError("The database cannot be used: %(why)s.", why=first_line(error)) from error


def _revisions() -> tuple[frozenset[str], str]:
    """Return all revisions of the schema and the newest, from the files: Alembic takes a second to load."""
    sources = "".join(path.read_text(encoding="utf-8") for path in MIGRATIONS.glob("*.py"))
    known, before = (
        frozenset(re.findall(rf'(?m)^{name} = "(.+)"$', sources)) for name in ("revision", "down_revision")
    )
    (newest,) = known - before
    return known, newest


def _known_revision(connection: psycopg.Connection[Any], known: frozenset[str]) -> str | None:
    found = _revision(connection)
    if found is not None and found not in known:
        raise DatabaseError(
            "This release does not know the database's schema, %(found)s. Install the release that made it.",
            found=found,
        )
    return found


def _revision(connection: psycopg.Connection[Any]) -> str | None:
    exists = connection.execute("SELECT to_regclass('alembic_version')").fetchone()
    if not exists or exists[0] is None:
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else None


def columns(names: tuple[str, ...]) -> sql.Composed:
    """Return column names as a comma-separated list of SQL identifiers."""
    return sql.SQL(", ").join(map(sql.Identifier, names))


def insert(connection: Connection, table: str, names: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows: a few (`FEW`) with one INSERT each, more with COPY."""
    into = sql.SQL("{} ({})").format(sql.Identifier(table), columns(names))
    if len(rows) > FEW:
        with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(into)) as copy:
            for row in rows:
                copy.write_row(row)
    elif rows:
        values = sql.SQL(", ").join([sql.Placeholder()] * len(names))
        connection.cursor().executemany(sql.SQL("INSERT INTO {} VALUES ({})").format(into, values), rows)


def write_each(
    connection: Connection, changes: Mapping[int, Change], write: Callable[[Mapping[int, Change]], None]
) -> set[int]:
    """Write the changes of several records; return the records whose changes could not be written.

    `changes`: the changes, by record. The transaction of `connection` is already open. All changes are written
    together. If the database refuses a value, this write is undone and each half of the records is tried separately.
    This finds the record with the refused value, and writes the others. `write` may be called again with the same
    changes.
    """
    try:
        with connection.transaction():
            write(changes)
    except _SCHEMA_ERRORS:
        raise
    except REFUSED as error:
        if len(changes) == 1:
            log.warning("Record %s waits: its rows cannot be written (%s)", *changes, type(error).__name__)
            return set(changes)
        each = list(changes.items())
        halves = dict(each[: len(each) // 2]), dict(each[len(each) // 2 :])
        return {one for half in halves for one in write_each(connection, half, write)}
    return set()
