"""Every secret key is made for its owner alone, whole or not at all, whatever the umask is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dealer_ui.remote.access import RemotePeople
from dealer_ui.web.tls import certificate
from firmware.access.pins import PinStore
from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal import disk
from pit.authority import Authority


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def of_pit(folder: Path) -> None:
    authority = Authority(folder)
    authority.door()
    authority.enrol("Table 1", folder / "table", ["127.0.0.1:8443"])
    assert authority.keys.house != authority.keys.log


def of_pins(folder: Path) -> None:
    folder.mkdir(parents=True)
    PinStore(folder).keep("2749")


MAKES: dict[str, Callable[[Path], object]] = {
    "table, witness, house, log, release": DeviceKey.open,
    "authority, door, a table's certificate": of_pit,
    "the review's certificate": certificate,
    "people of the review": lambda folder: RemotePeople(folder).add("Ada", "a passphrase of hers"),
    "PINs": of_pins,
}
OPEN: dict[str, set[str]] = {"authority, door, a table's certificate": {"issued.jsonl"}}
"""Files that hold no secret."""


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("what", MAKES)
def test_a_secret_is_its_owners_alone_whatever_the_umask_is(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "made/here"
    MAKES[what](folder)
    files = [path for path in (tmp_path / "made").rglob("*") if path.is_file()]
    assert files
    assert {path.name for path in files if path.stat().st_mode & 0o077} <= OPEN.get(what, set())
    assert [path for path in files if path.name.endswith(".part")] == []


def test_a_secret_that_is_cut_off_while_it_is_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "device.key"
    disk.write_private(path, b"before")

    def cut(_: int) -> None:
        raise OSError(5, "cut")

    monkeypatch.setattr(os, "fsync", cut)
    with pytest.raises(OSError, match="cut"):
        disk.write_private(path, b"after")
    assert path.read_bytes() == b"before"
    monkeypatch.undo()
    disk.write_private(path, b"after")
    assert path.read_bytes() == b"after"


def test_a_folder_of_a_key_is_closed_to_others_whatever_the_umask_is(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        DeviceKey.open(tmp_path / "key")
    finally:
        os.umask(before)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o700


def test_programs_that_ask_for_a_new_key_at_once_get_the_same_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for number in range(20):
            folder = tmp_path / str(number)
            keys = set(pool.map(lambda folder: DeviceKey.open(folder).public, [folder] * 8))
            assert len(keys) == 1
