"""Attacks by what looks like an update: each is refused, and each would succeed without its defence."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest
from tuf.api import metadata as tuf_metadata
from tuf.ngclient import UpdaterConfig
from tuf.ngclient._internal import trusted_metadata_set

from firmware.update import files, install, release, trust
from firmware.update.files import copy_plain
from firmware.update.release import MAKER, TARGETS, change_key, lay_metadata, sign_again, sign_release
from tests.firmware.update.rig import HERE, NOW, Box, Maker, pack
from tests.waiting import until

OLD, NEW, LATER = "0.9.0-old", "1.0.0-new", "1.1.0-later"
DAY: Final = 86_400
REPOSITORY: Final = Path(__file__).parents[2]
SMALL_DISK: Final = 200_000_000


@pytest.fixture
def maker(tmp_path: Path) -> Maker:
    return Maker(tmp_path / "maker")


@pytest.fixture
def new(maker: Maker) -> Path:
    return maker.sign(NEW)


@pytest.fixture
def box(tmp_path: Path, maker: Maker, new: Path) -> Box:
    return Box(tmp_path / "box", maker.root)


def no_signature_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuf_metadata.Root, "verify_delegate", lambda *_: None)


def forget(box: Box, *names: str) -> None:
    for name in names:
        (box.base / install.TRUSTED / name).unlink()


def at(monkeypatch: pytest.MonkeyPatch, moment: datetime.datetime) -> None:
    """Set the clock of whoever verifies."""
    now = SimpleNamespace(now=lambda _zone: moment)
    monkeypatch.setattr(
        trusted_metadata_set, "datetime", SimpleNamespace(datetime=now, timezone=datetime.timezone)
    )
    monkeypatch.setattr(trust, "datetime", now)


# ---- who signed it


def test_what_the_maker_signed_is_installed(box: Box, new: Path) -> None:
    done = box.update(new)
    assert (done.exit_code, box.ran()) == (0, {NEW}), done.output
    assert f"Release {NEW} for {HERE} is whole, and signed by " in done.output
    assert list(box.base.glob(".update-*")) == []
    box.takes(new, NEW)  # the same once more


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


@pytest.mark.parametrize("name", ["timestamp.json", "snapshot.json", "targets.json", "2.root.json"])
@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"signed": {"_type": "timestamp"}, "signatures": []}'],
    ids=["empty", "object", "list", "binary", "deep", "unsigned"],
)
def test_metadata_that_is_none_is_refused_in_a_sentence(box: Box, new: Path, name: str, data: bytes) -> None:
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


# ---- older states and older releases


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


def test_a_release_that_did_not_start_well_does_not_shut_out_the_ones_before(
    box: Box, maker: Maker, new: Path
) -> None:
    box.takes(new, NEW)
    bad = maker.sign("1.1.0-bad", NOW + DAY, script="exit 1")
    assert box.update(bad).exit_code == 1
    repaired = maker.sign("1.0.1-repaired", NOW + 1)
    digest = files.sha256_of(repaired / TARGETS / "1.0.1-repaired.tar.gz")
    box.takes(repaired, "1.0.1-repaired", "--release", digest)


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


def test_a_clock_that_is_wrong_is_named_in_the_refusal(
    box: Box, maker: Maker, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, datetime.datetime(2060, 1, 1, tzinfo=datetime.UTC))
    box.refuses(new, "has expired: here it is 2060-01-01. Get it anew, or set the clock.")


def test_a_clock_that_was_set_back_lets_no_older_state_in(
    box: Box, maker: Maker, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What expired is good again then: that is NOT DEFENDED. What is older than seen, and older than ran, stays out."""
    box.takes(maker.sign(LATER, NOW + 1), LATER)
    at(monkeypatch, datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC))
    box.refuses(new, "It is older than what the maker signed")
    forget(box, "timestamp.json", "snapshot.json", "targets.json")
    box.refuses(new, "is older than one that ran here")


# ---- keys


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


def test_a_key_folder_of_another_maker_is_not_gone_on_with(maker: Maker, new: Path, tmp_path: Path) -> None:
    shutil.copytree(maker.key_folder / MAKER, tmp_path / "mixed" / MAKER)
    with pytest.raises(trust.UpdateRefused, match="signed by another key"):
        sign_release(
            new / TARGETS / f"{NEW}.tar.gz", tmp_path / "out", tmp_path / "mixed", made=NOW, machine=HERE
        )
    with pytest.raises(trust.UpdateRefused, match="is there already"):
        change_key(maker.key_folder, tmp_path / "mixed")


# ---- what has no end, and what is no file


@pytest.mark.parametrize(
    ("name", "limit"),
    [("timestamp.json", "timestamp"), ("snapshot.json", "snapshot"), ("targets.json", "targets")],
)
def test_metadata_longer_than_any_is_refused_although_its_signature_is_right(
    box: Box, new: Path, name: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spaces are not signed: without a limit it would be read to its end, which may be none."""
    path = new / MAKER / name
    most = getattr(UpdaterConfig(), f"{limit}_max_length")
    path.write_bytes(path.read_bytes() + b" " * most)
    box.refuses(new, "It was not signed by the maker")
    monkeypatch.setattr(
        trust, "UpdaterConfig", lambda **_: UpdaterConfig(**{f"{limit}_max_length": 3 * most})
    )
    box.takes(new, NEW)


def test_metadata_without_end_is_not_read_to_its_end(box: Box, new: Path) -> None:
    with (new / MAKER / "timestamp.json").open("r+b") as file:
        file.truncate(1 << 40)
    box.refuses(new, "It was not signed by the maker")


def test_no_byte_more_than_was_signed_is_copied(
    box: Box, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = new / TARGETS / f"{NEW}.tar.gz"
    size = archive.stat().st_size
    copied = []

    def copy(source: Path, to: Path, most: int) -> str:
        digest = copy_plain(source, to, most)
        copied.append(to.stat().st_size)
        return digest

    monkeypatch.setattr(install, "copy_plain", copy)
    with archive.open("r+b") as file:
        file.truncate(1 << 40)
    box.refuses(new, "is missing, or not what the maker signed")
    assert copied == [size + 1]
    with archive.open("r+b") as file:
        file.truncate(5_000_000)
    monkeypatch.setattr(files, "_pieces", lambda file, _size: iter([file.read()]))
    box.refuses(new, "is missing, or not what the maker signed")
    assert copied[1:] == [5_000_000], "without the limit"


@pytest.mark.parametrize(
    "where", [f"{TARGETS}/{NEW}.tar.gz", f"{MAKER}/timestamp.json", f"{MAKER}/2.root.json"]
)
def test_a_pipe_holds_nobody_up(box: Box, new: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = new / where
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    done = box.update(new)
    assert (done.exit_code, "is no plain file" in done.stderr) == (1, True), done.output
    assert box.ran() == set()
    for module in (files, trust):
        monkeypatch.setattr(module, "open_plain", lambda path: path.open("rb"), raising=False)
    waits = threading.Thread(target=box.update, args=(new,), daemon=True)
    waits.start()
    until(lambda: _somebody_reads(pipe))  # root's program waits
    pipe.unlink()
    waits.join()


def _somebody_reads(pipe: Path) -> bool:
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def test_a_pipe_that_takes_the_archives_place_between_check_and_copy_holds_nobody_up(
    box: Box, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = new / TARGETS / f"{NEW}.tar.gz"

    def swapped(base: Path, one: install.Release) -> None:
        archive.unlink()
        os.mkfifo(archive)

    monkeypatch.setattr(install, "check_room", swapped)
    done = box.update(new)
    assert (done.exit_code, "is no plain file" in done.stderr) == (1, True), done.output


def test_what_changes_after_it_was_copied_changes_nothing(
    box: Box, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = new / TARGETS / f"{NEW}.tar.gz"

    def copy(source: Path, to: Path, size: int) -> str:
        digest = copy_plain(source, to, size)
        pack(archive, NEW, 'touch "$(dirname "$0")/../../ran-evil"')
        return digest

    monkeypatch.setattr(install, "copy_plain", copy)
    box.takes(new, NEW)
    assert "evil" not in box.ran()


def test_a_link_to_what_only_root_may_read_is_not_followed(box: Box, new: Path, tmp_path: Path) -> None:
    archive = new / TARGETS / f"{NEW}.tar.gz"
    archive.rename(tmp_path / "elsewhere")
    archive.symlink_to(tmp_path / "elsewhere")
    done = box.update(new)
    assert (done.exit_code, box.ran()) == (1, set()), done.output


# ---- the disk


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 200 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def free(disk: Path) -> int:
    left = os.statvfs(disk)
    return left.f_bavail * left.f_frsize


def test_a_disk_without_room_is_left_as_it_is(
    tmp_path: Path, small: Path, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Little to copy, 300 MB when unpacked: the maker says so, and signs it."""
    archive = pack(tmp_path / f"{NEW}.tar.gz", NEW, more={"zeros": bytes(300_000_000)})
    assert archive.stat().st_size < 2_000_000
    sign_release(archive, tmp_path / "it", maker.key_folder, made=NOW, machine=HERE)
    box = Box(small / "box", maker.root)
    before, least = free(small), [SMALL_DISK]
    box.refuses(tmp_path / "it", "Make room first. Nothing was changed.")
    assert before - free(small) < 200_000, "its metadata alone was kept"

    def unpack(path: Path, one: install.Release) -> Path:
        try:
            return real(path, one)
        finally:
            least.append(free(small))

    real = install.unpack
    monkeypatch.setattr(install, "unpack", unpack)
    monkeypatch.setattr(install, "check_room", lambda *_: None)
    box.refuses(tmp_path / "it", "cannot be unpacked")
    assert min(least) < 1_000_000, "the disk was full"


def test_nothing_that_the_maker_did_not_sign_is_unpacked(
    tmp_path: Path, small: Path, maker: Maker, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the review did: signed words first, then zeros without end."""
    archive = pack(new / TARGETS / f"{NEW}.tar.gz", NEW, more={"zeros": bytes(300_000_000)})
    assert archive.stat().st_size < 2_000_000
    box = Box(small / "box", maker.root)
    monkeypatch.setattr(install, "ROOM", 0)
    unpacked: list[object] = []
    monkeypatch.setattr(install, "unpack", lambda *given: unpacked.append(given))
    box.refuses(new, "is missing, or not what the maker signed")
    assert unpacked == []


def test_the_installers_reserve_is_what_the_installers_want() -> None:
    for script in ("systemd/install", "systemd/pit/install"):
        assert f"\nroom_mb={install.ROOM // 1_000_000}" in (REPOSITORY / script).read_text()


# ---- what is unpacked


def signed_with(maker: Maker, into: Path, archive: Path, name: str) -> Path:
    """Sign what is no release, or another than is said."""
    sign_release(archive, into, maker.key_folder, made=NOW + 1, machine=HERE, name=name)
    return into


def test_an_archive_that_holds_another_release_than_was_named_is_refused(
    box: Box, maker: Maker, tmp_path: Path
) -> None:
    it = signed_with(maker, tmp_path / "it", pack(tmp_path / "it.tar.gz", OLD), LATER)
    box.refuses(it, f"it.tar.gz does not hold release {LATER}")
    box.takes(signed_with(maker, tmp_path / "it", tmp_path / "it.tar.gz", OLD), OLD)


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


@pytest.mark.skipif(not hasattr(tarfile, "data_filter"), reason="this Python's tarfile has no filters")
def test_even_a_signed_archive_writes_nowhere_else(
    box: Box, maker: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = pack(tmp_path / "it.tar.gz", LATER, more={"../../evil": b"x"})
    it = signed_with(maker, tmp_path / "it", archive, LATER)
    box.refuses(it, "cannot be unpacked")
    assert not (box.base / "evil").exists()
    monkeypatch.setattr(tarfile, "data_filter", tarfile.fully_trusted_filter)
    box.takes(it, LATER)
    assert (box.base / "evil").exists()


# ---- what a person sees


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
        (False, True, "", False, 0),  # a maker is to be trusted anew: its root was taken away by root
    ],
)
def test_the_installer_upgrades_only_what_was_verified(
    tmp_path: Path, trusted: bool, runs: bool, verified: str, known: bool, code: int
) -> None:
    found, said = look(tmp_path, trusted, runs, verified, known)
    assert (found, "sudo feltwatch update FOLDER" in said) == (code, code == 2), said
