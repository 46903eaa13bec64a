"""How much of a large range `make test` goes through; `make test-all` goes through all of it.

Hypothesis draws a fifth of its examples, others in each run. Of the tests marked `sampled`, which cost most beside a
plainer one of the same kind, one in three is run. Which, the commit says: two runs of one commit run the same tests,
and a few commits run each of them. Where files, tests or words are named, all that they name is run.
"""

from __future__ import annotations

import os
import subprocess
import zlib
from typing import TYPE_CHECKING, Any, Final

from hypothesis import settings

if TYPE_CHECKING:
    import pytest

THOROUGH: Final = "FELTWATCH_THOROUGH" in os.environ
ONE_IN: Final = 3
_COMMIT: Final = "FELTWATCH_TEST_COMMIT"
"""The commit whose share is run; workers inherit it. Not set where all are run."""


def examples(most: int, **more: Any) -> settings:
    """Return Hypothesis's settings; a machine that is busy with something else must not make a test fail."""
    return settings(max_examples=most if THOROUGH else max(10, most // 5), deadline=None, **more)


def choose_share(config: pytest.Config) -> None:
    """Let a run that names nothing go through a share. Without a commit all is run."""
    os.environ.pop(_COMMIT, None)
    if THOROUGH or config.option.keyword or config.args_source is not config.ArgsSource.TESTPATHS:
        return
    asked = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=config.rootpath)
    if asked.returncode == 0:
        os.environ[_COMMIT] = asked.stdout.strip()


def is_left_out(item: pytest.Item) -> bool:
    """Return whether a test is not in this commit's share."""
    commit = os.environ.get(_COMMIT)
    if commit is None or item.get_closest_marker("sampled") is None:
        return False
    return zlib.crc32(f"{commit} {item.nodeid}".encode()) % ONE_IN != 0


def share_words() -> str:
    """Say which share was run; nothing where all was."""
    commit = os.environ.get(_COMMIT)
    return f"Of the tests marked `sampled` one in {ONE_IN} was run, by commit {commit[:8]}." if commit else ""
