"""The version: one number, in the package and on top of the changelog, but for what is not released yet."""

from __future__ import annotations

import re
import tomllib
from datetime import date

from docs.facts import ROOT

KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_changelog_begins_with_the_version_of_the_package_and_its_date() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    sections = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    released = [section for section in sections if section != "Unreleased"]
    found = re.fullmatch(r"(\d+\.\d+\.\d+) \((.+)\)", released[0])
    assert found is not None, released[0]
    assert "Unreleased" not in sections[1:]
    assert found[1] == version
    date.fromisoformat(found[2])


def test_a_release_has_at_most_forty_entries_of_one_line_each() -> None:
    _, *sections = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")
    for section in sections:
        _, *parts = section.split("\n### ")
        entries = [line for part in parts for line in part.strip().splitlines()[1:] if line]
        assert {part.splitlines()[0] for part in parts} <= KINDS
        assert 1 <= len(entries) <= 40, section.splitlines()[0]
        assert [line for line in entries if not line.startswith("- ") or len(line) > 160] == []
