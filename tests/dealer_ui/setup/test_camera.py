"""The camera's pages over HTTP: the real jobs and the real reader on a rendered picture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from dealer_ui.setup import camera_words
from dealer_ui.text.i18n import speaking
from dealer_ui.text.messages import say
from dealer_ui.web.services import services
from dealer_ui.web.sessions import COOKIE
from firmware.health.picture_checks import MEASURES, number
from firmware.table import events as ev
from firmware.table.deck_tally import spread
from firmware.table.people import Role
from tests.dealer_ui.bench import PictureBench, bare, board, dark_and_glaring, laid, layout
from tests.dealer_ui.felt import Felt
from tests.waiting import until
from vision.felt.calibration import calibrate_felt, set_up_verdicts
from vision.felt.geometry import find_felt
from vision.felt.quality import PictureVerdict, judge
from vision.reading.deck_print import judge_deck
from vision.reading.enrolment import spread as spread_on_the_felt
from vision.reading.suits import judge_suits

ROOT: Final = Path(__file__).parents[3]


@pytest.fixture
def bench(felt: Felt) -> Iterator[PictureBench]:
    felt.say(ev.PersonListed("Vu", Role.TECHNICIAN, "0" * 16))
    bench = PictureBench(felt)
    with felt.answering():
        yield bench
        bench.rest()


@pytest.fixture
def technician(app: Flask, bench: PictureBench) -> FlaskClient:
    client = app.test_client()
    session = {"session": "of Vu", "name": "Vu", "role": "technician", "expires_s": 120}
    client.set_cookie(COOKIE, services(app).sessions.begin(session))
    return client


def order(client: FlaskClient, **command: Any) -> Any:
    token = {"X-CSRF-Token": client.application.config["CSRF_TOKEN"]}
    return client.post("/command", json=command, headers=token).get_json()


def shown(client: FlaskClient, **command: Any) -> Any:
    """Give an order, and return what the page is told of its job."""
    return _over(client, order(client, **command))


def _over(client: FlaskClient, answer: Any) -> Any:
    assert answer["ok"], answer
    told: Any = None

    def over() -> bool:
        nonlocal told
        told = client.get(f"/setup/job/{answer['job']}").get_json()
        return bool(told["state"] != "running")

    until(over)
    return told


def look(client: FlaskClient) -> Any:
    token = {"X-CSRF-Token": client.application.config["CSRF_TOKEN"]}
    return _over(client, client.post("/setup/look", headers=token).get_json())


def test_the_set_up_pages_are_the_technicians_and_the_deck_check_is_everybodys(
    client: FlaskClient, technician: FlaskClient
) -> None:
    for path in ("/setup/camera", "/setup/lens", "/setup/deck", "/setup/compare/felt"):
        assert client.get(path).status_code == 403
        assert technician.get(path).status_code == 200
    assert client.get("/deck-check").status_code == 200
    assert technician.get("/setup/compare/nothing").status_code == 404


def test_the_way_back_leads_to_the_set_up_that_led_here_and_nowhere_else(technician: FlaskClient) -> None:
    for path in ("/setup/camera", "/setup/lens", "/setup/deck", "/deck-check"):
        assert 'href="/set-up/deck"' in technician.get(f"{path}?back=/set-up/deck").text
        assert "evil" not in technician.get(f"{path}?back=//evil.example").text


def test_a_look_is_the_technicians_alone_and_so_is_its_picture(
    client: FlaskClient, technician: FlaskClient
) -> None:
    seen = look(technician)
    assert seen["state"] == "done"
    picture = technician.get(seen["picture"])
    assert picture.data.startswith(b"\xff\xd8")
    assert picture.mimetype == "image/jpeg"
    assert client.get(seen["picture"]).status_code == 403
    token = {"X-CSRF-Token": client.application.config["CSRF_TOKEN"]}
    assert client.post("/setup/look", headers=token).status_code == 403
    assert seen["html"].count('class="zone"') == 12
    assert seen["html"].count('class="found"') == 6
    names = re.findall('<text class="whose[^>]*>([^<]*)', seen["html"])
    assert dict(zip(names[::2], names[1::2], strict=True)) == {
        "Seat 1": "place A",
        "Seat 2": "place B",
        "Seat 3": "place C",
        "Seat 4": "place D",
    }
    assert "All is well" in seen["html"]


def test_a_spoiled_picture_says_what_to_do(technician: FlaskClient, bench: PictureBench) -> None:
    bench.show(dark_and_glaring())
    html = look(technician)["html"]
    assert "The picture is too dark: turn the lamps up" in html
    assert "Glare: move or shade the lamp that is mirrored there. Where: " in html
    bench.show(bare())
    assert "All is well" in look(technician)["html"]


def test_while_a_hand_is_open_there_is_no_picture_and_a_sentence(
    technician: FlaskClient, bench: PictureBench
) -> None:
    seen = look(technician)
    bench.felt.deal()
    token = {"X-CSRF-Token": technician.application.config["CSRF_TOKEN"]}
    refused = technician.post("/setup/look", headers=token)
    assert refused.status_code == 409
    assert "A hand is open" in refused.get_json()["error"]
    assert "A hand is open" in technician.get("/deck-check").text
    assert technician.get(seen["picture"]).data.startswith(b"\xff\xd8"), "of the bare felt, before the hand"


@pytest.mark.slow
def test_a_calibration_is_shown_beside_the_one_before_and_taken_back(
    technician: FlaskClient, bench: PictureBench
) -> None:
    assert "Nothing of this kind" in technician.get("/setup/compare/felt").text
    assert shown(technician, do="calibrate_felt")["html"].count("The felt is calibrated.") == 1
    first = bench.felt.state.calibrations["felt"]
    bench.show(bare(7))
    html = shown(technician, do="calibrate_felt")["html"]
    assert "mm elsewhere in the picture" in html
    compared = technician.get("/setup/compare/felt").text
    assert "Use the one before again" in compared
    assert first.hash in compared
    assert order(technician, do="use_calibration", what="felt", hash=first.hash)["ok"]
    assert bench.felt.state.calibrations["felt"] == first
    assert order(technician, do="use_calibration", what="felt", hash="")["ok"]
    assert "None is in use" in technician.get("/setup/compare/felt").text


def test_views_of_the_board_are_mapped_until_they_are_enough(
    technician: FlaskClient, bench: PictureBench
) -> None:
    bench.show(board(4))
    one = shown(technician, do="calibrate_lens", step="view")
    assert one["html"].count('class="covered"') > 5
    assert one["enough"] is False
    assert "same view again" in shown(technician, do="calibrate_lens", step="view")["html"]
    early = shown(technician, do="calibrate_lens", step="commit")
    assert (early["state"], "6 are needed" in early["why"]) == ("failed", True)
    measured = ev.Calibration("a" * 64, figures={"error_px": 0.3, "angle_deg": 66.4})
    bench.felt.say(ev.CameraCalibrated("lens", measured))
    compared = technician.get("/setup/compare/lens").text
    assert "66.4°" in compared
    assert "0.30 px" in compared


@pytest.mark.slow
def test_a_bad_card_of_the_spread_is_named_and_the_picture_taken_again(
    technician: FlaskClient, bench: PictureBench
) -> None:
    bench.show(laid(lambda rows: rows["A"]["front"].remove("4c")))
    bad = shown(technician, do="enrol_deck", step="view")
    assert (bad["state"], bad["enough"]) == ("failed", False)
    assert "four of clubs" in bad["html"]
    bench.show(laid())
    good = shown(technician, do="enrol_deck", step="view")
    assert (good["state"], good["enough"]) == ("done", False), "one picture is good, and not enough"
    assert "Picture 1 is good" in good["html"]
    bench.felt.say(ev.DeckEnrolled(ev.Calibration("b" * 64, "Red deck", figures={"sure_after": 52.0})))
    assert "Red deck" in technician.get("/setup/deck").text
    assert "Red deck" in technician.get("/setup/compare/deck").text


def test_a_dealer_counts_a_deck_and_sees_what_is_missing(client: FlaskClient, bench: PictureBench) -> None:
    bench.show(laid(lambda rows: rows["A"]["front"].remove("4c")))
    assert order(client, do="check_deck", step="begin")["ok"]
    told = shown(client, do="check_deck", step="round")
    assert told["enough"] is True
    assert told["picture"] == "", "no picture of cards leaves the table"
    assert "1 card not seen" in told["html"]
    assert order(client, do="check_deck", step="end")["ok"]
    assert "51 of the 52 cards were there" in client.get("/deck-check").text


def test_a_job_that_nobody_knows_is_a_sentence(client: FlaskClient, bench: PictureBench) -> None:
    answer = client.get("/setup/job/77")
    assert answer.status_code == 409
    assert "begin again" in answer.get_json()["error"]


def test_the_table_that_does_not_run_is_said(client: FlaskClient) -> None:
    assert client.get("/setup/job/1").status_code == 503


# ---- words ----


def test_the_page_draws_the_spread_as_vision_wants_it() -> None:
    assert spread() == spread_on_the_felt(layout())


def test_every_figure_of_vision_has_words_on_the_page() -> None:
    view = find_felt(bare(), layout())
    (suits, _), deck = judge_suits([]), judge_deck([], 0)
    verdicts = {**judge(bare(), view, layout(), view.homography), suits.name: suits, deck.name: deck}
    names = {*verdicts, *(verdict.name for verdict in set_up_verdicts(view, layout()))}
    assert names == set(MEASURES)
    assert set(calibrate_felt([bare()], layout()).figures) <= set(camera_words.FIGURES)
    told = {name: verdict.to_json() for name, verdict in verdicts.items()}
    assert all(one.ok and one.says for one in camera_words.figures(told))


def test_too_much_light_and_too_little_ask_for_different_things() -> None:
    dark, bright = (camera_words.figures({"light": one.to_json()})[0] for one in _ill("light"))
    assert "too dark" in dark.says
    assert dark.limit.startswith("≥")
    assert "overexposed" in bright.says
    assert bright.limit.startswith("≤")


@pytest.mark.parametrize(
    ("movement", "words"),
    [
        ({}, []),
        ({"most_mm": 0.2}, ["Nothing has moved"]),
        (
            {"most_mm": 9.0, "right_mm": -4.0, "down_mm": 2.0, "turned_deg": 0.5, "larger": 0.01},
            ["9.0 mm elsewhere", "4.0 mm to the left", "2.0 mm down", "0.50°", "1.0 %"],
        ),
    ],
)
def test_what_moved_is_said(movement: dict[str, float], words: list[str]) -> None:
    said = camera_words.describe_movement(movement)
    assert len(said) == len(words)
    assert all(word in sentence for word, sentence in zip(words, said, strict=True))


def test_nothing_is_less_than_nothing() -> None:
    assert number(-0.04, "mm", 1) == "0.0 mm"
    assert number(-4.2, "mm", 1) == "−4.2 mm"


def test_why_a_picture_is_no_good_to_calibrate_from_is_in_the_catalogues() -> None:
    for judged in (*_ill("light"), *_ill("sharpness")):
        with speaking("es"):
            assert say(judged.text) != judged.text


def _ill(name: str) -> list[PictureVerdict]:
    """Judge a picture that is too dark and out of focus, and one that is too bright."""
    view = find_felt(bare(), layout())
    blurred = cv2.GaussianBlur(bare(), (0, 0), 4)
    spoilt = [cv2.convertScaleAbs(blurred, alpha=times).astype(np.uint8) for times in (0.2, 3)]
    verdicts = [judge(picture, view, layout())[name] for picture in spoilt]
    assert not any(verdict.ok for verdict in verdicts)
    return verdicts
