"""One fault in a backup costs what it touches and no more, and whatever it costs is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.record.evidence.verify import verify
from firmware.record.journal.clocks import now
from firmware.record.journal.journal import FILE, JournalReader
from firmware.record.restore import restore
from firmware.record.salvage import LATER, LOST, salvage
from tests.campaigns.appliance.backup_faults import HANDS, PAGE, make_ground, run


def test_random_faults_are_restored_with_their_damage_named_or_refused_and_salvaged(tmp_path: Path) -> None:
    outcome = run(24, 7, tmp_path)
    assert outcome.wrong == []
    assert {end for _, end in outcome.counts} >= {"refused, salvaged", "restored, its damage named"}


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A backup in which a page with rows of hands in the middle has other bytes."""
    ground = make_ground(tmp_path)
    middle = next(row for row in ground.rows if row.hand == HANDS // 2 and row.type == "settled")
    raw = bytearray((ground.folder / FILE).read_bytes())
    page = min(ground.pages[middle.seq])
    raw[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    (ground.folder / FILE).write_bytes(raw)
    return ground.folder


def test_what_is_salvaged_is_a_record_and_the_rows_after_the_damage(damaged: Path, tmp_path: Path) -> None:
    saved = salvage(damaged, tmp_path / "saved")
    assert saved.lost_rows
    assert saved.hands
    assert saved.images == ()
    lines = [json.loads(line) for line in (tmp_path / "saved" / LATER).read_text().splitlines()]
    assert (len(lines), saved.rows) == (saved.later, JournalReader(tmp_path / "saved").head()[0])
    assert lines[0][0] == saved.lost_rows[0][1] + 1
    assert json.loads((tmp_path / "saved" / LOST).read_text())["hands"] == list(saved.hands)
    found = verify(tmp_path / "saved", replayed=False)
    assert not [
        problem for problem in found.problems if problem.seq is not None and problem.seq < saved.rows - 3
    ]


def test_the_command_salvages_to_a_new_folder_and_lists_what_is_lost(damaged: Path, tmp_path: Path) -> None:
    refused = CliRunner().invoke(main, ["restore", str(damaged), "--data", str(tmp_path / "new"), "--yes"])
    assert refused.exit_code == 1
    assert f"restore {damaged} --salvage NEW" in refused.output
    to = tmp_path / "saved"
    done = CliRunner().invoke(main, ["restore", str(damaged), "--salvage", str(to)])
    assert done.exit_code == 1, done.output
    assert "LOST: rows" in done.output
    assert "LOST, or parts of them: hands " in done.output
    assert "nothing was replaced" in done.output
    again = CliRunner().invoke(main, ["restore", str(damaged), "--salvage", str(to)])
    assert "there already" in again.output


def test_a_whole_backup_loses_nothing_by_it(tmp_path: Path) -> None:
    ground = make_ground(tmp_path)
    saved = salvage(ground.folder, tmp_path / "saved")
    assert (saved.rows, saved.later, saved.lost_rows, saved.hands) == (len(ground.rows), 0, (), ())
    restore(tmp_path / "saved", tmp_path / "new", now)
    assert JournalReader(tmp_path / "new").events_since(0)[: len(ground.rows)] == ground.rows
