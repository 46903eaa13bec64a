"""The pit's pages: who may open them, what they show, what is recorded."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile

import psycopg
import pytest

from firmware.table import events as ev
from firmware.table.people import Role
from pit.follow.search import disputes
from pit.pages.people import PitRole
from pit.store.workers import Membership
from tests.pit.pages.conftest import House

H, T = frozenset({PitRole.FLOOR, PitRole.AUDITOR, PitRole.OWNER}), frozenset(PitRole)
M, A = frozenset({PitRole.TECHNICIAN, PitRole.OWNER}), frozenset({PitRole.AUDITOR, PitRole.OWNER})
PAGES = {
    "/": T,
    "/events": T,
    "/hands": H,
    "/disputes": H,
    "/tables": T,
    "/tables/1": T,
    "/dealers": H,
    "/dealers?dealer=Lin&days=30&table=Table+1": H,
    "/reports": H,
    "/reports?by=game": H,
    "/reports?by=down": H,
    "/reports.csv": H,
    "/reports.csv?by=dealer": H,
    "/reports.pdf?by=table": H,
    "/channels": M,
    "/channels/part": M,
    "/people": A,
    "/people?person=Lin&before=9": A,
    "/metrics": M,
    "/record/1/review/1": H,
    "/record/1/review/1/story": H,
    "/record/1/review/1/look": H,
    "/record/1/review/1/changes": H,
    "/record/1/review/1/again": H,
    "/record/1/review/1/dispute": H,
    "/record/1/review/1/pictures": H,
}


def test_each_page_opens_for_its_roles_and_for_nobody_else(house: House) -> None:
    for role in PitRole:
        client = house.logged_in(role)
        answers = {page: client.get(page).status_code for page in PAGES}
        assert answers == {page: 200 if role in roles else 403 for page, roles in PAGES.items()}, role


def test_an_address_that_leads_nowhere_says_so_and_leads_back(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    for address in ("/nowhere", "/hands/", "/record/99/review/1", "/record/1/review/999999"):
        answer = house.logged_in(PitRole.OWNER).get(
            address, headers={"Accept": "text/html", "Sec-Fetch-Mode": "navigate"}
        )
        assert answer.status_code == 404, address
        assert "<html" in answer.text, address
        assert 'class="action' in answer.text, address
        assert "cannot be made" not in caplog.text, address


def test_the_pits_processes_are_counted_and_none_is_none(house: House) -> None:
    client = house.logged_in(PitRole.OWNER)
    assert "feltwatch_pit_processes 0.0" in client.get("/metrics").text
    for member in (Membership(), Membership()):
        with house.database.transaction() as connection:
            member.renew(connection)
    assert "feltwatch_pit_processes 2.0" in client.get("/metrics").text


def test_nobody_sees_anything_before_they_have_logged_in(house: House) -> None:
    client = house.visitor()
    for page in PAGES:
        answer = client.get(page)
        assert (answer.status_code, answer.headers.get("Location")) == (302, "/log-in")
        assert client.get(page, headers={"Accept": "application/json"}).status_code == 401


def test_every_route_that_is_not_named_here_is_closed(house: House) -> None:
    client = house.logged_in(PitRole.OWNER)
    known = {
        "/review",
        "/log-in",
        "/log-out",
        "/going",
        "/static",
        "/make-file",
        "/file",
        "/captures",
        *PAGES,
    }
    for rule in house.app.url_map.iter_rules():
        address = rule.rule.replace("<int:record>", "1").replace("<int:table_id>", "1").replace("<hand>", "1")
        if not any(part in address for part in known) and "GET" in (rule.methods or ()):
            assert client.get(address).status_code == 403, address
    assert client.get("/record/1/review").status_code == 302
    assert client.get("/record/1/review/1/stick").status_code in (403, 404)


def test_a_right_passphrase_opens_a_session_and_a_wrong_one_says_nothing_of_the_name(house: House) -> None:
    from pit.pages.people import PitPeople

    PitPeople(house.database).add("Ines", PitRole.AUDITOR, "seven brown horses")
    client = house.visitor()
    wrong = client.post("/log-in", data={"name": "Ines", "passphrase": "seven brown mules"})
    unknown = client.post("/log-in", data={"name": "Nobody", "passphrase": "seven brown mules"})
    assert (wrong.status_code, wrong.text) == (403, unknown.text)
    right = client.post("/log-in", data={"name": "Ines", "passphrase": "seven brown horses"})
    assert (right.status_code, right.headers["Location"]) == (303, "/")
    assert client.get("/hands").status_code == 200
    with house.database.transaction() as connection:
        stored = connection.execute("SELECT token_hash FROM session").fetchall()
    assert str(stored[0][0]) not in right.headers["Set-Cookie"]
    PitPeople(house.database).add("Ines", PitRole.AUDITOR, "eight brown horses")
    assert client.get("/hands").status_code == 302


def test_tries_are_limited_as_in_the_review(house: House) -> None:
    client = house.visitor()
    codes = [client.post("/log-in", data={"name": "x", "passphrase": "y"}).status_code for _ in range(6)]
    assert codes == [403] * 5 + [429]


def test_a_log_out_ends_the_session_in_the_database(house: House) -> None:
    client = house.logged_in(PitRole.FLOOR)
    assert client.post("/log-out").status_code == 303
    with house.database.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM session").fetchone() == (0,)


def test_a_command_of_another_site_or_without_the_token_is_refused(house: House) -> None:
    client = house.logged_in(PitRole.FLOOR)
    order = {"json": {"need": "x"}}
    assert client.post("/going/1", **order).status_code == 403
    elsewhere = {"X-CSRF-Token": house.token(), "Origin": "https://evil.example"}
    assert client.post("/going/1", headers=elsewhere, **order).status_code == 403


def test_the_floor_shows_a_dispute_first_and_who_is_on_the_way(house: House) -> None:
    house.felts[1].say(ev.HandDisputed(1, "A card was read wrong"))
    house.tables[1].send()
    client = house.logged_in(PitRole.FLOOR)
    page = client.get("/").text
    assert page.index("Table 2") < page.index("Table 1")
    assert "Dispute: hand 1" in page
    assert "marked by Moreno" in page
    sent = client.post("/going/2", json={"need": "dispute:1"}, headers={"X-CSRF-Token": house.token()})
    assert sent.json == {"ok": True}
    assert "Floor is on the way" in client.get("/").text
    assert (
        client.post(
            "/going/2", json={"need": "natural:9"}, headers={"X-CSRF-Token": house.token()}
        ).status_code
        == 409
    )
    assert ("Floor", "going", 2, 1) in house.acts()


def test_no_card_of_an_open_hand_is_on_any_page(house: House) -> None:
    felt = house.felts[0]
    felt.to_setting()
    felt.to_reading()
    house.tables[0].send()
    client = house.logged_in(PitRole.AUDITOR)
    assert client.get("/record/1/review/2").status_code == 404
    assert client.get("/record/1/review/2/story").status_code == 404
    for page in ("/", "/hands", "/tables/1", "/record/1/review/1"):
        assert "/review/2" not in client.get(page).text
    assert client.get("/record/1/captures/000002/frame.jpg").status_code == 404


def test_every_look_at_a_hand_is_recorded_and_asks_the_table_for_its_pictures(house: House) -> None:
    client = house.logged_in(PitRole.AUDITOR)
    page = client.get("/record/1/review/1/dispute").text
    assert ("Auditor", "dispute.dispute", 1, 1) in house.acts()
    with house.database.transaction() as connection:
        wanted = connection.execute(
            "SELECT hash, name FROM wish WHERE kind = 'image' ORDER BY name"
        ).fetchall()
    assert [name for _, name in wanted] == ["000001/first.jpg", "000001/second.jpg"]
    assert "Pictures come from the table: 0 of 2 are here." in page


def test_an_auditor_sees_who_may_log_in_and_who_looked_at_which_hand_page_by_page(house: House) -> None:
    floor, auditor = house.logged_in(PitRole.FLOOR), house.logged_in(PitRole.AUDITOR)
    floor.get("/record/1/review/1")
    page = auditor.get("/people").text
    assert "logged in now" in page
    assert re.search(r"Floor <small>floor</small>.*opened the hand.*Table 1, hand 1", page)
    for number in range(120):
        auditor.get(f"/hands?player=Lin{number}")
    page = auditor.get("/people").text
    assert "player=Lin119" in page
    assert "opened the hand" not in page
    older = re.search(r'href="(/people\?before=\d+)"', page)
    assert older is not None
    assert "opened the hand" in auditor.get(older[1]).text
    alone = auditor.get("/people?person=Floor").text
    assert "opened the hand" in alone
    assert "player=Lin" not in alone


def test_a_list_of_acts_that_cannot_be_is_refused_with_a_sentence(house: House) -> None:
    for bad in ("before=x", "before=-1", "before=" + "9" * 400, "person=%00", "person=" + "a" * 201):
        answer = house.logged_in(PitRole.OWNER).get(f"/people?{bad}")
        assert answer.status_code == 400, bad
        assert "is no n" in answer.text, bad


def bring_pictures(house: House) -> None:
    """The first table sends what it was asked for."""
    from pit.follow.data_requests import data_requests_of, fulfil
    from pit.pages.services import pit

    sent, felt = house.tables[0], house.felts[0]
    with house.database.transaction() as connection:
        for one in [one for one in data_requests_of(connection, sent.table) if one["kind"] == "image"]:
            pit(house.app).files.keep(one["hash"], felt.captures.read(one["name"]))
            fulfil(connection, sent.table, one["hash"], one["kind"])


def test_the_pictures_are_shown_once_the_table_has_sent_them(house: House) -> None:
    client = house.logged_in(PitRole.AUDITOR)
    client.get("/record/1/review/1")
    assert client.get("/record/1/captures/000001/second.jpg").status_code == 404
    bring_pictures(house)
    assert client.get("/record/1/review/1/pictures").json == {"here": 2, "of": 2, "words": ""}
    with client.get("/record/1/captures/000001/second.jpg") as picture:
        shown = picture.data
    assert shown == house.felts[0].captures.read("000001/second.jpg")
    assert "/record/1/captures/000001/second.jpg" in client.get("/record/1/review/1/look").text


def test_a_table_that_is_off_brings_its_pictures_when_it_is_back(house: House) -> None:
    with house.database.transaction() as connection:
        connection.execute("UPDATE head SET heard_at = now() - interval '1 minute'")
    client = house.logged_in(PitRole.AUDITOR)
    assert "its pictures come when it is back" in client.get("/record/1/review/1").text
    made = client.post("/record/1/review/1/make-file", data={"token": house.token()})
    assert made.status_code == 409


def test_a_dispute_file_made_here_is_complete_and_verifies(house: House) -> None:
    from firmware.record.evidence.dispute_verifier import check

    client = house.logged_in(PitRole.AUDITOR)
    client.get("/record/1/review/1/dispute")
    bring_pictures(house)
    made = client.post("/record/1/review/1/make-file", data={"token": house.token()})
    assert (made.status_code, made.headers["Location"]) == (303, "/record/1/review/1/dispute")
    assert "Get the dispute file" in client.get("/record/1/review/1/dispute").text
    with client.get("/record/1/review/1/file") as got:
        data = got.data
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        names = set(packed.namelist())
        manifest = json.loads(packed.read("manifest.json"))
    assert {"hand.pdf", "rows.jsonl", "images/000001/first.jpg", "images/000001/second.jpg"} <= names
    assert {image["state"] for image in manifest["images"]} == {"ok"}
    path = house.felts[0].folder / "got.zip"
    path.write_bytes(data)
    wrong = check(str(path)).wrong
    assert [what for what in wrong if "NOT signed" not in what] == [], (
        "the records of this house are unsigned"
    )


def test_the_filters_find_hands_of_all_tables(house: House) -> None:
    client = house.logged_in(PitRole.AUDITOR)

    def found(query: str) -> int:
        return client.get(f"/hands?{query}").text.count('/review/1"')

    assert found("") == 2
    assert found("table=Table+2") == 1
    assert found("player=Lin&dealer=Lin") == 2
    assert found("player=Nobody") == 0
    assert found("with=foul&with=disputed") == 0
    assert found("with=foul") == 2
    assert found("game=california-face-up&since=2020-01-01") == 2
    assert found("until=2020-01-01") == 0
    for bad in ("seat=1", "with=x", "since=yesterday", "before=1-2", "player=%00", f"player={'x' * 101}"):
        assert client.get(f"/hands?{bad}").status_code == 400, bad


def test_a_hands_page_names_its_table(house: House) -> None:
    text = house.logged_in(PitRole.AUDITOR).get("/record/2/review/1/dispute").text
    assert "<h1>Table 2 · hand 1</h1>" in text


def test_the_queue_of_disputes_says_why_and_since_when(house: House) -> None:
    house.felts[0].say(ev.HandDisputed(1, "The foul is disputed"))
    house.tables[0].send()
    page = house.logged_in(PitRole.AUDITOR).get("/disputes").text
    assert "The foul is disputed" in page
    assert "/record/1/review/1/dispute" in page


def test_a_dispute_that_came_long_after_its_date_says_when_it_came(house: House, owned: str) -> None:
    """The table was off, or it dates it in the past; no dispute is dated later than it came."""
    house.felts[0].say(ev.HandDisputed(1, "The foul is disputed"))
    house.tables[0].send()
    for dated, says in (("-2 days", True), ("-1 minute", False), ("2 days", False)):
        with psycopg.connect(owned) as connection:
            connection.execute("ALTER TABLE entry DISABLE TRIGGER USER")
            connection.execute(
                "UPDATE entry SET wall_ms = (1000 * extract(epoch FROM taken_at + %s::interval))::bigint"
                " WHERE type = 'hand_disputed'",
                (dated,),
            )
        page = house.logged_in(PitRole.AUDITOR).get("/disputes").text
        assert page.count("received ") == (1 if says else 0), (dated, says)
        assert all(one.since_ms <= one.came_ms for one in disputes(house.database)), (dated, says)


def test_a_report_of_the_house_has_a_line_for_each_table_and_their_sum(house: House) -> None:
    client = house.logged_in(PitRole.OWNER)
    heads, *lines = csv.reader(io.StringIO(client.get("/reports.csv?by=table&days=366").text))
    assert heads[:2] == ["table", "hands"]
    assert [line[:2] for line in lines] == [["Table 1", "1"], ["Table 2", "1"]]
    assert client.get("/reports.pdf?by=game&days=366").data.startswith(b"%PDF")
    assert "Together" in client.get("/reports?by=dealer&days=366").text


def test_a_dealers_downs_are_listed_with_their_tables_and_lead_to_the_dealers_hands(house: House) -> None:
    client = house.logged_in(PitRole.FLOOR)
    every = "/dealers?days=366"
    text = client.get(every).text
    assert re.findall(r'<a href="(/hands[^"]*)">(\w+)</a>', text) == [("/hands?dealer=Lin", "Lin")]
    assert re.findall(r'<a href="(/tables/\d)">(Table \d)</a>', text) == [
        ("/tables/1", "Table 1"),
        ("/tables/2", "Table 2"),
    ]
    assert text.count("deals now") == 2
    assert "/tables/1" not in client.get(f"{every}&table=Table+2").text
    assert client.get(f"{every}&dealer=Lin").text.count("deals now") == 2
    assert 'href="/dealers?days=366&amp;dealer=Lin"' in client.get("/reports?by=dealer&days=366").text
    assert "No dealer was logged on" in client.get(f"{every}&dealer=Nobody").text
    assert client.get("/dealers?player=Ann").status_code == 400


def test_a_down_that_is_over_has_an_end_and_a_silent_tables_dealer_is_not_said_to_deal_now(
    house: House,
) -> None:
    house.felts[0].say(ev.PersonListed("Kim", Role.DEALER), ev.LoggedOn("Kim", 4))
    house.tables[0].send()
    with house.database.transaction() as connection:
        connection.execute("UPDATE head SET heard_at = now() - interval '1 minute' WHERE record_id = 2")
    text = house.logged_in(PitRole.OWNER).get("/dealers?days=366").text.partition("<table")[2]
    assert text.count("deals now") == 1
    assert text.index("Kim") < text.index("deals now") < text.index("Lin")


def test_metrics_need_the_token_of_the_pits_folder_and_name_no_person(house: House) -> None:
    from pit.pages.guard import METRICS_TOKEN
    from pit.pages.services import pit

    scraper = house.visitor()
    folder = pit(house.app).folder
    folder.mkdir(exist_ok=True)
    (folder / METRICS_TOKEN).write_text("a" * 32)
    assert scraper.get("/metrics", headers={"Authorization": f"Bearer {'b' * 32}"}).status_code == 302
    text = scraper.get("/metrics", headers={"Authorization": f"Bearer {'a' * 32}"}).text
    assert 'feltwatch_pit_hands{table="Table 1"} 1.0' in text
    assert "Lin" not in text


def test_each_page_is_there_in_each_language(house: House) -> None:
    for language in ("en", "es", "zh_Hans", "zh_Hant"):
        client = house.logged_in(PitRole.AUDITOR)
        client.set_cookie("language", language)
        for page, roles in PAGES.items():
            if PitRole.AUDITOR in roles:
                assert client.get(page).status_code == 200, page
        assert f'<html lang="{language.replace("_", "-")}">' in client.get("/").text, language


def test_a_hand_whose_row_was_changed_in_the_database_is_refused_by_its_number(house: House) -> None:
    client = house.logged_in(PitRole.AUDITOR)
    with house.database.transaction() as connection:
        connection.execute("ALTER TABLE entry DISABLE TRIGGER USER")
        (changed,) = connection.execute(
            "UPDATE entry SET wall_ms = wall_ms + 1 WHERE record_id = 1 AND type = 'settled' RETURNING seq"
        ).fetchone() or (0,)
    for page in ("", "/story", "/dispute", "/pictures"):
        answer = client.get(f"/record/1/review/1{page}")
        assert answer.status_code == 503, page
        assert f"Row {changed} of the record was changed after it was written" in answer.text, page
    assert client.get("/record/2/review/1").status_code == 200
