"""Attacks by what looks like an update: each is refused, and each would succeed without its defence."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from tuf.api import metadata as tuf_metadata

from firmware.update import files, install, release
from firmware.update.files import copy_plain
from firmware.update.release import MAKER, TARGETS, change_key, lay_metadata, sign_again
from tests.firmware.update.rig import HERE, LATER, NEW, NOW, Box, Maker, at, forget, pack

DAY: Final = 86_400
REPOSITORY: Final = Path(__file__).parents[2]
SMALL_DISK: Final = 200_000_000


def no_signature_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuf_metadata.Root, "verify_delegate", lambda *_: None)


def test_what_another_key_signed_is_refused(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = Maker(tmp_path / "forger").sign(LATER)
    box.refuses(forged, "It was not signed by the maker")
    no_signature_counts(monkeypatch)
    box.takes(forged, LATER)


def test_without_metadata_nothing_is_taken(box: Box, new: Path) -> None:
    for name in ("timestamp.json", "snapshot.json", "targets.json"):
        kept = (new / MAKER / name).read_bytes()
        (new / MAKER / name).unlink()
        box.refuses(new, "what the maker signs is missing")
        (new / MAKER / name).write_bytes(kept)
    shutil.rmtree(new / MAKER)
    box.refuses(new, "has no folder maker/")


def test_an_altered_archive_is_refused(box: Box, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = new / TARGETS / f"{NEW}.tar.gz"
    signed = files.sha256_of(archive)
    pack(archive, NEW, 'touch "$(dirname "$0")/../../ran-evil"')
    box.refuses(new, "is missing, or not what the maker signed")
    archive.unlink()
    box.refuses(new, "is missing, or not what the maker signed")
    pack(archive, NEW, 'touch "$(dirname "$0")/../../ran-evil"')

    def believes(source: Path, to: Path, size: int) -> str:
        copy_plain(source, to, size)
        return signed

    monkeypatch.setattr(install, "copy_plain", believes)
    monkeypatch.setattr(files, "_pieces", lambda file, _size: iter([file.read()]))
    box.takes(new, "evil")


def test_metadata_that_is_none_is_refused_in_a_sentence(box: Box, new: Path) -> None:
    shutil.copytree(new / MAKER, kept := new.parent / "kept")
    for name in ("timestamp.json", "snapshot.json", "targets.json", "2.root.json"):
        for data in (
            b"",
            b"{}",
            b"[]",
            b"\xff\xfe",
            b"[" * 100_000,
            b'{"signed": {"_type": "timestamp"}, "signatures": []}',
        ):
            shutil.rmtree(new / MAKER)
            shutil.copytree(kept, new / MAKER)
            (new / MAKER / name).write_bytes(data)
            box.refuses(new, "It was not signed by the maker")


@pytest.mark.parametrize("name", ["timestamp.json", "snapshot.json", "targets.json"])
def test_a_word_of_the_metadata_that_was_changed_is_seen(
    box: Box, new: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = new / MAKER / name
    told = json.loads(path.read_text())
    told["signed"]["expires"] = "2099-01-01T00:00:00Z"
    path.write_text(json.dumps(told))
    box.refuses(new, "It was not signed by the maker")
    no_signature_counts(monkeypatch)
    box.takes(new, NEW)


def test_one_file_of_the_maker_in_the_place_of_another_is_refused(box: Box, new: Path) -> None:
    for name, other in (("snapshot.json", "targets.json"), ("timestamp.json", "snapshot.json")):
        kept = (new / MAKER / name).read_bytes()
        shutil.copy(new / MAKER / other, new / MAKER / name)
        box.refuses(new, "It was not signed by the maker")
        (new / MAKER / name).write_bytes(kept)


@pytest.mark.parametrize("name", ["snapshot.json", "targets.json"])
def test_files_of_two_states_are_not_mixed(box: Box, maker: Maker, new: Path, name: str) -> None:
    """Each was signed by the maker; together they were not."""
    later = maker.sign(LATER, NOW + 1)
    kept = (later / MAKER / name).read_bytes()
    shutil.copy(new / MAKER / name, later / MAKER / name)
    box.refuses(later, "It is older than what the maker signed")
    (later / MAKER / name).write_bytes(kept)
    box.takes(later, LATER)


def test_an_older_state_than_was_seen_is_refused_and_so_is_its_release(
    box: Box, maker: Maker, new: Path
) -> None:
    """A replay of all that was rightly signed: what it opens is known since. Two defences, each alone is enough."""
    later = maker.sign(LATER, NOW + 1)
    box.takes(later, LATER)
    box.refuses(new, "It is older than what the maker signed and was seen here before")
    forget(box, "timestamp.json", "snapshot.json", "targets.json")
    box.refuses(
        new, f"Release {NEW} of 2025-10-09 08:53 is older than one that ran here, of 2025-10-09 08:53"
    )
    forget(box, "timestamp.json", "snapshot.json", "targets.json", "started")
    box.takes(new, NEW)


def test_after_a_rollback_an_older_release_is_refused_although_it_was_signed_last(
    box: Box, maker: Maker, new: Path, tmp_path: Path
) -> None:
    box.takes(new, NEW)
    box.takes(maker.sign(LATER, NOW + 2 * DAY), LATER)
    between = maker.sign("1.0.5-between", NOW + DAY)
    digest = files.sha256_of(between / TARGETS / "1.0.5-between.tar.gz")
    box.refuses(between, "is older than one that ran here", "--release", digest)  # whichever runs now
    forget(box, "started")
    box.takes(between, "1.0.5-between", "--release", digest)


def test_the_release_of_the_first_installation_counts_too(box: Box, maker: Maker, new: Path) -> None:
    """Nothing was ever updated: what runs, and what ran before it, say of themselves when they were made."""
    for name in ("current", "previous"):
        (box.base / name).mkdir()
        (box.base / name / "MADE").write_text(f"{NOW + 1}\n")
        box.refuses(new, "is older than one that ran here")
        shutil.rmtree(box.base / name)
    box.takes(new, NEW)


def test_a_release_for_another_machine_is_refused(box: Box, maker: Maker, tmp_path: Path) -> None:
    elsewhere = Maker(tmp_path / "elsewhere")
    for_another = elsewhere.sign(NEW, machine="riscv64")
    of_elsewhere = Box(tmp_path / "other", elsewhere.root)
    of_elsewhere.refuses(for_another, f"no release for this machine ({HERE}) among them, only for: riscv64")
    digest = files.sha256_of(for_another / TARGETS / f"{NEW}.tar.gz")
    of_elsewhere.refuses(for_another, "no release for this machine", "--release", digest)
    of_elsewhere.refuses(for_another, "The maker names no release with this SHA-256", "--release", "0" * 64)
    of_elsewhere.refuses(for_another, "--machine is for --check", "--machine", "riscv64")
    assert of_elsewhere.update(for_another, "--check", "--machine", "riscv64").exit_code == 0


def test_what_has_expired_is_refused_until_it_is_signed_again(
    box: Box, maker: Maker, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(release, "LASTS", timedelta(days=-1))
        expired = maker.sign(LATER, NOW + 1)
    box.refuses(expired, "What the maker signed has expired")
    with monkeypatch.context() as patch:
        for kind in (tuf_metadata.Timestamp, tuf_metadata.Snapshot, tuf_metadata.Targets):
            patch.setattr(kind, "is_expired", lambda *_: False)
        box.takes(expired, LATER)
    sign_again(maker.key_folder)
    lay_metadata(maker.key_folder, expired)
    box.takes(expired, LATER)


def test_a_clock_that_was_set_back_lets_no_older_state_in(
    box: Box, maker: Maker, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What expired is good again then: that is NOT DEFENDED. What is older than seen, and older than ran, stays out."""
    box.takes(maker.sign(LATER, NOW + 1), LATER)
    at(monkeypatch, datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC))
    box.refuses(new, "It is older than what the maker signed")
    forget(box, "timestamp.json", "snapshot.json", "targets.json")
    box.refuses(new, "is older than one that ran here")


def test_a_new_key_is_followed_and_the_one_before_counts_no_more(
    box: Box, maker: Maker, new: Path, tmp_path: Path
) -> None:
    box.takes(new, NEW)
    change_key(maker.key_folder, tmp_path / "new-key")
    thief = Maker(tmp_path / "thief")
    shutil.copytree(maker.key_folder, thief.key_folder)
    maker.key_folder = tmp_path / "new-key"
    later = maker.sign(LATER, NOW + 1)
    kept = (later / MAKER / "2.root.json").read_bytes()
    (later / MAKER / "2.root.json").unlink()
    box.refuses(later, "It was not signed by the maker")  # nobody handed over
    (later / MAKER / "2.root.json").write_bytes(kept)
    box.takes(later, LATER)
    box.refuses(thief.sign("9.0.0-stolen", NOW + DAY), "It was not signed by the maker")
    fresh = Box(tmp_path / "fresh", maker.root)
    fresh.takes(later, LATER)


def test_a_key_that_the_one_before_did_not_sign_is_not_followed(
    box: Box, maker: Maker, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forger = Maker(tmp_path / "forger")
    forger.sign(NEW)
    change_key(forger.key_folder, tmp_path / "forged")
    forger.key_folder = tmp_path / "forged"
    forged = forger.sign(LATER, NOW + 1)
    box.refuses(forged, "It was not signed by the maker")
    no_signature_counts(monkeypatch)
    box.takes(forged, LATER)


def look(folder: Path, trusted: bool, runs: bool, verified: str, known: bool) -> tuple[int, str]:
    """Ask the installer whether it begins, on a box in this state."""
    text = (REPOSITORY / "systemd/releases.sh").read_text()
    first_look = text[text.index("bad_input() {") : text.index("failed() {")]
    first_look += text[text.index("preflight_release() {") : text.index("    command -v python3")] + "}\n"
    here = folder / "here"
    for made in (here / "wheels", here / "system", folder / "box/current", folder / "box/releases/x"):
        made.mkdir(parents=True)
    (here / "RELEASE").write_text("x\n")
    for wanted, path in (
        (trusted, "root.json"),
        (runs, "box/current/root.json"),
        (known, "box/releases/x/complete"),
    ):
        if wanted:
            (folder / path).touch()
    begin = f"base={folder}/box; releases=$base/releases; trusted={folder}/root.json\n"
    done = subprocess.run(
        ["bash", "-c", f"{begin}{first_look}\npreflight_release {here}\nexit 0"],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "FELTWATCH_VERIFIED": verified},
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("trusted", "runs", "verified", "known", "code"),
    [
        (True, True, "", False, 2),  # an upgrade by ./install
        (True, True, "yes", False, 0),  # by feltwatch update
        (True, True, "", True, 0),  # the one that runs, once more
        (False, False, "", False, 0),  # the first
        (True, False, "", False, 0),  # on one of 0.2.0, which can verify none of these
        (False, True, "", False, 0),  # a maker is to be trusted again: its root was taken away by root
    ],
)
def test_the_installer_upgrades_only_what_was_verified(
    tmp_path: Path, trusted: bool, runs: bool, verified: str, known: bool, code: int
) -> None:
    found, said = look(tmp_path, trusted, runs, verified, known)
    assert (found, "sudo feltwatch update FOLDER" in said) == (code, code == 2), said
