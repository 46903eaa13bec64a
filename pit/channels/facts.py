"""What tables have shown of the releases that go to them, from their rows. Rows that no release wrote say nothing."""

from typing import Final

from firmware.messages import Message, Text, text_from
from firmware.table.events import TableStarted
from firmware.update.house import MAX_NAME
from pit.channels.judge import Cards, Mark, Member, Start, first_start
from pit.status.freshness import FORKS, NEWEST
from pit.status.table_facts import TableFacts
from pit.store.database import Connection

MAX_STARTS: Final = 100
"""Starts of a record that are read, the newest: a table starts once or twice a day."""
HANDS: Final = 500
"""Hands before the release, and after, whose asked cards are compared."""
TOGETHER_S: Final = 60
"""If two records of one table were heard of within so many seconds, both exist at once: nobody exchanges a box's memory
card so fast."""
TWO_RECORDS: Final = Message("Two boxes send as this table, each a record of its own. One of them is a copy.")
_TROUBLES: Final = frozenset({"fault", "record"})
_MEMBERS: Final = f"""
SELECT sha256, version, t.table_id, h.record_id, k.fork_seq, CASE WHEN NOT t.was_updated THEN n.facts END,
       EXISTS (SELECT FROM record o JOIN head oh USING (record_id) WHERE o.table_id = t.table_id
               AND o.genesis <> own.genesis
               AND oh.heard_at > greatest(own.opened_at, t.reached_at) - {TOGETHER_S} * interval '1 second'),
       (SELECT why FROM file_request q WHERE q.table_id = t.table_id AND q.sha256 = t.sha256
        AND q.state = 'refused' AND q.state_at >= t.reached_at ORDER BY request_id DESC LIMIT 1),
       extract(epoch FROM t.reached_at)::float8, t.is_left_out, t.was_updated, t.mark,
       extract(epoch FROM h.heard_at)::float8
FROM channel_table t JOIN offered_file USING (sha256) LEFT JOIN {NEWEST} h ON true
LEFT JOIN record own ON own.record_id = h.record_id LEFT JOIN table_now n ON n.record_id = h.record_id
LEFT JOIN {FORKS} k ON k.table_id = t.table_id
"""
_STARTS: Final = f"""
SELECT x.record_id, e.seq, left(substring(e.payload FROM '"software":"feltwatch ([^"]+)"'), {MAX_NAME}),
       extract(epoch FROM e.taken_at)::float8
FROM unnest(%s::bigint[], %s::bigint[]) AS x (record_id, after) CROSS JOIN LATERAL (
    SELECT seq, payload, taken_at FROM entry WHERE entry.record_id = x.record_id AND entry.seq > x.after
    AND type = '{TableStarted.type}' ORDER BY seq DESC LIMIT {MAX_STARTS}) e
"""
_HANDS: Final = f"""
SELECT x.record_id, a.settled, b.cards, b.unsure, a.cards, a.unsure
FROM unnest(%s::bigint[], %s::bigint[]) AS x (record_id, start)
CROSS JOIN LATERAL (SELECT coalesce(bool_or(outcome = 'settled'), false) AS settled,
           coalesce(sum(cards), 0)::bigint AS cards, coalesce(sum(unsure), 0)::bigint AS unsure
    FROM (SELECT outcome, cards, unsure FROM hand WHERE hand.record_id = x.record_id AND first > x.start
          ORDER BY first LIMIT {HANDS}) AS hands) a
CROSS JOIN LATERAL (SELECT coalesce(sum(cards), 0)::bigint AS cards, coalesce(sum(unsure), 0)::bigint AS unsure
    FROM (SELECT cards, unsure FROM hand WHERE hand.record_id = x.record_id AND first < x.start
          ORDER BY first DESC LIMIT {HANDS}) AS hands) b
"""


class Facts:
    """Reads what tables have shown. Starts that were read are kept in memory; a new process reads them again."""

    def __init__(self) -> None:
        self._starts: dict[int, frozenset[Start]] = {}

    def members(self, connection: Connection) -> dict[str, dict[int, Member]]:
        """Return the tables that each release goes to, by its hash and their numbers, with what is known of them."""
        rows = connection.execute(_MEMBERS).fetchall()
        self._read_starts(connection, [row[3] for row in rows if row[3] is not None])
        runs = {
            record: start.seq
            for _, release, _, record, *_ in rows
            if (start := first_start(self._starts.get(record, ()), release))
        }
        read = connection.execute(_HANDS, (list(runs), list(runs.values())))
        hands = {key: (settled, Cards(*cards[:2]), Cards(*cards[2:])) for key, settled, *cards in read}
        found: dict[str, dict[int, Member]] = {}
        for sha256, _, table, record, fork, facts, is_cloned, refused, reached, *rest in rows:
            is_left_out, was_updated, mark, heard = rest
            found.setdefault(sha256, {})[table] = Member(
                *(reached, is_left_out, was_updated, Mark(mark), heard),
                *(self._starts.get(record, frozenset()), *hands.get(record, (False, Cards(), Cards()))),
                trouble=_trouble(fork, facts, is_cloned) if record in runs and not was_updated else "",
                refused="" if refused is None else text_from(refused) or Message("It gave no reason."),
            )
        return found

    def _read_starts(self, connection: Connection, records: list[int]) -> None:
        known = {record: self._starts.get(record, frozenset()) for record in records}
        after = [max((start.seq for start in known[record]), default=0) for record in records]
        for record, seq, release, at in connection.execute(_STARTS, (records, after)):
            if release is not None:  # a row that no release wrote names none
                known[record] |= {Start(seq, release, at)}
        self._starts = known


def _trouble(fork: int | None, facts: str | None, is_cloned: bool) -> Text:
    """Return what keeps a table from being well: a record that differs, a fault of a device or of the record."""
    if is_cloned:
        return TWO_RECORDS
    if fork is not None:
        return Message("Record differs at row %(row)s", row=f"{fork:,}")
    if facts is None:
        return ""
    return next((need.text for need in TableFacts.from_text(facts).needs if need.kind in _TROUBLES), "")
