"""Which release root takes, and what it remembers."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.record.journal.disk import free_bytes
from firmware.update.install import (
    ROOM,
    Release,
    check_room,
    choose,
    latest_started,
    note_started,
    refuse_older,
)
from firmware.update.trust import Target, UpdateRefused
from tests.examples import examples

MACHINES = st.sampled_from(["x86_64", "aarch64", "card"])
TARGETS = st.builds(
    lambda sha, size, name, made, machine, unpacked: Target(
        sha * 64, size, {"release": name, "made": made, "machine": machine, "unpacked": unpacked}
    ),
    st.sampled_from("0123456789abcdef"),
    st.integers(0, 1 << 40),
    st.text("ab.1", min_size=1, max_size=5),
    st.integers(0, 5),
    MACHINES,
    st.integers(0, 1 << 40),
)
ODD = st.builds(
    lambda about: Target("e" * 64, 1, about),
    st.fixed_dictionaries(
        {},
        optional={
            "release": st.none() | st.text(),
            "made": st.none() | st.text() | st.floats() | st.integers() | st.lists(st.integers()),
            "machine": st.none() | st.text(),
            "unpacked": st.none() | st.floats() | st.integers(max_value=-1),
        },
    ),
)


def release(made: int, unpacked: int = 0, size: int = 0) -> Release:
    about = {"release": "x", "made": made, "machine": "m", "unpacked": unpacked}
    found = Release.of("x.tar.gz", Target("0" * 64, size, about))
    assert found is not None
    return found


@given(st.dictionaries(st.text(max_size=3), TARGETS | ODD, max_size=6), MACHINES, st.integers(0, 5))
def test_the_newest_for_this_machine_is_chosen_or_none(
    named: dict[str, Target], machine: str, latest: int
) -> None:
    fitting = [
        one.about["made"]
        for one in named.values()
        if one.about.get("machine") == machine and Release.of("", one) is not None
    ]
    try:
        found = choose(named, machine)
    except UpdateRefused:
        assert fitting == []
        return
    assert (found.machine, found.made) == (machine, max(fitting))
    assert named[found.file] == found.target
    assert choose({found.file: found.target}, machine, found.target.sha256) == found
    try:
        refuse_older(found, latest)
    except UpdateRefused:
        assert found.made < latest
    else:
        assert found.made >= latest


@examples(100)
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=8))
def test_what_started_well_is_never_forgotten_for_something_older(made: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        assert latest_started(base) == 0
        for number, one in enumerate(made):
            note_started(base, release(one))
            assert latest_started(base) == max(made[: number + 1])


def test_what_cannot_be_read_counts_as_nothing_and_what_runs_still_counts(tmp_path: Path) -> None:
    note_started(tmp_path, release(7))
    (tmp_path / "trusted/started").write_bytes(b"\xff")
    assert latest_started(tmp_path) == 0
    (tmp_path / "current").mkdir()
    (tmp_path / "current/MADE").write_text("5\n")
    assert latest_started(tmp_path) == 5


def test_room_is_that_of_archive_content_and_installation(tmp_path: Path) -> None:
    free = free_bytes(tmp_path) - ROOM
    check_room(tmp_path, release(1, free // 4, free // 4))
    for sizes in ((free * 2, 0), (0, free * 2), (free, free)):
        with pytest.raises(UpdateRefused, match="Make room first"):
            check_room(tmp_path, release(1, *sizes))
