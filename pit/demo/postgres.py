"""A PostgreSQL for the demo: in a temporary folder, or a database of its own in a server that runs. Gone at its end."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import conninfo, sql

from firmware.runtime.errors import AppError
from pit.store.temporary_postgres import TemporaryPostgres


@contextmanager
def temporary_server() -> Iterator[str]:
    """Run a PostgreSQL in a temporary folder, on a Unix socket; yield its database's address. Raises DatabaseError."""
    # a Unix socket's path is short
    with tempfile.TemporaryDirectory(prefix="feltwatch-pg-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o711)  # for the server's own user
        # A demo's rows are lost with it anyway.
        with TemporaryPostgres(folder / "pg", fsync="off", shared_buffers="16MB") as server:
            yield server.url


@contextmanager
def own_database(url: str) -> Iterator[str]:
    """Make a database in a server that runs; yield its address, and drop it at the end. Raises AppError."""
    name = f"feltwatch_demo_{os.getpid()}"
    database = sql.Identifier(name)
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0").format(database)
            )
    except psycopg.Error as error:
        raise AppError(f"No database can be made there: {str(error).partition(chr(10))[0]}") from error
    try:
        yield conninfo.make_conninfo(url, dbname=name)
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))
