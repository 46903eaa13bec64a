"""What the service manager's own tools say of units and users, without booting them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.tools import SYSTEMD, need


def exposure(unit: Path) -> float:
    """Return what the unit leaves open, by `systemd-analyze security`: 0 nothing, 10 everything."""
    said = _said(["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)])
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said.stdout)
    assert found, said.stdout + said.stderr
    return float(found[1])


def faults(units: Path, name: str) -> list[str]:
    """Return what `systemd-analyze verify` has to say of a folder's units, in lines with that name."""
    said = _said(
        ["systemd-analyze", "verify", "--man=no", *map(str, sorted(units.iterdir()))],
        SYSTEMD_UNIT_PATH=f"{units}:",
    )
    found = [line for line in (said.stdout + said.stderr).splitlines() if name in line]
    return found or [f"systemd-analyze ended with {said.returncode}"] * (said.returncode != 0)


def users_made(sysusers: Path, root: Path) -> set[str] | None:
    """Return the users that a sysusers file makes below a root; None where this user may not make any."""
    need(SYSTEMD)
    (root / "etc").mkdir()
    said = _said(["systemd-sysusers", f"--root={root}", str(sysusers)])
    assert sysusers.name not in said.stderr, "it names the line that it does not understand"
    if said.returncode != 0:
        return None
    return {line.split(":", 1)[0] for line in (root / "etc/passwd").read_text().splitlines()}


def _said(command: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment, "LC_ALL": "C.UTF-8"},
    )
