"""`python -m hardware.make`: writes every hardware file again. `make hardware` runs it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from hardware.make.arrangements import NAMES, arrange
from hardware.make.bom import Bom, bom_page
from hardware.make.errors import HardwareError, ToolMissing
from hardware.make.felt import board_sheet, card_pages, felt_sheet
from hardware.make.frame import Frame, frame_page, top_page
from hardware.make.mech import PARTS, SCENES, build_stl, draw_scene, measures, parameters
from hardware.make.stamps import LOOMS, write_stamps
from hardware.make.wiring import header_sheet, looms, panel_board_page, puck_board_page
from vision.base.errors import VisionError
from vision.felt.layout import TableLayout
from vision.felt.optics import coverage_table
from vision.reading.cards import CARDS

HARDWARE: Final = Path(__file__).parents[1]


def write_texts(root: Path) -> None:
    """Write what is text: parts, power, frame, optics, looms, measures. `root` is laid out as `hardware/`."""
    for folder in ("out", "wiring", "mech"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    pins = HARDWARE / "pinmap.toml"
    layout, bom = TableLayout.load(), Bom.load(HARDWARE / "bom.toml")
    frame = Frame(measures(HARDWARE / "mech"), layout)
    said = {
        "out/bom.md": bom_page(bom),
        "out/frame.md": frame_page(frame, bom),
        "out/table-top.md": top_page(frame),
        "out/optics.md": "# What each camera sees\n\nMade by `make hardware` from `hardware/cameras.toml`; computed, "
        "UNTESTED on hardware.\nOne of them in full: `feltwatch optics --camera cm3 --height 1.15`.\n\n"
        + coverage_table(),
        "out/panel-board.md": panel_board_page(pins),
        "out/puck-board.md": puck_board_page(),
        "mech/parameters.scad": parameters(HARDWARE / "mech", layout),
    }
    said |= {f"wiring/{name}.yml": text for name, text in looms(pins, bom).items()}
    for name, text in said.items():
        (root / name).write_text(text, encoding="utf-8")
    header_sheet(pins).svg(root / "out/header.svg")


def write_prints(out: Path, layout: TableLayout) -> None:
    """Write the felt (SVG, PDF, tiles) and the lens's board."""
    out.mkdir(parents=True, exist_ok=True)
    felt = felt_sheet(layout)
    felt.svg(out / "felt.svg")
    felt.pdf(out / "felt.pdf")
    for paper in ("a4", "a3"):
        felt_sheet(layout, ground=False).tiles(out / f"felt-{paper}.pdf", paper)
    board_sheet().svg(out / "lens-board.svg")
    board_sheet().pdf(out / "lens-board.pdf")


def _cards(out: Path) -> None:
    card_pages(out / "test-cards.pdf", CARDS)


def draw_looms(root: Path) -> None:
    """Draw the looms as SVG and PDF. Raises ToolMissing."""
    wireviz = Path(sys.executable).with_name("wireviz")
    if shutil.which("dot") is None or not wireviz.exists():
        raise ToolMissing(
            "graphviz or wireviz is missing: apt-get install graphviz; pip install -e '.[hardware]'"
        )
    for name in LOOMS:
        at = root / "wiring" / name
        _run(str(wireviz), "-f", "gs", f"{at}.yml")
        pdf = _run("dot", "-Tpdf", f"{at}.gv")
        # without the time of day: the same source is the same file
        dateless = re.sub(rb"(/CreationDate \(D:)\d{14}", rb"\g<1>20000101000000", pdf)
        (root / "out" / f"wiring-{name}.pdf").write_bytes(dateless)
        Path(f"{at}.svg").replace(root / "out" / f"wiring-{name}.svg")
        Path(f"{at}.gv").unlink()


def _run(*command: str) -> bytes:
    done = subprocess.run(command, capture_output=True, timeout=120)
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()[-400:]
        raise ToolMissing(f"{Path(command[0]).name} failed: {words}")
    return done.stdout


def build_parts(root: Path) -> None:
    """Build the printed parts. Raises ToolMissing."""
    for part in PARTS:
        build_stl(HARDWARE / "mech", part, root / "out" / f"{part}.stl")


def draw_assembly(root: Path) -> None:
    """Draw the pictures of the assembly. Raises ToolMissing."""
    for scene in SCENES:
        draw_scene(HARDWARE / "mech", scene, root / "out" / f"assembly-{scene}.png")


@click.group(invoke_without_command=True)
@click.pass_context
def main(context: click.Context) -> None:
    """Write every hardware file again; what cannot be made here is said, and the rest is made."""
    if context.invoked_subcommand:
        return
    failed = False
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("parts, power, optics, looms", lambda: write_texts(HARDWARE)),
        ("felt, board", lambda: write_prints(HARDWARE / "out", TableLayout.load())),
        ("test cards", lambda: _cards(HARDWARE / "out")),
        ("drawings of the looms", lambda: draw_looms(HARDWARE)),
        ("printed parts", lambda: build_parts(HARDWARE)),
        ("pictures of the assembly", lambda: draw_assembly(HARDWARE)),
    )
    for name, step in steps:
        try:
            step()
            click.echo(f"{name}: made")
        except (HardwareError, VisionError) as error:
            failed = True
            click.echo(f"{name}: {error}", err=True)
    if failed:
        raise click.exceptions.Exit(1)
    write_stamps(HARDWARE)


@main.command()
@click.option(
    "--layout", type=click.Path(path_type=Path), help="The felt's table.toml; default: the standard felt."
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A folder for the files.")
def felt(layout: Path | None, out: Path) -> None:
    """Write the print files of a felt."""
    try:
        write_prints(out, TableLayout.load(layout))
    except (VisionError, OSError) as error:
        raise click.UsageError(str(error)) from error


@main.command()
@click.argument("name", type=click.Choice(NAMES))
@click.option("--card-width", type=click.FloatRange(40, 90), help="Millimetres; bridge cards are 57.")
@click.option("--camera", default="cm3", show_default=True, help="One of `feltwatch optics --list`.")
def arrangement(name: str, card_width: float | None, camera: str) -> None:
    """Write another felt's table.toml to the standard output."""
    try:
        text = arrange(name, card_width, camera)
        TableLayout.parse(text)
    except (HardwareError, VisionError) as error:
        raise click.UsageError(str(error)) from error
    click.echo(text, nl=False)


if __name__ == "__main__":
    main(prog_name="python -m hardware.make")
