"""The `feltwatch` command itself: names that are almost right, and Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable

import click
import pytest
from click.testing import CliRunner

from firmware.cli.main import INTERRUPTED, LazyGroup, main


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("settl", "settle"),
        ("bench tabel", "table"),
        ("hands expot", "export"),
        ("review certificate mak", "make"),
    ],
)
def test_a_command_that_is_misspelt_is_answered_with_the_one_that_was_meant(words: str, meant: str) -> None:
    refused = CliRunner().invoke(main, words.split())
    assert refused.exit_code == 2
    assert f"Did you mean '{meant}'" in refused.output


def test_a_command_that_resembles_none_is_answered_with_none() -> None:
    refused = CliRunner().invoke(main, ["xyzzy"])
    assert refused.exit_code == 2
    assert "Did you mean" not in refused.output


def _at_a_question() -> None:
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        raise click.Abort from None  # what click makes of it


def _at_work() -> None:
    raise KeyboardInterrupt


def _answered_with_no() -> None:
    click.confirm("Go on?", abort=True)


@pytest.mark.parametrize(
    ("ends", "status"), [(_at_work, INTERRUPTED), (_at_a_question, INTERRUPTED), (_answered_with_no, 1)]
)
def test_only_an_interrupted_command_ends_with_130(
    monkeypatch: pytest.MonkeyPatch, ends: Callable[[], None], status: int
) -> None:
    monkeypatch.setattr(LazyGroup, "get_command", lambda *_: click.command("ends")(ends))
    done = CliRunner().invoke(main, ["ends"], input="n\n")
    assert done.exit_code == status
    assert "Traceback" not in done.output
    assert ("Interrupted." in done.output) == (status == INTERRUPTED)
