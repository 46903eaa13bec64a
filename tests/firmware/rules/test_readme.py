"""The README and the examples in docstrings do what they say, and the core needs nothing but Python."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import firmware.rules

FOLDER = Path(firmware.rules.__file__).parent
MODULES = sorted(module.name for module in pkgutil.walk_packages([str(FOLDER)], "firmware.rules."))


def test_the_readme_does_what_it_says() -> None:
    found = doctest.testfile(str(FOLDER / "README.md"), module_relative=False)
    assert found.attempted > 30
    assert found.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_do_what_they_say(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_module_is_on_the_map_of_the_readme() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    left_out = [name for name in MODULES if f"`{name.rpartition('.')[2]}`" not in text]
    assert left_out == []


def test_the_core_needs_nothing_but_the_standard_library() -> None:
    code = (
        f"import importlib, sys; before = set(sys.modules); [importlib.import_module(name) for name in {MODULES}];"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(tops - set(sys.stdlib_module_names)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['firmware']"
