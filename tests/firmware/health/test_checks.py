"""Every check rings where it should and is silent where it should be; what nobody can say is never well."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from firmware.health.check import Check, Verdict, worst
from firmware.health.checks import CHECKS, DAY_MS, judge
from firmware.health.facts import Facts
from firmware.health.record_facts import record_facts
from firmware.messages import Message
from firmware.record.journal.journal import Entry, Journal, JournalReader
from firmware.table import events as ev
from firmware.table.events import Calibration, CameraCalibrated
from firmware.table.settings import HouseSettings
from tests.dealer_ui.felt import Felt
from tests.firmware.conftest import ROWS, Deal
from tests.firmware.record.test_verify import KEY
from tests.generated_record import generate_record


def seen(ok: bool, figure: float, limit: float) -> dict[str, Any]:
    return {"ok": ok, "figure": figure, "limit": limit, "text": "It is so." if ok else "It is not so."}


def timed(**changed: float) -> dict[str, Any]:
    """Return the figures of a limit under which all is well, but for what is changed."""
    figures = {"limit_s": 6.0, "floor_s": 5.0, "ceiling_s": 60.0, "usual_s": 1.2, "longest_s": 1.5}
    return {**figures, "recent": 20, "timeouts": 0, **changed}


def limits(work: str, **changed: float) -> dict[str, Any]:
    return {"limits": {**{name: timed() for name in WORKS}, work: timed(**changed)}}


WORKS = ("reading", "reader_start", "answer")
PICTURE = {
    "sharpness": seen(True, 0.7, 1.3),
    "light": seen(True, 180, 70),
    "banding": seen(True, 0.01, 0.04),
    "camera": seen(True, 0.4, 3.0),
    "markers": seen(True, 8, 8),
}
TAKEN = {"name": "exposure", "asked": "10 ms", "took": "10 ms"}
SCREEN = {"expected": True, "silent_s": 0.4, "leaving": False}
WELL = Facts(
    answers=True,
    services={"feltwatch-table.service": "active"},
    picture=PICTURE,
    camera_settings=(TAKEN,),
    felt_age_ms=DAY_MS,
    calibrated=True,
    readers_ok=5,
    readers=5,
    buttons=True,
    short_pins=0,
    free_mb=8000,
    worn_percent=10,
    rows=9000,
    checked=5000,
    synchronised=True,
    rtc=True,
    jumped_ms=0,
    celsius=52.0,
    weak=False,
    was_weak=False,
    memory_mb=900,
    model_hash="ab" * 32,
    model_named="ab" * 32,
    profile_hash="cd" * 32,
    profile_named="cd" * 32,
    anchored=True,
    anchor_age_ms=DAY_MS,
    limits={work: timed() for work in WORKS},
    screen=SCREEN,
    pit={"have": 9000, "silent_s": 3.0, "trouble": ""},
)
RINGS: dict[str, list[tuple[dict[str, Any], str]]] = {
    "table": [({"answers": False}, "bad")],
    "services": [({"services": {"feltwatch-ui.service": "failed"}}, "bad")],
    "camera": [
        ({"faults": {"camera": "The camera does not answer."}}, "bad"),
        ({"faults": {"view": "A hand lies over the cards."}}, "look"),
    ],
    "camera_settings": [({"camera_settings": (TAKEN, {**TAKEN, "took": ""})}, "look")],
    "sharpness": [({"picture": {**PICTURE, "sharpness": seen(False, 2.2, 1.3)}}, "bad")],
    "light": [
        ({"picture": {**PICTURE, "light": seen(False, 40, 70)}}, "bad"),
        ({"picture": {**PICTURE, "light": seen(False, 252, 249)}}, "bad"),
    ],
    "banding": [({"picture": {**PICTURE, "banding": seen(False, 0.06, 0.04)}}, "bad")],
    "markers": [({"picture": {**PICTURE, "markers": seen(False, 5, 8)}}, "look")],
    "drift": [({"picture": {**PICTURE, "camera": seen(False, 9.0, 3.0)}}, "bad")],
    "calibration": [
        ({"calibrated": False}, "look"),
        ({"felt_age_ms": 91 * DAY_MS}, "look"),
        ({"faults": {"calibration": "The camera has moved."}}, "bad"),
    ],
    "puck": [({"readers_ok": 4}, "bad"), ({"faults": {"puck": "The cable is out."}}, "bad")],
    "buttons": [({"buttons": False}, "look"), ({"faults": {"buttons": "White is stuck."}}, "bad")],
    "screen": [
        ({"faults": {"screen": "The touchscreen does not answer."}}, "bad"),
    ],
    "lamps": [({"faults": {"lamps": "A lamp is out."}}, "look"), ({"faults": {"buzzer": "Mute."}}, "look")],
    "pictures": [
        ({"faults": {"images": "An image is changed."}}, "bad"),
        ({"faults": {"captures": "A picture was not kept."}}, "bad"),
    ],
    "pins": [
        ({"short_pins": 1}, "look"),
        ({"faults": {"pins": "Wrong PINs were entered again and again."}}, "bad"),
    ],
    "room": [
        ({"free_mb": 999}, "look"),
        ({"free_mb": 63}, "bad"),
        ({"faults": {"disk": "No file can be made any more."}}, "bad"),
    ],
    "wear": [({"worn_percent": 80}, "look"), ({"worn_percent": 110}, "bad")],
    "chain": [
        ({"broken_at": 17}, "bad"),
        ({"record_wrong": "Its end is missing."}, "bad"),
        ({"rows": None}, "bad"),
    ],
    "anchor": [({"anchored": False}, "look"), ({"anchor_age_ms": 8 * DAY_MS}, "look")],
    "pit": [
        ({"pit": {"have": 9000, "silent_s": 61.0, "trouble": ""}}, "look"),
        ({"pit": {"have": 0, "silent_s": None, "trouble": "It is away."}}, "look"),
    ],
    "clock": [
        ({"synchronised": False, "rtc": False}, "look"),
        ({"jumped_ms": 90_000}, "look"),
        ({"faults": {"clock": "It stepped back."}}, "bad"),
    ],
    "heat": [({"celsius": 71.0}, "look"), ({"celsius": 80.0}, "bad")],
    "power": [
        ({"weak": True}, "bad"),
        ({"was_weak": True}, "look"),
        ({"faults": {"power": "The mains is gone."}}, "look"),
    ],
    "memory": [({"memory_mb": 100}, "bad")],
    "model": [({"model_hash": "00" * 32}, "bad")],
    "profile": [({"profile_hash": ""}, "bad")],
    "reading_time": [(limits("reading", timeouts=2), "look"), (limits("reading", limit_s=60.0), "look")],
    "start_time": [(limits("reader_start", timeouts=1), "look")],
    "answer_time": [(limits("answer", timeouts=3), "look"), (limits("answer", limit_s=60.0), "look")],
}


def of(name: str, facts: Facts) -> Check:
    return next(check for check in judge(facts) if check.name == name)


@pytest.mark.parametrize("name", [name for name, _title, _judged in CHECKS])
def test_a_check_rings_where_it_should_and_is_silent_where_all_is_well(name: str) -> None:
    assert of(name, WELL).verdict == "ok"
    assert RINGS[name], "a check that nobody has heard"
    for change, verdict in RINGS[name]:
        rung = of(name, replace(WELL, **change))
        assert rung.verdict == verdict, (name, change)
        assert str(rung.says) != str(of(name, WELL).says)
        others = {check.name: check.verdict for check in judge(replace(WELL, **change))}
        assert {other for other, said in others.items() if said in ("look", "bad")} == {name}, (
            "and no other does"
        )


@pytest.mark.parametrize("change", [{"answers": False}, {"faults": {"camera": "The cable is out."}}])
def test_the_last_picture_says_nothing_is_well_while_nobody_looks(change: dict[str, Any]) -> None:
    for name in ("sharpness", "light", "banding", "markers", "drift"):
        assert of(name, replace(WELL, **change)).verdict == "unknown", name
        bad, _verdict = RINGS[name][0]
        assert of(name, replace(WELL, **bad, **change)).verdict in ("look", "bad"), "trouble is still shown"


def test_what_was_done_in_the_future_by_this_clock_is_of_unknown_age() -> None:
    for days, verdict in ((-0.5, "ok"), (-2, "unknown")):
        facts = replace(WELL, felt_age_ms=int(days * DAY_MS), anchor_age_ms=int(days * DAY_MS))
        assert [of(name, facts).verdict for name in ("calibration", "anchor")] == [verdict] * 2


def test_what_is_not_installed_is_neither_well_nor_faulty() -> None:
    faults = {"puck": "The cable is out.", "buttons": "White is stuck.", "lamps": "A lamp is out."}
    found = judge(replace(WELL, without=("puck", "panel"), buttons=False, readers_ok=None, faults=faults))
    absent = {check.name: str(check.says) for check in found if check.verdict == "absent"}
    assert set(absent) == {"puck", "buttons", "lamps"}
    assert all(says.startswith("Not installed") for says in absent.values())
    assert worst(found) == "ok", "and it makes nothing else doubtful"


def test_what_a_camera_takes_is_listed_beside_what_was_asked_for() -> None:
    told = replace(WELL, camera_settings=(TAKEN, {"name": "gain", "asked": "4.4", "took": "8"}))
    check = of("camera_settings", told)
    assert (check.verdict, check.figure) == ("ok", "2 / 2"), "its pictures say whether the nearest is good"
    assert str(check.says) == "exposure: 10 ms. gain: 8; 4.4 was asked for."
    refused = of("camera_settings", replace(WELL, camera_settings=({**TAKEN, "took": ""},)))
    assert str(refused.says) == "exposure: 10 ms was asked for, and not taken."


def test_a_limit_is_told_with_what_it_follows_from() -> None:
    check = of("reading_time", WELL)
    assert check.figure == "1.2 s (6)"
    assert str(check.says) == "Usual: 1.2 s. Limit: 6 s (floor 5, ceiling 60)."
    rung = of("reading_time", replace(WELL, **limits("reading", timeouts=2, limit_s=24.0)))
    assert rung.figure == "2 / 20"
    assert "It is now 24 s (floor 5, ceiling 60)." in str(rung.says)


def test_a_limit_that_is_fixed_is_not_said_to_have_reached_its_ceiling() -> None:
    fixed = limits("answer", limit_s=60.0, floor_s=60.0)
    assert of("answer_time", replace(WELL, **fixed)).verdict == "ok"


def test_a_limit_that_nothing_was_timed_for_is_unknown() -> None:
    untimed: dict[str, Any] = {"limits": {"reading": {**timed(), "usual_s": None, "recent": 0}}}
    assert of("reading_time", Facts(**untimed)).verdict == "unknown"


def test_what_nobody_can_say_is_unknown_and_never_well() -> None:
    verdicts = {check.name: check.verdict for check in judge(Facts())}
    assert set(verdicts.values()) == {"unknown", "bad"}
    assert [name for name, verdict in verdicts.items() if verdict == "bad"] == ["chain"], (
        "a record that cannot be read is no mere riddle"
    )


@pytest.mark.parametrize(
    "name", [one.name for one in fields(Facts) if one.name not in ("faults", "broken_at", "record_wrong")]
)
def test_a_single_fact_that_is_missing_makes_nothing_ring_falsely(name: str) -> None:
    verdicts = {check.verdict for check in judge(Facts.from_json({**vars(WELL), name: None}))}
    assert "look" not in verdicts
    assert ("bad" in verdicts) == (name in ("rows", "checked"))


def test_how_far_the_pit_has_heard_is_said_in_rows_and_how_long_it_is_silent_in_minutes() -> None:
    assert str(of("pit", WELL).says) == "The pit has everything up to row 9000."
    behind = of("pit", replace(WELL, rows=9030))
    assert str(behind.says) == "The pit has everything up to row 9000; 30 more are on their way."
    why = Message("The pit cannot be reached (%(why)s).", why="No route to host").to_json()
    silent = of("pit", replace(WELL, pit={"have": 9000, "silent_s": 750.0, "trouble": why}))
    assert silent.figure == "9000", "the last row that the pit has"
    assert str(silent.says) == (
        "The pit has not heard this table for 12 min. The pit cannot be reached (No route to host)."
    )


def test_a_pit_that_shows_another_log_than_before_is_bad_whatever_it_has_heard() -> None:
    forked = {"have": 9000, "silent_s": 3.0, "trouble": "", "log_trouble": "The pit shows another history."}
    found = of("pit", replace(WELL, pit=forked))
    assert (found.verdict, str(found.says)) == (Verdict.BAD, "The pit shows another history.")


def test_a_table_that_is_not_enrolled_has_no_check_of_a_pit() -> None:
    assert "pit" not in {check.name for check in judge(replace(WELL, pit=None))}


def test_the_worst_verdict_is_the_tables() -> None:
    assert worst(judge(WELL)) == "ok"
    assert worst(judge(replace(WELL, worn_percent=None))) == "unknown"
    assert worst(judge(replace(WELL, celsius=75.0, worn_percent=None))) == "look"
    assert worst(judge(replace(WELL, celsius=75.0, weak=True))) == "bad"


def test_a_fact_of_a_later_release_is_left_out() -> None:
    assert Facts.from_json({"celsius": 51.0, "humidity": 40}) == Facts(celsius=51.0)


def test_a_check_is_told_to_a_program_in_english() -> None:
    told = of("heat", replace(WELL, celsius=81.4)).to_json()
    assert (told["verdict"], told["figure"]) == ("bad", "81 °C")
    assert told["advice"] == "Check the box's fan and the air around it."


def test_hands_that_are_not_signed_and_a_fault_that_nobody_has_read_are_bad() -> None:
    assert of("anchor", replace(WELL, unsigned=2)).verdict == "bad"
    what = "another record was put in its place"
    for facts in (replace(WELL, note=what), replace(WELL, fault=what)):
        bad = of("chain", facts)
        assert (bad.verdict, "another record" in str(bad.says)) == ("bad", True)


def test_the_record_tells_that_hands_are_not_signed(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        for hand in (1, 2):
            journal.append([Deal(ROWS).opened(hand), ev.HandVoided("a test")], "test")
        journal.append([ev.RecordFault("rolled_back", 4, 9, "ab" * 32)], "table")
    facts = record_facts(JournalReader(tmp_path), 0)
    assert facts["unsigned"] == 2
    assert "an older record was put in its place" in str(facts["fault"])


def test_the_record_tells_what_it_knows(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        text = journal.keep("profile", b"a game")
        journal.append(
            [
                ev.SetUpEnded(),
                ev.TableStarted("", HouseSettings(profile="house", profile_hash=text)),
                CameraCalibrated("felt", Calibration("ab" * 32, "", {}, {}), None, {}),
                ev.DeviceFault("puck", "The cable is out."),
            ],
            "test",
        )
    rows = JournalReader(tmp_path).events_since(0)
    facts = record_facts(JournalReader(tmp_path), rows[2].wall_ms + 3 * DAY_MS)
    assert facts == {
        "faults": {"puck": "The cable is out."},
        "rows": 4,
        "checked": 4,
        "broken_at": None,
        "unsigned": 0,
        "fault": "",
        "record_wrong": "",
        "short_pins": 0,
        "calibrated": True,
        "felt_age_ms": 3 * DAY_MS,
        "anchored": False,
        "profile_named": text,
        "profile_hash": text,
    }
    assert record_facts(JournalReader(tmp_path), 0, rows=2)["checked"] == 2


def test_a_row_that_was_changed_breaks_the_chain(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append([ev.SetUpEnded(), ev.DeviceFault("puck", "out"), ev.DeviceRecovered("puck")], "test")
    with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as db, db:
        guards = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _sql in guards:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("UPDATE journal SET actor = 'somebody' WHERE seq = 2")
        for _name, sql in guards:
            db.execute(sql)
    facts = Facts.from_json(record_facts(JournalReader(tmp_path), 0))
    assert (of("chain", facts).verdict, facts.broken_at) == ("bad", 2)


def test_rules_that_the_record_has_lost_or_that_were_changed_ring(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        text = journal.keep("profile", b"a game")
        set_up = ev.TableStarted("", HouseSettings(profile="house", profile_hash=text))
        journal.append([ev.SetUpEnded(), set_up], "test")
    for spoil, verdict in (
        ("SELECT 1", "ok"),
        ("UPDATE content SET bytes = x'00'", "bad"),
        ("DELETE FROM content", "bad"),
    ):
        with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as db, db:
            guards = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _sql in guards:
                db.execute(f"DROP TRIGGER {name}")
            db.execute(spoil)
            for _name, sql in guards:
                db.execute(sql)
        rules = of("profile", Facts.from_json(record_facts(JournalReader(tmp_path), 0)))
        assert rules.verdict == verdict, spoil


def test_a_record_that_is_yet_to_be_made_is_no_broken_one(tmp_path: Path) -> None:
    for made in (False, True):
        if made:
            Journal(tmp_path).close()
        chain = of("chain", Facts.from_json(record_facts(JournalReader(tmp_path), 0)))
        assert (chain.verdict, str(chain.says)) == ("unknown", "There is no record here yet.")


def test_without_a_record_nothing_is_said_of_pins_calibration_or_signed_heads(tmp_path: Path) -> None:
    facts = Facts.from_json(record_facts(JournalReader(tmp_path), 0))
    assert {of(name, facts).verdict for name in ("pins", "calibration", "anchor")} == {"unknown"}


@pytest.mark.parametrize("emptied", [True, False])
def test_a_record_that_lost_every_row_is_bad(tmp_path: Path, emptied: bool) -> None:
    with Journal(tmp_path) as journal:
        journal.append([ev.TableStarted()], "table")
    (tmp_path / "journal.sqlite").unlink()
    if emptied:
        (tmp_path / "journal.sqlite").touch()
    chain = of("chain", Facts.from_json(record_facts(JournalReader(tmp_path), 0)))
    assert chain.verdict == "bad"
    assert "The record's file holds no row, but row 1 had been written." in str(chain.says)


def test_a_record_that_cannot_be_read_is_bad(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 40)
    assert of("chain", Facts.from_json(record_facts(JournalReader(tmp_path), 0))).verdict == "bad"


def test_a_longer_record_costs_the_table_no_longer_check(tmp_path: Path) -> None:
    """The heartbeat's own thread makes it: a check of seconds is taken for a table that hangs."""

    class Counter(JournalReader):
        returned = 0

        def _sound(self, rows: list[Entry]) -> list[Entry]:
            self.returned += len(rows)
            return super()._sound(rows)

    found = []
    for _ in range(2):
        generate_record(tmp_path, 40, key=KEY)
        reader = Counter(tmp_path)
        assert record_facts(reader, 0)["anchored"]
        found.append(reader.returned)
    assert found[0] == found[1] < 40


def test_a_fault_that_comes_over_the_tables_socket_is_said_with_its_values() -> None:
    fault = Message("Stuck down: %(stuck)s. Free the push-button; meanwhile use the page.", stuck="next")
    answer = json.loads(
        json.dumps({"answers": True, "faults": {"buttons": fault.to_json(), "view": "Dark."}})
    )
    says = {check.name: str(check.says) for check in judge(Facts.from_json(answer))}
    assert says["buttons"] == "Stuck down: next. Free the push-button; meanwhile use the page."
    assert says["camera"] == "Dark."


def test_a_table_that_has_no_screen_by_its_configuration_has_no_check_of_one() -> None:
    assert all(check.name != "screen" for check in judge(replace(WELL, screen={"expected": False})))


@pytest.mark.parametrize("told", [None, {**SCREEN, "silent_s": None}, {**SCREEN, "leaving": True}])
def test_a_screen_that_has_not_answered_is_unknown_and_never_well(told: dict[str, Any] | None) -> None:
    assert of("screen", replace(WELL, screen=told)).verdict == "unknown"


def test_the_picture_before_a_failed_reading_says_nothing_of_the_camera_now(tmp_path: Path) -> None:
    felt, reader = Felt(tmp_path), JournalReader(tmp_path)
    felt.to_setting()
    felt.to_reading()
    felt.read(verdicts={"light": seen(True, 192, 70)})
    assert "light" in record_facts(reader, 0)["picture"]
    felt.pay_all()
    felt.go_on()
    felt.do("next")
    felt.to_reading()
    felt.say(ev.ReadingFailed("The felt's markers are not seen."))
    assert "picture" not in record_facts(reader, 0)
    felt.journal.close()
