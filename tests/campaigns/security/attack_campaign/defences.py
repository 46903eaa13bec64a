"""Switches defences of the product off: each is a name in it, and what stands there instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, Final
from unittest.mock import patch

Off = tuple[str, Any]


@contextmanager
def off(*defences: Off) -> Iterator[None]:
    """Do without defences meanwhile. A name that is not there is an error: a defence that moved is not switched off."""
    with ExitStack() as stack:
        for name, instead in defences:
            module, _, attribute = name.partition(":")
            owner: Any = import_module(module)
            *path, last = attribute.split(".")
            for step in path:
                owner = getattr(owner, step)
            stack.enter_context(patch.object(owner, last, instead))
        yield


def _nothing(*_: object, **__: object) -> None:
    return None


def _none(*_: object, **__: object) -> list[Any]:
    return []


SHAPE: Final[tuple[Off, ...]] = (
    ("firmware.record.evidence.verify:strangers", _none),
    ("firmware.record.journal.journal:strangers", _none),
)
"""Each object of the file must have the text that we gave it."""
PAGES: Final[tuple[Off, ...]] = (("firmware.record.evidence.verify:unsound_pages", _none),)
"""SQLite's own check of every page."""
END: Final[tuple[Off, ...]] = (
    ("firmware.record.journal.journal:end_fault", _nothing),
    ("firmware.record.journal.end_mark:end_fault", _nothing),
    ("firmware.record.backup:end_fault", _nothing),
)
"""The second witness of the record's end."""
NUMBERS: Final[tuple[Off, ...]] = (
    ("firmware.record.evidence.verify:problems_of_file", _none),
    ("firmware.record.journal.journal:_need_sound", _nothing),
)
"""What is checked of the file apart from its rows' hashes."""
PRESENCE: Final[tuple[Off, ...]] = (
    ("firmware.record.evidence.presence:unsigned_ends", _none),
    ("firmware.record.evidence.presence:Presence.is_none", False),
)
"""A signed head must follow each hand that ended."""
NOTE: Final[tuple[Off, ...]] = (
    ("firmware.runtime.maintenance:doubt", _nothing),
    ("firmware.record.evidence.verify:_heads", _none),
)
"""What the box signed last is noted beside its key; a head must be that of its row."""
COMPARED: Final[tuple[Off, ...]] = (("firmware.record.restore:differences", lambda *_: ()),)
"""A restore says what differs."""
SETTLED: Final[tuple[Off, ...]] = (("firmware.record.evidence.verify:_settle_again", _none),)
VERSION: Final[tuple[Off, ...]] = (("firmware.record.journal.schema:_unknown", lambda _: ""),)


class _Fits(str):
    """A hash that fits whatever it is compared with."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


CONTENT: Final[tuple[Off, ...]] = (
    ("firmware.record.evidence.verify:content_hash", lambda data: _Fits()),
    ("firmware.record.journal.reader:content_hash", lambda data: _Fits()),
)
"""Content is hashed when it is read."""
UNCERTAIN: Final[tuple[Off, ...]] = (
    ("firmware.record.journal.journal:Journal._was_written", lambda *_: False),
)
"""A write that failed is looked for in the file."""
REPEATED: Final[tuple[Off, ...]] = (("firmware.record.journal.journal:Journal.commands", lambda _: {}),)
"""A command that was sent again is known by its id."""
OPEN_FILES: Final[tuple[Off, ...]] = (
    ("firmware.record.journal.journal:NamedFiles.compare", _nothing),
    ("firmware.record.journal.journal:NamedFiles.note", _nothing),
    ("firmware.record.journal.journal:NamedFiles.note_commit", _nothing),
)
"""The open files are compared with the named ones."""
ESCAPING: Final[tuple[Off, ...]] = (
    ("firmware.terminal:escape", str),
    ("firmware.record.evidence.dispute_verifier:escaped", str),
    ("firmware.cli.main:escape", str),
    ("firmware.cli.settlement_text:escape", str),
    ("firmware.rules.profiles.library:short", str),
)
VOUCHING: Final[tuple[Off, ...]] = (
    ("firmware.record.evidence.dispute_verifier:_anchors", lambda *_: ("", [], [])),
)
STANDING: Final[tuple[Off, ...]] = (("firmware.access.control:_stands_for_themselves", lambda *_: True),)
ASKING: Final[tuple[Off, ...]] = (
    ("firmware.access.control:_asks_for_a_pin", lambda *_: False),
    ("firmware.access.control:_is_dealer", lambda *_: True),
)
OWNER: Final[tuple[Off, ...]] = (
    ("firmware.record.journal.lock:give_to_owner", _nothing),
    ("firmware.record.journal.journal:give_to_owner", _nothing),
)
ROWS: Final[tuple[Off, ...]] = (
    ("firmware.record.restore:_need_row", _nothing),
    ("firmware.record.evidence.chain:_is_odd", _nothing),
)
"""Rows that no reader of JSON can read are looked for."""
OF_FLIPS: Final[tuple[Off, ...]] = (*NUMBERS, *END, *CONTENT)
"""Without these a flip goes unnoticed."""
