"""Files to offer: a profile, a deck, a signed release. And what offers them."""

from __future__ import annotations

import json
import platform
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from firmware.record.evidence.signing import DeviceKey
from firmware.update.house import HouseFile
from firmware.update.release import LASTS, MAKER, sign_release
from firmware.update.repository import Repository
from firmware.uplink.inbox.requests import FileRequest, requests_of
from pit.authority import Authority
from pit.files.offers import HouseRepository, offer
from pit.files.requests import TableRequest, keep_progress
from pit.store.database import Connection, Database
from tests.pit.conftest import Pit, opened_pit
from tests.pit.files.rig import Rig, rig

MADE = 1_760_000_000

PROFILE = '[profile]\nname = "friday-game"\ntitle = "Friday"\nextends = "traditional"\n'


@pytest.fixture
def pit(database: Database) -> Iterator[Pit]:
    """A pit without nginx: the door's own answers are asked for here."""
    with opened_pit("without nginx", database) as opened:
        yield opened


@pytest.fixture
def release_key(tmp_path: Path) -> Path:
    """The folder of the maker's key; its root metadata lies in `root.json` beside it."""
    return maker(tmp_path)


@pytest.fixture
def here(pit: Pit, tmp_path: Path, release_key: Path) -> Iterator[Rig]:
    with rig(pit, tmp_path, release_key) as made:
        yield made


def maker(folder: Path, name: str = "maker-key") -> Path:
    """Return the folder of a maker's key; its root metadata is written into `root.json` of `folder`."""
    key_folder = folder / name
    key = DeviceKey.open(key_folder)
    (folder / "root.json").write_bytes(Repository(key_folder / MAKER, key, key, LASTS).anchor)
    return key_folder


def packed(
    folder: Path, name: str, key_folder: Path, made: int = MADE, filler: bytes = b"", script: str = "exit 0"
) -> Path:
    """Return the folder of a signed release that holds an installer and some bytes."""
    unpacked = folder / f"feltwatch-{name}"
    (unpacked / "wheels").mkdir(parents=True)
    (unpacked / "RELEASE").write_text(name)
    (unpacked / "wheels" / "filler.whl").write_bytes(filler or b"wheel")
    (unpacked / "install").write_text(f"#!/bin/sh\n{script}\n")
    (unpacked / "install").chmod(0o755)
    archive = folder / f"{unpacked.name}.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(unpacked, unpacked.name)
    shutil.rmtree(unpacked)
    repository = folder / f"release-{name}"
    sign_release(archive, repository, key_folder, made=made, machine=platform.machine())
    return repository


def deck_text(name: str = "blue backs", model: str = "m" * 64) -> str:
    """Return an enrolled deck as the record keeps it."""
    values = {"name": name, "model": model, "weight": [[0.0] * 112] * 17, "bias": [0.0] * 17}
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


def asked_now(connection: Connection, table_id: int) -> tuple[FileRequest, ...]:
    """Return what a table is asked to fetch, as the pit's answer to it has it."""
    return requests_of(keep_progress(connection, table_id, "", ()))


def ended_by(connection: Connection, one: TableRequest) -> str:
    """Return who ended a request."""
    row = connection.execute(
        "SELECT ended_by FROM file_request WHERE request_id = %s", (one.number,)
    ).fetchone()
    assert row is not None
    return str(row[0])


@pytest.fixture
def house(tmp_path: Path) -> HouseRepository:
    """The files that a pit offers."""
    return HouseRepository(tmp_path, Authority(tmp_path / "authority"))


@pytest.fixture
def offered(database: Database, house: HouseRepository, tmp_path: Path) -> Callable[[str, str], HouseFile]:
    """Return a function that offers a text file of this name."""

    def offer_text(name: str, text: str) -> HouseFile:
        path = tmp_path / name
        path.write_text(text)
        return offer(database, house, path, "Ines")

    return offer_text
