"""Limits that pages for people name are the limits that the code has."""

from __future__ import annotations

import re
from typing import Final

import pytest

from dealer_ui.server.app import Settings
from dealer_ui.web import log_in, passphrases, tls
from docs.facts import ROOT
from firmware.runtime.config import CameraConfig, PowerConfig, TimesConfig
from firmware.table.people import FIRST_WAIT_S, LONGEST_WAIT_S
from vision.felt import calibration, lens
from vision.felt import quality as verdicts

CALIBRATION: Final = {
    "room at the edge": f"≥ {calibration.MIN_MARGIN_PX:g} px",
    "camera leans": f"≤ {calibration.MAX_TILT_DEG:g}°",
    "felt lies off by": f"≤ {calibration.MAX_ERROR_PX:g} px",
    "resolution": f"≥ {verdicts.MIN_PX_PER_MM:g} px/mm",
    "an edge takes": f"≤ {verdicts.MAX_EDGE_MM:g} mm",
    "white paper": f"{verdicts.MIN_WHITE:g} to {verdicts.MAX_WHITE:g}",
    "glare": f"≤ {verdicts.MAX_GLARE_MM2:g} mm²",
    "flicker": f"≤ {100 * verdicts.MAX_BANDING:g} %",
    "colour": f"≥ {verdicts.MIN_COLOUR:g} levels",
    "moved by": f"≤ {verdicts.MAX_MOVED_MM:g} mm",
}
WORDS: Final = {1: "one", 2: "two", 5: "five", 6: "six", 10: "ten", 15: "fifteen"}
TIMES: Final = TimesConfig()
CAMERA: Final = CameraConfig()
SAID: Final = {
    "docs/calibration.md": (
        f"{WORDS[lens.MIN_VIEWS].capitalize()} views over {100 * lens.MIN_COVERAGE:g} % of the picture's width",
    ),
    "hardware/assembly.toml": (f"at most {calibration.MAX_TILT_DEG:g} degrees",),
    "docs/technician/review.md": (
        f"a passphrase of {passphrases.SHORTEST_PASSPHRASE} letters or more",
        f"{WORDS[int(passphrases.IDLE_S / 60)]} minutes without a request",
        f"It lasts {tls.LASTS.days} days",
    ),
    "docs/security.md": (
        f"the screen waits {FIRST_WAIT_S:g} s, then {LONGEST_WAIT_S:g} s a try",
        f"{passphrases.SHORTEST_PASSPHRASE} letters or more; "
        f"{WORDS[log_in.TRIES_EACH[0]]} tries of an address, then one a minute; "
        f"one in {WORDS[round(1 / log_in.TRIES_OF_ALL[1])]} seconds of all together",
        f"{WORDS[int(passphrases.IDLE_S / 60)]} minutes without a request, "
        f"{WORDS[int(passphrases.LONGEST_S / 3600)]} hours in all",
    ),
    "docs/technician/limits.md": (
        f"| {TIMES.turn_up:g} s | `times.turn_up` |",
        f"| {TIMES.still:g} s | `times.still` |",
        f"| {TIMES.answer:g} s | `times.answer` |",
        f"| {Settings.export_s:g} s | `ui.export_s` |",
        f"| {TIMES.reading:g} s | {TIMES.reading_ceiling:g} s | `times.reading`",
        f"| {TIMES.reading_start:g} s | {TIMES.reading_start_ceiling:g} s | `times.reading_start`",
        f"| {TIMES.camera_step:g} s | {TIMES.camera_step_ceiling:g} s | `times.camera_step`",
        f"| {TIMES.reader_silence:g} s | {TIMES.reader_silence_ceiling:g} s | `times.reader_silence`",
        f"| {CAMERA.late_s:g} s | {CAMERA.late_ceiling_s:g} s | `camera.late_s`",
        f"| {Settings.answer_floor_s:g} s | {Settings.answer_ceiling_s:g} s | `ui.answer_floor_s`",
    ),
    "docs/install.md": (
        f"shuts itself down, {PowerConfig().between_hands_s:g} s later where no hand is open, "
        f"{WORDS[int(PowerConfig().at_latest_s / 60)]} minutes later",
    ),
}


def test_the_limits_of_the_calibration_are_those_that_it_is_judged_by() -> None:
    page = (ROOT / "docs/calibration.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|", page, re.MULTILINE))
    assert rows.keys() - {"figure", "---", "markers found"} == CALIBRATION.keys()
    assert {name: rows[name] for name in CALIBRATION} == CALIBRATION


@pytest.mark.parametrize("page", SAID)
def test_a_limit_that_a_page_names_is_the_codes(page: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert [words for words in SAID[page] if words not in text] == []
    assert (log_in.TRIES_EACH[1], LONGEST_WAIT_S) == (1 / 60, 60), "said in words"
