"""What people key stands nowhere that anybody else reads: not where it was right, wrong, malformed, or met a fault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firmware.access import control as gate
from tests.dealer_ui.house import house
from tests.firmware.running_table import Table, say

NEW, WRONG, ODD, LATE = "73918264", "52719463", "61837254", "48261937"


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with house(tmp_path / "house") as table:
        yield table


def told(table: Table, **command: Any) -> bytes:
    (answer,) = say(table.config.socket, json.dumps(command))
    return answer


def kept(table: Table) -> bytes:
    """Every byte of the data folder, the PINs' own folder with it."""
    files = [path for path in table.config.data.rglob("*") if path.is_file()]
    assert len(files) > 5
    return b"".join(path.read_bytes() for path in files)


def test_a_pin_that_is_keyed_stands_in_no_log_in_no_answer_and_in_no_file(
    table: Table, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> None:
        raise ZeroDivisionError

    answers = [
        told(table, do="set_pin", person="Moreno", new_pin=NEW, by="Tran", pin="913753"),
        told(table, do="unlock", by="Moreno", pin=NEW),
        told(table, do="unlock", by="Moreno", pin=WRONG),
        told(table, do="unlock", by="Moreno", pin=[ODD]),
    ]
    with monkeypatch.context() as broken:
        broken.setattr(gate.AccessControl, "authorize", fault)
        answers.append(told(table, do="unlock", by="Moreno", pin=LATE))
    assert [json.loads(answer)["ok"] for answer in answers] == [True, True, False, False, False]
    assert "met a fault of ours" in caplog.text, "what went wrong is in the log"
    assert b"Moreno" in kept(table), "what is kept is looked through"
    everything = b"".join(answers) + caplog.text.encode() + kept(table)
    assert [pin for pin in (NEW, WRONG, ODD, LATE) if pin.encode() in everything] == []
