"""What the box says of itself, from files as the kernel writes them."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from firmware.devices.camera.source import TakenSetting
from firmware.devices.power import PowerReading
from firmware.devices.puck.reading import PuckReading, PuckState
from firmware.health.checks import judge
from firmware.health.facts import Facts
from firmware.runtime.host_facts import BoxFacts, facts_of_pi
from firmware.runtime.reading.messages import JobDone, ReaderState, ReadingDone
from vision.reading.networks import NETWORKS


class Hardware:
    """What hangs on a table."""

    puck: Any = None
    buttons: Any = object()

    def power(self) -> dict[str, bool | float | None]:
        return {"mains": True, "celsius": 61.5, "weak": False, "was_weak": None}


def disk(root: Path, data: Path, life: str, *, partition: bool) -> None:
    number = data.stat().st_dev
    whole = root / "sys/devices/mmcblk0"
    (whole / "device").mkdir(parents=True)
    (whole / "device/life_time").write_text(life)
    own = whole / "mmcblk0p2" if partition else whole
    own.mkdir(exist_ok=True)
    names = root / "sys/dev/block"
    names.mkdir(parents=True)
    (names / f"{os.major(number)}:{os.minor(number)}").symlink_to(own)


@pytest.mark.parametrize("partition", [True, False])
@pytest.mark.parametrize(
    ("life", "worn"),
    [("0x01 0x01\n", 10), ("0x02 0x09\n", 90), ("0x0b 0x01\n", 110), ("0x00 0x00\n", None), ("", None)],
)
def test_an_emmc_says_how_worn_it_is(tmp_path: Path, life: str, worn: int | None, partition: bool) -> None:
    disk(tmp_path, tmp_path, life, partition=partition)
    assert BoxFacts(tmp_path, tmp_path).of_box().get("worn_percent") == worn


def test_what_no_file_says_is_left_out(tmp_path: Path) -> None:
    facts = BoxFacts(tmp_path, tmp_path).of_box()
    assert "memory_mb" not in facts
    assert "worn_percent" not in facts
    assert facts["free_mb"] > 0
    assert BoxFacts(tmp_path / "gone", tmp_path).of_box().get("free_mb") is None


def test_memory_is_what_is_available(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal:  4000000 kB\nMemFree: 1 kB\nMemAvailable:  500000 kB\n")
    assert BoxFacts(tmp_path, tmp_path).of_box()["memory_mb"] == 512


def test_the_model_is_the_one_that_its_manifest_names(tmp_path: Path) -> None:
    facts = BoxFacts(tmp_path).of_box()
    assert facts["model_hash"] == facts["model_named"]
    assert len(facts["model_hash"]) == 64


@pytest.mark.parametrize("network", NETWORKS)
def test_a_network_that_is_gone_or_another_than_its_manifest_names_rings(
    network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NETWORKS:
        (tmp_path / f"{name}.json").write_text(
            json.dumps({"sha256": hashlib.sha256(b"as shipped").hexdigest()})
        )
        (tmp_path / f"{name}.onnx").write_bytes(b"as shipped")
    monkeypatch.setattr("firmware.runtime.host_facts.files", lambda package: tmp_path)
    for held, verdict in ((b"as shipped", "ok"), (b"another", "bad"), (None, "bad")):
        if held is None:
            (tmp_path / f"{network}.onnx").unlink()
        else:
            (tmp_path / f"{network}.onnx").write_bytes(held)
        checks = {check.name: check.verdict for check in judge(Facts.from_json(BoxFacts(tmp_path).of_box()))}
        assert checks["model"] == verdict


def test_a_disk_without_room_rings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for left, verdict in ((5_000_000_000, "ok"), (500_000_000, "look"), (5_000_000, "bad")):
        monkeypatch.setattr("firmware.runtime.host_facts.free_bytes", lambda _, left=left: left)
        checks = {check.name: check.verdict for check in judge(Facts.from_json(BoxFacts(tmp_path).of_box()))}
        assert checks["room"] == verdict


def test_devices_and_the_last_picture_are_told(tmp_path: Path) -> None:
    box = BoxFacts(tmp_path, tmp_path)
    assert "picture" not in box.of_table(Hardware(), None)
    box.on_answer(JobDone(1, {"verdicts": {"markers": {"ok": True}, "light": {"ok": True}}}))
    box.on_answer(ReadingDone(2, {"verdicts": {"light": {"ok": False}}}))
    box.on_answer(ReadingDone(3, {"verdicts": {}}))
    puck = PuckReading(PuckState.SEAT, 1, "", frozenset({1, 2, 4, 5}), 0.0)
    facts = box.of_table(Hardware(), puck)
    assert facts["picture"] == {"markers": {"ok": True}, "light": {"ok": False}}, "the newest of each"
    assert (facts["readers_ok"], facts["readers"]) == (4, 5)
    assert (facts["celsius"], facts["weak"], "was_weak" in facts) == (61.5, False, False)
    assert facts["buttons"] is True
    assert "camera_settings" not in facts
    box.on_answer(ReaderState("", (TakenSetting("gain", "4.4", "8"),)))
    told = box.of_table(Hardware(), puck)["camera_settings"]
    assert told == [{"name": "gain", "asked": "4.4", "took": "8"}]


def test_one_reader_of_one_spot_is_whole(tmp_path: Path) -> None:
    puck = PuckReading(PuckState.SEAT, 3, "", frozenset({3}), 0.0)
    facts = BoxFacts(tmp_path, tmp_path).of_table(Hardware(), puck)
    assert (facts["readers_ok"], facts["readers"]) == (1, 1)


def test_the_pis_sensors_are_told_as_far_as_they_speak() -> None:
    assert facts_of_pi(PowerReading(None, None, None, 55.5)) == {"celsius": 55.5}
    assert facts_of_pi(PowerReading(False, True, None, None)) == {"weak": False, "was_weak": True}


@pytest.mark.parametrize("manifest", ["", "{}", "[]"])
def test_a_broken_manifest_says_nothing_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manifest: str
) -> None:
    (tmp_path / "reader.json").write_text(manifest)
    monkeypatch.setattr("firmware.runtime.host_facts.files", lambda _: tmp_path)
    assert not {"model_hash", "model_named"} & BoxFacts(tmp_path).of_box().keys()
