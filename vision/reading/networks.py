"""One hash over the networks that read cards; importing this does not load them."""

from __future__ import annotations

import hashlib
import json
from importlib.resources.abc import Traversable

NETWORKS = ("reader", "pips", "signs")


def networks_hash(folder: Traversable, *, as_named: bool = False) -> str:
    """Return one SHA-256 over all networks that read cards: of their files, or of the hashes in their manifests.

    Raises:
        OSError, ValueError, KeyError, TypeError: one of the files is missing or is not a manifest.
    """
    parts = [
        str(json.loads((folder / f"{name}.json").read_text())["sha256"])
        if as_named
        else hashlib.sha256((folder / f"{name}.onnx").read_bytes()).hexdigest()
        for name in NETWORKS
    ]
    return hashlib.sha256("".join(parts).encode()).hexdigest()
