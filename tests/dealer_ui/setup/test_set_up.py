"""The pages of the set-up, on a real table process: a fresh box, step by step, and later each step by itself."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, get_args

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from dealer_ui.setup.device_words import figure
from dealer_ui.setup.routes import in_short
from dealer_ui.setup.steps import BY_NAME, STEPS, Stage, after, first_open, standings
from dealer_ui.web.pages import own_address
from firmware.health.device_checks import FOUND, LEFT, NOT_INSTALLED, device_check, judge_clock
from firmware.record.journal.journal import Journal, JournalReader
from firmware.rules import load_profile, profile_names
from firmware.table import events as ev
from firmware.table import events as events_setup
from tests.dealer_ui.house import config, page_of
from tests.firmware.running_table import Table

HTML = {"Accept": "text/html,*/*;q=0.8"}
PIN = "258053"


class Person:
    """Somebody before the screen."""

    def __init__(self, app: Flask) -> None:
        self.client: FlaskClient = app.test_client()
        self._token = {"X-CSRF-Token": app.config["CSRF_TOKEN"]}

    def get(self, path: str) -> TestResponse:
        return self.client.get(path, headers=HTML)

    def send(self, **command: Any) -> TestResponse:
        return self.client.post("/command", json=command, headers=self._token)

    def attempt(self, step: str, **told: Any) -> TestResponse:
        return self.client.post(f"/set-up/{step}/trial", json=told, headers=self._token)

    def touch(self, page: TestResponse, words: str) -> str:
        """Touch the button with these words: give its commands, return where it leads."""
        for attributes, inner in re.findall(r"<button([^>]*)>(.*?)</button>", page.text, re.DOTALL):
            if words in unescape(inner):
                for command in json.loads(unescape(re.search(r"data-commands='([^']*)'", attributes)[1])):  # type: ignore[index]
                    answer = self.send(**command)
                    assert answer.status_code == 200, answer.get_json()
                return unescape(re.search(r'data-then="([^"]*)"', attributes)[1])  # type: ignore[index]
        raise AssertionError(f"no button says {words!r}")


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = Table(config(tmp_path), fresh=True)
    yield table
    table.stop()


@pytest.fixture
def app(table: Table) -> Flask:
    return page_of(table)


@pytest.fixture
def person(app: Flask) -> Person:
    return Person(app)


def list_technician(person: Person) -> None:
    assert person.send(do="list_person", person="Ada", role="technician", new_pin=PIN).status_code == 200
    assert person.send(do="unlock", by="Ada", pin=PIN).status_code == 200


def test_a_fresh_box_shows_its_set_up_in_the_place_of_the_table(person: Person) -> None:
    assert person.get("/").location == "/set-up/next"
    assert person.get("/set-up/next").location == "/set-up/language"
    page = person.get("/set-up/language")
    assert "简体中文" in page.text
    assert 'href="/set-up"' in page.text


def test_a_language_is_chosen_and_spoken_at_once(person: Person, table: Table) -> None:
    then = person.touch(person.get("/set-up/language"), "Español")
    assert table.state.house.language == "es"
    assert then == "/set-up/people"
    assert 'lang="es"' in person.get(then).text
    assert person.get("/set-up/next").location == "/set-up/people"


def test_the_set_up_can_be_left_out_by_whoever_stands_before_a_fresh_box(person: Person) -> None:
    assert person.touch(person.get("/set-up/language"), "Play without it") == "/"
    assert person.get("/").status_code == 200
    assert person.get("/set-up").location == "/set-up/people", "nobody could enter a PIN yet"
    assert person.get("/set-up/people").status_code == 200


def test_an_address_of_no_step_says_so_on_a_page_with_a_title_and_a_way_on(person: Person) -> None:
    for path, said in (
        ("/set-up/nonsense", "The set-up has no such step."),
        ("/nowhere", "No page has this"),
    ):
        page = person.get(path)
        assert page.status_code == 404
        assert len(re.findall("<h1", page.text)) == 1
        assert said in page.text
        assert 'href="/"' in page.text


def test_they_sit_so_is_refused_where_nobody_sits(person: Person, table: Table) -> None:
    list_technician(person)
    for seat in table.state.house.seats:
        assert person.send(do="leave_seat", player=seat.player).status_code == 200
    refused = person.send(do="settle_step", step="seats")
    assert "Nobody sits at this table" in refused.get_json()["error"]
    proposed = person.get("/set-up/proposed")
    assert "later: nobody sits here yet" in proposed.text
    assert person.touch(proposed, "All as proposed") == "/"
    assert table.state.set_up


def test_from_the_first_technician_on_the_set_up_is_technicians(app: Flask, person: Person) -> None:
    list_technician(person)
    assert person.get("/set-up/table").status_code == 200
    other = Person(app)
    for path in ("/set-up", "/set-up/next", "/set-up/ready", "/set-up/people", "/set-up/camera"):
        assert "for=technician" in other.get(path).location
        assert other.client.get(path).status_code == 403
    assert other.attempt("puck").status_code == 403
    assert other.send(do="end_set_up").status_code == 403


def test_a_floor_person_lists_dealers_and_keys_their_own_pin_on_the_page_of_people(
    app: Flask, person: Person
) -> None:
    list_technician(person)
    person.send(do="list_person", person="Moreno", role="floor", new_pin="482653")
    person.send(do="list_person", person="Lin", role="dealer")
    floor = Person(app)
    assert "for=floor&for=technician" in (floor.get("/set-up/people").location or "")
    floor.send(do="unlock", by="Moreno", pin="482653")
    page = floor.get("/set-up/people").text
    assert re.findall('data-add="([a-z]+)"', page) == ["dealer"]
    assert re.findall('data-pin-of="([A-Za-z]+)"', page) == ["Moreno"]
    assert re.findall('data-strike="([A-Za-z]+)"', page) == ["Lin"]
    assert floor.get("/set-up/table").location.startswith("/pin")
    everything = person.get("/set-up/people").text
    assert re.findall('data-add="([a-z]+)"', everything) == ["floor", "dealer", "auditor", "technician"]
    assert re.findall('data-pin-of="([A-Za-z]+)"', everything) == ["Ada", "Moreno"]


def test_the_whole_way_by_its_own_buttons_to_the_table(person: Person, table: Table) -> None:
    assert person.touch(person.get("/set-up/language"), "English") == "/set-up/people"
    list_technician(person)
    person.send(do="list_person", person="Moreno", role="floor", new_pin="482653")
    assert person.touch(person.get("/set-up/people"), "That is everybody") == "/set-up/table"
    person.send(do="set_house", reason="Set-up", table="12")
    assert person.touch(person.get("/set-up/table"), "Keep 12") == "/set-up/clock"
    assert person.attempt("clock", act="keep").status_code == 200
    person.send(do="settle_step", step="clock")
    person.touch(person.get("/set-up/game"), "Eastern Chinese Poker")
    assert table.state.house.profile == "poker-flush-eastern"
    person.send(do="set_house", reason="Set-up", unit=500)
    assert person.touch(person.get("/set-up/game"), "This game, at $5 a point") == "/set-up/seats"
    assert person.touch(person.get("/set-up/seats"), "Nobody sits here") == "/set-up/seats"
    assert person.touch(person.get("/set-up/seats"), "They sit so") == "/set-up/camera"
    for step in STEPS[6:]:
        if step.device:
            assert step.name in person.get("/set-up/next").location
            answer = person.attempt(step.name, act="keep", seen=False)
            assert answer.status_code == 200, answer.get_json()
        else:
            assert person.touch(person.get(f"/set-up/{step.name}"), "Leave it for later")
    assert person.get("/set-up/next").location == "/set-up/ready"
    page = person.get("/set-up/ready")
    assert "left for later" in page.text
    assert person.touch(page, "Open the table") == "/"
    assert table.state.set_up
    assert person.get("/").status_code == 200
    assert person.get("/set-up/people").status_code == 200
    assert "Leave it for later" not in person.get("/set-up/table").text
    overview = person.get("/set-up").text
    assert "Ada" in overview
    assert "does not work" in overview


def test_a_set_up_goes_on_where_a_power_cut_left_it(tmp_path: Path) -> None:
    first = Table(config(tmp_path), fresh=True)
    someone = Person(page_of(first))
    someone.touch(someone.get("/set-up/language"), "English")
    list_technician(someone)
    someone.touch(someone.get("/set-up/people"), "That is everybody")
    someone.attempt("buttons")
    assert first.state.on_trial
    first.stop()
    again = Table(config(tmp_path), fresh=True)
    try:
        assert not again.state.on_trial
        someone = Person(page_of(again))
        assert someone.get("/").location == "/set-up/next"
        assert someone.get("/set-up/next").location.startswith("/pin?for=technician")
        someone.send(do="unlock", by="Ada", pin=PIN)
        assert someone.get("/set-up/next").location == "/set-up/table"
    finally:
        again.stop()


def test_a_trial_says_how_it_stands_and_what_to_do(person: Person, table: Table) -> None:
    list_technician(person)
    said = person.attempt("puck").get_json()
    assert said["verdict"] in ("fail", "waits")
    assert "puck reader says nothing" in said["html"]
    said = person.attempt("buttons").get_json()
    assert said["verdict"] == "waits"
    assert "white" in said["html"]
    table.press("next")
    said = person.attempt("buttons").get_json()
    assert "1 of 3" in said["html"]
    assert "green" in said["html"]
    assert table.state.hand == 0


def test_who_tries_a_device_says_no_more_than_what_was_seen(person: Person) -> None:
    list_technician(person)
    assert person.attempt("puck", device="lamps").status_code == 400
    assert person.attempt("puck", session="x").status_code == 400
    assert person.attempt("table").status_code == 400
    assert person.attempt("nothing").status_code == 400
    refused = person.attempt("lamps", act="light", name="sun")
    assert (refused.status_code, refused.get_json()["error"]) == (409, "There is no such lamp.")


def test_no_device_is_tried_while_a_hand_is_open(person: Person, table: Table) -> None:
    list_technician(person)
    person.send(do="end_set_up")
    person.send(do="next")
    refused = person.attempt("camera")
    assert refused.status_code == 409
    assert "between hands" in refused.get_json()["error"]


def test_a_lock_out_is_counted_down_after_a_restart_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Table(config(tmp_path))
    someone = Person(page_of(first))
    list_technician(someone)
    waits = [someone.send(do="unlock", by="Ada", pin="1357").get_json()["wait_s"] for _ in range(3)]
    assert waits == [0, 0, 30]
    first.stop()
    again = Table(config(tmp_path))
    gate = again.process._access
    monkeypatch.setattr(gate, "_clock", lambda: gate._started + 12.5)
    try:
        someone = Person(page_of(again))
        refused = someone.send(do="unlock", by="Ada")
        assert refused.status_code == 403
        assert refused.get_json()["wait_s"] == 18
        assert not someone.send(do="unlock", by="Ada", pin=PIN).get_json()["ok"], "the right one waits, too"
        tried = [e.type for e in again.reader.events_since(0) if e.type.startswith("pin_")]
        assert tried == ["pin_tried", "pin_accepted", *3 * ["pin_tried"]]
    finally:
        again.stop()


# ---- steps ----


def test_every_step_that_can_be_settled_is_among_the_steps() -> None:
    assert set(get_args(events_setup.Step)) == {step.name for step in STEPS if not step.device} | {"clock"}
    assert {step.device for step in STEPS if step.device} == set(get_args(events_setup.Device))


def test_the_record_says_how_each_step_stands(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        assert first_open(standings([])) is STEPS[0]
        journal.append([ev.StepSettled("language"), ev.StepSettled("table", skipped=True)], "technician:Ada")
        journal.append([ev.DeviceTried("puck", "fail", "puck_deaf", {"dead": "3"}, {})], "technician:Ada")
        known = standings(JournalReader(tmp_path).of_set_up())
        assert known["language"].stage is Stage.DONE
        assert (known["table"].stage, known["table"].actor) == (Stage.SKIPPED, "technician:Ada")
        assert (known["puck"].stage, known["puck"].why) == (Stage.FAILED, "puck_deaf")
        assert first_open(known) is BY_NAME["people"]
        clock = ev.DeviceTried("clock", "fail", "clock_alone", {"wall_ms": 0}, {})
        journal.append([clock], "technician:Ada")
        assert standings(JournalReader(tmp_path).of_set_up())["clock"].stage is Stage.OPEN
        journal.append([ev.StepSettled("clock")], "technician:Ada")
        known = standings(JournalReader(tmp_path).of_set_up())
        assert (known["clock"].stage, known["clock"].why) == (Stage.DONE, "clock_alone")
        journal.append([ev.DeviceTried("puck", "pass", "puck_well", {}, {})], "technician:Bo")
        assert standings(JournalReader(tmp_path).of_set_up())["puck"].stage is Stage.DONE


def test_a_deck_is_done_when_it_is_whole(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        for checked, stage in ((ev.DeckChecked(51, ("As",)), Stage.FAILED), (ev.DeckChecked(52), Stage.DONE)):
            journal.append([checked], "technician:Ada")
            assert standings(JournalReader(tmp_path).of_set_up())["deck"].stage is stage
        felt = ev.CameraCalibrated("felt", ev.Calibration("0" * 64))
        journal.append([felt], "technician:Ada")
        assert standings(JournalReader(tmp_path).of_set_up())["calibration"].stage is Stage.DONE


def test_the_steps_lead_from_the_first_to_the_last() -> None:
    step, seen = STEPS[0], [STEPS[0]]
    while (following := after(step)) is not None:
        step = following
        seen.append(step)
    assert tuple(seen) == STEPS
    assert all(own_address(step.elsewhere) == step.elsewhere for step in STEPS if step.elsewhere)


# ---- words ----

FIGURES: dict[str, Any] = {
    "says": "It is on fire.",
    "left": "1 2",
    "at": "1 2",
    "dead": "3",
    "asked": "next",
    "came": "confirm",
    "dark": "fault ready",
    "jumped_s": 3.5,
}


@pytest.mark.parametrize("why", [*FOUND, f"puck_moves{LEFT}"])
def test_everything_that_is_found_has_a_sentence(why: str) -> None:
    check = device_check("puck", "fail", why, FIGURES, "confirm")
    said = f"{check.says} {check.advice or ''}"
    assert "%(" not in said
    assert str(check.says) not in ("", why)


def test_everything_that_a_trial_can_find_is_among_the_words() -> None:
    source = (Path(__file__).parents[3] / "firmware/runtime/device_tests.py").read_text(encoding="utf-8")
    source += inspect.getsource(judge_clock)
    names = "camera|puck|buttons|lamps|buzzer|disk|clock|power"
    told = set(re.findall(rf'"((?:{names})_[a-z_]+)"', source))
    assert told | {NOT_INSTALLED} == set(FOUND)


def test_figures_are_said_in_a_few_words() -> None:
    assert figure("puck", {"seen": 4, "wanted": 5}) == "4 of 5 seats"
    assert figure("disk", {"free_mb": 12_345, "ms": 8.4}) == "12.3 GB free · 1 MB in 8 ms"
    assert figure("disk", {"free_mb": 12_345, "ms": None}) == "12.3 GB free"
    assert figure("power", {"mains": True, "celsius": 51.6, "weak": None}) == "mains · 52 °C"
    assert figure("power", {"mains": None}) == ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", figure("clock", {"wall_ms": 1_700_000_000_000}))
    assert figure("camera", {"width": 2304, "height": 1296}) == "2304 × 1296 px"
    assert figure("camera", {}) == ""


def test_every_profile_is_said_in_a_few_plain_sentences() -> None:
    short = {name: " ".join(in_short(load_profile(name))) for name in profile_names()}
    assert short["washington-1-6"] == (
        "Hands are set closed and shown together. Two rows of three come to 1, all three to 6. "
        "Strong rows win bonus points. Naturals win up to 3 points. A player may surrender for 3."
    )
    assert "face up" in short["california-face-up"]
    assert "Fantasy Land" in short["california-face-up"]
    assert all(len(said) < 250 for said in short.values())
