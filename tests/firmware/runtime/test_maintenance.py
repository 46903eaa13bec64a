"""The table process signs, exports, lists and keeps: over its own commands, with a real journal and a real key."""

from __future__ import annotations

import dataclasses
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.record.archive import Archive
from firmware.record.dispute_file import EXPORTS, export_path
from firmware.record.evidence.anchors import Anchor
from firmware.record.evidence.dispute_verifier import check
from firmware.record.evidence.signing import FILE as KEY_FILE
from firmware.record.evidence.signing import DeviceKey, KeyUnusable, fingerprint
from firmware.record.evidence.verify import verify
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.clocks import Timestamp
from firmware.record.journal.journal import Entry, Journal, JournalReader
from firmware.record.journal.row_index import ENDS, index_to_write
from firmware.record.retention import SPARED
from firmware.record.stick_request import Progress, StickDesk, read_request
from firmware.runtime import table_process
from firmware.runtime.config import Config, KeepingConfig, load_config
from firmware.runtime.errors import ConfigError
from firmware.runtime.house_config import prepare_house
from firmware.runtime.maintenance import RecordMaintenance
from firmware.runtime.table_devices import Devices
from firmware.runtime.table_process import TableProcess
from firmware.table import Phase
from firmware.table import events as ev
from tests.firmware.running_table import HANDS, FakeReadings, reading_json
from tests.waiting import DEADLINE, until

FLOOR = {"by": "Moreno", "pin": "274953"}
DAY_MS = 24 * 3_600_000
ALL = KeepingConfig()


class Box:
    """A table process with its maintenance, driven turn by turn or on a thread; its wall clock is set by the test."""

    def __init__(self, config: Config, key: Path, keeping: KeepingConfig = ALL) -> None:
        self.config = config
        self.boot, self.wall_ms = "boot", 1_700_000_000_000
        self.seconds = 0.0
        self.journal = Journal(config.data, self.moment)
        self.maintenance = RecordMaintenance(
            config.data,
            self.journal,
            key,
            keeping,
            self.moment,
            stick=StickDesk(config.data / "asked.json", config.data / "told.json"),
            clock=lambda: self.seconds,
        )
        self.readings = FakeReadings()
        self.process = TableProcess(
            config.data,
            self.journal,
            prepare_house(config, self.journal),
            Devices(None, None, None),
            self.readings,
            config.socket,
            0.0,
            maintenance=self.maintenance,
            answer_within=DEADLINE,
        )
        self.thread = threading.Thread(target=self.process.run)
        self.thread.start()

    def moment(self) -> Timestamp:
        return Timestamp(self.boot, time.monotonic_ns(), self.wall_ms, "synchronised")

    def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        return self.process.ask(json.dumps({"do": do, **fields}).encode())

    def do(self, do: str, **fields: Any) -> dict[str, Any]:
        answer = self.ask(do, **fields)
        assert answer["ok"], answer
        return answer

    def hand(self, image: bytes | None = None) -> int:
        """Play a hand that is void; its image, if any, is named by its reading."""
        self.do("next")
        if self.process.state.puck_awaited:
            self.do("keep_button", seat=1)
        number = JournalReader(self.config.data).recover()[0].hand
        if image is not None:
            capture = CaptureStore(self.config.data).save(f"{number:06}/frame.jpg", image)
            self.readings.ready = [reading_json(HANDS) | {"frame": dataclasses.asdict(capture)}]
            self.do("key_button", seat=1)
            self.do("next")
            self.do("next")
            until(lambda: self.process.state.phase in (Phase.SETTLED, Phase.REVIEW))
        self.do("void", reason="a test")
        return number

    def close(self) -> None:
        self.process.stop()
        self.thread.join(DEADLINE)
        assert not self.thread.is_alive()
        self.journal.close()


@pytest.fixture
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("key") / "key"


@pytest.fixture
def start(config: Config, key: Path) -> Iterator[Callable[..., Box]]:
    boxes: list[Box] = []

    def begin(keeping: KeepingConfig = ALL) -> Box:
        boxes.append(Box(config, key, keeping))
        return boxes[-1]

    yield begin
    for box in boxes:
        if box.thread.is_alive():
            box.close()


@pytest.fixture
def box(start: Callable[..., Box]) -> Box:
    box = start()
    box.do("list_person", person="Tess", role="technician", new_pin="836153")
    box.do("list_person", person="Moreno", role="floor", new_pin="274953", by="Tess", pin="836153")
    return box


def test_the_key_is_made_once_private_and_announced_in_the_record(
    start: Callable[..., Box], config: Config, key: Path
) -> None:
    start().close()
    assert (key / KEY_FILE).stat().st_mode & 0o777 == 0o600
    start().close()
    said = [row.event for row in JournalReader(config.data).events_since(0) if row.type == "key_announced"]
    assert said == [ev.KeyAnnounced(DeviceKey.open(key).public.hex())]
    for path in config.data.rglob("*"):
        if path.is_file():
            assert b"PRIVATE KEY" not in path.read_bytes()


def test_a_key_that_cannot_be_used_is_a_fault_and_hands_go_on(start: Callable[..., Box], key: Path) -> None:
    key.mkdir()
    (key / KEY_FILE).write_text("no key")
    (key / KEY_FILE).chmod(0o600)
    box = start()
    until(lambda: "key" in box.process.state.faults)
    assert "Nothing can be signed" in str(box.process.state.faults["key"])
    box.hand()
    assert "Nothing can be signed" in box.ask("sign_head")["error"]


def test_a_key_that_others_can_read_is_not_used(key: Path) -> None:
    DeviceKey.open(key)
    (key / KEY_FILE).chmod(0o640)
    with pytest.raises(KeyUnusable, match="chmod 600"):
        DeviceKey.open(key)


def test_a_key_in_the_data_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="key lies in the data folder"):
        load_config(data=tmp_path, key=tmp_path / "key")


def test_the_head_is_signed_and_stands_in_the_record_right_after_it(box: Box, key: Path) -> None:
    box.hand()
    answer = box.do("sign_head")
    anchor = Anchor.parse(answer["anchor"])
    rows = JournalReader(box.config.data).events_since(0)
    signed = [row for row in rows if row.type == "head_signed"][-1]
    assert (anchor.seq, anchor.hash, anchor.hands) == (signed.seq - 1, signed.previous, 1)
    assert answer["key"] == fingerprint(DeviceKey.open(key).public)


def test_whatever_command_comes_again_with_its_id_is_answered_and_not_done_again(
    start: Callable[..., Box],
) -> None:
    def types() -> list[str]:
        return [row.type for row in JournalReader(running.config.data).events_since(0)]

    running = start()
    listed = {"person": "Tess", "role": "technician", "new_pin": "836153", "id": "list-person-1"}
    first = running.do("list_person", **listed)
    assert running.do("list_person", **listed) == first, "though a box with a technician asks for a PIN"
    running.hand()
    signed = running.do("sign_head", id="sign-head-1")
    assert running.do("sign_head", id="sign-head-1") == signed
    file = running.do("export_hand", past=1, id="export-1", by="Tess", pin="836153")
    before = types()
    assert running.do("export_hand", past=1, id="export-1", by="Tess", pin="836153") == file
    running.close()
    running = start()
    assert running.do("sign_head", id="sign-head-1") == signed, "after a restart, too"
    assert running.do("list_person", **listed) == first
    assert types()[: len(before)] == before
    assert types().count("person_listed") == 1
    assert types().count("head_signed") == before.count("head_signed")


def test_a_command_that_was_refused_is_judged_anew_when_it_comes_again(box: Box) -> None:
    wrong = box.ask("export_hand", past=1, id="export-2", by="Tess", pin="0000")
    assert not wrong["ok"]
    assert (
        "not in the record" in box.ask("export_hand", past=1, id="export-2", by="Tess", pin="836153")["error"]
    )


def test_the_head_is_signed_by_itself_after_each_hands_end_and_once(box: Box, key: Path) -> None:
    def signed_rows() -> list[Entry]:
        return [row for row in reader.events_since(0) if row.type == "head_signed"]

    def is_signed(times: int) -> bool:
        return len(signed_rows()) == times

    reader = JournalReader(box.config.data)
    for number in range(1, 4):
        box.hand()
        until(partial(is_signed, number))  # with the turn after the hand's end
    rows, signed = reader.events_since(0), signed_rows()
    ends = [row.seq for row in rows if row.type in ENDS]
    assert len(ends) == len(signed) == 3
    assert all(head.seq > end for head, end in zip(signed, ends, strict=True))
    assert {json.loads(row.payload)["key"] for row in signed} == {DeviceKey.open(key).public.hex()}
    assert verify(box.config.data).ok


def test_a_hand_is_exported_by_command_and_the_file_holds(box: Box, key: Path) -> None:
    hand = box.hand(b"pixels" * 100)
    assert "PIN" in box.ask("export_hand", past=hand)["error"]
    answer = box.do("export_hand", past=hand, **FLOOR)
    file = box.config.data / EXPORTS / answer["file"]
    report = check(str(file), key=fingerprint(DeviceKey.open(key).public))
    assert report.wrong == []
    assert any("lead up to it" in sentence for sentence in report.holds)
    assert box.do("export_hand", past=hand, **FLOOR)["file"] == answer["file"]
    assert "Hand 9 is not in the record" in box.ask("export_hand", past=9, **FLOOR)["error"]


def test_a_hand_that_is_to_go_on_a_stick_is_exported_and_asked_for_one_at_a_time(box: Box) -> None:
    hand = box.hand()
    asked, told = box.config.data / "asked.json", box.config.data / "told.json"
    assert "PIN" in box.ask("export_hand", past=hand, stick=True)["error"]
    assert "stick" not in box.do("export_hand", past=hand, **FLOOR)
    assert not asked.exists()
    answer = box.do("export_hand", past=hand, stick=True, **FLOOR)
    request = read_request(asked)
    assert request is not None
    assert (request.id, request.hand) == (answer["stick"], hand)
    assert export_path(box.config.data, hand).is_file(), "made before it is asked for"
    Progress(request.id, hand, "copying").write(told)
    assert "already" in box.ask("export_hand", past=hand, stick=True, **FLOOR)["error"]
    Progress(request.id, hand, "done").write(told)
    assert box.do("export_hand", past=hand, stick=True, **FLOOR)["stick"] != request.id


def test_the_shell_asks_the_running_table(box: Box, tmp_path_factory: pytest.TempPathFactory) -> None:
    hand, folder = box.hand(), tmp_path_factory.mktemp("out")
    words = ["--data", str(box.config.data)]
    export = ["export", str(hand), "--out", str(folder / "x.zip"), *words]
    refused = CliRunner().invoke(main, ["hands", *export])
    assert refused.exit_code == 1
    assert "Add --by NAME" in refused.output
    empty = CliRunner().invoke(main, ["hands", *export, "--by", "Moreno"], input="\n")
    assert empty.exit_code == 1
    assert "Enter your name and your PIN." in empty.output, "no PIN is no wrong one"
    wrong = CliRunner().invoke(main, ["hands", *export, "--by", "Moreno"], input="9876\n")
    assert "do not belong together" in wrong.output
    assert list(folder.iterdir()) == []
    done = CliRunner().invoke(main, ["hands", *export, "--by", "Moreno"], input="274953\n")
    assert done.exit_code == 0, done.output
    assert check(str(folder / "x.zip")).ok
    slip = CliRunner().invoke(main, ["anchor", "--json", *words])
    assert slip.exit_code == 0, slip.output
    assert Anchor.parse(json.loads(slip.stdout)["text"]).hands == hand
    dropped = CliRunner().invoke(
        main, ["keep", "--days", "1", "--do", "--by", "Tess", *words], input="836153\n"
    )
    assert dropped.exit_code == 0, dropped.output


def test_floor_people_mark_hands_disputed_decided_and_reviewed(box: Box) -> None:
    hand = box.hand()
    assert "PIN" in box.ask("dispute", past=hand, reason="that was not my card")["error"]
    box.do("dispute", past=hand, reason="that was not my card", **FLOOR)
    assert "already" in box.ask("dispute", past=hand, reason="again", **FLOOR)["error"]
    assert "not in the record" in box.ask("dispute", past=99, reason="again", **FLOOR)["error"]
    box.hand()
    assert box.process.state.disputed == {hand}  # goes on from hand to hand
    box.do("close_dispute", past=hand, reason="it was", **FLOOR)
    assert "not under dispute" in box.ask("close_dispute", past=hand, reason="again", **FLOOR)["error"]
    box.do("mark_reviewed", past=hand, **FLOOR)
    archive = Archive(box.config.data)

    def indexed() -> bool:  # a refresh does nothing while the table process updates the index
        archive.refresh()
        line = archive.line(hand)
        return line is not None and line.reviewed == 1

    until(indexed)
    line = archive.line(hand)
    assert line is not None
    assert (line.disputes, line.disputed) == (1, False)


def test_the_index_follows_by_itself(box: Box) -> None:
    hand = box.hand()
    box.seconds += 100

    def listed() -> bool:
        archive = Archive(box.config.data)
        return index_to_write(box.config.data).exists() and archive.line(hand) is not None

    until(listed)


def test_old_images_go_between_hands_under_a_tombstone_and_never_those_of_a_dispute(
    start: Callable[..., Box], config: Config
) -> None:
    box = start(KeepingConfig(days=30))
    box.do("list_person", person="Tess", role="technician", new_pin="836153")
    box.do("list_person", person="Moreno", role="floor", new_pin="274953", by="Tess", pin="836153")
    first, second = box.hand(b"one"), box.hand(b"two")
    box.do("dispute", past=first, reason="that was not my card", **FLOOR)
    for _ in range(SPARED):
        box.hand()
    store = CaptureStore(config.data)
    box.wall_ms += 31 * DAY_MS
    box.seconds += 1e6
    until(lambda: "clock" in box.process.state.faults)
    assert (store.folder / f"{second:06}").exists(), "the monotonic clock knows of no month"
    box.boot = "the next boot"
    box.seconds += 1e6
    until(lambda: not (store.folder / f"{second:06}").exists())
    assert (store.folder / f"{first:06}" / "frame.jpg").exists()
    archive = Archive(config.data)
    assert [image.state for image in archive.images(archive.hand(second))] == ["dropped"]
    rows = [row.event for row in archive.reader.about(second)]
    assert isinstance(rows[-1], ev.ImagesDropped)
    assert str(rows[-1].reason) == "older than 30 days"


def test_a_technician_drops_images_at_once_by_space(box: Box) -> None:
    config = box.config
    for number in range(SPARED + 3):
        box.hand(bytes(700_000) + bytes([number]))
    assert "PIN" in box.ask("drop_images", megabytes=8)["error"]
    assert "keeps all images" in box.ask("drop_images", by="Tess", pin="836153")["error"]
    box.do("drop_images", megabytes=8, by="Tess", pin="836153")
    folder = CaptureStore(config.data).folder
    until(lambda: len(list(folder.iterdir())) == SPARED + 1)
    assert sorted(path.name for path in folder.iterdir())[0] == "000003"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_key_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(KeyUnusable, match="as the table's user"):
        DeviceKey.open(tmp_path / "key")


def test_a_dispute_file_that_takes_its_time_is_waited_for(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    hand = box.hand()
    session = box.do("unlock", **FLOOR)["session"]
    made = threading.Event()
    asked = threading.Event()

    def slowly(data: Path, number: int) -> bytes:
        asked.set()
        made.wait(DEADLINE)
        return b"%PDF"

    box.maintenance._pdf = slowly
    box.process._answer_within = 0.3
    monkeypatch.setattr(table_process, "MADE_WITHIN", 0.05)
    assert "did not answer in time" in box.ask("export_hand", past=hand, session=session)["error"]
    until(asked.is_set)
    monkeypatch.setattr(table_process, "MADE_WITHIN", DEADLINE)
    threading.Timer(0.6, made.set).start()
    assert box.do("export_hand", past=hand, session=session)["file"] == f"hand-{hand:06}.zip"
