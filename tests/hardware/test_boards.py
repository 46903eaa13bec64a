"""Both circuit boards: the looms' pins, the parts list's parts, tracks that join each net and no other."""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
import shutil
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from hardware.make.boards import check
from hardware.make.boards.layout import Layout, Pad, Point
from hardware.make.boards.route import Router, Track
from hardware.make.boards.write import TRACKS, asked, circuits, layouts, tracks, tracks_bear
from hardware.make.tables import DataTableError, ToolMissing
from tests.hardware.cases import HARDWARE, NOW
from tests.tools import KICAD, needs

PANEL, PUCK = circuits(NOW.pins)
LAYOUTS = layouts(HARDWARE, NOW.pins)
NAMES = [layout.circuit.name for layout in LAYOUTS]


def test_the_boards_have_the_pins_of_the_looms() -> None:
    looms = NOW.looms()
    connectors = {**looms["panel"].connectors, **looms["puck"].connectors}
    at = {part.ref: list(part.nets.values()) for part in PANEL.parts}
    assert at["J1"] == connectors["Board"].labels
    assert at["J2"] == [*connectors["Out"].labels, *connectors["Zero"].labels]
    plugs = {part.ref: part for part in PUCK.parts}
    for seat in range(1, 6):
        names = [pin.name for pin in plugs[f"J{seat}"].kind.pins]
        assert names == connectors[f"Reader_{seat}"].labels


def test_what_lies_on_the_boards_is_on_the_parts_list() -> None:
    for circuit, listed in ((PANEL, "panel-parts"), (PUCK, "puck-parts")):
        name = NOW.bom.get(listed).name
        fitted = Counter(part.value for part in circuit.parts if part.kind.right and part.value[0] not in "R")
        for what, pieces in fitted.items():
            assert f"{pieces} × {what}" in name if pieces > 1 else what in name, (what, pieces)


@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_tracks_join_every_net_and_keep_clear_of_each_other(layout: Layout) -> None:
    """Computed here from the committed tracks: pieces that touch are one; pieces of two nets lie 0.2 mm apart."""
    laid = tracks(HARDWARE, layout)
    wide, gap, via = (layout.track[name] for name in ("wide_mm", "gap_mm", "via_mm"))
    root: dict[object, object] = {}

    def find(one: object) -> object:
        while root.setdefault(one, one) != one:
            one = root[one]
        return one

    for one, other in itertools.combinations(laid, 2):
        vias = [track.ends[0] == track.ends[1] for track in (one, other)]
        if one.side != other.side and not any(vias):
            continue
        apart = _apart(one, other)
        half = sum(via / 2 if is_via else wide / 2 for is_via in vias)
        if one.net == other.net:
            if apart < 1e-6:
                root[find(id(one))] = find(id(other))
        else:
            assert apart - half >= gap - 1e-6, (one, other)
    nets: dict[str, set[object]] = defaultdict(set)
    for pad in layout.pads():
        for track in laid:
            if not pad.drilled and track.side and track.ends[0] != track.ends[1]:
                continue
            far = _far(pad.at, *track.ends)
            if track.net == pad.net and far < 1e-6:
                root[find(id(track))] = find((pad.ref, pad.number))
            elif track.net != pad.net:
                radius = via / 2 if track.ends[0] == track.ends[1] else wide / 2
                assert _off(pad, track) - radius >= gap - 1e-6, (pad, track)
    for pad in layout.pads():
        nets[pad.net].add(find((pad.ref, pad.number)))
    assert {net: len(pieces) for net, pieces in nets.items() if net and len(pieces) > 1} == {}


def _far(point: Point, start: Point, end: Point) -> float:
    """How far a point lies from a straight piece."""
    along = [b - a for a, b in zip(start, end, strict=True)]
    long = sum(value * value for value in along)
    share = (
        sum((p - a) * value for p, a, value in zip(point, start, along, strict=True)) / long if long else 0
    )
    share = min(1, max(0, share))
    return math.dist(point, [a + share * value for a, value in zip(start, along, strict=True)])


def _apart(one: Track, other: Track) -> float:
    if _cross(one, other):
        return 0.0
    ends = [_far(end, *other.ends) for end in one.ends] + [_far(end, *one.ends) for end in other.ends]
    return min(ends)


def _cross(one: Track, other: Track) -> bool:
    """Whether two pieces that run along the axes cross."""
    spans = [[sorted(values) for values in zip(*track.ends, strict=True)] for track in (one, other)]
    return all(a[0] <= b[1] and b[0] <= a[1] for a, b in zip(*spans, strict=True)) and all(
        any(low == high for low, high in span) for span in spans
    )


def _off(pad: Pad, track: Track) -> float:
    (a, b), (c, d) = track.ends
    steps = max(1, round(math.dist(*track.ends) / 0.1))
    return min(pad.off((a + (c - a) * n / steps, b + (d - b) * n / steps)) for n in range(steps + 1))


def test_tracks_are_those_of_the_parts_as_they_lie() -> None:
    kept = json.loads((HARDWARE / TRACKS).read_text())
    assert {name: board["of"] for name, board in kept.items()} == {
        layout.circuit.name: asked(layout) for layout in LAYOUTS
    }, "run `make hardware`"


def test_a_small_board_is_routed_and_one_without_a_way_or_with_a_part_off_the_grid_is_refused() -> None:
    table = copy.deepcopy(NOW.boards)
    table["panel"]["at"]["R1"][0] += 0.5
    with pytest.raises(DataTableError, match=r"R1 lies off the steps of 1\.27 mm"):
        Layout(PANEL, table)
    table = copy.deepcopy(NOW.boards)
    del table["panel"]["at"]["R1"]
    with pytest.raises(DataTableError, match="panel: R1: no such part, or no place"):
        Layout(PANEL, table)
    small = copy.copy(LAYOUTS[0])
    small.pads = lambda: [pad for pad in LAYOUTS[0].pads() if pad.ref in ("R1", "R4", "C1")]  # type: ignore[method-assign]
    assert {track.net for track in Router(small).route()} == {"push-button confirm"}
    walled = copy.copy(small)
    walled.holes = [(7.62, 41.0)]
    walled.hole = 30.0
    with pytest.raises(DataTableError, match="no way for push-button confirm"):
        Router(walled).route()


def test_thin_tracks_are_found() -> None:
    thin = {"track": NOW.boards["track"] | {"wide_mm": 0.15}}
    assert tracks_bear(NOW.boards, NOW.electric).ok
    assert not tracks_bear(thin, NOW.electric).ok


def test_without_kicad_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="apt-get install kicad"):
        check.judge(HARDWARE / "boards", "panel")


@pytest.mark.slow
@needs(KICAD)
def test_kicad_finds_nothing_wrong_with_the_boards_and_finds_a_planted_fault(tmp_path: Path) -> None:
    folder = HARDWARE / "boards"
    for board in NAMES:
        assert list(check.judge(folder, board).values()) == [[], []]
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    plan = tmp_path / "panel.kicad_pcb"
    cut, pieces = re.subn(r"^ \(segment[^\0]*?(?=^ \()", "", plan.read_text(), count=1, flags=re.MULTILINE)
    assert pieces == 1
    plan.write_text(cut)
    drawing = tmp_path / "panel.kicad_sch"
    drawing.write_text(drawing.read_text().replace('(label "3V3"', '(label "3V4"', 1))
    found = " ".join(itertools.chain(*check.judge(tmp_path, "panel").values()))
    assert "unconnected_items" in found
    assert "net_conflict" in found
