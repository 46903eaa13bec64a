"""What GitHub reads: the workflow runs what a developer runs, and the forms ask what they can ask."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.facts import ROOT

GITHUB = ROOT / ".github"
FORMS = [path for path in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]


def test_the_workflow_runs_the_projects_own_script_and_keeps_its_cache() -> None:
    workflow = yaml.safe_load((GITHUB / "workflows/ci.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert job["steps"][-1] == {"run": ".ci/run"}
    (cache,) = (step["with"]["path"] for step in job["steps"] if "cache" in step.get("uses", ""))
    assert cache == "~/.cache/feltwatch"
    assert workflow["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_for_issues_is_complete(path: Path) -> None:
    form: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"]
    assert form["description"]
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in asked}) == len(asked)
    assert all(part["attributes"]["label"] for part in asked)
    assert any(part.get("validations", {}).get("required") for part in asked)


def test_a_form_names_only_files_that_there_are() -> None:
    named = {
        name
        for path in [*FORMS, GITHUB / "pull_request_template.md"]
        for name in re.findall(r"[\w/]+\.md", path.read_text(encoding="utf-8"))
    }
    assert {"SECURITY.md", "docs/untested.md", "CHANGELOG.md"} <= named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_glossary_has_at_most_sixty_words_in_order_one_line_each() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Glossary\n")[2]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    words = [row[0] for row in rows]
    assert all(len(row) == 2 for row in rows)
    assert 40 <= len(words) <= 60
    assert words == sorted(set(words), key=str.lower)
