"""A training record and a table's own are never taken for each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.record.evidence.verify import verify
from firmware.record.journal import ground
from firmware.record.journal.journal import Journal, JournalReader
from firmware.table import events as ev
from firmware.table.errors import JournalError


@pytest.fixture
def training(tmp_path: Path) -> Path:
    with Journal(tmp_path, training=True):
        return tmp_path


def test_a_training_record_says_so_in_its_first_row(training: Path) -> None:
    (row,) = JournalReader(training, training=True).events_since(0)
    assert (row.seq, row.type) == (1, "training_begun")


def test_a_training_record_goes_on_as_one(training: Path) -> None:
    with Journal(training, training=True) as journal:
        journal.append([ev.TableStarted()], "table")
        assert journal.seq == 2
    assert len(JournalReader(training, training=True).of_type("training_begun")) == 1


def test_no_table_goes_on_with_a_training_record(training: Path) -> None:
    with pytest.raises(JournalError, match="is a training record"):
        Journal(training)
    with pytest.raises(JournalError, match="is a training record"):
        JournalReader(training).recover()
    with pytest.raises(JournalError, match="is a training record"):
        verify(training)


def test_training_never_touches_a_tables_record(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append([ev.TableStarted()], "table")
    with pytest.raises(JournalError, match="is a table's own record"):
        Journal(tmp_path, training=True)
    with pytest.raises(JournalError, match="is a table's own record"):
        JournalReader(tmp_path, training=True).recover()
    assert [row.type for row in JournalReader(tmp_path).events_since(0)] == ["table_started"]


def test_a_journal_that_was_refused_is_not_left_locked(training: Path) -> None:
    with pytest.raises(JournalError, match="is a training record"):
        Journal(training)
    with Journal(training, training=True) as journal:
        assert journal.seq == 1


def test_a_training_record_cannot_begin_in_the_middle(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append([ev.TableStarted()], "table")
        journal.append([ev.TrainingBegun()], "table")
    assert len(JournalReader(tmp_path).events_since(0)) == 2  # the first row decides


@pytest.mark.parametrize("command", [["run"], ["people", "list"]], ids=" ".join)
def test_commands_of_a_table_refuse_a_training_record_in_a_sentence(
    training: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ground, "find_memory", lambda _: None)  # where tests keep their files
    answer = CliRunner().invoke(main, [*command, "--data", str(training)])
    assert answer.exit_code in (1, 2)
    assert "is a training record" in answer.output
    assert "Traceback" not in answer.output
