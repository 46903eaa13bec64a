"""`feltwatch bench rules` measures what it says, next to the peers that are installed."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest
from click.testing import CliRunner

from firmware.bench import rules as rules_bench
from firmware.bench.harness import ratio, timed
from firmware.bench.rules import PEERS, Figure
from firmware.cli.main import main

# What peers do when they are imported is not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.mark.slow
@pytest.mark.exhaustive
def test_the_bench_gives_a_figure_for_every_task_and_ratios_beside_it() -> None:
    result = CliRunner().invoke(main, ["bench", "rules", "--rounds", "1", "--hands", "20", "--json"])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["missing"] == [peer for peer in PEERS if find_spec(peer) is None]
    figures = {(figure["task"], figure["who"]): figure for figure in answer["figures"]}
    assert all(figure["value"] > 0 for figure in figures.values())
    ours = figures["strength of 5 cards", "feltwatch"]
    for peer in set(PEERS) - set(answer["missing"]):
        theirs = figures["strength of 5 cards", peer]
        assert theirs["best_times_ours"] == theirs["value"] / ours["value"] == theirs["times_ours"]
    assert ("settlement of 4 hands", "feltwatch, every sentence said") in figures
    assert ("feltwatch settle, 20 JSON lines", "feltwatch") in figures


@pytest.mark.slow
@pytest.mark.exhaustive
def test_without_json_the_bench_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = [
        Figure("strength", "feltwatch", 130.0, "ns"),
        Figure("strength", "treys", 390.0, "ns", 3.0, 3.1),
    ]
    monkeypatch.setattr(rules_bench, "_figures", lambda *_: iter(figures))
    monkeypatch.setattr(rules_bench, "PEERS", ("treys_of_another_name",))
    result = CliRunner().invoke(main, ["bench", "rules"])
    assert result.exit_code == 0
    assert ["strength", "treys", "390 ns", "3.00", "3.10"] in [
        [cell.strip() for cell in line.strip("│").split("│")] for line in result.stdout.splitlines()
    ]
    assert "Not installed: treys_of_another_name." in result.stdout


def test_a_ratio_is_the_median_of_the_rounds_whatever_one_busy_moment_does() -> None:
    assert ratio([3.0, 30.0, 6.0], [1.0, 10.0, 0.5]) == 3.0


def test_contestants_take_turns_and_every_round_is_timed() -> None:
    turns: list[str] = []
    seconds = timed(2, {"a": lambda: turns.append("a"), "b": lambda: turns.append("b")})
    assert turns == ["a", "a", "b", "b", "a", "a", "b", "b"]
    assert {who: len(rounds) for who, rounds in seconds.items()} == {"a": 2, "b": 2}
