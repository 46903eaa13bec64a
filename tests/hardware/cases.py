"""The hardware's data as they are, and with other figures."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.make.bom import Bom
from hardware.make.finding import Finding
from hardware.make.frame import Frame
from hardware.make.rules import Sources

if TYPE_CHECKING:
    from trimesh import Trimesh

HARDWARE: Final = Path(__file__).parents[2] / "hardware"
NOW: Final = Sources.load(HARDWARE)
LAYOUT: Final = NOW.frame.layout
BOM: Final = (HARDWARE / "bom.toml").read_text(encoding="utf-8")


def frame(**changed: dict[str, Any]) -> Frame:
    """The frame with other figures: `frame=`, `puck_shell=`, …"""
    said = copy.deepcopy(NOW.frame.measures)
    for part, values in changed.items():
        said[part] |= values
    return Frame(said, LAYOUT)


def printed(name: str, folder: Path = HARDWARE / "out") -> Trimesh:
    """A printed part."""
    import trimesh  # a second of processor, which every worker would take that collects these tests

    mesh = trimesh.load_mesh(folder / f"{name}.stl")
    assert isinstance(mesh, trimesh.Trimesh)
    return mesh


def bom(old: str, new: str) -> Bom:
    """The parts list with other words."""
    assert old in BOM
    return Bom.model_validate(tomllib.loads(BOM.replace(old, new)))


def electric(**changed: Any) -> dict[str, Any]:
    """`electric.toml` with other tables, or other figures in one."""
    said = copy.deepcopy(NOW.electric)
    return said | {k: said[k] | v if isinstance(v, dict) else v for k, v in changed.items()}


def wrong(findings: Iterable[Finding]) -> str:
    """Every rule that does not hold, with its figure."""
    return " | ".join(f"{one.rule}: {one.figure}" for one in findings if not one.ok)
