"""The totals of a record that is followed row by row: of the dealer's down in progress, and of those just ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from firmware.record.shift_report import Down, Fold, OpenDown, RulesOf
from firmware.table.entry import Entry


class RunningReport:
    """Adds up rows as `firmware.record.shift_report.report` does, and forgets the downs that are over."""

    def __init__(self, rules_of: RulesOf) -> None:
        self._fold = Fold(rules_of)

    def take(self, entry: Entry) -> None:
        """Add the next row. Raises UnknownEvent."""
        self._fold.take(entry)

    def resume(self, rows: Iterable[Entry], began: Entry, down: Down, joined: Mapping[str, int]) -> None:
        """Go on with a down that was stored: its first row, its totals, and the minute at which each player joined.

        `rows` are those since the last hand was opened; they are in the totals already.
        """
        self._fold.quiet = True
        for row in rows:
            self._fold.take(row)
        self._fold.quiet = False
        opened = self._fold.open_downs[-1].opened if self._fold.open_downs else None
        counts = Counter(vars(down.counts))
        del counts["collection"]
        self._fold.open_downs = [
            OpenDown(
                down.dealer, down.number, began, down.ended_ms, counts, dict(joined), opened, counted=True
            )
        ]

    @property
    def began(self) -> Entry | None:
        """The first row of the down in progress."""
        return self._fold.open_downs[-1].began if self._fold.open_downs else None

    @property
    def joined(self) -> Mapping[str, int]:
        """The minute of the down in progress at which each player joined."""
        return self._fold.open_downs[-1].joined if self._fold.open_downs else {}

    def downs(self) -> list[tuple[int, Down]]:
        """Return the down in progress and those that ended since `forget`, each with the number of its first row."""
        return [(down.began.seq, self._fold.down(down)) for down in self._fold.open_downs]

    def forget(self) -> None:
        """Forget the downs that are over."""
        del self._fold.open_downs[:-1]
