"""Calibration, enrolment and the deck check over the real table and reading processes, on rendered pictures."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import pytest

from firmware.devices.camera.simulated import Room
from firmware.record.evidence.verify import verify
from firmware.record.journal.captures import CaptureStore, captures_in
from firmware.record.journal.journal import Journal
from firmware.runtime.config import Config
from firmware.runtime.reading.messages import ReaderSpec
from firmware.runtime.reading.process import ReadingProcess
from firmware.runtime.reading.setup_worker import model_of
from firmware.simulation.live.table import camera_on
from firmware.table import events as ev
from firmware.table.phase import OPEN, Phase
from tests.firmware.running_table import Table, patient_limits
from tests.vision.boards import board_photo
from tests.waiting import until
from vision.base.arrays import Image
from vision.felt.calibration import FeltCalibration
from vision.felt.layout import TableLayout
from vision.reading import enrolment
from vision.reading.cards import CARDS
from vision.reading.enrolment import lesson, spread
from vision.reading.network import CardReader
from vision.reading.profile_files import profile_json
from vision.synthetic.decks import DrawnDeck
from vision.synthetic.render import Conditions, render_table

pytestmark = pytest.mark.slow

SCALE: Final = 0.45
"""Of the reference camera's pixels: 1.4 px/mm, enough for our deck, and five times as fast."""
STEADY: Final = Conditions(tilt_deg=0.5, offset_mm=4)
PIN: Final = "913753"


class PaleDeck(DrawnDeck):
    """Our deck printed with orange and violet inks."""

    def picture(self, code: str) -> Image:
        drawn = super().picture(code).astype(np.float32)
        paper = drawn.min(axis=2, keepdims=True) / 255
        return np.asarray(np.clip(drawn + (1 - paper) * np.array([60, 20, 30]), 0, 255), np.uint8)


class Box:
    """A box on a table: the table process, the reading process, a camera above a felt, a technician."""

    def __init__(self, folder: Path) -> None:
        self.layout = TableLayout.load()
        self.camera = Room(folder / "view.npy")
        self.bare = self.picture({})
        self.camera.show(self.bare)
        self.config = Config.model_validate_json(
            json.dumps(
                {
                    "data": str(folder / "data"),
                    "seats": [{"seat": 1, "place": "A"}, {"seat": 2, "place": "B"}],
                }
            )
        )
        self.folder = folder
        self.start()
        self.table.do(
            json.dumps({"do": "list_person", "person": "Tran", "role": "technician", "new_pin": PIN})
        )
        self.unlock()

    def unlock(self) -> None:
        self.session = self.table.ask(json.dumps({"do": "unlock", "by": "Tran", "pin": PIN}))["session"]

    def start(self) -> None:
        spec = ReaderSpec(self.config.data, partial(camera_on, self.folder / "view.npy"), threads=1)
        self.readings = ReadingProcess(spec, patient_limits())
        self.table = Table(self.config, self.readings)

    def picture(self, hands: Any, seed: int = 1, conditions: Conditions = STEADY, **more: Any) -> Image:
        return render_table(hands, self.layout, seed=seed, conditions=conditions, scale=SCALE, **more).frame

    def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        return self.table.ask(json.dumps({"do": do, "session": self.session, **fields}))

    def job(self, do: str, **fields: Any) -> dict[str, Any]:
        """Ask for a job and wait until it is over."""
        begun = self.ask(do, **fields)
        assert begun["ok"], begun
        return self.over(begun)

    def over(self, begun: dict[str, Any]) -> dict[str, Any]:
        """Wait until a job is over."""
        told: dict[str, Any] = {}

        def so() -> bool:
            told.update(self.ask("job", job=begun["job"], picture=True))
            return bool(told["state"] != "running")

        until(so)
        return told

    def done(self, do: str, **fields: Any) -> dict[str, Any]:
        """The same, for a job that succeeds; its result."""
        told = self.job(do, **fields)
        assert told["state"] == "done", told["why"]
        assert told["done"] == told["of"]
        result: dict[str, Any] = told["result"]
        return result

    def events(self, kind: type[ev.Event]) -> list[Any]:
        return [entry.event for entry in self.table.reader.of_type(kind.type)]


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    box = Box(tmp_path_factory.mktemp("box"))
    yield box
    box.table.stop()


@pytest.fixture(autouse=True)
def bare(box: Box) -> None:
    """Every test begins with a bare felt in good light, no hand open, nothing calibrated and the camera at work."""
    box.camera.change(light=1.0, glare=0.0, bands=0.0, late_s=0.0, drift_px_s=0.0, plugged=True)
    box.camera.show(box.bare)
    if box.table.state.phase in OPEN:
        box.table.do('{"do": "void", "reason": "the next test"}')
    box.table.until(lambda state: "camera" not in state.faults)
    for what in box.table.state.calibrations:
        assert box.ask("use_calibration", what=what)["ok"]
    assert box.job("look")["state"] == "done", "what the last test asked of the camera is over"


# ---- one look ----


def test_a_look_shows_the_bare_felt_with_everything_that_was_found(box: Box) -> None:
    told = box.job("look")
    seen = told["result"]
    assert seen["error"] is None
    assert [marker["name"] for marker in seen["markers"]["found"]] == ["0", "1", "2", "3", "4", "5"]
    assert seen["markers"]["missing"] == []
    assert {zone["name"] for zone in seen["zones"]} == {z.name for z in box.layout.zones}
    assert {name for name, verdict in seen["verdicts"].items() if not verdict["ok"]} == set()
    assert seen["pose"]["height_mm"] == pytest.approx(box.layout.camera.height_mm, abs=15)
    assert told["picture"].startswith("/9j/")  # a JPEG in base64
    width, height = seen["shown"]
    corners = np.array([zone["corners"] for zone in seen["zones"]]).reshape(-1, 2)
    assert (corners > 0).all()
    assert (corners < (width, height)).all()


@pytest.mark.parametrize(
    ("spoil", "verdict"),
    [({"light": 0.2}, "light"), ({"glare": 1.0}, "glare"), ({"bands": 0.5}, "banding")],
    ids=["too dark", "glare", "flicker"],
)
def test_a_spoiled_picture_rings_its_verdict_and_a_good_one_is_silent_again(
    box: Box, spoil: dict[str, float], verdict: str
) -> None:
    box.camera.change(**spoil)
    spoiled = box.done("look")["verdicts"][verdict]
    assert not spoiled["ok"]
    box.camera.change(light=1.0, glare=0.0, bands=0.0)
    assert box.done("look")["verdicts"][verdict]["ok"]


def test_a_look_without_a_felt_says_so_and_still_shows_the_picture(box: Box) -> None:
    box.camera.show(np.full(box.bare.shape, 90, np.uint8))
    told = box.job("look")
    assert told["state"] == "done"
    assert "marker" in told["result"]["error"]["message"]
    assert not told["result"]["verdicts"]["markers"]["ok"]
    assert told["picture"]


# ---- the felt ----


def test_the_felt_is_calibrated_kept_by_its_hash_and_compared_with_the_last_time(box: Box) -> None:
    first = box.done("calibrate_felt")
    assert first["figures"]["error_px"] < 0.5
    assert first["moved"] is None
    text = box.table.reader.content(first["hash"])
    assert text is not None
    kept = FeltCalibration.from_text(text.decode())
    assert kept.to_text().encode() == text, "the same calibration is always the same text"
    assert kept.sha256 == first["hash"]
    in_force = box.table.state.calibrations["felt"]
    assert (in_force.hash, in_force.stands_on["layout"]) == (first["hash"], box.layout.sha256)

    # the very same pictures give the very same hash: nothing is stored twice
    again = box.done("calibrate_felt")
    assert again["hash"] == first["hash"]
    assert again["before"]["hash"] == first["hash"]

    # a knock: every look says so, until the felt is calibrated again
    assert box.done("look")["verdicts"]["camera"]["ok"]
    box.camera.show(box.picture({}, seed=7, conditions=Conditions(offset_mm=16)))
    knocked = box.done("look")
    assert not knocked["verdicts"]["camera"]["ok"]
    assert knocked["moved"]["most_mm"] == pytest.approx(knocked["verdicts"]["camera"]["figure"], abs=0.01)
    other = box.done("calibrate_felt")
    assert other["hash"] != first["hash"]
    assert other["moved"]["most_mm"] > 3
    assert other["before"]["figures"] == first["figures"]
    assert box.done("look")["verdicts"]["camera"]["ok"]

    # and back to the first, by its hash
    assert box.ask("use_calibration", what="felt", hash=first["hash"])["ok"]
    assert box.table.state.calibrations["felt"].hash == first["hash"]
    assert not box.done("look")["verdicts"]["camera"]["ok"]
    assert (
        box.ask("use_calibration", what="felt", hash="0" * 64)["error"]
        == "The record has no such calibration."
    )
    frames = [frame for event in box.events(ev.CameraCalibrated) for frame in captures_in(event)]
    assert len(frames) >= 3
    assert {CaptureStore(box.config.data).check(frame) for frame in frames} == {"ok"}


@pytest.mark.parametrize(
    ("spoil", "why"), [({"light": 0.2}, "too dark"), ({"drift_px_s": 6.0}, "wander")], ids=["dark", "moving"]
)
def test_a_felt_is_not_calibrated_from_bad_pictures(box: Box, spoil: dict[str, float], why: str) -> None:
    before = box.table.state.calibrations
    if "drift_px_s" in spoil:
        box.camera.drift(spoil["drift_px_s"])
    else:
        box.camera.change(**spoil)
    told = box.job("calibrate_felt")
    box.camera.drift(0)
    assert told["state"] == "failed"
    assert why in told["why"]
    assert box.table.state.calibrations == before


def test_a_hidden_marker_is_named(box: Box) -> None:
    hidden = box.bare.copy()
    found = next(m for m in box.done("look")["markers"]["found"] if m["name"] == "4")
    times = box.bare.shape[1] / box.done("look")["shown"][0]
    low, high = (np.array(found["corners"]).min(axis=0) * times).astype(int), None
    high = (np.array(found["corners"]).max(axis=0) * times).astype(int)
    hidden[low[1] - 4 : high[1] + 4, low[0] - 4 : high[0] + 4] = (40, 60, 50)
    box.camera.show(hidden)
    seen = box.done("look")
    assert [m["name"] for m in seen["markers"]["missing"]] == ["4"]
    told = box.job("calibrate_felt")
    assert told["state"] == "failed"
    assert "4 missing" in told["why"]


# ---- while a hand is open ----


def test_nothing_is_done_with_the_camera_while_a_hand_is_open(box: Box) -> None:
    box.table.do('{"do": "next"}')
    for order in (
        {"do": "look"},
        {"do": "calibrate_felt"},
        {"do": "calibrate_lens", "step": "view"},
        {"do": "enrol_deck", "step": "view"},
        {"do": "check_deck", "step": "round"},
        {"do": "use_calibration", "what": "felt"},
    ):
        answer = box.ask(order.pop("do"), **order)
        assert "A hand is open" in answer["error"], answer
    opened = box.events(ev.HandOpened)[-1]
    assert opened.calibrations == box.table.state.calibrations, "a hand names what it is read by"
    box.table.do('{"do": "void", "reason": "test"}')
    assert box.job("look")["state"] == "done"


def test_what_comes_back_after_a_hand_was_opened_is_dropped(box: Box) -> None:
    box.camera.change(late_s=0.5)
    begun = box.ask("look")
    box.table.do('{"do": "next"}')
    box.camera.change(late_s=0.0)
    told = box.over(begun)
    box.table.do('{"do": "void", "reason": "test"}')
    assert told["state"] == "failed"
    assert "A hand was opened meanwhile" in told["why"]
    assert told["picture"] == ""
    assert told["result"] == {}


def test_only_a_technician_may_look_and_a_dealer_may_check_a_deck(box: Box) -> None:
    assert box.table.ask(b'{"do": "look"}'.decode())["ask"] == ["technician"]
    begun = box.ask("look")
    denied = box.table.ask(json.dumps({"do": "job", "job": begun["job"]}))
    assert not denied["ok"]
    box.job("look")
    assert box.table.ask('{"do": "check_deck", "step": "begin"}')["ok"]


def test_a_dead_camera_is_said_and_its_job_fails(box: Box) -> None:
    box.camera.unplug()
    box.table.until(lambda state: "camera" in state.faults)
    assert box.ask("look")["error"] == str(box.table.state.faults["camera"])
    box.camera.replug()
    box.table.until(lambda state: "camera" not in state.faults)
    assert box.job("look")["state"] == "done"


@pytest.mark.sampled
def test_a_job_fails_with_its_process_and_what_was_collected_is_gone_and_said(box: Box) -> None:
    box.camera.show(box.picture(spread(box.layout)))
    assert box.done("enrol_deck", step="view")["pictures"] == 1
    box.camera.change(late_s=1.0)
    begun = box.ask("look")
    pid = box.readings.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    box.camera.change(late_s=0.0)
    told = box.over(begun)
    assert (told["state"], "stopped unexpectedly" in told["why"]) == ("failed", True)
    box.table.until(lambda state: "camera" not in state.faults and box.readings.pid != pid)
    assert box.job("look")["state"] == "done"
    assert "no picture of the spread yet" in box.job("enrol_deck", step="commit")["why"]


# ---- the deck ----


def test_a_deck_is_learnt_from_its_spread_and_read_by_from_then_on(box: Box) -> None:
    hands = spread(box.layout)
    deck = PaleDeck()
    box.ask("enrol_deck", step="begin")
    bad = {place: {row: list(cards) for row, cards in rows.items()} for place, rows in hands.items()}
    bad["A"]["front"].pop()
    box.camera.show(box.picture(bad, deck=deck))
    refused = box.job("enrol_deck", step="view")
    assert refused["state"] == "failed"
    assert "4c" in refused["why"]
    missing = [card["card"] for card in refused["result"]["cards"] if card["state"] == "missing"]
    assert missing == ["4c"]
    early = box.job("enrol_deck", step="commit", name="house")
    assert "no picture" in early["why"]
    for number, seed in enumerate((1, 2), 1):
        box.camera.show(box.picture(hands, seed=seed, deck=deck))
        view = box.done("enrol_deck", step="view")
        assert view["pictures"] == number
        assert len(view["cards"]) == 52
    learnt = box.done("enrol_deck", step="commit", name="Pale")
    assert learnt["figures"]["sure_after"] >= learnt["figures"]["sure_before"]
    assert {card["seen"] == card["card"] for card in learnt["cards"]} == {True}
    made = box.table.state.calibrations["deck"]
    assert (made.name, made.hash) == ("Pale", learnt["hash"])
    assert made.stands_on == {"model": box.table.process.house.model_hash}
    assert box.table.process._calibration.trouble == "", "the reader has it"

    # the next deck check is read by it, and says so
    checked = box.done("check_deck", step="round")
    assert checked["recorded"], checked["tally"]
    event = box.events(ev.DeckChecked)[-1]
    assert (event.seen, event.deck, event.whole) == (52, made.hash, True)
    assert len(event.frames) == 1
    assert box.ask("use_calibration", what="deck")["ok"]
    assert "deck" not in box.table.state.calibrations


def test_a_deck_is_counted_in_rounds_and_what_is_missing_or_twice_is_named(box: Box) -> None:
    assert box.ask("check_deck", step="begin")["ok"]
    assert "No deck is being counted" in box.ask("check_deck", step="end")["error"]
    hands = spread(box.layout)
    first = {place: hands[place] for place in "AB"}
    box.camera.show(box.picture(first))
    one = box.done("check_deck", step="round")
    assert (one["tally"]["seen"], one["recorded"]) == (26, False)
    second = {place: {row: list(cards) for row, cards in hands[place].items()} for place in "CD"}
    second["D"]["back"][4] = "2c"  # the deuce of clubs again in the ace of spades' place
    box.camera.show(box.picture(second))
    two = box.done("check_deck", step="round")["tally"]
    assert (two["missing"], two["twice"], two["unsure"]) == (("As",), ("2c",), 0)
    again = box.done("check_deck", step="again")["tally"]
    assert (again["rounds"], again["seen"]) == (2, 51)
    assert box.ask("check_deck", step="end")["ok"]
    event = box.events(ev.DeckChecked)[-1]
    assert (event.missing, event.twice, event.whole, event.rounds) == (("As",), ("2c",), False, 2)


def deck_with_two_ranks_exchanged(box: Box) -> str:
    """Return a deck that was learnt from a spread in which each king was called a queen, and each queen a king."""
    reader = CardReader(threads=1)
    frames = [box.picture(spread(box.layout), seed=seed) for seed in (1, 2)]
    swap = np.array([CARDS.index(code.translate(str.maketrans("QK", "KQ"))) for code in CARDS])
    lessons = [lesson(frame, box.layout, reader) for frame in frames]
    wrong = [replace(one, cards=swap[one.cards], whole_cards=swap[one.whole_cards]) for one in lessons]
    return profile_json(enrolment._fit(wrong, "Exchanged"), model_of(reader))


@pytest.mark.sampled
def test_a_deck_from_the_pit_that_exchanges_two_ranks_is_found_out_before_its_first_hand(box: Box) -> None:
    text = deck_with_two_ranks_exchanged(box)
    model = json.loads(text)["model"]
    box.table.stop()
    with Journal(box.config.data) as journal:
        journal.recover()
        digest = journal.keep("deck", text.encode())
        made = ev.Calibration(digest, "Exchanged", {"model": model}, {})
        journal.append([ev.DeckEnrolled(made, unchecked=True)], "technician:Tran")
    box.start()
    box.unlock()
    hands = spread(box.layout)
    assert "came from the pit and was not checked" in box.table.ask('{"do": "next"}')["error"]

    box.camera.show(box.picture(hands))
    counted = box.done("check_deck", step="round")
    assert counted["tally"]["whole"], "52 different cards were read: counting alone shows nothing"
    assert ("Qc", "Kc") in map(tuple, counted["misread"])
    assert not counted["recorded"]
    assert "No deck is being counted" in box.ask("check_deck", step="end")["error"]
    assert "came from the pit and was not checked" in box.table.ask('{"do": "next"}')["error"]

    # rounds that another deck has read prove nothing, and without the deck the table deals again
    box.camera.show(box.picture({place: hands[place] for place in "AB"}))
    assert box.done("check_deck", step="round")["tally"]["rounds"] == 1
    assert box.ask("use_calibration", what="deck")["ok"]
    box.camera.show(box.picture({place: hands[place] for place in "CD"}))
    assert box.done("check_deck", step="round")["tally"]["rounds"] == 1
    box.table.do('{"do": "next"}')
    box.table.do('{"do": "void", "reason": "to end it"}')

    # taken again it is still unchecked; the right one is in force once it was read in its order
    assert box.ask("use_calibration", what="deck", hash=digest)["ok"]
    assert box.table.state.deck_unchecked


# ---- the lens, and a restart ----


def test_the_lens_is_measured_view_by_view(box: Box) -> None:
    felt = box.done("calibrate_felt")["hash"]
    box.done("calibrate_lens", step="begin")
    box.camera.show(cv2.cvtColor(board_photo(0), cv2.COLOR_GRAY2BGR).astype(np.uint8))
    one = box.job("calibrate_lens", step="view")
    assert (one["result"]["views"], one["result"]["enough"], one["result"]["why"]) == (1, False, "")
    assert len(one["result"]["outline"]) > 3
    assert one["picture"]
    same = box.done("calibrate_lens", step="view")
    assert (same["views"], same["why"]) == (1, "same view")
    early = box.job("calibrate_lens", step="commit")
    assert "6 are needed" in early["why"]
    box.camera.show(box.bare)
    assert box.done("calibrate_lens", step="view")["why"] == "no board"
    for number in (2, 4, 6, 8, 1, 7):
        box.camera.show(cv2.cvtColor(board_photo(number), cv2.COLOR_GRAY2BGR).astype(np.uint8))
        view = box.done("calibrate_lens", step="view")
    assert view["enough"], view
    assert len(view["covered"]) > 20
    made = box.done("calibrate_lens", step="commit")
    assert made["figures"]["error_px"] < 0.5
    state = box.table.state
    assert state.calibrations["lens"].hash == made["hash"]
    assert "felt" not in state.calibrations, "a felt's calibration goes with its lens"
    refused = box.ask("use_calibration", what="felt", hash=felt)
    assert "another lens" in refused["error"]
    assert box.ask("use_calibration", what="lens")["ok"]
    assert box.ask("use_calibration", what="felt", hash=felt)["ok"]


@pytest.mark.sampled
def test_a_restart_takes_the_calibration_up_and_a_knock_before_a_hand_is_told(box: Box) -> None:
    box.done("calibrate_felt")
    before = box.table.state.calibrations
    assert "felt" in before
    box.table.stop()
    box.start()
    assert box.table.state.calibrations == before
    box.session = box.table.ask(json.dumps({"do": "unlock", "by": "Tran", "pin": PIN}))["session"]
    assert box.done("look")["verdicts"]["camera"]["ok"]
    # the camera is knocked, and the hand's reading says so
    rows = {
        "front": ["As", "Kh", "Qd"],
        "middle": ["2c", "7d", "9h", "Ts", "Jc"],
        "back": ["3c", "3d", "3h", "4s", "4c"],
    }
    box.camera.show(box.picture({"A": rows}, seed=7, conditions=Conditions(offset_mm=16)))
    box.table.do('{"do": "next"}', '{"do": "key_button", "seat": 1}', '{"do": "next"}', '{"do": "next"}')
    state = box.table.until(lambda state: state.phase is Phase.REVIEW)
    assert not state.verdicts["camera"]["ok"]
    box.table.until(lambda state: "moved since" in str(state.faults.get("calibration", "")))
    box.table.do('{"do": "void", "reason": "test"}')
    assert verify(box.config.data).ok
