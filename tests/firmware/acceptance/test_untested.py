"""Every place that says UNTESTED names the step of the acceptance that would clear it, or says why none can."""

from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatch
from functools import cache
from typing import Final

import pytest

from docs.facts import ROOT
from firmware.acceptance.limits import LIMITS
from firmware.acceptance.steps import STEPS
from firmware.acceptance.untested import Place, places

OWN: Final = "docs/untested.md"
IDS: Final = {step.id for step in STEPS}


@cache
def untested_lines() -> tuple[tuple[str, str], ...]:
    """Return (file, line) of every line in docs, hardware and README.md that says so; of text files of ours."""
    asked = ["git", "ls-files", "docs", "hardware", "README.md"]
    files = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    kinds = (".md", ".toml", ".py", ".yml", ".scad", ".j2")
    return tuple(
        (name, line)
        for name in files
        if name.endswith(kinds) and name != OWN and (ROOT / name).exists()
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
        if "UNTESTED" in line
    )


def place_of(file: str, line: str) -> Place | None:
    """Return the place that speaks of a line: the one that names words of it, else the one that names the file best."""
    fits = [one for one in places() if fnmatch(file, one.file) and one.line in line]
    return max(fits, key=lambda one: (len(one.line), one.file.count("/"), len(one.file)), default=None)


def test_every_line_that_says_untested_has_its_step_or_a_reason() -> None:
    assert len(untested_lines()) > 100
    silent = [(file, line[:90]) for file, line in untested_lines() if place_of(file, line) is None]
    assert silent == [], (
        "add the file to firmware/acceptance/untested.toml, with its steps or the reason for none"
    )


@pytest.mark.parametrize("place", places(), ids=lambda one: f"{one.file} {one.line}")
def test_a_place_names_steps_that_there_are_and_is_still_untested(place: Place) -> None:
    assert set(place.steps) <= IDS
    assert bool(place.steps) != bool(place.none), "steps, or the reason why there are none"
    assert any(place_of(*one) is place for one in untested_lines()), "nothing says UNTESTED there any more"


def test_every_row_and_point_of_the_books_list_names_a_step_or_that_none_can() -> None:
    text = (ROOT / OWN).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| | ")]
    points = re.split(r"\n(?=- |\n)", text.split("## The box")[1])
    ends = [row.rstrip(" |").rpartition("|")[2] for row in rows]
    ends += [point[point.rfind("[") :] for point in points if point.startswith("- ")]
    assert len(ends) > 30
    for end in ends:
        named = re.findall(r"`([a-z_.]+)`", end)
        assert set(named) <= IDS, end
        assert named or "no step" in end, end


def test_every_limit_names_where_it_stands() -> None:
    """A file of the repository, and the constant in it; a figure without a limit says that none is known."""
    for name, limit in LIMITS.items():
        if not limit.is_set:
            assert limit.source == "no limit is known", name
            continue
        file, _, constants = limit.source.replace(":", "").replace(",", "").partition(" ")
        text = (ROOT / file).read_text(encoding="utf-8")
        for constant in re.findall(r"\b[A-Z][A-Z0-9_]{3,}\b", constants):
            known = text + (ROOT / "vision/felt/optics.py").read_text(encoding="utf-8")
            assert re.search(rf"^{constant}\b", known, re.MULTILINE), (name, constant)
