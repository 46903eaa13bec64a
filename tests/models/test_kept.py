"""A long run that was stopped goes on where it ended, and a deck that was drawn wrong measures nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from models.training.art import ArtError
from models.training.judge import KEPT, on_all_cores
from models.training.kept import Kept
from models.training.unseen import need_52
from vision.reading.cards import CARDS


@dataclass(frozen=True)
class Reading:
    file: Path
    log: str


def read(task: Reading) -> str:
    with Path(task.log).open("a", encoding="ascii") as log:
        log.write(f"{task.file.name} ")
    return task.file.read_text()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    kept = Kept(tmp_path / "kept")
    before = KEPT.set(kept)
    yield kept
    KEPT.reset(before)


def test_a_run_that_was_stopped_goes_on_where_it_ended(kept: Kept, tmp_path: Path) -> None:
    log = tmp_path / "log"
    files = [tmp_path / name for name in ("one", "two", "three")]
    for file in files:
        file.write_text(f"text of {file.name}")
    tasks = [Reading(file, str(log)) for file in files]
    on_all_cores(read, tasks[:2], "readings")
    assert sorted(log.read_text().split()) == ["one", "two"]
    assert kept.seconds == 0
    found = on_all_cores(read, tasks, "readings")
    assert found == ["text of one", "text of two", "text of three"]
    assert sorted(log.read_text().split()) == ["one", "three", "two"]
    assert kept.seconds > 0


def test_a_result_of_other_pictures_or_other_code_is_not_found_again(kept: Kept, tmp_path: Path) -> None:
    picture = tmp_path / "picture"
    picture.write_text("before")
    task = Reading(picture, "")
    path = kept.path(read, task)
    kept.keep(path, 1.0, "a result")
    assert kept.find(path) == ("a result",)
    other = tmp_path / "other"
    other.write_text("another picture")
    assert kept.find(kept.path(read, Reading(other, ""))) is None
    (tmp_path / "kept" / "the code of yesterday").mkdir()
    assert [one.name for one in (tmp_path / "kept").iterdir() if one.name.startswith("the")]
    Kept(tmp_path / "kept")
    assert not [one.name for one in (tmp_path / "kept").iterdir() if one.name.startswith("the")]


def test_a_result_that_was_cut_off_is_made_again(kept: Kept, tmp_path: Path) -> None:
    picture = tmp_path / "picture"
    picture.write_text("x")
    path = kept.path(read, Reading(picture, ""))
    kept.keep(path, 1.0, ["many"] * 100)
    path.write_bytes(path.read_bytes()[:20])
    assert kept.find(path) is None


def test_a_deck_of_which_two_cards_look_alike_is_refused(tmp_path: Path) -> None:
    for code in CARDS:
        (tmp_path / f"{code}.png").write_bytes(code.encode())
    need_52(tmp_path)
    (tmp_path / "4s.png").write_bytes(b"2c")
    with pytest.raises(ArtError, match="2c and 4s are the same picture"):
        need_52(tmp_path)
