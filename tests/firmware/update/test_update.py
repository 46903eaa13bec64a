"""`feltwatch update` as a person gives it, and what it says."""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path
from typing import Final

import pytest

from firmware.update import files, install, trust
from firmware.update.release import MAKER, TARGETS, change_key, sign_release
from tests.firmware.update.rig import HERE, LATER, NEW, NOW, Box, Maker, at, pack, signed_with

DAY: Final = 86_400
REPOSITORY: Final = Path(__file__).parents[3]
SMALL_DISK: Final = 200_000_000


def test_what_the_maker_signed_is_installed(box: Box, new: Path) -> None:
    done = box.update(new)
    assert (done.exit_code, box.ran()) == (0, {NEW}), done.output
    assert f"Release {NEW} for {HERE} is whole, and signed by " in done.output
    assert list(box.base.glob(".update-*")) == []
    box.takes(new, NEW)  # the same once more


def test_a_release_that_did_not_start_well_does_not_shut_out_the_ones_before(
    box: Box, maker: Maker, new: Path
) -> None:
    box.takes(new, NEW)
    bad = maker.sign("1.1.0-bad", NOW + DAY, script="exit 1")
    assert box.update(bad).exit_code == 1
    repaired = maker.sign("1.0.1-repaired", NOW + 1)
    digest = files.sha256_of(repaired / TARGETS / "1.0.1-repaired.tar.gz")
    box.takes(repaired, "1.0.1-repaired", "--release", digest)


def test_a_clock_that_is_wrong_is_named_in_the_refusal(
    box: Box, maker: Maker, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, datetime.datetime(2060, 1, 1, tzinfo=datetime.UTC))
    box.refuses(new, "has expired: here it is 2060-01-01. Get it again, or set the clock.")


def test_a_key_folder_of_another_maker_is_not_gone_on_with(maker: Maker, new: Path, tmp_path: Path) -> None:
    shutil.copytree(maker.key_folder / MAKER, tmp_path / "mixed" / MAKER)
    with pytest.raises(trust.UpdateRefused, match="signed by another key"):
        sign_release(
            new / TARGETS / f"{NEW}.tar.gz", tmp_path / "out", tmp_path / "mixed", made=NOW, machine=HERE
        )
    with pytest.raises(trust.UpdateRefused, match="is there already"):
        change_key(maker.key_folder, tmp_path / "mixed")


def test_the_installers_reserve_is_what_the_installers_want() -> None:
    for script in ("systemd/install", "systemd/pit/install"):
        assert f"\nroom_mb={install.ROOM // 1_000_000}" in (REPOSITORY / script).read_text()


def test_what_is_signed_and_no_release_is_refused_in_a_sentence(
    box: Box, maker: Maker, tmp_path: Path
) -> None:
    for number, data in enumerate((b"", b"no archive", bytes(100_000))):
        (tmp_path / f"{number}.tar.gz").write_bytes(data)
        it = signed_with(maker, tmp_path / f"it{number}", tmp_path / f"{number}.tar.gz", LATER + str(number))
        box.refuses(it, "cannot be unpacked")
    twice = tmp_path / "twice.tar.gz"
    pack(twice, "x", more={"../other": b"a second folder"})
    box.refuses(signed_with(maker, tmp_path / "twice", twice, "9.0.0-twice"), "cannot be unpacked")


def test_a_check_changes_nothing_and_says_what_it_cannot_know(box: Box, maker: Maker, new: Path) -> None:
    done = box.update(new, "--check")
    assert (done.exit_code, list(box.base.iterdir())) == (0, []), done.output
    assert "Whether it is older than what was seen before is not known here." in done.stderr
    box.takes(maker.sign(LATER, NOW + 1), LATER)
    kept = snapshot(box.base)
    box.refuses(new, "It is older than what the maker signed", "--check")
    assert snapshot(box.base) == kept
    shutil.rmtree(box.base)
    assert box.update(new, "--check").exit_code == 0, "on a computer that is no box"


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_cards_image_is_checked_with_what_lies_beside_it(box: Box, maker: Maker, tmp_path: Path) -> None:
    image, parts, it = tmp_path / "card.img", tmp_path / "sbom.json", tmp_path / "card"
    image.write_bytes(b"an image")
    parts.write_text("{}")
    sign_release(image, it, maker.key_folder, made=NOW, machine="card", name="card-1.0", beside=[parts])
    done = box.update(it, "--check", "--machine", "card")
    assert (done.exit_code, "Release card-1.0 for card is whole" in done.output) == (0, True), done.output
    for name in ("card.img", "sbom.json"):
        kept = (it / TARGETS / name).read_bytes()
        (it / TARGETS / name).write_bytes(kept + b" ")
        box.refuses(it, f"{name} is missing, or not what the maker signed", "--check", "--machine", "card")
        (it / TARGETS / name).write_bytes(kept)
    box.refuses(it, "is missing, or not what the maker signed")  # no release for a box lies there


def test_who_may_not_is_told_to_be_root_and_who_has_no_root_what_puts_it_there(
    box: Box, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("tempfile.TemporaryDirectory", refused)
        done = box.update(new)
    assert (done.exit_code, f"This needs root: sudo feltwatch update {new}" in done.stderr) == (1, True)
    box.root.unlink()
    box.refuses(new, "is missing; the first installation puts it there")
