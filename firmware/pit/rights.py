"""What the door's role may do in the database: add evidence, move the heads, make projections. Nothing else.

Another role owns the tables and migrates them (`feltwatch pit migrate`). So a door that was taken over can neither
change nor remove a row, and cannot take away the triggers that hold the same against everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import psycopg
from psycopg import sql

from firmware.pit.database import first_line
from firmware.pit.errors import DatabaseError

RIGHTS: Final[Mapping[str, str]] = {
    "alembic_version": "SELECT",
    "gaming_table": "SELECT, INSERT, UPDATE (serial, struck_at)",
    "record": "SELECT, INSERT",
    "head": "SELECT, INSERT, UPDATE",
    "entry": "SELECT, INSERT",
    "content": "SELECT, INSERT",
    "quarantine": "SELECT, INSERT",
    "wish": "SELECT, INSERT, UPDATE",
    "projection": "SELECT, INSERT, UPDATE",
    "hand": "SELECT, INSERT, UPDATE, DELETE",
    "hand_seat": "SELECT, INSERT, UPDATE, DELETE",
    "table_now": "SELECT, INSERT, UPDATE, DELETE, TRUNCATE",
    "place": "SELECT, INSERT, UPDATE, DELETE, TRUNCATE",
    "down_total": "SELECT, INSERT, UPDATE, DELETE, TRUNCATE",
    "entry_finished": "SELECT",
    "person": "SELECT, INSERT, UPDATE, DELETE",
    "session": "SELECT, INSERT, UPDATE, DELETE",
    "act": "SELECT, INSERT",
    "going": "SELECT, INSERT, UPDATE, DELETE",
}
"""Every table and view of the schema, with what the door may do. Partitions of `entry` have no rights of their own."""


def allow(url: str, role: str) -> None:
    """Give the door's role these rights and take all others from it. Run by the owner. Raises DatabaseError."""
    who = sql.Identifier(role)
    try:
        with psycopg.connect(url) as connection:
            connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
            connection.execute(
                sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, {}").format(who)
            )
            connection.execute(sql.SQL("REVOKE ALL ON SCHEMA public FROM {}").format(who))
            connection.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(who))
            for table, rights in RIGHTS.items():
                connection.execute(
                    sql.SQL("GRANT {} ON {} TO {}").format(sql.SQL(rights), sql.Identifier(table), who)
                )
    except psycopg.Error as error:
        raise DatabaseError(
            "The rights of %(role)s cannot be set (%(why)s).", role=role, why=first_line(error)
        ) from error
