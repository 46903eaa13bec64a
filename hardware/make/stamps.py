"""What each drawn or built file was made from: `out/made.json`, so that a stale one is found without its tools."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

from hardware.make.mech import PARTS, SCENE_PX, SCENES

STAMPS: Final = "out/made.json"


def sources() -> dict[str, tuple[str, ...]]:
    """Name the sources of each file that only an outer tool can make; paths within `hardware/`."""
    found: dict[str, tuple[str, ...]] = {
        f"out/{part}.stl": ("mech/parameters.scad", f"mech/{part}.scad") for part in PARTS
    }
    every = ("mech/parameters.scad", "mech/assembly.scad", *(f"mech/{part}.scad" for part in PARTS))
    found |= {f"out/assembly-{scene}.png": every for scene in SCENES}
    return found


def stamps(root: Path) -> dict[str, dict[str, str]]:
    """Return for each such file a hash of its sources and one of itself, as they are now. Raises OSError."""
    views = {f"out/assembly-{scene}.png": f"{view} {SCENE_PX}" for scene, view in SCENES.items()}

    def sha256(*paths: str, view: str = "") -> str:
        return hashlib.sha256(
            b"\0".join((root / path).read_bytes() for path in paths) + view.encode()
        ).hexdigest()

    return {
        made: {"from": sha256(*of, view=views.get(made, "")), "is": sha256(made)}
        for made, of in sorted(sources().items())
    }


def write_stamps(root: Path) -> None:
    """Write them down. Raises OSError."""
    (root / STAMPS).write_text(json.dumps(stamps(root), indent=1) + "\n", encoding="utf-8")
