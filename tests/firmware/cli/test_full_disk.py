"""A disk without room: no command costs the file that it was to replace."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from vision.base.errors import VisionFileError
from vision.reading.network import FEATURES, DeckProfile
from vision.reading.profile_files import save_profile

OLD = b"what was there"


@contextmanager
def _no_room() -> Iterator[None]:
    """Let no file grow beyond some bytes, as on a disk that becomes full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    """A file that the command is to replace, and still finds alone and unchanged afterwards."""
    path = tmp_path / "out"
    path.write_bytes(OLD)
    yield path
    (left,) = tmp_path.iterdir()
    assert left.read_bytes() == OLD


@pytest.mark.parametrize(
    ("suffix", "command"),
    [
        (".pdf", "felt --out"),
        (".pdf", "profiles document clean-sweep-online --output"),
        (".md", "profiles document clean-sweep-online --output"),
        (".png", "calibrate --board"),
    ],
)
def test_a_command_without_room_leaves_the_file_that_was_there(out: Path, suffix: str, command: str) -> None:
    path = out.rename(out.with_suffix(suffix))
    with _no_room():
        done = CliRunner().invoke(main, [*command.split(), str(path)])
    assert done.exit_code in (1, 2)
    assert f"{path} cannot be written: File too large" in done.stderr


def test_a_deck_that_is_learnt_without_room_leaves_the_deck_before_it(out: Path) -> None:
    deck = DeckProfile("new", np.zeros((17, FEATURES)), np.zeros(17))
    with _no_room(), pytest.raises(VisionFileError, match="cannot be written: File too large"):
        save_profile(deck, out)
