"""The page of the table's health, what machines are told of it, and what Prometheus counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from dealer_ui.server.app import Settings, create_app
from dealer_ui.web.services import services
from firmware.messages import Message
from firmware.table import events as ev
from tests.dealer_ui.felt import PLAYERS, Felt

WELL: dict[str, Any] = {"free_mb": 20_000, "memory_mb": 900, "celsius": 51.0, "readers": 5, "readers_ok": 5}


def page_of(felt: Felt) -> Flask:
    return create_app(Settings(felt.folder, felt.folder / "table.sock"))


def told(app: Flask, path: str) -> tuple[int, Any]:
    response = app.test_client().get(path)
    return response.status_code, response.get_json()


def test_the_page_names_what_to_put_right_first(felt: Felt) -> None:
    felt.health = {**WELL, "celsius": 84.0, "free_mb": 500, "buttons": True}
    with felt.answering():
        html = page_of(felt).test_client().get("/health").get_data(as_text=True)
    places = [
        html.index(words) for words in ("84 °C", "500 MB", "900 MB", "Nothing says how this stands here.")
    ]
    assert places == sorted(places)
    assert "<img" not in html


def test_how_far_the_pit_has_heard_is_shown_in_the_pages_language_and_nothing_without_a_pit(
    felt: Felt,
) -> None:
    why = Message("The pit cannot be reached (%(why)s).", why="Connection refused").to_json()
    silent = {"have": 4711, "silent_s": 750.0, "trouble": why}
    with felt.answering():
        felt.health = WELL
        assert "The pit" not in page_of(felt).test_client().get("/health").get_data(as_text=True)
        felt.health = {**WELL, "pit": silent}
        html = page_of(felt).test_client().get("/health").get_data(as_text=True)
        assert "not heard this table for 12 min. The pit cannot be reached (Connection refused)." in html
        felt.say(ev.HouseSet("a Spanish house", language="es"))
        html = page_of(felt).test_client().get("/health").get_data(as_text=True)
        assert "Hace 12 min que" in html
        assert "No se puede conectar con el servidor de la sala (Connection refused)." in html


def test_another_record_in_the_place_of_the_one_that_the_table_writes_is_never_well(
    felt: Felt, tmp_path: Path
) -> None:
    """Its rows follow one another and its witness names them: only the table knows that they are not its own."""
    felt.deal()
    other = Felt(tmp_path / "other")
    other.to_settled()
    seq, digest = other.journal.head
    felt.heartbeat = {"seq": seq, "hash": digest}
    other.journal.close()
    with felt.answering():
        client = page_of(felt).test_client()
        html = client.get("/health").get_data(as_text=True)
        _, whole = told(client.application, "/healthz?checks")
    assert "rows follow one another" not in html
    assert "The record does not hold: " in html
    assert whole["checks"]["chain"] == "bad"


def test_a_table_that_does_not_answer_is_the_first_thing_to_put_right(felt: Felt) -> None:
    felt.say(ev.DeviceFault("puck", "The cable is out."))
    html = page_of(felt).test_client().get("/health").get_data(as_text=True)
    assert "The table process does not answer." in html
    assert "The cable is out." not in html, "said by a process that is gone"


def test_machines_are_told_every_verdict_where_they_ask_for_them(felt: Felt) -> None:
    felt.health = WELL
    with felt.answering():
        status, quick = told(page_of(felt), "/healthz")
        assert (status, "checks" in quick) == (200, False)
        status, whole = told(page_of(felt), "/healthz?checks")
        assert (status, whole["ok"], whole["checks"]["heat"]) == (200, True, "ok")
        felt.health = {**WELL, "celsius": 90.0}
        status, whole = told(page_of(felt), "/healthz?checks")
        assert (status, whole["ok"], whole["checks"]["heat"]) == (503, False, "bad")
        assert told(page_of(felt), "/healthz")[0] == 200, "the installer asks whether it is there"


def metrics(app: Flask) -> dict[tuple[str, str], float]:
    text = app.test_client().get("/metrics").get_data(as_text=True)
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_prometheus_counts_what_happens_and_learns_no_name_and_no_card(felt: Felt) -> None:
    felt.health = WELL
    app = page_of(felt)
    with felt.answering():
        before = metrics(app)
        felt.to_setting()
        felt.to_reading()
        felt.read(unsure={(1, "front", 0): ("Qh", "Qs")})
        felt.say(ev.DeviceFault("puck", "The cable is out."))
        after = metrics(app)
        text = app.test_client().get("/metrics").get_data(as_text=True)
    assert before["feltwatch_cards_read_total", "yes"] == 0
    assert after["feltwatch_cards_read_total", "yes"] == 51
    assert after["feltwatch_cards_read_total", "no"] == 1
    assert after["feltwatch_device_faults_total", "puck"] == 1
    assert after["feltwatch_events_total", "reading_taken"] == 1
    assert (after["feltwatch_table_up", ""], after["feltwatch_hand", ""]) == (1, 1)
    assert after["feltwatch_chain_head", ""] == felt.seq
    assert after["feltwatch_disk_free_bytes", ""] == 20e9
    assert after["feltwatch_check", "puck"] == 3
    for secret in (*PLAYERS.values(), "Qh", "Qs"):
        assert secret not in text


def test_a_reading_counts_with_its_last_frames_stages_and_not_with_the_whole_look_beside_them(
    felt: Felt,
) -> None:
    felt.to_setting()
    felt.to_reading()
    app = page_of(felt)
    metrics(app)
    ms: dict[str, Any] = {
        "felt": 20,
        "network": 30,
        "frames": 500,
        "all_frames": 90,
        "longest_frame": 50,
        "images": 40,
    }
    felt.say(ev.ReadingTaken((), ms=ms))
    assert metrics(app)["feltwatch_reading_seconds_sum", ""] == pytest.approx(0.05)


def test_a_settlement_is_timed_from_its_reading(felt: Felt) -> None:
    app = page_of(felt)
    metrics(app)
    felt.to_settled()
    assert metrics(app)["feltwatch_settle_seconds_count", ""] == 1


def test_metrics_are_for_this_machine_only(felt: Felt) -> None:
    client = page_of(felt).test_client()
    assert client.get("/metrics", environ_base={"REMOTE_ADDR": "192.168.1.7"}).status_code == 403


def test_health_is_told_even_where_the_record_cannot_be_read(felt: Felt) -> None:
    felt.journal.close()  # or its log next to it would still be read
    (felt.folder / "journal.sqlite").write_bytes(b"no database at all" * 400)
    app = page_of(felt)
    page = app.test_client().get("/health")
    assert (page.status_code, "The record cannot be read." in page.text) == (200, True)
    status, whole = told(app, "/healthz?checks")
    assert (status, whole["record"], whole["checks"]["chain"]) == (503, False, "bad")
    counted = metrics(app)
    assert counted["feltwatch_check", "chain"] == 3
    assert ("feltwatch_chain_head", "") not in counted


LIMIT: dict[str, Any] = {
    "limit_s": 6.0,
    "floor_s": 5.0,
    "ceiling_s": 60.0,
    "usual_s": 1.2,
    "longest_s": 1.5,
    "recent": 20,
    "timeouts": 0,
}


def test_limits_are_shown_with_what_they_follow_from_and_counted_for_prometheus(felt: Felt) -> None:
    felt.health = {
        **WELL,
        "limits": {"reading": LIMIT, "reader_start": {**LIMIT, "usual_s": None, "recent": 0}},
    }
    app = page_of(felt)
    with felt.answering():
        html = app.test_client().get("/health").get_data(as_text=True)
        counted = metrics(app)
    assert "Usual: 1.2 s. Limit: 6 s (floor 5, ceiling 60)." in html
    assert "(floor 3, ceiling 30)" in html, "the page's own for the table's answer"
    assert counted["feltwatch_limit_seconds", "reading"] == 6
    assert counted["feltwatch_limit_ceiling_seconds", "answer"] == 30
    assert counted["feltwatch_work_usual_seconds", "reading"] == 1.2
    assert ("feltwatch_work_usual_seconds", "reader_start") not in counted
    assert counted["feltwatch_work_timeouts", "answer"] == 0


def test_a_table_that_did_not_answer_in_time_is_given_longer_and_that_is_told(felt: Felt) -> None:
    felt.health = WELL
    app = create_app(
        Settings(felt.folder, felt.folder / "table.sock", answer_floor_s=2.0, answer_ceiling_s=8.0)
    )
    services(app).link.limit.timed_out(after=2.0)
    with felt.answering():
        html = app.test_client().get("/health").get_data(as_text=True)
    assert "It is now 4 s (floor 2, ceiling 8)." in html
