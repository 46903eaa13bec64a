"""Channels of releases: which release each holds, how far its tables are, and what people decided; waves end.

A release whose wave was not over becomes that of the channels that it had reached, stopped. Tables go into the channel
of their step.
"""

from __future__ import annotations

from alembic import op

revision = "0065"
down_revision = "0064"

_CHANNELS = """
ALTER TABLE gaming_table ADD channel text NOT NULL DEFAULT 'rest' CHECK (channel IN ('first', 'tenth', 'rest'));
CREATE TABLE channel (
    channel     text PRIMARY KEY CHECK (channel IN ('first', 'tenth', 'rest')),
    sha256      text REFERENCES offered_file,        -- the release that it holds
    moved_at    timestamptz,
    moved_by    text NOT NULL DEFAULT '',
    stopped_why text NOT NULL DEFAULT ''             -- a message's JSON; empty: the release goes on
);
INSERT INTO channel (channel) VALUES ('first'), ('tenth'), ('rest');
CREATE TABLE channel_table (                         -- a table to which its channel's release goes
    table_id    bigint PRIMARY KEY REFERENCES gaming_table,
    sha256      text NOT NULL REFERENCES offered_file,
    reached_at  timestamptz NOT NULL DEFAULT now(),  -- since when it is waited for
    is_left_out boolean NOT NULL DEFAULT false,
    was_updated boolean NOT NULL DEFAULT false,
    mark        text NOT NULL DEFAULT 'waits',       -- from here on: made again from its rows at each turn
    failure     text,
    since       timestamptz,
    why         text NOT NULL DEFAULT ''             -- a message's JSON, or a text's
);
CREATE TABLE channel_note (
    note_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT now(),
    person  text NOT NULL,                           -- empty: the pit itself
    what    text NOT NULL                            -- a message's JSON
);
"""
_FROM_WAVES = """
UPDATE gaming_table t SET channel = CASE step WHEN 0 THEN 'first' ELSE 'tenth' END
FROM wave_table w WHERE w.table_id = t.table_id AND step < 2 AND wave_id = (SELECT max(wave_id) FROM wave);
UPDATE channel SET sha256 = w.sha256, moved_at = w.began_at, moved_by = w.began_by,
    stopped_why = '{"message": "the pit was updated while a wave of it was not over", "args": {}}'
FROM wave w WHERE wave_id = (SELECT max(wave_id) FROM wave) AND phase <> 'done'
    AND (channel = 'first' OR (channel = 'tenth' AND step >= 1) OR (channel = 'rest' AND step >= 2));
UPDATE file_request SET asked_by = 'channels' WHERE asked_by = 'wave' AND ended_at IS NULL
    AND sha256 IN (SELECT sha256 FROM channel);
INSERT INTO channel_note (person, what) SELECT '', json_build_object('message', '%(release)s stopped: %(why)s', 'args',
    json_build_object('release', version, 'why', stopped_why::json)) FROM channel JOIN offered_file USING (sha256)
    WHERE channel = 'first';
DROP TABLE wave_table, wave;
"""


def upgrade() -> None:
    """Make the tables, and bring waves along."""
    op.execute(_CHANNELS)
    op.execute(_FROM_WAVES)
