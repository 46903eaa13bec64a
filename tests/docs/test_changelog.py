"""The version: one number, in the package and on top of the changelog."""

from __future__ import annotations

import re
import tomllib
from datetime import date

from docs.facts import ROOT


def test_the_changelog_begins_with_the_version_of_the_package_and_its_date() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    sections = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    found = re.fullmatch(r"(\d+\.\d+\.\d+) \((.+)\)", sections[0])
    assert found is not None, sections[0]
    assert found[1] == version
    date.fromisoformat(found[2])
