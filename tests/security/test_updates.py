"""Attacks by a package that looks like an update."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware import release_package
from firmware.cli.main import main
from firmware.record.evidence.signing import DeviceKey
from firmware.release_package import MANIFEST, SIGNATURE, UpdateRefused, check, sign, unpack

NOW, BEFORE = 1_760_000_000, 1_750_000_000
INSTALL = Path(__file__).parents[2] / "systemd/releases.sh"


@pytest.fixture
def key(tmp_path: Path) -> DeviceKey:
    return DeviceKey.open(tmp_path / "key")


def package(folder: Path, key: DeviceKey, made: int = NOW) -> Path:
    """A package as `make release` lays it out."""
    (folder / "wheels").mkdir(parents=True)
    (folder / "wheels/feltwatch-1.whl").write_bytes(b"a wheel")
    (folder / "install").write_text("#!/bin/sh\n")
    (folder / "install").chmod(0o755)
    (folder / "RELEASE").write_text("1.0-abc\n")
    sign(folder, key, made)
    return folder


def running(folder: Path, key: DeviceKey) -> Path:
    package(folder, key)
    return folder


def test_what_the_release_key_signed_is_taken(tmp_path: Path, key: DeviceKey) -> None:
    now = running(tmp_path / "now", key)
    assert check(package(tmp_path / "later", key, NOW + 1), key.public, now).name == "1.0-abc"
    assert check(now, key.public, now).made == NOW, "the same one again"


def test_an_unsigned_package_is_refused(
    tmp_path: Path, key: DeviceKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = package(tmp_path / "it", key)
    (it / SIGNATURE).unlink()
    with pytest.raises(UpdateRefused, match="not signed"):
        check(it, key.public)
    monkeypatch.setattr(release_package, "_signed", lambda folder, _: release_package._read_release(folder))
    assert check(it, key.public).name == "1.0-abc"


def test_a_package_of_another_key_is_refused(
    tmp_path: Path, key: DeviceKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = package(tmp_path / "forged", DeviceKey.open(tmp_path / "forger"))
    with pytest.raises(UpdateRefused, match="was not signed by the release key of this box"):
        check(forged, key.public)
    monkeypatch.setattr(release_package, "signed_by", lambda *_: True)
    assert check(forged, key.public).name == "1.0-abc"


@pytest.mark.parametrize("how", ["changed", "added", "taken", "linked", "manifest"])
def test_an_altered_package_is_refused(
    tmp_path: Path, key: DeviceKey, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = package(tmp_path / "it", key)
    wheel = it / "wheels/feltwatch-1.whl"
    match how:
        case "changed":
            wheel.write_bytes(b"A wheel")
        case "added":
            (it / "wheels/evil-1.whl").write_bytes(b"another")
        case "taken":
            wheel.unlink()
        case "linked":
            wheel.rename(tmp_path / "elsewhere.whl")
            wheel.symlink_to(tmp_path / "elsewhere.whl")
        case _:
            told = json.loads((it / MANIFEST).read_text()) | {"made": NOW + 100}
            (it / MANIFEST).write_text(json.dumps(told))
    with pytest.raises(UpdateRefused):
        check(it, key.public)
    told = json.loads((it / MANIFEST).read_text())["files"]
    match how:
        case "changed":
            monkeypatch.setattr(release_package, "_hash", lambda path: told[str(path.relative_to(it))])
        case "manifest":
            monkeypatch.setattr(release_package, "signed_by", lambda *_: True)
        case "added" | "linked":
            monkeypatch.setattr(release_package, "_files", lambda _: iter(told))
        case _:
            monkeypatch.setattr(release_package, "_files", lambda _: iter(told))
            monkeypatch.setattr(release_package, "_has_its_mode", lambda *_: True)
            monkeypatch.setattr(release_package, "_hash", lambda path: told[str(path.relative_to(it))])
    assert check(it, key.public).name == "1.0-abc"


def test_without_the_hashes_a_changed_wheel_is_taken(
    tmp_path: Path, key: DeviceKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = package(tmp_path / "it", key)
    (it / "wheels/feltwatch-1.whl").write_bytes(b"A wheel")
    told = json.loads((it / MANIFEST).read_text())["files"]
    monkeypatch.setattr(release_package, "_hash", lambda path: told[str(path.relative_to(it))])
    assert check(it, key.public)


def test_an_old_package_that_was_signed_once_is_refused(
    tmp_path: Path, key: DeviceKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay: what it opens is known since."""
    now, old = running(tmp_path / "now", key), package(tmp_path / "old", key, BEFORE)
    with pytest.raises(UpdateRefused, match="older"):
        check(old, key.public, now)
    assert check(old, key.public).made == BEFORE, "without the release that runs to compare with"


def test_a_package_whose_files_have_other_modes_is_refused(
    tmp_path: Path, key: DeviceKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others may change is what they like once root has unpacked it; a program that is none does not run."""
    it = package(tmp_path / "it", key)
    for name, mode in (("install", 0o644), ("RELEASE", 0o755), ("RELEASE", 0o666), ("install", 0o4755)):
        kept = (it / name).stat().st_mode
        (it / name).chmod(mode)
        with pytest.raises(UpdateRefused, match=f"{name} has not the mode that was signed"):
            check(it, key.public)
        (it / name).chmod(kept)
    (it / "install").chmod(0o700)
    assert check(it, key.public).programs == {"install"}, "a umask may take more away"
    (it / "install").chmod(0o777)
    monkeypatch.setattr(release_package, "_has_its_mode", lambda *_: True)
    assert check(it, key.public).name == "1.0-abc"


def test_an_archive_whose_files_others_may_change_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = tarfile.TarInfo("feltwatch/install")
    member.mode = 0o777
    it = archive(tmp_path / "it.tar.gz", (member, b"x"))
    with pytest.raises(UpdateRefused, match="others may change"):
        unpack(it, tmp_path / "out")
    monkeypatch.setattr(release_package, "PROGRAM_MODE", 0o777)
    assert (unpack(it, tmp_path / "out2") / "install").exists()


def test_a_path_of_thousands_of_folders_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tarfile.TarInfo("/".join(["feltwatch", *["d"] * 2000, "file"]))
    it = archive(tmp_path / "it.tar.gz", (deep, b"x"))
    with pytest.raises(UpdateRefused, match="in one another without end"):
        unpack(it, tmp_path / "out")
    monkeypatch.setattr(release_package, "MOST_DEEP", 1 << 20)
    with pytest.raises((RecursionError, UpdateRefused)) as met:
        unpack(it, tmp_path / "out2")
    assert "in one another" not in str(met.value)


def archive(out: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(out, "w:gz") as packed:
        for info, data in members:
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
    return out


def link(name: str, to: str) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, to
    return info, b""


def test_an_archive_that_reaches_out_of_its_folder_is_refused(
    tmp_path: Path, key: DeviceKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    for member in (link("r/l", "/etc"), (tarfile.TarInfo("../evil"), b"x"), (tarfile.TarInfo("/evil"), b"x")):
        with pytest.raises(UpdateRefused):
            unpack(archive(tmp_path / "a.tar.gz", member), tmp_path / "to")
    assert not (tmp_path / "evil").exists()
    monkeypatch.setattr(release_package, "_stays_inside", lambda _: True)
    monkeypatch.setattr(tarfile, "data_filter", tarfile.fully_trusted_filter)
    (tmp_path / "to").mkdir(exist_ok=True)
    escape = archive(tmp_path / "a.tar.gz", (tarfile.TarInfo("../evil"), b"x"))
    with pytest.raises(UpdateRefused, match="more than one folder"):
        unpack(escape, tmp_path / "to")
    assert (tmp_path / "evil").exists()


def test_an_archive_that_unpacks_to_gigabytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = archive(tmp_path / "bomb.tar.gz", (tarfile.TarInfo("r/zeros"), bytes(5_000_000)))
    assert bomb.stat().st_size < 10_000
    monkeypatch.setattr(release_package, "MOST_BYTES", 1_000_000)
    with pytest.raises(UpdateRefused, match="size"):
        unpack(bomb, tmp_path / "to")
    monkeypatch.setattr(release_package, "MOST_BYTES", 10_000_000)
    assert (unpack(bomb, tmp_path / "to") / "zeros").stat().st_size == 5_000_000


def test_an_archive_that_says_terabytes_is_refused_before_they_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes after it is found only by unpacking all that it has: hours, where it has as much as it says."""
    says = tarfile.TarInfo("r/zeros")
    says.size = 5 << 40
    bomb = tmp_path / "bomb.tar.gz"
    bomb.write_bytes(gzip.compress(says.tobuf() + bytes(1024)))
    with pytest.raises(UpdateRefused, match="not of the size"):
        unpack(bomb, tmp_path / "to")
    monkeypatch.setattr(release_package, "MOST_BYTES", 1 << 50)
    with pytest.raises(UpdateRefused, match="no whole release"):
        unpack(bomb, tmp_path / "to")


def test_a_header_of_gigabytes_is_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tarfile.TarInfo("r/file")
    long.pax_headers = {"comment": "x" * 5_000_000}
    bomb = archive(tmp_path / "bomb.tar.gz", (long, b"x"))
    assert bomb.stat().st_size < 20_000
    with pytest.raises(UpdateRefused, match="a part of it is too long"):
        unpack(bomb, tmp_path / "to")
    monkeypatch.setattr(release_package, "MOST_AT_ONCE", 1 << 40)
    assert (unpack(bomb, tmp_path / "to") / "file").read_bytes() == b"x"


def test_a_pipe_in_the_place_of_a_package_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []

    def read(archive: Path) -> None:
        opened.append(archive)
        raise tarfile.ReadError

    os.mkfifo(tmp_path / "a.tar.gz")
    monkeypatch.setattr(release_package, "_Piecewise", read)
    with pytest.raises(UpdateRefused, match="no plain file"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "to")
    assert opened == []
    monkeypatch.setattr(Path, "is_file", lambda _: True)
    with pytest.raises(UpdateRefused, match="no whole release"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "to")
    assert len(opened) == 1


def test_the_command_says_what_it_refuses_and_changes_nothing(tmp_path: Path, key: DeviceKey) -> None:
    it = package(tmp_path / "it", key)
    public = tmp_path / "release.pub"
    public.write_text(key.public.hex())
    arguments = ["--check", "--key", str(public), "--running", str(tmp_path / "none")]
    assert CliRunner().invoke(main, ["update", str(it), *arguments]).exit_code == 0
    (it / "install").write_text("#!/bin/sh\nrm -rf /\n")
    refused = CliRunner().invoke(main, ["update", str(it), *arguments])
    assert refused.exit_code == 2
    assert "altered: install" in refused.output
    shutil.rmtree(it)
    assert CliRunner().invoke(main, ["update", str(public), *arguments]).exit_code == 2, "no archive at all"


def test_what_is_no_archive_is_refused_in_one_sentence_and_who_may_not_is_told_to_be_root(
    tmp_path: Path, key: DeviceKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted = tmp_path / "release.pub"
    trusted.write_text(key.public.hex() + "\n")
    for held in (b"no archive at all", b""):
        (tmp_path / "package.tar.gz").write_bytes(held)
        done = CliRunner().invoke(main, ["update", str(tmp_path / "package.tar.gz"), "--key", str(trusted)])
        assert (done.exit_code, len(done.stderr.split("Error: ")[1].splitlines())) == (2, 1), done.stderr

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryDirectory", refused)
    done = CliRunner().invoke(main, ["update", str(tmp_path / "package.tar.gz"), "--key", str(trusted)])
    assert (done.exit_code, "This needs root: sudo feltwatch update" in done.stderr) == (1, True)


def test_the_installer_asks_the_release_that_runs_before_it_touches_anything(tmp_path: Path) -> None:
    """The installer's own first look, with a release that runs and refuses."""
    text = INSTALL.read_text()
    look = text[text.index("preflight_release() {") : text.index("existing() {")]
    box = tmp_path / "box"
    program = box / "current/bin/feltwatch"
    program.parent.mkdir(parents=True)
    here = tmp_path / "here"
    for folder in ("wheels", "system"):
        (here / folder).mkdir(parents=True)
    (here / "RELEASE").write_text("x")
    begin = f"base={box}; releases={box}/releases; bad_input() {{ exit 3; }}"
    lines = f"{begin}\n{look}\npreflight_release {here}"
    program.write_text("#!/bin/sh\nexit 2\n")
    program.chmod(0o755)
    assert subprocess.run(["bash", "-c", lines], check=False).returncode == 2
    assert not (box / "releases").exists()
    program.unlink()
    told = subprocess.run(["bash", "-c", lines], check=False, capture_output=True)
    assert told.returncode != 2, "without a release that runs nobody is asked"
