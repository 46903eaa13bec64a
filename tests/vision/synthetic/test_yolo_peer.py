"""Timing another network next to ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.rendered import rendered
from tests.tools import YOLO, YOLO_GRAPH, needs
from vision.base.errors import ModelError
from vision.felt.layout import TableLayout
from vision.reading.network import CardReader, default_model
from vision.synthetic.render import deal
from vision.synthetic.yolo_peer import compare

NO_FRAME = np.zeros((8, 8, 3), np.uint8)


def test_a_file_that_is_no_network_is_refused_in_a_sentence(layout: TableLayout, tmp_path: Path) -> None:
    broken = tmp_path / "yolo.onnx"
    broken.write_bytes(b"not a network")
    with pytest.raises(ModelError, match="cannot be loaded"):
        compare(CardReader(), broken, NO_FRAME, layout, threads=1)


def test_a_network_that_takes_no_picture_of_fixed_size_is_refused(layout: TableLayout) -> None:
    with pytest.raises(ModelError, match="fixed size"):
        compare(CardReader(), default_model(), NO_FRAME, layout, threads=1)


@needs(YOLO)
def test_both_are_timed_and_ours_is_the_faster(layout: TableLayout) -> None:
    rng = np.random.default_rng(1)
    frame = rendered(deal(rng, layout), layout, seed=rng).frame
    found = compare(CardReader(threads=1), YOLO_GRAPH, frame, layout, threads=1)
    assert 0 < found.ours_ms < found.peer_ms
    assert found.share == found.ours_ms / found.peer_ms
    assert "1280 × 1280" in found.peer
