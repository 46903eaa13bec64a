"""`feltwatch run`: the table process on real devices. UNTESTED on hardware."""

from __future__ import annotations

import gc
import logging
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from firmware.command_options import config_option, configured_data_option
from firmware.loading import loading
from firmware.runtime.config import Config, load_config

if TYPE_CHECKING:
    from firmware.record.journal.clocks import Clock
    from firmware.record.journal.journal import Journal
    from firmware.runtime.inbox.desk import Inbox
    from firmware.systemd import ServiceManager

log = logging.getLogger(__name__)

STOPS_S: Final = 15
"""Seconds that the table may take to end, within TimeoutStopSec of its unit."""
ROOM_EVERY: Final = 1.0
"""Seconds between two checks for free space on a full disk."""


@click.command("run")
@config_option
@configured_data_option
def command(config_file: Path | None, data: Path | None) -> None:
    """Run the table: camera, puck reader, push-buttons and lamps, until it is stopped.

    A device that is missing is shown as a fault, and the table waits for it. Meanwhile hands can be keyed on the
    page.
    """

    from firmware.threads import end_with_its_threads

    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    end_with_its_threads()
    run(load_config(config_file, data=data))


def run(config: Config) -> None:
    """Run the table until SIGINT or SIGTERM. Raises AppError, TableError."""
    with loading():
        from firmware.cli.dispute_pdf_hook import dispute_pdf
        from firmware.record.journal.ground import find_memory
        from firmware.record.stick_request import StickDesk
        from firmware.runtime.device_factory import make_camera, open_devices
        from firmware.runtime.house_config import prepare_house, rules_to_start_with
        from firmware.runtime.liveness.heartbeat import Heartbeat
        from firmware.runtime.maintenance import RecordMaintenance
        from firmware.runtime.pit_desk import PitDesk
        from firmware.runtime.power_off import PowerOff
        from firmware.runtime.reading.messages import ReaderSpec
        from firmware.runtime.reading.process import ReadingLimits, ReadingProcess
        from firmware.runtime.table_process import TableProcess
        from firmware.runtime.timestamps import box_clock
        from firmware.stop_signals import stop_at_signals
        from firmware.systemd import ServiceManager
        from firmware.table.errors import JournalError
        from firmware.uplink.join_request import JoinDesk

    if not config.in_memory and (what := find_memory(config.data)):
        raise JournalError(what)
    manager = ServiceManager.from_environment()
    rules_to_start_with(config)  # reports an invalid configuration before anything is created
    times = config.times
    camera = partial(make_camera, config.camera)
    sheets = len(config.seats) if config.camera.sheets else 0
    spec = ReaderSpec(config.data, camera, config.camera.layout, sheets, still_within=times.still)
    limits = ReadingLimits.of(times)
    power_off = PowerOff(config.power)
    wall = box_clock()
    with _journal(config.data, wall, manager) as journal:
        devices = open_devices(config)
        table = TableProcess(
            config.data,
            journal,
            prepare_house(config, journal),
            devices,
            ReadingProcess(spec, limits),
            config.socket,
            times.turn_up,
            maintenance=RecordMaintenance(
                config.data, journal, config.key, config.keeping, wall, dispute_pdf, StickDesk()
            ),
            answer_within=times.answer,
            limits=vars(limits),
            pit=PitDesk(JoinDesk(), _inbox(config, wall)),
            screen=config.screen,
            heartbeat=Heartbeat(config.data, config.socket, config.pulse, manager.alive),
        )

        def turned() -> None:
            power_off.update(devices.mains_gone(), table.state.phase)

        gc.freeze()  # what was imported is permanent: a full collection need not traverse it while a button waits
        with stop_at_signals(table.stop, STOPS_S):
            table.run(turned)


def _inbox(config: Config, wall: Clock) -> Inbox:
    """Return what decides about files from the pit, which the uplink lays into its folder."""
    from firmware.runtime.inbox.desk import Inbox
    from firmware.runtime.inbox.install_request import InstallDesk
    from firmware.update.release import running_release
    from firmware.uplink.inbox.requests import FOLDER
    from firmware.uplink.settings import HOUSE

    enrolment = Path("/var/lib/feltwatch-uplink")
    return Inbox(
        *(config.data, Path("/") / FOLDER, enrolment / HOUSE, InstallDesk(), config.pit, wall),
        running=running_release(),
    )


def _journal(data: Path, wall: Clock, manager: ServiceManager) -> Journal:
    """Open the journal; on a full disk wait until there is space. Raises JournalError."""
    from firmware.record.journal.journal import Journal
    from firmware.table.errors import JournalFull

    problem = ""
    while True:
        try:
            return Journal(data, wall)
        except JournalFull as error:
            if str(error) != problem:
                problem = str(error)
                log.error("%s", problem)
        manager.alive()
        time.sleep(ROOM_EVERY)
