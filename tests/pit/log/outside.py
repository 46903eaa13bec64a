"""Runs the verifier of other authors: Go's own transparency log library, built from Debian's packages."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

from tests.tools import GO_LIBRARY

SOURCE: Final = Path(__file__).with_name("outside_verifier.go")


def built(folder: Path) -> Path:
    """Build the verifier in a folder; no network is needed."""
    program = folder / "outside-verifier"
    environment = {
        **os.environ,
        "GO111MODULE": "off",
        "GOPATH": str(GO_LIBRARY),
        "GOFLAGS": "",
        "GOCACHE": str(folder / "cache"),
        "CGO_ENABLED": "0",
    }
    subprocess.run(["go", "build", "-o", program, SOURCE], check=True, env=environment)
    return program


def judged(program: Path, **given: Any) -> dict[str, Any]:
    """Return what the verifier says: `Roots`, `Refused`, `Opened`, and a `Note` signed with `Key`."""
    found = subprocess.run([program], input=json.dumps(given), check=True, capture_output=True, text=True)
    value = json.loads(found.stdout)
    assert isinstance(value, dict)
    return value
