"""A maker with a key, and a box that trusts it: what is carried from one to the other lies in a folder between them."""

from __future__ import annotations

import datetime
import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest
from click.testing import CliRunner, Result
from tuf.ngclient._internal import trusted_metadata_set

from firmware.cli.main import main
from firmware.update import install, metadata
from firmware.update.release import MAKER, TARGETS, sign_release

NOW: Final = 1_760_000_000
OLD: Final = "0.9.0-old"
NEW: Final = "1.0.0-new"
LATER: Final = "1.1.0-later"
HERE: Final = os.uname().machine
RAN: Final = 'touch "$(dirname "$0")/../../ran-$(cat "$(dirname "$0")/RELEASE")"'
"""An installer that leaves a file in the box's folder."""


def pack(
    archive: Path,
    name: str,
    script: str = RAN,
    more: Mapping[str, bytes] | None = None,
    top: str = "feltwatch",
) -> Path:
    """Pack a release of few files, as `make release` lays it out."""
    files = {"RELEASE": name.encode(), "install": f"#!/bin/sh\n{script}\n".encode(), **(more or {})}
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:gz", compresslevel=1) as packed:
        for path, data in files.items():
            info = tarfile.TarInfo(f"{top}/{path}")
            info.size, info.mode = len(data), 0o755 if path == "install" else 0o644
            packed.addfile(info, io.BytesIO(data))
    return archive


class Maker:
    """Signs releases, each into a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.key_folder = folder, folder / "key"

    def sign(self, name: str, made: int = NOW, *, machine: str = HERE, script: str = RAN) -> Path:
        """Return a folder as it is carried to a box, with this release in it."""
        into = self.folder / name
        sign_release(
            pack(into / TARGETS / f"{name}.tar.gz", name, script),
            into,
            self.key_folder,
            made=made,
            machine=machine,
        )
        return into

    @property
    def root(self) -> bytes:
        """The maker's newest root."""
        return (self.key_folder / MAKER / "root.json").read_bytes()


class Box:
    """A machine's folder of releases, and the root of the maker that it trusts."""

    def __init__(self, folder: Path, root: bytes) -> None:
        self.base, self.root = folder / "opt", folder / "root.json"
        self.base.mkdir(parents=True)
        self.root.write_bytes(root)

    def update(self, source: Path, *more: str) -> Result:
        """Run `feltwatch update`."""
        given = ["update", str(source), "--root", str(self.root), "--base", str(self.base), *more]
        return CliRunner().invoke(main, given)

    def ran(self) -> set[str]:
        """The releases whose installers were run."""
        return {path.name.removeprefix("ran-") for path in self.base.glob("ran-*")}

    def refuses(self, source: Path, why: str, *more: str) -> None:
        """Check that a folder is refused in one sentence, and that nothing of it was run or left."""
        before = self.ran()
        done = self.update(source, *more)
        said = done.stderr.partition("Error: ")[2]
        assert (done.exit_code, why in said, len(said.splitlines())) == (2, True, 1), done.output
        assert self.ran() == before
        assert list(self.base.glob(".update-*")) == []

    def takes(self, source: Path, name: str, *more: str) -> None:
        """Check that a release is taken from a folder."""
        done = self.update(source, *more)
        assert done.exit_code == 0, done.output
        assert name in self.ran()


def forget(box: Box, *names: str) -> None:
    for name in names:
        (box.base / install.TRUSTED / name).unlink()


def at(monkeypatch: pytest.MonkeyPatch, moment: datetime.datetime) -> None:
    """Set the clock of anyone who verifies."""
    now = SimpleNamespace(now=lambda _zone: moment)
    monkeypatch.setattr(
        trusted_metadata_set, "datetime", SimpleNamespace(datetime=now, timezone=datetime.timezone)
    )
    monkeypatch.setattr(metadata, "datetime", now)


def signed_with(maker: Maker, into: Path, archive: Path, name: str) -> Path:
    """Sign what is not a release, or another than is said."""
    sign_release(archive, into, maker.key_folder, made=NOW + 1, machine=HERE, name=name)
    return into
