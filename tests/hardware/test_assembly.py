"""The assembly's steps: each shows its picture, and stands in the book."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.devices.camera.rpicam import RpicamCamera, RpicamSettings
from firmware.runtime.config import CameraConfig
from firmware.runtime.device_factory import make_camera
from hardware.make.__main__ import standard_frame
from hardware.make.assembly import Assembly, assembly_page
from hardware.make.errors import AssemblyError
from hardware.make.mech import SCENES

HARDWARE = Path(__file__).parents[2] / "hardware"
ASSEMBLY = Assembly.load(HARDWARE / "assembly.toml")
TEXT = (HARDWARE / "assembly.toml").read_text()


def test_every_step_has_a_picture_that_is_drawn_and_every_picture_a_step() -> None:
    page = assembly_page(ASSEMBLY)
    assert {step.scene for step in ASSEMBLY.step} == set(SCENES)
    for step in ASSEMBLY.step:
        at = page.index(f"## {step.title}")
        assert f"](../../hardware/out/assembly-{step.scene}.png)" in page[at : at + 400]
        assert (HARDWARE / f"out/assembly-{step.scene}.png").is_file()
        assert f"**Done when** {step.done}" in page[at:]
    assert "UNTESTED on hardware" in page


def test_the_books_page_on_building_shows_every_section_once_and_in_order() -> None:
    page = (HARDWARE.parent / "docs/technician/assembly.md").read_text()
    sections = list(dict.fromkeys(step.section for step in ASSEMBLY.step))
    assert [page.count(f"```{{made}} assembly {name}\n") for name in sections] == [1] * len(sections)
    at = [page.index(f"```{{made}} assembly {name}\n") for name in sections]
    assert at == sorted(at)
    with pytest.raises(KeyError):
        ASSEMBLY.text("roof")


def test_without_a_setting_the_camera_shows_all_of_the_builds_sensor_and_moves_no_lens() -> None:
    made = make_camera(CameraConfig())
    assert isinstance(made, RpicamCamera)
    camera = standard_frame().camera
    settings = RpicamSettings()
    assert made._settings == settings
    assert (settings.width, settings.height) == pytest.approx((camera.width_px, camera.height_px), rel=0.01)
    assert settings.focus is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('scene = "ties"', 'scene = "portal"', "no step shows the picture ties"),
        ('scene = "ties"', 'scene = "moon"', "moon, which is no picture"),
        ('id = "beam"', 'id = "feet"', "there twice"),
        ('id = "beam"', "id = beam", "cannot be used"),
        ('id = "beam"', 'id = "beam"\nwho = "Ada"', "cannot be used"),
        (
            "iris to F2",
            "iris to F2; focus on a card on the felt",
            "step camera names felt, which only the later step cloth",
        ),
        ("The focus is set later,", "The focus is set", "step camera names felt"),
    ],
)
def test_steps_that_contradict_themselves_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in TEXT
    path = tmp_path / "assembly.toml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(AssemblyError, match=said):
        Assembly.load(path)
