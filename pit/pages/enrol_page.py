"""A table is brought in: the code to show to its camera, the five words to compare, and how it ended."""

from datetime import UTC, datetime
from typing import Final

import segno
from flask import Blueprint, abort, redirect, render_template, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.web.guard import token
from firmware.uplink.code import PORT, parse
from pit.door import enrolment
from pit.door.enrolment import Enrolment
from pit.errors import PitError
from pit.pages import guard
from pit.pages.people import PitRole, record_act
from pit.pages.services import page, pit
from pit.status.tables import list_tables as tables_listed
from pit.store.facts import fact

blueprint = Blueprint("enrol", __name__)
KEEPERS: Final = frozenset({PitRole.TECHNICIAN, PitRole.OWNER})
"""Who brings tables in."""
LONGEST: Final = 200


@blueprint.get("/tables/enrol")
@guard.open_to(KEEPERS)
def form() -> str:
    """Ask for the table's name and the pit's address."""
    return _form("", "", "")


@blueprint.post("/tables/enrol")
@guard.open_to(KEEPERS)
def make() -> tuple[str, int] | Response:
    """Make a code."""
    name, again, where = (request.form.get(field, "")[:LONGEST] for field in ("name", "again", "where"))
    try:
        number = enrolment.make_code(
            pit().database,
            again or name,
            tuple(where.split()),
            guard.current_person().name,
            renews=bool(again),
        )
    except PitError as error:
        return _form(name, where, say(error.sentence)), 400
    record_act(pit().database, guard.current_person(), "enrol.make", detail=again or name)
    return redirect(url_for("enrol.code", number=number), 303)


@blueprint.get("/tables/enrol/<int:number>")
@guard.open_to(KEEPERS)
def code(number: int) -> str:
    """Show a code and what comes of it."""
    one = _one(number)
    return page("enrol_code", _("Enrol %(name)s", name=one.name), number=number, part=_part(one))


@blueprint.get("/tables/enrol/<int:number>/part")
@guard.open_to(KEEPERS)
def part(number: int) -> str:
    """Return the part of the page that changes."""
    return _part(_one(number))


@blueprint.post("/tables/enrol/<int:number>")
@guard.open_to(KEEPERS)
def decide(number: int) -> Response:
    """Say whether the words are the same, or give the code up."""
    one, says = _one(number), request.form.get("says")
    if says not in ("same", "other", "end"):
        abort(400, _("The page sent what it may not send. Reload the page."))
    record_act(pit().database, guard.current_person(), f"enrol.{says}", detail=one.name)
    try:
        if says == "end":
            enrolment.give_up(pit().database, number)
        else:
            enrolment.compare(pit().database, number, guard.current_person().name, same=says == "same")
    except PitError as error:
        abort(409, say(error.sentence))
    return redirect(url_for("enrol.code", number=number), 303)


def _one(number: int) -> Enrolment:
    found = enrolment.look_at_code(pit().database, number) if number < 1 << 62 else None
    if found is None:
        abort(404, _("There is no such code."))
    return found


def _form(name: str, where: str, error: str) -> str:
    known = fact(pit().database, "addresses")
    host = request.host.partition(":")[0] if "[" not in request.host else request.host.partition("]")[0] + "]"
    return page(
        "enrol",
        _("Enrol a table"),
        name=name,
        where=where or known or f"{host}:{PORT}",
        error=error,
        tables=[one.table.name for one in tables_listed(pit().database)],
    )


def _part(one: Enrolment) -> str:
    code = parse(one.code) if one.code else None
    letters = code.letters if code else ""
    picture = segno.make_qr(one.code, error="m") if one.code else None
    return render_template(
        "pit/enrol_part.html",
        one=one,
        token=token(),
        letters=[letters[at : at + 5] for at in range(0, len(letters), 5)],
        addresses=code.addresses if code else (),
        qr=Markup(picture.svg_inline(border=4, omitsize=True, light="#fff", dark="#000")) if picture else "",
        minutes=max(0, round((one.ends_at - datetime.now(UTC)).total_seconds() / 60)),
    )
