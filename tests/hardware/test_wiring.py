"""Looms, boards, header picture and code name the same pins; each wire is drawn from end to end."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pypdfium2
import pytest

from firmware.devices.panel.pins import PinMap
from firmware.puck_reader import config
from hardware.make.loom_sheet import blocks
from hardware.make.sheet import PAPERS
from hardware.make.wiring import HEADER_BCM, PICO_PINS, POWER_PINS, panel_board_page, puck_board_page
from tests.hardware.cases import HARDWARE, NOW

LOOMS = NOW.looms()
PINS = PinMap.load()


def wires(name: str, cable: str) -> dict[str, str]:
    """What each wire of a cable joins: the labels of its left and right end."""
    found = LOOMS[name].wires(LOOMS[name].cables[cable])
    return {right.split("  ")[1]: left for left, _, right in found}


def rows(page: str) -> list[list[str]]:
    """The cells of a page's tables."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line[:1] == "|"]


def test_the_header_has_forty_pins_and_every_bcm_number_once() -> None:
    assert HEADER_BCM.keys() | POWER_PINS.keys() == set(range(1, 41))
    assert sorted(HEADER_BCM.values()) == list(range(28))


def test_the_panels_loom_wires_the_pins_that_the_code_drives() -> None:
    code = {f"push-button {name}": bcm for name, bcm in PINS.buttons.items()}
    code |= {f"lamp {name}": bcm for name, bcm in PINS.lamps.items()} | {"buzzer": PINS.buzzer}
    wired = {label: int(pin.split()[0]) for label, pin in wires("panel", "W1").items()}
    power = {label: pin for label, pin in wired.items() if pin in POWER_PINS}
    assert {label: HEADER_BCM[pin] for label, pin in wired.items() if label not in power} == code
    assert all(POWER_PINS[pin] == label for label, pin in power.items())


def test_each_button_lamp_and_the_buzzer_hang_on_the_core_that_the_board_gives_their_pin() -> None:
    panel = LOOMS["panel"]
    cores = dict(zip(panel.connectors["Out"].labels, panel.cables["W2"].colours, strict=True))
    assert all(label == core.split("  ")[1] for label, core in wires("panel", "W2").items())
    ends: dict[str, list[str]] = {}
    for name, cable in panel.cables.items():
        if cable.ends[0] == "Panel":
            joined = wires("panel", name)
            assert all(label == core.split("  ")[1] for label, core in joined.items())
            assert cable.colours == [cores[label] for label in joined]
            ends[cable.ends[1]] = list(joined)
    assert ends == {
        **{f"push_button_{n}": [f"contact {n}", "GND", "+5V", f"lamp {n} -"] for n in PINS.buttons},
        **{f"lamp_{n}": ["+5V", f"lamp {n} -"] for n in PINS.lamps if n not in PINS.buttons},
        "buzzer": ["+5V", "buzzer -"],
    }
    board = {
        row[2].partition(" ")[2]: int(row[1]) for row in rows(panel_board_page(NOW.pins)) if row[1].isdigit()
    }
    assert board == {
        **{f"contact {name}": bcm for name, bcm in PINS.buttons.items()},
        **{f"lamp {name} -": bcm for name, bcm in PINS.lamps.items()},
        "buzzer -": PINS.buzzer,
    }


def test_the_upss_lines_lie_at_the_pins_that_the_code_watches_and_never_drives() -> None:
    cable = LOOMS["ups"].cables["W2"]
    at = {LOOMS["ups"].connectors["UPS"].labels[here - 1]: pin for here, pin in zip(*cable.pins, strict=True)}
    assert HEADER_BCM[at["power fail"]] == PINS.power_fail
    assert POWER_PINS[at["GND"]] == "GND"
    charging = HEADER_BCM[at["charging"]]
    assert charging == NOW.pins["reserved"]["charging"]["bcm"]
    assert charging not in {*PINS.buttons.values(), *PINS.lamps.values(), PINS.buzzer, PINS.power_fail}


def test_every_supply_of_the_budget_is_wired_and_all_that_it_feeds() -> None:
    joined = {cable.ends for cable in LOOMS["supply"].cables.values()}
    assert joined == {
        *(("Strip", "Box_supply"), ("Strip", "Lamp_supply"), ("Box_supply", "Pi"), ("Lamp_supply", "Frame")),
        *(("Pi", device) for device in ("Camera", "Display", "Pico")),
        *(("Lamp_supply", "Fuses"), ("Fuses", "Lamp_far"), ("Fuses", "Lamp_near")),
    }
    for cable, lamp in (("W6", "far"), ("W7", "near")):
        fused = {label: end.split("  ")[1] for label, end in wires("supply", cable).items()}
        assert fused == {"+24V": f"out, {lamp}", "-": "-"}


def test_the_pucks_loom_wires_the_pins_that_its_program_drives() -> None:
    for seat, (select, reset) in config.ANTENNAS.items():
        assert {label: end.split("  ")[1] for label, end in wires("puck", f"W{seat}").items()} == {
            "3V3": "regulator OUT 3V3",
            "GND": "GND",
            "SCK": f"GP{config.SCK} SCK, 47R",
            "MOSI": f"GP{config.MOSI} MOSI, 47R",
            "MISO": f"gate {seat}, in",
            "SDA (select)": f"GP{select} select {seat}, 10k to 3V3",
            "RST": f"GP{reset} reset {seat}",
        }
    assert len(LOOMS["puck"].cables) == len(config.ANTENNAS)


def test_the_pucks_board_names_the_same_pins_once_and_a_gate_for_each_reader() -> None:
    table = rows(puck_board_page())
    told = {row[2]: (int(row[0]), int(row[1])) for row in table if len(row) == 4 and row[1].isdigit()}
    lines = {f"every reader's {name}": getattr(config, name) for name in ("SCK", "MOSI")}
    lines |= {"every gate's out": config.MISO, "ground at the start: service": config.SERVICE}
    lines |= {f"SDA (select) of seat {seat}": select for seat, (select, _) in config.ANTENNAS.items()}
    lines |= {f"RST of seat {seat}": reset for seat, (_, reset) in config.ANTENNAS.items()}
    assert told == {name: (PICO_PINS[gp], gp) for name, gp in lines.items()}
    assert len(set(lines.values())) == len(lines), "no pin is wired to two things"
    gates = [tuple(map(int, row)) for row in table if len(row) == 5 and row[0].isdigit()]
    assert [seat for seat, *_ in gates] == list(config.ANTENNAS)
    assert len({(chip, pin) for _, chip, *pins in gates for pin in pins}) == 3 * len(gates)
    known = {1: (2, 3), 4: (5, 6), 10: (9, 8), 13: (12, 11)}  # SN74AHC125N: enable: in, out
    assert all(known[enable] == (into, out) for _, _, enable, into, out in gates)


def test_the_header_picture_names_every_pin_that_is_wired() -> None:
    words = {e.text for e in ET.parse(HARDWARE / "out/header.svg").iter() if e.tag.endswith("text")}
    for kind, section in (("push-button ", "buttons"), ("lamp ", "lamps"), ("", "buzzer")):
        for name, entry in NOW.pins[section].items():
            assert f"{kind}{name}  BCM {entry['bcm']}" in words
    assert f"power fail (UPS)  BCM {PINS.power_fail}" in words
    assert f"reserved: charging  BCM {NOW.pins['reserved']['charging']['bcm']}" in words


@pytest.mark.parametrize("name", LOOMS)
def test_the_drawing_for_the_book_shows_every_wire_from_end_to_end_and_is_no_wider_than_a_page(
    name: str,
) -> None:
    path = HARDWARE / f"out/wiring-{name}.svg"
    texts = (e.text or "" for e in ET.parse(path).iter() if e.tag.endswith("text"))
    words = " ".join(texts).replace("\xa0", " ")
    assert all(said in words for block in blocks(LOOMS[name]) for wire in block.wires for said in wire)
    assert "UNTESTED on hardware" in words
    assert f'width="{PAPERS["a4"][0]:g}mm"' in path.read_text()


@pytest.mark.parametrize("name", LOOMS)
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
    for block in blocks(LOOMS[name]):
        told = [" ".join(said.split()) for wire in block.wires for said in wire]
        assert any(all(said in text for said in told) for text in texts), block.title
