"""The rules as a package for others: installed alone, it does what its page says, and settles as the product does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from random import Random

import pytest

from firmware.rules import Hand, cards_text, load_profile, profile_names, settle, settlement_json
from firmware.rules.words import ROW_NAMES
from tests.docs.test_tree import ROOT
from tests.firmware.rules.random_settlements import hand

pytestmark = pytest.mark.slow
PAGE = ROOT / "docs/developer/rules-package.md"
EXAMPLES = 10
HANDS = 25


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the wheel, and nothing else, is installed."""
    out, folder = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("installed")
    make = [ROOT / "systemd/rules/make", out]
    subprocess.run(make, check=True, env={**os.environ, "PYTHON": sys.executable}, stdout=subprocess.DEVNULL)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    wheel = out / f"feltwatch_rules-{version}-py3-none-any.whl"
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--target",
        folder,
        wheel,
    ]
    subprocess.run(pip, check=True)
    return folder


def run_alone(installed: Path, code: str, *words: str, given: str = "") -> str:
    """Run a program that sees the installed package and the standard library, and no site-packages."""
    begin = f"import sys; sys.path.insert(0, {str(installed)!r})\n"
    command = [sys.executable, "-I", "-S", "-c", begin + code, *words]
    return subprocess.run(command, check=True, input=given, capture_output=True, text=True).stdout


def as_json(name: str, one: Hand) -> str:
    """Return a hand as a line of JSON, as `feltwatch settle` takes it."""
    keys = ("seat", "player", "stack", "declares", "surrenders", "acted", "fantasyland", "fantasyland_cards")
    seats = [
        {key: getattr(seat, key) for key in keys}
        | {row: cards_text(cards) for row, cards in zip(ROW_NAMES, seat.rows or (), strict=False)}
        for seat in one.seats
    ]
    return json.dumps({"profile": name, "button": one.button, "unit": one.unit, "seats": seats}) + "\n"


def test_the_ten_examples_of_its_page_do_what_they_say(installed: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("\n```python\n") == EXAMPLES == text.count("\n## ")
    code = "import doctest; print(doctest.testfile(sys.argv[1], module_relative=False).failed)"
    assert run_alone(installed, code, str(PAGE)) == "0\n"


def test_it_settles_every_profiles_hands_as_the_product_does(installed: Path) -> None:
    deal, given, expected = Random(8), "", []
    for name in profile_names() * HANDS:
        profile = load_profile(name)
        one = hand(deal, profile)
        given += as_json(name, one)
        expected.append(settlement_json(settle(one, profile)))
    code = (
        "import json\nfrom feltwatch_rules import settle_json\n"
        "for line in sys.stdin: print(json.dumps(settle_json(json.loads(line))))"
    )
    answers = [json.loads(line) for line in run_alone(installed, code, given=given).splitlines()]
    assert len(answers) == 8 * HANDS
    assert answers == json.loads(json.dumps(expected))


def test_it_is_typed_for_other_programs_and_names_nothing_of_the_product(installed: Path) -> None:
    package = installed / "feltwatch_rules"
    assert (package / "py.typed").exists()
    assert {one.name for one in installed.iterdir() if one.name != "__pycache__"} == {
        "feltwatch_rules",
        *(one.name for one in installed.glob("*.dist-info")),
    }
    program = installed / "user.py"
    program.write_text("from feltwatch_rules import settle\nsettle(1, 2)\n", encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull, "user.py"],
        cwd=installed, check=False, capture_output=True, text=True,
    )  # fmt: skip
    # its two arguments, and nothing of the package
    assert checked.stdout.count("error:") == 2, checked.stdout
