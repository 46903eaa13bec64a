"""The printed parts: their measures for OpenSCAD, their STL files and pictures through it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any, Final

from hardware.make.errors import ToolMissing

PARTS: Final = ("puck_shell", "antenna_pocket", "button_box", "camera_head")
LIMIT_S: Final = 300


def measures(folder: Path) -> dict[str, dict[str, Any]]:
    """Read every part's measures: `mech.toml`."""
    return tomllib.loads((folder / "mech.toml").read_text(encoding="utf-8"))


def parameters(folder: Path) -> str:
    """Write the measures as OpenSCAD reads them, each named after its part."""
    lines = ["// Made from mech.toml by `make hardware`: change that."]
    for part, values in measures(folder).items():
        lines += [
            f"{part}_{name} = {value};"
            for name, value in values.items()
            if name not in ("pieces", "bounds_mm")
        ]
    return "\n".join(lines) + "\n"


def build_stl(folder: Path, part: str, out: Path) -> None:
    """Build one part's STL. Raises ToolMissing."""
    _run(["openscad", "--export-format", "binstl", "-o", str(out), str(folder / f"{part}.scad")])


def build_picture(folder: Path, part: str, out: Path) -> None:
    """Draw one part; without a screen OpenSCAD needs a virtual one. Raises ToolMissing."""
    command = [
        "openscad",
        "--imgsize=640,480",
        "--autocenter",
        "--viewall",
        "--projection=o",
        "--camera=0,0,0,55,0,35,400",
    ]
    command += ["--colorscheme=Tomorrow", "--render", "-o", str(out), str(folder / f"{part}.scad")]
    if "DISPLAY" not in os.environ:
        command = ["xvfb-run", "-a", *command]
    _run(command)


def _run(command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        raise ToolMissing(f"{command[0]} is missing: apt-get install openscad xvfb xauth")
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        raise ToolMissing(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-400:]}")
