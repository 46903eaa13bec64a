"""The page *People* of the pit: the people who may log in, and the acts of everybody.

An auditor sees here who looked at which hand. An owner also adds people, changes their roles and passphrases, and
removes them (`people_changes.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from flask import Blueprint, abort, redirect, request, url_for
from werkzeug.wrappers import Response

from dealer_ui.text.i18n import N_, pgettext
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.web.passphrases import LONGEST_PASSPHRASE, SHORTEST_PASSPHRASE, AccessError
from pit.pages import guard, people_changes
from pit.pages.people import OPEN_SESSION, ROLE_NAMES, PitRole
from pit.pages.people_changes import LARGEST, NoOwner, PersonNotListed
from pit.pages.services import page, pit
from pit.store.database import Database

blueprint = Blueprint("people", __name__)
OWNERS: Final = frozenset({PitRole.OWNER})
AUDIT: Final = frozenset({PitRole.AUDITOR, PitRole.OWNER})
PAGE: Final = 100
"""The number of acts on one page."""
LONGEST: Final = 200
"""The most characters of a name."""
DEEDS: Final[Mapping[str, str]] = {
    "log-in": N_("logged in"),
    "search": N_("searched past hands"),
    "going": N_("“I go”"),
    "review.hand": N_("opened the hand"),
    "review.story": N_("read what happened"),
    "review.look": N_("looked at a picture"),
    "review.changes": N_("read what was changed"),
    "review.again": N_("had the hand counted again"),
    "dispute.dispute": N_("opened the dispute"),
    "dispute.dispute_file": N_("took the dispute file"),
    "records.make_file": N_("had the dispute file made"),
    "enrol.make": N_("made a code for a table"),
    "enrol.same": N_("said that a table's words are the same"),
    "enrol.other": N_("said that a table's words differ"),
    "enrol.end": N_("gave a table's code up"),
    "proof.seen": N_("looked into a new epoch of the proof log"),
    "files.withdraw": N_("withdrew a file from a table"),
    "records.capture": N_("looked at a picture"),
    "people.add": N_("added a person"),
    "people.role": N_("gave a person another role"),
    "people.passphrase": N_("gave a person another passphrase"),
    "people.remove": N_("removed a person"),
    "channels.move": N_("moved a release to a channel"),
    "channels.put": N_("put a table into a channel"),
    "channels.fill": N_("filled the channel Tenth"),
    "channels.again": N_("let a stopped release go on"),
    "channels.withdraw": N_("withdrew a release"),
}
"""The words for each act. An act of a later release, which is not listed here, is shown by its stored name."""


@dataclass(frozen=True)
class PersonLine:
    """One person. `seen_ms` is the time of their last act since they were added. `is_here`: they are logged in now."""

    person_id: int
    name: str
    role: PitRole
    added_ms: int
    seen_ms: int | None
    is_here: bool


@dataclass(frozen=True)
class Act:
    """One act of a person."""

    number: int
    at_ms: int
    person: str
    role: str
    deed: str
    record_id: int | None
    hand: int | None
    table: str
    detail: str


@blueprint.get("/people")
@guard.open_to(AUDIT)
def show_list() -> str:
    """Show the people who may log in, and the acts, newest first."""
    return _list_page()


@blueprint.post("/people/add")
@guard.open_to(OWNERS)
def add() -> tuple[str, int] | str | Response:
    """Add a person. If the pit makes the passphrase, it is shown once."""
    name, role, typed = request.form.get("name", "")[:LONGEST], _role_of_form(), _passphrase_of_form()
    try:
        passphrase = _typed_twice(typed) or people_changes.make_passphrase()
        done = people_changes.add(pit().database, guard.current_person(), name, role, passphrase)
    except AccessError as error:
        _abort_if_gone(error)
        return _list_page({"name": name, "role": role}, say(error)), 400
    return _redirect_done(done) if typed[0] else _show_once(" ".join(name.split()), passphrase)


@blueprint.get("/people/<int:number>")
@guard.open_to(OWNERS)
def one(number: int) -> str:
    """Show one person, with the changes that an owner may make."""
    return _one(number)


@blueprint.post("/people/<int:number>/role")
@guard.open_to(OWNERS)
def change_role(number: int) -> tuple[str, int] | Response:
    """Change a person's role."""
    role = _role_of_form()
    try:
        return _redirect_done(
            people_changes.change_role(pit().database, guard.current_person(), number, role)
        )
    except AccessError as error:
        _abort_if_gone(error)
        return _one(number, say(error)), 409


@blueprint.post("/people/<int:number>/passphrase")
@guard.open_to(OWNERS)
def change_passphrase(number: int) -> tuple[str, int] | str | Response:
    """Change a person's passphrase. If the pit makes it, it is shown once."""
    typed = _passphrase_of_form()
    name = _find_person(number).name
    try:
        passphrase = _typed_twice(typed) or people_changes.make_passphrase()
        done = people_changes.change_passphrase(pit().database, guard.current_person(), number, passphrase)
    except AccessError as error:
        _abort_if_gone(error)
        return _one(number, say(error)), 400
    return _redirect_done(done) if typed[0] else _show_once(name, passphrase)


@blueprint.post("/people/<int:number>/remove")
@guard.open_to(OWNERS)
def remove(number: int) -> tuple[str, int] | Response:
    """Remove a person."""
    try:
        return _redirect_done(people_changes.remove(pit().database, guard.current_person(), number))
    except AccessError as error:
        _abort_if_gone(error)
        return _one(number, say(error)), 409


def _role_of_form() -> PitRole:
    role = request.form.get("role", "")
    if role not in set(PitRole):
        abort(400, _("The page sent what it may not send. Reload the page."))
    return PitRole(role)


def _passphrase_of_form() -> tuple[str, str]:
    """Return the two passphrases typed in the form. Both are "" if the pit is to make one."""
    return request.form.get("passphrase", "")[: LONGEST_PASSPHRASE + 1], request.form.get("again", "")[
        : LONGEST_PASSPHRASE + 1
    ]


def _typed_twice(typed: tuple[str, str]) -> str:
    """Return the passphrase that was typed twice. Raises AccessError if the two differ."""
    if typed[0] != typed[1]:
        raise AccessError("The two passphrases differ. Type the same one twice.")
    return typed[0]


def _abort_if_gone(error: AccessError) -> None:
    """Abort the request if the person logged in is no longer an owner, or the other person is not listed."""
    if isinstance(error, NoOwner):
        abort(403, say(error))
    if isinstance(error, PersonNotListed):
        abort(404, say(error))


def _redirect_done(act: int) -> Response:
    """Return to the list, which confirms the act with this number."""
    return redirect(url_for("people.show_list", done=act), 303)


def _show_once(name: str, passphrase: str) -> str:
    return page("person_passphrase", _("Passphrase of %(name)s", name=name), passphrase=passphrase)


def _find_person(number: int) -> PersonLine:
    found = [known for known in people(pit().database) if known.person_id == number]
    if not found:
        abort(404, _("This person is not listed any more."))
    return found[0]


def _one(number: int, error: str = "") -> str:
    known = _find_person(number)
    return page(
        "person",
        known.name,
        one=known,
        error=error,
        is_self=known.name == guard.current_person().name,
        least=SHORTEST_PASSPHRASE,
        most=LONGEST_PASSPHRASE,
    )


def _list_page(asked: Mapping[str, str] | None = None, error: str = "") -> str:
    """Return the page. `asked`: what was typed into the form for a new person, to be shown again."""
    person, before = request.args.get("person", ""), request.args.get("before", "")
    if len(person) > LONGEST or "\0" in person:
        abort(400, _("“%(value)s” is no name.", value=person[:40]))
    if before and not (before.isascii() and before.isdigit() and int(before[:20]) < LARGEST):
        abort(400, _("“%(value)s” is no number.", value=before[:40]))
    found = acts(pit().database, person, int(before or LARGEST), PAGE + 1)
    more = (
        url_for("people.show_list", person=person or None, before=found[PAGE - 1].number)
        if len(found) > PAGE
        else ""
    )
    return page(
        "people",
        _("People"),
        people=people(pit().database),
        owns=guard.current_person().role in OWNERS,
        asked=asked or {},
        error=error,
        least=SHORTEST_PASSPHRASE,
        most=LONGEST_PASSPHRASE,
        done=next((act for act in found if str(act.number) == request.args.get("done")), None),
        acts=found[:PAGE],
        person=person,
        names=_names(pit().database),
        is_first=not before,
        more=more,
    )


def people(database: Database) -> list[PersonLine]:
    """Return the people who may log in, by name. Raises DatabaseError."""
    with database.transaction() as connection:
        rows = connection.execute(
            f"SELECT person_id, name, role, added_at, seen.at, EXISTS (SELECT FROM session WHERE {OPEN_SESSION})"
            " FROM person LEFT JOIN LATERAL (SELECT at FROM act WHERE act.person = person.name"
            " AND act.at >= person.added_at"
            " ORDER BY act_id DESC LIMIT 1) AS seen ON true ORDER BY name"
        ).fetchall()
    return [
        PersonLine(person_id, name, PitRole(role), _ms(added), _ms(seen) if seen else None, here)
        for person_id, name, role, added, seen, here in rows
    ]


def acts(database: Database, person: str, before: int, most: int) -> list[Act]:
    """Return at most `most` acts with numbers below `before`, newest first. Raises DatabaseError.

    They are those of one person or, if `person` is "", of everybody.
    """
    with database.transaction() as connection:
        rows = connection.execute(
            "SELECT act_id, at, person, role, what, record_id, hand, coalesce(gaming_table.name, ''), detail FROM act"
            " LEFT JOIN record USING (record_id) LEFT JOIN gaming_table USING (table_id)"
            f" WHERE act_id < %s {'AND person = %s' if person else ''} ORDER BY act_id DESC LIMIT %s",
            (before, *([person] if person else []), most),
        ).fetchall()
    return [
        Act(
            number=number,
            at_ms=_ms(at),
            person=who,
            role=_role(role),
            deed=_(DEEDS[what]) if what in DEEDS else what,
            record_id=record_id,
            hand=hand,
            table=table,
            detail=_detail(what, detail),
        )
        for number, at, who, role, what, record_id, hand, table, detail in rows
    ]


def _detail(what: str, detail: str) -> str:
    """Return an act's detail. A role in it is translated into the page's language."""
    name, colon, role = detail.rpartition(": ")
    return f"{name}{colon}{_role(role)}" if what in ("people.add", "people.role") else detail


def _names(database: Database) -> list[str]:
    """Return the names of all people with an act, including people who were removed.

    The query takes one step in the index for each name, and does not read all acts.
    """
    with database.transaction() as connection:
        rows = connection.execute(
            "WITH RECURSIVE one AS ((SELECT person FROM act ORDER BY person LIMIT 1) UNION ALL"
            " SELECT (SELECT act.person FROM act WHERE act.person > one.person ORDER BY act.person LIMIT 1)"
            " FROM one WHERE one.person IS NOT NULL) SELECT person FROM one WHERE person IS NOT NULL"
        ).fetchall()
    return [row[0] for row in rows]


def _role(role: str) -> str:
    return pgettext("role", ROLE_NAMES[PitRole(role)]) if role in set(PitRole) else role


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)
