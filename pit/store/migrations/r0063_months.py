"""Rows by the month in which the pit took them: an old month can lie on another disk, and is vacuumed no more.

What a database has by now stays as it is, as the part before the next month. Each month's part has its own key: that a
record has no number twice across months, its locked head sees to (`take.py`), and `pit verify` looks.
"""

from __future__ import annotations

from alembic import op

revision = "0063"
down_revision = "0062"

_PARENT = """
DROP VIEW entry_finished, entry_disputed, row_time;
DROP TRIGGER entry_never_changed ON entry;
DROP TRIGGER entry_never_emptied ON entry;
ALTER TABLE entry RENAME TO entry_before;
ALTER INDEX entry_pkey RENAME TO entry_before_pkey;
ALTER INDEX entry_signed RENAME TO entry_before_signed;
ALTER INDEX entry_started RENAME TO entry_before_started;
CREATE TABLE entry (LIKE entry_before INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION)
    PARTITION BY RANGE (taken_at);
CREATE INDEX entry_signed ON entry (record_id, seq) WHERE type IN ('head_signed', 'key_announced');
CREATE INDEX entry_started ON entry (record_id, seq) WHERE type = 'table_started';
CREATE TRIGGER entry_never_changed BEFORE UPDATE OR DELETE ON entry FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER entry_never_emptied BEFORE TRUNCATE ON entry FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE VIEW entry_finished AS
    SELECT entry.* FROM entry JOIN table_now USING (record_id) WHERE entry.seq <= table_now.finished;
CREATE VIEW entry_disputed AS SELECT * FROM entry WHERE type = 'hand_disputed';
COMMENT ON VIEW entry_disputed IS 'Names a past hand and a reason; it may be written while another hand is open.';
CREATE VIEW row_time AS
    SELECT record_id, seq, (extract(epoch FROM taken_at) * 1000)::bigint AS taken_ms,
           CASE WHEN clock = 'synchronised' THEN least(wall_ms, (extract(epoch FROM taken_at) * 1000)::bigint)
                ELSE (extract(epoch FROM taken_at) * 1000)::bigint END AS made_ms, taken_at
    FROM entry;
COMMENT ON VIEW row_time IS 'Of rows of an open hand it says that they are there, and when they came. Nothing else.';
"""
_BEFORE = """
DO $$
DECLARE
    newest timestamptz := (SELECT max(taken_at) FROM entry_before);
BEGIN
    IF newest IS NULL THEN
        DROP TABLE entry_before;
    ELSE
        EXECUTE format(
            'ALTER TABLE entry ATTACH PARTITION entry_before FOR VALUES FROM (MINVALUE) TO (%L)',
            date_trunc('month', greatest(newest, now()), 'UTC') + interval '1 month'
        );
    END IF;
END $$;
"""
_MAKE = """
CREATE FUNCTION make_entry_month(at timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    first timestamptz := date_trunc('month', at);
    name text := to_char(first, '"entry_"YYYY_MM');
BEGIN
    IF at IS NULL OR at NOT BETWEEN now() - interval '1 day' AND now() + interval '2 months' THEN
        RAISE EXCEPTION 'only this month''s part and the next two are made: % is not among them', name;
    END IF;
    IF to_regclass(quote_ident(name)) IS NOT NULL THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(1180259413);
    EXECUTE format('CREATE TABLE %I (LIKE entry INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION,'
        ' PRIMARY KEY (record_id, seq))', name);
    -- Attached, not created as a part: that would wait for every reader, and let every other one wait.
    EXECUTE format('ALTER TABLE entry ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        name, first, first + interval '1 month');
    RETURN true;
EXCEPTION WHEN invalid_object_definition OR duplicate_table THEN
    RETURN false; -- what was there before months has these rows, or another process was first
END $$;
REVOKE ALL ON FUNCTION make_entry_month FROM PUBLIC;
COMMENT ON FUNCTION make_entry_month IS 'Makes the part of entry for a month near now. All that the door may make.';
SELECT make_entry_month(now());
SELECT make_entry_month(now() + interval '1 month');
"""


def upgrade() -> None:
    """Put rows into months from the next one on."""
    for statements in (_PARENT, _BEFORE, _MAKE):
        op.execute(statements)
