"""The way from the parts list to an accepted table, and the assembly in it: nothing too early, no part forgotten."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from docs.facts import ROOT, render_fact
from firmware.devices.camera.rpicam import RpicamCamera, RpicamSettings
from firmware.runtime.config import CameraConfig
from firmware.runtime.device_factory import make_camera
from hardware.make.build import Assembly, Build, order_lists
from hardware.make.tables import DataTableError
from tests.hardware.cases import HARDWARE, NOW

TEXT: Final = (HARDWARE / "build.toml").read_text(encoding="utf-8")
TASKS: Final = (HARDWARE / "assembly.toml").read_text(encoding="utf-8")
BUILD: Final = Build.of(HARDWARE / "build.toml", NOW.bom)
ASSEMBLY: Final = Assembly.load(HARDWARE / "assembly.toml")
SECTIONS: Final = list(dict.fromkeys(task.section for task in ASSEMBLY.step))
STAGES: Final = (
    *("technician/parts#the-parts", "technician/parts#what-to-order-where", "technician/assembly#cut"),
    *(
        "technician/wiring#what-to-solder",
        "technician/assembly#the-felt",
        "technician/card",
        "technician/acceptance",
    ),
)
"""The walk through: parts, order lists, cut list, wiring, felt, card, acceptance."""


def test_every_step_needs_only_what_an_earlier_one_made_from_the_parts_list_to_the_acceptance() -> None:
    made: set[str] = set()
    for step in BUILD.step:
        assert set(step.needs) <= made, step.title
        made |= set(step.makes)
    assert BUILD.step[0].needs == ()
    assert BUILD.step[-1].makes == ("a table to play at",)
    assert [step.page for step in BUILD.step if step.page in STAGES] == list(STAGES)


EARLY = re.split(r"(?=^\[\[step\]\])", TEXT, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        (TEXT, "".join([EARLY[0], EARLY[-1], *EARLY[1:-1]]), "Accept the table” needs .* no earlier step"),
        ('parts = ["print"]', 'parts = ["felt"]', "print is ordered nowhere"),
        ('parts = ["print"]', 'parts = ["print", "felt"]', "felt is ordered twice"),
        ('parts = ["print"]', 'parts = ["print", "glue"]', "glue is ordered and is no part"),
        ('uses = ["print"]', "uses = []", "print is used in no step"),
        ('uses = ["print"]', 'uses = ["print", "glue"]', "glue is used and is no part"),
        ('makes = ["a calibrated table"]', 'makes = ["a calibrated table", "dust"]', "nothing needs dust"),
        (
            'makes = ["a calibrated table"]',
            'makes = ["the printed felt"]',
            "makes the printed felt a second time",
        ),
        ("weeks = 1", 'weeks = "soon"', "weeks"),
    ],
)
def test_a_step_too_early_and_a_part_or_a_thing_that_leads_nowhere_are_refused(
    was: str, now: str, says: str, tmp_path: Path
) -> None:
    assert was in TEXT
    (tmp_path / "build.toml").write_text(TEXT.replace(was, now, 1), encoding="utf-8")
    with pytest.raises(DataTableError, match=says):
        Build.of(tmp_path / "build.toml", NOW.bom)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('scene = "ties"', 'scene = "portal"', "portal is there twice"),
        ('id = "beam"', 'id = "feet"', "feet is there twice"),
        ('id = "beam"', "id = beam", "no TOML file"),
        ('id = "beam"', 'id = "beam"\nwho = "Ada"', "not permitted"),
        ("iris to F2", "iris to F2; a card on the felt", "names felt, which only the later step cloth"),
        ("The focus is set later,", "The focus is set", "step camera names felt"),
    ],
)
def test_steps_of_the_assembly_that_contradict_themselves_are_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in TASKS
    (tmp_path / "assembly.toml").write_text(TASKS.replace(old, new, 1))
    with pytest.raises(DataTableError, match=said):
        Assembly.load(tmp_path / "assembly.toml")


def test_the_order_lists_have_every_part_and_together_the_whole_sum() -> None:
    lists = order_lists(BUILD, NOW.bom)
    for part in NOW.bom.part:
        assert f"| {part.quantity} | {part.name}" in lists
    sums = re.findall(r"together, without what is optional \|  \| ([\d.]+) \|", lists)
    assert len(sums) == len(BUILD.shop)
    assert sum(map(float, sums)) == pytest.approx(NOW.bom.total(), abs=0.01)
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


def test_each_part_of_the_page_on_building_lists_what_its_step_takes_and_shows_its_pictures() -> None:
    """The pictures of assembly.toml in its section, or one on the page itself."""
    shown: list[str] = []
    for step in BUILD.step:
        if not step.page.startswith(("technician/assembly#", "technician/wiring")):
            continue
        page = _page(step.page)
        if step.uses and "#" in step.page:
            asked = re.findall(r"^```\{made\} (uses .+)$", page, flags=re.MULTILINE)
            assert asked == [f"uses {step.page}"]
            names = [NOW.bom.get(part).name for part in step.uses]
            assert all(f" × {name}" in render_fact(asked[0]) for name in names), step.title
        tasks = re.findall(r"^```\{made\} assembly (\w+)$", page, flags=re.MULTILINE)
        pictures = re.findall(r"!\[[^\]]+\]\(\.\./\.\./(hardware/out/[\w.-]+)\)", page)
        assert tasks or pictures, f"{step.page} has no picture"
        assert [picture for picture in pictures if not (ROOT / picture).exists()] == []
        shown += tasks
    assert set(shown) == set(SECTIONS)
    page = (ROOT / "docs/technician/assembly.md").read_text()
    assert re.findall(r"```\{made\} assembly (\w+)", page) == SECTIONS, "each once and in order"
    with pytest.raises(KeyError):
        render_fact("uses technician/assembly#the-roof")
    with pytest.raises(KeyError):
        ASSEMBLY.text("roof")


def test_every_step_of_the_assembly_stands_on_its_page_with_its_picture() -> None:
    page = (HARDWARE / "out/assembly.md").read_text()
    for task in ASSEMBLY.step:
        at = page.index(f"## {task.title}")
        assert f"](../../hardware/out/assembly-{task.scene}.png)" in page[at : at + 400]
        assert (HARDWARE / f"out/assembly-{task.scene}.png").is_file()
        assert f"**Done when** {task.done}" in page[at:]
    drawn = re.findall(r'scene == "(\w+)"', (HARDWARE / "mech/assembly.scad").read_text())
    assert {task.scene for task in ASSEMBLY.step} == set(drawn)
    assert "UNTESTED on hardware" in page


def test_without_a_setting_the_camera_shows_all_of_the_builds_sensor_and_moves_no_lens() -> None:
    made = make_camera(CameraConfig())
    assert isinstance(made, RpicamCamera)
    camera, settings = NOW.frame.camera, RpicamSettings()
    assert made._settings == settings
    assert (settings.width, settings.height) == pytest.approx((camera.width_px, camera.height_px), rel=0.01)
    assert settings.focus is None
