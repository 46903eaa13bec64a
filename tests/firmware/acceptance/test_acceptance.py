"""The acceptance at the simulated table: each fault is planted once, and each is found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pypdfium2
import pytest
from click.testing import CliRunner

from firmware.acceptance import limits, table_trial
from firmware.acceptance.box_steps import CUT
from firmware.acceptance.cli import PDF, go_on, measure, write_report
from firmware.acceptance.findings import Result, StepVerdict
from firmware.acceptance.run_file import FIGURES, RunFile
from firmware.acceptance.signed_folder import check_folder
from firmware.acceptance.steps import STEPS
from firmware.cli.main import main
from firmware.devices.panel import debounce
from firmware.devices.panel.interface import ButtonName
from firmware.devices.puck.simulated import DEALER_TAG
from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.clocks import Clock
from firmware.runtime.timestamps import box_clock
from firmware.simulation.live.table import SimulatedTable
from firmware.table_client import TableLink
from tests.firmware.acceptance.table import PIN, Hands, Pi, open_table, walk_of
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow

SCALE = 0.5
"""Of the product's camera: pictures that are quick to look at, and too coarse for the build."""
SHORT = {"most_minutes": 0.0001, "presses": 1}


@dataclass
class Room:
    """A simulated table, its sensors and its folders."""

    table: SimulatedTable
    pi: Pi
    data: Path
    key: Path

    def measure(self, step: str, hands: Hands | None = None, **options: Any) -> Result:
        """Do one step."""
        (found,) = (one for one in STEPS if one.id == step)
        with walk_of(self.table, hands or Hands(self.table), self.data, **{**SHORT, **options}) as walk:
            return measure(walk, found)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    top = tmp_path_factory.mktemp("acceptance")
    pi = Pi(top / "pi")
    with open_table(top / "data", top / "room", SCALE, pi) as table:
        made = Room(table, pi, top / "data", top / "room/key")
        # its reading process may start late
        until(lambda: made.measure("camera.mounting").verdict is StepVerdict.PASS)
        yield made


# ---- the camera ----


def defocus(table: SimulatedTable) -> None:
    blurred = np.asarray(cv2.GaussianBlur(table.picture({}, 1), (0, 0), 2.2), np.uint8)
    table.camera.show(blurred)


@pytest.mark.parametrize(
    ("step", "figure", "plant", "says"),
    [
        ("camera.sharpness", "edge_mm", defocus, "out of focus"),
        ("camera.scale", "px_per_mm", lambda table: None, "hang the camera lower"),
        ("camera.light", "white", lambda table: table.camera.change(light=0.3), "too dark"),
        ("camera.glare", "glare_mm2", lambda table: table.camera.change(glare=1.0), "Glare"),
        ("camera.flicker", "banding_percent", lambda table: table.camera.change(bands=0.3), "flicker"),
    ],
)
def test_a_fault_of_the_picture_fails_its_step(
    room: Room, step: str, figure: str, plant: Callable[[SimulatedTable], object], says: str
) -> None:
    plant(room.table)
    try:
        found = room.measure(step)
    finally:
        room.table.clear()
        room.table.camera.change(light=1.0, glare=0.0, bands=0.0)
    assert found.verdict is StepVerdict.FAIL, found
    measured = found.figures[figure]
    assert measured is not None
    assert limits.LIMITS[figure].margin(measured) < 0
    assert says in found.says
    assert found.pictures == [f"{step}.jpg"]


def test_a_camera_that_drifts_fails_however_short_it_was_watched(room: Room) -> None:
    assert room.measure("camera.calibration").verdict is StepVerdict.PASS
    steady = room.measure("camera.still")
    assert steady.verdict is StepVerdict.SHORT, "well, but for less than ten minutes"
    room.table.camera.drift(200.0)
    try:
        found = room.measure("camera.still", most_minutes=0.02)
    finally:
        room.table.camera.drift(0.0)
    assert found.verdict is StepVerdict.FAIL
    assert "fasten it" in found.says


# ---- the puck reader ----


def test_a_seat_without_an_answer_is_named(room: Room) -> None:
    room.table.puck.break_antenna(3)
    try:
        found = room.measure("puck.places")
    finally:
        room.table.puck.mend_antenna(3)
    assert (found.verdict, found.figures) == (StepVerdict.FAIL, {"places_missing": 1.0})
    assert "seat 3 (its antenna does not answer)" in found.says


def lay_a_second_dealer(hands: Hands) -> None:
    def lay(seat: int) -> None:
        hands.table.puck.move_to(seat)
        hands.table.puck.lay(DEALER_TAG, 5 if seat == 4 else 4)

    hands.lays = lay


def forget_to_lift(hands: Hands) -> None:
    hands.table.puck.move_to(2)
    hands.ready = lambda text: None  # type: ignore[method-assign]


def lay_where_both_read(hands: Hands) -> None:
    def ready(text: str) -> None:
        hands.table.puck.move_to(1)
        hands.table.puck.lay(DEALER_TAG, 2)

    hands.ready = ready  # type: ignore[method-assign]


def lay_together(hands: Hands) -> None:
    hands.table.puck.move_to(1)
    hands.tell = lambda text: None  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("step", "plant", "says"),
    [
        ("puck.nothing", forget_to_lift, "Seat 2: the tag"),
        ("puck.places", lay_a_second_dealer, "dealer at 4"),
        (
            "puck.edges",
            lambda hands: setattr(hands, "lays", lambda seat: hands.table.puck.lift()),
            "nothing is read",
        ),
        ("puck.between", lay_where_both_read, "between seats 1 and 2"),
        ("puck.two", lay_together, "action at 1"),
    ],
)
def test_disks_that_are_read_otherwise_fail_their_step(
    room: Room, monkeypatch: pytest.MonkeyPatch, step: str, plant: Callable[[Hands], object], says: str
) -> None:
    monkeypatch.setattr("firmware.acceptance.puck_steps.QUIET_S", 0.6)
    hands = Hands(room.table)
    plant(hands)
    found = room.measure(step, hands, hands_s=0.4)
    room.table.puck.lift()
    assert found.verdict is StepVerdict.FAIL, found
    assert says in found.says


# ---- the push-buttons ----


def test_a_contact_that_bounces_too_long_fails_and_is_named(room: Room) -> None:
    room.table.panel.wear("confirm", 0.04)
    found = room.measure("buttons.presses")
    room.table.panel.wear("confirm", 0.0)
    assert found.verdict is StepVerdict.FAIL
    assert found.figures["bounce_ms"] == pytest.approx(40.0, abs=0.01)
    assert "The longest bounce is of green." in found.says
    assert sum(number for _ms, number in next(iter(found.curves.values()))) >= 6


def test_few_presses_that_are_well_are_not_enough(room: Room) -> None:
    found = room.measure("buttons.presses")
    assert found.verdict is StepVerdict.SHORT, found
    assert found.notes == {"presses of white": "1", "presses of green": "1", "presses of red": "1"}


def test_swapped_push_buttons_are_said(room: Room) -> None:
    hands = Hands(room.table)
    swapped: dict[ButtonName, ButtonName] = {"next": "confirm", "confirm": "next", "reject": "reject"}
    hands.presses = swapped.__getitem__
    found = room.measure("buttons.presses", hands)
    assert (found.verdict, found.figures["crossed"]) == (StepVerdict.FAIL, 1.0)
    assert "two wires are crossed" in found.says


def test_a_stuck_push_button_is_said(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debounce, "STUCK", 0.2)
    results: list[Result] = []

    def is_seen() -> bool:
        """On a busy machine, hands may press the push-button, and let it go, before the table has looked at it."""
        room.table.panel.push("reject")
        results.append(room.measure("buttons.presses"))
        return results[-1].figures["stuck"] == 1.0

    try:
        until(is_seen)
    finally:
        room.table.panel.let_go("reject")
        # the table looks at its devices now and then: the next test begins once it has seen that
        until(lambda: room.measure("buttons.presses").verdict is StepVerdict.SHORT)
    assert results[-1].verdict is StepVerdict.FAIL
    assert "reject" in results[-1].says


def test_lamps_that_are_not_what_was_asked_fail(room: Room) -> None:
    hands = Hands(room.table)
    hands.says_yes = False
    found = room.measure("lamps", hands)
    assert (found.verdict, "stay dark" in found.says) == (StepVerdict.FAIL, True)


# ---- heat ----


draw = table_trial.drawn_table


@cache
def drawn_once() -> Callable[[], tuple[str, int]]:
    """The drawn table, read for real, and once."""
    return cache(draw())


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine may take its time."""
    monkeypatch.setattr(table_trial, "drawn_table", drawn_once)
    patient = replace(limits.LIMITS["reading_ms"], most=1e6)
    monkeypatch.setitem(limits.LIMITS, "reading_ms", patient)


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize(
    ("celsius", "flags", "verdict", "says"),
    [
        (84.0, 0x4, StepVerdict.FAIL, "slows itself down"),
        (51.0, 0x1, StepVerdict.FAIL, "supply is too weak"),
        (None, 0x0, StepVerdict.UNMEASURED, "temperature is unknown"),
        (51.0, None, StepVerdict.UNMEASURED, "vcgencmd does not answer"),
        (51.0, 0x0, StepVerdict.SHORT, ""),
    ],
)
def test_heat_is_found_and_a_sensor_that_is_missing_is_never_well(
    room: Room, celsius: float | None, flags: int | None, verdict: StepVerdict, says: str
) -> None:
    room.pi.be(celsius, flags)
    wanted = (celsius, *((None, None) if flags is None else (bool(flags & 1), bool(flags & 4))))
    until(
        lambda: (
            (one := room.pi.watch.reading) and (one.temperature_c, one.undervoltage, one.throttled) == wanted
        )
    )
    found = room.measure("box.heat")
    assert (found.verdict, says in found.says) == (verdict, True), found
    assert found.figures["celsius"] == celsius
    assert found.figures["reading_ms"]


# ---- cut, resumed, signed ----


class Cut(BaseException):
    """The power is gone."""


def cut_at(hands: Hands, words: str) -> None:
    told = hands.tell

    def tell(text: str) -> None:
        told(text)
        if words in text:
            raise Cut

    hands.tell = tell  # type: ignore[method-assign]


def booted(boot: str) -> Clock:
    """The box's clock in a boot of this name."""
    clock = box_clock()
    return lambda: clock()._replace(boot=boot)


def test_after_the_plug_was_pulled_the_record_and_its_hand_are_compared(tmp_path: Path) -> None:
    data, place = tmp_path / "data", tmp_path / "room"
    (plug,) = (step for step in STEPS if step.id == CUT)
    with open_table(data, place, 0.2, wall=booted("first")) as table:
        link = TableLink(data / "table.sock", timeout=DEADLINE)
        for order in ({"do": "log_on", "person": "Robin"}, {"do": "next"}):
            assert link.send(order)["ok"]
        hands = Hands(table)
        cut_at(hands, "Pull the plug now")
        with walk_of(table, hands, data) as walk, pytest.raises(Cut):
            measure(walk, plug)
    with (
        open_table(data, place, 0.2, wall=booted("second")) as table,
        walk_of(table, Hands(table), data) as walk,
    ):
        noted = walk.run.pending(CUT)
        assert noted is not None
        well = measure(walk, plug)
        assert (well.verdict, well.notes["hand at the cut"]) == (StepVerdict.PASS, f"1, {noted['phase']}")
        assert well.figures["start_s"], "recorded only"
        walk.run.note(CUT, noted | {"seq": noted["seq"] + 40, "hand": 3})
        lost = measure(walk, plug)
        assert (lost.verdict, lost.figures["hands_lost"]) == (StepVerdict.FAIL, 2.0)
        assert (lost.figures["rows_lost"] or 0) > 1
        walk.run.note(CUT, noted)
        shut_down = Hands(table)
        shut_down.says_yes = False
        walk.technician = shut_down
        assert measure(walk, plug).verdict is StepVerdict.UNMEASURED, "no power cut"


def test_a_run_that_is_broken_off_goes_on_where_it_was(room: Room) -> None:
    chosen = ("disk", "rules", "camera.calibration", "camera.still")
    others = tuple(step.id for step in STEPS if step.id not in chosen)
    hands = Hands(room.table)
    cut_at(hands, "A hand settled (rules)")
    with walk_of(room.table, hands, room.data, **SHORT) as walk:
        walk.run = RunFile.begin(room.data, "feltwatch test", "7")
        with pytest.raises(Cut):
            go_on(walk, skip=others)
    kept = RunFile.last(room.data)
    assert kept is not None
    disk = kept.results()["disk"]
    assert disk.verdict is StepVerdict.PASS, "the answer of before the cut is kept"
    with walk_of(room.table, Hands(room.table), room.data, **SHORT) as walk:
        go_on(walk, skip=others)
        results = walk.run.results()
        assert results["disk"] == disk, "and not measured again"
        assert results["rules"].verdict is StepVerdict.PASS
        assert results["camera.still"].verdict is StepVerdict.SHORT
        assert {results[name].verdict for name in others} == {StepVerdict.UNMEASURED}
        go_on(walk, again=("disk",))
        assert walk.run.results()["disk"].figures == disk.figures


def test_the_report_is_signed_and_says_what_was_not_measured(room: Room, tmp_path: Path) -> None:
    with walk_of(room.table, Hands(room.table), room.data, **SHORT) as walk:
        walk.run = run = RunFile.begin(room.data, "feltwatch test", "7")
        go_on(walk, again=("camera.light", "disk"))
    DeviceKey.open(room.key)
    is_well, says = write_report(run, room.key)
    assert not is_well
    assert says.startswith(f"NOT accepted: of {len(STEPS)} steps 2 pass, {len(STEPS) - 2} not measured.")
    pdf = pypdfium2.PdfDocument(run.folder / PDF)
    text = "".join(page.get_textpage().get_text_range() for page in pdf)
    assert text.count("not measured") > len(STEPS) - 2
    assert "70 to 249 levels" in text
    key, wrong = check_folder(run.folder)
    assert (key, wrong) == (DeviceKey.open(room.key).public.hex(), [])
    copy = shutil.copytree(run.folder, tmp_path / "copy")
    figures = copy / FIGURES
    figures.write_text(figures.read_text().replace('"not measured"', '"pass"').replace("pass", "Pass", 1))
    assert check_folder(copy)[1] == [f"{FIGURES} was changed."]
    (copy / "manifest.sig").unlink()
    assert check_folder(copy) == ("", ["NOT signed: there is no manifest.sig."])


def test_at_the_console_a_step_is_repeated_and_the_report_verified(room: Room) -> None:
    DeviceKey.open(room.key)
    where = ["--data", str(room.data), "--key-folder", str(room.key)]
    done = CliRunner().invoke(
        main, ["acceptance", *where, "--by", "Ada", "--new", "--again", "disk"], input=f"{PIN}\n"
    )
    assert done.exit_code == 1, "one step alone accepts no table"
    assert "NOT accepted" in done.stdout
    assert "Signed by" in done.stdout
    run = RunFile.last(room.data)
    assert run is not None
    assert json.loads((run.folder / FIGURES).read_text())["steps"].keys() == {"disk"}
    checked = CliRunner().invoke(main, ["acceptance", "--data", str(room.data), "--verify", str(run.folder)])
    assert (checked.exit_code, checked.stdout.splitlines()[-1]) == (0, "All of it holds.")
    listed = CliRunner().invoke(main, ["acceptance", "--data", str(room.data), "--list"]).stdout
    assert len(listed.splitlines()) == len(STEPS)
    assert CliRunner().invoke(main, ["acceptance", *where, "--skip", "coffee"]).exit_code == 2
