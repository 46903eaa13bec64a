"""The kiosk as it runs at the table: its picture, and what becomes of it where a part of it hangs or dies.

Xvfb, cage nested in it, Chromium with the product's own flags and its own sandbox, as a user who is not root; before
it the demo, or a table in a known state.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from dealer_ui.server.app import Settings, create_app
from firmware.record_folder import SOCKET
from tests.browser.golden import different, load
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.served import served
from tests.kiosk.display import SIZE, Display, why_not
from tests.kiosk.supervised import PAGE_BGR, Kiosk, demo, is_full, supervised
from tests.waiting import until
from vision.base.arrays import Image

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(why_not()), reason=why_not())]

GOLDEN = Path(__file__).parents[1] / "browser/golden/en/desk/settled-with-a-foul.png"
MAX_DIFFERENCE = 0.02
"""The share of a golden picture that may differ: letters are drawn with other settings than for those."""
MORE = (1046, 675)
"""Where that state has its button *More*, which opens a dialog."""
UPSIDE_DOWN = "[screen]\nturned_deg = 180\n"
RENDERER = "--type=renderer"
BROWSER = "--kiosk --ozone-platform=wayland"


@pytest.fixture(scope="module")
def display(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Display]:
    with Display(tmp_path_factory.mktemp("display")) as made:
        yield made


@pytest.fixture(scope="module")
def running(display: Display, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kiosk]:
    with demo(tmp_path_factory.mktemp("demo")) as page, supervised(display, page) as kiosk:
        yield kiosk


@pytest.fixture
def kiosk(running: Kiosk) -> Kiosk:
    """The kiosk before the demo, its page full."""
    running.wait_for_picture()
    return running


def small(picture: Image) -> Image:
    import cv2

    share = 400 / picture.shape[1]
    return cv2.resize(picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA).astype(np.uint8)


def test_a_picture_that_is_not_full_is_told_from_one_that_is(kiosk: Kiosk) -> None:
    """What the other tests rest on."""
    full = kiosk.wait_for_picture()
    assert full.shape == (SIZE[1], SIZE[0], 3)
    assert not is_full(np.zeros_like(full)), "nothing is there"
    assert not is_full(np.full_like(full, 255)), "a blank page"
    assert not is_full(np.full_like(full, PAGE_BGR)), "an empty page"
    cut = full.copy()
    cut[:, 1024:] = 0
    assert not is_full(cut), "the page is smaller than its screen"
    assert not is_full(full, (1024, SIZE[1])), "the page is larger than its screen"
    barred = full.copy()
    barred[:40] = (60, 54, 53)
    assert not is_full(barred), "a bar lies on it"


def test_a_known_state_of_the_table_looks_as_it_is_meant_to_upside_down_and_a_click_reaches_it(
    display: Display, tmp_path: Path
) -> None:
    """Full, in English, and nothing else: no first-run dialog, no bar, no bubble, no scroll bar.

    The screen hangs upside down and the configuration says so: the picture is turned, and what is touched with it.
    """
    felt = Felt(tmp_path / "felt")
    felt.to_settled()
    app = create_app(Settings(felt.folder, felt.folder / SOCKET))
    with (
        closing(felt.journal),
        felt.answering(),
        served(app) as port,
        Display(tmp_path) as own,
        supervised(own, f"http://127.0.0.1:{port}/?kiosk", UPSIDE_DOWN) as kiosk,
    ):
        kiosk.wait_for_picture(upside_down=True)
        until(lambda: different(small(own.picture()[::-1, ::-1]), load(GOLDEN)) < MAX_DIFFERENCE)
        own.click(*(whole - at for whole, at in zip(SIZE, MORE, strict=True)))
        until(lambda: different(small(own.picture()[::-1, ::-1]), load(GOLDEN)) > 5 * MAX_DIFFERENCE)


@pytest.mark.parametrize(
    ("number", "word", "why"),
    [
        pytest.param(signal.SIGSTOP, RENDERER, "it had painted nothing new for", id="page-frozen"),
        pytest.param(
            signal.SIGKILL,
            RENDERER,
            "it had painted nothing new for",
            id="page-crashed",
            marks=pytest.mark.sampled,
        ),
        pytest.param(signal.SIGKILL, BROWSER, "The browser ended: ", id="browser-killed"),
        pytest.param(signal.SIGKILL, "cage -d -s", "The browser ended: ", id="compositor-killed"),
        pytest.param(
            signal.SIGSTOP,
            "--type=gpu-process",
            "it had painted nothing new for",
            id="drawing-frozen",
            marks=pytest.mark.sampled,
        ),
        pytest.param(
            signal.SIGSTOP,
            BROWSER,
            "it had painted nothing new for",
            id="browser-frozen",
            marks=pytest.mark.sampled,
        ),
        pytest.param(
            signal.SIGSTOP,
            "cage -d -s",
            "it had painted nothing new for",
            id="compositor-frozen",
            marks=pytest.mark.exhaustive,  # the dearest of them: the display's server spins meanwhile
        ),
    ],
)
def test_whatever_hangs_or_dies_the_page_comes_again_without_a_touch(
    kiosk: Kiosk, number: signal.Signals, word: str, why: str
) -> None:
    before, said = kiosk.starts, len(kiosk.log)
    old = kiosk.processes()
    kiosk.signal(number, word)
    kiosk.wait_for_start(before + 1)
    until(lambda: not set(old) & set(kiosk.processes()))
    kiosk.wait_for_picture()
    assert kiosk.starts == before + 1, kiosk.log
    assert any(why in line for line in kiosk.log[said:]), kiosk.log


def test_the_picture_follows_the_table_again_after_a_freeze(kiosk: Kiosk) -> None:
    before = kiosk.starts
    frozen = kiosk.wait_for_picture()
    kiosk.signal(signal.SIGSTOP, RENDERER)
    kiosk.wait_for_start(before + 1)
    until(lambda: not np.array_equal(kiosk.wait_for_picture(), frozen))


def test_a_screen_of_another_size_is_filled_and_so_is_the_one_before(kiosk: Kiosk) -> None:
    before = kiosk.starts
    kiosk.wait_for_picture((800, 480))
    kiosk.wait_for_picture(SIZE)
    assert kiosk.starts == before


def test_a_screen_that_was_off_shows_the_page_again(kiosk: Kiosk) -> None:
    window = kiosk.display.switch_off()
    until(lambda: not kiosk.display.picture().any())
    kiosk.display.switch_on(window)
    kiosk.wait_for_picture()


@pytest.mark.sampled
def test_a_screen_that_was_unplugged_shows_the_page_again(kiosk: Kiosk) -> None:
    before = kiosk.starts
    kiosk.display.pull()
    kiosk.wait_for_start(before + 2)
    kiosk.display.plug()
    kiosk.wait_for_picture()
