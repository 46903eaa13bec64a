"""Checks the whole record when the table starts: before play if it is short, in parallel if it is long.

Opening the journal checks the file's shape and the last rows; this checks every page and every row. An invalid record
is a fault that stops play until a floor person has acknowledged it.
"""

import logging
import multiprocessing
import os
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from firmware.messages import Message, Text
from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import FILE, TABLE, Journal
from firmware.table import JournalError
from firmware.table.events import Event, RecordFault
from firmware.worker_pool import ignore_interrupts

log = logging.getLogger(__name__)

AT_ONCE: Final = 24_000_000
"""Size in bytes up to which a journal is checked before the table takes a command."""
NICE: Final = 19

Attempt = Callable[[list[Event], str], bool]
"""Records events that no user waits for: `TableProcess.attempt`."""


class RecordCheck:
    """Used on the table's thread."""

    def __init__(self, data: Path, journal: Journal) -> None:
        """A training record is not checked: none of its hands was played."""
        self._data = data
        self._seq = journal.seq
        self._is_due = not journal.training
        self._found: Text = ""
        self._process: BaseProcess | None = None
        self._answer: Connection | None = None

    def begin(self, attempt: Attempt) -> None:
        """Check a short record now, or start the check of a long one."""
        if not self._is_due:
            return
        self._is_due = False
        try:
            if (self._data / FILE).stat().st_size <= AT_ONCE:
                self._found = first_problem(self._data)
            else:
                self._begin_beside()
        except OSError as error:
            self._found = Message("It cannot be checked: %(error)s.", error=error)
        self.turn(attempt)

    def _begin_beside(self) -> None:
        spawned = multiprocessing.get_context("spawn")
        self._answer, there = spawned.Pipe(duplex=False)
        self._process = spawned.Process(target=_check, args=(self._data, there), daemon=True)
        with ignore_interrupts():
            self._process.start()
        there.close()

    def turn(self, attempt: Attempt) -> None:
        """Record the result of the check once it is known."""
        if self._answer is not None and self._answer.poll():
            try:
                self._found = self._answer.recv()
            except EOFError:
                self._found = Message("It could not be checked: the check broke off.")
            self.close()
        if self._found:
            log.error("the record is damaged: %s", self._found)
            if attempt([RecordFault("damaged", self._seq, detail=self._found)], TABLE):
                self._found = ""

    def close(self) -> None:
        """End the check; what is unchecked by then is checked at the next start. May be called twice."""
        if self._process is not None:
            self._process.terminate()
            self._process.join()
            self._process = None
        if self._answer is not None:
            self._answer.close()
            self._answer = None


def _check(data: Path, answer: Connection) -> None:
    os.nice(NICE)
    with suppress(BrokenPipeError):  # the table has ended meanwhile: its next start checks again
        answer.send(first_problem(data))


def first_problem(data: Path) -> Text:
    """Return the first defect of a record, "" if there is none; its images are not read."""
    try:
        found = verify(data, images=False, replayed=False, is_open_here=True)
    except JournalError as error:
        return error.sentence
    if found.ok:
        return ""
    first = found.problems[0]
    return (
        first.what if first.seq is None else Message("Row %(seq)s: %(what)s", seq=first.seq, what=first.what)
    )
