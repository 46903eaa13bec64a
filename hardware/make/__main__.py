"""`python -m hardware.make`: writes every hardware file again. `make hardware` runs it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Final

import click

from hardware.make import loom_sheet
from hardware.make.arrangements import NAMES, arrange
from hardware.make.assembly import Assembly, assembly_page
from hardware.make.bom import bom_page
from hardware.make.errors import HardwareError, RuleBroken
from hardware.make.felt import board_sheet, card_pages, cloth_sheet, felt_sheet
from hardware.make.frame import Frame
from hardware.make.frame_page import frame_page, top_page
from hardware.make.mech import PARTS, SCENES, build_stl, draw_scene, parameters
from hardware.make.protect import electric_page
from hardware.make.rules import Sources, broken, judge, rules_page
from hardware.make.sheet import PAPERS, bind
from hardware.make.stamps import write_stamps
from hardware.make.view import light_text
from hardware.make.wiring import panel_board_page, puck_board_page
from vision.base.errors import VisionError
from vision.felt.layout import TableLayout
from vision.felt.optics import coverage_table
from vision.reading.cards import CARDS

HARDWARE: Final = Path(__file__).parents[1]


def write_texts(root: Path) -> None:
    """Write what is text, and the looms; `root` is laid out as `hardware/`. Raises HardwareError: a rule is broken."""
    for folder in ("out", "wiring", "mech"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    pins = HARDWARE / "pinmap.toml"
    sources = Sources.load(HARDWARE, TableLayout.load())
    frame, bom = sources.frame, sources.bom
    looms = loom_sheet.looms(pins, bom, sources.electric)
    judged = judge(sources, looms)
    said = {
        "out/assembly.md": assembly_page(Assembly.load(HARDWARE / "assembly.toml")),
        "out/bom.md": bom_page(bom),
        "out/checks.md": rules_page(judged),
        "out/electric.md": electric_page(sources.electric),
        "out/frame.md": frame_page(frame, bom, light_text(frame)),
        "out/table-top.md": top_page(frame),
        "out/optics.md": "# What each camera sees\n\nMade by `make hardware` from `hardware/cameras.toml`; computed, "
        "UNTESTED on hardware.\nOne of them in full: `feltwatch optics --camera hq-6mm --height 1.32`.\n\n"
        + coverage_table(),
        "out/panel-board.md": panel_board_page(pins),
        "out/puck-board.md": puck_board_page(),
        "mech/parameters.scad": parameters(HARDWARE / "mech", frame),
    }
    for name, loom in looms.items():
        said[f"wiring/{name}.yml"] = loom_sheet.loom_text(loom, loom_sheet.TITLES[name])
        title = loom_sheet.TITLES[name]
        loom_sheet.column(loom, title).svg(root / f"out/wiring-{name}.svg")
        bind(root / f"out/wiring-{name}.pdf", title, loom_sheet.pages(loom, title))
    for name, text in said.items():
        (root / name).write_text(text, encoding="utf-8")
    loom_sheet.header_sheet(pins).svg(root / "out/header.svg")
    if wrong := broken(judged):
        raise RuleBroken("; ".join(wrong))


def write_prints(out: Path, layout: TableLayout, frame: Frame | None = None) -> None:
    """Write the felt (SVG, PDF, tiles) and the lens's board; with a frame also its whole cloth."""
    out.mkdir(parents=True, exist_ok=True)
    felt = felt_sheet(layout)
    felt.svg(out / "felt.svg")
    felt.pdf(out / "felt.pdf")
    for paper in PAPERS:
        felt_sheet(layout, ground=False).tiles(out / f"felt-{paper}.pdf", paper)
    if frame is not None:
        cloth = cloth_sheet(frame)
        cloth.svg(out / "cloth.svg")
        cloth.pdf(out / "cloth.pdf")
        for paper in PAPERS:
            cloth_sheet(frame, ground=False).tiles(out / f"cloth-{paper}.pdf", paper)
    board_sheet().svg(out / "lens-board.svg")
    board_sheet().pdf(out / "lens-board.pdf")


def standard_frame() -> Frame:
    """Return the frame of the standard felt."""
    return Sources.load(HARDWARE, TableLayout.load()).frame


def _cards(out: Path) -> None:
    card_pages(out / "test-cards.pdf", CARDS)


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
    if old := Sources.load(HARDWARE, TableLayout.load()).bom.stale(date.today()):
        click.echo(f"prices: {old}", err=True)
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("lists, rules, looms", lambda: write_texts(HARDWARE)),
        ("felt, cloth, board", lambda: write_prints(HARDWARE / "out", TableLayout.load(), standard_frame())),
        ("test cards", lambda: _cards(HARDWARE / "out")),
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
        except KeyError as error:
            failed = True
            click.echo(f"{name}: the data lack {error}, or name it wrongly", err=True)
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
@click.option("--camera", help="One of `feltwatch optics --list`.  [default: the standard felt's]")
def arrangement(name: str, card_width: float | None, camera: str | None) -> None:
    """Write another felt's table.toml to the standard output."""
    try:
        text = arrange(name, card_width, camera)
        TableLayout.parse(text)
    except (HardwareError, VisionError) as error:
        raise click.UsageError(str(error)) from error
    click.echo(text, nl=False)


if __name__ == "__main__":
    main(prog_name="python -m hardware.make")
