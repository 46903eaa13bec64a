"""`feltwatch calibrate`: from pictures, from the configured camera, into a file and into the record."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from firmware.cli.main import main
from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import Journal, JournalReader
from tests.rendered import rendered
from tests.vision.boards import board_photo
from vision.felt.calibration import FeltCalibration
from vision.felt.layout import TableLayout
from vision.felt.lens import Lens
from vision.synthetic.render import Conditions

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two pictures of the bare felt, and the same camera knocked."""
    folder = tmp_path_factory.mktemp("pictures")
    for name, seed in (("bare", 1), ("knocked", 7)):
        (folder / name).mkdir()
        frame = rendered({}, TableLayout.load(), seed=seed, conditions=Conditions(), scale=0.5).frame
        for number in (1, 2):
            cv2.imwrite(str(folder / name / f"{number}.png"), frame)
    return folder


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["calibrate", *map(str, args)])


def test_a_felt_is_calibrated_from_pictures_and_compared_with_an_earlier_one(
    pictures: Path, tmp_path: Path
) -> None:
    done = run(pictures / "bare", "--out", tmp_path / "felt.json", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    stored = FeltCalibration.from_text((tmp_path / "felt.json").read_text(encoding="utf-8"))
    assert (told["hash"], told["figures"]) == (stored.sha256, stored.figures)
    assert told["figures"]["error_px"] < 0.5
    knocked = run(pictures / "knocked", "--before", tmp_path / "felt.json")
    assert knocked.exit_code == 0
    assert "most_mm" in knocked.stdout
    assert "store it with --out or --keep" in knocked.stdout


def test_a_calibration_goes_into_the_record_of_a_stopped_table(pictures: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    lens = [cv2.imwrite(str(tmp_path / f"{n}.png"), board_photo(n)) for n in (0, 1, 2, 4, 6, 7, 8)]
    assert all(lens)
    seen = run(
        *(tmp_path / f"{n}.png" for n in (0, 1, 2, 4, 6, 7, 8)), "--lens", "--keep", "--data", data, "--json"
    )
    assert seen.exit_code == 0, seen.output
    felt = run(pictures / "bare", "--keep", "--data", data, "--json")
    assert felt.exit_code == 0, felt.output
    state = JournalReader(data).recover()[0]
    assert {what: made.hash for what, made in state.calibrations.items()} == {
        "lens": json.loads(seen.stdout)["hash"],
        "felt": json.loads(felt.stdout)["hash"],
    }
    assert state.calibrations["felt"].stands_on["lens"] == state.calibrations["lens"].hash
    text = JournalReader(data).content(state.calibrations["lens"].hash)
    assert text is not None
    assert Lens.from_text(text.decode()).error_px < 0.5
    assert verify(data).ok
    with Journal(data):
        busy = run(pictures / "bare", "--keep", "--data", data)
    assert busy.exit_code == 1
    assert "Another table process" in busy.stderr


def test_the_configured_camera_takes_the_pictures(pictures: Path, tmp_path: Path) -> None:
    config = tmp_path / "feltwatch.toml"
    config.write_text(f'[camera]\nkind = "files"\ndevice = "{pictures / "bare"}"\n', encoding="utf-8")
    done = run("--config", config, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["pictures"] == 5


def test_the_board_is_written_to_be_printed(tmp_path: Path) -> None:
    done = run("--board", tmp_path / "board.png")
    assert done.exit_code == 0
    assert "380 × 266 mm" in done.stdout
    board = cv2.imread(str(tmp_path / "board.png"), cv2.IMREAD_GRAYSCALE)
    assert board is not None
    assert run("--board", tmp_path / "nowhere" / "board.png").exit_code == 2


def test_what_cannot_be_calibrated_is_told_in_a_sentence(pictures: Path, tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "grey.png"), np.full((400, 600, 3), 90, np.uint8))
    for args, code, words in (
        ((tmp_path / "grey.png",), 1, "The felt's markers are not seen"),
        ((tmp_path / "nothing.png",), 2, "There is no file"),
        ((pictures / "bare", "--lens"), 1, "The board can be made out in 0 of 2 pictures"),
        (("--lens",), 2, "Name the pictures of the board"),
        ((pictures / "bare", "--before", tmp_path / "none.json"), 2, "cannot be read"),
        ((pictures / "bare", "--layout", tmp_path / "none.toml"), 2, "cannot be read"),
        (("--board", tmp_path / "board.pdf"), 2, "name the file .png, not board.pdf"),
        (("--board", tmp_path / "board.png", "--lens", "--keep"), 2, "does nothing else"),
        (("--board", tmp_path / "board.png", "--json"), 2, "does nothing else"),
        ((pictures / "bare", "--lens", "--through", tmp_path / "none.json"), 2, "are for the felt"),
    ):
        done = run(*args)
        assert done.exit_code == code, done.output
        assert words in done.stderr
        assert "Traceback" not in done.stderr
    assert not [*tmp_path.glob("board.*")]
