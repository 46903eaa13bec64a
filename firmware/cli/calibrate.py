"""`feltwatch calibrate`: measures the felt's position, or the lens, from pictures or with the configured camera."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from firmware.command_options import ANY_PATH, FILE, config_option, configured_data_option
from firmware.terminal import say, say_all, say_json
from vision.cli.options import LAYOUT

if TYPE_CHECKING:
    from vision.base.arrays import Image
    from vision.felt.calibration import FeltCalibration
    from vision.felt.layout import TableLayout
    from vision.felt.lens import Lens

CONSOLE: Final = "console"
"""The actor of events recorded while the table is stopped."""


@click.command("calibrate")
@click.argument("paths", nargs=-1, type=ANY_PATH, metavar="[PATH...]")
@click.option("--lens", "of_lens", is_flag=True, help="Measure the lens, from pictures of the printed board.")
@click.option("--board", type=FILE, help="Write the board to print, and do nothing else.")
@click.option("--through", type=FILE, help="The file of the lens's calibration to use.")
@click.option("--before", type=FILE, help="The file of an earlier calibration, to compare.")
@click.option("--out", type=FILE, help="Store the calibration in this file.")
@click.option(
    "--keep", is_flag=True, help="Write it to the record and use it from now on. The table must be stopped."
)
@LAYOUT
@config_option
@configured_data_option
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(
    paths: tuple[Path, ...],
    of_lens: bool,
    board: Path | None,
    through: Path | None,
    before: Path | None,
    out: Path | None,
    keep: bool,
    layout_file: Path | None,
    config_file: Path | None,
    data: Path | None,
    is_json: bool,
) -> None:
    """Measure where the felt lies in the camera's picture.

    PATH is a picture of the bare felt, or a folder of pictures, all taken by one camera that does not move. Without
    PATH the configured camera takes them; stop the table first, because it holds the camera. With --lens the pictures
    show the printed board, held in a dozen positions; --board writes that board.

    While the table runs, the page does the same, live, under More, Records and set-up.
    """
    from firmware.runtime.config import load_config
    from vision.felt.layout import TableLayout

    if board is not None:
        if paths or of_lens or through or before or out or keep or is_json:
            raise click.UsageError("--board writes the board and does nothing else: leave out the rest.")
        _write_board(board)
        return
    if of_lens and (through or before):
        raise click.UsageError("--through and --before are for the felt: leave them out with --lens.")
    config = load_config(config_file, data=data)
    felt = TableLayout.load(layout_file or config.camera.layout)
    if of_lens and not paths:
        raise click.UsageError("Name the pictures of the board; print it with --board first.")
    frames = _pictures(paths) if paths else _take_pictures(config)
    if of_lens:
        result = _lens(frames, out, config.data if keep else None)
    else:
        result = _felt(frames, felt, through, before, out, config.data if keep else None)
    say_json(result) if is_json else say_all(_format_result(result))


def _write_board(path: Path) -> None:
    import cv2

    from firmware.record.journal.disk import write_whole
    from vision.felt.lens import BOARD_SQUARE_MM, BOARD_SQUARES, board_picture

    if path.suffix.lower() != ".png":
        raise click.UsageError(f"The board is a PNG picture: name the file .png, not {path.name}.")
    _, png = cv2.imencode(".png", board_picture())
    try:
        write_whole(path, png.tobytes())
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from error
    width, height = (round(count * BOARD_SQUARE_MM) for count in BOARD_SQUARES)
    say(
        f"The board is in {path}: print it {width} × {height} mm (A3, not scaled), and glue it on something flat."
    )


def _pictures(paths: tuple[Path, ...]) -> list[Image]:
    from vision.base.pictures import load_picture, picture_files

    return [load_picture(path) for path in picture_files(paths)]


def _take_pictures(config: Any) -> list[Image]:
    """Take the pictures with the configured camera."""
    from firmware.runtime.device_factory import make_camera
    from vision.felt.calibration import FRAMES

    with closing(make_camera(config.camera)) as camera:
        camera.open()
        return [camera.frame().image for _ in range(FRAMES)]


def _felt(
    frames: list[Image],
    layout: TableLayout,
    through: Path | None,
    before: Path | None,
    out: Path | None,
    data: Path | None,
) -> dict[str, Any]:
    from firmware.table.events import Calibration, CameraCalibrated
    from vision.felt.calibration import calibrate_felt, movement
    from vision.felt.lens import Lens

    lens = Lens.load(through) if through else _lens_in_force(data)
    made = calibrate_felt(frames, layout, lens)
    result: dict[str, Any] = {
        "what": "felt",
        "pictures": len(frames),
        "hash": made.sha256,
        "figures": made.figures,
    }
    moved: dict[str, float] = {}
    if before is not None:
        old = _read_stored(before)
        change = movement(made.homography, old.reference(made.width_px, made.height_px), layout)
        moved = {name: round(value, 4) for name, value in vars(change).items()}
        result["before"] = {"hash": old.sha256, "figures": old.figures}
        result["moved"] = moved
    stands_on = {"layout": made.layout, "lens": made.lens}
    event = CameraCalibrated("felt", Calibration(made.sha256, "", stands_on, made.figures), None, moved)
    return result | _keep(made.to_text(), out, data, event)


def _lens(frames: list[Image], out: Path | None, data: Path | None) -> dict[str, Any]:
    from firmware.runtime.reading.setup_worker import lens_figures
    from firmware.table.events import Calibration, CameraCalibrated
    from vision.felt.lens import calibrate_lens

    made = calibrate_lens(frames)
    figures = lens_figures(made)
    result = {"what": "lens", "pictures": len(frames), "hash": made.sha256, "figures": figures}
    return result | _keep(
        made.to_text(), out, data, CameraCalibrated("lens", Calibration(made.sha256, "", {}, figures))
    )


def _read_stored(path: Path) -> FeltCalibration:
    from vision.felt.calibration import FeltCalibration

    try:
        return FeltCalibration.from_text(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.UsageError(f"The calibration {path} cannot be read: {error.strerror}.") from error


def _lens_in_force(data: Path | None) -> Lens | None:
    """Return the lens in force in the record, if the felt's calibration goes into that record."""
    from firmware.record.journal.journal import JournalReader
    from vision.felt.lens import Lens

    if data is None:
        return None
    reader = JournalReader(data)
    in_force = reader.recover()[0].calibrations.get("lens")
    text = reader.content(in_force.hash) if in_force else None
    return Lens.from_text(text.decode()) if text else None


def _keep(text: str, out: Path | None, data: Path | None, event: Any) -> dict[str, Any]:
    """Store a calibration in the requested place, and return where. Raises click's errors, TableError."""
    from firmware.record.journal.disk import write_whole
    from firmware.record.journal.journal import Journal
    from firmware.runtime.reading.calibrations import KINDS
    from firmware.runtime.timestamps import box_clock
    from firmware.table import fold

    kept: dict[str, Any] = {}
    if out is not None:
        try:
            write_whole(out, text.encode())
        except OSError as error:
            raise click.UsageError(f"{out} cannot be written: {error.strerror}.") from error
        kept["file"] = str(out)
    if data is not None:
        with Journal(data, box_clock()) as journal:
            fold([event], journal.recover())  # refused while a hand is open, or with another lens
            journal.keep(KINDS[event.what], text.encode())
            kept["seq"] = journal.append([event], CONSOLE)
    return kept


def _format_result(result: dict[str, Any]) -> str:
    lines = [f"{name:<12} {figure:g}" for name, figure in result["figures"].items()]
    if "moved" in result:
        lines += ["since the one before:"] + [
            f"{name:<12} {value:g}" for name, value in result["moved"].items()
        ]
    where = [f"in {result['file']}"] if "file" in result else []
    where += ["in the record, in force from now on"] if "seq" in result else []
    stored = f", stored {' and '.join(where)}" if where else "; store it with --out or --keep"
    name = "felt" if result["what"] == "felt" else "lens"
    return "\n".join(
        [
            *lines,
            f"The {name} is calibrated from {result['pictures']} pictures ({result['hash'][:12]}){stored}.",
        ]
    )
