"""The pit's application for people. It reads the database, plays nothing, and has no connection to any table.

Another process and another port than the tables' door. Pages of a past hand are the review's own, over one record at a
time (`records.py`).
"""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

from flask import Flask, Response, request, url_for

from dealer_ui.review import dispute, timeline
from dealer_ui.review import routes as review
from dealer_ui.text import i18n
from dealer_ui.text.i18n import N_, gettext
from dealer_ui.text.messages import say
from dealer_ui.view.live import Live
from dealer_ui.view.render import Messages
from dealer_ui.web import log_in
from dealer_ui.web.bare_app import LOOPBACK_HOSTS, add_filters, bare_app, compress
from dealer_ui.web.log_in import Access
from dealer_ui.web.metrics import Tallies
from dealer_ui.web.services import Kiosk, Services, StreamLimiter, set_stream_source
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import JournalReader
from firmware.rules import load_profile, profile_names
from firmware.table.errors import RowChanged
from firmware.table.settings import HouseSettings
from firmware.table_client import TableLink
from pit.errors import DatabaseError
from pit.follow.reader import NOWHERE
from pit.pages import (
    channels_page,
    dealers,
    disputes,
    enrol_page,
    files_page,
    floor_page,
    guard,
    hands,
    metrics,
    people_page,
    proof,
    records,
    reports,
    tables,
)
from pit.pages.floor import FloorLive, FloorMessages
from pit.pages.people import HANDS, REPORTS, ROLE_NAMES, PitPeople, PitRole, PitSessions
from pit.pages.services import Pit, pit
from pit.pages.tile import UNUSUAL
from pit.store.database import Database
from pit.store.files import Files
from pit.store.replica import Replica

STREAMS: Final = 64
SHARE: Final = 48
"""Streams that one person may hold: a wall of screens, and still a place for everybody else."""
NAVIGATION: Final = (
    ("floor.page", N_("Floor"), frozenset(PitRole)),
    ("hands.show_list", N_("Past hands"), HANDS),
    ("disputes.show_list", N_("Disputes"), HANDS),
    ("dealers.show_list", N_("Dealers"), REPORTS),
    ("reports.report", N_("Reports"), REPORTS),
    ("tables.show_list", N_("Tables"), frozenset(PitRole)),
    ("channels.show", N_("Releases"), channels_page.KEEPERS),
    ("proof.show", N_("Proof"), proof.PROOF),
    ("people.show_list", N_("People"), people_page.AUDIT),
)


def create_app(
    database: Database,
    folder: Path,
    name: str = "",
    *,
    secure: bool = True,
    copy: Database | None = None,
    certificate: Path | None = None,
    clock: Callable[[], float] = time.time,
) -> Flask:
    """Build the application over the pit's database and its own folder.

    `name`: of this pit, on its pages. `secure`: the cookie travels over TLS only; not so on a loopback address, and
    there no other host name is answered. `copy`: of a standby, for searches and reports. `certificate`: the folder of
    the pages' own, where TLS is before them. `clock` is the database's, in seconds.
    """
    app = bare_app()
    # REMOTE: the review's pages without script.
    app.config.update(REMOTE=True, PIT=True, CSRF_TOKEN=secrets.token_urlsafe(24))
    if not secure:  # behind nginx a house gives the server any name
        app.config.update(TRUSTED_HOSTS=list(LOOPBACK_HOSTS))
    nowhere = JournalReader(NOWHERE)
    sessions = PitSessions(database, secure=secure)
    Services(
        live=Live(nowhere, lambda: None),
        reader=nowhere,
        link=TableLink(NOWHERE / "no.sock"),
        captures=CaptureStore(NOWHERE),
        streams=StreamLimiter(STREAMS, SHARE),
        kiosk=Kiosk(),
        messages=Messages(app),
        sessions=sessions,
        tallies=Tallies(nowhere),
    ).attach(app)
    live = FloorLive(database, clock, certificate)
    app.extensions["feltwatch-pit"] = Pit(
        database,
        Files(folder / "images"),
        folder,
        live,
        FloorMessages(app),
        name or "Feltwatch",
        replica=Replica(database, copy) if copy else None,
        certificate=certificate,
    )
    set_stream_source(app, live)
    Access(PitPeople(database), sessions, home="floor.page", title=N_("The pit"), secure=secure).attach(app)
    for kind in (DatabaseError, RowChanged):
        app.register_error_handler(kind, _away)
    i18n.set_up(app, HouseSettings)
    guard.protect(app)
    records.prepare(app)
    app.after_request(compress)
    app.jinja_env.globals.update(
        navigation=_navigation, pit=pit, current_person=guard.current_person, ROLE_NAMES=ROLE_NAMES
    )
    app.jinja_env.globals.update(pictures_of=records.pictures_of, UNUSUAL=UNUSUAL)
    add_filters(app, at=timeline.time_of, day=timeline.day_of, game=game_title, utc_day=_utc_day)
    for part in (
        log_in,
        floor_page,
        hands,
        disputes,
        dealers,
        reports,
        tables,
        enrol_page,
        channels_page,
        files_page,
        people_page,
        proof,
        metrics,
        records,
    ):
        app.register_blueprint(part.blueprint)
    for past in (review, dispute):
        app.register_blueprint(past.blueprint, url_prefix=records.PREFIX)
    return app


def _navigation() -> list[tuple[str, str, bool]]:
    """Return the pages that the request's person may open: address, words, whether it is this one."""
    here = (request.endpoint or "").partition(".")[0]
    return [
        (url_for(endpoint), gettext(words), endpoint.partition(".")[0] == here)
        for endpoint, words, roles in NAVIGATION
        if guard.current_person().role in roles
    ]


def _away(error: DatabaseError | RowChanged) -> Response:
    return Response(f"503\n{say(error.sentence)}\n", 503, mimetype="text/plain")


@cache
def game_title(profile: str) -> str:
    """Return a game's title; a house's own profile has its name only."""
    return load_profile(profile).title if profile in profile_names() else profile


def _utc_day(ms: int) -> str:
    return datetime.fromtimestamp(timeline.nearest_date_ms(ms) / 1000, UTC).date().isoformat()
