"""axe-core, from npm: what the tests look for barriers with. It is not part of the product (MPL-2.0)."""

from __future__ import annotations

import base64
import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from tests.tools import NPM, need

VERSION: Final = "4.14.1"
INTEGRITY: Final = (
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
)
"""As npm has it for this version: `npm view axe-core@VERSION dist.integrity`."""
KEPT: Final = Path(__file__).parents[2] / "build" / f"axe-core-{VERSION}.tgz"
SERIOUS: Final = frozenset({"serious", "critical"})


@cache
def axe() -> str:
    """Return the script, fetched once and kept in build/. Skips the test where npm cannot give it."""
    if not KEPT.exists():
        _fetch()
    data = KEPT.read_bytes()
    found = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
    if found != INTEGRITY:
        pytest.fail(f"{KEPT} is not axe-core {VERSION} as published; delete it and try again")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode("utf-8")


def has_axe() -> bool:
    """Say whether the script is there, or can be fetched; a test of its own is skipped where not, and says why."""
    try:
        return bool(axe())
    except pytest.skip.Exception:
        return False


def _fetch() -> None:
    need(NPM)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["npm", "pack", f"axe-core@{VERSION}", "--silent"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode != 0:
            pytest.skip(f"npm could not fetch axe-core {VERSION}: {done.stderr.strip()[:200]}")
        KEPT.parent.mkdir(exist_ok=True)
        shutil.move(next(Path(folder).glob("*.tgz")), KEPT)


def barriers(page: Page) -> list[str]:
    """Return the serious and critical violations on a page, a sentence each."""
    page.wait_for_load_state()  # contrast is judged with its styles
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe())
    found: dict[str, Any] = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['html'][:160]} ({node['failureSummary'].splitlines()[-1].strip()})"
        for violation in found["violations"]
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
    ]
