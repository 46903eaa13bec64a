"""The tree stays one that a stranger finds a way in: small folders, few levels, a README where code lives."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from docs import tree

ROOT = Path(__file__).parents[2]
PRODUCT = ("vision", "firmware", "dealer_ui", "pit")
MAX_MODULES = 25
MAX_LEVELS = 3


def modules() -> list[Path]:
    return [file.relative_to(ROOT) for top in PRODUCT for file in (ROOT / top).rglob("*.py")]


def test_no_folder_of_the_product_has_more_than_25_modules() -> None:
    count = Counter(file.parent for file in modules() if file.name != "__init__.py")
    assert sum(count.values()) > 300
    assert {folder: n for folder, n in count.items() if n > MAX_MODULES} == {}


def test_the_product_has_at_most_three_levels_of_folders() -> None:
    assert {file.parent for file in modules() if len(file.parent.parts) > MAX_LEVELS} == set()


def folders() -> set[Path]:
    """Return the folders of the product that have modules."""
    return {file.parent for file in modules()}


def test_a_folder_of_the_product_says_in_its_readme_what_lives_there() -> None:
    assert [folder for folder in folders() if not readmes(folder)] == []


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


def test_a_readme_of_the_product_names_only_modules_that_there_are() -> None:
    for folder in folders():
        readme = ROOT / folder / "README.md"
        named = re.findall(r"`([\w./]+\.py)`", readme.read_text(encoding="utf-8")) if readme.exists() else []
        roots = (folder, Path(), Path(folder.parts[0]))
        gone = [name for name in named if not any((ROOT / root / name).exists() for root in roots)]
        assert gone == [], readme


def test_every_map_and_page_of_a_folder_is_what_the_tree_makes() -> None:
    """Else: `python -m docs.tree`."""
    files = tree.files_to_write()
    assert len(files) > 50
    assert [path for path, text in files.items() if not path.exists() or path.read_text() != text] == []
    assert set(tree.FOLDERS.glob("*.md")) <= set(files)


def test_the_maps_name_every_folder_of_the_product_with_what_it_is_for() -> None:
    folders = {file.parent for file in modules()} - {Path(top) for top in PRODUCT}
    listed = {folder for top in tree.TOPS for folder in tree.subfolders(top)}
    assert folders - listed == set()
    assert [folder for folder in listed if not tree.sentence(folder)] == []
    assert {f"{folder.name}/" for folder in listed} <= set(tree.long_map().split())


PARTICIPLE = re.compile(
    "[a-z]+(ed|ing)|begun|bent|bound|bought|broken|brought|built|caught|chosen|done|drawn|found|given|gone|held|kept|known"
    "|laid|led|left|lost|made|met|paid|proven|said|seen|sent|shown|sold|spoilt|taken|thought|told|torn|won|worn|written"
)
NOUN = re.compile(
    "be(d|ing)|breed|deed|(build|draw|end|even|find|group|head|offer|open|read|scor|seat|sett|train)ing|feed|need|seed|shed|speed"
    "|king|(sp|st)?ring|thing"
)
"""Words in *-ed* and *-ing* that are nouns of their own."""
NAME = re.compile(r"^ *(?:class|type) (\w+)|^(_?[A-Z][a-z]+)(?:: TypeAlias)? = ", re.MULTILINE)


def is_participle(name: str) -> bool:
    """Say whether a name is one word, and that a participle: `Seen`, `Served`, `Signing`."""
    word = name.strip("_")
    return (
        word == word.capitalize()
        and bool(PARTICIPLE.fullmatch(word.lower()))
        and not NOUN.fullmatch(word.lower())
    )


def test_no_class_or_type_is_named_with_a_bare_participle() -> None:
    assert all(map(is_participle, ("Served", "_Seen", "Signing")))
    assert not any(map(is_participle, ("ServedPage", "Seed", "Setting")))
    tops = (*PRODUCT, "models", "hardware", "docs", "tests")
    files = [file for top in tops for file in (ROOT / top).rglob("*.py")]
    names = {
        f"{file.relative_to(ROOT)}: {found[1] or found[2]}"
        for file in files
        for found in NAME.finditer(file.read_text(encoding="utf-8"))
    }
    assert len(names) > 1000
    bare = {name for name in names if is_participle(name.split()[1])}
    assert bare == set()
