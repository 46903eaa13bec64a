"""`feltwatch bench rules` measures what it says, and what all benchmarks share."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from firmware.bench import rules
from firmware.bench.harness import Result, fastest, markdown, spread
from firmware.cli.main import main


@pytest.mark.slow
@pytest.mark.exhaustive
def test_the_bench_gives_a_figure_for_every_task() -> None:
    result = CliRunner().invoke(main, ["bench", "rules", "--rounds", "1", "--hands", "20", "--json"])
    assert result.exit_code == 0, result.output
    figures = {one["task"]: one["figure"] for one in json.loads(result.stdout)["figures"]}
    assert all(figure > 0 for figure in figures.values())
    assert "settlement of 4 hands, every sentence said, µs" in figures
    assert "feltwatch settle, 20 JSON lines, hands/s" in figures


def test_without_json_the_bench_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_figures", lambda *_: iter([("strength, ns", 130.0)]))
    result = CliRunner().invoke(main, ["bench", "rules"])
    assert result.exit_code == 0
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in result.stdout.splitlines()]
    assert ["strength, ns", "130"] in cells


def test_a_report_says_where_its_figures_come_from() -> None:
    facts = {"a": 1.5, "ms": {"median": 2, "p95": 3}, "deep": {"b": {"c": 4}}, "rows": [{"d": 5, "e": 6}]}
    result = Result("Title", "Method.", facts, ["Note."])
    page = markdown(
        "rules", result, {"machine": "a machine", "load": "0.5 other processes", "measured": "today"}
    )
    assert page == (
        "# Title\n\nWritten by `feltwatch bench rules --report FILE` on today: a machine;\n0.5 other processes.\n\n"
        "Method.\n\n| what | figure |\n| --- | --- |\n| a | 1.5 |\n| ms | median 2, p95 3 |\n| deep, b | c 4 |\n\n"
        "| d | e |\n| --- | --- |\n| 5 | 6 |\n\nNote.\n"
    )


def test_a_spread_is_of_all_values_and_nothing_of_none() -> None:
    assert spread([float(n) for n in range(100, 0, -1)]) == {
        "median": 50.5,
        "p95": 95.0,
        "p99": 99.0,
        "longest": 100.0,
    }
    assert spread([]) == {}


def test_the_fastest_round_counts_and_the_first_run_does_not() -> None:
    clock = iter([0.0, 3.0, 3.0, 4.0])
    runs: list[int] = []
    assert fastest(2, lambda: runs.append(1), lambda: next(clock)) == 1.0
    assert len(runs) == 3
