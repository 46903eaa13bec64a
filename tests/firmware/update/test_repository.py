"""What a repository says, by whatever way it comes: a table sees the newest state, an earlier one never again."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tuf.ngclient import Updater

from firmware.record.evidence.signing import DeviceKey
from firmware.update.metadata import words_of
from firmware.update.repository import Repository, ends
from firmware.update.trust import MAKER_NAME, Target, Trust, UpdateRefused, folder_files
from tests.examples import examples

LASTS: Final = timedelta(days=10)
NAMES: Final = st.text("abc/-. é", min_size=1, max_size=12)
NAMED: Final = st.dictionaries(
    NAMES,
    st.builds(
        Target,
        st.sampled_from(["a" * 64, "b" * 64]),
        st.integers(0, 1 << 50),
        st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers(0, 9) | st.none(), max_size=3),
    ),
    max_size=4,
)
FILES: Final = ("timestamp.json", "snapshot.json", "targets.json")
THOROUGH: Final = examples(60)


class Signer:
    """A repository, its keys, and a copy of its folder after every change."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.live, self.states = folder, folder / "live", list[Path]()
        self.keys = 0
        self.repository = Repository(self.live, *self.new_keys(), LASTS)
        self.anchor = self.repository.anchor

    def new_keys(self) -> tuple[DeviceKey, DeviceKey]:
        self.keys += 2
        first, second = (DeviceKey.open(self.folder / f"key{self.keys - one}") for one in (0, 1))
        return first, second

    def publish(self, named: dict[str, Target]) -> None:
        self.repository.publish(named)
        self.keep()

    def rotate(self) -> None:
        self.repository.rotate(*self.new_keys())
        self.keep()

    def keep(self) -> None:
        self.states.append(Path(shutil.copytree(self.live, self.folder / f"state{len(self.states)}")))

    def trust(self, name: str = "trust") -> Trust:
        return Trust(self.folder / name, self.anchor, who=MAKER_NAME)


@contextmanager
def signer() -> Iterator[Signer]:
    with tempfile.TemporaryDirectory() as folder:
        yield Signer(Path(folder))


@THOROUGH
@given(st.lists(NAMED | st.just("rotate"), min_size=1, max_size=6), st.data())
def test_whoever_looks_sees_what_was_named_last_and_no_earlier_state_again(
    changes: list[dict[str, Target] | str], data: st.DataObject
) -> None:
    with signer() as maker:
        named: dict[str, Target] = {}
        trust = maker.trust()
        for change in changes:
            if isinstance(change, str):
                maker.rotate()
            else:
                named = change
                maker.publish(named)
            if data.draw(st.booleans()):
                assert trust.refresh(folder_files(maker.live)) == named
        assert trust.refresh(folder_files(maker.live)) == named == maker.repository.published()
        for earlier in maker.states[:-1]:
            with pytest.raises(UpdateRefused):
                trust.refresh(folder_files(earlier))
        assert trust.refresh(folder_files(maker.live)) == named, "what was refused has left nothing"


@THOROUGH
@given(st.tuples(*[st.integers(0, 3)] * 3), st.integers(0, 3))
@example((0, 0, 1), 0)
def test_files_of_several_states_are_taken_only_as_one_state_that_was(
    chosen: tuple[int, int, int], seen: int
) -> None:
    with signer() as maker:
        states = [{f"file{number}": Target("a" * 64, number)} for number in range(4)]
        for named in states:
            maker.publish(named)
        trust = maker.trust()
        assert trust.refresh(folder_files(maker.states[seen])) == states[seen]
        mixed = maker.folder / "mixed"
        shutil.copytree(maker.live, mixed)
        for name, number in zip(FILES, chosen, strict=True):
            shutil.copy(maker.states[number] / name, mixed / name)
        try:
            got = trust.refresh(folder_files(mixed))
        except UpdateRefused:
            assert len({seen, *chosen}) > 1, "a state that was is taken"
        else:
            assert got in states[seen:], "nothing older than what was seen"
            assert got == states[chosen[0]], "the timestamp says which"


@examples(150)
@given(
    st.sampled_from([*FILES, "1.root.json", "2.root.json"]), st.floats(0, 1), st.binary(max_size=3), st.data()
)
def test_bytes_that_were_changed_are_refused_or_change_nothing(
    name: str, where: float, put: bytes, data: st.DataObject
) -> None:
    with signer() as maker:
        named = {"one": Target("a" * 64, 7, {"made": 5}), "two": Target("b" * 64, 0)}
        maker.publish(named)
        maker.rotate()
        path = maker.live / name
        text = path.read_bytes()
        at = int(where * len(text))
        path.write_bytes(text[:at] + put + text[at + data.draw(st.integers(0, len(text) - at)) :])
        try:
            assert maker.trust().refresh(folder_files(maker.live)) == named
        except UpdateRefused:
            return


@THOROUGH
@given(NAMED, NAMED, st.sampled_from(FILES), st.binary(max_size=20))
def test_what_a_power_cut_tore_lets_nothing_in_that_is_not_signed(
    first: dict[str, Target], second: dict[str, Target], name: str, torn: bytes
) -> None:
    with signer() as maker:
        maker.publish(first)
        trust = maker.trust()
        trust.refresh(folder_files(maker.live))
        (maker.folder / "trust" / name).write_bytes(torn)
        maker.publish(second)
        assert trust.refresh(folder_files(maker.live)) == second


def test_what_was_verified_is_on_the_disk_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """python-tuf renames a file of which no byte need be on the disk yet."""
    maker = Signer(tmp_path)
    maker.publish({"one": Target("a" * 64, 1)})
    kept: list[str] = []
    lost: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        kept.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        sync(handle)

    def replaced(source: Path, to: Path) -> None:
        if str(source) not in kept and Path(to).is_relative_to(tmp_path):
            lost.append(Path(to).name)
        replace(source, to)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    monkeypatch.setattr("firmware.record.journal.disk.Path.replace", lambda *given: replaced(*given))
    maker.trust().refresh(folder_files(maker.live))
    assert lost == []
    for folder in ("trust", "trust/root_history"):
        assert str(tmp_path / folder) in kept
    monkeypatch.setattr("firmware.update.metadata._Updater", Updater)
    maker.trust("other").refresh(folder_files(maker.live))
    assert set(lost) == {"1.root.json", *FILES}


def test_what_expires_soon_is_signed_again_and_what_does_not_is_left(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    key = DeviceKey.open(tmp_path / "key")
    repository = Repository(tmp_path / "live", key, key, LASTS, now=lambda: now[0])
    repository.publish({"one": Target("a" * 64, 1)})
    before = (tmp_path / "live/timestamp.json").read_bytes()
    now[0] += LASTS / 3
    assert (repository.renew(), (tmp_path / "live/timestamp.json").read_bytes()) == (False, before)
    now[0] += LASTS / 3
    assert repository.renew()
    assert repository.published() == {"one": Target("a" * 64, 1)}


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000], ids=["empty", "object", "list", "binary", "deep"]
)
def test_what_was_damaged_where_it_is_signed_is_named_and_nothing_is_signed_over_it(
    tmp_path: Path, data: bytes
) -> None:
    """A power cut may leave an empty file: the program that signs says so, and goes on with its other work."""
    root, online = DeviceKey.open(tmp_path / "root"), DeviceKey.open(tmp_path / "online")
    made = Repository(tmp_path / "signed", root, online, timedelta(days=30))
    made.publish({})
    path = tmp_path / "signed" / "timestamp.json"
    path.write_bytes(data)
    for sign in (made.renew, lambda: made.publish({}), lambda: ends(tmp_path / "signed")):
        with pytest.raises(UpdateRefused, match="Restore it from a backup"):
            sign()
    assert path.read_bytes() == data


def test_words_are_those_of_the_newest_key(tmp_path: Path) -> None:
    maker = Signer(tmp_path)
    maker.publish({})
    trust = maker.trust()
    trust.refresh(folder_files(maker.live))
    assert trust.words == words_of(maker.anchor)
    maker.rotate()
    trust.refresh(folder_files(maker.live))
    assert trust.words == words_of(maker.repository.anchor) != words_of(maker.anchor)
    with pytest.raises(UpdateRefused, match="no root metadata"):
        words_of(b"{}")


def test_what_another_program_verified_is_read_like_a_repository(tmp_path: Path) -> None:
    """The uplink's own trust is what root reads a release from."""
    maker = Signer(tmp_path)
    maker.rotate()
    maker.publish({"one": Target("a" * 64, 1)})
    maker.trust("uplink").refresh(folder_files(maker.live))
    assert maker.trust("root").refresh(folder_files(tmp_path / "uplink")) == {"one": Target("a" * 64, 1)}
