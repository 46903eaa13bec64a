"""The application factory. Importing this module has no side effects, and nothing is written to disk."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flask import Flask

from dealer_ui.glance import kiosk, stream
from dealer_ui.glance import routes as glance
from dealer_ui.photo import code_page
from dealer_ui.photo.codes import SECRET as PHOTO_SECRET
from dealer_ui.profiles import from_file
from dealer_ui.profiles import routes as profiles
from dealer_ui.reports import report_page, slip_page
from dealer_ui.review import dispute, stick
from dealer_ui.review import routes as review
from dealer_ui.server import health, menu
from dealer_ui.server import openapi as interface
from dealer_ui.setup import camera, inbox
from dealer_ui.setup import currency as set_up_currency
from dealer_ui.setup import pit as pit_setup
from dealer_ui.setup import routes as set_up
from dealer_ui.text import i18n
from dealer_ui.training import routes as training
from dealer_ui.view.live import Live
from dealer_ui.view.render import Messages
from dealer_ui.view.sibling_page import SiblingPage
from dealer_ui.web import commands as orders
from dealer_ui.web import guard, pin
from dealer_ui.web.bare_app import LOOPBACK_HOSTS, bare_app, compress
from dealer_ui.web.metrics import Tallies
from dealer_ui.web.services import Kiosk, Services, StreamLimiter, services
from dealer_ui.web.sessions import Sessions
from firmware.adaptive_limit import AdaptiveLimit
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import JournalReader
from firmware.record.stick_request import PROGRESS
from firmware.table_client import ANSWER_CEILING_S, ANSWER_FLOOR_S, TableLink
from firmware.uplink.join_request import PROGRESS as JOIN
from firmware.uplink.status_file import FOLDER as PIT_STATUS
from firmware.uplink.status_file import read_status

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """Where the record and the table process are, and which host names are allowed."""

    data: Path
    socket: Path
    hosts: tuple[str, ...] = LOOPBACK_HOSTS
    streams: int = 32
    """Maximum number of event streams at once; each holds a thread of the server."""
    training: bool = False
    """The record is a training table's: a band on every page, and questions."""
    sibling_port: int | None = None
    """The port of the sibling page: for the table's page that of training, for training the table's."""
    sibling_socket: Path | None = None
    """The socket of the table process behind the sibling page."""
    answer_floor_s: float = ANSWER_FLOOR_S
    answer_ceiling_s: float = ANSWER_CEILING_S
    """Seconds between which the limit for the table's answer to a command lies."""
    export_s: float = 60.0
    """Seconds that the table may take for a dispute file: it has pictures to draw."""
    pit: Path = Path("/") / PIT_STATUS
    """The uplink's folder, with its status file."""
    stick: Path = PROGRESS
    """The file that says how far a dispute file is on its way to a stick."""
    join: Path = JOIN
    """The files that say how far the table is with its enrolment at a pit."""
    photo: str = ""
    """The address at which phones reach the page for photographs; "" where the house has not opened it."""
    photo_secret: Path = PHOTO_SECRET
    """Where that page keeps what its code is made of."""


def create_app(settings: Settings) -> Flask:
    """Build the page's application.

    The journal is read on each request. For streams, `services(app).live.start()` follows it from a thread.
    """
    app = bare_app()
    app.config.update(
        TRUSTED_HOSTS=list(settings.hosts), PHOTO=settings.photo, PHOTO_SECRET=settings.photo_secret
    )
    answer = AdaptiveLimit(settings.answer_floor_s, settings.answer_ceiling_s)
    link = TableLink(settings.socket, limit=answer)
    reader = JournalReader(settings.data, training=settings.training)
    lesson = training.Lesson() if settings.training else None
    sibling = (
        SiblingPage(settings.sibling_port, training=not settings.training, socket=settings.sibling_socket)
        if settings.sibling_port
        else None
    )
    i18n.set_up(app, lambda: services(app).live.state().house)

    def pit() -> Mapping[str, Any] | None:
        return None if settings.training else read_status(settings.pit, time.monotonic())

    Services(
        live=Live(reader, link.heartbeat, lesson.shown if lesson else None, sibling, pit),
        reader=reader,
        link=link,
        captures=CaptureStore(settings.data),
        streams=StreamLimiter(settings.streams),
        kiosk=Kiosk(),
        messages=Messages(app),
        sessions=Sessions(),
        tallies=Tallies(reader),
        slow_s={"export_hand": settings.export_s},
        stick=settings.stick,
        join=settings.join,
        pit=None if settings.training else settings.pit,
    ).attach(app)
    for part in (
        camera,
        dispute,
        glance,
        kiosk,
        stream,
        orders,
        health,
        interface,
        menu,
        code_page,
        pin,
        pit_setup,
        inbox,
        profiles,
        from_file,
        review,
        report_page,
        slip_page,
        stick,
        set_up,
        set_up_currency,
    ):
        app.register_blueprint(part.blueprint)
    if lesson:
        training.add_to(app, lesson)
    guard.protect(app)
    app.after_request(compress)
    return app
