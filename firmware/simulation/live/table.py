"""The simulated table: simulated devices around the real product, controlled from outside.

A pty speaks the puck reader's protocol, mock pins bounce like buttons, and the reading process's camera reads rendered
frames. Everything between these devices and the page is the code of the box.
"""

import threading
from functools import partial
from pathlib import Path
from typing import Final, Self

import cv2
import numpy as np

from firmware.cli.dispute_pdf_hook import dispute_pdf
from firmware.devices.camera.simulated import Room, RoomCamera
from firmware.devices.camera.source import FrameSource
from firmware.devices.panel.gpio import GpioButtons, GpioBuzzer, GpioLamps, GpioPowerLine
from firmware.devices.panel.simulated import SimulatedPanel
from firmware.devices.power import PowerWatch
from firmware.devices.puck.protocol import PuckLine
from firmware.devices.puck.reading import Disks
from firmware.devices.puck.serial_port import SerialPuck
from firmware.devices.puck.simulated import SimulatedPuck
from firmware.record.journal.clocks import Clock
from firmware.record.journal.journal import Journal
from firmware.runtime.config import Config
from firmware.runtime.device_factory import panel_trouble, power
from firmware.runtime.house_config import prepare_house
from firmware.runtime.liveness.heartbeat import Heartbeat
from firmware.runtime.maintenance import RecordMaintenance
from firmware.runtime.pit_desk import PitDesk
from firmware.runtime.reading.messages import ReaderSpec
from firmware.runtime.reading.process import ReadingLimits, ReadingProcess
from firmware.runtime.table_devices import Devices
from firmware.runtime.table_process import TableProcess
from firmware.runtime.timestamps import box_clock
from firmware.table import events as ev
from firmware.table.people import Role
from firmware.threads import start
from vision.base.arrays import Image
from vision.felt.layout import TableLayout
from vision.synthetic.decks import Deck
from vision.synthetic.render import Hands, render_table

DEALERS: Final = ("Robin", "Sasha")
VIEW: Final = "view.npy"


def camera_on(view: Path) -> FrameSource:
    """Make a camera that reads the picture in a file; the reading process calls this."""
    return RoomCamera(view)


class SimulatedTable:
    """A felt with a camera above it, a puck reader, three buttons, and the product's table process.

    >>> with SimulatedTable(config, room, seed=1) as table:  # doctest: +SKIP
    ...     table.puck.move_to(2)
    ...     table.lay({"A": {"front": ["As", "Ah", "Kd"]}})
    ...     table.panel.press("next")
    """

    def __init__(
        self,
        config: Config,
        room: Path,
        seed: int,
        deck: Deck | None = None,
        *,
        fresh: bool = False,
        scale: float = 1.0,
        disks: Disks = SimulatedPuck.disks,
        pit: PitDesk | None = None,
        wall: Clock | None = None,
        sensors: PowerWatch | None = None,
    ) -> None:
        """`room`: a folder for the camera's picture; `deck`: the deck in play, by default the one drawn by us.

        `fresh`: the box has no set-up yet; otherwise its dealers are listed and it plays at once. `scale`: the size of
        the camera's pictures relative to the product's camera. `disks`: those of the configuration. `pit`: requests
        enrolment at a pit. `wall`: the journal's clock, by default the box's. `sensors`: of heat and supply, by
        default none. Raises AppError, TableError.
        """
        self.camera = Room(room / VIEW)
        self.pulse: Final = room / "pulse.json"
        """Where the table process says that its socket answers."""
        self._deck = deck
        self._scale = scale
        self._layout = TableLayout.load(config.camera.layout)
        self._pictures = np.random.default_rng(seed)
        self._empty = render_table({}, self._layout, seed=seed, scale=scale).frame
        self.clear()
        wall = wall or box_clock()
        self._journal = Journal(config.data, wall)
        try:
            self.house = prepare_house(config, self._journal)
            if not fresh:
                _settle_in(self._journal)
            self.puck = SimulatedPuck()
            self.panel = SimulatedPanel(seed=seed)
            self.readings = ReadingProcess(
                ReaderSpec(
                    config.data,
                    partial(camera_on, room / VIEW),
                    config.camera.layout,
                    still_within=config.times.still,
                ),
                ReadingLimits.of(config.times),
            )
            buttons = GpioButtons(self.panel.pins, self.panel.factory)
            power_line = GpioPowerLine(self.panel.pins, self.panel.factory)
            self.process = TableProcess(
                config.data,
                self._journal,
                self.house,
                Devices(
                    SerialPuck(PuckLine(disks, seats=range(1, 6)), self.puck.port),
                    buttons,
                    GpioLamps(self.panel.pins, self.panel.factory),
                    partial(panel_trouble, buttons, power_line),
                    GpioBuzzer(self.panel.pins, self.panel.factory),
                    (power_line, sensors) if sensors else (power_line,),
                    power=partial(power, sensors, power_line),
                    disks=disks,
                ),
                self.readings,
                config.socket,
                config.times.turn_up,
                maintenance=RecordMaintenance(
                    config.data, self._journal, room / "key", config.keeping, wall, dispute_pdf
                ),
                answer_within=config.times.answer,
                limits=vars(self.readings.limits),
                pit=pit,
                screen=config.screen,
                heartbeat=Heartbeat(config.data, config.socket, self.pulse),
            )
        except BaseException:
            self._journal.close()
            raise
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="table")

    # ---- what people do on the felt ----

    def lay(self, hands: Hands) -> None:
        """Lay these cards, by place and row, face up, in view of the camera."""
        self.camera.show(self.picture(hands, self._pictures))

    def picture(self, hands: Hands, seed: int | np.random.Generator) -> Image:
        """Return what the camera sees once these cards lie there; with one seed, each card lies where it lay."""
        return render_table(hands, self._layout, self._deck, seed=seed, scale=self._scale).frame

    def clear(self) -> None:
        """Collect all cards."""
        self.camera.show(self._empty)

    def hold(self, picture: Image) -> None:
        """Hold a picture flat over the middle of the felt, before the camera; `clear` takes it away."""
        frame = self._empty.copy()
        side = frame.shape[0] // 2
        held = cv2.resize(
            picture, (side, side * picture.shape[0] // picture.shape[1]), interpolation=cv2.INTER_AREA
        )
        held = held[: frame.shape[0]]
        top, left = (frame.shape[0] - held.shape[0]) // 2, (frame.shape[1] - side) // 2
        frame[top : top + held.shape[0], left : left + side] = held
        self.camera.show(frame)

    @property
    def commit_s(self) -> float:
        """Duration of the journal's last commit in seconds."""
        return self._journal.commit_s

    # ---- the product ----

    def _run(self) -> None:
        try:
            self.process.run()
        except BaseException as error:
            self.failure = error

    def __enter__(self) -> Self:
        start(self._thread)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stop()
        self._thread.join()
        self.puck.close()
        self._journal.close()


def _settle_in(journal: Journal) -> None:
    """Skip the first set-up and list the simulated house's dealers, unless that was done before."""
    state = journal.recover()
    if not state.set_up:
        journal.append([ev.SetUpEnded(skipped=True)], "console")
    if not state.people:
        journal.append([ev.PersonListed(name, Role.DEALER) for name in DEALERS], "console")
