"""The version: one number, in the package and on top of the changelog, but for what is not released yet."""

from __future__ import annotations

import re
import tomllib
from datetime import date

from docs.facts import ROOT


def test_the_changelog_begins_with_the_version_of_the_package_and_its_date() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    sections = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    released = [section for section in sections if section != "Unreleased"]
    found = re.fullmatch(r"(\d+\.\d+\.\d+) \((.+)\)", released[0])
    assert found is not None, released[0]
    assert "Unreleased" not in sections[1:]
    assert found[1] == version
    date.fromisoformat(found[2])
