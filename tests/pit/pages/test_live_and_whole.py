"""Floor, *Tables*, *Proof*, reports and metrics say the same of a table, and none calls silence well."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import psycopg
import pypdfium2
import pytest

from dealer_ui.review.timeline import time_of
from firmware.table import events as ev
from pit.pages.app import create_app
from pit.pages.people import PitRole
from pit.pages.services import pit
from pit.pages.tile import Tone
from pit.status.freshness import FOLLOWED_MS
from pit.store.database import Database, Limits
from tests.pit.conftest import as_role
from tests.pit.pages.conftest import FLOOR, House

GREEN = re.compile(r'class="(?:tile well|deals)"')
BY = ("house", "table", "dealer", "down", "game")


def said(house: House, table: str = "Table 2") -> dict[str, str]:
    """What each page says of a table."""
    client = house.logged_in(PitRole.OWNER)
    one = next(one for one in pit(house.app).live.now().tiles if one.name == table)
    tile = " · ".join(map(str, (one.tile.title, *one.tile.notes)))
    pages = {"tile": f"{one.tile.tone.value}: {tile}"}
    for page in ("/tables", "/proof"):
        (row,) = re.findall(
            rf"<tr><th scope=\"row\"><a [^>]*>{table}</a>.*?</tr>", client.get(page).text, re.DOTALL
        )
        pages[page] = row
    metrics = client.get("/metrics").text
    pages["/metrics"] = "\n".join(line for line in metrics.splitlines() if f'table="{table}"' in line)
    pages["/reports"] = client.get("/reports?by=table").text
    pages["/dealers"] = client.get("/dealers").text
    return pages


def aged(house: House, change: str, *values: object) -> None:
    with house.database.transaction() as connection:
        connection.execute(f"UPDATE head SET {change} WHERE record_id = 2", values)


def test_a_table_that_is_well_is_well_on_every_page(house: House) -> None:
    found = said(house)
    assert found["tile"].startswith(Tone.WELL.value)
    assert ">well<" in found["/tables"]
    assert 'feltwatch_pit_well{table="Table 2"} 1.0' in found["/metrics"]
    assert "missing" not in found["/reports"]
    assert re.search(r"Complete to \d\d:\d\d<", found["/reports"])


LACKS = {
    "the table process does not answer": ("health = %s", ('{"table_s": 1740, "row": 5}',), "process"),
    "not known whether the table process answers": ("health = %s", ('{"celsius": 47.5}',), "pulse"),
    "not heard of now": ("heard_at = now() - interval '20 seconds'", (), "heard"),
    "rows that have not come: 7": ("table_seq = seq + 7", (), "rows"),
}


@pytest.mark.parametrize("words", LACKS)
def test_what_is_not_live_or_whole_is_said_on_every_page_and_green_on_none(house: House, words: str) -> None:
    change, values, lack = LACKS[words]
    aged(house, change, *values)
    found = said(house)
    assert not found["tile"].startswith(Tone.WELL.value)
    for page in ("/tables", "/proof"):
        assert words in found[page]
        assert not GREEN.search(found[page])
    assert words.lower() in found["tile"].lower()
    assert 'feltwatch_pit_well{table="Table 2"} 0.0' in found["/metrics"]
    assert f'feltwatch_pit_lack{{lack="{lack}",table="Table 2"}} 1.0' in found["/metrics"]
    sentence = "not known whether Table 2 records" if lack == "pulse" else "Table 2 missing since"
    for page in ("/reports", "/dealers"):
        assert sentence in found[page]


def test_a_locked_row_is_behind_on_every_page_by_one_row_too(house: House, owned: str) -> None:
    live = pit(house.app).live
    with psycopg.connect(owned) as holder:
        holder.execute("SELECT FROM table_now WHERE record_id = 2 FOR UPDATE")
        house.felts[1].say(ev.FloorCalled())
        house.tables[1].send()
        ahead = live.clock_ms() + FOLLOWED_MS + 1_000
        live._clock = lambda: ahead / 1000
        found = said(house)
        assert "rows not followed: 1" in found["tile"]
        assert not found["tile"].startswith(Tone.WELL.value)
        assert "<td>1</td>" in found["/tables"], "Behind"
        assert 'feltwatch_pit_lack{lack="followed",table="Table 2"} 1.0' in found["/metrics"]
        assert "Table 2 missing since" in found["/reports"]
        holder.rollback()


def test_no_table_is_left_out_of_a_report_without_a_word(house: House) -> None:
    aged(house, "heard_at = now() - interval '66 seconds'")
    client = house.logged_in(PitRole.OWNER)
    with house.database.transaction() as connection:  # the other table is heard of, however long this takes
        connection.execute("UPDATE head SET heard_at = now() + interval '1 hour' WHERE record_id = 1")
        (at_ms,) = connection.execute(
            "SELECT (1000 * extract(epoch FROM heard_at))::bigint FROM head WHERE record_id = 2"
        ).fetchone() or (0,)
    words = {f"Table 2 missing since {time_of(at_ms + more)[:5]}" for more in (-2_000, 0, 2_000)}
    for by in BY:
        page = client.get(f"/reports?by={by}").text
        assert any(one in page for one in words), by
        (head, *lines) = csv.reader(io.StringIO(client.get(f"/reports.csv?by={by}").text))
        where = head.index("missing")
        assert lines, by
        assert all(re.fullmatch(r"Table 2 since \d{13}", line[where]) for line in lines), by
        assert all(re.fullmatch(r"\d{13}", line[head.index("complete_to_ms")]) for line in lines), by
        text = (
            pypdfium2.PdfDocument(client.get(f"/reports.pdf?by={by}").data)[0]
            .get_textpage()
            .get_text_bounded()
        )
        assert any(one in " ".join(text.split()) for one in words), by


def test_a_report_without_any_hand_says_what_it_lacks(house: House) -> None:
    with house.database.transaction() as connection:
        connection.execute("INSERT INTO gaming_table (name, serial) VALUES ('Table 6', '6')")
    client = house.logged_in(PitRole.OWNER)
    page = client.get("/reports?by=table&table=Table+6").text
    assert "Table 6 missing: never heard of" in page
    (head, line) = csv.reader(io.StringIO(client.get("/reports.csv?by=down&table=Table+6").text))
    assert line[head.index("missing")] == "Table 6 since ever"
    (head, line) = csv.reader(io.StringIO(client.get("/reports.csv?by=table&table=Table+6").text))
    assert (line[0], line[head.index("hands")], line[head.index("missing")]) == (
        "Table 6",
        "0",
        "Table 6 since ever",
    )


def test_a_limit_of_the_database_that_rings_is_a_sentence_on_the_page(
    house: House, owned: str, tmp_path: Path
) -> None:
    with Database(as_role(owned, FLOOR), connections=2, limits=Limits(0.2, 30.0, 30.0)) as impatient:
        client = House(create_app(impatient, tmp_path / "other", secure=False), house.database).logged_in(
            PitRole.OWNER
        )
        with psycopg.connect(owned) as holder:
            holder.execute("LOCK TABLE down_total IN ACCESS EXCLUSIVE MODE")
            answer = client.get("/dealers")
            holder.rollback()
        assert client.get("/dealers").status_code == 200
    assert answer.status_code == 503
    assert "Something else in the database has held this for more than 0.2 s." in answer.text
    assert "Try again; if it goes on, tell the technician." in answer.text
