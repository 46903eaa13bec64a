"""The tree stays one that a stranger finds a way in: small folders, few levels, a README where code lives."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("vision", "firmware", "dealer_ui")
MOST_MODULES = 25
MOST_LEVELS = 3


def modules() -> list[Path]:
    return [file.relative_to(ROOT) for top in PRODUCT for file in (ROOT / top).rglob("*.py")]


def test_no_folder_of_the_product_has_more_than_25_modules() -> None:
    count = Counter(file.parent for file in modules() if file.name != "__init__.py")
    assert sum(count.values()) > 300
    assert {folder: n for folder, n in count.items() if n > MOST_MODULES} == {}


def test_the_product_has_at_most_three_levels_of_folders() -> None:
    assert {file.parent for file in modules() if len(file.parent.parts) > MOST_LEVELS} == set()


@pytest.mark.parametrize("folder", sorted({file.parent for file in modules()}), ids=str)
def test_a_folder_of_the_product_says_in_its_readme_what_lives_there(folder: Path) -> None:
    readme = ROOT / folder / "README.md"
    assert readme.exists() or (ROOT / folder.parent / "README.md").exists()


def readmes(folder: Path) -> str:
    """Return the README of a product folder and that of the folder around it."""
    found = (ROOT / folder / "README.md", ROOT / folder.parent / "README.md")
    return "".join(path.read_text(encoding="utf-8") for path in found if path.exists())


def test_every_module_of_the_product_is_named_in_a_readme() -> None:
    """In its folder's or the parent's; the rules' page names modules without ending."""
    left_out = [
        module
        for module in modules()
        if not module.name.startswith("__")
        and module.parts[:2] != ("firmware", "rules")
        and not re.search(rf"(?<!\w){re.escape(module.name)}`", readmes(module.parent))
    ]
    assert left_out == []


@pytest.mark.parametrize("folder", sorted({file.parent for file in modules()}), ids=str)
def test_a_readme_of_the_product_names_only_modules_that_there_are(folder: Path) -> None:
    readme = ROOT / folder / "README.md"
    named = re.findall(r"`([\w./]+\.py)`", readme.read_text(encoding="utf-8")) if readme.exists() else []
    roots = (folder, Path(), Path(folder.parts[0]))
    assert [name for name in named if not any((ROOT / root / name).exists() for root in roots)] == []


ROOMS = sorted(
    {
        file.relative_to(ROOT).parts[:2]
        for top in PRODUCT
        for file in (ROOT / top).rglob("*")
        if len(file.relative_to(ROOT).parts) > 2 and "__pycache__" not in file.parts
    }
)
"""The folders below the top ones."""


@pytest.mark.parametrize("page", ["README.md", "docs/developer/architecture.md"])
def test_a_map_of_the_tree_leaves_no_folder_out(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    (drawn,) = (block for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL) if "\nmodels/" in block)
    parts = re.split(r"(?m)^(\w+)/", drawn)
    named = {top: set(re.findall(r"\w+", words)) for top, words in zip(parts[1::2], parts[2::2], strict=True)}
    assert len(ROOMS) > 30
    assert [f"{top}/{room}" for top, room in ROOMS if room not in named[top]] == []


def test_every_folder_with_a_readme_has_a_page_in_the_book() -> None:
    tops = (*PRODUCT, "models", "hardware", "systemd")
    readmes = [path.parent.relative_to(ROOT) for top in tops for path in (ROOT / top).rglob("README.md")]
    pages = {path.stem for path in (ROOT / "docs/developer/folders").glob("*.md")}
    assert {"-".join(folder.parts) for folder in readmes} == pages
