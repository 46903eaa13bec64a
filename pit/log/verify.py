"""Verifies all that the pit keeps as evidence: every record's rows, the signed heads, the whole log, every checkpoint.

It trusts nothing of the database but the tables' accepted keys, and those can be compared with the tables' own pages.
One snapshot is read, row by row, so the pit goes on meanwhile.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from firmware.messages import Message
from firmware.record.evidence.merkle import leaf_hash, node_hash, root
from firmware.record.evidence.notes import (
    Checkpoint,
    NoNote,
    cosignature_of,
    epoch_entry,
    head_entry,
    open_note,
    parts,
)
from firmware.record.journal.row_index import ENDS
from firmware.table.entry import COLUMNS, Entry
from firmware.table.events import KeyAnnounced
from pit.log.heads import SIGNED, anchor_in, key_of_row, why_bad
from pit.log.tree import Trees, over
from pit.status.tables import witnesses
from pit.store.database import Connection, Database

MAX_PROBLEMS: Final = 1_000
"""Maximum number of problems listed: a rewritten record has one in nearly every row."""
Progress = Callable[[int, int], None]


@dataclass
class VerifyReport:
    """What was checked, and what is wrong, a sentence each."""

    records: int = 0
    rows: int = 0
    heads: int = 0
    leaves: int = 0
    checkpoints: int = 0
    cosignatures: int = 0
    problems: list[Message] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def wrong(self, what: str, /, **args: Any) -> None:
        """Add a problem."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Message(what, **args))


def verify(
    database: Database,
    log: bytes,
    *,
    given: Sequence[str] = (),
    on_progress: Progress = lambda rows, of: None,
) -> VerifyReport:
    """Check everything; `on_progress` is called with the rows checked and their total. Raises DatabaseError.

    `log`: the public key of the pit's log. `given`: checkpoints from elsewhere, such as slips of paper or what a table
    holds, as notes; each must be one of the log's.
    """
    found = VerifyReport()
    with database.transaction() as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        records = connection.execute(
            "SELECT record_id, t.name, genesis, head.seq, head.hash, device_key, coalesce(m.seq, 0), stem"
            " FROM record JOIN head USING (record_id) JOIN gaming_table t USING (table_id)"
            " LEFT JOIN log_mark m USING (record_id) ORDER BY t.name, record_id"
        ).fetchall()
        total = sum(row[3] for row in records)
        for row in records:
            _Record(connection, found, *row).check(lambda rows: on_progress(rows, total))
        for epoch, origin, unknown in connection.execute(
            "SELECT epoch, origin, unknown FROM epoch ORDER BY epoch"
        ).fetchall():
            _check_epoch(connection, found, epoch, origin, unknown, log)
        for note in given:
            _compare_given(connection, found, note, log)
        on_progress(total, total)
    return found


class _Record:
    """The check of one record's rows and of its signed heads."""

    def __init__(
        self,
        connection: Connection,
        found: VerifyReport,
        record_id: int,
        table: str,
        genesis: str,
        seq: int,
        digest: str,
        accepted: bytes | None,
        logged_to: int,
        stem: int,
    ) -> None:
        self._connection, self._found = connection, found
        self._id, self._table, self._genesis, self._head = record_id, table, genesis, (seq, digest)
        self._accepted = bytes(accepted) if accepted is not None else None
        self._logged_to, self._stem = logged_to, stem
        self._announced: set[bytes] = set()
        self._signed = 0
        """The row of the last head that the accepted key has signed; 0: there is none."""
        self._ends = 0
        """Hands that ended since that head."""
        self._ends_before = 0
        """Hands that ended between that head and the one before it."""

    def check(self, on_progress: Callable[[int], None]) -> None:
        """Read the rows in order. The first that does not hold is named; the others follow from it."""
        found = self._found
        found.records += 1
        before: tuple[int, str] = (0, "")
        is_whole = True
        for row in self._rows():
            found.rows += 1
            if found.rows % 1_000 == 0:
                on_progress(found.rows)
            if is_whole:
                is_whole = self._follows(row, before)
            before = row.seq, row.hash
            self._note(row)
        if is_whole and before != self._head:
            found.wrong(
                "%(table)s: the record ends at row %(seq)s, and its head is row %(head)s: rows were removed or added."
                " Let the table send again: it has all of them.",
                table=self._table,
                seq=before[0],
                head=self._head[0],
            )
        if self._signed and self._ends > 1 and self._ends_before <= 1:
            found.wrong(
                "%(table)s: %(hands)s hands after row %(seq)s were not signed by the table's key. Compare them with"
                " the table's own record: feltwatch hands verify --all.",
                table=self._table,
                hands=self._ends,
                seq=self._signed,
            )
        on_progress(found.rows)

    def _rows(self) -> Iterator[Entry]:
        with self._connection.cursor(f"rows_of_{self._id}") as cursor:
            cursor.itersize = 2_000
            cursor.execute(
                f"SELECT {COLUMNS} FROM entry WHERE record_id = %s ORDER BY seq".encode(), (self._id,)
            )
            for row in cursor:
                yield Entry(*row)

    def _follows(self, row: Entry, before: tuple[int, str]) -> bool:
        seq, digest = before
        if row.hash != row.sealed():
            self._found.wrong(
                "%(table)s: row %(seq)s was changed in the pit's database. The table has the right one: compare it"
                " there, and restore the database from a backup or let the tables send to an empty one.",
                table=self._table,
                seq=row.seq,
            )
        elif row.seq != seq + 1 or row.previous != digest or (seq == 0 and row.hash != self._genesis):
            self._found.wrong(
                "%(table)s: row %(seq)s does not follow the row before it. Rows were removed or exchanged in the pit's"
                " database; the table has them.",
                table=self._table,
                seq=row.seq,
            )
        else:
            return True
        return False

    def _note(self, row: Entry) -> None:
        if row.type in ENDS:
            self._ends += 1
        elif row.type == KeyAnnounced.type:
            self._announced |= {key} if (key := key_of_row(row.payload)) else set()
        elif row.type == SIGNED:
            self._signed_head(row)

    def _signed_head(self, row: Entry) -> None:
        found, anchor = self._found, anchor_in(row.payload)
        found.heads += 1
        if why := why_bad(anchor, row.seq, row.previous):
            found.wrong("%(table)s, row %(seq)s: %(why)s", table=self._table, seq=row.seq, why=why)
            return
        assert anchor is not None
        key = bytes.fromhex(anchor.key)
        if key == self._accepted:
            self._ends_before, self._ends, self._signed = self._ends, 0, row.seq
            if row.seq <= self._logged_to and not self._is_logged(
                anchor.seq, head_entry(self._genesis, anchor.text)
            ):
                found.wrong(
                    "%(table)s: the signed head of row %(seq)s is not in the log as the table signed it. Compare the"
                    " row with the table's own.",
                    table=self._table,
                    seq=anchor.seq,
                )
        elif key not in self._announced:
            found.wrong(
                "%(table)s: row %(seq)s was signed with a key that the record never announced: it is not the table's.",
                table=self._table,
                seq=anchor.seq,
            )

    def _is_logged(self, seq: int, entry: bytes) -> bool:
        row = self._connection.execute(
            "SELECT hash FROM leaf WHERE record_id = %s AND seq = %s", (self._id, seq)
        ).fetchone()
        return row is not None and bytes(row[0]) == leaf_hash(entry)


def _check_epoch(
    connection: Connection, found: VerifyReport, epoch: int, origin: str, unknown: str, log: bytes
) -> None:
    """Check a log from its first leaf on, and each of its checkpoints where the tree has its size."""
    checkpoints = {
        size: (bytes(root_hash), note)
        for size, root_hash, note in connection.execute(
            "SELECT size, root, note FROM checkpoint WHERE epoch = %s", (epoch,)
        ).fetchall()
    }
    witnesses = _cosignatures(connection, epoch)
    peaks: list[bytes] = []
    size = 0
    with connection.cursor(f"leaves_of_{epoch}") as cursor:
        cursor.itersize = 5_000
        cursor.execute("SELECT number, hash FROM leaf WHERE epoch = %s ORDER BY number", (epoch,))
        for number, digest in cursor:
            found.leaves += 1
            if number != size:
                found.wrong(
                    "The log %(origin)s lacks entries %(first)s to %(last)s: they were removed from the database."
                    " Every checkpoint after them shows it.",
                    origin=origin,
                    first=size,
                    last=number - 1,
                )
                return
            size = _add(peaks, size, bytes(digest))
            if size in checkpoints:
                root_hash, note = checkpoints.pop(size)
                _check_checkpoint(
                    found,
                    Checkpoint(origin, size, _root_of(peaks)),
                    root_hash,
                    note,
                    log,
                    witnesses.get(size, []),
                )
    if unknown and not _begins_with(connection, epoch, leaf_hash(epoch_entry(unknown))):
        found.wrong("The log %(origin)s does not begin with the checkpoint that it says.", origin=origin)
    for missing in sorted(checkpoints):
        found.wrong(
            "The log %(origin)s has %(size)s entries, and a checkpoint of %(signed)s was signed: entries were removed.",
            origin=origin,
            size=size,
            signed=missing,
        )
    if size and root(Trees().of(over(connection), epoch), size) != _root_of(peaks):
        found.wrong(
            "The log %(origin)s: the stored hashes between its entries and its root were changed. Nothing is lost by"
            " it, but no proof can be made from them.",
            origin=origin,
        )


def _check_checkpoint(
    found: VerifyReport,
    made: Checkpoint,
    stored: bytes,
    note: str,
    log: bytes,
    cosigned: list[tuple[str, list[bytes], str]],
) -> None:
    found.checkpoints += 1
    about: dict[str, Any] = {"size": made.size, "origin": made.origin}
    try:
        said = open_note(note, log)
    except NoNote:
        found.wrong("The checkpoint %(size)s of %(origin)s was not signed by the pit's key.", **about)
        return
    if said != made or stored != made.root:
        found.wrong(
            "The checkpoint %(size)s of %(origin)s is of other entries than the log has now: entries were changed after"
            " it was signed. Tell surveillance; what the tables hold shows which is right.",
            **about,
        )
    for table, keys, line in cosigned:
        found.cosignatures += 1
        if not any(cosignature_of(f"{made.text}\n{line}", key) for key in keys):
            found.wrong(
                "The checkpoint %(size)s of %(origin)s: the signature of %(table)s is not of what the log has now.",
                table=table,
                **about,
            )


def _cosignatures(connection: Connection, epoch: int) -> dict[int, list[tuple[str, list[bytes], str]]]:
    by_size: dict[int, list[tuple[str, list[bytes], str]]] = {}
    keys = witnesses(connection)
    for size, name, table_id, line in connection.execute(
        "SELECT size, name, table_id, line FROM cosignature JOIN gaming_table USING (table_id) WHERE epoch = %s",
        (epoch,),
    ).fetchall():
        by_size.setdefault(size, []).append((name, keys[table_id], line))
    return by_size


def _compare_given(connection: Connection, found: VerifyReport, note: str, log: bytes) -> None:
    """Compare a checkpoint from elsewhere with the log."""
    try:
        given = open_note(note, log)
    except NoNote as error:
        found.wrong("The checkpoint that was given: %(why)s", why=error.sentence)
        return
    row = connection.execute(
        "SELECT epoch, (SELECT count(*) FROM leaf WHERE leaf.epoch = epoch.epoch) FROM epoch WHERE origin = %s",
        (given.origin,),
    ).fetchone()
    about: dict[str, Any] = {"size": given.size, "origin": given.origin}
    if row is None or row[1] < given.size:
        found.wrong(
            "The checkpoint %(size)s of %(origin)s that was given is not known here: this database was set back.",
            **about,
        )
    elif root(Trees().of(over(connection), row[0]), given.size) != given.root:
        found.wrong(
            "The checkpoint %(size)s of %(origin)s that was given is of another history than the log here. Keep both,"
            " and tell surveillance.",
            **about,
        )


def read_note(text: str) -> str:
    """Return a checkpoint that was pasted or scanned; a proof or a table's `held.json` may hold it. Raises NoNote."""
    for one in (text, text.replace("\r\n", "\n").strip() + "\n", text.partition("\n\n")[2]):
        try:
            Checkpoint.parse(parts(one)[0])
        except NoNote:
            continue
        return one
    raise NoNote("That is no signed checkpoint: copy all of its lines, with the empty one.")


def _add(peaks: list[bytes], size: int, digest: bytes) -> int:
    """Add a leaf to the whole subtrees of a tree, the greatest first; return the new size."""
    peaks.append(digest)
    grown = size + 1
    while grown & 1 == 0:
        right = peaks.pop()
        peaks[-1] = node_hash(peaks[-1], right)
        grown >>= 1
    return size + 1


def _root_of(peaks: list[bytes]) -> bytes:
    found = peaks[-1]
    for one in peaks[-2::-1]:
        found = node_hash(one, found)
    return found


def _begins_with(connection: Connection, epoch: int, digest: bytes) -> bool:
    row = connection.execute("SELECT hash FROM leaf WHERE epoch = %s AND number = 0", (epoch,)).fetchone()
    return row is not None and bytes(row[0]) == digest
