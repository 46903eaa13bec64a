"""Whose it is: every file of the repository that is neither code nor prose has a row in ASSETS.md, and no row lies."""

from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatch
from typing import Final

import pytest

from docs.facts import ROOT
from tests.tools import GIT, need

NEITHER: Final = re.compile(
    r".*\.(bin|csv|gif|ico|jpg|json|mo|mp3|npz|ogg|onnx|otf|pdf|pem|png|pt|stl|svg|ttf|wav|webp|woff2)"
)
SETTINGS: Final = {"systemd/chromium-policy.json"}
ROWS: Final = set(re.findall(r"`([\w./*-]+/[\w./*-]+)`", (ROOT / "ASSETS.md").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def tracked() -> set[str]:
    need(GIT)
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"this is no checkout: {done.stderr.strip()}")
    return set(done.stdout.splitlines())


def test_every_asset_has_a_row(tracked: set[str]) -> None:
    assets = {file for file in tracked if NEITHER.fullmatch(file)} - SETTINGS
    assert len(assets) > 100
    assert {file for file in assets if not any(fnmatch(file, row) for row in ROWS)} == set()


def test_every_row_is_of_something_that_is_there() -> None:
    assert {row for row in ROWS if not any(ROOT.glob(row.rstrip("/")))} == set()


def test_the_book_names_both_licences() -> None:
    page = (ROOT / "docs/licences.md").read_text(encoding="utf-8")
    for name in ("Apache-2.0", "CERN-OHL-P-2.0"):
        assert name in page
    assert (ROOT / "hardware/LICENSE-CERN-OHL-P-2.0.txt").read_text().splitlines()[
        0
    ].strip() == "CERN Open Hardware Licence Version 2 - Permissive"
