"""Attacks on the pit's pages by a table that was taken over: its certificate is good, what it says is not.

It can make its own tile and hands wrong. No other table's may be lost to the floor by it, and no page becomes its own.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import closing
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

from firmware.record.journal.clocks import Clock, Timestamp
from firmware.table import events as ev
from firmware.table.people import Role
from firmware.table.topics.devices import DeviceFault
from pit.follow.reader import PitCaptures
from pit.pages.people import PitRole
from pit.pages.services import pit
from tests.dealer_ui import felt as tests_felt
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import played
from tests.pit.pages.conftest import House
from tests.pit.sent import FollowedTable

PAGES = (
    *("/", "/events", "/hands", "/disputes", "/tables", "/tables/3", "/metrics", "/reports", "/reports.csv"),
    *("/reports?by=dealer&days=366", "/reports.csv?by=dealer&days=366", "/reports?by=down&days=366"),
    *("/reports?by=game&days=366", "/reports.csv?by=down&days=366", "/reports.pdf?by=dealer&days=366"),
)


def of_hand(record: int) -> tuple[str, ...]:
    """The pages of a record's first hand."""
    tabs = ("", "/story", "/look", "/changes", "/again", "/dispute", "/pictures")
    return tuple(f"/record/{record}/review/1{tab}" for tab in tabs)


def shown(house: House, pages: tuple[str, ...] = PAGES) -> dict[str, tuple[int, str]]:
    """What every page shows an owner, and the first whole message of the stream."""
    client = house.logged_in(PitRole.OWNER)
    found = {}
    for page in pages:
        with closing(client.get(page)) as answer:
            if page == "/events":
                text = "".join(part.decode() for part in islice(answer.iter_encoded(), 2))
            else:
                text = answer.text if not page.startswith("/reports.pdf") else ""
            found[page] = answer.status_code, text
    return found


def another(
    house: House, folder: Path, name: str = "Table 3", health: dict[str, Any] | None = None
) -> FollowedTable:
    """Another table, whose record lies in `folder`, has sent."""
    sent = FollowedTable(house.tables[0].database, folder, name, health or {})
    house.tables.append(sent)
    sent.send()
    return sent


NAMES = (
    *(
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "' onmouseover='alert(1)",
        "{{7*7}}{%x%}",
    ),
    *("%(name)s %s %d", "</title><svg onload=alert(1)>", "=HYPERLINK(1)", "javascript:alert(1)", "a\u202eb"),
    *("data: x\n\nevent: view\ndata: {}", "&lt;b&gt;", "-->", "\u2028x", "l" * 5_000),
)
RAW = ("<script>alert", "<img src=x", "<svg onload", "' onmouseover='", '"><img', "-->", "<b>")


def test_no_name_of_a_table_is_markup_a_template_or_a_formula(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As players, dealer, reason of a dispute, profile, health, release and the table itself; a table for each."""
    pages: tuple[str, ...] = PAGES
    for number, name in enumerate(NAMES):
        felt = Felt(tmp_path / str(number), actor=f"floor:{name}")
        with monkeypatch.context() as patch:
            if name.isprintable() and len(name) < 50:  # no record has others as a player's name
                patch.setattr(tests_felt, "PLAYERS", {seat: f"{name}{seat}" for seat in felt.seats})
            felt.say(ev.PersonListed(name, Role.DEALER), ev.LoggedOn(name, 3))
            played(felt)
        felt.say(ev.HandDisputed(1, name), DeviceFault("camera", name))
        check = {"name": name, "verdict": "bad", "title": name, "says": name, "figure": name}
        health = {"table_s": name, "checks": [check], "well": {name: name, "heat": name}}
        sent = another(house, felt.folder, name[:90], health)
        felt.journal.close()
        with house.database.transaction() as connection:
            release = connection.execute(
                "UPDATE head SET release = %s WHERE record_id = %s", (name[:100], sent.record_id)
            )
            assert release.rowcount == 1
        pages += (f"/tables/{sent.table.table_id}", *of_hand(sent.record_id))
    found = shown(house, pages)
    assert {page: code for page, (code, _) in found.items() if code != 200} == {}
    for page, (_, text) in found.items():
        for raw in () if page.startswith(("/metrics", "/reports.csv")) else RAW:  # those are no HTML
            if any(raw in name for name in NAMES):
                assert raw not in text, (page, raw)
        if page == "/events":
            assert len(re.findall("^event: view", text, re.MULTILINE)) == 1
        if page.startswith("/reports.csv"):
            assert not re.search(r"(^|,)\"?[=+@-]\w", text, re.MULTILINE), page
        assert "49{" not in text


NUMBERS = (
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    "1" + "0" * 400,
    "-1" + "0" * 4000,
    "1e308",
    "-1e308",
    "true",
    "[]",
)


@pytest.mark.parametrize("number", NUMBERS)
def test_no_figure_of_a_tables_health_takes_the_floor_away(house: House, tmp_path: Path, number: str) -> None:
    felt = Felt(tmp_path / "felt-3")
    felt.say(ev.PersonListed("Lin", Role.DEALER))
    keys = ("table_s", "row", "checks", "well")
    another(house, felt.folder, health=json.loads("{" + ",".join(f'"{key}":{number}' for key in keys) + "}"))
    felt.journal.close()
    found = shown(house)
    assert {page: code for page, (code, _) in found.items() if code != 200} == {}
    assert "Table 1" in found["/"][1]
    assert len(found["/"][1]) < 60_000


WALL_MS = (10**15, 2**62, 2**63 - 1, -1, -(10**15), -(2**63))


def test_no_clock_of_a_table_takes_the_pages_away(house: House, tmp_path: Path) -> None:
    def set_to(wall_ms: int) -> Clock:
        seconds = count(1)
        return lambda: Timestamp("boot", next(seconds) * 1_000_000_000, wall_ms, "synchronised")

    hands: tuple[str, ...] = ()
    for number, wall_ms in enumerate(WALL_MS):
        felt = Felt(tmp_path / str(number), clock=set_to(wall_ms))
        felt.say(ev.PersonListed("Lin", Role.DEALER), ev.LoggedOn("Lin", 3))
        played(felt)
        felt.say(ev.HandDisputed(1, "a dispute"))
        hands += of_hand(another(house, felt.folder, f"Table {number}, wrong").record_id)
        felt.journal.close()
    found = shown(house)
    assert {page: code for page, (code, _) in found.items() if code != 200} == {}
    assert "/record/1/review/1" in found["/hands"][1]
    assert {page: code for page, (code, _) in shown(house, hands).items() if code >= 500} == {}
    with house.database.transaction() as connection:
        later = connection.execute(
            "SELECT count(*) FROM hand WHERE opened_ms > extract(epoch FROM now()) * 1000"
        ).fetchone()
    assert later == (0,), "no hand stands first in every list until its date has come"


DEEP = 960
"""Brackets within one another that a door can still read and a page, which stands deeper in its own calls, cannot."""


def test_no_depth_of_what_a_table_says_takes_the_pages_away(house: House, tmp_path: Path) -> None:
    felt = Felt(tmp_path / "felt-3")
    felt.say(ev.PersonListed("Lin", Role.DEALER), ev.LoggedOn("Lin", 3))
    played(felt)
    felt.say(ev.HandDisputed(1, "a dispute"))
    another(house, felt.folder)
    felt.journal.close()
    deep = "[" * DEEP + "]" * DEEP
    with house.database.transaction() as connection:
        connection.execute("ALTER TABLE entry DISABLE TRIGGER USER")
        payload = f'{{"hand": 1, "reason": "a dispute", "more": {deep}}}'
        changed = connection.execute(
            "UPDATE entry SET payload = %s WHERE record_id = 3 AND type = %s", (payload, ev.HandDisputed.type)
        )
        assert changed.rowcount == 1
        connection.execute(f"""UPDATE head SET health = '{{"table_s": 0.5, "checks": {deep}}}'""")
    found = shown(house)
    assert {page: code for page, (code, _) in found.items() if code != 200} == {}
    assert "Table 3" in found["/disputes"][1]


def test_a_picture_is_sent_as_what_its_name_says_whatever_it_is(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = hashlib.sha256(b"<script>").hexdigest()
    names = dict.fromkeys(("000001/x.svg", "000001/x.html", "000001/x", "000001/x.jpg"), digest)
    monkeypatch.setattr(PitCaptures, "named", lambda *_: names)
    pit(house.app).files.keep(digest, b"<script>")
    client, found = house.logged_in(PitRole.AUDITOR), {}
    for name in names:
        with closing(client.get(f"/record/1/captures/{name}")) as answer:
            found[name[7:]] = answer.status_code, answer.mimetype
    assert {name: code for name, (code, _) in found.items()} == {
        "x.svg": 404,
        "x.html": 404,
        "x": 404,
        "x.jpg": 200,
    }
    assert found["x.jpg"][1] == "image/jpeg"
