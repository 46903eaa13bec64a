"""Files to offer: a profile, a deck, a signed release. And what offers them."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from firmware.pit.authority import Authority
from firmware.pit.database import Database
from firmware.pit.down.offers import Offered, offer
from firmware.pit.files import Files
from firmware.record.evidence.signing import DeviceKey
from firmware.release_package import sign
from tests.firmware.pit.conftest import Pit, opened_pit

MADE = 1_760_000_000

PROFILE = '[profile]\nname = "friday-game"\ntitle = "Friday"\nextends = "traditional"\n'


@pytest.fixture
def pit(database: Database) -> Iterator[Pit]:
    """A pit without nginx: the door's own answers are asked for here."""
    with opened_pit("without nginx", database) as opened:
        yield opened


@pytest.fixture
def release_key(tmp_path: Path) -> DeviceKey:
    """The key of the releases; its public half lies in `release.pub` beside it."""
    key = DeviceKey.open(tmp_path / "release-key")
    (tmp_path / "release.pub").write_text(key.public.hex())
    return key


def packed(folder: Path, name: str, key: DeviceKey, made: int = MADE, filler: bytes = b"") -> Path:
    """Return the archive of a signed release that holds an installer and some bytes."""
    unpacked = folder / f"feltwatch-{name}"
    (unpacked / "wheels").mkdir(parents=True)
    (unpacked / "RELEASE").write_text(name)
    (unpacked / "wheels" / "filler.whl").write_bytes(filler or b"wheel")
    (unpacked / "install").write_text("#!/bin/sh\n")
    (unpacked / "install").chmod(0o755)
    sign(unpacked, key, made)
    archive = folder / f"{unpacked.name}.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(unpacked, unpacked.name)
    return archive


def deck_text(name: str = "blue backs", model: str = "m" * 64) -> str:
    """Return an enrolled deck as the record keeps it."""
    values = {"name": name, "model": model, "weight": [[0.0] * 112] * 17, "bias": [0.0] * 17}
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path / "files")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def offered(
    database: Database, files: Files, authority: Authority, tmp_path: Path
) -> Callable[[str, str], Offered]:
    """Return a function that offers a text file of this name."""

    def offer_text(name: str, text: str) -> Offered:
        path = tmp_path / name
        path.write_text(text)
        return offer(database, files, authority, path, "Ines")

    return offer_text
