"""A configured game whose options contradict each other: the table starts and shows its past, and opens no hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from dealer_ui.view.build import view
from firmware.record.journal.journal import Journal
from firmware.rules import load_profile
from firmware.runtime.config import Config, load_config
from firmware.runtime.errors import ConfigError
from firmware.runtime.house_config import house_rules, prepare_house
from tests.firmware.running_table import Table

FILE = """
[profile]
name = "ours"
title = "Our game"
extends = "california-face-up"
[deal]
kind = "closed"
"""


@pytest.mark.parametrize("as_file", [True, False])
def test_a_game_that_contradicts_itself_starts_opens_no_hand_and_says_why(
    config: Config, as_file: bool
) -> None:
    file = config.data / "ours.toml"
    file.write_text(FILE, encoding="utf-8")
    options: dict[str, object] = {"profile": "california-face-up", "options": {"deal.kind": "closed"}}
    config = config.model_copy(update={"profile": str(file)} if as_file else options)
    with pytest.raises(ConfigError, match="13 cards at once"):
        house_rules(config)
    table = Table(config)
    try:
        state = table.until(lambda state: "rules" in state.faults)
        screen = view(0, state, table.process.house.rules)
        assert screen.alert
        assert screen.alert.title == "The rules of this game contradict each other"
        refusals = [table.ask(line)["error"] for line in ('{"do":"next"}', '{"do":"open_hand"}')]
        for said in (*refusals, *screen.notices):
            assert "No new hand opens" in said
            assert "13 cards at once" in said
            assert "Put another game in force" in said
        assert screen.notices
        table.do(
            '{"do":"list_person","person":"Ada","role":"technician","new_pin":"482915"}',
            '{"do":"set_house","reason":"another game","profile":"traditional","options":{},"by":"Ada",'
            '"pin":"482915"}',
        )
        assert view(0, table.until(lambda state: not state.faults), table.process.house.rules).alert is None
        assert table.ask('{"do":"next"}').get("error") != refusals[0]
    finally:
        table.stop()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (FILE.replace('"ours"', '"traditional"'), "traditional is the name of a packaged profile"),
        (FILE.replace('"closed"', '"open"'), "allowed"),
    ],
)
def test_a_game_that_is_wrong_otherwise_does_not_start(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "ours.toml").write_text(text, encoding="utf-8")
    (tmp_path / "house.toml").write_text(f'profile = "{tmp_path}/ours.toml"\n', encoding="utf-8")
    with Journal(tmp_path / "data") as journal, pytest.raises(ConfigError, match=why):
        prepare_house(load_config(tmp_path / "house.toml"), journal)


def test_a_sound_game_is_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "house.toml").write_text('profile = "traditional"\n', encoding="utf-8")
    with Journal(tmp_path / "data") as journal:
        assert prepare_house(load_config(tmp_path / "house.toml"), journal).rules == load_profile(
            "traditional"
        )
