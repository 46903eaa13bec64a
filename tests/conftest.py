"""What all tests share: how they are spread over workers, and what is made once for all of them."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from firmware.access import pins
from tests.examples import choose_share, examples, is_left_out, share_words
from tests.tools import CHROMIUM, POSTGRESQL, need, summary
from tests.waiting import SPEED

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.pit.postgres import Postgres

MEMORY: Final = Path("/dev/shm")
ROOM: Final = 4 << 30
"""Bytes that must be free there for the temporary folders to lie there: many tests sync files, and judge no disk."""
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    tempfile.tempdir = os.environ.setdefault("TMPDIR", str(MEMORY))  # and of the programs that tests start

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell has its background commands ignore interrupts, and whatever they start: a process that a test interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("feltwatch", examples(100))
settings.load_profile("feltwatch")


pins._N = 2  # type: ignore[misc]  # a PIN's hundred milliseconds, in hundreds of tests; one tests what it costs


STATES: Final = "tests/browser/test_states.py"
BOOK: Final = tuple(f"tests/docs/test_{name}.py" for name in ("book", "model", "paper", "search"))
WORKERS_PER_CORE: Final = 2
"""Many tests wait for other processes, so one worker a core would leave the cores idle."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """`auto`: `WORKERS_PER_CORE` a core. `logical`: one a core, for a run that waits for nothing, as the quick one."""
    per_core = WORKERS_PER_CORE if config.option.numprocesses == "auto" else 1
    return per_core * len(os.sched_getaffinity(0))


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Keeps the tests of a file on one worker, so that what they share is made once.

    Only the page's states are spread one by one: they share nothing but the browser, and are most of the work. And the
    book's files stay together: they look at one that takes half a minute to build.
    (pytest-xdist's own groups do nothing under pytest 9.2: it writes them into an attribute that is read no more.)
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if file == STATES else BOOK[0] if file in BOOK else file


_WAITS: Final = tuple(f"tests/{folder}/" for folder in ("browser", "appliance", "docs", "kiosk", "pit"))
"""Folders of the tests that take longest by themselves."""


@pytest.hookimpl(trylast=True)  # whatever order chance has made, within it
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the long ones and end with many short ones: so no worker is left with a long one at the end."""
    if left_out := [item for item in items if is_left_out(item)]:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out(item)]

    def turn(item: pytest.Item) -> int:
        if item.nodeid.startswith(STATES):
            return 3
        if item.nodeid.startswith(BOOK):
            return 0
        return 1 if item.nodeid.startswith(_WAITS) else 2

    items.sort(key=turn)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no rubbish while tests are collected, an eighth of each worker's time for it; and then never in them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        choose_share(config)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    return ByFile(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name once what was missing, and say what a person needs to run the same again."""
    skipped = terminalreporter.stats.get("skipped", [])
    for line in summary(str(report.longrepr) for report in skipped):
        terminalreporter.write_line(line, yellow=True)
    if share := share_words():
        terminalreporter.write_line(share)
    seed = config.getoption("randomly_seed", None)
    terminalreporter.write_line(
        f"Machine {SPEED:g} times as slow as the reference. The same order again: "
        f"ARGS='--randomly-seed={seed}'"
    )


@pytest.fixture(scope="session", autouse=True)
def runtime_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where this worker's programs make the indexes of the tests' records."""
    os.environ["XDG_RUNTIME_DIR"] = str(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of a worker: a process can drive only one at a time."""
    from playwright.sync_api import sync_playwright  # most workers' tests need none

    from tests.browser.chrome import launched

    need(CHROMIUM)
    with sync_playwright() as playwright, launched(playwright) as browser:
        yield browser


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One PostgreSQL for all tests of a worker, with the pit's database to copy."""
    from tests.pit.postgres import with_template  # most workers' tests need none

    need(POSTGRESQL)
    with with_template() as server:
        yield server
