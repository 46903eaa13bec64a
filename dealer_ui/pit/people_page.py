"""Who may log in at the pit, and what everybody did: an auditor sees who looked at which hand.

The page shows; people are added and removed at the server's console only, as for the review of one table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from flask import Blueprint, abort, request, url_for

from dealer_ui.pit import guard
from dealer_ui.pit.people import ROLE_NAMES, PitRole
from dealer_ui.pit.services import page, pit
from dealer_ui.remote.access import IDLE_S, LONGEST_S
from dealer_ui.text.i18n import N_, pgettext
from dealer_ui.text.i18n import gettext as _
from firmware.pit.database import Database

blueprint = Blueprint("people", __name__)
AUDIT: Final = frozenset({PitRole.AUDITOR, PitRole.OWNER})
PAGE: Final = 100
"""Acts on one page."""
LARGEST: Final = 1 << 62
LONGEST: Final = 200
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
    "waves.start": N_("began a wave"),
    "waves.stop": N_("stopped the wave"),
    "waves.resume": N_("let the wave go on"),
}
"""What an act is called. One that a later release knows is shown by its own name."""


@dataclass(frozen=True)
class Known:
    """One person; `seen_ms` is when he was last logged in, None if never since he was added."""

    name: str
    role: str
    added_ms: int
    seen_ms: int | None
    is_here: bool


@dataclass(frozen=True)
class Act:
    """One thing that somebody did."""

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
def listed() -> str:
    """Show who may log in, and what was done, the newest first."""
    person, before = request.args.get("person", ""), request.args.get("before", "")
    if len(person) > LONGEST or "\0" in person:
        abort(400, _("“%(value)s” is no name.", value=person[:40]))
    if before and not (before.isascii() and before.isdigit() and int(before[:20]) < LARGEST):
        abort(400, _("“%(value)s” is no number.", value=before[:40]))
    found = acts(pit().database, person, int(before or LARGEST), PAGE + 1)
    more = (
        url_for("people.listed", person=person or None, before=found[PAGE - 1].number)
        if len(found) > PAGE
        else ""
    )
    return page(
        "people",
        _("People"),
        people=people(pit().database),
        acts=found[:PAGE],
        person=person,
        names=_names(pit().database),
        is_first=not before,
        more=more,
    )


def people(database: Database) -> list[Known]:
    """Return all who may log in, by name. Raises DatabaseError."""
    with database.transaction() as connection:
        rows = connection.execute(
            "SELECT name, role, added_at, seen.at, EXISTS (SELECT FROM session WHERE session.person_id ="
            " person.person_id AND session.passphrase_id = person.passphrase_id"
            " AND used_at > now() - %s * interval '1 second' AND began_at > now() - %s * interval '1 second')"
            " FROM person LEFT JOIN LATERAL (SELECT at FROM act WHERE act.person = person.name"
            " ORDER BY act_id DESC LIMIT 1) AS seen ON true ORDER BY name",
            (IDLE_S, LONGEST_S),
        ).fetchall()
    return [
        Known(name, _role(role), _ms(added), _ms(seen) if seen else None, here)
        for name, role, added, seen, here in rows
    ]


def acts(database: Database, person: str, before: int, most: int) -> list[Act]:
    """Return the newest acts below a number, of one person or, with "", of all. Raises DatabaseError."""
    with database.transaction() as connection:
        rows = connection.execute(
            "SELECT act_id, at, person, role, what, record_id, hand, coalesce(gaming_table.name, ''), detail FROM act"
            " LEFT JOIN record USING (record_id) LEFT JOIN gaming_table USING (table_id)"
            f" WHERE act_id < %s {'AND person = %s' if person else ''} ORDER BY act_id DESC LIMIT %s",
            (before, *([person] if person else []), most),
        ).fetchall()
    return [
        Act(number, _ms(at), who, _role(role), _(DEEDS[what]) if what in DEEDS else what, *rest)
        for number, at, who, role, what, *rest in rows
    ]


def _names(database: Database) -> list[str]:
    """Return everybody who did something, those who were removed, too: each is one step in the index."""
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
