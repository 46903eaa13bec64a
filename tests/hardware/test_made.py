"""What is committed is what the sources make; looms, header picture and code name the same pins."""

from __future__ import annotations

import json
import shutil
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import pytest
import yaml
from click.testing import CliRunner

from firmware.devices.panel.pins import PinMap
from firmware.puck_reader import config
from hardware.make.__main__ import main, standard_frame, write_prints, write_texts
from hardware.make.loom_sheet import TITLES, blocks
from hardware.make.sheet import PAPERS
from hardware.make.stamps import STAMPS, sources, stamps
from hardware.make.wiring import HEADER_BCM, PICO_PINS, POWER_PINS, panel_board_page, puck_board_page
from vision.felt.layout import TableLayout

HARDWARE = Path(__file__).parents[2] / "hardware"
PINMAP: dict[str, Any] = tomllib.loads((HARDWARE / "pinmap.toml").read_text())
PRINTS = (
    "felt.pdf",
    "felt-a4.pdf",
    "felt-a3.pdf",
    "cloth.pdf",
    "cloth-a4.pdf",
    "cloth-a3.pdf",
    "lens-board.pdf",
)
STALE = "the committed file is not what its source makes: run `make hardware`"


def loom(name: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((HARDWARE / "wiring" / f"{name}.yml").read_text())
    return read


def pages(path: Path) -> list[np.ndarray[Any, np.dtype[np.uint8]]]:
    with pypdfium2.PdfDocument(path) as pdf:
        return [np.array(page.render(scale=0.35).to_numpy(), np.uint8) for page in pdf]


def shown(drawing: Path) -> str:
    """The words of an SVG."""
    words = (e.text or "" for e in ET.parse(drawing).iter() if e.tag.endswith("text"))
    return " ".join(words).replace("\xa0", " ")


def test_committed_texts_are_what_their_sources_make(tmp_path: Path) -> None:
    write_texts(tmp_path)
    written = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 8
    for name in (name for name in written if name.suffix != ".pdf"):
        assert (tmp_path / name).read_text() == (HARDWARE / name).read_text(), f"{name}: {STALE}"


def test_what_outer_tools_made_is_of_the_sources_as_they_are_and_nobody_changed_it() -> None:
    """So a stale STL, picture or drawing is found where OpenSCAD is not installed, too."""
    assert json.loads((HARDWARE / STAMPS).read_text()) == stamps(HARDWARE), STALE


def test_a_changed_source_is_found(tmp_path: Path) -> None:
    shutil.copytree(HARDWARE, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.pdf~"))
    with (tmp_path / "mech/puck_shell.scad").open("a") as file:
        file.write("// thinner\n")
    kept, now = stamps(HARDWARE), stamps(tmp_path)
    stale = {name for name in kept if kept[name] != now[name]}
    assert stale == {name for name in kept if name.endswith(".png")} | {"out/puck_shell.stl"}


def test_every_file_of_the_folder_is_made_by_something_that_is_tested(tmp_path: Path) -> None:
    write_texts(tmp_path)
    write_prints(tmp_path / "out", TableLayout.load(), standard_frame())
    made = {path.name for path in (tmp_path / "out").iterdir()} | {Path(name).name for name in sources()}
    made |= {Path(STAMPS).name, "test-cards.pdf"}
    assert {path.name for path in (HARDWARE / "out").iterdir()} <= made


def test_committed_prints_are_what_the_layout_makes(tmp_path: Path) -> None:
    write_prints(tmp_path, TableLayout.load(), standard_frame())
    for name in ("felt.svg", "cloth.svg", "lens-board.svg"):
        assert (tmp_path / name).read_text() == (HARDWARE / "out" / name).read_text(), f"{name}: {STALE}"
    for name in PRINTS:
        made, kept = pages(tmp_path / name), pages(HARDWARE / "out" / name)
        assert [page.shape for page in made] == [page.shape for page in kept], f"{name}: {STALE}"
        for one, other in zip(made, kept, strict=True):
            assert np.abs(one.astype(int) - other).max() <= 8, f"{name}: {STALE}"


def test_the_pin_map_names_the_headers_own_pins() -> None:
    for section in PINMAP.values():
        for name, entry in section.items():
            assert HEADER_BCM[entry["pin"]] == entry["bcm"], name
    assert HEADER_BCM.keys() | POWER_PINS.keys() == set(range(1, 41))
    assert sorted(HEADER_BCM.values()) == list(range(28))


def test_the_panels_loom_wires_the_pins_that_the_code_drives() -> None:
    pins = PinMap.load()
    code = {f"push-button {name}": bcm for name, bcm in pins.buttons.items()}
    code |= {f"lamp {name}": bcm for name, bcm in pins.lamps.items()}
    code |= {"buzzer": pins.buzzer}
    panel = loom("panel")
    start, wires, end = panel["connections"][0]  # the header to the board
    board = panel["connectors"]["Board"]["pinlabels"]
    wired = {}
    for pin, wire, at in zip(start["Pi"], wires["W1"], end["Board"], strict=True):
        assert panel["cables"]["W1"]["wirelabels"][wire - 1] == board[at - 1]
        if pin not in POWER_PINS:
            wired[board[at - 1]] = HEADER_BCM[pin]
        else:
            assert board[at - 1] == POWER_PINS[pin]
    assert wired == code


def test_each_button_lamp_and_the_buzzer_hang_on_the_core_that_the_board_gives_their_pin() -> None:
    panel = loom("panel")
    out, cable, strip = panel["connections"][1]
    cores = panel["connectors"]["Out"]["pinlabels"]
    assert out["Out"] == cable["W2"] == strip["Panel"] == list(range(1, len(cores) + 1))
    assert panel["connectors"]["Panel"]["pinlabels"] == panel["cables"]["W2"]["wirelabels"] == cores
    ends: dict[str, list[str]] = {}
    for start, wires, end in (c for c in panel["connections"][2:] if len(c) == 3 and "Panel" in c[0]):
        ((name, at),) = end.items()
        labels = panel["connectors"][name]["pinlabels"]
        assert [labels[i - 1] for i in at] == [cores[i - 1] for i in start["Panel"]]
        (colours,) = (panel["cables"][wire]["colors"] for wire in wires)
        assert colours == [panel["cables"]["W2"]["colors"][i - 1] for i in start["Panel"]]
        ends[name] = labels
    pins = PinMap.load()
    assert ends == {
        **{f"push_button_{n}": [f"contact {n}", "GND", "+5V", f"lamp {n} -"] for n in pins.buttons},
        **{f"lamp_{n}": ["+5V", f"lamp {n} -"] for n in pins.lamps if n not in pins.buttons},
        "buzzer": ["+5V", "buzzer -"],
    }
    page = panel_board_page(HARDWARE / "pinmap.toml").splitlines()
    rows = [line.strip("| ").split(" | ") for line in page if line.startswith("| ") and "BCM" not in line]
    board = {row[2].split(" ", 1)[1]: int(row[1]) for row in rows if len(row) > 3}
    assert board == {
        **{f"contact {name}": bcm for name, bcm in pins.buttons.items()},
        **{f"lamp {name} -": bcm for name, bcm in pins.lamps.items()},
        "buzzer -": pins.buzzer,
    }


def test_the_upss_lines_lie_at_the_pins_that_the_code_watches_and_never_drives() -> None:
    ups = loom("ups")
    (line,) = (c for c in ups["connections"] if "UPS" in c[0])
    by_label = {
        ups["connectors"]["UPS"]["pinlabels"][at - 1]: pin
        for at, pin in zip(line[0]["UPS"], line[2]["Pi"], strict=True)
    }
    pins = PinMap.load()
    assert HEADER_BCM[by_label["power fail"]] == pins.power_fail
    assert POWER_PINS[by_label["GND"]] == "GND"
    charging = HEADER_BCM[by_label["charging"]]
    assert charging == PINMAP["reserved"]["charging"]["bcm"]
    assert charging not in {*pins.buttons.values(), *pins.lamps.values(), pins.buzzer, pins.power_fail}


def test_every_supply_of_the_budget_is_wired_and_all_that_it_feeds() -> None:
    supply = loom("supply")
    ends = {frozenset(next(iter(part)) for part in (c[0], c[2])) for c in supply["connections"]}
    assert ends == {
        frozenset(pair)
        for pair in (
            ("Strip", "Box_supply"),
            ("Strip", "Lamp_supply"),
            ("Box_supply", "Pi"),
            ("Pi", "Camera"),
            ("Pi", "Display"),
            ("Pi", "Pico"),
            ("Lamp_supply", "Fuses"),
            ("Fuses", "Lamp_far"),
            ("Fuses", "Lamp_near"),
            ("Lamp_supply", "Frame"),
        )
    }
    for start, _, end in supply["connections"]:
        ((first, at),), ((last, to),) = start.items(), end.items()
        if last.startswith("Lamp_") and first == "Fuses":
            fused, minus = (supply["connectors"][first]["pinlabels"][i - 1] for i in at)
            assert (fused, minus) == (f"out, {last.removeprefix('Lamp_')}", "-")
            assert [supply["connectors"][last]["pinlabels"][i - 1] for i in to] == ["+24V", "-"]


def test_the_pucks_loom_wires_the_pins_that_its_program_drives() -> None:
    puck = loom("puck")
    wired: dict[str, dict[str, str]] = {}
    for start, _, end in puck["connections"]:
        ((plug, at),), ((reader, to),) = start.items(), end.items()
        here, there = (puck["connectors"][name]["pinlabels"] for name in (plug, reader))
        wired[reader] = {there[j - 1]: here[i - 1] for i, j in zip(at, to, strict=True)}
    assert wired == {
        f"Reader_{seat}": {
            "3V3": "regulator OUT 3V3",
            "GND": "GND",
            "SCK": f"GP{config.SCK} SCK, 47R",
            "MOSI": f"GP{config.MOSI} MOSI, 47R",
            "MISO": f"gate {seat}, in",
            "SDA (select)": f"GP{select} select {seat}, 10k to 3V3",
            "RST": f"GP{reset} reset {seat}",
        }
        for seat, (select, reset) in config.ANTENNAS.items()
    }


def test_each_reader_has_a_gate_of_its_own_on_the_puck_board() -> None:
    page = puck_board_page()
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    gates = [tuple(map(int, row)) for row in rows if len(row) == 5 and row[0].isdigit() and row[1].isdigit()]
    assert [seat for seat, *_ in gates] == list(config.ANTENNAS)
    assert len({(chip, pin) for _, chip, *pins in gates for pin in pins}) == 3 * len(gates)
    known = {1: (2, 3), 4: (5, 6), 10: (9, 8), 13: (12, 11)}  # SN74AHC125N: enable: in, out
    assert all(known[enable] == (into, out) for _, _, enable, into, out in gates)


def test_the_pucks_table_names_the_same_pins() -> None:
    rows = [line.strip("| ").split(" | ") for line in puck_board_page().splitlines() if line[:3].strip("| ")]
    told = {
        row[2].rstrip(" |"): (int(row[0]), int(row[1]))
        for row in rows
        if len(row) in (3, 4) and row[0].isdigit() and row[1].isdigit()
    }
    assert told == {
        **{
            f"every reader's {n}": (PICO_PINS[getattr(config, n)], getattr(config, n))
            for n in ("SCK", "MOSI")
        },
        "every gate's out": (PICO_PINS[config.MISO], config.MISO),
        "ground at the start: service": (PICO_PINS[config.SERVICE], config.SERVICE),
        **{f"SDA (select) of seat {seat}": (PICO_PINS[gp], gp) for seat, (gp, _) in config.ANTENNAS.items()},
        **{f"RST of seat {seat}": (PICO_PINS[gp], gp) for seat, (_, gp) in config.ANTENNAS.items()},
    }


def test_no_pin_of_the_pico_is_wired_to_two_things() -> None:
    used = [config.SCK, config.MOSI, config.MISO, config.SERVICE]
    used += [gp for pair in config.ANTENNAS.values() for gp in pair]
    assert len(set(used)) == len(used)


def test_the_header_picture_names_every_pin_that_is_wired() -> None:
    words = {e.text for e in ET.parse(HARDWARE / "out/header.svg").iter() if e.tag.endswith("text")}
    for kind, section in (("push-button ", "buttons"), ("lamp ", "lamps"), ("", "buzzer")):
        for name, entry in PINMAP[section].items():
            assert f"{kind}{name}  BCM {entry['bcm']}" in words
    assert f"power fail (UPS)  BCM {PinMap.load().power_fail}" in words
    assert f"reserved: charging  BCM {PINMAP['reserved']['charging']['bcm']}" in words


@pytest.mark.parametrize("name", TITLES)
def test_the_drawing_for_the_book_shows_every_wire_from_end_to_end_and_is_no_wider_than_a_page(
    name: str,
) -> None:
    path = HARDWARE / f"out/wiring-{name}.svg"
    words = shown(path)
    for block in blocks(loom(name)):
        for start, colour, end in block.wires:
            assert start in words
            assert end in words
            assert colour in words
    assert "UNTESTED on hardware" in words
    assert f'width="{PAPERS["a4"][0]:g}mm"' in path.read_text()


@pytest.mark.parametrize("name", TITLES)
def test_a_looms_sheets_are_a4_and_show_each_cable_whole_on_one_page_inside_its_edges(name: str) -> None:
    texts = []
    with pypdfium2.PdfDocument(HARDWARE / f"out/wiring-{name}.pdf") as pdf:
        for page in pdf:
            width, height = page.get_size()
            assert (width * 25.4 / 72, height * 25.4 / 72) == pytest.approx(PAPERS["a4"], abs=0.1)
            words = page.get_textpage()
            for at in range(words.count_chars()):
                left, bottom, right, top = words.get_charbox(at)
                if right > left:
                    assert 10 <= left <= right <= width - 10, "cut at a side"
                    assert 5 <= bottom <= top <= height - 20, "cut above or below"
            texts.append(" ".join(words.get_text_range().split()))
    assert all("UNTESTED on hardware" in text for text in texts)
    for block in blocks(loom(name)):
        told = [" ".join(said.split()) for wire in block.wires for said in wire]
        assert any(all(said in text for said in told) for text in texts), block.title


def test_the_tool_writes_a_felt_of_a_houses_own_and_says_what_is_wrong(tmp_path: Path) -> None:
    wrong = CliRunner().invoke(
        main, ["felt", "--layout", str(tmp_path / "none.toml"), "--out", str(tmp_path)]
    )
    assert (wrong.exit_code, "cannot be read" in wrong.output, "Traceback" in wrong.output) == (
        2,
        True,
        False,
    )
    pinwheel = CliRunner().invoke(main, ["arrangement", "pinwheel", "--card-width", "57"])
    assert TableLayout.parse(pinwheel.output).card.width_mm == 57
