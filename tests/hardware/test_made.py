"""What is committed is what the sources make; looms, header picture and code name the same pins."""

from __future__ import annotations

import shutil
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import pytest
import yaml
from click.testing import CliRunner

from firmware.devices.pins import PinMap
from firmware.puck_reader import config
from hardware.make.__main__ import LOOMS, draw_looms, main, write_prints, write_texts
from hardware.make.wiring import HEADER_BCM, PICO_PINS, POWER_PINS
from vision.layout import TableLayout

HARDWARE = Path(__file__).parents[2] / "hardware"
PINMAP: dict[str, Any] = tomllib.loads((HARDWARE / "pinmap.toml").read_text())
TEXTS = (
    "out/bom.md",
    "out/optics.md",
    "out/header.svg",
    "wiring/panel.yml",
    "wiring/puck.yml",
    "mech/parameters.scad",
)
PRINTS = ("felt.pdf", "felt-a4.pdf", "felt-a3.pdf", "lens-board.pdf")
STALE = "the committed file is not what its source makes: run `make hardware`"


def loom(name: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((HARDWARE / "wiring" / f"{name}.yml").read_text())
    return read


def pages(path: Path) -> list[np.ndarray[Any, np.dtype[np.uint8]]]:
    with pypdfium2.PdfDocument(path) as pdf:
        return [np.array(page.render(scale=0.35).to_numpy(), np.uint8) for page in pdf]


def test_committed_texts_are_what_their_sources_make(tmp_path: Path) -> None:
    write_texts(tmp_path)
    for name in TEXTS:
        assert (tmp_path / name).read_text() == (HARDWARE / name).read_text(), f"{name}: {STALE}"


def test_committed_prints_are_what_the_layout_makes(tmp_path: Path) -> None:
    write_prints(tmp_path, TableLayout.load())
    for name in ("felt.svg", "lens-board.svg"):
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
    code = {f"button {name}": bcm for name, bcm in pins.buttons.items()}
    code |= {f"lamp {name}": bcm for name, bcm in pins.lamps.items()}
    code |= {"buzzer": pins.buzzer}
    panel = loom("panel")
    start, wires, end = panel["connections"][0]
    board = panel["connectors"]["Board"]["pinlabels"]
    wired = {}
    for pin, wire, at in zip(start["Pi"], wires["W1"], end["Board"], strict=True):
        assert panel["cables"]["W1"]["wirelabels"][wire - 1] == board[at - 1]
        if pin not in POWER_PINS:
            wired[board[at - 1]] = HEADER_BCM[pin]
        else:
            assert board[at - 1] == POWER_PINS[pin]
    assert wired == code


def test_the_pucks_loom_wires_the_pins_that_its_program_drives() -> None:
    puck = loom("puck")
    gp = {pin: number for number, pin in PICO_PINS.items()}
    wired: dict[str, dict[str, int]] = {}
    for start, _, end in puck["connections"]:
        (reader, at), *_ = end.items()
        if "Pico" in start and reader.startswith("Reader"):
            labels = puck["connectors"][reader]["pinlabels"]
            wired[reader] = {labels[i - 1]: gp[pin] for i, pin in zip(at, start["Pico"], strict=True)}
    bus = {"SCK": config.SCK, "MOSI": config.MOSI, "MISO": config.MISO}
    assert wired == {
        f"Reader_{seat}": bus | {"SDA (select)": select, "RST": reset}
        for seat, (select, reset) in config.ANTENNAS.items()
    }


def test_no_pin_of_the_pico_is_wired_to_two_things() -> None:
    used = [config.SCK, config.MOSI, config.MISO, config.SERVICE]
    used += [gp for pair in config.ANTENNAS.values() for gp in pair]
    assert len(set(used)) == len(used)


def test_the_header_picture_names_every_pin_that_is_wired() -> None:
    words = {e.text for e in ET.parse(HARDWARE / "out/header.svg").iter() if e.tag.endswith("text")}
    for kind, section in (("button ", "buttons"), ("lamp ", "lamps"), ("", "buzzer")):
        for name, entry in PINMAP[section].items():
            assert f"{kind}{name}  BCM {entry['bcm']}" in words
    assert f"power fail (UPS)  BCM {PinMap.load().power_fail}" in words


@pytest.mark.parametrize("name", LOOMS)
def test_the_committed_drawing_shows_every_plug_and_label_of_its_loom(name: str) -> None:
    words = " ".join(
        e.text or "" for e in ET.parse(HARDWARE / f"out/wiring-{name}.svg").iter() if e.tag.endswith("text")
    ).replace("\xa0", " ")
    for plug, said in loom(name)["connectors"].items():
        assert plug in words, STALE
        for label in said["pinlabels"]:
            assert label in words, STALE
    assert (HARDWARE / f"out/wiring-{name}.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.skipif(
    shutil.which("dot") is None or not Path(sys.executable).with_name("wireviz").exists(),
    reason="graphviz or wireviz is not installed: apt-get install graphviz; pip install -e '.[hardware]'",
)
def test_looms_are_drawn_anew(tmp_path: Path) -> None:
    write_texts(tmp_path)
    draw_looms(tmp_path)
    for name in LOOMS:
        assert ET.parse(tmp_path / f"out/wiring-{name}.svg").getroot().tag.endswith("svg")


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
