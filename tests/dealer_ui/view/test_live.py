"""Following the journal, and the stream of views."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from dealer_ui.server.app import Settings, create_app
from dealer_ui.view.build import view
from dealer_ui.view.live import Live
from dealer_ui.view.screen import Screen
from dealer_ui.web.services import services
from firmware.record.journal.journal import JournalReader
from tests.dealer_ui.felt import Felt
from tests.firmware.record.test_verify import bend
from tests.waiting import DEADLINE, SPEED, until


@pytest.fixture
def live(felt: Felt) -> Iterator[Live]:
    live = Live(JournalReader(felt.folder), lambda: {"ok": True})
    yield live
    live.stop()


@contextmanager
def soon(do: Callable[[], object]) -> Iterator[None]:
    """Do something in another thread while the block waits for it; it is done when the block has ended."""
    later = threading.Timer(0.1, do)
    later.start()
    try:
        yield
    finally:
        later.join()


def test_what_waits_is_woken_by_the_next_event(felt: Felt, live: Live) -> None:
    live.start()
    before = live.now()
    with soon(felt.deal):
        after = live.wait(before.version, timeout=DEADLINE)
    assert after is not None
    assert after.version > before.version


def test_a_quiet_table_gives_no_new_view(felt: Felt, live: Live) -> None:
    felt.deal()
    live.start()
    moment = live.now()
    assert live.wait(moment.version, timeout=0.3) is None


def test_several_events_written_together_are_one_view(felt: Felt, live: Live) -> None:
    felt.to_setting()
    felt.to_reading()
    before = live.now()
    felt.read()  # the reading and the settlement, in one transaction
    after = live.now()
    assert after.version == before.version + 1
    assert after.screen.phase == "settled"


def test_a_journal_that_is_another_file_now_is_read_again(felt: Felt, live: Live) -> None:
    felt.to_settled()
    assert live.now().screen.phase == "settled"
    felt.journal.close()
    for name in ("journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm"):
        (felt.folder / name).unlink(missing_ok=True)
    assert "The record ends at row 0" in live.now().trouble
    assert not live.now().wants_set_up
    second = Felt(felt.folder)
    second.deal()
    assert live.now().screen.phase == "dealing"
    second.journal.close()


def test_a_journal_that_lost_its_last_row_in_place_is_not_shown(felt: Felt, live: Live) -> None:
    felt.to_settled()
    assert live.now().screen.phase == "settled"
    felt.journal.close()
    bend(felt.folder, "DELETE FROM journal WHERE type = 'settled'")
    assert "1 rows are missing" in live.now().trouble
    assert live.now().screen.phase == "idle"


def _replace_record(felt: Felt, other: Path, names: Sequence[str]) -> None:
    """Put another record in the place of the one that is written, as somebody with a shell would."""
    for name in ("journal.sqlite-wal", "journal.sqlite-shm"):
        (felt.folder / name).unlink(missing_ok=True)
    for name in names:
        (felt.folder / name).unlink()
        shutil.copyfile(other / name, felt.folder / name)


def test_an_older_copy_in_the_place_of_the_record_is_not_shown(
    felt: Felt, live: Live, tmp_path: Path
) -> None:
    older = tmp_path / "older"
    older.mkdir()
    with closing(sqlite3.connect(felt.folder / "journal.sqlite")) as db:
        db.execute("VACUUM INTO ?", (str(older / "journal.sqlite"),))
    felt.to_settled()
    assert live.now().screen.phase == "settled"
    _replace_record(felt, older, ["journal.sqlite"])
    assert "rows are missing. Keep" in live.now().trouble
    assert live.now().screen.phase == "idle"


def test_another_tables_record_is_not_shown_for_the_one_that_the_table_writes(
    felt: Felt, tmp_path: Path
) -> None:
    def heartbeat() -> dict[str, Any]:
        seq, digest = felt.journal.head
        return {"ok": True, "seq": seq, "hash": digest}

    live = Live(JournalReader(felt.folder), heartbeat)
    felt.deal()
    assert live.now().screen.phase == "dealing"
    other = Felt(tmp_path / "other")
    other.to_settled()
    other.journal.close()
    _replace_record(felt, other.folder, ["journal.sqlite", "journal.head"])
    seen = live.now()
    assert "is not the one that was written. Keep" in seen.trouble
    assert seen.screen.phase == "idle"
    assert seen.screen.actions == ()


def test_a_table_that_stops_answering_is_shown_within_its_time(felt: Felt) -> None:
    felt.deal()
    alive = True
    live = Live(JournalReader(felt.folder), lambda: {"ok": True} if alive else None)
    live.start()
    moment = live.now()
    assert moment.screen.answering
    alive = False
    after = live.wait(moment.version, timeout=DEADLINE)
    live.stop()
    assert after is not None
    assert not after.screen.answering
    assert after.screen.actions == ()
    assert after.screen.silent_since, "and since when"


def test_following_goes_on_after_a_view_that_could_not_be_made(
    felt: Felt, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = felt.seq + 2

    def fail_once(seq: int, *given: Any, **named: Any) -> Screen:
        if seq == broken:
            raise ZeroDivisionError("a bug in the view")
        return view(seq, *given, **named)

    monkeypatch.setattr("dealer_ui.view.live.view", fail_once)
    felt.deal()  # two events: the puck, the hand
    live.start()
    moment = live.wait(0, timeout=DEADLINE)
    assert moment is not None
    assert "error of its own" in moment.trouble
    felt.do("next")
    until(lambda: not live.now().trouble)
    assert live.now().screen.phase == "setting"


def test_a_look_at_the_journal_costs_next_to_nothing(felt: Felt, live: Live) -> None:
    """Twenty looks a second must not be felt on the box."""
    felt.to_settled()
    live.now()
    start = time.thread_time()
    for _ in range(100):
        live.refresh()
    assert (time.thread_time() - start) / 100 < 0.005 * SPEED


# ---- the stream ----


class Client:
    """Reads an event stream as a browser does."""

    def __init__(self, app: Flask, address: str = "/events") -> None:
        self.response = app.test_client().get(address, buffered=False)
        self._chunks = self.response.iter_encoded()
        self._text = ""

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return self

    def __next__(self) -> tuple[str, Any]:
        """Return the next event's name and data."""
        while "\n\n" not in self._text:
            self._text += next(self._chunks).decode()
        block, _, self._text = self._text.partition("\n\n")
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        return fields["event"], json.loads(fields["data"])

    def next_view(self) -> Any:
        return next(data for name, data in self if name == "view")

    def close(self) -> None:
        self.response.close()


def test_a_stream_begins_with_the_whole_view_and_goes_on_with_each_change(felt: Felt, app: Flask) -> None:
    felt.deal()
    services(app).live.start()
    stream = Client(app)
    name, hello = next(stream)
    assert name == "hello"
    assert hello["token"] == app.config["CSRF_TOKEN"]
    first = stream.next_view()
    assert first["phase"] == "dealing"
    assert set(first["parts"]) >= {"bar", "centre", "need", "strip", "place-A", "place-D"}
    felt.do("next")
    assert stream.next_view()["phase"] == "setting"
    stream.close()
    services(app).live.stop()


def test_a_quiet_stream_beats_every_second(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    def nothing_new(_version: int, seconds: float, gone: Callable[[], bool]) -> None:
        assert not gone(), "somebody follows"
        waited.append(seconds)

    monkeypatch.setattr(services(app).live, "wait", nothing_new)
    stream = Client(app)
    stream.next_view()
    assert [next(stream)[0] for _ in range(3)] == ["beat"] * 3
    assert waited == [1.0] * 3
    stream.close()


def test_streams_end_when_the_page_stops(felt: Felt, app: Flask) -> None:
    services(app).live.start()
    stream = Client(app)
    stream.next_view()
    with soon(services(app).live.stop):
        names = [name for name, _ in stream]
    assert set(names) <= {"view", "beat"}, "and then it ended"
    stream.close()


def test_streams_are_counted_and_a_closed_one_gives_its_place_back(felt: Felt, tmp_path: Path) -> None:
    app = create_app(Settings(felt.folder, felt.folder / "table.sock", streams=2))
    first, second = Client(app), Client(app)
    refused = app.test_client().get("/events")
    assert refused.status_code == 503
    assert "Close one" in refused.text
    first.close()
    third = Client(app)
    assert next(third)[0] == "hello"
    second.close()
    third.close()


def test_later_messages_carry_only_the_parts_that_changed(felt: Felt, app: Flask) -> None:
    felt.to_settled()
    services(app).live.start()
    stream = Client(app)
    first = stream.next_view()
    felt.pay()
    second = stream.next_view()
    assert 0 < len(second["parts"]) < len(first["parts"])
    assert "rules" not in second["parts"]
    assert second["seq"] == felt.seq
    late = Client(app)
    assert late.next_view()["parts"] == {**first["parts"], **second["parts"]}
    for one in (stream, late):
        one.close()
    services(app).live.stop()


def test_a_stream_that_missed_moments_gets_every_part_that_changed_in_them(felt: Felt, app: Flask) -> None:
    served = services(app)
    felt.to_setting()
    whole, has = served.messages.text(served.live.now())
    parts = json.loads(whole)["parts"]
    for step in (felt.to_reading, felt.read, felt.pay):
        step()
        served.messages.text(served.live.now())
    news, now = served.messages.text(served.live.now(), has)
    assert now > has
    assert {**parts, **json.loads(news)["parts"]} == json.loads(served.messages.text(served.live.now())[0])[
        "parts"
    ]
