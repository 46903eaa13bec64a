"""Results that a long run keeps on disk, so that a run which was stopped goes on where it ended.

A result is found again only by the same task under the same code, model and pictures: their hashes are its name.
"""

from __future__ import annotations

import hashlib
import pickle
import shutil
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from models.training.samples import PACKAGE

_CODE = ("vision", "models/training")
_CODE_ENDS = frozenset({".py", ".toml", ".onnx", ".json"})


@dataclass
class Kept:
    """The results of one state of the code, in a folder of their own; those of others are removed.

    `seconds`: what the results that were found again took, when they were computed.
    """

    folder: Path
    seconds: float = 0.0
    _mine: Path = field(init=False)

    def __post_init__(self) -> None:
        self._mine = self.folder / _code()
        for other in self.folder.glob("*"):
            if other != self._mine:
                shutil.rmtree(other)
        self._mine.mkdir(parents=True, exist_ok=True)

    def path(self, work: object, task: object) -> Path:
        """Return where the result of a task is, or is to be."""
        pictures = [_hash(value) for value in _values(task) if isinstance(value, Path)]
        name = hashlib.sha256(pickle.dumps((getattr(work, "__qualname__", ""), task, pictures)))
        return self._mine / f"{name.hexdigest()}.pickle"

    def find(self, path: Path) -> tuple[Any] | None:
        """Return the result that is there, in a tuple, or None."""
        try:
            seconds, result = pickle.loads(path.read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        self.seconds += seconds
        return (result,)

    @staticmethod
    def keep(path: Path, seconds: float, result: object) -> None:
        """Write a result."""
        part = path.with_suffix(".part")
        part.write_bytes(pickle.dumps((seconds, result)))
        part.replace(path)


def _values(task: object) -> list[object]:
    return [getattr(task, one.name) for one in fields(task)]  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def _hash(path: Path) -> str:
    """Return the hash of a file, or of all files in a folder."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return hashlib.sha256(b"".join(one.name.encode() + one.read_bytes() for one in files)).hexdigest()


def _code() -> str:
    root = PACKAGE.parent
    files = sorted(
        path
        for name in _CODE
        for path in (root / name).rglob("*")
        if path.suffix in _CODE_ENDS and "cache" not in path.parts
    )
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
