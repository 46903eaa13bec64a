"""Training: hands come to their settlement by themselves, the page asks before it tells, and no record is shared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from dealer_ui.server.app import Settings, create_app
from dealer_ui.training.quiz import questions
from dealer_ui.view.sibling_page import SiblingPage
from firmware.cli.main import main
from firmware.record.journal.journal import Journal, JournalReader
from firmware.rules import load_profile, profile_names
from firmware.simulation.live.training_table import TrainingTable
from firmware.table import Phase
from firmware.table import events as ev
from tests.dealer_ui.conftest import felt, lay
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.served import served
from tests.waiting import until

__all__ = ["felt", "lay"]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[TrainingTable]:
    with TrainingTable(tmp_path / "training", "washington-1-unit", seed=3) as running:
        yield running


def to_settled(table: TrainingTable, hand: int) -> None:
    def so() -> bool:
        state = table.process.state
        return state.hand == hand and state.phase is Phase.SETTLED

    until(so)


def next_hand(table: TrainingTable) -> None:
    state = table.process.state
    assert table.process.ask(json.dumps({"do": "archive", "hand": state.hand}).encode())["ok"]


def test_hands_come_to_their_settlement_by_themselves(table: TrainingTable) -> None:
    for hand in (1, 2, 3):
        to_settled(table, hand)
        assert table.process.state.faults == {}
        next_hand(table)
    rows = JournalReader(table.data, training=True).events_since(0)
    assert rows[0].type == "training_begun"
    assert [row.type for row in rows].count("settled") == 3


@pytest.mark.parametrize("name", profile_names())
def test_every_packaged_game_can_be_trained(tmp_path: Path, name: str) -> None:
    with TrainingTable(tmp_path, name, seed=1) as table:
        to_settled(table, 1)


def test_a_hand_that_the_trainee_voids_is_followed_by_the_next(table: TrainingTable) -> None:
    to_settled(table, 1)
    table.process.ask(b'{"do": "void", "reason": "to see what comes"}')
    to_settled(table, 2)


def test_a_tables_own_record_is_refused_for_training(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append([ev.TableStarted()], "table")
    before = JournalReader(tmp_path).events_since(0)
    answer = CliRunner().invoke(main, ["training", "--data", str(tmp_path), "--port", "1"])
    assert answer.exit_code == 1
    assert "training never touches one" in answer.output
    assert JournalReader(tmp_path).events_since(0) == before


def test_a_profile_that_is_none_is_said_before_anything_is_made(tmp_path: Path) -> None:
    answer = CliRunner().invoke(main, ["training", "--data", str(tmp_path / "new"), "--profile", "nobodys"])
    assert answer.exit_code == 2
    assert "nobodys" in answer.output
    assert not (tmp_path / "new").exists()


# ---- the page ----


@pytest.fixture
def client(table: TrainingTable) -> FlaskClient:
    app = create_app(Settings(table.data, table.socket, training=True))
    client = app.test_client()
    client.environ_base["HTTP_X_CSRF_TOKEN"] = app.config["CSRF_TOKEN"]
    return client


def seen(client: FlaskClient) -> Any:
    return client.get("/view.json").json


def told_count(table: TrainingTable) -> int:
    return len(questions(table.process.state, load_profile("washington-1-unit")))


def ask(client: FlaskClient, do: str, key: str, answer: str = "") -> Any:
    return client.post("/quiz", json={"do": do, "key": key, "answer": answer})


def test_the_settlement_is_told_once_every_question_is_answered(
    client: FlaskClient, table: TrainingTable
) -> None:
    to_settled(table, 1)
    asked = 0
    while (told := seen(client))["quiz"]:
        assert told["mode"] == "quiz"
        assert told["payments"] == []
        key = told["quiz"]["key"]
        assert ask(client, "answer", key, "0").status_code == 200
        assert seen(client)["quiz"]["verdict"] is not None
        assert ask(client, "go_on", key).status_code == 200
        asked += 1
    assert asked == told_count(table)
    assert told["payments"]


def test_a_question_that_is_over_takes_no_answer(client: FlaskClient, table: TrainingTable) -> None:
    to_settled(table, 1)
    assert ask(client, "answer", "nothing", "1").status_code == 409
    key = seen(client)["quiz"]["key"]
    assert ask(client, "skip", key).status_code == 200
    assert ask(client, "answer", key, "1").status_code == 409
    assert ask(client, "burn", key).status_code == 400
    assert client.post("/quiz", data=b"[" * 10_000, content_type="application/json").status_code == 400


def test_every_page_says_that_it_is_no_game(client: FlaskClient, table: TrainingTable) -> None:
    to_settled(table, 1)
    for path in ("/", "/profiles", "/profiles/traditional", "/profiles/traditional/edit", "/pin"):
        assert "This is not a game." in client.get(path).text, path


def test_no_page_about_past_hands_tells_what_is_asked(client: FlaskClient, table: TrainingTable) -> None:
    to_settled(table, 1)
    for path in ("/review", "/review/1", "/review/1/again", "/report", "/set-up/people"):
        assert client.get(path).status_code == 404, path


def test_the_tables_own_page_knows_of_no_training(felt: Felt) -> None:
    client = create_app(Settings(felt.folder, felt.folder / "table.sock")).test_client()
    felt.to_settled()
    assert "not a game" not in client.get("/").text
    assert client.post("/quiz", json={}).status_code == 404


def test_a_page_that_may_reach_no_port_sees_training_by_its_socket(table: TrainingTable) -> None:
    closed = 1
    there, elsewhere = (
        SiblingPage(closed, training=True, socket=table.socket),
        SiblingPage(closed, training=True),
    )
    for one in (there, elsewhere):
        one.update()
    assert [title for title, _ in there.links()] == ["Training"]
    assert elsewhere.links() == ()


def test_a_page_leads_to_the_other_only_while_that_answers(table: TrainingTable, felt: Felt) -> None:
    training = create_app(Settings(table.data, table.socket, training=True))
    with served(training) as port:
        found, wrong = SiblingPage(port, training=True), SiblingPage(port, training=False)
        for one in (found, wrong):
            one.update()
        assert found.links()[0][0] == "Training"
        assert wrong.links() == ()
        own = create_app(Settings(felt.folder, felt.folder / "table.sock", sibling_port=port))
        own_client = own.test_client()
        link = f'href="http://localhost:{port}/"'
        until(lambda: link in own_client.get("/").text)
    found.update()
    assert found.links() == ()
