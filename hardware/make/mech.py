"""The printed parts: their measures for OpenSCAD, their STL files and pictures through it; pictures of the assembly."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image, ImageChops

from hardware.make.errors import ToolMissing
from vision.felt.layout import TableLayout

PARTS: Final = ("puck_shell", "antenna_pocket", "button_box", "camera_head")
SCENES: Final[Mapping[str, str]] = {
    "table": "415,-395,200,64,0,-22,7000",
    "felt": "400,-395,0,0,0,0,2900",
    "camera": "0,25,20,66,0,42,560",
    "buttons": "0,0,45,55,0,-20,640",
    "antenna": "0,0,40,66,0,28,600",
    "puck": "0,0,18,66,0,0,330",
}
"""The pictures of the assembly, and from where each is seen: OpenSCAD's `--camera`."""
SCENE_PX: Final = (1200, 900)
EDGE_PX: Final = 16
COLOURS: Final = 64
LIMIT_S: Final = 300
_HEAD: Final = 84
_TRIANGLE: Final = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")])
"""A binary STL: 80 bytes of title, the number of triangles, the triangles."""


def measures(folder: Path) -> dict[str, dict[str, Any]]:
    """Read every part's measures: `mech.toml`."""
    return tomllib.loads((folder / "mech.toml").read_text(encoding="utf-8"))


def parameters(folder: Path, layout: TableLayout) -> str:
    """Write the measures as OpenSCAD reads them, each named after its part, and those of the felt."""
    lines = ["// Made from mech.toml and table.toml by `make hardware`: change those."]
    for part, values in measures(folder).items():
        lines += [
            f"{part}_{name} = {value};"
            for name, value in values.items()
            if name not in ("pieces", "bounds_mm")
        ]
    zones = [[z.x_mm, z.y_mm, z.width_mm, z.height_mm] for z in layout.zones]
    lines += [
        f"felt_width_mm = {layout.width_mm};",
        f"felt_height_mm = {layout.height_mm};",
        f"felt_zones_mm = {zones};",
        f"felt_markers_mm = {[[m.x_mm, m.y_mm] for m in layout.markers.at]};",
        f"felt_marker_mm = {layout.markers.side_mm};",
    ]
    return "\n".join(lines) + "\n"


def build_stl(folder: Path, part: str, out: Path) -> None:
    """Build one part's STL, its triangles in a fixed order: the same source is the same file. Raises ToolMissing."""
    _run(["openscad", "--export-format", "binstl", "-o", str(out), str(folder / f"{part}.scad")])
    written = out.read_bytes()
    triangles = np.frombuffer(written, _TRIANGLE, offset=_HEAD).copy()
    corners = triangles["corners"]
    first = np.lexsort(corners.transpose(2, 0, 1)[::-1])[:, 0]
    turned = (first[:, None] + np.arange(3)) % 3  # the same way round
    triangles["corners"] = np.take_along_axis(corners, turned[:, :, None], axis=1)
    order = np.lexsort(triangles["corners"].reshape(len(triangles), 9).T[::-1])
    out.write_bytes(written[:_HEAD] + triangles[order].tobytes())


def draw_scene(folder: Path, scene: str, out: Path) -> None:
    """Draw one picture of the assembly, with few colours: it is in the repository. Raises ToolMissing."""
    command = ["openscad", f"--imgsize={','.join(map(str, SCENE_PX))}", f"--camera={SCENES[scene]}"]
    turned = ",".join(SCENES[scene].split(",")[3:6])
    command += [
        "--projection=p",
        "--colorscheme=Tomorrow",
        "-D",
        f'scene="{scene}"',
        "-D",
        f"turned=[{turned}]",
    ]
    command += ["-o", str(out), str(folder / "assembly.scad")]
    # without a screen OpenSCAD needs a virtual one
    _run(command if "DISPLAY" in os.environ else ["xvfb-run", "-a", *command])
    drawn = Image.open(out).convert("RGB")
    left, top, right, bottom = ImageChops.difference(
        drawn, Image.new("RGB", drawn.size, drawn.getpixel((0, 0)))
    ).getbbox() or (0, 0, *drawn.size)
    box = (left - EDGE_PX, top - EDGE_PX, right + EDGE_PX, bottom + EDGE_PX)
    drawn.crop(box).quantize(COLOURS, dither=Image.Dither.NONE).save(out, optimize=True)


def _run(command: list[str]) -> None:
    missing = [tool for tool in {command[0], "openscad"} if shutil.which(tool) is None]
    if missing:
        raise ToolMissing(f"{' and '.join(sorted(missing))} is missing: apt-get install openscad xvfb xauth")
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        raise ToolMissing(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-400:]}")
