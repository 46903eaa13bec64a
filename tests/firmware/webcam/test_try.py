"""`feltwatch try`: which camera is meant, and a sentence for everything that keeps it from starting."""

from __future__ import annotations

import itertools
import socket
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest
from click.testing import CliRunner, Result

from firmware.cli.main import main
from firmware.devices.camera.files import VideoFrames
from firmware.devices.errors import DeviceError
from firmware.page_process import HOST
from firmware.runtime.errors import AppError
from firmware.webcam.choice import choose
from firmware.webcam.sheets_pdf import sheets
from vision.felt.geometry import find_markers
from vision.felt.layout import SHEETS, TableLayout
from vision.felt.resample import as_grey
from vision.felt.sheets import SIDE_MM


def tried(*arguments: object, data: Path) -> Result:
    return CliRunner().invoke(main, ["try", "--no-browser", "--data", str(data), *map(str, arguments)])


def taken_port() -> socket.socket:
    return socket.create_server((HOST, 0))


def refused(named: str | None, devices: Path) -> str:
    with pytest.raises((AppError, DeviceError)) as caught:
        choose(named, devices, lambda path: path.read_text() == "captures")
    return str(caught.value)


def test_the_first_webcam_is_the_first_that_captures_by_its_stable_name(tmp_path: Path) -> None:
    for number, what in {0: "metadata", 2: "captures", 10: "captures"}.items():
        (tmp_path / f"video{number}").write_text(what)
    (tmp_path / "v4l/by-id").mkdir(parents=True)
    stable = tmp_path / "v4l/by-id/usb-cam-index0"
    stable.symlink_to(tmp_path / "video2")
    chosen = choose(None, tmp_path, lambda path: path.read_text() == "captures")
    assert (chosen.kind, chosen.device) == ("uvc", stable)
    assert choose("10", tmp_path).device == tmp_path / "video10"
    assert "there is: --camera 2, 10." in refused("3", tmp_path)


def test_each_camera_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path) -> None:
    assert refused(None, tmp_path).startswith("No webcam is connected: plug a webcam in, or name a camera:")
    assert refused("1", tmp_path).startswith(f"There is no webcam {tmp_path}/video1: plug")
    assert refused("http://", tmp_path).startswith("A camera's address is http://HOST:PORT/PATH")
    assert refused("nowhere.jpg", tmp_path).startswith(
        "There is no camera, no file and no folder nowhere.jpg:"
    )
    assert refused(str(tmp_path), tmp_path / "dev").startswith(f"There is no picture in {tmp_path}")
    (tmp_path / "notes.txt").write_text("no video")
    assert refused(str(tmp_path / "notes.txt"), tmp_path / "dev").endswith(
        "is neither a picture nor a video that can be played."
    )


def test_a_picture_that_is_cut_off_is_refused_also_in_a_folder(tmp_path: Path) -> None:
    whole, half = tmp_path / "1.jpg", tmp_path / "2.jpg"
    cv2.imwrite(str(whole), np.full((480, 640, 3), 90, np.uint8))
    assert choose(str(whole)).device == choose(str(tmp_path)).device / whole.name
    half.write_bytes(whole.read_bytes()[:-40])
    for named in (half, tmp_path):
        assert refused(str(named), tmp_path / "dev").startswith(f"{half} is cut off")


def test_a_folder_that_cannot_be_written_and_a_port_in_use_are_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = tried(data=tmp_path / "file/record")
    assert (done.exit_code, done.output) == (
        1,
        f"Error: The record cannot be kept in {tmp_path}/file/record (Not a directory): "
        "name another folder with --data.\n",
    )
    with taken_port() as other:
        port = other.getsockname()[1]
        done = tried("--port", port, data=tmp_path / "record")
    assert done.exit_code == 1
    assert (
        done.output == f"Error: Port {port} is taken (Address already in use); choose another with --port.\n"
    )


@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_the_four_sheets_are_printed_true_to_scale_with_a_bar_to_measure(paper: str, tmp_path: Path) -> None:
    path = tmp_path / "sheets.pdf"
    done = CliRunner().invoke(main, ["felt", "--paper", paper, "--out", str(path)])
    assert done.exit_code == 0, done.output
    printed = pypdfium2.PdfDocument(path)
    px_per_mm = 72 / 25.4
    for page, number in zip([printed[i] for i in range(len(printed))], SHEETS, strict=True):
        picture = np.asarray(page.render(scale=1).to_numpy(), np.uint8)
        (marker,) = find_markers(as_grey(picture), TableLayout.load())
        assert marker.id == number
        assert marker.side_px / px_per_mm == pytest.approx(SIDE_MM, rel=0.005)
        assert "100 mm: measure it" in page.get_textpage().get_text_range()
    printed.close()
    assert path.read_bytes() == sheets(paper)


def test_a_video_plays_at_its_own_speed_and_begins_again(tmp_path: Path) -> None:
    path = tmp_path / "table.avi"
    written = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 1000.0, (64, 48))
    for level in range(0, 200, 10):
        written.write(np.full((48, 64, 3), level, np.uint8))
    written.release()
    assert choose(str(path)).kind == "files"
    video = VideoFrames(path)
    video.open()
    levels = [int(video.frame().image.mean()) for _look in range(60)]
    assert len({*levels}) > 1
    assert any(later < earlier - 20 for earlier, later in itertools.pairwise(levels))
    video.close()
