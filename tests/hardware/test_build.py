"""The way from the parts list to an accepted table: no step needs what a later one makes, no part is forgotten."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from docs.facts import ROOT, render_fact
from hardware.make.assembly import Assembly
from hardware.make.bom import Bom
from hardware.make.build import Build, order_lists
from hardware.make.errors import BuildError

BUILD: Final = ROOT / "hardware/build.toml"
TEXT: Final = BUILD.read_text(encoding="utf-8")
STAGES: Final = (
    *("technician/parts#the-parts", "technician/parts#what-to-order-where", "technician/assembly#cut"),
    *("technician/wiring#what-to-solder", "technician/assembly#the-felt", "install", "technician/acceptance"),
)
"""The walk through: parts, order lists, cut list, wiring, felt, install, acceptance."""


@pytest.fixture(scope="module")
def bom() -> Bom:
    return Bom.load(ROOT / "hardware/bom.toml")


@pytest.fixture(scope="module")
def build(bom: Bom) -> Build:
    return Build.load(BUILD, bom)


def _load(tmp_path: Path, text: str, bom: Bom) -> Build:
    (tmp_path / "build.toml").write_text(text, encoding="utf-8")
    return Build.load(tmp_path / "build.toml", bom)


def test_every_step_needs_only_what_an_earlier_one_made(build: Build) -> None:
    made: set[str] = set()
    for step in build.step:
        assert set(step.needs) <= made, step.title
        made |= set(step.makes)
    assert build.step[0].needs == ()
    assert build.step[-1].makes == ("a table to play at",)


def test_the_way_leads_from_the_parts_list_over_wiring_and_felt_to_the_acceptance(build: Build) -> None:
    pages = [step.page for step in build.step]
    assert [page for page in pages if page in STAGES] == list(STAGES)


def test_a_step_before_what_it_needs_is_refused(tmp_path: Path, bom: Bom) -> None:
    steps = re.split(r"(?=^\[\[step\]\])", TEXT, flags=re.MULTILINE)
    early = [steps[0], steps[-1], *steps[1:-1]]
    with pytest.raises(BuildError, match=r"Accept the table” needs .* which no earlier step makes"):
        _load(tmp_path, "".join(early), bom)


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        ('parts = ["print"]', 'parts = ["felt"]', "print is ordered nowhere"),
        ('parts = ["print"]', 'parts = ["print", "felt"]', "felt is ordered twice"),
        ('parts = ["print"]', 'parts = ["print", "glue"]', "glue is ordered and is no part"),
        ('uses = ["print"]', "uses = []", "print is used in no step"),
        ('uses = ["print"]', 'uses = ["print", "glue"]', "glue is used and is no part"),
        ('makes = ["a calibrated table"]', 'makes = ["a calibrated table", "dust"]', "nothing needs dust"),
        ('makes = ["a calibrated table"]', 'makes = ["two pucks"]', "makes two pucks a second time"),
        ("weeks = 1", 'weeks = "soon"', "weeks"),
    ],
)
def test_a_part_or_a_thing_that_leads_nowhere_is_refused(
    was: str, now: str, says: str, tmp_path: Path, bom: Bom
) -> None:
    assert was in TEXT
    with pytest.raises(BuildError, match=says):
        _load(tmp_path, TEXT.replace(was, now, 1), bom)


def test_the_order_lists_have_every_part_and_together_the_whole_sum(build: Build, bom: Bom) -> None:
    lists = order_lists(build, bom)
    for part in bom.part:
        assert f"| {part.quantity} | {part.name}" in lists
    sums = re.findall(r"together, without what is optional \|  \| ([\d.]+) \|", lists)
    assert len(sums) == len(build.shop)
    assert sum(map(float, sums)) == pytest.approx(bom.total(), abs=0.01)
    assert lists.index("2 weeks before") < lists.index("1 week before")


def _page(step_page: str) -> str:
    """Return a step's part of its page: from its heading to the next of the same rank."""
    name, _, heading = step_page.partition("#")
    text = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
    if not heading:
        return text
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title = part.split("\n", 1)[0].lower().replace("'", "").replace(",", "")
        if title.replace(" ", "-") == heading:
            return part
    raise AssertionError(f"{step_page}: no such heading")


def test_each_part_of_the_page_on_building_lists_what_its_step_takes_of_the_parts_list(
    build: Build, bom: Bom
) -> None:
    names = {part.id: part.name for part in bom.part}
    for step in build.step:
        if not step.uses or not step.page.startswith(("technician/assembly#", "technician/wiring#")):
            continue
        asked = re.findall(r"^```\{made\} (uses .+)$", _page(step.page), flags=re.MULTILINE)
        assert asked == [f"uses {step.page}"]
        shown = render_fact(asked[0])
        assert all(f" × {names[part]}" in shown for part in step.uses), step.title
    with pytest.raises(KeyError):
        render_fact("uses technician/assembly#the-roof")


def test_every_step_of_the_assembly_has_its_pictures_beside_it(build: Build) -> None:
    """Those of assembly.toml in its section, or one on the page itself."""
    sections = {step.section for step in Assembly.load(ROOT / "hardware/assembly.toml").step}
    shown: set[str] = set()
    for step in build.step:
        if step.page.startswith(("technician/assembly#", "technician/wiring")):
            part = _page(step.page)
            asked = re.findall(r"^```\{made\} assembly (\w+)$", part, flags=re.MULTILINE)
            pictures = re.findall(r"!\[[^\]]+\]\(\.\./\.\./(hardware/out/[\w.-]+)\)", part)
            assert asked or pictures, f"{step.page} has no picture"
            assert [picture for picture in pictures if not (ROOT / picture).exists()] == []
            shown |= set(asked)
    assert shown == sections


def test_the_book_has_the_pages_of_the_steps_in_their_order(build: Build) -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    chapters = re.findall(r"^([\w/-]+)$", index, flags=re.MULTILINE)
    pages = list(dict.fromkeys(step.page.partition("#")[0] for step in build.step))
    assert set(pages) <= set(chapters)
    text = (ROOT / "docs/technician/assembly.md").read_text(encoding="utf-8")
    on_one = [step.page for step in build.step if step.page.startswith("technician/assembly#")]
    assert sorted(on_one, key=lambda page: text.index(_page(page))) == on_one
    assert render_fact("steps").count("\n") == len(build.step) + 1
