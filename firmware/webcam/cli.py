"""`feltwatch try`: the table on a laptop, with a webcam and nothing else."""

from __future__ import annotations

import fcntl
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from firmware.command_options import FOLDER, PORT_NUMBER, profile_option
from firmware.loading import loading
from firmware.page_process import HOST, PageProcess, need_free, page_process
from firmware.record_folder import SOCKET
from firmware.runtime.errors import AppError
from firmware.terminal import say
from firmware.threads import start_thread

if TYPE_CHECKING:
    from firmware.runtime.config import CameraConfig, Config

SEATS: Final = {2: "AD", 3: "ADC", 4: "ABCD"}
"""The places on the felt, by the number of players: two sit opposite each other."""
LOCK: Final = "try.lock"
TURN_UP_S: Final = 0.2
"""The cards often lie open already when the showdown is called."""
LONGEST_PATH: Final = 100
"""Bytes of a Unix socket's path, and some room."""


def usual_folder() -> Path:
    """Return where the record lies, by the XDG base directories."""
    home = os.environ.get("XDG_DATA_HOME", "")
    return (Path(home) if home.startswith("/") else Path.home() / ".local/share") / "feltwatch/try"


@click.command("try")
@click.option(
    "--camera",
    help="A webcam's number, an address (http://PHONE:8080/video, rtsp://…), a video, a picture, or a folder of "
    "pictures, one a hand.  [default: the first webcam]",
)
@click.option("--players", type=click.IntRange(2, 4), default=2, help="Number of seats in play.")
@profile_option
@click.option("--port", type=PORT_NUMBER, default=8013, help="The page's port.")
@click.option("--no-browser", is_flag=True, help="Open no browser; the page's address is printed.")
@click.option(
    "--data",
    envvar="FELTWATCH_DATA",
    type=FOLDER,
    help="Keep the record in this folder.  [default: feltwatch/try in the user's data folder]",
)
def command(
    camera: str | None, players: int, profile: str, port: int, no_browser: bool, data: Path | None
) -> None:
    """Play with real cards on any table, under a webcam; there is no puck reader and no panel.

    Lay the printed cloth, or the four sheets of `feltwatch felt` at the table's corners. The page shows what the camera
    sees and what is missing. The record is kept, and goes on at the next start. Ctrl-C ends it.
    """
    logging.basicConfig(level=logging.ERROR, format="%(name)s: %(message)s")
    folder = (data or usual_folder()).absolute()
    if len(os.fsencode(folder / SOCKET)) > LONGEST_PATH:
        raise click.UsageError(
            f"The folder's name is too long for a socket: {folder}. Name another with --data."
        )
    with ExitStack() as stack:
        stack.enter_context(_alone(folder, port))
        need_free(port)
        rooms = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-try-")))
        page = stack.enter_context(
            page_process("firmware.webcam.serve", (folder, folder / SOCKET), port, rooms)
        )
        with loading():  # while the page starts: a table, a camera and their settings take as long
            from firmware.cli.run import run
            from firmware.webcam.choice import choose, folder_pictures

        chosen = choose(camera)
        config = make_config(folder, rooms, chosen, players, profile)
        start_thread(_welcome, page, not no_browser, name="welcome")
        if config.camera.device != chosen.device:
            from firmware.webcam.hand_pictures import HandPictures

            HandPictures(folder_pictures(chosen.device), config.camera.device, folder).follow()
        run(config)
    say("Ended. The record is kept; the next start goes on with it.", err=True)


def make_config(folder: Path, rooms: Path, camera: CameraConfig, players: int, profile: str) -> Config:
    """Return the table's configuration; `rooms` is a folder for what ends with the program."""
    from firmware.runtime.config import NO_SCREEN, Config, PanelConfig, PuckConfig, SeatConfig, TimesConfig

    if camera.kind == "files" and camera.device.is_dir():
        camera = camera.model_copy(update={"device": rooms / "picture"})
    camera = camera.model_copy(update={"sheets": True})
    return Config(
        data=folder,
        key=folder.with_name(folder.name + "-key"),
        pulse=rooms / "pulse.json",
        in_memory=True,  # a trial may lie in memory
        profile=profile,
        seats=tuple(
            SeatConfig.model_validate({"seat": seat, "place": place})
            for seat, place in enumerate(SEATS[players], start=1)
        ),
        camera=camera,
        puck=PuckConfig(kind="none"),
        panel=PanelConfig(kind="none"),
        screen=NO_SCREEN,
        times=TimesConfig(turn_up=TURN_UP_S),
    )


def _welcome(page: PageProcess, opens: bool) -> None:
    """Say where the page is, once it answers, and show it."""
    from firmware.webcam.serve import FIRST

    try:
        page.wait()
    except AppError as error:
        say(error, err=True)
        return
    address = page.address.rstrip("/") + FIRST
    say(f"The table's page: {address}   (Ctrl-C ends it)", err=True)
    if opens and not _open_browser(address):
        say("No browser could be opened here: open that address yourself.", err=True)


def _open_browser(address: str) -> bool:
    """Open a browser in a window; none that would take this terminal over."""
    import webbrowser

    if not {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} & os.environ.keys():
        return False
    return webbrowser.open(address)


@contextmanager
def _alone(folder: Path, port: int) -> Iterator[None]:
    """Hold the folder for this program alone. Raises AppError where another one has it, or it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (folder / LOCK).open("a+", encoding="ascii")
    except OSError as error:
        raise AppError(
            f"The record cannot be kept in {folder} ({error.strerror}): name another folder with --data."
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            running = lock.read().strip() or port
            raise AppError(
                f"It is running already: http://{HOST}:{running}/ is its page. Ctrl-C where it was started ends it."
            ) from None
        lock.truncate(0)
        lock.write(str(port))
        lock.flush()
        yield
