"""What OpenSCAD makes: the printed parts as STL files, and pictures of the assembly; what each was made from."""

import hashlib
import json
import math
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image, ImageChops

from hardware.make.boards.check import REPORT
from hardware.make.boards.circuit import BOARDS, FOLDER
from hardware.make.build import Assembly, Task
from hardware.make.frame import Frame
from hardware.make.tables import ToolMissing

PARTS: Final = ("puck_shell", "antenna_pocket", "antenna_lid", "button_box", "camera_head")
NO_MEASURES: Final = ("lens", "profile", "strength")
"""The tables of mech.toml with loads and optics: OpenSCAD needs none of them."""
SCENE_PX: Final = (1200, 900)
EDGE_PX: Final = 16
COLOURS: Final = 64
LIMIT_S: Final = 300
STAMPS: Final = "out/made.json"
"""What each drawn or built file was made from, so that a stale one is found without its tools."""
_HEAD: Final = 84
_TRIANGLE: Final = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")])
"""A binary STL: 80 bytes of title, the number of triangles, the triangles."""


def parameters(frame: Frame) -> str:
    """Write the measures as OpenSCAD reads them, each named after its part, and those of the felt."""
    measures = {
        f"{part}_{name}": value
        for part, values in frame.measures.items()
        for name, value in values.items()
        if part not in NO_MEASURES and name not in ("pieces", "bounds_mm")
    }
    layout, markers = frame.layout, frame.layout.markers
    measures |= {
        "frame_beam_z_mm": frame.beam_z,
        "frame_lamp_deg": round(math.degrees(frame.lamp_turned), 1),
        "frame_hood_deg": round(math.degrees(frame.hood_turned), 1),
        "frame_coils_mm": frame.coils_mm(),
        "frame_inward": [frame.inward(at) for at in frame.sizes["antennas_mm"]],
        "felt_width_mm": layout.width_mm,
        "felt_height_mm": layout.height_mm,
        "felt_zones_mm": [[z.x_mm, z.y_mm, z.width_mm, z.height_mm] for z in layout.zones],
        "felt_markers_mm": [[m.x_mm, m.y_mm] for m in markers.at],
        "felt_marker_mm": markers.side_mm,
    }
    head = "// Made from mech.toml and table.toml by `make hardware`: change those.\n"
    return head + "".join(f"{name} = {json.dumps(value)};\n" for name, value in measures.items())


def run_openscad(*asked: str) -> None:
    """Run OpenSCAD. Raises ToolMissing."""
    _run(["openscad", *asked])


def read_stl(path: Path) -> np.ndarray[Any, np.dtype[np.void]]:
    """Return the triangles of a binary STL."""
    return np.frombuffer(path.read_bytes(), _TRIANGLE, offset=_HEAD).copy()


def build_stl(folder: Path, part: str, out: Path) -> None:
    """Build one part's STL, its triangles in a fixed order: the same source is the same file. Raises ToolMissing."""
    run_openscad("--export-format", "binstl", "-o", str(out), str(folder / f"{part}.scad"))
    written, triangles = out.read_bytes(), read_stl(out)
    corners = triangles["corners"]
    first = np.lexsort(corners.transpose(2, 0, 1)[::-1])[:, 0]
    turned = (first[:, None] + np.arange(3)) % 3  # the same way round
    triangles["corners"] = np.take_along_axis(corners, turned[:, :, None], axis=1)
    order = np.lexsort(triangles["corners"].reshape(len(triangles), 9).T[::-1])
    out.write_bytes(written[:_HEAD] + triangles[order].tobytes())


def draw_scene(folder: Path, task: Task, out: Path) -> None:
    """Draw the picture of a step, with few colours: it is in the repository. Raises ToolMissing."""
    turned = ",".join(task.camera.split(",")[3:6])
    command = [
        "openscad",
        f"--imgsize={SCENE_PX[0]},{SCENE_PX[1]}",
        f"--camera={task.camera}",
        "--projection=p",
    ]
    command += ["--colorscheme=Tomorrow", "-D", f'scene="{task.scene}"', "-D", f"turned=[{turned}]"]
    command += ["-o", str(out), str(folder / "assembly.scad")]
    # without a screen OpenSCAD needs a virtual one
    _run(command if "DISPLAY" in os.environ else ["xvfb-run", "-a", *command])
    drawn = Image.open(out).convert("RGB")
    ground = Image.new("RGB", drawn.size, drawn.getpixel((0, 0)))
    left, top, right, bottom = ImageChops.difference(drawn, ground).getbbox() or (0, 0, *drawn.size)
    right, bottom = min(drawn.width, right + EDGE_PX), min(drawn.height, bottom + EDGE_PX)
    drawn = drawn.crop((max(0, left - EDGE_PX), max(0, top - EDGE_PX), right, bottom))
    drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(out, optimize=True)


def _run(command: list[str]) -> None:
    missing = [tool for tool in {command[0], "openscad"} if shutil.which(tool) is None]
    if missing:
        raise ToolMissing(f"{' and '.join(sorted(missing))} is missing: apt-get install openscad xvfb xauth")
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        raise ToolMissing(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-400:]}")


def stamps(root: Path) -> dict[str, dict[str, str]]:
    """Return two hashes for each file that needs a tool of others: of its sources, and of the file. Raises OSError."""

    def sha256(*paths: str, view: str = "") -> str:
        read = b"\0".join((root / path).read_bytes() for path in paths)
        return hashlib.sha256(read + view.encode()).hexdigest()

    found, measures = {}, "mech/parameters.scad"
    for part in PARTS:
        made = f"out/{part}.stl"
        found[made] = {"from": sha256(measures, f"mech/{part}.scad"), "is": sha256(made)}
    every = (measures, "mech/assembly.scad", *(f"mech/{part}.scad" for part in PARTS))
    for task in Assembly.load(root / "assembly.toml").step:
        made, view = f"out/assembly-{task.scene}.png", f"{task.camera} {SCENE_PX}"
        found[made] = {"from": sha256(*every, view=view), "is": sha256(made)}
    model = sha256(*every, "mech/model.scad")
    found["out/table.glb"] = {"from": model, "is": sha256("out/table.glb")}
    for board in BOARDS:
        project = [f"{FOLDER}/{board}.kicad_{ending}" for ending in ("sch", "pcb", "pro")]
        for made in (f"out/board-{board}{ending}" for ending in (".zip", "-bom.csv", ".png")):
            found[made] = {"from": sha256(*project), "is": sha256(made)}
    projects = (f"{FOLDER}/{board}.kicad_{ending}" for board in BOARDS for ending in ("sch", "pcb", "pro"))
    found[REPORT] = {"from": sha256(*projects), "is": sha256(REPORT)}
    return dict(sorted(found.items()))


def write_stamps(root: Path, *, boards: bool) -> None:
    """Write the stamps of the boards' files, which KiCad made, or of all others, as they are now. Raises OSError."""
    path, now = root / STAMPS, stamps(root)
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    both = {
        name: it if name.startswith("out/board") == boards else kept.get(name, {}) for name, it in now.items()
    }
    path.write_text(json.dumps(both, indent=1) + "\n", encoding="utf-8")
