"""Releases in their channels: what each holds, what it waits for, why it stopped; what people decide about it."""

from collections.abc import Callable
from typing import Final

from flask import Blueprint, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.web.guard import token
from firmware.messages import Message
from firmware.uplink.wire import is_hash
from pit.channels import store
from pit.channels.judge import FAILURES, Mark
from pit.channels.store import NAMES, Name, several
from pit.errors import PitError
from pit.files import offers
from pit.pages import guard
from pit.pages.people import PitRole, record_act
from pit.pages.services import page, pit

blueprint = Blueprint("channels", __name__)
KEEPERS: Final = frozenset({PitRole.TECHNICIAN, PitRole.OWNER})
"""Who sends releases to tables."""
MEANINGS: Final = {
    Name.FIRST: N_("One table, where somebody stands by."),
    Name.TENTH: N_("About a tenth of the tables."),
    Name.REST: N_("All other tables."),
}
MOVES: Final = {
    Name.FIRST: N_("Move to First…"),
    Name.TENTH: N_("Move to Tenth…"),
    Name.REST: N_("Move to Rest…"),
}
TO_DO: Final = {
    Mark.SILENT: Message("Look whether the table and its network are on. Then try again, or leave it out."),
    Mark.LATE: Message("See at the table what it waits for. Then try again, or leave it out."),
    Mark.WENT_BACK: Message(
        "The new release did not stay on this table. Read its log before any other table gets it."
    ),
    Mark.REFUSED: Message("Clear away what it names. Then try again, or leave it out."),
    Mark.ASKS: Message(
        "Look at its last hands and at the camera's picture. Leave it out only if the release is not the cause."
    ),
}
"""What a person does about each reason for which a table stops a release."""
STATES: Final = {"fetched": Message("has the file"), "waiting": Message("has the file and waits")}
ORDER: Final = (*FAILURES, Mark.RUNS, Mark.ASKED, Mark.WAITS, Mark.UPDATED)
"""Tables that need a person come first."""


@blueprint.get("/channels")
@guard.open_to(KEEPERS)
def show() -> str:
    """Show the channels, each with its release and tables, and what was decided."""
    with pit().database.transaction() as connection:
        channels = store.read_channels(connection)
    tables = [table for one in channels.values() for table in one.tables]
    return page("channels", _("Releases"), part=_part(), tables=tables, NAMES=NAMES)


@blueprint.get("/channels/part")
@guard.open_to(KEEPERS)
def part() -> str:
    """Return the part of the page that changes."""
    return _part()


@blueprint.post("/channels/move/<to>")
@guard.open_to(KEEPERS)
def move(to: str) -> Response:
    """Move a release to a channel."""
    sha256 = request.form.get("sha256", "")
    if to not in list(Name) or not is_hash(sha256):
        abort(400, _("The page sent what it may not send. Reload the page."))
    return _do("move", to, lambda by: store.move(pit().database, sha256, Name(to), by))


@blueprint.post("/channels/table")
@guard.open_to(KEEPERS)
def put() -> Response:
    """Put a table into a channel."""
    table, to = request.form.get("table", ""), request.form.get("to", "")
    if to not in list(Name):
        abort(400, _("The page sent what it may not send. Reload the page."))
    return _do("put", table[:80], lambda by: store.put(pit().database, table, Name(to), by))


@blueprint.post("/channels/tenth")
@guard.open_to(KEEPERS)
def fill() -> Response:
    """Put a tenth of the tables into the channel of that name."""
    return _do("fill", "", lambda by: store.fill_tenth(pit().database, by))


@blueprint.post("/channels/<sha256>/again")
@guard.open_to(KEEPERS)
def try_again(sha256: str) -> Response:
    """Let a stopped release go on: each table that failed is tried again or left out."""
    without = set(request.form.getlist("without"))
    return _do("again", sha256[:12], lambda by: store.try_again(pit().database, sha256, by, without))


@blueprint.post("/channels/<sha256>/withdraw")
@guard.open_to(KEEPERS)
def withdraw(sha256: str) -> Response:
    """Take a release out of every channel."""
    return _do("withdraw", sha256[:12], lambda by: store.withdraw(pit().database, sha256, by))


def _do(what: str, detail: str, do: Callable[[str], None]) -> Response:
    try:
        do(guard.current_person().name)
    except PitError as error:
        abort(409, say(error.sentence))
    record_act(pit().database, guard.current_person(), f"channels.{what}", detail=detail)
    return redirect(url_for("channels.show"), 303)


def _part() -> str:
    with pit().database.transaction() as connection:
        channels = store.read_channels(connection)
        releases = [one for one in offers.list_offered(connection) if one.kind == "release"]
        history = store.history(connection)
    held = {one.sha256: one for one in channels.values() if one.sha256}
    return render_template(
        "pit/channels_part.html",
        channels=channels,
        waits_for={one.name: several(one.missing) for one in channels.values() if one.missing},
        tables={
            one.name: sorted(one.tables, key=lambda table: ORDER.index(table.mark))
            for one in channels.values()
        },
        stopped=[one for one in held.values() if one.stopped],
        failed={
            sha256: [
                table
                for one in channels.values()
                for table in one.tables
                if one.sha256 == sha256 and table.stops
            ]
            for sha256 in held
        },
        held=held,
        obstacles={to: store.obstacle(channels, one.sha256, to) for one, to in _steps(channels)},
        releases=[one for one in releases if not store.obstacle(channels, one.sha256, Name.FIRST)],
        history=history,
        token=token(),
        NAMES=NAMES,
        MEANINGS=MEANINGS,
        MOVES=MOVES,
        TO_DO=TO_DO,
        STATES=STATES,
    )


def _steps(channels: store.Channels) -> list[tuple[store.Channel, Name]]:
    """Return each channel with the one to which its release is moved on."""
    return list(zip(channels.values(), list(Name)[1:], strict=False))
