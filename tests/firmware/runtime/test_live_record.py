"""`LiveRecord`: the state when nobody can say whether a write is in the journal."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import FILE, Journal
from firmware.rules import load_profile, profile_toml
from firmware.runtime.live_record import LiveRecord
from firmware.table import JournalError, Phase, State
from firmware.table import events as ev
from firmware.table.errors import JournalUncertain
from firmware.table.house import House
from tests.firmware.record.test_end_mark import failing

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal


class OpenHandRecord:
    """A live record with an open hand, and the changes that it told of."""

    def __init__(self, data: Path, deal: Deal) -> None:
        self.journal = Journal(data)
        self.told: list[State] = []
        rules = load_profile("washington-1-unit")
        kept = self.journal.keep("profile", profile_toml(rules).encode())
        house = House(rules, rules.name, kept, 100, ())
        self.record = LiveRecord(data, self.journal, house, lambda: 0.0, self._changed)
        self.record.write([replace(deal.opened(), profile_hash=kept)], "test")

    def _changed(self, before: State, events: Sequence[ev.Event], actor: str, began: float) -> None:
        self.told.append(self.record.state)

    def advance(self, phase: Phase) -> int:
        return self.record.write([ev.PhaseAdvanced(phase)], "test")

    def phase(self) -> Phase:
        return self.record.state.phase

    def make_certain(self) -> bool:
        return self.record.make_certain(lambda: None)


@pytest.fixture
def opened(tmp_path: Path, deal: Deal) -> Iterator[OpenHandRecord]:
    opened = OpenHandRecord(tmp_path, deal)
    with opened.journal:
        yield opened


def fails(*_: object) -> sqlite3.Connection:
    raise sqlite3.OperationalError("disk I/O error")


def test_a_row_that_was_written_after_all_is_in_the_state_before_anything_follows_it(
    opened: OpenHandRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken, failing(opened.journal, done=True):
        broken.setattr(Journal, "_connect", fails)
        with pytest.raises(JournalUncertain):
            opened.advance(Phase.SETTING)
        with pytest.raises(JournalUncertain):
            opened.make_certain()
    assert opened.phase() is Phase.DEALING
    assert opened.make_certain()
    assert opened.phase() is Phase.SETTING
    assert not opened.make_certain(), "once is enough"
    opened.advance(Phase.SHOWDOWN)
    assert verify(tmp_path).ok


def test_while_the_written_row_cannot_be_read_back_nothing_is_decided_without_it(
    opened: OpenHandRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails a second time, just when the journal has said what it holds."""

    def unreadable(_: Journal) -> State:
        raise JournalError("The journal could not be read: disk I/O error.")

    with monkeypatch.context() as broken, failing(opened.journal, done=True):
        broken.setattr(Journal, "_connect", fails)
        with pytest.raises(JournalUncertain):
            opened.advance(Phase.SETTING)
    with monkeypatch.context() as broken:
        broken.setattr(Journal, "recover", unreadable)
        for _ in range(2):
            with pytest.raises(JournalError, match="could not be read"):
                opened.make_certain()
            with pytest.raises(JournalUncertain):
                opened.advance(Phase.SETTING)
    assert opened.make_certain()
    assert opened.phase() is Phase.SETTING
    opened.advance(Phase.SHOWDOWN)
    assert verify(tmp_path).ok


def test_a_file_that_was_away_during_a_write_and_is_back_has_its_row_in_the_state(
    opened: OpenHandRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wal = tmp_path / f"{FILE}-wal"
    away = tmp_path / "away"
    note_commit = opened.journal._files.note_commit

    def moved_meanwhile() -> None:
        wal.rename(away)
        note_commit()

    monkeypatch.setattr(opened.journal._files, "note_commit", moved_meanwhile)
    with pytest.raises(JournalUncertain, match="removed, replaced or changed"):
        opened.advance(Phase.SETTING)
    monkeypatch.undo()
    with pytest.raises(JournalUncertain):
        opened.advance(Phase.SETTING)
    away.rename(wal)
    assert opened.make_certain()
    assert opened.phase() is Phase.SETTING, "it was there"
    assert opened.told[-1].phase is Phase.DEALING, "and nobody had been told so before"
    opened.advance(Phase.SHOWDOWN)
    assert verify(tmp_path).ok


class Once:
    """Raises an error at the first call, before or after what it stands for; later calls are left alone."""

    def __init__(self, real: Callable[..., object], error: BaseException, *, after: bool) -> None:
        self._real, self._errors, self._after = real, [error], after

    def __call__(self, *args: object, **named: object) -> object:
        done = self._real(*args, **named) if self._after or not self._errors else None
        if self._errors:
            raise self._errors.pop()
        return done


JOURNAL = ["journal._commit_now", "journal._note_commit", "journal._write_witness"]
RECORD = ["record._apply", "record._changed"]


@pytest.mark.parametrize(
    ("place", "error"),
    [
        (place, error)
        for place in (*JOURNAL, *RECORD)
        for error in (MemoryError(), RuntimeError("a fault of ours"))
    ]
    + [(place, JournalError("unreadable")) for place in RECORD],
)
@pytest.mark.parametrize("after", [False, True])
def test_an_error_at_any_place_of_a_write_leaves_the_state_that_the_journal_holds(
    opened: OpenHandRecord, tmp_path: Path, place: str, error: Exception, *, after: bool
) -> None:
    part, name = place.split(".")
    holder = opened.journal if part == "journal" else opened.record
    broken = Once(getattr(holder, name), error, after=after)
    setattr(holder, name, broken)
    with pytest.raises((type(error), JournalError)) as raised:
        opened.advance(Phase.SETTING)
    there = opened.journal.recover().phase
    refused = isinstance(raised.value, JournalError) and not isinstance(raised.value, JournalUncertain)
    assert not (refused and opened.record.is_certain and there is not Phase.DEALING), "refused, and there"
    if not opened.record.is_certain:
        with pytest.raises(JournalUncertain):
            opened.advance(Phase.SETTING)
        assert opened.make_certain()
    assert opened.phase() is opened.journal.recover().phase is there
    opened.advance(Phase.SETTING if there is Phase.DEALING else Phase.SHOWDOWN)
    assert verify(tmp_path).ok


def test_memory_that_sqlite_did_not_get_refuses_the_row_and_nothing_else(
    opened: OpenHandRecord, tmp_path: Path
) -> None:
    class PoorConnection:
        def __init__(self, real: sqlite3.Connection) -> None:
            self._real = real

        def execute(self, *_: object) -> None:
            raise MemoryError

        def close(self) -> None:
            self._real.close()

    opened.journal._db = PoorConnection(opened.journal._db)  # type: ignore[assignment]
    with pytest.raises(JournalError) as raised:
        opened.advance(Phase.SETTING)
    assert not isinstance(raised.value, JournalUncertain)
    assert opened.record.is_certain
    opened.advance(Phase.SETTING)
    assert verify(tmp_path).ok
