"""Files of another program: plain ones, no byte more than was announced."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.update import files
from firmware.update.files import copy_plain, open_plain, read_plain, sha256_of
from tests.examples import examples


@examples(60)
@given(st.binary(max_size=200), st.integers(0, 250), st.integers(1, 64))
def test_a_copy_has_one_byte_more_than_was_announced_at_most_and_its_own_hash(
    data: bytes, size: int, piece: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "PIECE", piece)
        source, to = Path(folder) / "source", Path(folder) / "to"
        source.write_bytes(data)
        digest = copy_plain(source, to, size)
        assert to.read_bytes() == data[: size + 1]
        assert digest == hashlib.sha256(data[: size + 1]).hexdigest() == sha256_of(source, size)
        assert sha256_of(source) == hashlib.sha256(data).hexdigest()
        assert read_plain(source, size) == data[:size]
        assert (digest == sha256_of(source)) == (len(data) <= size + 1)
        with pytest.raises(FileExistsError):
            copy_plain(source, to, size)


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "device", "nothing"])
def test_what_is_no_plain_file_is_not_opened(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "it"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "link":
            (tmp_path / "file").touch()
            path.symlink_to(tmp_path / "file")
        case "folder":
            path.mkdir()
        case "device":
            path = Path("/dev/zero")
    with pytest.raises(OSError, match=r"no plain file|Too many levels|No such"):
        open_plain(path)
