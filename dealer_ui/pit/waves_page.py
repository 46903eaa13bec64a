"""The waves of releases: how far each table is, what a wave waits for, why it stopped; begun, stopped, continued."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flask import Blueprint, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from dealer_ui.pit import guard
from dealer_ui.pit.people import PitRole, record_act
from dealer_ui.pit.services import page, pit
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.web.guard import token
from firmware.pit.down import offers
from firmware.pit.errors import PitError
from firmware.pit.waves import store
from firmware.pit.waves.plan import SHARE, SILENT_S, STEPS, Mark, Member, Phase, Rules, steps_of
from firmware.pit.waves.words import ACCEPTED, FAILURES, MARKS, STATES, TO_DO, is_waited_for, said
from firmware.pit.waves.words import STEPS as STEP_NAMES

blueprint = Blueprint("waves", __name__)
KEEPERS: Final = frozenset({PitRole.TECHNICIAN, PitRole.OWNER})
"""Who sends releases to tables."""
LARGEST: Final = 1 << 62
LONGEST: Final = len(str(LARGEST))
"""Digits from which on a number may be beyond those of the database."""
WORDS: Final[Mapping[str, object]] = {
    "MARKS": MARKS,
    "FAILURES": FAILURES,
    "ACCEPTED": ACCEPTED,
    "TO_DO": TO_DO,
    "STATES": STATES,
    "STEP_NAMES": STEP_NAMES,
}


@blueprint.get("/waves")
@guard.open_to(KEEPERS)
def shown() -> str:
    """Show the newest wave, how to begin one, and the waves before."""
    with pit().database.transaction() as connection:
        waves = store.listed(connection)
        releases = [one for one in offers.listed(connection) if one.kind == "release"]
        tables = store.candidates(connection, SILENT_S)
    return page(
        "waves",
        _("Waves"),
        part=_part() if waves else "",
        wave=waves[0][0] if waves else None,
        before=waves[1:],
        releases=releases,
        tables=tables,
        share=SHARE,
    )


@blueprint.get("/waves/part")
@guard.open_to(KEEPERS)
def part() -> str:
    """Return the part of the page that changes."""
    return _part()


@blueprint.post("/waves/check")
@guard.open_to(KEEPERS)
def check() -> tuple[str, int] | str:
    """Show what a wave would do, for somebody to confirm."""
    sha256, first, without, rules = _asked()
    with pit().database.transaction() as connection:
        release = offers.found(connection, sha256)
        tables = store.candidates(connection, rules.silent_s)
    if release is None or release.kind != "release":
        abort(400, _("The page sent what it may not send. Reload the page."))
    going = [one for one in tables if one.is_heard and one.name not in without]
    going.sort(key=lambda one: one.name != first)
    steps = steps_of({one.table_id: Member(place) for place, one in enumerate(going)}, rules)
    return page(
        "wave_check",
        _("Begin this wave?"),
        release=release,
        lanes=[[one for one in going if steps[one.table_id] == step] for step in range(STEPS)],
        away=[one for one in tables if not one.is_heard and one.name not in without],
        without=without,
        rules=rules,
        first=first,
        **WORDS,
    )


@blueprint.post("/waves/start")
@guard.open_to(KEEPERS)
def start() -> Response:
    """Begin a wave."""
    sha256, first, without, rules = _asked()
    try:
        number = store.start(
            pit().database, sha256, guard.who().name, first=first, without=without, rules=rules
        )
    except PitError as error:
        abort(409, say(error.sentence))
    record_act(pit().database, guard.who(), "waves.start", detail=_release(number))
    return redirect(url_for("waves.shown"), 303)


@blueprint.post("/waves/<int:number>/stop")
@guard.open_to(KEEPERS)
def stop(number: int) -> Response:
    """Stop a wave."""
    _known(number)
    try:
        store.stop(pit().database, number, guard.who().name)
    except PitError as error:
        abort(409, say(error.sentence))
    record_act(pit().database, guard.who(), "waves.stop", detail=_release(number))
    return redirect(url_for("waves.shown"), 303)


@blueprint.post("/waves/<int:number>/resume")
@guard.open_to(KEEPERS)
def resume(number: int) -> Response:
    """Let a stopped wave go on: each table that failed is tried again or left out."""
    _known(number)
    numbers = [one for one in request.form.getlist("without") if one.isascii() and one.isdigit()]
    if any(len(one) >= LONGEST for one in numbers):
        abort(400, _("The page sent what it may not send. Reload the page."))
    without = set(map(int, numbers))
    try:
        store.resume(pit().database, number, guard.who().name, without)
    except PitError as error:
        abort(409, say(error.sentence))
    record_act(pit().database, guard.who(), "waves.resume", detail=_release(number))
    return redirect(url_for("waves.shown"), 303)


def _asked() -> tuple[str, str, list[str], Rules]:
    """Return what the form asks for: release, first table, those left out, numbers."""
    share = request.form.get("share", "")
    if not (share.isascii() and share.isdigit() and len(share) <= 3 and 1 <= int(share) <= 100):
        abort(400, _("“%(value)s” is no number from 1 to 100.", value=share[:40]))
    texts = (request.form.get("sha256", ""), request.form.get("first", ""), *request.form.getlist("without"))
    if any("\0" in text for text in texts):
        abort(400, _("The page sent what it may not send. Reload the page."))
    return texts[0], texts[1], sorted(set(texts[2:])), Rules(share=int(share))


def _known(number: int) -> None:
    if number >= LARGEST:
        abort(404, _("There is no such wave."))


def _release(number: int) -> str:
    with pit().database.transaction() as connection:
        return next((wave.release for wave, *_ in store.listed(connection) if wave.wave_id == number), "")


def _part() -> str:
    with pit().database.transaction() as connection:
        wave = store.newest(connection)
        tables = store.tables_of(connection, wave) if wave else []
    if wave is None:
        return ""
    failed = [one for one in tables if one.failure is not None and one.accepted != 2]
    return render_template(
        "pit/wave_part.html",
        wave=wave,
        said=said(wave, tables),
        lanes=[[one for one in tables if one.step == step] for step in range(STEPS)],
        waits_for=[one for one in tables if is_waited_for(one)] if wave.phase is Phase.RUNNING else [],
        failed=failed,
        counts={mark: sum(one.mark is mark for one in tables) for mark in Mark},
        token=token(),
        **WORDS,
    )
