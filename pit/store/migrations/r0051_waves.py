"""Waves of a release: which tables, in which order, and how far each is; indexes for what they have shown.

`wave_table.mark`, `step`, `failure`, `since` and `why` are made again from the rows at each turn.
"""

from __future__ import annotations

from alembic import op

revision = "0051"
down_revision = "0050"

_WAVES = """
CREATE TABLE wave (
    wave_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sha256    text NOT NULL REFERENCES offered_file,
    release   text NOT NULL,                      -- its name, as tables say it when it starts
    share     int NOT NULL CHECK (share BETWEEN 1 AND 100),
    silent_s  int NOT NULL CHECK (silent_s > 0),
    within_s  int NOT NULL CHECK (within_s > 0),
    began_at  timestamptz NOT NULL DEFAULT now(),
    began_by  text NOT NULL,
    phase     text NOT NULL DEFAULT 'running' CHECK (phase IN ('running', 'stopped', 'done')),
    phase_at  timestamptz NOT NULL DEFAULT now(),
    phase_by  text NOT NULL DEFAULT '',           -- who stopped it or let it go on; empty: the pit
    step      int NOT NULL DEFAULT 0,
    judged_at timestamptz                         -- when the pit looked last
);
CREATE UNIQUE INDEX wave_running ON wave ((true)) WHERE phase = 'running';

CREATE TABLE wave_table (
    wave_id     bigint NOT NULL REFERENCES wave,
    table_id    bigint NOT NULL REFERENCES gaming_table,
    place       int NOT NULL,                     -- in the wave's order
    accepted    int NOT NULL DEFAULT 0,           -- 1: it is not waited for; 2: it is left out
    reached_at  timestamptz,                      -- since when the wave waits for it
    was_updated boolean NOT NULL DEFAULT false,
    stopped_for text,                             -- why it stopped the wave
    mark        text NOT NULL DEFAULT 'waits',
    step        int NOT NULL DEFAULT 2,
    failure     text,
    since       timestamptz,
    why         text NOT NULL DEFAULT '',         -- a message's JSON, or a text
    PRIMARY KEY (wave_id, table_id)
);
CREATE INDEX entry_started ON entry (record_id, seq) WHERE type = 'table_started';
CREATE INDEX hand_by_first ON hand (record_id, first);
"""


def upgrade() -> None:
    """Make the tables and the indexes."""
    op.execute(_WAVES)
