"""The phones' page: a code lets in, a photograph is read and asked about, the settlement is shown and shared."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import BytesIO

import pytest
from flask.testing import FlaskClient
from PIL import Image

from dealer_ui.photo.app import desk
from dealer_ui.photo.codes import GRACE_S, LASTS_S, Codes, running
from dealer_ui.photo.visits import IDLE_S, LONGEST_S, MAX_VISITS, Visits
from firmware.photo.reading_process import PhotoReading
from tests.dealer_ui.photo_phone import (
    GPS,
    example,
    laid_reading,
    let_in,
    photo_app,
    read_here,
    with_place,
)


def say(phone: FlaskClient, kind: str, what: object, key: str = "") -> int:
    return phone.post("/answer", json={"kind": kind, "key": key, "is": str(what)}).status_code


def told(phone: FlaskClient) -> dict[str, object]:
    return dict(json.loads(phone.get("/photo.json").data))


def test_a_photograph_is_sent_settled_shared_and_forgotten() -> None:
    phone = let_in(photo_app())
    assert "Settle the hands in a picture" in phone.get("/").text
    assert phone.post("/picture", data=example()).json == {"ok": True}
    page = phone.get("/").text
    assert "seat 1 pays seat 2" in page
    assert "beats the middle" in page
    assert page.count('role="button" tabindex="0"') == 26
    hand = told(phone)["hand"]
    assert isinstance(hand, dict)
    assert hand["seats"][0]["front"].split() == ["6s", "4c", "4s"]
    assert phone.get("/photo.pdf").data.startswith(b"%PDF")
    with Image.open(BytesIO(phone.get("/photo.png").data)) as sheet:
        assert sheet.width == 1600
        assert sheet.info == {}
    assert say(phone, "unit", 500) == 200
    assert say(phone, "profile", "washington-2-4") == 200
    assert "$" in phone.get("/").text
    assert phone.post("/forget", json={}).status_code == 200
    for address in ("/picture.jpg", "/photo.json", "/photo.png", "/photo.pdf"):
        assert phone.get(address).status_code == 404


def test_a_picture_is_turned_upright_and_what_came_with_it_is_dropped() -> None:
    sent = with_place(example())
    with Image.open(BytesIO(sent)) as picture:
        assert picture.getexif().get_ifd(GPS)
    reading = read_here(sent)
    assert reading.size == (1600, 1200)
    assert len(reading.cards) == 26
    with Image.open(BytesIO(reading.jpeg)) as kept:
        assert kept.size == reading.size
        assert not kept.getexif()
        assert {*kept.info} <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
    assert b"taken at home" not in reading.jpeg
    assert PhotoReading.from_json(json.loads(reading.to_json())) == reading


def test_what_is_not_certain_is_asked_card_by_card_and_corrected_by_touch() -> None:
    reading = laid_reading(2)
    cards = list(reading.cards)
    cards[6] = replace(cards[6], sure=False, candidates=("Ks", "Kc"), card="Ks")
    lost = cards.pop(20)
    phone = let_in(photo_app(lambda _data: replace(reading, cards=tuple(cards))))
    phone.post("/picture", data=b"a picture")
    page = phone.get("/").text
    assert "Which card is number 7 (seat" in page
    assert "Which is the other one?" in page
    assert re.search(r"are seen: ([2-9JQKA]|10)[♠♥♦♣] ", page)
    assert told(phone)["settlement"] is None
    assert say(phone, "card", "Ks", "7") == 200
    questions = told(phone)["questions"]
    assert isinstance(questions, list)
    (missing,) = questions
    assert say(phone, "missing", lost.card, missing["key"]) == 200
    assert told(phone)["settlement"]
    assert "pays seat" in phone.get("/").text
    assert say(phone, "card", "none", "3") == 200
    assert told(phone)["settlement"] is None
    assert say(phone, "again", "") == 200
    assert len(told(phone)["questions"]) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {"kind": "card", "key": "99", "is": "Qh"},
        {"kind": "card", "key": "7", "is": "Zz"},
        {"kind": "card", "key": "7" * 5000, "is": "Qh"},
        {"kind": "missing", "key": "1.side", "is": "Qh"},
        {"kind": "rows", "is": "1 2"},
        {"kind": "grouping", "is": "9"},
        {"kind": "button", "is": "4"},
        {"kind": "declared", "is": "4"},
        {"kind": "unit", "is": "-1"},
        {"kind": "profile", "is": "/etc/passwd"},
        {"kind": "other"},
    ],
)
def test_an_answer_that_fits_nothing_changes_nothing(answer: object) -> None:
    phone = let_in(photo_app(lambda _data: laid_reading(2)))
    phone.post("/picture", data=b"a picture")
    before = told(phone)
    assert phone.post("/answer", json=answer).status_code == 400
    assert told(phone) == before


def test_the_code_of_now_and_of_a_minute_ago_lets_in_and_no_other() -> None:
    now = [LASTS_S * 7.0]
    codes = Codes(b"secret", lambda: now[0])
    first = codes.shown()
    assert first.left_s == LASTS_S
    assert codes.matches(first.parted)
    now[0] += LASTS_S
    assert codes.shown().code != first.code
    assert codes.matches(first.code)
    now[0] += GRACE_S
    assert not codes.matches(first.code)
    assert not codes.matches("")
    assert not codes.matches("é" * 8)


def test_the_touchscreen_knows_the_code_as_long_as_the_page_runs(tmp_path: object) -> None:
    from pathlib import Path

    place = Path(str(tmp_path)) / "secret"
    assert running(place) is None
    codes = Codes.new(place)
    other = running(place)
    assert other is not None
    assert other.matches(codes.shown().code)
    assert place.stat().st_mode & 0o777 == 0o640


def test_a_visit_ends_when_it_is_silent_or_long_and_its_picture_is_gone() -> None:
    now = [0.0]
    visits = Visits(lambda: now[0])
    token = visits.begin()
    now[0] += IDLE_S - 1
    assert visits.find(token) is not None
    now[0] += IDLE_S
    visits.forget_old()
    assert len(visits) == 0
    token = visits.begin()
    for _ in range(int(LONGEST_S / IDLE_S) + 2):
        now[0] += IDLE_S - 1
        found = visits.find(token)
    assert found is None
    for _ in range(MAX_VISITS + 3):
        visits.begin()
    assert len(visits) == MAX_VISITS


def test_a_phone_that_leaves_is_asked_for_the_code_again() -> None:
    app = photo_app()
    phone = let_in(app)
    assert phone.get("/").status_code == 200
    assert phone.post("/log-out").status_code == 303
    assert phone.get("/").location == "/log-in"
    assert len(desk(app).visits) == 0


def test_the_page_speaks_the_phones_language() -> None:
    phone = let_in(photo_app())
    for asked, spoken in (("es-MX", "es"), ("zh-TW", "zh-Hant"), ("zh-CN", "zh-Hans"), ("fr", "en")):
        page = phone.get("/", headers={"Accept-Language": f"{asked},en;q=0.5"}).text
        assert f'<html lang="{spoken}">' in page
