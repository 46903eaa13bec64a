"""`feltwatch pit demo` in a real Chromium: what a viewer is shown, as they are told to look at it."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import listening_for_trouble
from tests.pit.postgres import Postgres
from tests.pit.test_demo import PROGRAM
from tests.waiting import DEADLINE, until

MAX_TOUCHES = 5


@dataclass
class Demo:
    """A demo that runs; `said` has what it printed for the viewer, by the seconds since its start."""

    process: subprocess.Popen[str]
    began: float = field(default_factory=time.monotonic)
    said: dict[str, float] = field(default_factory=dict)

    def listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said[line.strip()] = self.seconds()

    def seconds(self) -> float:
        return time.monotonic() - self.began

    def found(self, pattern: str) -> re.Match[str] | None:
        return next((found for line in list(self.said) if (found := re.search(pattern, line))), None)

    def since(self, pattern: str) -> float:
        found = self.found(pattern)
        assert found, self.said
        return self.seconds() - self.said[found.string]

    def answer(self, pattern: str) -> str:
        found = self.found(pattern)
        assert found, self.said
        return found[1]


@contextmanager
def running(url: str, *words: str) -> Iterator[Demo]:
    """Run the demo until the end of the block; it must end well."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "--from-url", url, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        demo = Demo(process)
        listening = threading.Thread(target=demo.listen)
        listening.start()
        try:
            until(lambda: demo.found("Ctrl-C ends the demo") or process.poll() is not None)
            yield demo
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait()
            listening.join()
    assert process.returncode == 0, demo.said


def log_in(page: Page, demo: Demo) -> None:
    page.goto(demo.answer(r"The floor page: (\S+)"))
    page.locator("[name=name]").fill("floor")
    page.locator("[name=passphrase]").fill(demo.answer(r"log in as floor: (\S+)"))
    page.locator("main button").click()
    page.wait_for_selector("body:not([data-notlive])")


def dispute_file(page: Page) -> tuple[Path, int]:
    """Go from the first tile to its dispute file; return the file, and how many touches it took."""
    page.locator("#now li").first.get_by_role("link").click()
    page.wait_for_url(re.compile("/review/1/dispute"))
    page.wait_for_selector("#pictures", state="detached")
    page.get_by_role("button", name="Make the dispute file").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Get the dispute file").click()
    return Path(download.value.path()), 3


def pictures_in(path: Path) -> list[tuple[int, ...]]:
    """Return the shapes of the pictures in a dispute file."""
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as file:
        names = [name for name in file.namelist() if name.endswith(".jpg")]
        found = [cv2.imdecode(np.frombuffer(file.read(name), np.uint8), cv2.IMREAD_COLOR) for name in names]
    return [picture.shape for picture in found if picture is not None]


@pytest.mark.browser
@pytest.mark.exhaustive
def test_the_demo_shows_the_dispute_first_loses_the_unplugged_table_and_turns_the_rewritten_one_red(
    postgres: Postgres, chromium: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    trouble: list[str] = []
    seconds: dict[str, float] = {}
    with running(postgres.url, "--unplug", "5", "--rewrite", "5", "--call", "20") as demo:
        context = chromium.new_context(viewport={"width": 1280, "height": 720})
        context.set_default_timeout(1000 * DEADLINE)
        page = context.new_page()
        with listening_for_trouble(page, trouble):
            log_in(page, demo)
            first = page.locator("#now li").first
            expect(first).to_contain_text("Dispute: hand 1", timeout=1000 * DEADLINE)
            expect(first).to_contain_text("Table 1")
            expect(page.locator(".tile")).to_have_count(6)
            seconds["from the start to the floor page with the dispute first"] = demo.seconds()

            red = page.locator("#now #tile-5 .tile.alarm")
            expect(red).to_contain_text("Record differs", timeout=1000 * DEADLINE)
            seconds["from the rewriting of a record to its red tile"] = demo.since("Table 5 is rewritten now")
            page.wait_for_selector("#tile-6 .tile.silent")
            seconds["from the unplugging of a table to a tile without green"] = demo.since(
                "Table 6 is unplugged now"
            )
            expect(page.locator("#tile-6 .tile")).not_to_have_class(re.compile("well"))
            expect(page.locator("#now li").first).to_contain_text("Table 1")  # it has waited longest
            gone = page.locator("#soon #tile-6")
            expect(gone).to_contain_text("Not heard of", timeout=1000 * DEADLINE)

            called = page.locator("#tile-2")
            expect(called).to_contain_text("The dealer calls the floor", timeout=1000 * DEADLINE)
            called.get_by_role("button", name="I go").click()
            expect(called).not_to_contain_text("The dealer calls the floor", timeout=1000 * DEADLINE)

            began = demo.seconds()
            path, touches = dispute_file(page)
            seconds["from the tile to the dispute file"] = demo.seconds() - began
        assert touches <= MAX_TOUCHES
        assert [shape[1] > 1000 for shape in pictures_in(path)] == [True]
        context.close()
    assert trouble == []
    with capsys.disabled():
        for what, took in seconds.items():
            sys.stdout.write(f"\n{took:6.1f} s {what}")
