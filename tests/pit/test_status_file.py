"""What a table knows of how far the pit has heard it, from the uplink to its health."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from firmware.health.checks import judge
from firmware.health.facts import Facts
from firmware.record.journal.reader import JournalReader
from firmware.runtime.host_facts import BoxFacts
from firmware.uplink.status_file import ENROLLED, FILE, FOLDER, read_pit_status, write_status
from tests.pit.conftest import Pit
from tests.pit.test_uplink import send_all


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """A machine that is enrolled, and whose uplink was not started yet."""
    root = tmp_path / "box"
    (root / ENROLLED).parent.mkdir(parents=True)
    (root / ENROLLED).write_text('pit = ["192.0.2.7:8443"]\n')
    (root / FOLDER).mkdir(parents=True)
    return root


def says(box: Path, data: Path) -> tuple[str, str]:
    """The verdict and the sentence of the pit's check, as the table process gathers and the page reads the facts."""
    facts = json.loads(json.dumps(BoxFacts(data, box).of_box()))
    rows = JournalReader(data).head()[0]
    found = {check.name: check for check in judge(Facts.from_json({**facts, "rows": rows}))}
    return str(found["pit"].verdict), str(found["pit"].says)


def test_a_machine_without_an_enrolment_knows_of_no_pit(tmp_path: Path) -> None:
    assert read_pit_status(tmp_path) is None
    assert "pit" not in BoxFacts(tmp_path, tmp_path).of_box()


def test_a_table_shows_how_far_the_pit_has_heard_and_why_no_further(pit: Pit, data: Path, box: Path) -> None:
    assert says(box, data) == ("look", "The pit has not heard this table since the uplink was started.")
    _, enrolment = pit.enrol("Table 1")
    follower = pit.follower(enrolment, data)
    send_all(follower)
    write_status(box / FOLDER, follower.status)
    row = JournalReader(data).head()[0]
    assert says(box, data) == ("ok", f"The pit has everything up to row {row}.")
    (enrolment / "uplink.toml").write_text('pit = ["127.0.0.1:1"]\n')
    away = pit.follower(enrolment, data)
    away.step()
    write_status(box / FOLDER, away.status)
    verdict, sentence = says(box, data)
    assert verdict == "look"
    assert "The pit cannot be reached" in sentence


def test_an_uplink_that_ended_is_noticed_by_the_age_of_what_it_wrote(pit: Pit, data: Path, box: Path) -> None:
    _, enrolment = pit.enrol("Table 1")
    follower = pit.follower(enrolment, data)
    send_all(follower)
    write_status(box / FOLDER, follower.status)
    found = read_pit_status(box, time.monotonic() + 300)
    assert found is not None
    assert found["silent_s"] >= 300


@pytest.mark.parametrize("text", ["", "[]", "{", '{"have": "x"}', '{"have": 1, "at_s": 1, "trouble": {}}'])
def test_a_file_that_cannot_be_read_is_no_answer_of_the_pit(box: Path, text: str) -> None:
    (box / FOLDER / FILE).write_text(text)
    assert read_pit_status(box) == {"have": 0, "silent_s": None, "trouble": "", "log_trouble": ""}
