"""The printed parts: their measures for OpenSCAD, their STL files and pictures through it; pictures of the assembly."""

from __future__ import annotations

import json
import math
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
from hardware.make.frame import Frame

PARTS: Final = ("puck_shell", "antenna_pocket", "antenna_lid", "button_box", "camera_head")
SCENES: Final[Mapping[str, str]] = {
    "prints": "0,55,20,50,0,20,760",
    "foot": "417,200,-570,66,0,30,1750",
    "portal": "417,-395,320,70,0,-28,7600",
    "ties": "417,-395,400,66,0,-28,8600",
    "lamps": "417,-1250,1330,76,0,38,4200",
    "supply": "480,-760,330,72,0,24,3000",
    "camera": "0,0,5,72,0,38,660",
    "top": "417,-395,0,35,0,0,3400",
    "hub": "0,0,4,48,0,24,300",
    "antenna": "0,0,42,66,0,28,620",
    "felt": "417,-395,0,0,0,0,3300",
    "puck": "0,0,18,66,0,0,330",
    "buttons": "0,0,45,55,0,-20,640",
    "screen": "300,-395,0,50,0,-60,3500",
    "box": "0,0,20,42,0,25,620",
    "table": "417,-395,300,66,0,-26,8600",
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


def parameters(folder: Path, frame: Frame) -> str:
    """Write the measures as OpenSCAD reads them, each named after its part, and those of the felt."""
    lines = ["// Made from mech.toml and table.toml by `make hardware`: change those."]
    for part, values in measures(folder).items():
        if part in ("lens", "profile", "strength"):
            continue  # no measures: what it bears, how it draws
        lines += [
            f"{part}_{name} = {json.dumps(value)};"
            for name, value in values.items()
            if name not in ("pieces", "bounds_mm")
        ]
    layout = frame.layout
    zones = [[z.x_mm, z.y_mm, z.width_mm, z.height_mm] for z in layout.zones]
    lines += [
        f"frame_beam_z_mm = {frame.beam_z};",
        f"frame_lamp_deg = {math.degrees(frame.lamp_turned):.1f};",
        f"frame_hood_deg = {math.degrees(frame.hood_turned):.1f};",
        f"frame_coils_mm = {[list(at) for at in frame.coils_mm()]};",
        f"frame_inward = {[list(frame.inward(at)) for at in frame.said['antennas_mm']]};",
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
    box = (
        max(0, left - EDGE_PX),
        max(0, top - EDGE_PX),
        min(drawn.width, right + EDGE_PX),
        min(drawn.height, bottom + EDGE_PX),
    )
    drawn.crop(box).quantize(COLOURS, dither=Image.Dither.NONE).save(out, optimize=True)


def _run(command: list[str]) -> None:
    missing = [tool for tool in {command[0], "openscad"} if shutil.which(tool) is None]
    if missing:
        raise ToolMissing(f"{' and '.join(sorted(missing))} is missing: apt-get install openscad xvfb xauth")
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        raise ToolMissing(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-400:]}")
