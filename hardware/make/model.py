"""The assembly as a model for the browser, `out/table.glb`: for each step what it brings, by the drawings' OpenSCAD."""

import json
import re
import struct
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any, Final

import numpy as np

from hardware.make.mech import read_stl, run_openscad

MODEL: Final = "out/table.glb"
SOURCE: Final = "model.scad"
_FLOAT, _SHORT = 5126, 5123
_VERTICES, _INDICES = 34962, 34963
UPRIGHT: Final = {"rotation": [-(0.5**0.5), 0, 0, 0.5**0.5], "scale": [0.001] * 3}
"""The drawings' millimetres with z up are glTF's metres with y up."""
Mesh = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]


def pieces(folder: Path) -> list[str]:
    """Return the steps that bring something."""
    return re.findall(r'piece == "(\w+)"', (folder / SOURCE).read_text(encoding="utf-8"))


def _colours(folder: Path, piece: str, kept: Path) -> list[str]:
    said = kept / f"{piece}.echo"
    run_openscad("-D", f'piece="{piece}"', "-o", str(said), str(folder / SOURCE))
    return sorted(set(re.findall(r'paint = "(.+)"', said.read_text(encoding="utf-8"))))


def _mesh(folder: Path, piece: str, colour: str, out: Path) -> Mesh:
    """Build one step's things of one colour: its corners in tenths of a millimetre, and the triangles."""
    named = "-D", f'piece="{piece}"', "-D", f'paint="{colour}"'
    run_openscad("--export-format", "binstl", *named, "-o", str(out), str(folder / SOURCE))
    corners = read_stl(out)["corners"].reshape(-1, 3)
    vertices, index = np.unique(np.round(corners * 10).astype(np.int32), axis=0, return_inverse=True)
    triangles = index.reshape(-1, 3)
    whole = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    order = np.lexsort(triangles[whole].T[::-1])
    return vertices, triangles[whole][order]


def build_model(folder: Path, out: Path) -> None:
    """Write the model: a node for each step, a mesh of its colours. Raises ToolMissing."""
    with tempfile.TemporaryDirectory() as kept, ThreadPoolExecutor(2) as pool:
        root, names = Path(kept), pieces(folder)
        seen = list(pool.map(_colours, repeat(folder), names, repeat(root)))
        each = [(piece, colour) for piece, colours in zip(names, seen, strict=True) for colour in colours]
        paths = [root / f"{number}.stl" for number in range(len(each))]
        meshes = list(pool.map(_mesh, repeat(folder), *zip(*each, strict=True), paths))
    out.write_bytes(glb(dict(zip(each, meshes, strict=True))))


def glb(meshes: dict[tuple[str, str], Mesh]) -> bytes:
    """Return a binary glTF 2.0 of meshes by step and colour."""
    colours = sorted({colour for _, colour in meshes})
    views, accessors, body = list[dict[str, Any]](), list[dict[str, Any]](), b""

    def add(data: np.ndarray[Any, Any], kind: int, target: int, form: str, **more: Any) -> int:
        nonlocal body
        raw = data.tobytes()
        views.append({"buffer": 0, "byteOffset": len(body), "byteLength": len(raw), "target": target})
        accessors.append(
            {"bufferView": len(views) - 1, "componentType": kind, "count": len(data), "type": form, **more}
        )
        body += raw + b"\0" * (-len(raw) % 4)
        return len(accessors) - 1

    drawn: dict[str, list[dict[str, Any]]] = {}
    for (piece, colour), (vertices, triangles) in meshes.items():
        points = (vertices / 10).astype("<f4")
        low, high = points.min(axis=0).tolist(), points.max(axis=0).tolist()
        at = add(points, _FLOAT, _VERTICES, "VEC3", min=low, max=high)
        order = add(triangles.astype("<u2").ravel(), _SHORT, _INDICES, "SCALAR")
        part = {"attributes": {"POSITION": at}, "indices": order, "material": colours.index(colour)}
        drawn.setdefault(piece, []).append(part)
    paints = [
        {"pbrMetallicRoughness": {"baseColorFactor": [*json.loads(colour)[:3], 1], "metallicFactor": 0}}
        for colour in colours
    ]
    document = {
        "asset": {"version": "2.0", "generator": "feltwatch"},
        "scene": 0,
        "scenes": [{"nodes": [len(drawn)]}],
        "nodes": [
            *({"name": piece, "mesh": number} for number, piece in enumerate(drawn)),
            {"name": "table", "children": list(range(len(drawn))), **UPRIGHT},
        ],
        "meshes": [{"primitives": parts} for parts in drawn.values()],
        "materials": paints,
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(body)}],
    }
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(body), b"BIN\0") + body
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
