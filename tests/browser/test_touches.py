"""What a dealer does often takes few touches, and the book says how many."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.touches import PAGE, TASKS, Task, counted, table, told

pytestmark = pytest.mark.browser


@pytest.mark.sampled
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.title)
def test_it_takes_as_few_touches_as_the_book_says(chromium: Browser, tmp_path: Path, task: Task) -> None:
    count = counted(chromium, tmp_path / "felt", task)
    assert count <= task.limit
    assert count == told()[task.title]


def test_the_books_page_names_every_task() -> None:
    assert set(told()) == {task.title for task in TASKS}
    assert PAGE.read_text(encoding="utf-8") == table(told())
