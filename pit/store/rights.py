"""What the door's role and the floor's may do in the database: the door adds evidence, moves heads, makes projections.

Another role owns the tables and migrates them (`feltwatch pit migrate`). So a door that was taken over can neither
change nor remove a row, and cannot take away the triggers that hold the same against everybody.
"""

from collections.abc import Mapping
from typing import Final

import psycopg
from psycopg import sql

from pit.errors import DatabaseError
from pit.store.database import MIGRATING, first_line

RIGHTS: Final[Mapping[str, str]] = {
    "alembic_version": "SELECT",
    "gaming_table": "SELECT, INSERT, UPDATE (serial, struck_at, device_key, witness_key, channel)",
    "enrolment": "SELECT, INSERT, UPDATE",
    "house_fact": "SELECT, INSERT, UPDATE",
    "record": "SELECT, INSERT",
    "head": "SELECT, INSERT, UPDATE",
    "entry": "SELECT, INSERT",
    "content": "SELECT, INSERT",
    "quarantine": "SELECT, INSERT",
    "wish": "SELECT, INSERT, UPDATE",
    "offered_file": "SELECT, INSERT, UPDATE (removed_at, removed_by)",
    "file_request": "SELECT, INSERT, UPDATE",
    "channel": "SELECT, UPDATE",
    "channel_table": "SELECT, INSERT, UPDATE, DELETE",
    "channel_note": "SELECT, INSERT",
    "projection": "SELECT, INSERT, UPDATE",
    "hand": "SELECT, INSERT, UPDATE, DELETE",
    "hand_seat": "SELECT, INSERT, UPDATE, DELETE",
    "table_now": "SELECT, INSERT, UPDATE, DELETE",
    "place": "SELECT, INSERT, DELETE",
    "down_total": "SELECT, INSERT, UPDATE, DELETE",
    **dict.fromkeys(("epoch", "leaf", "node", "checkpoint", "cosignature", "proven"), "SELECT, INSERT"),
    "log_mark": "SELECT, INSERT, UPDATE",
    "worker": "SELECT, INSERT, UPDATE, DELETE",
    **dict.fromkeys(("person", "session", "act", "going", "house", "entry_finished", "entry_disputed"), ""),
    "row_time": "SELECT",
    **dict.fromkeys(("record_branch", "counted_hand", "counted_down", "listed_hand"), "SELECT"),
}
"""Every table and view of the schema, with what the door may do. Partitions of `entry` have no rights of their own."""
DOORS_FUNCTIONS: Final = ("make_entry_month",)
"""What the door may have done with its owner's rights."""
FLOOR_RIGHTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("alembic_version", "record", "head", "content", "quarantine", "projection"), "SELECT"),
    "gaming_table": "SELECT, UPDATE (channel)",
    **dict.fromkeys(("hand", "hand_seat", "table_now", "place", "down_total"), "SELECT"),
    **dict.fromkeys(("epoch", "leaf", "node", "checkpoint", "cosignature", "proven", "log_mark"), "SELECT"),
    "worker": "SELECT",
    "entry_finished": "SELECT",
    "entry_disputed": "SELECT",
    "row_time": "SELECT",
    **dict.fromkeys(("record_branch", "counted_hand", "counted_down", "listed_hand"), "SELECT"),
    "wish": "SELECT, INSERT",
    "offered_file": "SELECT",
    "file_request": "SELECT, INSERT, UPDATE (state, why, state_at, ended_at, ended_by)",
    "channel": "SELECT, UPDATE (sha256, moved_at, moved_by, stopped_why)",
    "channel_table": "SELECT, UPDATE (is_left_out, reached_at, was_updated, mark), DELETE",
    "channel_note": "SELECT, INSERT",
    "act": "SELECT, INSERT",
    "enrolment": "SELECT, INSERT, UPDATE (pit_said, pit_said_by, ended_at, why, code)",
    "house_fact": "SELECT, INSERT, UPDATE",
    "person": "SELECT, INSERT, UPDATE (role, passphrase_id, verifier), DELETE",
    "session": "SELECT, INSERT, UPDATE (used_at), DELETE",
    "going": "SELECT, INSERT, UPDATE, DELETE",
}
"""What the role of the floor's pages may do: it cannot read `entry`, so no row of a hand that lies on a table."""


def allow(url: str, role: str, rights: Mapping[str, str] = RIGHTS) -> None:
    """Give a role these rights and take all others from it. Run by the owner. Raises DatabaseError."""
    who = sql.Identifier(role)
    functions = sql.SQL(", ").join(map(sql.Identifier, DOORS_FUNCTIONS))
    try:
        with psycopg.connect(url, options=MIGRATING.options) as connection:
            connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
            connection.execute(
                sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, {}").format(who)
            )
            connection.execute(sql.SQL("REVOKE ALL ON SCHEMA public FROM {}").format(who))
            connection.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(who))
            connection.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC, {}").format(functions, who))
            if rights is RIGHTS:
                connection.execute(sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(functions, who))
            for table, some in rights.items():
                if some:
                    connection.execute(
                        sql.SQL("GRANT {} ON {} TO {}").format(sql.SQL(some), sql.Identifier(table), who)
                    )
    except psycopg.Error as error:
        raise DatabaseError(
            "The rights of %(role)s cannot be set (%(why)s).", role=role, why=first_line(error)
        ) from error
