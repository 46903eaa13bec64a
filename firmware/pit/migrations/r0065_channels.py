"""Channels of releases: which release each holds, how far its tables are, and what people decided; waves end.

A release whose wave was not over becomes that of the channels that it had reached, stopped. Tables go into the channel
of their step. The view `wave` is empty: `down/offers.py` of this release still asks it; the trigger does its work.
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
_HELD = """
CREATE VIEW wave AS SELECT 0::bigint AS wave_id, ''::text AS sha256, ''::text AS phase WHERE false;
CREATE FUNCTION held_by_channel() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM channel WHERE sha256 = NEW.sha256) THEN
        RAISE EXCEPTION USING ERRCODE = 'object_in_use', MESSAGE = 'a channel holds ' || NEW.version
            || ': withdraw it first, with feltwatch pit channels withdraw ' || NEW.version;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER offered_file_held BEFORE UPDATE OF removed_at ON offered_file FOR EACH ROW
    WHEN (NEW.removed_at IS NOT NULL) EXECUTE FUNCTION held_by_channel();
"""


def upgrade() -> None:
    """Make the tables, bring waves along, and keep a release that a channel holds."""
    op.execute(_CHANNELS)
    op.execute(_FROM_WAVES)
    op.execute(_HELD)
