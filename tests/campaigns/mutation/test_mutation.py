"""The campaigns/mutation check's own tests: which faults it puts where, and which it counts as found."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

from tests.campaigns.mutation.choose import choose
from tests.campaigns.mutation.fault import Fault, NoPlace, load, save
from tests.campaigns.mutation.find import Finding, Results, find_far, find_near, finish
from tests.campaigns.mutation.places import faults
from tests.campaigns.mutation.report import found, lost, table
from tests.campaigns.mutation.suite import Suite

CODE = '''
"""A text with 1 + 1."""
import logging

TIMEOUT_S = 5

def double(number: int, least: int = 3) -> int:
    """Say 2 * 2."""
    if number < least and not number == 7:
        raise ValueError(f"{number + 1} is too few")
    logging.info("%s", number + 1)
    return number * 2
'''
TESTS = """
import os, runpy
double = runpy.run_path("firmware/rules/double.py")["double"]

def test_it_fails_in_any_case():
    assert not os.path.exists("tests")

def test_it_doubles():
    assert double(5) == 10
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working tree with one module, one test file and this environment."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for folder, name, text in (
        ("firmware/rules", "double.py", CODE),
        ("tests/firmware/rules", "test_double.py", TESTS),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\npythonpath = ['.']\naddopts = '-q'\n"
    )
    (tmp_path / ".venv/bin").mkdir(parents=True)
    python = tmp_path / ".venv/bin/python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return tmp_path


def changes(root: Path) -> set[tuple[str, str]]:
    return {(fault.kind, fault.new.strip()) for fault in faults(root, "rules", Random(1))}


def numbered(root: Path, new: str, number: int = 1) -> Fault:
    """The fault that makes a line read so."""
    (fault,) = (fault for fault in faults(root, "rules", Random(1)) if fault.new.strip() == new)
    return Fault(**{name: getattr(fault, name) for name in Fault.__slots__} | {"number": number})


def test_faults_are_put_into_code_and_not_into_texts_paces_or_what_an_error_says(tree: Path) -> None:
    found_changes = changes(tree)
    assert ("arithmetic", "return number + 2") in found_changes
    assert ("constant", "return number * 3") in found_changes
    assert ("constant", "def double(number: int, least: int = 4) -> int:") in found_changes
    assert ("boolean", "if number < least or not number == 7:") in found_changes
    assert ("boolean", "if number < least and number == 7:") in found_changes
    assert ("dropped", "pass") in found_changes
    assert not any(text in new for _, new in found_changes for text in ("TIMEOUT", "too few", "info", '"""'))


def test_the_same_seed_chooses_the_same_faults(tree: Path) -> None:
    assert choose(tree, 10, 1) == choose(tree, 10, 1)
    assert choose(tree, 10, 1) != choose(tree, 10, 2)


def test_a_fault_is_put_into_a_later_version_at_the_place_with_the_same_context() -> None:
    fault = Fault(1, "rules", "constant", "a.py", 2, "def b():\n", "    return 1\n", "    return 2\n", "\n")
    later = "import c\n\ndef a():\n    return 1\n\ndef b():\n    return 1\n\n"
    assert fault.put_into(later) == "import c\n\ndef a():\n    return 1\n\ndef b():\n    return 2\n\n"


def test_a_fault_whose_place_is_gone_or_cannot_be_told_from_another_is_put_nowhere() -> None:
    fault = Fault(1, "rules", "constant", "a.py", 2, "def b():\n", "    return 1\n", "    return 2\n", "")
    with pytest.raises(NoPlace, match="no line reads 'return 1' any more"):
        fault.put_into("def b():\n    return 3\n")
    with pytest.raises(NoPlace, match="2 places"):
        fault.put_into("def b():\n    return 1\ndef b():\n    return 1\n")


def test_the_faults_in_the_file_can_be_written_and_read(tmp_path: Path) -> None:
    faults_there = load()
    save(faults_there, {"seed": 17}, tmp_path / "faults.json")
    assert load(tmp_path / "faults.json") == faults_there
    assert [fault.number for fault in faults_there] == list(range(1, 50))


@pytest.mark.slow
def test_a_fault_is_found_by_a_test_that_fails_with_it_and_passes_without(tree: Path) -> None:
    fault, said = numbered(tree, "return number * 3"), list[str]()
    find_near(Suite(tree), [fault], Results(tree / "results.json"), said.append)
    assert ["test_it_fails_in_any_case" in said[0], "test_it_doubles" in said[1]] == [True, True]
    finding = Results(tree / "results.json")[fault]
    assert finding is not None
    assert finding.test == "tests/firmware/rules/test_double.py::test_it_doubles"
    assert (tree / "firmware/rules/double.py").read_text(encoding="utf-8") == CODE


def test_an_environment_without_pytest_ends_the_run_and_is_no_suite_that_finds_nothing(tree: Path) -> None:
    python = tree / ".venv/bin/python"
    python.write_text("#!/bin/sh\necho No module named pytest >&2\nexit 1\n")
    with pytest.raises(RuntimeError, match="No module named pytest"):
        Suite(tree).run(["tests/firmware/rules/test_double.py"])


@pytest.mark.slow
@pytest.mark.parametrize("hint", ["test_it_doubles", "test_that_is_gone"])
def test_the_finder_of_another_suite_is_tried_first_if_it_is_still_there(tree: Path, hint: str) -> None:
    fault, said = numbered(tree, "return number * 3"), list[str]()
    hints = Results(tree / "hints.json")
    hints[fault] = Finding(f"tests/firmware/rules/test_double.py::{hint}")
    find_near(Suite(tree), [fault], Results(tree / "results.json"), said.append, hints)
    assert len(said) == (1 if hint == "test_it_doubles" else 2)
    assert "test_it_doubles" in said[-1]


@pytest.mark.slow
def test_all_tests_are_run_with_all_faults_at_once_and_a_failing_one_is_tried_with_each_alone(
    tree: Path,
) -> None:
    finds, hides = numbered(tree, "return number * 3", 1), numbered(tree, "pass", 2)
    results = Results(tree / "results.json")
    for fault in (finds, hides):
        results[fault] = Finding()
    find_far(Suite(tree), [hides, finds], results, ["tests/firmware/rules/test_double.py"], lambda _: None)
    finish([hides, finds], results)
    assert [(results[fault] or Finding()).test for fault in (finds, hides)] == [
        "tests/firmware/rules/test_double.py::test_it_doubles",
        "",
    ]


def test_the_report_names_what_the_old_suite_finds_and_the_new_one_does_not(tree: Path) -> None:
    fault = numbered(tree, "return number * 3")
    old, new = Results(tree / "old.json"), Results(tree / "new.json")
    old[fault], new[fault] = Finding("tests/firmware/rules/test_double.py::test_it_doubles"), Finding("")
    assert lost([fault], old, new) == [fault]
    assert (found([fault], old), found([fault], new)) == (1, 0)
    assert table([fault], old, new).splitlines()[-1] == (
        "| 1 | `firmware/rules/double.py:12` | constant | `return number * 2` → `return number * 3`"
        " | `firmware/rules/test_double.py::test_it_doubles` | nothing |"
    )
