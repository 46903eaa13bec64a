"""`feltwatch kiosk`: the browser on the touchscreen, started again whenever its page is not painted any more."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import click

from dealer_ui.server.kiosk_keyboard import write_keyboard
from dealer_ui.server.kiosk_turn import compositor, turned_deg
from dealer_ui.server.kiosk_watch import START_S, Watch, ask
from firmware.command_options import FILE, FOLDER

if TYPE_CHECKING:
    from firmware.systemd import ServiceManager

log = logging.getLogger("kiosk")

PAGE: Final = "http://127.0.0.1:8013/?kiosk"
TRAINING: Final = "http://localhost:8014"
FAULTS: Final = Path("/run/feltwatch-fault")
LOOK_S: Final = 0.5
"""Seconds between two checks of the screen."""
GONE_WITHIN_S: Final = 2.0
"""Seconds that a browser has to end in good order, and then for the last of its processes to be gone."""
STEADY_S: Final = 10.0
"""Seconds that a browser must have lived for the next one to be started without a pause."""
LONGEST_PAUSE_S: Final = 10.0
"""The most seconds before the next start, however many browsers in succession did not last.

While no screen is plugged in, none lasts: it shows the page at most this long after it is plugged in.
"""
MAX_START_S: Final = 240.0
"""Seconds that a browser has to paint the first time. Each one that does not paint doubles the next one's."""

BROWSER: Final = (
    *("chromium", "--kiosk", "--ozone-platform=wayland", "--no-first-run", "--no-default-browser-check"),
    *(
        "--noerrdialogs",
        "--disable-session-crashed-bubble",
        "--disable-infobars",
        "--disable-component-update",
    ),
    *(
        "--disable-features=Translate,OverscrollHistoryNavigation",
        "--disable-pinch",
        "--password-store=basic",
    ),
    "--autoplay-policy=no-user-gesture-required",
)


def address_to_show(page: str, faults: Path) -> str:
    """Return what the screen shows: the first fault page in the folder `faults`; the page, if there is none."""
    return next((f"file://{fault}" for fault in sorted(faults.glob("*.html"))), page)


class Browser:
    """The compositor with the browser in it: one session of processes, begun together and ended together."""

    def __init__(self, home: Path, page: str, turned: int) -> None:
        """Start it. Raises OSError if nothing can be started.

        `home`: the folder of the user, for sockets and the profile; `turned`: how the screen hangs, in degrees.
        """
        profile = home / "chromium"
        for lock in profile.glob("Singleton*"):  # a browser that was killed leaves them
            lock.unlink(missing_ok=True)
        # ProtectHome= hides /run/user, so the compositor speaks through a folder of its own.
        environment = {**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), **write_keyboard(home)}
        self._process = subprocess.Popen(
            [*compositor(turned), *BROWSER, f"--user-data-dir={profile}", page],
            stdin=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )

    @property
    def ended(self) -> str:
        """How the compositor ended; "" while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}"

    def kill(self) -> None:
        """End all its processes at once."""
        self._signal(signal.SIGKILL)
        self._process.wait()
        _wait(lambda: not self._signal(0))  # the browser's processes end a little later than the compositor

    def end(self) -> None:
        """End it in good order; what does not end in time is killed."""
        self._signal(signal.SIGTERM)
        _wait(lambda: bool(self.ended))
        self.kill()

    def _signal(self, number: int) -> bool:
        """Send a signal to all its processes; False if there are none any more."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return False
        return True


def _wait(is_over: Callable[[], bool]) -> None:
    ends = time.monotonic() + GONE_WITHIN_S
    while not is_over() and time.monotonic() < ends:
        time.sleep(0.02)


class Kiosk:
    """Keeps a browser on the screen that shows what is true, until SIGTERM."""

    def __init__(
        self,
        home: Path,
        page: str,
        training: str,
        faults: Path,
        manager: ServiceManager,
        config: Path | None = None,
    ) -> None:
        """Nothing runs yet.

        `page`, `training`: addresses; `faults`: the folder of the pages that say what stays down; `config`: the
        house's.
        """
        self._home = home
        self._config = config
        self._page = page
        self._training = training
        self._faults = faults
        self._manager = manager
        self._short = 0
        """Browsers in succession that did not last."""
        self._start_s = START_S
        self._stopping = False
        self._is_answering = True

    def run(self) -> None:
        """Show the page until SIGTERM or SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        while not self._stopping:
            self._one_browser()

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _one_browser(self) -> None:
        """Start a browser, and return once it is gone and the next may be started."""
        page = address_to_show(self._page, self._faults)
        began = time.monotonic()
        watch = Watch(began, self._start_s)
        try:
            browser = Browser(self._home, page, turned_deg(self._config))
        except OSError as error:
            why = f"The browser cannot be started: {error}."
        else:
            log.info("The screen shows %s.", page)
            try:
                why = self._until_over(browser, watch if page == self._page else None)
            except BaseException:
                browser.kill()
                raise
        if not self._stopping:
            self._learn(watch.has_painted, time.monotonic() - began)
            pause = min(LOOK_S * 2 ** min(self._short, 10) / 4, LONGEST_PAUSE_S) if self._short > 1 else 0.0
            then = f"in {pause:.1f} s, after {self._short} that did not last" if pause else "now"
            log.warning("%s The browser is started again %s.", why, then)
            self._pause(pause)

    def _learn(self, painted: bool, lived_s: float) -> None:
        """Choose the pause before the next browser and its time to paint, by how the last one did."""
        self._short = 0 if lived_s >= STEADY_S else self._short + 1
        if painted:
            self._start_s = START_S
            return
        if lived_s >= self._start_s:
            self._start_s = min(2 * self._start_s, MAX_START_S)
        # a damaged profile must not keep the screen dark
        shutil.rmtree(self._home / "chromium", ignore_errors=True)

    def _until_over(self, browser: Browser, watch: Watch | None) -> str:
        """Return why a browser has ended: by itself, killed as stale, or with this program (""). Without a watch it is
        never stale.
        """
        while not self._stopping:
            if ended := browser.ended:
                browser.kill()  # what is left of it
                return f"The browser ended: {ended}."
            if watch and (stale := self._stale_s(watch)) is not None:
                painted = watch.has_painted
                browser.kill()
                what = "painted nothing new" if painted else "painted nothing since its start"
                return f"The browser was killed: it had {what} for {stale:.1f} s."
            self._sleep_alive(LOOK_S)
        browser.end()
        return ""

    def _stale_s(self, watch: Watch) -> float | None:
        """Return for how long the screen is stale. Training's server is asked only if the table's page is not shown."""
        page = urlsplit(self._page)
        table = ask(f"{page.scheme}://{page.netloc}")
        if (table is not None) is not self._is_answering:
            self._is_answering = table is not None
            log.warning(
                "The page's server %s.", "answers" if table else "does not answer: nothing is watched"
            )
        stale = watch.stale_s(time.monotonic(), table)
        if stale is None or not self._training:
            return stale
        return watch.stale_s(time.monotonic(), table, ask(self._training))

    def _pause(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while not self._stopping and (left := ends - time.monotonic()) > 0:
            self._sleep_alive(min(left, LOOK_S))

    def _sleep_alive(self, seconds: float) -> None:
        """Tell the service manager that this program lives, then sleep."""
        self._manager.alive()
        time.sleep(seconds)


@click.command("kiosk")
@click.option(
    "--home",
    envvar="RUNTIME_DIRECTORY",
    required=True,
    type=FOLDER,
    help="The user's folder, for sockets and the browser's profile; feltwatch-kiosk.service sets it.",
)
@click.option("--page", default=PAGE, help="The page at the table.")
@click.option("--training", default=TRAINING, help='Where training would be; "" for nowhere.')
@click.option(
    "--faults",
    envvar="FELTWATCH_FAULTS",
    default=FAULTS,
    type=FOLDER,
    help="The folder of the pages that say which service stays down.",
)
@click.option(
    "--config", type=FILE, help="The house's configuration: [screen] turned_deg says how the screen hangs."
)
def command(home: Path, page: str, training: str, faults: Path, config: Path | None) -> None:
    """Show the dealer's page on the touchscreen, and keep it fresh.

    Starts the compositor (cage) with the browser (Chromium), and asks the page's server twice a second when the page
    last acknowledged what it painted. A browser that hangs, crashes or ends is killed as a whole and started again:
    nothing older than five seconds stays on the screen. While the server does not answer, the browser is left alone.
    Where a service stays down, the screen shows that service's fault page, and nothing is watched.
    """
    from firmware.systemd import ServiceManager

    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    Kiosk(home, page, training, faults, ServiceManager.from_environment(), config).run()
