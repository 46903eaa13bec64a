"""The review: search, view, explain and correct past hands. It settles nothing and writes nothing itself."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cache, wraps
from typing import Any, Final

from flask import Blueprint, abort, jsonify, request, url_for
from werkzeug.exceptions import HTTPException

from dealer_ui.review.dispute_file import record_folder
from dealer_ui.review.filters import (
    HOUR_MS,
    PAGE,
    WITH,
    BadFilter,
    Filter,
    filter_of,
    has,
    midnight_ms,
    steps,
)
from dealer_ui.review.frames import FrameAnnotations, compare_readings, frame_annotations
from dealer_ui.review.timeline import day_of, time_of, timeline
from dealer_ui.review.view import hand_view, settle_again
from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import speaking_of
from dealer_ui.view.more_actions import past_hands
from dealer_ui.web import guard
from dealer_ui.web.guard import PAST
from dealer_ui.web.pages import page
from dealer_ui.web.services import services
from firmware.record.archive import Archive, HandFilter
from firmware.record.hand_history import PastHand, load_hand
from firmware.rules import SEATS, Profile, RulesError, load_profile, paying_in, profile_names
from firmware.table.errors import CaptureError, CommandRefused, TableError
from firmware.table.people import Role
from firmware.table.settling import rules_of
from firmware.table.state import State

blueprint = Blueprint("review", __name__)

LAST: Final = 10
"""Hands that the dealer may recall without anybody's PIN; without their pictures."""
TABS: Final = (
    ("hand", N_("Settlement")),
    ("story", N_("Timeline")),
    ("look", N_("Pictures")),
    ("changes", N_("What changed")),
    ("again", N_("Other rules")),
    ("dispute", N_("Dispute")),
)


@blueprint.errorhandler(HTTPException)
def refused(error: HTTPException) -> Any:
    """Show an error on a page with a back link; a program gets JSON."""
    if error.response is not None:
        return error.get_response()
    if not guard.is_browser() and request.accept_mimetypes.best == "application/json":
        return jsonify(ok=False, error=error.description), error.code or 500
    return page("review/error.html", _("Past hands"), sentence=error.description), error.code or 500


def of_hand(view: Callable[..., Any]) -> Callable[..., Any]:
    """Pass the hand of the address to a view, if its reader may see it and it is in the record.

    Sums are written in the currency of that hand.
    """

    @wraps(view)
    def find(hand: str, **more: Any) -> Any:
        number = number_of(hand)
        if number <= _last(services().live.state()) - LAST:
            guard.need(PAST, _("A hand before the last ten"))
        try:
            recalled = load_hand(services().reader, number)
        except CommandRefused as error:
            abort(404, say(error))
        except TableError as error:
            abort(503, say(error))
        with paying_in(recalled.opened.house.currency), speaking_of(_rules(recalled)):
            return view(recalled, **more)

    return find


def number_of(text: str) -> int:
    """Return a hand's number from an address; anything else is 404."""
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        abort(404, _("“%(text)s” is no hand's number.", text=text[:40]))
    return int(text)


def _last(state: State) -> int:
    """Return the last finished hand; 0 before the first."""
    return next(iter(past_hands(state)), 0)


def _sees_pictures(hand: int) -> bool:
    return guard.role() in PAST or services().live.state().hand == hand


# ---- the list ----


@blueprint.get("/review")
@guard.open_to(guard.EVERYBODY)
def show_list() -> Any:
    """List past hands, the newest first: the last ten for the dealer, all of them for floor people and auditors."""
    try:
        wanted = filter_of(request.args)
    except BadFilter as error:
        abort(400, str(error))
    whole = guard.role() in PAST
    if not whole and wanted.narrows:
        guard.need(PAST, _("Looking for hands"))
    state = services().live.state()
    archive = archive_of_record()
    try:
        if os.access(record_folder(), os.W_OK):
            archive.refresh()
        names = archive.names(of_open=False)
        found = archive.hands(wanted.wanted if whole else HandFilter(), wanted.before, PAGE + 2)
        days = _days(wanted, archive) if whole else None
    except TableError as error:
        abort(503, say(error))
    oldest = 1 if whole else _last(state) - LAST + 1
    found = [line for line in found if line.outcome != "open" and oldest <= line.hand <= _last(state)]
    return page(
        "review/list.html",
        _("Past hands"),
        hands=[(line, day_of(line.opened_ms), time_of(line.opened_ms), has(line)) for line in found[:PAGE]],
        wanted=wanted,
        more=len(found) > PAGE and whole,
        whole=whole,
        WITH={**WITH, "void": N_("void")},
        seats=SEATS,
        names=names,
        times=_times(),
        days=days,
    )


def archive_of_record() -> Archive:
    """Return the archive of the current record."""
    return Archive(record_folder(), services().reader, services().captures)


@dataclass(frozen=True)
class _Days:
    """The links by day: to the last day with a hand; from the chosen day to its neighbours and to its hours."""

    last: date
    steps: tuple[tuple[str, date], ...] = ()
    hours: tuple[tuple[str, int], ...] = ()


def _days(wanted: Filter, archive: Archive) -> _Days:
    newest = archive.hands(limit=1)
    last = datetime.fromtimestamp(newest[0].opened_ms / 1000).astimezone().date() if newest else date.today()
    if wanted.day is None:
        return _Days(last)
    whole = replace(wanted, hour=None).span
    hours = ((time_of(whole[0] + hour * HOUR_MS)[:5], hour) for hour in archive.hours(*whole))
    return _Days(last, steps(wanted.day, last), tuple(hours))


def _times() -> tuple[tuple[str, int], ...]:
    days = ((_("today"), 0), (_("since yesterday"), 1), (_("in the last week"), 7))
    return tuple((words, midnight_ms(date.today() - timedelta(days=ago))) for words, ago in days)


# ---- one hand ----


def render_hand(template: str, recalled: PastHand, tab: str, **values: Any) -> str:
    """Return a page about a past hand."""
    state = services().live.state()
    number = recalled.hand
    return page(
        f"review/{template}.html",
        _("Hand %(hand)s, recalled", hand=f"{number:,}"),
        back=url_for("review.show_list"),
        hand=hand_view(
            recalled, _rules(recalled), (*state.paybacks, *(state.suspended_state or state).paybacks)
        ),
        tab=tab,
        tabs=TABS,
        earlier=number - 1 if number > 1 else None,
        later=number + 1 if number < _last(state) else None,
        disputed=number in state.disputed,
        lies_open=_lies_open(state, number),
        pictures=_sees_pictures(number),
        clauses=guard.role() is not Role.DEALER,
        **values,
    )


def _lies_open(state: State, hand: int) -> bool:
    return bool(state.reopened) and state.hand == hand


def _is_disputed(hand: int) -> bool:
    state = services().live.state()
    return hand in state.disputed or _lies_open(state, hand)


def _rules(recalled: PastHand) -> Profile | None:
    try:
        return rules_of(recalled.opened, services().reader.content(recalled.opened.profile_hash))
    except TableError:
        return None


@blueprint.get("/review/<hand>")
@guard.open_to(guard.EVERYBODY)
@of_hand
def hand(recalled: PastHand) -> str:
    """Show a past hand's cards and its settlement with every clause."""
    return render_hand("hand", recalled, "hand")


@blueprint.get("/review/<hand>/story")
@guard.open_to(guard.EVERYBODY)
@of_hand
def story(recalled: PastHand) -> str:
    """Show a past hand's events row by row."""
    return render_hand("story", recalled, "story", rows=timeline(recalled))


@blueprint.get("/review/<hand>/look")
@guard.open_to(guard.EVERYBODY)
@of_hand
def look(recalled: PastHand) -> str:
    """Show a full frame: `row` names the reading, `card` enlarges a card, `marks` draws the reading in.

    Without `marks` it is drawn in, except for the hand in dispute.
    """
    _need_pictures(recalled)
    seen = frame_annotations(recalled)
    if not seen:
        zones = any(one.zone for one in timeline(recalled))
        return render_hand("look", recalled, "look", looks=(), look=None, zones=zones)
    row = request.args.get("row", str(seen[-1].seq))
    chosen = next((one for one in seen if str(one.seq) == row), None)
    if chosen is None:
        abort(404, _("Hand %(hand)s has no such picture.", hand=recalled.hand))
    number = request.args.get("card", "")
    card = next((one for one in chosen.cards if str(one.number) == number), None)
    if number and card is None:
        abort(404, _("There is no such card in this picture."))
    marks = request.args.get("marks", "on" if card or not _is_disputed(recalled.hand) else "off") != "off"
    return render_hand(
        "look", recalled, "look", looks=seen, look=chosen, size=size_of(chosen), card=card, marks=marks
    )


@blueprint.get("/review/<hand>/changes")
@guard.open_to(guard.EVERYBODY)
@of_hand
def changes(recalled: PastHand) -> str:
    """Show the frames of a hand side by side, with the changed places marked."""
    _need_pictures(recalled)
    beside = [
        (pair, size_of(pair.before), size_of(pair.after))
        for pair in compare_readings(frame_annotations(recalled))
    ]
    return render_hand("changes", recalled, "changes", beside=beside)


def _need_pictures(recalled: PastHand) -> None:
    if not _sees_pictures(recalled.hand):
        guard.need(PAST, _("A picture of a past hand"))


def size_of(seen: FrameAnnotations) -> tuple[int, int] | None:
    """Return a frame's width and height in pixels; None if it no longer exists."""
    from dealer_ui.review import stored_picture

    try:
        return stored_picture.size_of(services().captures.path(seen.frame))
    except (CaptureError, OSError):
        return None


@blueprint.get("/review/<hand>/again")
@guard.open_to(guard.EVERYBODY)
@of_hand
def again(recalled: PastHand) -> str:
    """Settle a past hand's cards again, next to the recorded settlement: by its own rules or by another profile."""
    own = recalled.opened.profile
    name = request.args.get("profile", own)
    if name != own and name not in profile_names():
        abort(404, _("There is no profile “%(name)s”.", name=name[:60]))
    try:
        rules = _rules(recalled) if name == own else load_profile(name)
    except RulesError as error:
        abort(404, say(error))
    if recalled.settlement is None or rules is None:
        return render_hand("again", recalled, "again", chosen=name, profiles=_titles(), beside=None)
    beside = settle_again(recalled, rules, rules.title)
    return render_hand("again", recalled, "again", chosen=name, profiles=_titles(), beside=beside)


@cache
def _titles() -> tuple[tuple[str, str], ...]:
    return tuple((name, load_profile(name).title) for name in profile_names())
