"""The packaged model and its runner."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.base.errors import ModelError
from vision.reading.cards import RANKS, SUITS
from vision.reading.network import Calibrations, CardReader, default_model
from vision.reading.pips import PipReader
from vision.reading.signs import SignReader


def test_the_manifest_describes_the_model_that_is_packaged() -> None:
    model = default_model()
    manifest = json.loads(model.with_suffix(".json").read_text())
    assert manifest["sha256"] == hashlib.sha256(model.read_bytes()).hexdigest() == CardReader().sha256
    assert manifest["classes"] == {"rank": list(RANKS), "suit": list(SUITS)}
    assert model.stat().st_size <= 5_000_000


def test_any_size_of_picture_is_taken() -> None:
    reader = CardReader(threads=1)
    for size in ((33, 47, 3), (160, 160, 3), (1, 1, 3)):
        assert len(reader.indices(np.full(size, 128, np.uint8))) == 0


@pytest.mark.parametrize("picture", [np.zeros((40, 40), np.uint8), np.zeros((40, 40, 3), np.float32)])
def test_anything_but_a_colour_picture_of_bytes_is_refused(picture: NDArray[Any]) -> None:
    with pytest.raises(ValueError, match="uint8"):
        CardReader(threads=1).indices(picture)


def test_a_missing_or_broken_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        CardReader(tmp_path / "none.onnx")
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    with pytest.raises(ModelError, match="cannot be loaded"):
        CardReader(tmp_path / "broken.onnx")


@pytest.mark.parametrize("name", ["reader", "pips", "signs"])
def test_a_network_in_the_place_of_another_is_told(tmp_path: Path, name: str) -> None:
    load = {"reader": CardReader, "pips": PipReader, "signs": SignReader}[name]
    other = default_model().with_name("pips.onnx" if name == "signs" else "signs.onnx")
    model = shutil.copyfile(other, tmp_path / f"{name}.onnx")
    with pytest.raises(ModelError, match=rf"{name}\.onnx cannot be loaded: its input is"):
        load(model, 1)


@pytest.mark.parametrize(
    "manifest",
    [None, b"", b"{", b"\xff", b"[]", b"{}", b'{"file": "signs.onnx"}', b'{"calibration": {"whole": {}}}'],
)
def test_without_its_calibration_no_card_is_sure(tmp_path: Path, manifest: bytes | None) -> None:
    model = shutil.copyfile(default_model(), tmp_path / "reader.onnx")
    if manifest is not None:
        model.with_suffix(".json").write_bytes(manifest)
    with pytest.raises(ModelError, match=r"reader\.json cannot be loaded"):
        _ = CardReader(model).calibrations


def test_a_new_network_reads_before_it_is_calibrated(tmp_path: Path) -> None:
    model = shutil.copyfile(default_model(), tmp_path / "reader.onnx")
    model.with_suffix(".json").write_text('{"file": "reader.onnx"}')
    assert CardReader(model).calibrations == Calibrations()
