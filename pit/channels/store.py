"""Channels in the database: which release each holds, its tables, and what people decide about both."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from firmware.messages import Message, Text, Word, text_from, text_to_store
from pit.channels.judge import FAILURES, MARKS, SILENT_S, Mark
from pit.errors import PitError
from pit.files.offers import find_offered
from pit.status.freshness import NEWEST
from pit.store.database import Connection, Database

_TABLES: Final = f"""
SELECT t.channel, t.table_id, t.name, coalesce(h.release, ''),
       coalesce(h.heard_at > now() - {SILENT_S} * interval '1 second', false), coalesce(w.is_left_out, false),
       coalesce(q.state, ''), extract(epoch FROM w.since)::float8,
       coalesce(w.mark, 'waits'), coalesce(w.why, ''), coalesce(q.why, '')
FROM gaming_table t JOIN channel c USING (channel)
LEFT JOIN channel_table w ON w.table_id = t.table_id AND w.sha256 = c.sha256
LEFT JOIN file_request q ON q.table_id = t.table_id AND q.sha256 = c.sha256 AND q.ended_at IS NULL
LEFT JOIN {NEWEST} h ON true
WHERE t.struck_at IS NULL ORDER BY length(t.name), t.name
"""
Name = StrEnum("Name", ["FIRST", "TENTH", "REST"])
"""A channel, in the order in which a release goes through them; stored."""
NAMES: Final = {Name.FIRST: Message("First"), Name.TENTH: Message("Tenth"), Name.REST: Message("Rest")}
NO_RELEASE: Final = Message("There is no such release. Offer its file first.")


@dataclass(frozen=True)
class ChannelTable:
    """A table of a channel as the pit judged it last. `release`: what it runs.

    `state`: how far its open request is: asked, fetched, waiting; `says`: what the table says of that.
    """

    table_id: int
    name: str
    release: str
    is_heard: bool
    is_left_out: bool
    state: str
    since: float | None
    mark: Mark
    why: Text
    says: Text

    @property
    def words(self) -> Message:
        """How it is, in words."""
        return MARKS[self.mark]

    @property
    def stops(self) -> bool:
        """Whether it stops the release."""
        return self.mark in FAILURES and not self.is_left_out


@dataclass(frozen=True)
class Channel:
    """A channel, its tables, the release that it holds, "" for none, and why that was stopped, "" while it goes on."""

    name: Name
    sha256: str
    release: str
    moved_at: datetime | None
    moved_by: str
    stopped: Text
    tables: tuple[ChannelTable, ...]

    @property
    def missing(self) -> list[str]:
        """The tables that count and are not updated."""
        return [one.name for one in self.tables if not one.is_left_out and one.mark is not Mark.UPDATED]

    @property
    def updated(self) -> int:
        """How many tables are updated."""
        return sum(one.mark is Mark.UPDATED for one in self.tables)


Channels = Mapping[Name, Channel]


def read_channels(connection: Connection, *, is_locked: bool = False) -> Channels:
    """Return all channels, the first one first. `is_locked`: others who change one wait."""
    lock = " FOR UPDATE OF channel" if is_locked else ""
    rows = connection.execute(
        "SELECT channel, coalesce(sha256, ''), coalesce(version, ''), moved_at, moved_by, stopped_why"
        f" FROM channel LEFT JOIN offered_file USING (sha256) ORDER BY channel{lock}"
    ).fetchall()
    tables: dict[str, list[ChannelTable]] = {name: [] for name in Name}
    for channel, *known, mark, why, says in connection.execute(_TABLES):
        tables[channel].append(ChannelTable(*(*known, Mark(mark), text_from(why), text_from(says))))
    found = [(Name(name), *rest, text_from(why), tuple(tables[name])) for name, *rest, why in rows]
    return {one[0]: Channel(*one) for one in sorted(found, key=lambda one: list(Name).index(one[0]))}


def obstacle(channels: Channels, sha256: str, to: Name) -> Message | None:
    """Return why a release may not be moved to a channel, None where it may."""
    earlier = [channels[one] for one in list(Name)[: list(Name).index(to)]]
    if channels[to].sha256 == sha256:
        return Message("It is in this channel already.")
    if any(one.stopped for one in channels.values() if one.sha256 == sha256):
        return Message("It was stopped. Decide first what to do.")
    if not earlier:
        return None if channels[to].tables else Message("No table is in this channel. Put one there.")
    if earlier[-1].sha256 != sha256:
        return Message("It is not in the channel before.")
    before = [one for one in earlier if one.sha256 == sha256]
    if missing := [name for one in before for name in one.missing]:
        return Message("Not updated yet: %(table)s", table=several(missing))
    if all(table.is_left_out for one in before for table in one.tables):
        return Message("No table that counts runs it. Put one into the channel before.")
    return None


def move(database: Database, sha256: str, to: Name, by: str) -> None:
    """Move an offered release to a channel. Raises PitError with a sentence where that is not possible."""
    with database.transaction() as connection:
        file = find_offered(connection, sha256)
        if file is None or file.kind != "release":
            raise PitError(NO_RELEASE)
        if why := obstacle(read_channels(connection, is_locked=True), sha256, to):
            raise PitError(why)
        connection.execute(
            "UPDATE channel SET sha256 = %s, moved_at = now(), moved_by = %s, stopped_why = '' WHERE channel = %s",
            (sha256, by, to),
        )
        if find_offered(connection, sha256) is None:  # it was being removed, and this waited for that
            raise PitError(NO_RELEASE)
        note(connection, by, Message("%(release)s moved to: %(to)s", release=file.version, to=NAMES[to]))


def put(database: Database, table: str, to: Name, by: str) -> None:
    """Put a table into a channel. One that was left out counts again. Raises PitError if there is no such table."""
    with database.transaction() as connection:
        tables = _tables(read_channels(connection, is_locked=True))
        _put(connection, [one for one in tables if one.name == table], to, by)


def fill_tenth(database: Database, by: str) -> None:
    """Put tables of the rest that are heard of into the tenth, until it has a tenth of those that are heard of."""
    with database.transaction() as connection:
        channels = read_channels(connection, is_locked=True)
        tables = [one for one in _tables(channels) if one.is_heard]
        lack = math.ceil(len(tables) / 10) - len(set(tables) & set(channels[Name.TENTH].tables))
        if lack <= 0:
            raise PitError("A tenth of the tables that are heard of is there.")
        _put(connection, [one for one in tables if one in channels[Name.REST].tables][:lack], Name.TENTH, by)


def try_again(database: Database, sha256: str, by: str, without: Collection[str] = ()) -> None:
    """Let a stopped release go on, `without` these tables, which failed; all others have their whole time again.

    Raises PitError if it is not stopped, or if a table is named that did not fail.
    """
    with database.transaction() as connection:
        channels = _holding(connection, sha256)
        if not all(one.stopped for one in channels):
            raise PitError("It is not stopped any more. Look again.")
        tables = [one for channel in channels for one in channel.tables]
        failed = {one.name for one in tables if one.stops}
        if wrong := sorted(set(without) - failed):
            raise PitError("%(table)s: only a table that failed is left out.", table=several(wrong))
        connection.execute("UPDATE channel SET stopped_why = '' WHERE sha256 = %s", (sha256,))
        out = [one.table_id for one in tables if one.name in without]
        connection.execute("UPDATE channel_table SET is_left_out = true WHERE table_id = ANY(%s)", (out,))
        connection.execute(
            "UPDATE channel_table SET mark = 'waits', was_updated = false, reached_at = now()"
            " WHERE sha256 = %s AND NOT is_left_out AND mark <> 'updated'",
            (sha256,),
        )
        release, names = channels[0].release, ", ".join(sorted(without))
        again = Message("%(release)s is tried again", release=release)
        less = Message("%(release)s goes on without: %(table)s", release=release, table=names)
        note(connection, by, less if without else again)


def withdraw(database: Database, sha256: str, by: str) -> None:
    """Take a release out of every channel: its tables are asked for nothing. A table that has taken it keeps it."""
    with database.transaction() as connection:
        release = _holding(connection, sha256)[0].release
        connection.execute(
            "UPDATE channel SET sha256 = NULL, moved_at = NULL, moved_by = '', stopped_why = '' WHERE sha256 = %s",
            (sha256,),
        )
        note(connection, by, Message("%(release)s withdrawn", release=release))


def stop(connection: Connection, sha256: str, release: str, why: Message) -> None:
    """Stop a release in every channel that holds it: the pit does that itself."""
    connection.execute("UPDATE channel SET stopped_why = %s WHERE sha256 = %s", (text_to_store(why), sha256))
    note(connection, "", Message("%(release)s stopped: %(why)s", release=release, why=why))


def note(connection: Connection, by: str, what: Message) -> None:
    """Write into the history."""
    connection.execute("INSERT INTO channel_note (person, what) VALUES (%s, %s)", (by, text_to_store(what)))


def history(connection: Connection) -> list[tuple[datetime, str, Text]]:
    """Return the newest 100 decisions, the last one first: when, by whom, "" for the pit itself, and what."""
    rows = connection.execute("SELECT at, person, what FROM channel_note ORDER BY note_id DESC LIMIT 100")
    return [(at, by, text_from(what)) for at, by, what in rows]


def several(names: Sequence[str]) -> Word:
    """Return some tables' names: three, and how many more there are."""
    shown = ", ".join(names[:3])
    return Message("%(name)s and %(count)s more", name=shown, count=len(names) - 3) if names[3:] else shown


def _tables(channels: Channels) -> list[ChannelTable]:
    return [one for channel in channels.values() for one in channel.tables]


def _holding(connection: Connection, sha256: str) -> list[Channel]:
    """Return the channels that hold a release, locked. Raises PitError if there is none."""
    channels = read_channels(connection, is_locked=True).values()
    held = [one for one in channels if sha256 and one.sha256 == sha256]
    if not held:
        raise PitError("It is in no channel any more. Look again.")
    return held


def _put(connection: Connection, tables: Collection[ChannelTable], to: Name, by: str) -> None:
    if not tables:
        raise PitError("There is no such table.")
    numbers = [one.table_id for one in tables]
    connection.execute("UPDATE gaming_table SET channel = %s WHERE table_id = ANY(%s)", (to, numbers))
    connection.execute("DELETE FROM channel_table WHERE table_id = ANY(%s)", (numbers,))
    names = ", ".join(one.name for one in tables)
    note(connection, by, Message("%(table)s put into: %(to)s", table=names, to=NAMES[to]))
