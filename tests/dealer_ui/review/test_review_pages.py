"""The pages about past hands over HTTP: to whom they tell what, and what they say to nonsense."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, time, timedelta
from html import unescape
from time import tzset
from urllib.parse import unquote_plus

import pytest
from flask import Flask
from flask.testing import FlaskClient

from dealer_ui.review.filters import BadFilter, Filter, filter_of
from dealer_ui.review.frames import frame_annotations
from dealer_ui.server.app import Settings, create_app
from firmware.record.journal.clocks import Timestamp
from firmware.record.journal.journal import JournalReader
from firmware.record.journal.row_index import forget_index
from firmware.record_folder import SOCKET
from firmware.table.people import Role
from tests.dealer_ui.conftest import Lay
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import drop_pictures, place, played, reopen, ticking
from tests.dealer_ui.review.recalled import of, page, sign_on
from tests.firmware.record.test_verify import bend


@pytest.fixture
def felt(lay: Lay) -> Felt:
    return lay(clock=ticking())


def test_a_recalled_hand_says_that_it_is_one(felt: Felt, client: FlaskClient) -> None:
    played(felt)
    status, text = page(client, "/review/1")
    assert status == 200
    assert "Not live:" in text
    assert "from the record, 20" in text


def test_the_dealer_sees_the_last_ten_hands_without_their_pictures(felt: Felt, client: FlaskClient) -> None:
    played(felt)
    for _ in range(11):
        felt.deal()
        felt.do("void", reason="Misdeal")
    assert page(client, "/review/12")[0] == page(client, "/review/3")[0] == 200
    last_ten = [str(number) for number in range(12, 2, -1)]
    assert re.findall(r'href="/review/(\d+)"', client.get("/review").text) == last_ten
    felt.deal()  # the one on the table is none of them
    assert re.findall(r'href="/review/(\d+)"', client.get("/review").text) == last_ten
    assert re.findall(r'href="/review/(\d+)"', client.get("/").text) == last_ten
    assert page(client, "/review/3")[0] == 200
    assert 'href="/review/13"' not in client.get("/review/12").text
    for closed in ("/review/2", "/review/3/look", "/review/3/changes", "/review/3/dispute", "/review?seat=1"):
        with closing(client.get(closed, headers={"Accept": "text/html"})) as response:
            assert response.status_code == 302, closed
            assert "/pin" in response.headers["Location"]
        assert client.get(closed, headers={"Accept": "application/json"}).status_code == 403


@pytest.mark.parametrize("role", [Role.FLOOR, Role.AUDITOR])
def test_floor_people_and_auditors_see_all_of_it(
    app: Flask, felt: Felt, client: FlaskClient, role: Role
) -> None:
    played(felt)
    sign_on(app, client, felt, role)
    for path in ("", "/story", "/look", "/look?card=3", "/changes", "/again", "/dispute"):
        assert page(client, f"/review/1{path}")[0] == 200, path
    text = client.get("/review/1/dispute").text
    assert ("reopen" in text) == (role is Role.FLOOR)
    both = 2 if role is Role.FLOOR else 0
    assert text.count("<span>A card was read wrong</span>") == both, (
        "each reason is a deed, and none is chosen before"
    )
    assert 'aria-pressed="true"' not in text
    assert "export_hand" in text


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/review/99", 404, "Hand 99 is not in the record"),
        ("/review/0", 404, "is no hand's number"),
        ("/review/nine", 404, "“nine” is no hand's number"),
        ("/review/1/look?row=4", 404, "no such picture"),
        ("/review/1/look?card=99", 404, "no such card"),
        ("/review/1/again?profile=whist", 404, "no profile “whist”"),
        ("/review/1/file", 404, "no dispute file"),
        ("/review?seat=9", 400, "no seat 9"),
        ("/review?seat=x", 400, "“x” is no number"),
        ("/review?with=luck", 400, "for “luck”"),
        ("/review?colour=red", 400, "no filter “colour”"),
        ("/review?from=yesterday", 400, "“yesterday” is no time"),
        ("/review?day=yesterday", 400, "“yesterday” is no day"),
        ("/review?day=0001-01-01", 400, "“0001-01-01” is no day"),
        ("/review?hour=3", 400, "“3” is no hour of a day"),
        ("/review?day=2026-03-20&hour=25", 400, "“25” is no hour of a day"),
        ("/report?down=77", 404, "No hand was opened in a down 77"),
        ("/report?to=x", 400, "“x” is no time"),
    ],
)
def test_what_is_not_there_or_makes_no_sense_gets_a_sentence_on_a_page(
    app: Flask, felt: Felt, client: FlaskClient, path: str, status: int, sentence: str
) -> None:
    played(felt)
    sign_on(app, client, felt, Role.FLOOR)
    found, text = page(client, path)
    assert (found, sentence in text) == (status, True), text[:500]
    assert "The table" in text, "a way back"


def test_the_list_finds_by_filter_and_says_when_there_is_nothing(
    app: Flask, felt: Felt, client: FlaskClient
) -> None:
    played(felt)
    sign_on(app, client, felt, Role.FLOOR)
    assert "No hand in the record is like that." in page(client, "/review?with=natural")[1]
    for query in ("with=foul", "seat=3&player=Okafor", "profile=california-face-up", "with=not_reviewed"):
        assert 'href="/review/1"' in client.get(f"/review?{query}").text, query
    assert 'href="/review/1"' not in client.get("/review?player=Okafor&with=dispute").text


def test_the_last_hands_are_two_touches_away_whatever_lies_on_the_table(
    felt: Felt, client: FlaskClient
) -> None:
    def two_touches_away() -> list[str]:
        html = client.get("/").text
        assert html.count('data-open="more-dialog"') == 1
        return re.findall(r'href="/review/(\d+)"', html.partition('id="more-dialog"')[2])

    assert two_touches_away() == []
    played(felt)
    met = {felt.state.phase: two_touches_away()}
    for go_on in (felt.deal, felt.go_on, felt.go_on, felt.look):
        met[go_on().phase] = two_touches_away()
    felt.read(unsure={(1, "front", 0): ("Qh", "Qs")})
    assert felt.state.questions
    met[felt.state.phase] = two_touches_away()
    felt.do("set_card", seat=1, row="front", index=0, card="Qh")
    met[felt.state.phase] = two_touches_away()
    assert len(met) == 7
    assert all(offered == ["1"] for offered in met.values())
    felt.do("archive")
    assert two_touches_away() == ["2", "1"]
    reopen(felt)
    assert two_touches_away() == ["2", "1"]


def touched(client: FlaskClient, path: str, words: str) -> str:
    """Return where a choice of these words leads to."""
    found = re.findall(r'href="([^"]+)"[^>]*><span>([^<]+)</span>', client.get(path).text)
    (address,) = {unescape(address).removesuffix("#played") for address, said in found if said == words}
    return address


def hands_at(client: FlaskClient, path: str) -> list[int]:
    return [int(hand) for hand in re.findall(r'<a href="/review/(\d+)"><b>', client.get(path).text)]


def test_any_day_and_any_hour_of_it_are_a_few_touches_away(lay: Lay) -> None:
    noon = datetime(2026, 3, 20, 12, 30).astimezone()
    opened = [noon - timedelta(days=9, hours=2), noon - timedelta(days=9), noon - timedelta(days=1), noon]
    now = [opened[0]]
    felt = lay(clock=lambda: Timestamp("boot", 0, round(now[0].timestamp() * 1000), "synchronised"))
    for moment in opened:
        now[0] = moment
        felt.deal()
        felt.do("void", reason="Misdeal")
    app = create_app(Settings(felt.folder, felt.folder / SOCKET))
    client = app.test_client()
    sign_on(app, client, felt, Role.FLOOR)
    at = touched(client, "/review?seat=1", "on one day")
    assert (at, hands_at(client, at)) == ("/review?seat=1&day=2026-03-20", [4])
    at = touched(client, at, "−1 day")
    assert hands_at(client, at) == [3]
    at = touched(client, touched(client, at, "−1 day"), "−1 week")
    assert (at, hands_at(client, at)) == ("/review?seat=1&day=2026-03-11", [2, 1])
    by_hour = touched(client, at, "10:00")
    assert hands_at(client, by_hour) == [1]
    assert hands_at(client, touched(client, at, "12:00")) == [2]
    assert touched(client, by_hour, "any hour") == at
    assert touched(client, by_hour, "+1 week") == "/review?seat=1&day=2026-03-18"
    assert "No hand in the record is like that." in page(client, "/review?day=2026-03-18")[1]
    assert hands_at(client, touched(client, by_hour, "any time")) == [4, 3, 2, 1]
    assert "+1 day" not in client.get("/review?day=2026-03-20").text, "nothing was played after it"


@pytest.fixture
def clocks_changed_two_days_ago(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    changed = (date.today() - timedelta(days=2)).timetuple().tm_yday
    with monkeypatch.context() as box:
        box.setenv("TZ", f"WIN0SUM,{changed - 1},{(changed + 99) % 365}")
        tzset()
        yield
    tzset()


@pytest.mark.usefixtures("clocks_changed_two_days_ago")
def test_today_and_the_days_before_it_begin_at_midnight(app: Flask, felt: Felt, client: FlaskClient) -> None:
    played(felt)
    sign_on(app, client, felt, Role.FLOOR)
    for words in ("today", "since yesterday", "in the last week"):
        since = unquote_plus(touched(client, "/review", words)).removeprefix("/review?from=")
        assert datetime.fromisoformat(since).astimezone().time() == time(), words


def test_an_empty_record_has_an_empty_list(app: Flask, felt: Felt, client: FlaskClient) -> None:
    assert "No hand was played at this table yet." in page(client, "/review")[1]


def test_a_picture_that_is_no_longer_kept_is_told_by_its_fingerprint(
    app: Flask, felt: Felt, client: FlaskClient
) -> None:
    played(felt)
    drop_pictures(felt)
    sign_on(app, client, felt, Role.FLOOR)
    status, text = page(client, "/review/1/look")
    assert status == 200
    assert "no longer kept" in text
    assert frame_annotations(of(felt))[-1].sha256[:16] in text


def test_a_hand_that_ended_while_cards_were_placed_leads_to_their_pictures(lay: Lay) -> None:
    felt = lay(clock=ticking(), options={"limits.min_points": 0})
    felt.deal()
    felt.go_on()
    place(felt, "placed", "3s", "3d")
    felt.do("void", reason="Misdeal")
    app = create_app(Settings(felt.folder, felt.folder / SOCKET))
    client = app.test_client()
    sign_on(app, client, felt, Role.FLOOR)
    status, text = page(client, "/review/1/look")
    assert (status, "No picture of the whole table was stored" in text) == (200, True)
    assert touched_plain(client, "/review/1/look", "The pictures of its cards") == "/review/1/story"
    assert client.get("/review/1/story").text.count("/captures/000001/placed.jpg") == 2


def touched_plain(client: FlaskClient, path: str, words: str) -> str:
    (address,) = re.findall(rf'<a href="([^"]+)">{words}</a>', client.get(path).text)
    return str(address)


def test_the_report_is_for_floor_people_and_auditors_as_a_page_csv_and_pdf(
    app: Flask, felt: Felt, client: FlaskClient
) -> None:
    played(felt)
    for path in ("/report", "/report.csv", "/report.pdf"):
        assert client.get(path, headers={"Accept": "application/json"}).status_code == 403
    sign_on(app, client, felt, Role.AUDITOR)
    assert "Cards read" in page(client, "/report")[1]
    assert client.get("/report.csv").text.startswith('"dealer","down","from_ms"')
    assert client.get("/report.pdf").data.startswith(b"%PDF")


def test_every_earlier_shift_is_one_touch_further_back(lay: Lay) -> None:
    began = datetime(2026, 3, 20, 18, 30, 15, 250_000).astimezone()
    now = [began]
    felt = lay(clock=lambda: Timestamp("boot", 0, round(now[0].timestamp() * 1000), "synchronised"))
    for day, hands in ((0, 1), (1, 3), (2, 2)):
        for hand in range(hands):
            now[0] = began + timedelta(days=day, minutes=3 * hand)
            felt.deal()
            felt.do("void", reason="Misdeal")
    app = create_app(Settings(felt.folder, felt.folder / SOCKET))
    client = app.test_client()
    sign_on(app, client, felt, Role.FLOOR)

    def voids(path: str) -> str:
        return client.get(path.replace("/report", "/report.csv")).text.splitlines()[-1].split(",")[5]

    at = "/report"
    assert voids(at) == "2"
    at = touched(client, at, "The shift before")
    assert voids(at) == "3"
    at = touched(client, at, "The shift before")
    assert voids(at) == "1"
    assert "The shift before" not in client.get(at).text
    assert touched(client, at, "The last shift") == "/report"


def test_an_address_names_its_filter_and_is_read_back() -> None:
    wanted = Filter(3, "Ann & Bo", "washington-1-6", "Ines", "foul", day=date(2026, 3, 20), hour=0, before=12)
    address = wanted.address(before=12)
    asked = dict(part.split("=") for part in address.partition("?")[2].split("&"))
    assert filter_of({name: unquote_plus(value) for name, value in asked.items()}) == wanted
    with pytest.raises(BadFilter):
        filter_of({"seat": "6"})


def test_a_hand_whose_record_was_changed_is_refused_by_its_row_and_the_next_one_is_played(
    app: Flask, felt: Felt, client: FlaskClient
) -> None:
    played(felt)
    sign_on(app, client, felt, Role.FLOOR)
    felt.deal()
    felt.do("void", reason="Misdeal")
    felt.deal()
    row = JournalReader(felt.folder).of_hand(1)[3]
    bend(felt.folder, "UPDATE journal SET wall_ms = wall_ms + 1 WHERE seq = ?", values=(row.seq,))
    named = f"Row {row.seq} of the record was changed after it was written"
    for path in ("/review/1", "/review/1/story", "/review/1/dispute", "/report"):
        status, text = page(client, path)
        assert (status, named in text) == (503, True), path
    assert page(client, "/review/2")[0] == 200
    forget_index(felt.folder)
    assert client.get("/review").text.count("record was changed") == 1
    live = client.get("/view.json").get_json()
    assert (live["hand"], live["trouble"]) == (3, ""), "an old row stops no play"
