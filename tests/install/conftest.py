"""Writes what was tried on a machine, and how long each took, as a page: `make test-install ARGS='--write FILE'`."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.install.machine import (
    PACKAGES,
    SUITE,
    Machine,
    another_release,
    base_tree,
    make_release,
    release_key,
    sign,
)
from tests.install.pit_house import (
    BROKEN,
    DIES,
    DISK,
    FIRST,
    MIGRATES,
    REPOSITORY,
    SECOND,
    newest_revision,
)

REPORT: Final = """# The {what}, tried in a booted Debian

Written by `make {target} ARGS='--write {page}'`: one machine ({suite}, {arch}) under
systemd-nspawn, without a network, on a host with {cores} cores and a load of {load:.0f}. It lives through all of this
in this order; the record is checked from its first row to its last again and again. What a machine like this cannot
show: [untested.md](untested.md).

| what | seconds | |
|---|---|---|
{rows}
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write", type=Path, help="Write the report to this file.")


@pytest.fixture(scope="session", autouse=True)
def report(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collect what each test came to."""
    path = request.config.getoption("--write")
    if path is None:
        yield
        return
    seen = _ReportRows()
    request.config.pluginmanager.register(seen)
    yield
    is_pit = any("pit_run" in item.nodeid for item in request.session.items)
    target = "test-install-pit" if is_pit else "test-install"
    rows = "\n".join(seen.rows)
    path.write_text(
        REPORT.format(
            what="pit" if is_pit else "box",
            target=target,
            page=f"docs/{'pit-install' if is_pit else 'install'}-report.md",
            suite=f"Debian {SUITE}",
            arch=platform.machine(),
            cores=os.cpu_count(),
            load=os.getloadavg()[1],
            rows=rows,
        ),
        encoding="utf-8",
    )


class _ReportRows:
    def __init__(self) -> None:
        self.rows: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.failed:
            name = report.nodeid.rpartition("::test_")[2].replace("_", " ")
            self.rows.append(f"| {name} | {report.duration:.0f} | {report.outcome} |")


@pytest.fixture(scope="session")
def pit_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk in memory: a machine writes 50,000 files."""
    folder = tmp_path_factory.mktemp("machine")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6G,mode=755", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture(scope="session")
def pit_server(pit_folder: Path) -> Iterator[Machine]:
    release = make_release(REPOSITORY, pit_folder / "release")
    machine = Machine(pit_folder / "root", base_tree(REPOSITORY / "build/install", f"{PACKAGES},postgresql"))
    migrates = (*MIGRATES[:2], MIGRATES[2].format(newest_revision()))
    for later, (name, edits) in enumerate(((FIRST, ()), (SECOND, (migrates,)), (BROKEN, (migrates, DIES)))):
        target = machine.root / "media" / name
        shutil.copytree(release, target, copy_function=os.link)
        another_release(target, name, edits, later)
        sign(target, release_key(pit_folder / "release"), machine.root / "media" / f"{name}.signed")
    machine.file("/etc/fstab", f"/srv/disk {DISK} none bind,nofail 0 0\n")
    for path in ("srv/disk", DISK.lstrip("/")):
        (machine.root / path).mkdir()
    machine.boot()
    yield machine
    machine.cut_power()


@pytest.fixture(scope="session")
def owner() -> list[str]:
    """The cookie of the owner's session, once somebody has logged in."""
    return []
