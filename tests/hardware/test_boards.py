"""Both circuit boards: the looms' pins, the parts list's parts, and what KiCad finds in them."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from hardware.make.boards import check
from hardware.make.boards.circuit import BOARDS, FOLDER, Board, load_boards, pins_agree, tracks_bear
from hardware.make.mech import STAMPS, write_stamps
from hardware.make.tables import DataTableError, ToolMissing
from tests.hardware.cases import HARDWARE, NOW
from tests.tools import KICAD, needs


def test_the_boards_have_the_pins_of_the_looms() -> None:
    looms = NOW.looms()
    connectors = {**looms["panel"].connectors, **looms["puck"].connectors}
    at = {ref: list(nets.values()) for ref, nets in NOW.boards["panel"].nets.items()}
    assert at["J1"] == connectors["Board"].labels
    assert at["J2"] == [*connectors["Out"].labels, *connectors["Zero"].labels]
    signs = (HARDWARE / FOLDER / "feltwatch.kicad_sym").read_text()
    plug = signs[signs.index('(symbol "plug"') :].split('(symbol "plug_1_1"')[1]
    named = re.findall(r'\(name "([^"]+)"', plug[: plug.index("(symbol")])
    assert all(named == connectors[f"Reader_{seat}"].labels for seat in range(1, 6))


def test_what_lies_on_the_boards_is_on_the_parts_list() -> None:
    for name, listed in (("panel", "panel-parts"), ("puck", "puck-parts")):
        said = NOW.bom.get(listed).name
        values = NOW.boards[name].values
        fitted = Counter(value for ref, value in values.items() if ref[0] in "DFU")
        assert sum(fitted.values()) >= 4
        for what, pieces in fitted.items():
            assert f"{pieces} × {what}" in said if pieces > 1 else what in said, (what, pieces)


def test_a_pin_that_the_code_uses_otherwise_is_found(tmp_path: Path) -> None:
    lamps = dict(reversed(NOW.pins["lamps"].items()))
    found = pins_agree(NOW.boards, NOW.pins | {"lamps": lamps})
    assert not found.ok
    assert "panel U1 pin 1: lamp confirm instead of lamp ready" in found.figure
    text = (HARDWARE / FOLDER / "puck.kicad_pcb").read_text()
    drawn = re.sub(r'\(net \d+ "/MISO3"\)', "", text)
    (tmp_path / "puck.kicad_pcb").write_text(drawn)
    found = pins_agree(NOW.boards | {"puck": Board.load(tmp_path / "puck.kicad_pcb")}, NOW.pins)
    assert "puck J3 pin 5: nothing instead of MISO3" in found.figure


def test_a_board_that_a_later_kicad_saved_is_read_and_another_file_refused(tmp_path: Path) -> None:
    """Later releases write a part's name as a property, and name the nets of pads that nothing is joined to."""
    shutil.copytree(HARDWARE / FOLDER, tmp_path / FOLDER)
    path = tmp_path / FOLDER / "puck.kicad_pcb"
    text = path.read_text()
    later = re.sub(r"\(fp_text (reference|value) ", lambda it: f'(property "{it[1].title()}" ', text)
    assert later != text
    path.write_text(later.replace("(net 0)", '(net 99 "unconnected-(A1-Pad1)")'))
    assert load_boards(tmp_path) == NOW.boards
    path.write_text(text[:-3])
    with pytest.raises(DataTableError, match=r"puck\.kicad_pcb is no board of KiCad"):
        load_boards(tmp_path)


def test_thin_tracks_are_found() -> None:
    thin = dataclasses.replace(NOW.boards["panel"], narrowest_mm=0.15)
    assert tracks_bear(NOW.boards, NOW.electric).ok
    assert not tracks_bear(NOW.boards | {"panel": thin}, NOW.electric).ok


def test_a_changed_board_stays_stale_until_kicad_has_checked_it(tmp_path: Path) -> None:
    shutil.copytree(HARDWARE, tmp_path, dirs_exist_ok=True)
    before = json.loads((tmp_path / STAMPS).read_text())
    for changed in ("boards/panel.kicad_pcb", "mech/puck_shell.scad"):
        (tmp_path / changed).write_text((tmp_path / changed).read_text() + "\n")
    write_stamps(tmp_path, boards=False)
    made = json.loads((tmp_path / STAMPS).read_text())
    assert made["out/puck_shell.stl"] != before["out/puck_shell.stl"]
    assert made[check.REPORT] == before[check.REPORT]
    write_stamps(tmp_path, boards=True)
    assert json.loads((tmp_path / STAMPS).read_text())[check.REPORT] != before[check.REPORT]


def test_without_kicad_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="apt-get install kicad"):
        check.judge(HARDWARE / FOLDER, "panel")


@pytest.mark.slow
@needs(KICAD)
def test_kicad_finds_nothing_wrong_with_the_boards_and_finds_a_planted_fault(tmp_path: Path) -> None:
    folder = HARDWARE / FOLDER
    for board in BOARDS:
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
