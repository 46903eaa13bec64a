"""Photographs of real cards on the simulated table: read, asked about where unsure, settled, by the same code."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firmware.record.journal.journal import JournalReader
from firmware.runtime.config import NO_SCREEN, Config, TimesConfig
from firmware.simulation.live.players import Players
from firmware.simulation.live.run import LiveRun
from firmware.simulation.live.table import SimulatedTable
from firmware.table_client import TableLink
from vision.synthetic.decks import PhotoDeck

pytestmark = pytest.mark.slow


def test_a_hand_of_photographed_cards_is_read_and_settled(
    photographs: Path, check: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    config = Config(data=tmp_path, times=TimesConfig(turn_up=0.0, reading=60.0), screen=NO_SCREEN)
    deck = PhotoDeck.from_folder(photographs / "bidly_cards")
    with SimulatedTable(config, tmp_path, seed=7, deck=deck) as table:
        players = Players(7, table.house.rules)
        run = LiveRun(table, players, JournalReader(tmp_path), TableLink(config.socket), seed=7)
        watchdog = threading.Timer(120, run.stop)
        watchdog.start()
        try:
            (report,) = run.play(1)
        finally:
            watchdog.cancel()
    check(report)
    truth = [card for rows in report["truth"].values() for row in rows.values() for card in row.split()]
    read = [card for rows in report["reading"].values() for row in rows.values() for card in row.split()]
    assert len(truth) >= 39
    assert len(set(truth) & set(read)) >= 0.9 * len(truth)
