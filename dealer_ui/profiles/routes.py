"""The pages of rule profiles: the list, one profile, two side by side, the house's own as a form.

Everybody may read. Storing a version and putting one in force need a PIN, which the table judges (`orders.give`).
"""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, NoReturn

from flask import Blueprint, Response, abort, jsonify, request
from werkzeug.exceptions import RequestEntityTooLarge

from dealer_ui.profiles.form import FormInput, blank_rate, read, sections
from dealer_ui.profiles.house_rules import house_rules
from dealer_ui.profiles.versions import ProfileVersion, Shelf, compare_profiles
from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.view.rules_sheet import sheet
from dealer_ui.web import guard
from dealer_ui.web.commands import give
from dealer_ui.web.pages import attachment, page, role_name
from dealer_ui.web.services import services
from firmware.rules import Profile, load_profile, profile_names, profile_toml
from firmware.rules.profiles.document import Block
from firmware.rules.profiles.sources import sources
from firmware.table.errors import JournalError
from firmware.table.people import Role

blueprint = Blueprint("profiles", __name__)

LONGEST_FORM: Final = 256 * 1024
"""Bytes of a form with all its texts."""
REASONS: Final = (
    N_("A mistake is put right"),
    N_("The house changes its rules"),
    N_("An event or a promotion"),
    N_("The regulator asks for it"),
)


@blueprint.get("/profiles")
@guard.open_to(guard.EVERYBODY)
def every() -> str:
    """List the profiles and say which is in force."""
    shelf = _shelf()
    return page(
        "profiles/list.html",
        _("Game rules"),
        profiles=shelf.all(),
        force=shelf.in_force,
        version_text=_format_version,
    )


@blueprint.get("/profiles/compare")
@guard.open_to(guard.EVERYBODY)
def compare() -> str:
    """Show two profiles side by side, `one` and `other`: the differences first."""
    shelf = _shelf()
    one, other = (_profile_by_key(shelf, request.args.get(key, "")) for key in ("one", "other"))
    options = compare_profiles(one.profile, other.profile)
    return page(
        "profiles/compare.html",
        _("Side by side"),
        one=one,
        other=other,
        profiles=shelf.all(),
        differing=[option for option in options if option.differs],
        same=[option for option in options if not option.differs],
    )


@blueprint.get("/profiles/<name>")
@guard.open_to(guard.EVERYBODY)
def show(name: str) -> str:
    """Show a profile in words and cards; `version` names an older one of the house's own."""
    shelf = _shelf()
    found = _find_profile(shelf, name)
    return page(
        "profiles/show.html",
        found.title,
        found=found,
        force=shelf.in_force,
        sheet=sheet(found.profile),
        blocks=_blocks(found.profile),
        source=_source(found.profile),
        version_text=_format_version,
        reasons=REASONS,
    )


@blueprint.get("/profiles/<name>/edit")
@guard.open_to(guard.EVERYBODY)
def edit(name: str) -> str:
    """Show a profile as a form: to change the house's own, or to make one from a packaged profile."""
    shelf = _shelf()
    found = _find_profile(shelf, name)
    return page(
        "profiles/edit.html",
        _("A game of your own") if found.packaged else _("Change %(title)s", title=found.title),
        found=found,
        sections=sections(found.profile),
        blank_rate=blank_rate("collection.schedule"),
        force=shelf.in_force,
        reasons=REASONS,
    )


@blueprint.get("/profiles/<name>/house-rules.pdf")
@guard.open_to(guard.EVERYBODY)
def printed(name: str) -> Response:
    """Return the house-rules page as a PDF, which a card room files with its internal controls."""
    from dealer_ui.reports.house_rules_pdf import pdf  # slow import

    found = _find_profile(_shelf(), name)
    return attachment(pdf(_blocks(found.profile)), "application/pdf", f"house-rules-{found.name}.pdf")


@blueprint.post("/profiles/<name>")
@guard.open_to(guard.EVERYBODY)
def change(name: str) -> tuple[Response, int]:
    """Run an action of a profile's page.

    `check` and `keep` send the form's fields, `back` and `use` name a `version`. 422 `{"errors": {field: sentence}}` if
    a field is invalid; otherwise the table's answer (`POST /command`).
    """
    request.max_content_length = LONGEST_FORM
    order = read_order()
    shelf = _shelf()
    found = _find_profile(shelf, name, str(order.get("version", "")))
    signed = {key: order[key] for key in ("by", "pin") if isinstance(order.get(key), str)}
    reason = str(order.get("reason", ""))
    answer: tuple[Response, int]
    match order.get("do"):
        case "check" | "keep" as do:
            fields = [*_pairs(order.get("fields"))]
            if not found.packaged:
                # another version of the same profile: the form is ignored
                fields.insert(0, ("name", found.name))
            taken = [one.name for one in shelf.all()] if found.packaged else []
            draft = read(FormInput(fields), found.profile, taken)
            if draft.profile is None:
                answer = jsonify(ok=False, error=_("Look at what is marked."), errors=draft.errors), 422
            elif do == "check":
                answer = jsonify(ok=True), 200
            else:
                answer = give({"do": "keep_profile", "text": draft.text, "reason": reason, **signed})
        case "back" if not found.packaged:
            text = profile_toml(found.profile)
            answer = give({"do": "keep_profile", "text": text, "reason": reason, **signed})
        case "use":
            brought = (
                {"profile": found.name} if found.packaged else {"profile_text": profile_toml(found.profile)}
            )
            answer = give({"do": "set_house", **brought, "reason": reason, **signed})
        case _:
            abort(400, _("The page sent something that this profile cannot do. Reload the page."))
    return answer


def find_all() -> tuple[ProfileVersion, ...]:
    """Return every profile in its newest version, or answer 503 without a record."""
    return _shelf().all()


def _shelf() -> Shelf:
    served = services()
    try:
        return Shelf(served.reader, served.live.state())
    except JournalError as error:
        _unreadable(error)


def _unreadable(error: JournalError) -> NoReturn:
    abort(503, say(error))


def _find_profile(shelf: Shelf, name: str, version: str = "") -> ProfileVersion:
    """Return the profile that an address names, or answer 404."""
    try:
        found = shelf.find(name, version or request.args.get("version", ""))
    except JournalError as error:
        _unreadable(error)
    if found is None:
        abort(404, _("There is no such profile."))
    return found


def _profile_by_key(shelf: Shelf, key: str) -> ProfileVersion:
    """Return the profile of `name` or `name@version`, or answer 404."""
    name, _at, version = key.partition("@")
    return _find_profile(shelf, name, version)


def read_order() -> dict[str, Any]:
    """Return the JSON object that the page sent, or answer 400."""
    try:
        order = json.loads(request.get_data())
    except RequestEntityTooLarge:
        raise
    except (ValueError, RecursionError):
        order = None
    if not isinstance(order, dict):
        abort(400, _("The page sent something that this profile cannot do. Reload the page."))
    return order


def _pairs(fields: object) -> Iterable[tuple[str, str]]:
    """Return the submitted form's fields; invalid entries are dropped."""
    for pair in fields if isinstance(fields, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair):
            yield pair[0], pair[1].replace("\r\n", "\n")


def _blocks(profile: Profile) -> tuple[Block, ...]:
    base = load_profile(profile.based_on) if profile.based_on in profile_names() else None
    return house_rules(profile, base)


def _source(profile: Profile) -> str:
    """Return the title of the document that a profile follows; a house's own title unchanged."""
    source = sources().get(profile.source)
    return source.title if source else profile.source


def _format_version(wall_ms: int, actor: str) -> str:
    """Format when something was done, and by whom."""
    when = datetime.fromtimestamp(wall_ms / 1000).strftime("%Y-%m-%d %H:%M")
    role, _colon, name = actor.partition(":")
    words = role_name(Role(role)) if role in set(Role) else role
    who = f"{name} ({words})" if name else words
    return _("%(when)s, by %(who)s", when=when, who=who)
