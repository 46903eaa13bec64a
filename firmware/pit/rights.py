"""What the door's role and the floor's may do in the database: the door adds evidence, moves heads, makes projections.

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
    "gaming_table": "SELECT, INSERT, UPDATE (serial, struck_at, device_key, witness_key)",
    "enrolment": "SELECT, UPDATE",
    "house_fact": "SELECT, INSERT, UPDATE",
