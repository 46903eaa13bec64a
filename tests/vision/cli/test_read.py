"""`feltwatch read`: what it prints, what it draws, and a sentence for whatever cannot be read."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from firmware.cli.main import main
from tests.rendered import rendered
from vision.felt.layout import TableLayout
from vision.synthetic.props import Thing
from vision.synthetic.render import FACE_DOWN, Scene, deal


def _run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["read", "--threads", "1", *map(str, arguments)])


@pytest.fixture(scope="module")
def scene() -> Scene:
    """Place A's cards on the felt."""
    layout = TableLayout.load()
    return rendered(deal(np.random.default_rng(1), layout, ["A"]), layout, seed=1, scale=0.7)


@pytest.fixture(scope="module")
def photo(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A photograph of it."""
    path = tmp_path_factory.mktemp("photos") / "table.jpg"
    cv2.imwrite(str(path), scene.frame)
    return path


def test_a_table_is_printed_zone_by_zone(photo: Path) -> None:
    done = _run(photo)
    assert done.exit_code == 0
    assert "A front" in done.stdout
    assert len(done.stdout.splitlines()) == 13


@pytest.mark.slow
def test_what_else_lies_there_is_named_and_counted(tmp_path: Path) -> None:
    layout = TableLayout.load()
    hands = {"A": {"front": [FACE_DOWN] * 3}, "B": {"front": ["As"]}}
    scene = rendered(hands, layout, scale=0.7, things=[Thing("chip", 417, 395)])
    path = tmp_path / "table.jpg"
    cv2.imwrite(str(path), scene.frame)
    lines = _run(path).stdout.splitlines()
    assert "  also there: back (3)" in lines
    assert "  also there: foreign (1)" in lines
    others = json.loads(_run(path, "--json").stdout)["others"]
    assert sorted(o["what"] for o in others) == ["back", "back", "back", "foreign"]
    assert all(len(o["corners"]) == 4 for o in others)


def test_json_is_one_line_per_picture_in_the_order_given(photo: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.jpg"
    done = _run(photo, missing, photo, "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["image"] for line in lines] == [str(photo), str(missing), str(photo)]
    assert "error" in lines[1]
    assert "zones" in lines[2]
    assert done.exit_code == 2


@pytest.mark.slow
def test_a_loose_photo_lists_its_cards_without_a_felt(scene: Scene, tmp_path: Path) -> None:
    front = scene.truth["A"]["front"]
    outlines = np.concatenate([card.corners for card in scene.cards if card.code in front])
    (left, top), (right, bottom) = (
        outlines.min(axis=0).astype(int) - 20,
        outlines.max(axis=0).astype(int) + 20,
    )
    loose = tmp_path / "front.jpg"
    cv2.imwrite(str(loose), scene.frame[top:bottom, left:right])
    done = _run(loose, "--loose", "--json")
    cards = json.loads(done.stdout)["cards"]
    assert done.exit_code == 0
    assert sorted(c["card"] for c in cards if c["sure"]) == sorted(front)
    assert all(len(c["corners"]) == 4 for c in cards)


def test_what_was_read_is_drawn_into_a_copy(photo: Path, tmp_path: Path) -> None:
    out = tmp_path / "drawn.png"
    assert _run(photo, "--draw", out).exit_code == 0
    drawn, taken = cv2.imread(str(out)), cv2.imread(str(photo))
    assert drawn is not None
    assert taken is not None
    assert drawn.shape == taken.shape
    assert (drawn != taken).any()


def test_a_drawing_that_has_no_room_leaves_the_file_that_was_there(
    photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "drawn.png"
    out.write_bytes(b"an older drawing")

    def fill_disk(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", fill_disk)
    done = _run(photo, "--draw", out)
    assert done.exit_code == 1
    assert done.stderr == f"Error: {out} cannot be written: No space left on device.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["drawn.png"]
    assert out.read_bytes() == b"an older drawing"


@pytest.mark.parametrize("into_folder", [False, True])
def test_a_drawing_never_replaces_a_photo(photo: Path, tmp_path: Path, into_folder: bool) -> None:
    taken = tmp_path / "table.png"
    taken.write_bytes(photo.read_bytes())
    done = _run(taken, "--draw", tmp_path if into_folder else taken)
    assert done.exit_code == 2
    assert f"The drawing would replace the photo {taken}" in done.stderr
    assert taken.read_bytes() == photo.read_bytes()


def test_two_photos_of_one_name_are_not_drawn_to_one_file(photo: Path, tmp_path: Path) -> None:
    other = tmp_path / photo.name
    other.write_bytes(photo.read_bytes())
    out = tmp_path / "drawn"
    done = _run(photo, other, "--draw", out)
    assert done.exit_code == 2
    assert f"{photo} and {other} would both be drawn to {out / 'table.png'}" in done.stderr
    assert not out.exists()


def test_a_folder_is_read_picture_by_picture(photo: Path) -> None:
    done = _run(photo.parent, "--json")
    assert [json.loads(line)["image"] for line in done.stdout.splitlines()] == [str(photo)]


def _bad_files(photo: Path) -> dict[str, bytes]:
    tiny = cv2.imencode(".png", np.zeros((1, 1, 3), np.uint8))[1].tobytes()
    blank = cv2.imencode(".png", np.full((600, 800, 3), 90, np.uint8))[1].tobytes()
    whole = photo.read_bytes()
    return {
        "cut-off.jpg": whole[: len(whole) // 2],
        "one-pixel.png": tiny,
        "no-image.jpg": b"this is a text",
        "empty.jpg": b"",
        "without-markers.png": blank,
        "video.mp4": b"\0\0\0\x20ftypisom" + bytes(64),
    }


@pytest.mark.parametrize(
    "file", ["cut-off.jpg", "one-pixel.png", "no-image.jpg", "empty.jpg", "without-markers.png", "video.mp4"]
)
def test_a_file_that_cannot_be_read_gets_one_sentence_and_exit_2(
    file: str, tmp_path: Path, photo: Path
) -> None:
    path = tmp_path / file
    path.write_bytes(_bad_files(photo)[file])
    done = _run(path)
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.output


@pytest.mark.slow
def test_a_sixteen_bit_picture_and_a_grey_one_are_taken_as_they_are(photo: Path, tmp_path: Path) -> None:
    taken = cv2.imread(str(photo))
    assert taken is not None
    quick = [cv2.IMWRITE_PNG_COMPRESSION, 1]
    cv2.imwrite(str(tmp_path / "deep.png"), taken.astype(np.uint16) * 257, quick)
    cv2.imwrite(str(tmp_path / "grey.png"), cv2.cvtColor(taken, cv2.COLOR_BGR2GRAY), quick)
    assert _run(tmp_path / "deep.png", tmp_path / "grey.png", "--json").exit_code == 0


def test_a_layout_that_does_not_exist_is_told(photo: Path, tmp_path: Path) -> None:
    done = _run(photo, "--layout", tmp_path / "nowhere.toml")
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    done = _run(tmp_path)
    assert done.exit_code == 2
    assert "no picture" in done.stderr


def test_a_photo_without_a_felt_is_told_how_else_it_is_read(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "plain.png"), np.full((300, 400, 3), 90, np.uint8))
    done = _run(tmp_path / "plain.png")
    assert done.exit_code == 2
    assert "use --loose" in done.stderr
