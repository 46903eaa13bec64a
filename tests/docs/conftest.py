"""The book as `make docs` builds it, once for all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.facts import ROOT


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book; $FELTWATCH_BOOK names the folder where `make docs` has just built it of these sources."""
    if built := os.environ.get("FELTWATCH_BOOK"):
        return Path(built)
    folder = tmp_path_factory.mktemp("book")
    build = [sys.executable, "-m", "sphinx", "-b", "html", "--fail-on-warning", "--keep-going", "--quiet"]
    done = subprocess.run(
        [*build, "-d", str(folder / "trees"), "docs", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder / "html"
