"""`python -m hardware.make`: writes every hardware file again. `make hardware` runs it."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Final

import click

from hardware.make import loom_sheet
from hardware.make.arrangements import NAMES, arrange
from hardware.make.boards import check
from hardware.make.bom import bom_page
from hardware.make.build import Assembly
from hardware.make.felt import board_sheet, card_pages, cloth_sheet, felt_sheet
from hardware.make.frame import Frame, frame_page, top_page
from hardware.make.mech import PARTS, build_stl, draw_scene, parameters, write_stamps
from hardware.make.model import MODEL, build_model
from hardware.make.protect import electric_page
from hardware.make.rules import Sources, broken, judge, rules_page
from hardware.make.sheet import PAPERS, bind
from hardware.make.tables import HardwareError, RuleBroken, fill
from hardware.make.view import light_text
from hardware.make.wiring import panel_board_page, puck_board_page
from vision.base.errors import VisionError
from vision.felt.layout import TableLayout
from vision.felt.optics import coverage_table

HARDWARE: Final = Path(__file__).parents[1]


def write_texts(root: Path) -> None:
    """Write what is text, and the looms; `root` is laid out as `hardware/`. Raises HardwareError: a rule is broken."""
    for folder in ("out", "wiring", "mech"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    sources = Sources.load(HARDWARE)
    frame, bom, looms, judged = sources.frame, sources.bom, sources.looms(), judge(sources)
    steps = Assembly.load(HARDWARE / "assembly.toml").text().rstrip()
    texts = {
        "out/assembly.md": fill("assembly.md", steps=steps),
        "out/bom.md": bom_page(bom),
        "out/checks.md": rules_page(judged),
        "out/electric.md": electric_page(sources.electric),
        "out/frame.md": frame_page(frame, bom, light_text(frame)),
        "out/table-top.md": top_page(frame),
        "out/optics.md": fill("optics.md", table=coverage_table().rstrip()),
        "out/panel-board.md": panel_board_page(sources.pins),
        "out/puck-board.md": puck_board_page(),
        "mech/parameters.scad": parameters(frame),
    }
    for name, loom in looms.items():
        texts[f"wiring/{name}.yml"] = loom.text()
        loom_sheet.column(loom).svg(root / f"out/wiring-{name}.svg")
        bind(root / f"out/wiring-{name}.pdf", loom.title, loom_sheet.pages(loom))
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    loom_sheet.header_sheet(sources.pins).svg(root / "out/header.svg")
    if wrong := broken(judged):
        raise RuleBroken("; ".join(wrong))


def write_prints(out: Path, layout: TableLayout, frame: Frame | None = None) -> None:
    """Write the felt (SVG, PDF, tiles) and the lens's board; with a frame also its whole cloth."""
    out.mkdir(parents=True, exist_ok=True)
    sheets = {"felt": felt_sheet(layout), "lens-board": board_sheet()}
    bare = {"felt": felt_sheet(layout, ground=False)}
    if frame is not None:
        sheets["cloth"], bare["cloth"] = cloth_sheet(frame), cloth_sheet(frame, ground=False)
    for name, sheet in sheets.items():
        sheet.svg(out / f"{name}.svg")
        sheet.pdf(out / f"{name}.pdf")
    for name, sheet in bare.items():
        for paper in PAPERS:
            sheet.tiles(out / f"{name}-{paper}.pdf", paper)


def standard_frame() -> Frame:
    """Return the frame of the standard felt."""
    return Sources.load(HARDWARE).frame


def build(out: Path) -> None:
    """Build the printed parts, and draw the pictures of the assembly. Raises ToolMissing."""
    for part in PARTS:
        build_stl(HARDWARE / "mech", part, out / f"{part}.stl")
    for task in Assembly.load(HARDWARE / "assembly.toml").step:
        draw_scene(HARDWARE / "mech", task, out / f"assembly-{task.scene}.png")
    build_model(HARDWARE / "mech", HARDWARE / MODEL)


@click.group(invoke_without_command=True)
@click.pass_context
def main(context: click.Context) -> None:
    """Write every hardware file again; what cannot be made here is said, and the rest is made."""
    if context.invoked_subcommand:
        return
    failed, out = False, HARDWARE / "out"
    if old := Sources.load(HARDWARE).bom.stale(date.today()):
        click.echo(f"prices: {old}", err=True)
    steps: dict[str, Callable[[], object]] = {
        "lists, rules, looms": lambda: write_texts(HARDWARE),
        "felt, cloth, board": lambda: write_prints(out, TableLayout.load(), standard_frame()),
        "test cards": lambda: card_pages(out / "test-cards.pdf"),
        "printed parts, pictures of the assembly": lambda: build(out),
    }
    for name, step in steps.items():
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
    write_stamps(HARDWARE, boards=False)


@main.command()
def boards() -> None:
    """Let KiCad check both circuit boards, and write their plots, lists and pictures."""
    try:
        check.check(HARDWARE)
    except HardwareError as error:
        raise click.ClickException(str(error)) from error
    write_stamps(HARDWARE, boards=True)


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
