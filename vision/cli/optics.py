"""`feltwatch optics`: what a camera at a height sees of the felt, before anything is bought or drilled."""

import json
import math
from pathlib import Path

import click

from vision.cli.options import LAYOUT
from vision.felt.layout import TableLayout
from vision.felt.optics import GRAIN_ISO, Grade, Sight, cameras, coverage_table, sight


@click.command("optics")
@click.option("--camera", "key", default="hq-6mm", metavar="NAME", help="The camera; --list names them.")
@click.option(
    "--height",
    type=float,
    metavar="METRES",
    help="Height of the lens above the felt.  [default: the layout's]",
)
@LAYOUT
@click.option("--mains", type=click.Choice(["50", "60"]), default="50", help="The mains, in hertz.")
@click.option("--iso", type=click.IntRange(25, 12800), default=GRAIN_ISO, help="The sensor's gain.")
@click.option("--list", "listed", is_flag=True, help="Print the known cameras at usual heights, as Markdown.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(
    key: str,
    height: float | None,
    layout_file: Path | None,
    mains: str,
    iso: int,
    listed: bool,
    is_json: bool,
) -> None:
    """Compute what a camera sees from a height: area, px/mm, cards in pixels, depth of field, light.

    The result is compared with what the card reader was measured at. The exit status is 1 if the felt cannot be read
    so. Computed for a camera that looks straight down through an ideal lens; UNTESTED on hardware.

        feltwatch optics --camera cm3 --height 1.32
    """
    known = cameras()
    if listed:
        click.echo(coverage_table(), nl=False)
        for camera in known.values():
            click.echo(f"{camera.key}: {camera.name}; {camera.note}")
        return
    if key not in known:
        raise click.BadParameter(
            f"there is no camera {key}; known are {', '.join(known)}", param_hint="--camera"
        )
    felt = TableLayout.load(layout_file)
    height_mm = felt.camera.height_mm if height is None else height * 1000
    seen = sight(known[key], height_mm, felt, mains_hz=int(mains), iso=iso)
    click.echo(json.dumps(seen.to_json()) if is_json else _text(seen, iso))
    if seen.grade is Grade.NO:
        raise click.exceptions.Exit(1)


def _text(seen: Sight, iso: int) -> str:
    figures, felt = seen.to_json(), seen.layout
    wide, high = (side / 1000 for side in seen.camera.area_mm(seen.height_mm))
    near, far = (side / 1000 for side in seen.camera.depth_mm(seen.height_mm))
    low, most = (end / 1000 for end in seen.camera.window_mm(felt))
    across, down, lowest = felt.width_mm / 1000, felt.height_mm / 1000, figures["lowest_height_mm"] / 1000
    rows = [
        ("camera", f"{seen.camera.name} at {seen.height_mm / 1000:g} m"),
        ("covers", f"{wide:.2f} × {high:.2f} m; the felt is {across:g} × {down:g} m"),
        ("lowest height", f"{lowest:.2f} m, where the felt just fills the picture"),
        (
            "hang it at",
            f"{low:.2f} to {most:.2f} m, with every tolerance at once"
            if low <= most
            else "no height holds every tolerance",
        ),
        ("resolution", f"{figures['px_per_mm']:.2f} px/mm"),
        ("a card", "{} × {} px".format(*figures["card_px"])),
        ("its index", ", ".join(f"{name} {size} px" for name, size in figures["index_px"].items())),
        ("a marker", f"{figures['marker_px']} px"),
        ("sharp", f"{near:.2f} m to " + ("infinity" if math.isinf(far) else f"{far:.2f} m")),
    ]
    rows += [(f"light, {ms:.3g} ms", f"{lux:.0f} lux at ISO {iso}") for ms, lux in seen.exposures]
    rows += [("verdict", str(seen.grade)), *(("", problem) for problem in seen.problems)]
    rows += [("note", seen.camera.note)]
    return "\n".join(f"{name:14}{value}" for name, value in rows)
