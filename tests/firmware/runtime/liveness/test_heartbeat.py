"""The table's own question to its own socket: only an answer feeds the watchdog and the pulse."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from firmware.pulse import read_pulse
from firmware.record.journal.journal import Journal
from firmware.runtime.config import Config, ScreenConfig
from firmware.runtime.liveness import heartbeat
from firmware.runtime.liveness.heartbeat import Heartbeat
from firmware.table.errors import TableError
from firmware.table_client import TableUnreachable
from tests.firmware.running_table import Table
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "WITHIN_S", DEADLINE)


@pytest.mark.usefixtures("patient")
def test_a_table_that_answers_feeds_the_watchdog_and_writes_its_pulse_with_its_checks(
    start: Callable[[], Table], tmp_path: Path
) -> None:
    table, fed, pulse = start(), [], tmp_path / "pulse.json"
    beating = Heartbeat(table.config.data, table.config.socket, pulse, lambda: fed.append(1))
    beating.start()
    try:
        until(lambda: (found := read_pulse(pulse)) is not None and found.checks is not None)
    finally:
        beating.close()
    found = read_pulse(pulse)
    assert found is not None
    assert found.checks is not None
    assert fed
    assert found.seq == table.journal.seq
    assert {"table", "chain", "camera"} <= {check.name for check in found.checks}
    verdicts = [check.verdict for check in found.checks]
    assert verdicts.index("unknown") < verdicts.index("ok"), "the gravest first"


def test_a_socket_that_only_accepts_feeds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "WITHIN_S", 0.1)
    fed: list[int] = []
    Journal(tmp_path / "data").close()
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(tmp_path / "t.sock"))
        deaf.listen(8)
        beating = Heartbeat(tmp_path / "data", tmp_path / "t.sock", tmp_path / "p", lambda: fed.append(1))
        for _ in range(3):
            with pytest.raises(TableUnreachable):
                beating.beat()
    assert (fed, read_pulse(tmp_path / "p")) == ([], None)


def test_a_refusal_feeds_nothing(tmp_path: Path) -> None:
    fed: list[int] = []

    class RefusingHeartbeat(Heartbeat):
        def _ask(self, do: str) -> dict[str, object]:
            raise TableError("No.")

    with pytest.raises(TableError):
        RefusingHeartbeat(tmp_path, tmp_path / "t.sock", None, lambda: fed.append(1)).beat()
    assert fed == []


def test_the_answer_to_a_heartbeat_says_the_last_row_and_how_the_screen_is(
    config: Config, start: Callable[[], Table]
) -> None:
    table = start()
    answer = table.ask('{"do": "heartbeat"}')
    assert (answer["ok"], answer["seq"]) == (True, table.journal.seq)
    assert answer["screen"] == {"expected": False, "silent_s": None, "leaving": False, "fault": False}
    assert table.types()[-1] != "heartbeat", "it leaves no row"


def test_an_answer_to_painted_is_taken_by_a_table_without_a_screen_too(start: Callable[[], Table]) -> None:
    table = start()
    assert table.ask(json.dumps({"do": "painted", "seq": 3, "at_ms": 0}))["ok"]
    assert not table.ask(json.dumps({"do": "painted", "seq": -1, "at_ms": 0}))["ok"]
    assert ScreenConfig().kiosk, "a box has a screen unless its configuration says that it has none"
