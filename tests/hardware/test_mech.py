"""The printed parts: closed, inside their bounds, and what goes into them fits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest
from PIL import Image

from hardware.make.build import Assembly
from hardware.make.mech import PARTS, build_stl, draw_scene
from hardware.make.tables import ToolMissing
from tests.hardware.cases import HARDWARE, NOW, printed
from tests.tools import OPENSCAD, SCREEN, needs

if TYPE_CHECKING:
    from trimesh import Trimesh

MEASURES = NOW.frame.measures
TASKS = {task.scene: task for task in Assembly.load(HARDWARE / "assembly.toml").step}


def ring_mm(mesh: Trimesh, height: float, x: float = 0.0, y: float = 0.0) -> list[float]:
    """The diameters of the round edges around this point that lie at this height."""
    at = mesh.vertices[np.isclose(mesh.vertices[:, 2], height, atol=0.01)]
    return sorted({round(float(d), 1) for d in 2 * np.hypot(at[:, 0] - x, at[:, 1] - y)})


@pytest.mark.parametrize("name", PARTS)
def test_every_part_is_watertight_and_inside_its_bounds(name: str) -> None:
    mesh = printed(name)
    assert (mesh.is_watertight, mesh.is_winding_consistent, mesh.body_count) == (True, True, 1)
    assert mesh.volume > 0
    assert (mesh.extents <= MEASURES[name]["bounds_mm"]).all(), mesh.extents
    assert (mesh.extents >= 0.8 * np.array(MEASURES[name]["bounds_mm"])).all(), "bounds that bind nothing"
    assert (HARDWARE / "out" / f"{name}.stl").stat().st_size < 200_000


def test_the_puck_fits_tag_and_disk() -> None:
    said, mesh = MEASURES["puck_shell"], printed("puck_shell")
    floor = said["bottom_mm"]
    shelf = floor + said["tag_deep_mm"]
    top = shelf + said["disk_deep_mm"] + said["rim_mm"]
    assert max(ring_mm(mesh, floor)) >= said["tag_mm"] + 0.3, "the tag's pocket"
    (pocket, recess) = ring_mm(mesh, shelf)
    assert pocket >= said["tag_mm"] + 0.3
    assert recess >= said["disk_mm"] + 0.3
    assert min(ring_mm(mesh, top)) >= said["disk_mm"] + 0.3, "the disk goes in from above"
    assert said["disk_deep_mm"] >= 2.0, "the disk of the parts list is 2 mm thick"
    assert mesh.extents[2] == pytest.approx(top, abs=0.01)


def test_a_readers_board_fits_into_its_pocket() -> None:
    said, mesh = MEASURES["antenna_pocket"], printed("antenna_pocket")
    inside = mesh.vertices[np.isclose(mesh.vertices[:, 2], said["floor_mm"], atol=0.01)]
    walls = np.unique(np.round(np.abs(inside), 2)[:, 0]), np.unique(np.round(np.abs(inside), 2)[:, 1])
    assert (walls[0] == (said["board_long_mm"] + 1) / 2).any()
    assert (walls[1] == (said["board_wide_mm"] + 1) / 2).any()


def test_three_buttons_two_lamps_and_four_screws_go_into_the_button_box() -> None:
    said, mesh = MEASURES["button_box"], printed("button_box")
    for i in (-1, 0, 1):
        assert min(ring_mm(mesh, said["high_mm"], i * said["apart_mm"], -6)) == said["hole_mm"] >= 22.2
    for i in (-1, 1):
        assert min(ring_mm(mesh, said["high_mm"], i * said["apart_mm"] / 2, 20)) == said["lamp_mm"] >= 5.1
    x, y = ((said[side] - 2 * said["wall_mm"] - said["foot_mm"]) / 2 for side in ("long_mm", "wide_mm"))
    assert min(ring_mm(mesh, 0, x, y)) == min(ring_mm(mesh, 0, -x, y)) == said["insert_mm"]
    nut = 26.0  # of a 22 mm button
    assert x - said["foot_mm"] / 2 > said["apart_mm"] + nut / 2, "room for the outer buttons' nuts"


def test_the_head_fits_the_beam_and_the_cameras_board_fits_below_its_plate() -> None:
    said, mesh = MEASURES["camera_head"], printed("camera_head")
    hollow = said["profile_mm"] + said["play_mm"]
    floor = mesh.vertices[np.isclose(mesh.vertices[:, 2], said["plate_mm"], atol=0.01)]
    assert np.isclose(np.abs(floor[:, 0]), hollow / 2, atol=0.01).any(), "between the cheeks"
    assert hollow >= MEASURES["frame"]["profile_mm"] + 0.3
    half = said["camera_holes_mm"] / 2
    for x in (-half, half):
        for y in (-half, half):
            assert min(ring_mm(mesh, 0, x, y)) == pytest.approx(said["camera_hole_mm"], abs=0.05)
    slot = said["drop_mm"] + said["profile_mm"] / 2
    assert slot + said["screw_mm"] < mesh.extents[2], "screws at the profile's slot"
    assert min(mesh.extents[:2]) > 38, "the HQ camera's board"


@pytest.mark.slow
@needs(OPENSCAD)
@pytest.mark.parametrize("name", PARTS)
def test_committed_parts_are_what_their_sources_build(name: str, tmp_path: Path) -> None:
    build_stl(HARDWARE / "mech", name, tmp_path / f"{name}.stl")
    made, kept = printed(name, tmp_path), printed(name)
    assert made.volume == pytest.approx(kept.volume, rel=1e-4), "run `make hardware`"
    assert made.bounds == pytest.approx(kept.bounds, abs=0.01), "run `make hardware`"


@pytest.mark.parametrize("scene", TASKS)
def test_a_picture_of_the_assembly_shows_something_and_is_small(scene: str) -> None:
    path = HARDWARE / f"out/assembly-{scene}.png"
    with Image.open(path) as picture:
        assert picture.width > 300
        assert len(picture.getcolors(4096) or ()) > 8
    assert path.stat().st_size < 30_000


@pytest.mark.slow
@needs(OPENSCAD)
@needs(SCREEN)
@pytest.mark.parametrize("scene", ["table", "camera"])  # one of the whole, one of parts
def test_committed_pictures_are_what_their_sources_draw(scene: str, tmp_path: Path) -> None:
    draw_scene(HARDWARE / "mech", TASKS[scene], tmp_path / "scene.png")
    paths = (tmp_path / "scene.png", HARDWARE / f"out/assembly-{scene}.png")
    made, kept = (cv2.imread(str(path)) for path in paths)
    assert made is not None
    assert kept is not None
    assert abs(made.shape[0] - kept.shape[0]) + abs(made.shape[1] - kept.shape[1]) <= 4, "run `make hardware`"
    small = [cv2.resize(p, (160, 120), interpolation=cv2.INTER_AREA).astype(int) for p in (made, kept)]
    far = np.abs(small[0] - small[1]).max(axis=2) > 60
    assert far.mean() < 0.01, "run `make hardware`"


def test_without_openscad_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="apt-get install openscad"):
        build_stl(HARDWARE / "mech", "puck_shell", tmp_path / "puck.stl")
