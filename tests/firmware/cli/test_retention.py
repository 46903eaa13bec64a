"""`feltwatch keep`, `backup`, `restore` and `bundle`: what they do, what they never touch and never tell."""

from __future__ import annotations

import errno
import json
import re
import time
import zipfile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from firmware.access.pins import PinStore
from firmware.cli.bundle import command as bundle_command
from firmware.cli.main import main
from firmware.cli.retention import backup, keep, restore
from firmware.record.archive import Archive
from firmware.record.evidence.signing import DeviceKey
from firmware.record.evidence.verify import verify
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.clocks import Timestamp
from firmware.record.journal.disk import MB
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.record.retention import SPARED, Rule, leftovers, plan, remove
from firmware.table import Phase
from firmware.table import events as ev
from firmware.table.people import Role
from tests.firmware.conftest import ROWS, Deal
from tests.firmware.record.test_verify import bend

DAY_MS = 24 * 3_600_000
NOW = time.time_ns() // 1_000_000 - 60_000
HANDS = SPARED + 4
SIZE = 1000


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A hand a day until now, each with an image; the second is under dispute, the third's image is missing."""
    folder = tmp_path / "data"
    store, deal = CaptureStore(folder), Deal(ROWS)
    days = [0]

    def clock() -> Timestamp:
        return Timestamp("boot", 0, NOW - (HANDS - days[0]) * DAY_MS, "synchronised")

    with Journal(folder, clock) as journal:
        journal.append(
            [ev.PersonListed("Moreno", Role.FLOOR, "pin"), ev.PersonListed("Lin Wu", Role.DEALER)], "console"
        )
        for number in range(1, HANDS + 1):
            days[0] = number
            image = store.save(f"{number:06}/frame.jpg", bytes([number]) * SIZE)
            journal.append([deal.opened(number), ev.PhaseAdvanced(Phase.SETTING)], "dealer:Lin Wu")
            journal.append([ev.PhaseAdvanced(Phase.SHOWDOWN), ev.PhaseAdvanced(Phase.READING)], "table")
            journal.append([ev.ReadingFailed("no markers", image), ev.HandVoided("a test")], "camera")
        journal.append([ev.HandDisputed(2, "that was not my card")], "floor:Moreno")
        journal.append([ev.DeviceFault("puck", "Lin Wu pulled the cable; Lin Wuest did not.")], "table")
    (folder / "captures" / "000003" / "frame.jpg").unlink()
    return folder


@pytest.fixture
def house_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an installed box has its configuration; there is none yet."""
    path = tmp_path / "etc.toml"
    monkeypatch.setattr("firmware.cli.retention.HOUSE_CONFIG", path)
    return path


def run(command: click.Command, *arguments: object, exits: int = 0) -> Result:
    assert command.name is not None
    done = CliRunner().invoke(main, [command.name, *map(str, arguments)], input="y\n")
    assert done.exit_code == exits, done.output
    return done


def hands_of(data: Path, rule: Rule, now_ms: int | None = NOW) -> list[int]:
    return [drop.hand for drop in plan(Archive(data), rule, now_ms)]


def test_images_go_by_age_and_never_those_of_a_dispute_or_of_the_last_hands(data: Path) -> None:
    # 2 is under dispute, 3's is missing: nothing of it is hidden
    assert hands_of(data, Rule(days=1)) == [
        1,
        4,
    ]
    assert hands_of(data, Rule(days=HANDS - 2)) == [1]
    assert hands_of(data, Rule(days=100)) == []
    assert hands_of(data, Rule(days=1), None) == []  # the clock cannot be trusted


def test_images_of_a_hand_whose_record_was_changed_are_kept_as_evidence(data: Path) -> None:
    bend(data, "UPDATE journal SET actor = 'x' WHERE hand = 1 AND type = 'phase_advanced'")
    assert hands_of(data, Rule(days=1)) == [4]


def test_images_go_by_space_the_oldest_first(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware.record.retention.MB", SIZE)
    assert hands_of(data, Rule(megabytes=HANDS)) == []
    assert hands_of(data, Rule(megabytes=HANDS - 1)) == [1]
    assert hands_of(data, Rule(megabytes=1)) == [1, 4]
    assert MB == 1_000_000


def test_by_itself_no_more_goes_than_a_days_share_in_a_day(tmp_path: Path) -> None:
    walls = [NOW - 40 * DAY_MS]

    def clock() -> Timestamp:
        return Timestamp("boot", 0, walls[0], "unknown")

    store = CaptureStore(tmp_path)
    with Journal(tmp_path, clock) as journal:
        for number in range(1, 31):
            frame = store.save(f"{number:06}/frame.jpg", b"a picture")
            opened = Deal(ROWS).opened(number)
            steps = [ev.PhaseAdvanced(phase) for phase in (Phase.SETTING, Phase.SHOWDOWN, Phase.READING)]
            journal.append([opened, *steps, ev.ReadingFailed("dark", frame), ev.HandVoided("a test")], "test")
            walls[0] += DAY_MS // 2
        far = NOW + 730 * DAY_MS
        drops = list(plan(Archive(tmp_path), Rule(days=400), far, by_itself=True))
        assert [drop.hand for drop in drops] == [1, 2], "two hands a day were played"
        assert len(list(plan(Archive(tmp_path), Rule(days=400), far))) == 20, "a person may ask for more"
        walls[0] = far
        journal.append([drop.tombstone for drop in drops], "table")
        for image in drops:
            remove(store, image.images)
        assert list(plan(Archive(tmp_path), Rule(days=400), far + DAY_MS - 1, by_itself=True)) == []
        later = plan(Archive(tmp_path), Rule(days=400), far + DAY_MS, by_itself=True)
        assert [drop.hand for drop in later] == [3, 4]


def test_keep_only_says_what_would_go(data: Path) -> None:
    before = sorted(path.name for path in data.rglob("*.jpg"))
    said = run(keep, "--data", data, "--days", 1).stdout
    assert "hand 1: 1 images" in said
    assert "would go. Do it with --do." in said
    assert sorted(path.name for path in data.rglob("*.jpg")) == before
    assert "No image goes" in run(keep, "--data", data, "--days", 100).stdout


def test_keep_drops_under_tombstones(data: Path) -> None:
    bad_before = verify(data).problems
    told = json.loads(run(keep, "--data", data, "--days", 1, "--do", "--json").stdout)
    assert [hand["hand"] for hand in told["hands"]] == [1, 4]
    assert told["done"] is True
    assert not (data / "captures" / "000001").exists()
    assert (data / "captures" / "000002" / "frame.jpg").exists()
    found = verify(data)
    assert found.problems == bad_before  # hand 3's image was missing before
    assert found.dropped == 2
    assert "No image goes" in run(keep, "--data", data, "--days", 1, "--do").stdout


def test_bytes_that_a_stop_left_behind_their_tombstone_go_later(data: Path) -> None:
    drop = next(plan(Archive(data), Rule(days=1), NOW))
    with Journal(data) as journal:
        journal.append([drop.tombstone], "table")
    archive = Archive(data)
    archive.refresh()
    assert list(leftovers(archive, CaptureStore(data))) == [drop.images]
    run(keep, "--data", data, "--days", 1, "--do")
    assert not (data / "captures" / "000001").exists()


def test_without_a_rule_keep_says_that_all_images_stay(data: Path, house_config: Path) -> None:
    before = sorted(data.rglob("*.jpg"))
    said = run(keep, "--data", data).stdout
    assert "no rule is set, so all images stay" in said
    assert f"There is no {house_config}" in said
    assert "feltwatch keep --days" in said
    assert json.loads(run(keep, "--data", data, "--json").stdout) == {"done": False, "bytes": 0, "hands": []}
    house_config.write_text("unit = 100\n")
    assert f"{house_config} has no days or megabytes" in run(keep, "--data", data, "--do").stdout
    assert sorted(data.rglob("*.jpg")) == before


def test_keep_goes_by_the_configuration_of_the_box(data: Path, house_config: Path) -> None:
    house_config.write_text("[keeping]\ndays = 1\n")
    assert "2 hands would go" in run(keep, "--data", data).stdout
    assert "1 hands would go" in run(keep, "--data", data, "--days", HANDS - 2).stdout


def test_keep_goes_by_a_configuration_that_is_named(data: Path, tmp_path: Path) -> None:
    config = tmp_path / "feltwatch.toml"
    config.write_text("[keeping]\ndays = 1\n")
    assert "2 hands would go" in run(keep, "--data", data, "--config", config).stdout
    config.write_text("[keeping]\ndays = 0\n")
    assert "keeping.days" in run(keep, "--data", data, "--config", config, exits=2).output


def test_a_record_is_backed_up_and_restored(data: Path, tmp_path: Path) -> None:
    (data / "captures" / "000003").rmdir()
    to = tmp_path / "backup"
    said = run(backup, to, "--data", data, exits=1).output  # hand 3's image is missing, and that is said
    assert "This record does not hold" in said
    assert "000003/frame.jpg is missing" in said
    assert "LOST: 1 images of hand 3" in run(restore, to, "--data", tmp_path / "new", "--unproven").output
    with Journal(data) as journal:
        image = ev.Capture("000003/frame.jpg", "", 0)
        for row in JournalReader(data).of_hand(3):
            image = getattr(row.event, "frame", None) or image
        journal.append([ev.ImagesDropped(3, (image,), "lost")], "test")
    said = run(backup, tmp_path / "again", "--data", data, exits=1).stdout
    assert said.startswith("NOT signed.\n"), "a record that was made without a key"
    assert "replaced-1" in run(restore, tmp_path / "again", "--data", data, "--unproven").stdout
    assert verify(data).ok
    assert "there already" in run(backup, to, "--data", data, exits=1).output
    assert CliRunner().invoke(restore, [str(to), "--data", str(data)], input="n\n").exit_code == 1
    assert "There is no record" in run(backup, tmp_path / "x", "--data", tmp_path / "none", exits=2).output
    assert "does not exist" in run(restore, tmp_path / "none", "--data", data, exits=2).output


def test_a_support_bundle_has_no_secrets_and_no_names(data: Path, tmp_path: Path) -> None:
    pin = PinStore(data).keep("274953")
    key = DeviceKey.open(tmp_path / "key")
    config = tmp_path / "feltwatch.toml"
    seats = '[[seats]]\nseat = 1\nplace = "A"\nplayer = "Ann Lee"\n[[seats]]\nseat = 2\nplace = "B"\n'
    config.write_text(seats + '[puck]\ndealer = ["04a1b2c3"]\n')
    out = tmp_path / "bundle.zip"
    run(bundle_command, "--data", data, "--config", config, "--out", out)
    with zipfile.ZipFile(out) as packed:
        files = {name: packed.read(name).decode() for name in packed.namelist()}
    assert set(files) == {"about.json", "record.json", "config.json", "rows.jsonl", "log.txt"}
    text = "".join(files.values())
    verifier = json.loads((data / "pins" / f"{pin}.json").read_text())
    secrets = (
        "Lin Wu ",
        "Moreno",
        "Ann Lee",
        "p1",
        "p2",
        "04a1b2c3",
        verifier["key"],
        verifier["salt"],
    )
    pem = (tmp_path / "key" / "device.key").read_text().splitlines()[1]
    for secret in (*secrets, pem, key.public.hex(), "not my card", "Qs"):
        assert secret not in text, secret
    assert not re.search(r"(?<!\d)274953(?!\d)", text)
    record = json.loads(files["record.json"])
    assert "pulled the cable; Lin Wuest did not." in record["faults"][0]["detail"]
    assert record["hands"] == HANDS
    assert {json.loads(line)["role"] for line in files["rows.jsonl"].splitlines()} >= {
        "dealer",
        "floor",
        "table",
    }
    assert "there already" in run(bundle_command, "--data", data, "--out", out, exits=2).output


def test_a_bundle_that_cannot_be_written_leaves_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        "cannot be written"
        in run(bundle_command, "--data", data, "--out", tmp_path / "no" / "x.zip", exits=1).output
    )
    before = sorted(tmp_path.iterdir())
    written = zipfile.ZipFile.writestr

    def full(packed: zipfile.ZipFile, name: str, text: str) -> None:
        if name == "log.txt":
            raise OSError(errno.ENOSPC, "No space left on device")
        written(packed, name, text)

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    done = run(bundle_command, "--data", data, "--out", tmp_path / "x.zip", exits=1)
    assert "x.zip cannot be written: No space left on device." in done.output
    assert sorted(tmp_path.iterdir()) == before


def test_a_record_that_cannot_be_read_has_a_bundle_that_says_so_and_holds_no_names(
    data: Path, tmp_path: Path
) -> None:
    (data / FILE).write_bytes((data / FILE).read_bytes()[:8192])
    done = run(bundle_command, "--data", data, "--out", tmp_path / "x.zip")
    assert "the file holds no row and no log" in done.stderr
    with zipfile.ZipFile(tmp_path / "x.zip") as packed:
        assert packed.namelist() == ["about.json", "record.json"]
        assert "its file is damaged" in json.loads(packed.read("record.json"))["error"]


def test_a_box_without_a_record_has_a_bundle_too(tmp_path: Path) -> None:
    run(bundle_command, "--data", tmp_path / "nowhere", "--out", tmp_path / "empty.zip")
    with zipfile.ZipFile(tmp_path / "empty.zip") as packed:
        assert json.loads(packed.read("record.json"))["rows"] == 0
        assert json.loads(packed.read("about.json"))["software"]
