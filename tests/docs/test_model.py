"""The table in three dimensions, in the built page's own browser: each step lights what it brings, with its words."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser

from docs.facts import ROOT
from hardware.make.build import Assembly
from tests.tools import CHROMIUM, needs

STEPS = Assembly.load(ROOT / "hardware/assembly.toml").step
BRINGS_NOTHING = {"measure"}


def test_the_model_has_what_each_step_brings_and_is_small() -> None:
    raw = (ROOT / "hardware/out/table.glb").read_bytes()
    magic, version, whole, length, kind = struct.unpack_from("<4sIII4s", raw)
    assert (magic, version, whole, kind) == (b"glTF", 2, len(raw), b"JSON")
    said = json.loads(raw[20 : 20 + length])
    names = {node["name"] for node in said["nodes"]} - {"table"}
    assert names == {step.id for step in STEPS} - BRINGS_NOTHING
    assert len(raw) < 400_000
    table = 2.2  # metres: the frame stands above it
    high = max(accessor["max"][2] for accessor in said["accessors"] if "max" in accessor)
    assert 1.3 < high / 1000 < table


@pytest.mark.slow
@needs(CHROMIUM)
def test_each_step_is_lit_with_its_words_and_without_webgl_the_pictures_stay(
    chromium: Browser, book: Path, tmp_path: Path
) -> None:
    address = (book / "technician/assembly.html").as_uri()
    page = chromium.new_page(viewport={"width": 400, "height": 500})  # drawn by the processor here
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(address)
    box = page.locator(".table-model.drawn")
    box.wait_for()
    for number, step in enumerate(STEPS, start=1):
        words = box.locator(".words")
        assert f"{number} of {len(STEPS)}: {step.title}" in words.inner_text()
        assert words.locator("li").count() == len(step.do)
        assert box.get_attribute("data-lit") == ("" if step.id in BRINGS_NOTHING else step.id)
        page.locator(".table-model canvas").screenshot(path=tmp_path / f"{step.id}.png")
        picture = np.asarray(Image.open(tmp_path / f"{step.id}.png").convert("RGB")).astype(int)
        orange = ((picture[..., 0] - picture[..., 2]) > 60).mean()
        assert orange > 0.001 or step.id in BRINGS_NOTHING, (step.id, orange)
        if number < len(STEPS):
            page.get_by_role("button", name="Next step").click()
    assert page.get_by_role("button", name="Next step").is_disabled()
    page.locator(".table-model canvas").focus()
    page.keyboard.press("Home")
    assert "1 of" in box.locator(".words").inner_text()
    before = page.locator(".table-model canvas").screenshot()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".table-model canvas").screenshot() != before, "the arrow turned it"
    assert wrong == []
    page.close()
    bare = chromium.new_page()
    bare.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    bare.goto(address)
    bare.get_by_text("draws nothing in three dimensions").wait_for()
    assert bare.locator("canvas").count() == 0
    bare.close()
