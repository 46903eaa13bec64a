"""The demo's /sim page: what can be ordered in the room, and that no other page has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from dealer_ui.server.app import Settings, create_app
from firmware.runtime.socket_server import CommandSocket
from firmware.simulation.room_page.page import add_to
from firmware.table_client import TableLink
from tests.firmware.simulation.sim_room import Things, things


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Things]:
    with things(tmp_path) as made:
        yield made


def order(here: Things, **what: Any) -> dict[str, Any]:
    return here.room.answer(json.dumps(what).encode())


def test_the_puck_is_moved_split_copied_and_taken_away(here: Things) -> None:
    assert order(here, do="puck", what="move", seat=3)["room"]["puck"]["dealer"] == [3]
    assert order(here, do="lay", disk="action", seat=5)["room"]["puck"]["action"] == [5]
    assert order(here, do="lay", disk="dealer", seat=1, copy=True)["room"]["puck"]["dealer"] == [1, 3]
    assert order(here, do="lay", disk="stranger", seat=2)["room"]["puck"]["strangers"] == [2]
    room = order(here, do="puck", what="lift")["room"]["puck"]
    assert (room["dealer"], room["action"], room["strangers"]) == ([], [], [])


def test_cables_are_pulled_and_plugged_in(here: Things) -> None:
    for pull, plug, part in (
        ({"do": "puck", "what": "unplug"}, {"do": "puck", "what": "replug"}, "puck"),
        ({"do": "camera", "what": "unplug"}, {"do": "camera", "what": "replug"}, "camera"),
        ({"do": "panel", "plugged": False}, {"do": "panel", "plugged": True}, "panel"),
    ):
        assert order(here, **pull)["room"][part]["plugged"] is False
        assert order(here, **plug)["room"][part]["plugged"] is True


def test_the_reader_is_silenced_hung_and_hurt(here: Things) -> None:
    assert order(here, do="puck", what="freeze")["room"]["puck"]["silent"]
    assert order(here, do="puck", what="stick")["room"]["puck"]["stuck"]
    room = order(here, do="puck", what="thaw")["room"]["puck"]
    assert not room["silent"]
    assert not room["stuck"]
    assert order(here, do="antenna", seat=3, ok=False)["room"]["puck"]["dead"] == [3]
    assert order(here, do="antenna", seat=3, ok=True)["room"]["puck"]["dead"] == []
    assert order(here, do="puck", what="babble")["ok"]


def test_buttons_are_down_while_a_finger_is_and_dead_without_a_cable(here: Things) -> None:
    assert order(here, do="push", button="next")["room"]["panel"]["down"] == ["next"]
    assert order(here, do="let_go", button="next")["room"]["panel"]["down"] == []
    order(here, do="push", button="confirm")
    assert order(here, do="panel", plugged=False)["room"]["panel"]["down"] == []
    assert order(here, do="push", button="confirm")["room"]["panel"]["down"] == []
    order(here, do="panel", plugged=True)
    assert order(here, do="press_two")["ok"]


def test_the_camera_and_its_light_are_spoiled_and_put_right(here: Things) -> None:
    for name, value in (("glare", 0.5), ("light", 0.3), ("bands", 1), ("late_s", 3.5)):
        assert order(here, do="knob", name=name, value=value)["room"]["camera"][name] == value
    assert order(here, do="drift", value=4)["room"]["camera"]["drift"] == 4
    assert order(here, do="camera", what="garbage")["room"]["camera"]["garbage"] is True
    assert order(here, do="camera", what="clear")["room"]["camera"]["garbage"] is False
    assert order(here, do="camera", what="freeze")["room"]["camera"]["frozen"] is True
    assert order(here, do="camera", what="thaw")["room"]["camera"]["frozen"] is False
    hangs = here.camera.spoil.hangs
    order(here, do="camera", what="hang")
    assert here.camera.spoil.hangs == hangs + 1


def test_the_mains_is_cut_and_restored(here: Things) -> None:
    assert order(here, do="mains", on=False)["room"]["panel"]["mains"] is False
    assert order(here, do="mains", on=True)["room"]["panel"]["mains"] is True


def test_cards_are_laid_by_a_person_only_while_the_dealer_rests(here: Things) -> None:
    refused = order(here, do="felt", what="turn_up")
    assert refused["error"].startswith("The simulated dealer plays")
    assert order(here, do="dealer", plays=False)["room"]["dealer"]["plays"] is False
    order(here, do="felt", what="turn_up")
    order(here, do="felt", what="clear")
    assert here.done == ["turn_up", "clear"]
    order(here, do="dealer", plays=True)
    assert not here.rests


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b"[]",
        b'{"do":"fly"}',
        b'{"do":["look"]}',
        b'{"do":"puck","what":"eat"}',
        b'{"do":"puck","what":"move","seat":6}',
        b'{"do":"puck","what":"move","seat":true}',
        b'{"do":"lay","disk":"frisbee","seat":1}',
        b'{"do":"push","button":"panic"}',
        b'{"do":"push"}',
        b'{"do":"camera","what":"paint"}',
        b'{"do":"knob","name":"glare","value":2}',
        b'{"do":"knob","name":"glare","value":"much"}',
        b'{"do":"knob","name":"plugged","value":0}',
        b'{"do":"drift","value":NaN}',
    ],
)
def test_what_nobody_can_do_is_refused_with_a_sentence(here: Things, line: bytes) -> None:
    before = here.room.standing()
    answer = here.room.answer(line)
    assert answer["ok"] is False
    assert answer["error"].endswith(".")
    assert here.room.standing() == before


# the page


@pytest.fixture
def client(here: Things, tmp_path: Path) -> Iterator[FlaskClient]:
    with closing(CommandSocket(tmp_path / "room.sock", here.room.answer)) as orders:
        orders.start()
        app = create_app(Settings(tmp_path, tmp_path / "table.sock"))
        add_to(app, TableLink(tmp_path / "room.sock"))
        yield app.test_client()


def token(client: FlaskClient) -> dict[str, str]:
    return {"X-CSRF-Token": client.application.config["CSRF_TOKEN"]}


def test_the_page_and_its_parts_are_there_and_fit_the_pages_policy(client: FlaskClient) -> None:
    page = client.get("/sim")
    assert page.status_code == 200
    assert b"The simulated room" in page.data
    assert b"<script>" not in page.data
    assert b"style=" not in page.data
    for name in ("sim.js", "sim.css"):
        with client.get(f"/sim/static/{name}") as asset:
            assert asset.status_code == 200
    assert client.get("/sim/static/../room.py").status_code == 404


def test_an_order_reaches_the_room_and_its_refusal_the_person(client: FlaskClient, here: Things) -> None:
    assert client.get("/sim/room.json").json["room"]["puck"]["plugged"]  # type: ignore[index]
    done = client.post("/sim/do", json={"do": "puck", "what": "move", "seat": 2}, headers=token(client))
    assert done.json["room"]["puck"]["dealer"] == [2]  # type: ignore[index]
    assert {seat for seat, _ in here.puck.standing.tags} == {2}
    refused = client.post("/sim/do", json={"do": "fly"}, headers=token(client))
    assert (refused.status_code, refused.json["ok"]) == (400, False)  # type: ignore[index]
    assert client.post("/sim/do", data="x", headers=token(client)).status_code == 400


def test_an_order_without_the_pages_token_does_nothing(client: FlaskClient, here: Things) -> None:
    assert client.post("/sim/do", json={"do": "puck", "what": "move", "seat": 2}).status_code == 403
    assert here.puck.standing.tags == frozenset()


def test_a_demo_that_has_ended_is_said(tmp_path: Path) -> None:
    app = create_app(Settings(tmp_path, tmp_path / "table.sock"))
    add_to(app, TableLink(tmp_path / "gone.sock"))
    answer = app.test_client().get("/sim/room.json", headers={"Accept": "application/json"})
    assert answer.status_code == 503
    assert "demo has ended" in answer.json["error"]  # type: ignore[index]


def test_the_boxs_own_page_has_no_simulated_room(tmp_path: Path) -> None:
    client = create_app(Settings(tmp_path, tmp_path / "table.sock")).test_client()
    for path in ("/sim", "/sim/room.json", "/sim/static/sim.js"):
        assert client.get(path).status_code == 404
    assert client.post("/sim/do", json={}, headers=token(client)).status_code == 404
    assert b"/sim" not in client.get("/").data
