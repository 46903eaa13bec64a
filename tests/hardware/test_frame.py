"""The frame around the table: the camera comes to hang where the felt's layout says, cables reach, lamps light."""

from __future__ import annotations

import math
import re
import tomllib
from typing import Any

import numpy as np
import pytest

from firmware.runtime.config import Config
from hardware.make import view
from hardware.make.frame import Frame, frame_page, top_page
from tests.hardware import cases
from tests.hardware.cases import HARDWARE, LAYOUT, NOW, printed

BOM = NOW.bom
SAID = NOW.frame.measures


def frame(**changed: Any) -> Frame:
    return cases.frame(frame=changed)


def test_the_lens_comes_to_hang_over_the_felts_middle_at_the_height_that_the_frames_page_says() -> None:
    x, y, z = frame().camera_mm
    assert (x, y) == (LAYOUT.width_mm / 2, LAYOUT.height_mm / 2)
    assert z == pytest.approx(1320)
    assert f"{z:.0f} mm above the felt" in frame_page(frame(), BOM, "")
    assert frame(post_long_mm=2000.0).camera_mm[2] == pytest.approx(z - 150)


def test_what_is_bought_is_as_large_as_what_is_drawn() -> None:
    """The parts list is for people who buy; its measures are those of the frame and of the printed parts."""
    parts = ("frame", "puck_shell", "antenna_pocket", "button_box")
    said, shell, tray, box = (SAID[name] for name in parts)
    bought = {part.id: f"{part.text}: {part.choice.why}" for part in BOM.part}
    post, beam, carrier = (said[f"{name}_long_mm"] for name in ("post", "beam", "carrier"))
    metres = float(re.findall(r"([\d.]+) m,", bought["frame"])[0])
    assert 0 <= 1000 * metres - 2 * post - beam - 2 * carrier <= 200, "saw cuts, and no metre too many"
    marker = LAYOUT.natural_marker
    assert marker is not None
    for part, measure in (
        ("frame", f"cut: 2 × {post:.0f}, {beam:.0f}, 2 × {carrier:.0f} mm"),
        ("frame", f"{said['profile_mm']:.0f} × {said['profile_mm']:.0f} mm"),
        ("footing", "{:.0f} × {:.0f} × {:.0f} mm".format(*said["plate_mm"])),
        ("footing", "± {:.0f} and ± {:.0f} mm".format(*said["anchors_mm"])),
        ("lamps", f"{said['lamp_long_mm']:.0f} mm"),
        ("lamps", f"{said['lamp_lm']:.0f} lm"),
        ("lamp-holders", f"{frame().hanger_mm:.0f} mm below its carrier"),
        ("hoods", f"{said['lamp_long_mm']:.0f} × {math.ceil(said['hood_mm'] / 10) * 10 + 20:.0f}"),
        (
            "hoods",
            f"folded lengthwise by {math.degrees(frame().hood_turned - frame().lamp_turned):.0f} degrees",
        ),
        ("lens", f"barrel distortion of {SAID['lens']['barrel']:.0%}".replace("%", " %")),
        ("enclosure", "{:.0f} × {:.0f} × {:.0f} mm".format(*said["box_mm"])),
        ("table", "{:.0f} × {:.0f} × ".format(*said["table_mm"]) + f"{said['table_thick_mm']:.0f} mm"),
        ("table", f"{-said['floor_z_mm']:.0f} mm high"),
        ("tags", f"inlay, {shell['tag_mm']:.0f} mm"),
        ("disks", f"{shell['disk_mm']:.0f} × 2 mm"),
        ("antenna", f"{tray['board_wide_mm']:.0f} × {tray['board_long_mm']:.0f} mm"),
        ("buttons", f"{math.floor(box['hole_mm'])} mm"),
        ("camera", frame().camera.name.split(" with a ")[0]),
        ("lens", f"{frame().camera.focal_mm:g} mm"),
        ("natural-marker", f"{marker.width_mm:.0f} mm"),
        ("natural-marker", marker.colour),
    ):
        assert measure in bought[part], f"{part}: {measure}"


def test_each_tray_lies_in_its_recess_and_wood_is_left_below_it() -> None:
    tray, (wide, high, deep) = SAID["antenna_pocket"], SAID["antenna_pocket"]["recess_mm"]
    mesh, lid = (printed(f"antenna_{name}").extents for name in ("pocket", "lid"))
    assert (mesh[:2] + 2 <= (wide, high)).all(), "a millimetre all round"
    assert mesh[2] + lid[2] == pytest.approx(deep, abs=0.05), "flush: the cloth lies flat over it"
    assert (lid[:2] < (wide, high)).all()
    assert (lid[:2] > (wide - 2, high - 2)).all(), "no gap at its sides"
    assert SAID["frame"]["table_thick_mm"] - deep >= 8
    out, half = tray["hole_out_mm"], tray["hole_mm"] / 2
    assert out + half - mesh[0] / 2 >= 5, "room for the ribbon next to the tray"
    assert out < wide / 2


def test_the_buttons_screws_reach_their_inserts_through_the_top() -> None:
    (long,) = (float(found) for found in re.findall(r"M3 × (\d+)", BOM.get("screws").text))
    into = long - SAID["frame"]["table_thick_mm"]
    assert 4 <= into <= 10, "the insert's length, and no deeper than its hole"
    assert SAID["button_box"]["through_mm"] > 3


def test_everything_on_the_top_is_found_from_its_edges() -> None:
    spots = {spot.what: spot for spot in frame().spots()}
    wide, high = SAID["frame"]["table_mm"]
    corner = spots["corner of the felt's print at place A"]
    assert (corner.x, corner.y) == ((wide - LAYOUT.width_mm) / 2, (high - LAYOUT.height_mm) / 2)
    for seat, (x, y) in enumerate(SAID["frame"]["antennas_mm"], start=1):
        it, ribbon = spots[f"antenna of seat {seat}"], spots[f"its ribbon, seat {seat}"]
        coil = spots[f"middle of its coil, seat {seat}: the felt's circle"]
        assert (it.x, it.y) == (corner.x + x, corner.y + y)
        middle = (wide / 2, high / 2)
        away = [math.dist((one.x, one.y), middle) for one in (ribbon, it, coil)]
        assert away == sorted(away), "its hole looks to the middle, its coil lies beyond"
    page = top_page(frame())
    assert all(f"| {spot.what} | {spot.x:.0f} | {spot.y:.0f} |" in page for spot in spots.values())


def test_a_fresh_box_seats_players_where_the_antennas_of_their_places_are() -> None:
    places, antennas = tomllib.loads(LAYOUT.text)["places"], SAID["frame"]["antennas_mm"]
    for seat in Config().seats:
        away = [math.dist(at, (places[seat.place]["x_mm"], places[seat.place]["y_mm"])) for at in antennas]
        assert seat.seat == 1 + away.index(min(away)), seat.place


def test_the_screws_of_the_button_box_are_drilled_below_its_inserts() -> None:
    """Whatever way round the box is drawn: the holes are as far apart as the inserts of the printed part."""
    mesh = printed("button_box")
    at = [(spot.x, spot.y) for spot in frame().spots() if spot.what.startswith("screw")]
    middle = next(spot for spot in frame().spots() if spot.what == "middle of the push-buttons' box")
    floor = mesh.vertices[np.isclose(mesh.vertices[:, 2], 0, atol=0.01)]
    for x, y in at:
        along, across = y - middle.y, x - middle.x  # its long side runs along the table's left edge
        ring = np.hypot(floor[:, 0] - along, floor[:, 1] - across).min()
        assert ring == pytest.approx(SAID["button_box"]["insert_mm"] / 2, abs=0.05)


def test_every_hole_that_is_drilled_has_its_bit_among_the_tools() -> None:
    tools = (HARDWARE.parent / "docs/technician/parts.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"bits of ([^;]*) mm;", tools)
    bits = set(re.findall(r"[\d.]+", listed))
    drilled = {found for spot in frame().spots() for found in re.findall(r"hole ([\d.]+) mm", spot.cut)}
    assert drilled <= bits


def test_every_screw_of_the_assembly_is_on_the_parts_list() -> None:
    told = (HARDWARE / "assembly.toml").read_text(encoding="utf-8")
    bought = " ".join(part.text for part in BOM.part)
    sizes = set(re.findall(r"M\d+(?:\.\d)?\b", told))
    assert sizes >= {"M2.5", "M3", "M5", "M8", "M10"}
    assert {size for size in sizes if not re.search(rf"{re.escape(size)}\b(?!\.)", bought)} == set()


def test_every_cable_of_the_parts_list_is_laid_and_one_that_is_too_short_is_said() -> None:
    assert len(frame().routes(BOM)) == 1 + sum(part.length_m is not None for part in BOM.part)
    assert "TOO SHORT" in frame_page(frame(socket_z_mm=400.0), BOM, "")


def test_the_light_of_a_point_far_above_is_as_by_hand() -> None:
    """Seen from 10 m every bar is a point, aimed at the middle: E = Φ/π · cos at the felt / d², twice."""
    far = frame(lamp_z_mm=10_000.0, lamp_long_mm=1.0)
    d = math.hypot(10_000, SAID["frame"]["lamp_y_mm"])
    by_hand = 2 * SAID["frame"]["lamp_lm"] / math.pi * 10_000 / d / (d / 1000) ** 2
    assert view.lux(far)[1] == pytest.approx(by_hand, rel=0.01)


def test_a_flat_card_mirrors_what_hangs_where_the_formula_says() -> None:
    """The lamp shows at y = Y · H / (H + Z): seen from the zones' edge, 331 mm off the middle."""
    it = frame()
    h, z = it.camera_mm[2], SAID["frame"]["lamp_z_mm"]
    edge = max(
        abs(float(y) - it.middle[1])
        for zone in LAYOUT.zones
        for y in zone.to_felt(np.array([[0.0, 0.0], [0.0, zone.height_mm]]))[:, 1]
    )
    seen = np.abs(view.mirror_points(it, z, 0.0)[:, 1] - it.middle[1]).max()
    assert seen == pytest.approx(edge * (h + z) / h)


def test_a_tilted_card_mirrors_a_lamp_that_hangs_nearer() -> None:
    assert view.glare_mm(frame(lamp_y_mm=800.0)) < 0 < view.glare_mm(frame(lamp_y_mm=800.0), 0.0)
