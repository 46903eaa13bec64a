"""A reading's pictures: encoded ahead, stored once it is complete."""

import hashlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from firmware.runtime.reading.pictures import CROP_PX_PER_MM, PictureSaver
from firmware.table import CaptureError
from vision.felt.geometry import find_felt
from vision.felt.layout import TableLayout
from vision.synthetic.render import render_table


def test_pictures_encoded_ahead_are_on_the_disk_only_once_they_are_saved(tmp_path: Path) -> None:
    layout = TableLayout.load()
    frame = render_table({}, layout, seed=4).frame
    zones, saver = layout.zones[:3], PictureSaver(tmp_path)
    encoded = saver.encode(frame, find_felt(frame, layout), zones)
    encoded.frame.result()
    assert [*tmp_path.rglob("*.jpg")] == []

    whole, crops = saver.save_all("hand-1", encoded)
    stored = {file.name: file for file in tmp_path.rglob("*.jpg")}
    for reference in (whole, *crops.values()):
        data = stored[Path(reference["name"]).name].read_bytes()
        assert hashlib.sha256(data).hexdigest() == reference["sha256"]
    assert [*crops] == [(zone.place, zone.row) for zone in zones]
    picture = cv2.imread(str(stored["hand-1-frame.jpg"]))
    assert picture is not None
    assert np.abs(picture.astype(int) - frame).mean() < 5
    crop = cv2.imread(str(stored[f"hand-1-{zones[0].place.lower()}-{zones[0].row}.jpg"]))
    assert crop is not None
    assert crop.shape[1] == pytest.approx(zones[0].width_mm * CROP_PX_PER_MM, abs=1)
    with pytest.raises(CaptureError, match="never overwritten"):
        saver.save_all("hand-1", encoded)
