"""A pit that answers with floods, nonsense or nothing: the uplink keeps its bounds and goes on."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.uplink import client as uplink_client
from firmware.uplink.client import Client
from firmware.uplink.errors import PitUnreachable
from firmware.uplink.follow import Follower
from firmware.uplink.settings import load
from pit.authority import Authority
from tests.pit.hostile_pit import FLOODS, HostilePit


def client_of(pit: HostilePit, authority: Authority, folder: Path) -> Client:
    authority.enrol("Table 1", folder / "table", [pit.address])
    settings = load(folder / "table")
    assert settings is not None
    return Client(settings)


@pytest.mark.parametrize("flood", FLOODS)
def test_no_answer_grows_the_uplink_or_ends_it(flood: str, tmp_path: Path, data: Path) -> None:
    authority = Authority(tmp_path / "authority")
    with HostilePit(authority, (flood,)) as pit:
        client = client_of(pit, authority, tmp_path)
        follower = Follower(data, client, release="0.2.0", clock=lambda: 0.0, rng=random.Random(1))
        follower.step()
        tracemalloc.start()
        waits = [follower.step() for _ in range(3)]
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        client.close()
    assert pit.answers >= 1
    assert most < 8 << 20
    assert all(0 <= wait <= 60 for wait in waits)


def test_a_pit_that_hangs_is_left_after_a_while(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uplink_client, "ANSWER_WITHIN_S", 0.2)
    authority = Authority(tmp_path / "authority")
    with HostilePit(authority) as pit:
        client = client_of(pit, authority, tmp_path)
        follower = Follower(data, client, release="0.2.0", clock=lambda: 0.0, rng=random.Random(1))
        assert follower.step() > 0
        assert "The pit" in str(follower.status.trouble)


def test_an_answer_that_drips_is_left_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uplink_client, "ANSWER_WITHIN_S", 0.5)
    monkeypatch.setitem(FLOODS, "drip", _drip)
    authority = Authority(tmp_path / "authority")
    with HostilePit(authority, ("drip",)) as pit:
        client = client_of(pit, authority, tmp_path)
        with pytest.raises(PitUnreachable):
            client.get("/v1/record")


def _drip(_: random.Random) -> Iterator[bytes]:
    while True:
        yield b"H"
        time.sleep(0.05)
