"""What a machine lacks is a reason to skip, and is named once at the end of the run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import GCC, NGINX, POSTGRESQL, ROOT, TOOLS, Tool, missing, need, needs, summary

HERE = Tool("Here", "nothing to do", lambda: True)
AWAY = Tool("Away", "sudo apt-get install away", lambda: False)


def test_only_what_is_missing_is_a_reason_to_skip() -> None:
    assert missing(HERE) == ""
    assert missing(HERE, AWAY) == "Away missing: sudo apt-get install away"
    assert needs(HERE).args == (False,)
    assert needs(AWAY, HERE).args == (True,)
    need(HERE)
    with pytest.raises(pytest.skip.Exception, match="Away missing: sudo apt-get install away"):
        need(HERE, AWAY)


def test_the_summary_names_each_missing_tool_once_the_most_wanted_first() -> None:
    both = f"{NGINX.reason}; {POSTGRESQL.reason}"
    lines = summary([GCC.reason, both, "only root can mount a stick", f"Skipped: {NGINX.reason}"])
    assert lines[0] == f"{NGINX.reason} (2 skipped)"
    assert set(lines[1:]) == {f"{POSTGRESQL.reason} (1 skipped)", f"{GCC.reason} (1 skipped)"}
    assert summary(["only root can mount a stick"]) == []


def test_no_tool_is_taken_for_another() -> None:
    assert [summary([tool.reason]) for tool in TOOLS] == [[f"{tool.reason} (1 skipped)"] for tool in TOOLS]


def test_continuous_integration_installs_the_packages_that_tests_need() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    wanted = {name for tool in TOOLS if "apt-get" in tool.get for name in tool.get.split()[3:]}
    assert {name for name in wanted if not re.search(rf"(?<!\S){re.escape(name)}(?!\S)", script)} == {
        "git",  # has fetched the repository
        "podman",
        "prometheus",
    }


@pytest.mark.slow
def test_a_run_ends_with_what_was_missing_and_how_to_get_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'run'}"]
        + ["tests/systemd/test_pit_monitoring.py", "-k", "promtool"],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("promtool missing: sudo apt-get install prometheus (1 skipped)") == 1
