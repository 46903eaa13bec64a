"""The page of waves: what it takes, what it refuses in a sentence, and what the floor and Prometheus see of a wave."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dealer_ui.pit.people import PitRole
from firmware.pit.waves.plan import Phase
from firmware.pit.waves.stepper import Stepper
from firmware.pit.waves.store import Wave, newest
from tests.dealer_ui.pit.conftest import House

SHA, RELEASE = "22" * 32, "0.3.0-5f0c2a91"


@pytest.fixture
def offered(house: House) -> House:
    with house.database.transaction() as connection:
        for sha, kind in ((SHA, "release"), ("33" * 32, "deck")):
            connection.execute(
                "INSERT INTO offered_file VALUES (%s, %s, 'feltwatch', %s, 1000, '', 'Ines')",
                (sha, kind, RELEASE if kind == "release" else ""),
            )
    return house


def post(house: House, address: str, **fields: Any) -> tuple[int, str]:
    client = house.logged_in(PitRole.TECHNICIAN)
    answer = client.post(address, data={"token": house.token(), **fields})
    return answer.status_code, answer.text


def wave(house: House) -> Wave:
    with house.database.transaction() as connection:
        found = newest(connection)
    assert found is not None
    return found


GOOD: dict[str, Any] = {"sha256": SHA, "first": "Table 2", "share": "10"}


def test_a_wave_is_shown_before_it_begins_and_its_acts_are_recorded(offered: House) -> None:
    code, text = post(offered, "/waves/check", **GOOD)
    assert code == 200
    assert text.index("Table 2") < text.index("Table 1")
    with offered.database.transaction() as connection:
        assert newest(connection) is None, "a look begins nothing"
    assert post(offered, "/waves/start", **GOOD)[0] == 303
    assert (wave(offered).release, wave(offered).began_by) == (RELEASE, "Technician")
    assert post(offered, f"/waves/{wave(offered).wave_id}/stop")[0] == 303
    assert wave(offered).phase is Phase.STOPPED
    assert post(offered, f"/waves/{wave(offered).wave_id}/resume")[0] == 303
    assert wave(offered).phase is Phase.RUNNING
    done = [(who, what) for who, what, *_ in offered.acts() if what.startswith("waves.")]
    assert done == [("Technician", f"waves.{what}") for what in ("start", "stop", "resume")]
    page = offered.logged_in(PitRole.OWNER).get("/people").text
    assert f"began a wave <small>{RELEASE}</small>" in page


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"share": "0"}, 400),
        ({"share": "101"}, 400),
        ({"share": "ten"}, 400),
        ({"share": "²"}, 400),
        ({"share": "9" * 5000}, 400),
        ({"share": "0010000"}, 400),
        ({"share": "0010" + "0" * 5000}, 400),
        ({"sha256": "44" * 32}, 409),
        ({"sha256": "33" * 32}, 409),
        ({"sha256": "\0"}, 400),
        ({"first": "Table 9"}, 409),
        ({"first": "\0"}, 400),
        ({"first": "Table 1", "without": "Table 1"}, 409),
        ({"without": ["Table 1", "Table 2"], "first": ""}, 409),
        ({"without": "nobody"}, 409),
    ],
)
def test_what_no_form_sends_begins_no_wave(offered: House, changed: dict[str, Any], code: int) -> None:
    assert post(offered, "/waves/start", **GOOD | changed)[0] == code
    assert post(offered, "/waves/check", **GOOD | changed)[0] in (200, 400)
    with offered.database.transaction() as connection:
        assert newest(connection) is None


def test_what_is_not_so_any_more_is_refused_in_a_sentence(offered: House) -> None:
    assert post(offered, "/waves/start", **GOOD)[0] == 303
    number = wave(offered).wave_id
    code, text = post(offered, "/waves/start", **GOOD)
    assert (code, "A wave is under way. Stop it first." in text) == (409, True)
    assert post(offered, f"/waves/{number}/resume")[0] == 409
    assert post(offered, f"/waves/{number + 1}/stop")[0] == 409
    assert post(offered, f"/waves/{1 << 70}/stop")[0] == 404
    assert post(offered, f"/waves/{number}/stop")[0] == 303
    assert post(offered, f"/waves/{number}/stop")[0] == 409
    for without in ("99", "-1", "x", "²"):
        assert post(offered, f"/waves/{number}/resume", without=without)[0] in (303, 409)
        if wave(offered).phase is Phase.RUNNING:
            post(offered, f"/waves/{number}/stop")
    for without in (str(1 << 70), "9" * 5000):
        assert post(offered, f"/waves/{number}/resume", without=without)[0] == 400
    assert post(offered, f"/waves/{'9' * 5000}/stop")[0] == 404


def test_a_stopped_wave_is_on_the_floor_of_everybody_and_in_the_metrics(offered: House) -> None:
    def metrics() -> dict[str, float]:
        text = offered.logged_in(PitRole.OWNER).get("/metrics").text
        return {
            name: float(value) for name, value in re.findall(r"^feltwatch_pit_wave_(\w+) (\S+)$", text, re.M)
        }

    assert metrics() == {"running": 0, "stopped": 0, "tables": 0, "updated": 0}
    post(offered, "/waves/start", **GOOD)
    Stepper(offered.database).turn()
    assert metrics() == {"running": 1, "stopped": 0, "tables": 2, "updated": 0}
    floor = offered.logged_in(PitRole.FLOOR)
    assert "The wave was stopped" not in floor.get("/").text
    post(offered, f"/waves/{wave(offered).wave_id}/stop")
    Stepper(offered.database).turn()
    assert metrics() == {"running": 0, "stopped": 1, "tables": 2, "updated": 0}
    offered.app.extensions["feltwatch-pit"].live._hour_at = float("-inf")  # it is time to look again
    assert "The wave was stopped by Technician. 0 of 2 tables are updated." in floor.get("/").text


def test_names_that_could_be_markup_are_escaped(offered: House) -> None:
    with offered.database.transaction() as connection:
        connection.execute("UPDATE gaming_table SET name = '<b>T</b>' WHERE name = 'Table 2'")
        connection.execute("UPDATE offered_file SET version = '<i>r</i>' WHERE kind = 'release'")
    post(offered, "/waves/start", **GOOD | {"first": "<b>T</b>"})
    for address in ("/waves", "/waves/part"):
        text = offered.logged_in(PitRole.OWNER).get(address).text
        assert "&lt;b&gt;T&lt;/b&gt;" in text
        assert "<b>T</b>" not in text
        assert "<i>r</i>" not in text
