"""Full disks, clocks that step back, torn images: shown, and nothing is lost over them."""

from __future__ import annotations

import math
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dealer_ui.view.build import view
from firmware.health.checks import judge
from firmware.health.facts import Facts
from firmware.record.evidence.verify import verify
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.clocks import Timestamp
from firmware.record.journal.disk import MB, RESERVE, RESERVE_FILES, free_bytes, free_files
from firmware.record.journal.journal import CLOCK_CALM_NS, Journal, JournalReader
from firmware.runtime import record_faults as record_watch
from firmware.runtime.config import Config
from firmware.runtime.record_faults import CLOCK, DISK, FILES
from firmware.table import Phase, State
from firmware.table import events as ev
from tests.firmware.running_table import Table

WHITE = '{"do":"next"}'
Cards = Callable[..., dict[str, Any]]


def told(state: State) -> str:
    """What the health page says, while the table page says that something is wrong."""
    if not state.faults:
        assert view(1, state, None).alert is None
        return ""
    alert = view(1, state, None).alert
    assert alert is not None
    assert alert.todo
    return " ".join(str(check.says) for check in judge(Facts(answers=True, faults=state.faults)))


def to_settled(table: Table, cards: Cards) -> None:
    table.readings.ready = [cards()]
    table.do('{"do":"key_button","seat":1}', WHITE, WHITE)
    table.until_phase(Phase.SETTLED)


# ---- disk ----


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 96 MB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@dataclass
class Filler:
    """Somebody else's files on the same disk."""

    path: Path

    def leave(self, free: int) -> None:
        self.path.unlink(missing_ok=True)
        with self.path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, free_bytes(self.path.parent) - free)

    def leave_nothing(self) -> None:
        with self.path.open("ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"x" * 4096)


def test_a_full_disk_stops_new_hands_and_deletes_nothing(
    small_disk: Path, config: Config, cards: Cards
) -> None:
    """The reserve is kept for the hand on the table: it is played, paid and closed, and no next one is opened.

    To leave the paid hand open would be a dead end that keeps nothing safer: closing it is one row more, which the
    reserve has room for. Where not even that row can be written, nothing is closed, and the answer says so.
    """
    filler = Filler(small_disk / "somebody-elses")
    table = Table(config.model_copy(update={"data": small_disk / "data"}))
    data = table.config.data
    try:
        image = CaptureStore(data).save("000001/showdown.jpg", b"pixels" * 1000)
        table.do(WHITE)
        filler.leave(40 * MB)
        state = table.until(lambda state: "disk" in state.faults)
        assert str(DISK) in str(told(state))
        assert "fault" in table.panel.lit()
        to_settled(table, cards)  # the open hand is played to its end
        table.do(WHITE)
        assert not table.state.unpaid
        before = sorted(path.name for path in data.rglob("*"))
        table.press("next")
        assert table.state.phase is Phase.ARCHIVED
        for _ in range(2):
            assert table.ask(WHITE)["error"] == str(DISK)
        table.press("next")
        assert table.state.phase is Phase.ARCHIVED
        assert table.state.hand == 1
        assert sorted(path.name for path in data.rglob("*")) == before
        assert CaptureStore(data).check(image) == "ok"
        filler.path.unlink()
        table.until(lambda state: "disk" not in state.faults)
        table.do(WHITE)
        assert table.state.hand == 2
    finally:
        table.stop()
    assert verify(data).ok


def test_a_disk_that_is_full_to_the_last_byte_in_mid_hand_loses_nothing(
    small_disk: Path, config: Config, cards: Cards
) -> None:
    filler = Filler(small_disk / "somebody-elses")
    table = Table(config.model_copy(update={"data": small_disk / "data"}))
    try:
        table.do(WHITE, '{"do":"key_button","seat":1}', WHITE)
        filler.leave(40 * MB)
        table.until(lambda state: "disk" in state.faults)
        filler.leave_nothing()
        said, answer = [], table.ask('{"do":"declare","seat":1}')
        for _ in range(2000):  # the journal's own files have a little room left
            if not answer["ok"]:
                break
            said.append(answer["seq"])
            do = "withdraw" if len(said) % 2 else "declare"
            answer = table.ask(f'{{"do":"{do}","seat":1}}')
        assert "disk is full" in answer["error"]
        assert "no evidence is deleted" in answer["error"]
        stands = table.state
        assert table.process.state == stands
        entries = JournalReader(table.config.data).events_since(0)
        assert set(said) <= {entry.seq for entry in entries}
        filler.path.unlink()
        if stands.seats[0].declares:
            table.until(lambda _: table.ask('{"do":"withdraw","seat":1}')["ok"])
        table.readings.ready = [cards()]
        table.until(lambda _: table.ask(WHITE)["ok"])
        table.until_phase(Phase.SETTLED)
    finally:
        table.stop()
    assert verify(table.config.data).ok


def test_too_little_room_is_told_once_and_enough_room_opens_hands_again(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = [RESERVE - 1]
    monkeypatch.setattr(record_watch, "free_bytes", lambda _: room[0])
    table.until(lambda state: "disk" in state.faults)
    assert table.ask(WHITE)["error"] == str(DISK)
    room[0] = RESERVE + MB  # not yet enough: it would be told over and over
    table.let_pass(1.3)
    assert "disk" in table.state.faults
    room[0] = record_watch.ENOUGH
    table.until(lambda state: "disk" not in state.faults)
    table.do(WHITE)
    assert table.types().count("device_fault") == 1


def test_a_disk_without_room_for_files_has_its_own_sentence(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [float(RESERVE_FILES)]
    monkeypatch.setattr(record_watch, "free_files", lambda _: left[0])
    table.let_pass(1.3)
    assert "disk" not in table.state.faults
    left[0] -= 1
    table.until(lambda state: "disk" in state.faults)
    assert table.ask(WHITE)["error"] == str(FILES)
    left[0] = math.inf
    table.until(lambda state: "disk" not in state.faults)


def test_the_room_for_files_is_the_file_systems_own(small_disk: Path) -> None:
    remount = ["mount", "-o", "remount,nr_inodes=500", str(small_disk)]
    subprocess.run(remount, check=True)
    before = free_files(small_disk)
    assert before < 500
    (small_disk / "one").touch()
    assert free_files(small_disk) == before - 1


# ---- clock ----


def wall(table: Table, ms: int) -> None:
    """Set the wall clock; the monotonic one goes on."""
    table.journal._clock = lambda: Timestamp("boot", time.monotonic_ns(), ms, "unknown")


def test_a_clock_that_steps_back_breaks_no_order_and_is_shown(table: Table) -> None:
    now = time.time_ns() // 1_000_000
    table.do(WHITE)
    wall(table, 12_345)
    state = table.until(lambda state: "clock" in state.faults)
    assert str(CLOCK) in str(told(state))
    table.do(WHITE)
    wall(table, now + 60_000)
    state = table.until(lambda state: "clock" not in state.faults)
    assert state.phase is Phase.SETTING
    assert str(CLOCK) not in str(told(state))
    entries = JournalReader(table.config.data).events_since(0)
    stepped = [entry.type for entry in entries if entry.clock == "stepped_back"]
    assert stepped == ["device_fault"], "the step stands in the first row after it"
    assert verify(table.config.data).ok


def test_a_step_back_is_still_known_after_a_restart(tmp_path: Path) -> None:
    walls = [1_700_000_000_000]

    def clock() -> Timestamp:
        return Timestamp("boot", 0, walls[0], "unknown")

    with Journal(tmp_path, clock) as journal:
        journal.append([ev.TableStarted()], "table")
        walls[0] = 1000
        assert journal.clock_is_behind()
        journal.append([ev.TableStarted()], "table")
    walls[0] = 500_000  # 1970 again: later than the last row, and still wrong
    with Journal(tmp_path, clock) as journal:
        assert journal.clock_is_behind()
        walls[0] = 1_700_000_000_001
        assert not journal.clock_is_behind()


def test_a_forward_jump_that_the_monotonic_clock_contradicts_is_known_after_a_restart_too(
    tmp_path: Path,
) -> None:
    now, wall = [10**9], [1_700_000_000_000]

    def clock() -> Timestamp:
        return Timestamp("boot", now[0], wall[0], "synchronised")

    with Journal(tmp_path, clock) as journal:
        journal.append([ev.TableStarted()], "table")
        assert not journal.clock_is_ahead()
        wall[0] += 2 * 365 * 86_400_000
        assert journal.clock_is_ahead()
        journal.append([ev.TableStarted()], "table")
    with Journal(tmp_path, clock) as journal:
        assert journal.clock_is_ahead()
        wall[0] -= 2 * 365 * 86_400_000
        now[0] += 10**9
        wall[0] += 1000
        assert not journal.clock_is_ahead(), "it was taken back"
    assert [row.clock for row in JournalReader(tmp_path).events_since(0)] == ["synchronised", "unknown"]


def test_a_forward_jump_that_the_network_took_back_is_no_fault_for_ever(tmp_path: Path) -> None:
    now, wall, state = [0], [4_000_000_000_000], ["unknown"]

    def clock() -> Timestamp:
        return Timestamp("boot", now[0], wall[0], state[0])  # type: ignore[arg-type]

    with Journal(tmp_path, clock) as journal:
        journal.append([ev.TableStarted()], "table")
        wall[0] = 1_700_000_000_000
        now[0] += 10 * CLOCK_CALM_NS
        assert journal.clock_is_behind(), "nobody says that the earlier time is the right one"
        state[0] = "synchronised"
        assert journal.clock_is_behind()
        now[0] += CLOCK_CALM_NS - 1
        assert journal.clock_is_behind()
        now[0] += 1
        assert not journal.clock_is_behind()
        wall[0] -= 10_000
        assert journal.clock_is_behind(), "another step is another fault"


def test_a_step_back_between_two_rows_is_written_down(tmp_path: Path) -> None:
    """Twenty minutes after the last row the clock steps back by ten: the rows alone would not show it."""
    moments = iter(
        [
            Timestamp("boot", 0, 1_000_000, "unknown"),
            Timestamp("boot", 1, 1_600_000, "stepped_back"),
            Timestamp("boot", 2, 1_600_001, "unknown"),
        ]
    )
    with Journal(tmp_path, lambda: next(moments)) as journal:
        journal.append([ev.TableStarted()], "table")
        journal.clock_is_behind()
        journal.append([ev.TableStarted()], "table")
    assert [e.clock for e in JournalReader(tmp_path).events_since(0)] == ["unknown", "stepped_back"]


# ---- images ----


def test_a_torn_image_is_named_at_the_restart(start: Callable[[], Table], cards: Cards) -> None:
    table = start()
    image = CaptureStore(table.config.data).save("000001/1-frame.jpg", b"pixels")
    reading = cards()
    reading["frame"] = {"name": image.name, "sha256": image.sha256, "size": image.size}
    table.readings.ready = [reading]
    table.do(WHITE, '{"do":"key_button","seat":1}', WHITE, WHITE)
    table.until_phase(Phase.SETTLED)
    table.stop()
    CaptureStore(table.config.data).path(image.name).write_bytes(b"pix")
    again = start()
    state = again.until(lambda state: "images" in state.faults)
    assert "The image 000001/1-frame.jpg of hand 1 is changed." in told(state)
    assert state.phase is Phase.SETTLED, "the hand is shown all the same"
    again.do('{"do":"archive"}', WHITE)
    again.until(lambda state: "images" not in state.faults)
