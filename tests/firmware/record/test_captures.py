from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from firmware.record.journal.captures import CaptureStore
from firmware.table import CaptureError


def test_an_image_is_stored_under_its_name_with_its_hash(tmp_path: Path) -> None:
    store = CaptureStore(tmp_path)
    capture = store.save("000007/showdown-1.jpg", b"pixels")
    assert (capture.sha256, capture.size) == (hashlib.sha256(b"pixels").hexdigest(), 6)
    assert store.load(capture) == b"pixels"
    assert [path.name for path in (tmp_path / "captures" / "000007").iterdir()] == ["showdown-1.jpg"]


def test_evidence_is_never_overwritten(tmp_path: Path) -> None:
    store = CaptureStore(tmp_path)
    capture = store.save("000007/showdown.jpg", b"first")
    with pytest.raises(CaptureError, match="never overwritten"):
        store.save("000007/showdown.jpg", b"second")
    assert store.load(capture) == b"first"


@pytest.mark.parametrize(
    "name", ["../journal.jpg", "/etc/x.jpg", "a/../b.jpg", "a", ".a.jpg", "A.jpg", "a.sqlite"]
)
def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(CaptureError, match="no capture's name"):
        CaptureStore(tmp_path).path(name)


def test_a_changed_or_missing_image_is_not_handed_out(tmp_path: Path) -> None:
    store = CaptureStore(tmp_path)
    capture = store.save("000007/showdown.jpg", b"pixels")
    store.path(capture.name).write_bytes(b"pixel")
    with pytest.raises(CaptureError, match="changed"):
        store.load(capture)
    store.path(capture.name).unlink()
    with pytest.raises(CaptureError, match="missing"):
        store.load(capture)


def test_an_image_that_cannot_be_written_is_said_and_leaves_no_name(tmp_path: Path) -> None:
    (tmp_path / "captures").write_text("a file in the way")
    with pytest.raises(CaptureError, match="check the disk"):
        CaptureStore(tmp_path).save("000007/showdown.jpg", b"pixels")


def test_a_torn_temporary_file_of_a_killed_process_is_no_obstacle(tmp_path: Path) -> None:
    store = CaptureStore(tmp_path)
    (tmp_path / "captures" / "000007").mkdir(parents=True)
    (tmp_path / "captures" / "000007" / ".showdown.jpg.part").write_bytes(b"pix")
    assert store.load(store.save("000007/showdown.jpg", b"pixels")) == b"pixels"
