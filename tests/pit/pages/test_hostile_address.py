"""Attacks on the pit's pages through addresses: paths, numbers, filters, bytes, and what they leave in the log."""

from __future__ import annotations

import pytest

from pit.pages.people import PitPeople
from pit.pages.services import pit
from tests.pit.pages.conftest import House
from tests.pit.pages.test_hostile_visitor import OWNER, PHRASE, PHRASE_ID, A, F, T, asked

ADDRESSES = (
    *(
        "/static/../app.py",
        "/static/..%2f..%2fpyproject.toml",
        "/static/%2e%2e/guard.py",
        "/static//etc/passwd",
    ),
    *(
        f"/record/1/captures/{name}"
        for name in (
            *(
                "../../key",
                "..%2f..%2fmetrics.token",
                "%2e%2e/%2e%2e/metrics.token",
                "/etc/passwd",
                "000001/",
            ),
            *("000001/../../../metrics.token", "000001/first.jpg%00.png", "000001/first.jpg/", "x" * 3_000),
            *("000002/frame.jpg", "99999999999/first.jpg", "-1/first.jpg", "٣/first.jpg", "1/first.jpg"),
        )
    ),
    *(f"/record/{number}/review/1" for number in ("0", "9", "9" * 18, "9" * 19, "9" * 200, "-1", "1.0")),
    *(f"/record/1/review/{hand}" for hand in ("0", "9" * 9, "9" * 40, "-1", "1e3", "%00", "..", "٣", "1;")),
    *(f"/tables/{number}" for number in ("0", "9" * 19, "9" * 5_000, "-1", "x")),
)


def test_no_address_reaches_what_is_no_page_and_none_is_a_failure(house: House) -> None:
    (pit(house.app).folder).mkdir(exist_ok=True)
    (pit(house.app).folder / "metrics.token").write_text("a secret of the pit's folder")
    for role in (F, T):
        client = house.logged_in(role)
        codes = {address: asked(client, address) for address in ADDRESSES}
        wrong = [
            address
            for address, (code, answer) in codes.items()
            if code not in (403, 404) or "a secret" in answer.text
        ]
        assert wrong == [], role


SQL = (
    *(
        "' OR '1'='1",
        "'; DROP TABLE hand; --",
        "' UNION SELECT name, verifier FROM person --",
        "Lin' --",
        "%",
    ),
    *("\\", '"', "$$x$$", "%s", "%(x)s", "{{7*7}}", "Lin%00", "_in", "l" * 100, "1 OR 1=1", "pg_sleep(9)"),
)


def test_no_filter_of_the_search_is_a_part_of_a_query(house: House, people: PitPeople) -> None:
    people.add("Ines", OWNER, PHRASE)
    with house.database.transaction() as connection:
        connection.execute("UPDATE person SET passphrase_id = %s", (PHRASE_ID,))
    for name in ("player", "dealer", "table", "game", "with", "since", "until", "before"):
        client = house.logged_in(A)
        for value in SQL:
            code, answer = asked(client, "/hands", query_string={name: value})
            assert (code == 200 and '/review/1"' not in answer.text) or code == 400, value
            assert PHRASE_ID not in answer.text, name
            assert 'value="49"' not in answer.text, name
        assert asked(client, "/hands")[1].text.count('/review/1"') == 2, name


def test_no_choice_of_a_report_is_a_part_of_a_query(house: House) -> None:
    client = house.logged_in(A)
    for name in ("by", "days", "table"):
        for report in ("/reports", "/reports.csv", "/reports.pdf"):
            for value in SQL:
                assert asked(client, report, query_string={"days": "1", name: value})[0] in (200, 400), value
            assert asked(client, "/hands")[1].text.count('/review/1"') == 2, (name, report)


def test_bytes_that_are_no_text_are_no_failure(house: House) -> None:
    client = house.logged_in(A)
    for raw in (b"player=\xff", b"player=%ff", b"player=%ED%A0%80", b"\xff=1", b"=", b"&&;"):
        for page in ("/hands", "/reports", "/reports.csv", "/", "/events", "/record/1/review/1"):
            query = raw.decode("latin-1")
            code, _ = asked(client, page, environ_overrides={"QUERY_STRING": query})
            assert code in (200, 400), (raw, page)


def test_a_refused_log_in_writes_neither_name_nor_passphrase_nor_a_line_of_its_own(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    forged = "horse\nlog-in of Ines from 192.0.2.9"
    caplog.set_level("DEBUG")
    asked(house.visitor(), "/log-in", "POST", data={"name": forged, "passphrase": "secret of mine 12"})
    asked(house.visitor(), "/x%0alog-in%20of%20Ines")
    assert "horse" not in caplog.text
    assert "secret of mine" not in caplog.text
    assert not [line for line in caplog.text.splitlines() if line.startswith("log-in of Ines")]
