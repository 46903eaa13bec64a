"""The page of releases: what it takes, what it refuses in a sentence, what the floor and Prometheus see of a stop."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from firmware.messages import Message
from pit.channels.stepper import Stepper
from pit.channels.store import Channel, Name, history, read_channels, stop
from pit.pages.people import PitRole
from tests.pit.pages.conftest import House

SHA, RELEASE = "22" * 32, "0.3.0-5f0c2a91"
DECK = "33" * 32


@pytest.fixture
def offered(house: House) -> House:
    with house.database.transaction() as connection:
        for sha, kind in ((SHA, "release"), (DECK, "deck")):
            connection.execute(
                "INSERT INTO offered_file VALUES (%s, %s, 'feltwatch', %s, 1000, 'Ines')",
                (sha, kind, RELEASE if kind == "release" else ""),
            )
    return house


def post(house: House, address: str, **fields: Any) -> tuple[int, str]:
    client = house.logged_in(PitRole.TECHNICIAN)
    answer = client.post(f"/channels/{address}", data={"token": house.token(), **fields})
    return answer.status_code, answer.text


def channels(house: House) -> Mapping[Name, Channel]:
    with house.database.transaction() as connection:
        return read_channels(connection)


def begun(house: House) -> None:
    """Table 2 is first, and has the release; its table has failed."""
    assert post(house, "table", table="Table 2", to="first")[0] == 303
    assert post(house, "move/first", sha256=SHA)[0] == 303
    Stepper(house.database).turn()


def stopped(house: House) -> None:
    begun(house)
    with house.database.transaction() as connection:
        connection.execute("UPDATE channel_table SET mark = 'silent'")
        stop(connection, SHA, RELEASE, Message("%(name)s: %(what)s", name="Table 2", what="not heard of"))


def test_what_is_decided_on_the_page_is_done_recorded_and_in_the_history(offered: House) -> None:
    stopped(offered)
    page = offered.logged_in(PitRole.OWNER).get("/channels").text
    assert "was stopped: Table 2: not heard of" in page
    assert "Look whether the table and its network are on." in page
    assert post(offered, f"{SHA}/again", without="Table 2")[0] == 303
    assert channels(offered)[Name.FIRST].tables[0].is_left_out
    assert post(offered, f"{SHA}/withdraw")[0] == 303
    assert post(offered, "tenth")[0] == 303
    assert [one.name for one in channels(offered)[Name.TENTH].tables] == ["Table 1"]
    done = [(who, what) for who, what, *_ in offered.acts() if what.startswith("channels.")]
    names = ("put", "move", "again", "withdraw", "fill")
    assert done == [("Technician", f"channels.{name}") for name in names]
    with offered.database.transaction() as connection:
        people = [by for _, by, _ in history(connection)]
    assert people == ["Technician", "Technician", "Technician", "", "Technician", "Technician"]
    page = offered.logged_in(PitRole.OWNER).get("/channels").text
    assert f"{RELEASE} goes on without: Table 2" in page


def test_what_no_form_sends_moves_nothing(offered: House) -> None:
    for address, fields, code in (
        ("move/first", {"sha256": "44" * 32}, 409),
        ("move/first", {"sha256": DECK}, 409),
        ("move/first", {"sha256": "\0"}, 400),
        ("move/first", {}, 400),
        ("move/second", {"sha256": SHA}, 400),
        ("move/tenth", {"sha256": SHA}, 409),
        ("move/first", {"sha256": SHA}, 409),  # no table is first
        ("table", {"table": "Table 9", "to": "first"}, 409),
        ("table", {"table": "\0", "to": "first"}, 409),
        ("table", {"table": "Table 1", "to": "FIRST"}, 400),
        ("table", {"table": "Table 1"}, 400),
        (f"{SHA}/again", {}, 409),
        (f"{SHA}/withdraw", {}, 409),
        ("%00/again", {}, 409),
        (f"{'9' * 5000}/withdraw", {}, 409),
    ):
        assert post(offered, address, **fields)[0] == code, (address, fields)
        with offered.database.transaction() as connection:
            assert history(connection) == [], (address, fields)


def test_what_is_not_so_any_more_is_refused_in_a_sentence(offered: House) -> None:
    begun(offered)
    for address, fields, says in (
        ("move/first", {"sha256": SHA}, "in this channel already"),
        ("move/tenth", {"sha256": SHA}, "Not updated yet: Table 2"),
        (f"{SHA}/again", {}, "not stopped any more"),
        ("tenth", {}, ""),
        ("tenth", {}, "A tenth of the tables"),
    ):
        code, text = post(offered, address, **fields)
        assert code == (409 if says else 303)
        assert says in text
    assert "disabled" in offered.logged_in(PitRole.OWNER).get("/channels/part").text, "it says why"


def test_a_stopped_release_is_on_the_floor_of_everybody_and_in_the_metrics(offered: House) -> None:
    def metrics(channel: str) -> dict[str, float]:
        text = offered.logged_in(PitRole.OWNER).get("/metrics").text
        line = rf'^feltwatch_pit_channel_(\w+){{channel="{channel}"}} (\S+)$'
        return {name: float(value) for name, value in re.findall(line, text, re.M)}

    assert metrics("rest") == {"release": 0, "stopped": 0, "tables": 2, "updated": 0}
    begun(offered)
    assert metrics("first") == {"release": 1, "stopped": 0, "tables": 1, "updated": 0}
    floor = offered.logged_in(PitRole.FLOOR)
    assert "was stopped" not in floor.get("/").text
    with offered.database.transaction() as connection:
        stop(connection, SHA, RELEASE, Message("%(name)s: %(what)s", name="Table 2", what="not heard of"))
    assert metrics("first") == {"release": 1, "stopped": 1, "tables": 1, "updated": 0}
    assert metrics("rest")["stopped"] == 0
    offered.app.extensions["feltwatch-pit"].live._hour_at = float("-inf")  # it is time to look again
    assert f"{RELEASE} was stopped: Table 2: not heard of" in floor.get("/").text


def test_names_that_could_be_markup_are_escaped(offered: House) -> None:
    with offered.database.transaction() as connection:
        connection.execute("UPDATE gaming_table SET name = '<b>T</b>' WHERE name = 'Table 2'")
        connection.execute("UPDATE offered_file SET version = '<i>r</i>' WHERE kind = 'release'")
    post(offered, "table", table="<b>T</b>", to="first")
    post(offered, "move/first", sha256=SHA)
    for address in ("/channels", "/channels/part"):
        text = offered.logged_in(PitRole.OWNER).get(address).text
        assert "&lt;b&gt;T&lt;/b&gt;" in text
        assert "<b>T</b>" not in text
        assert "<i>r</i>" not in text
