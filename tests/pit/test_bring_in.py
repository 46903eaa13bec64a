"""`feltwatch pit table add` at the server's console, with a table that joins meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from firmware.uplink.code import parse
from firmware.uplink.enrolment import UNLIKE_PIT
from firmware.uplink.settings import FILE
from pit.cli.main import command
from tests.pit.conftest import Pit
from tests.pit.test_enrolment import Box, boxes, pit
from tests.waiting import until

__all__ = ["boxes", "pit"]


class Console(threading.Thread):
    """Somebody at the console, who answers the question about the words."""

    def __init__(self, pit: Pit, answer: str, *words: str) -> None:
        super().__init__()
        self.arguments = ["table", *words, "--url", pit.database.url]
        self.answer = answer
        self.done: Result

    def run(self) -> None:
        """Type the command, wait for its end."""
        self.done = CliRunner().invoke(command, self.arguments, input=self.answer)


def code_of(pit: Pit) -> str:
    """Wait for the code, and return its text."""

    def newest() -> str:
        with pit.database.transaction() as connection:
            row = connection.execute(
                "SELECT code FROM enrolment ORDER BY enrolment_id DESC LIMIT 1"
            ).fetchone()
        return str(row[0]) if row and row[0] else ""

    until(lambda: bool(newest()))
    return newest()


@pytest.mark.parametrize("answer", ["y\n", "n\n"])
def test_the_console_shows_the_code_and_the_words_and_says_how_it_ended(
    pit: Pit, tmp_path: Path, boxes: Callable[..., Box], answer: str
) -> None:
    console = Console(pit, answer, "add", "Table 7", "--pit", f"127.0.0.1:{pit.address[1]}")
    console.start()
    code = code_of(pit)
    box = boxes(tmp_path, code, says="same")
    words = box.words()
    console.join()
    shown = console.done.output
    assert "▄" in shown or "█" in shown
    assert parse(code).letters in shown.replace(" ", ""), "to be typed where no camera reads it"
    assert f"Here they are: {words}" in shown
    if answer == "y\n":
        assert (console.done.exit_code, box.end()) == (0, "")
        assert "Table 7 is enrolled." in shown
        assert (tmp_path / "own" / FILE).exists()
    else:
        assert console.done.exit_code == 1
        assert box.end() == str(UNLIKE_PIT)
        assert "the words differ" in shown


def test_a_pit_whose_address_nobody_has_said_asks_for_it(pit: Pit) -> None:
    done = CliRunner().invoke(command, ["table", "add", "Table 7", "--url", pit.database.url])
    assert done.exit_code == 1
    assert "--pit HOST:PORT" in done.output
    unknown = ["table", "renew", "Table 9", "--pit", "10.0.0.1", "--url", pit.database.url]
    assert "There is no table Table 9" in CliRunner().invoke(command, unknown).output
