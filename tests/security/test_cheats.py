"""The cheat's bench and the book say the same (tests/campaigns/security/cheats)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.campaigns.security.cheats.bench import played
from tests.campaigns.security.cheats.registry import CHEATS
from tests.campaigns.security.cheats.report import rows
from tests.campaigns.security.cheats.stage import Stage, stage

BOOK: Final = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
SHORT: Final = ("swap-before-payment", "printed-card", "foreign-tag", "close-unpaid", "dispute-edited")
"""Played in `make test`; the others in `make test-all`."""


@pytest.fixture(scope="module")
def made() -> Iterator[Stage]:
    with stage() as one:
        yield one


def test_the_books_table_has_every_cheat_and_no_other() -> None:
    told = rows(BOOK)
    assert len(told) >= 20
    assert {name: row[0] for name, row in told.items()} == {name: one.said for name, one in CHEATS.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name if name in SHORT else pytest.param(name, marks=pytest.mark.exhaustive) for name in CHEATS],
)
def test_a_cheat_ends_as_the_book_says(made: Stage, name: str) -> None:
    told = rows(BOOK)[name][1]
    if told is None:
        pytest.skip(
            "the book does not say yet how it ends: python -m tests.campaigns.security.cheats --write docs/security.md"
        )
    assert played(made, name).verdict == told


def test_a_cheat_that_the_book_does_not_know_is_found_out() -> None:
    assert rows(BOOK.replace("`foreign-tag`", "`no-such-tag`")).keys() != CHEATS.keys()
