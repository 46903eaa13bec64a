"""A folder of pictures in place of a camera: one a hand, in the order of their names, and from the start again."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from firmware.record.journal.journal import JournalReader
from firmware.table.errors import TableError
from firmware.table.events import HandOpened
from firmware.threads import start_thread

LOOKS_S: Final = 0.1


class HandPictures:
    """Shows the picture of each hand under one name, which the camera reads. A hand that opens turns it over."""

    def __init__(self, pictures: Sequence[Path], shown: Path, data: Path) -> None:
        self._pictures = pictures
        self._shown = shown
        self._reader = JournalReader(data)
        self._at = 0
        self._show()

    def follow(self) -> None:
        """Turn the pictures over from now on, on a thread of its own."""
        start_thread(self._follow, name="pictures")

    def _follow(self) -> None:
        _state, seq = self._reader.recover()
        is_first = True
        while True:
            try:
                rows = self._reader.events_since(seq)
            except TableError:
                rows = []  # the page says what is wrong with the record
            for row in rows:
                seq = row.seq
                if isinstance(row.event, HandOpened):
                    self._at += not is_first
                    is_first = False
                    self._show()
            time.sleep(LOOKS_S)

    def _show(self) -> None:
        new = self._shown.with_suffix(".new")
        new.unlink(missing_ok=True)
        new.symlink_to(self._pictures[self._at % len(self._pictures)])
        new.replace(self._shown)
