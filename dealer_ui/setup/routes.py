"""The setup pages: step by step the first time, later each step by itself.

Completed steps are in the record, so a setup continues after a power cut. Nothing is decided here: each step is a
command that the table judges, and the table process tests the devices.
"""

import time
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import available_timezones

from flask import Blueprint, Response, abort, redirect, render_template, request
from werkzeug.wrappers import Response as Redirect

from dealer_ui.setup.device_words import figure, when
from dealer_ui.setup.steps import BY_NAME, STEPS, Stage, Step, StepState, after, first_open, standings
from dealer_ui.text.i18n import N_, ngettext
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import money
from dealer_ui.view.seats import names_to_offer
from dealer_ui.web import guard
from dealer_ui.web.answers import Trial, json_answer
from dealer_ui.web.commands import give
from dealer_ui.web.pages import page
from dealer_ui.web.services import services
from firmware.health.check import Verdict
from firmware.health.device_checks import device_check, name_of
from firmware.rules import SEATS, Profile, load_profile, profile_names
from firmware.table.command import COMMAND_ROLES
from firmware.table.people import PIN_ROLES, Role
from firmware.table.state import State
from firmware.table.zone import use_zone, zone_now

blueprint = Blueprint("set_up", __name__)

TECHNICIAN: Final = frozenset({Role.TECHNICIAN})
LISTING: Final = COMMAND_ROLES["list_person"]
REASON: Final = "Set-up"
"""Why settings are others, in the record."""
ACTS: Final = frozenset({"act", "name", "seen"})
"""What a device's page says of its trial; who and which device are not its to say."""
CLOCK: Final = frozenset({"date", "time", "zone"})
"""What the clock's pages send."""
REGIONS: Final = (
    N_("Africa"),
    N_("America"),
    N_("Antarctica"),
    N_("Arctic"),
    N_("Asia"),
    N_("Atlantic"),
    N_("Australia"),
    N_("Europe"),
    N_("Indian"),
    N_("Pacific"),
)
"""The parts of the world by which time zones are named, as those names have them; also messages."""


@dataclass(frozen=True)
class Line:
    """A step on the overview: its state in words."""

    step: Step
    stage: Stage
    text: str = ""
    figure: str = ""
    when: str = ""
    who: str = ""


@blueprint.get("/set-up")
@guard.open_to(guard.EVERYBODY)
def overview() -> str | Redirect:
    """List the steps: each one's state, since when and by whom."""
    state = services().live.state()
    if not _technicians(state) and state.set_up:
        return redirect("/set-up/people")  # there are no PINs yet
    need_somebody(state)
    known = standings(services().reader.of_set_up())
    lines = [_line(step, known[step.name]) for step in STEPS]
    return page("first_run/overview.html", _("Set-up"), lines=lines, state=state, next_step=first_open(known))


@blueprint.get("/set-up/next")
@guard.open_to(guard.EVERYBODY)
def next_step() -> Redirect:
    """Redirect to the first open step."""
    need_somebody(services().live.state())
    step = first_open(standings(services().reader.of_set_up()))
    return redirect(f"/set-up/{step.name}" if step else "/set-up/ready")


@blueprint.get("/set-up/ready")
@guard.open_to(guard.EVERYBODY)
def ready() -> str:
    """Show that all is done, or what was left out, and link to the first hand."""
    state = services().live.state()
    need_somebody(state)
    known = standings(services().reader.of_set_up())
    left = [_line(step, known[step.name]) for step in STEPS if known[step.name].stage is not Stage.DONE]
    return page("first_run/ready.html", _("Ready for the first hand"), left=left, state=state)


@blueprint.get("/set-up/<name>")
@guard.open_to(guard.EVERYBODY)
def step(name: str) -> str:
    """Show one step."""
    if name not in BY_NAME:
        abort(404, _("The set-up has no such step."))
    state = services().live.state()
    if name != "people":
        need_somebody(state)
    elif _technicians(state):
        guard.need(LISTING, _("This page"))
    this = BY_NAME[name]
    known = standings(services().reader.of_set_up())[name]
    template = "device" if this.device and name != "clock" else "elsewhere" if this.elsewhere else name
    return page(
        f"first_run/{template}.html",
        _(this.title),
        step=this,
        line=_line(this, known),
        number=STEPS.index(this) + 1,
        count=len(STEPS),
        then=_then(state, this),
        state=state,
        reason=REASON,
        **_values(name, state),
    )


@blueprint.get("/set-up/proposed")
@guard.open_to(guard.EVERYBODY)
def proposed() -> str | Redirect:
    """Offer all open steps at once: with the current settings, and the devices for later."""
    state = services().live.state()
    if state.set_up or not _technicians(state):
        return redirect("/set-up")
    need_somebody(state)
    known = standings(services().reader.of_set_up())
    house = state.house
    table = house.table or "1"
    seated = ", ".join(seat.player for seat in house.seats)
    lines = (
        (_("Table number"), table),
        (_("Clock"), f"{when(time.time_ns() // 1_000_000)} ({zone_now() or '?'})"),
        (
            _("Game and limit"),
            _("%(profile)s, %(unit)s a point", profile=_title(house.profile), unit=money(house.unit)),
        ),
        (_("Seats"), seated or _("later: nobody sits here yet")),
        (_("Devices"), _("tried later, each by itself; what does not work is said at the table")),
        (_("Calibration and deck"), _("later: until then the hands are keyed")),
    )
    settled = [
        {"do": "settle_step", "step": name, "skipped": skipped}
        for names, skipped in (
            (("people", "table", "clock", "game"), False),
            (("seats",), not seated),
            (("calibration", "deck"), True),
        )
        for name in names
        if known[name].stage is Stage.OPEN
    ]
    number = [] if house.table else [{"do": "set_house", "reason": REASON, "table": table}]
    return page(
        "first_run/proposed.html",
        _("As proposed"),
        proposed=lines,
        commands=[*number, *settled, {"do": "end_set_up", "skipped": True}],
        state=state,
    )


def _title(profile: str) -> str:
    """Return a profile's title; a house's own goes by its name."""
    return load_profile(profile).title if profile in profile_names() else profile


@blueprint.get("/set-up/clock/zone")
@guard.open_to(guard.EVERYBODY)
def zone() -> str:
    """Offer the parts of the world, or with `of` the time zones of one."""
    state = services().live.state()
    need_somebody(state)
    of = request.args.get("of", "")
    known = sorted(name for name in available_timezones() if name.partition("/")[0] in REGIONS)
    zones = [(name, _place(name)) for name in known if name.startswith(f"{of}/")] if of else []
    return page(
        "first_run/zone.html",
        _("Time zone"),
        regions=() if zones else REGIONS,
        zones=zones,
        zone=zone_now(),
        state=state,
    )


def _place(name: str) -> str:
    """Format a zone's place: `America/Argentina/Buenos_Aires` is "Argentina, Buenos Aires"."""
    return ", ".join(name.split("/")[1:]).replace("_", " ")


@blueprint.post("/set-up/clock/set")
@guard.open_to(guard.EVERYBODY)
def set_clock() -> tuple[Response, int]:
    """Have the table set the box's clock; this process uses the new zone at once."""
    sent = request.get_json(silent=True)
    if not isinstance(sent, dict) or set(sent) - CLOCK:
        abort(400, _("The page sent what it may not send. Reload the page."))
    response, code = give({"do": "set_clock", **sent})
    if response.get_json()["ok"] and sent.get("zone"):
        use_zone(sent["zone"])
    return response, code


@blueprint.post("/set-up/<name>/trial")
@guard.open_to(guard.EVERYBODY)
def trial(name: str) -> tuple[Response, int]:
    """Continue a device's test, and return the part of its page with its state."""
    this = BY_NAME.get(name)
    order = request.get_json(silent=True)
    if this is None or not this.device or not isinstance(order, dict) or set(order) - ACTS:
        abort(400, _("The page sent what it may not send. Reload the page."))
    response, code = give({"do": "try_device", "device": this.device, **order})
    answer = response.get_json()
    if not answer["ok"]:
        return response, code
    check = device_check(this.device, answer["verdict"], answer["why"], answer["figures"], answer["asks"])
    html = render_template(
        "first_run/trial.html",
        step=this,
        trial=answer,
        is_absent=check.verdict is Verdict.ABSENT,
        text=say(check.says),
        advice=say(check.advice) if check.advice else "",
        figure=figure(this.device, answer["figures"]),
        asks=say(name_of(answer["asks"])),
        then=_then(services().live.state(), this),
    )
    return json_answer(Trial(answer["verdict"], html)), 200


def need_somebody(state: State) -> None:
    """Answer 403 or redirect to the PIN page unless a technician is signed on; a fresh box is open to everybody."""
    if state.set_up or _technicians(state):
        guard.need(TECHNICIAN, _("Set-up"))


def _technicians(state: State) -> list[str]:
    return [person.name for person in state.people if person.role is Role.TECHNICIAN]


def _then(state: State, step: Step) -> str:
    """Return the address after a completed step: the next step the first time, later the overview."""
    if state.set_up:
        return "/set-up"
    following = after(step)
    return f"/set-up/{following.name}" if following else "/set-up/ready"


def _line(step: Step, standing: StepState) -> Line:
    result, shown = "", ""
    if standing.why and standing.figures is not None:
        failed = standing.stage is Stage.FAILED
        check = device_check(step.device, "fail" if failed else "pass", standing.why, standing.figures)
        shown = figure(step.device, standing.figures) if step.name != "clock" else ""
        result = say(check.says)
        if failed and check.advice:
            result = f"{result} {say(check.advice)}"
    return Line(
        step=step,
        stage=standing.stage,
        text=result,
        figure=shown,
        when=when(standing.wall_ms) if standing.wall_ms else "",
        who=standing.actor.partition(":")[2],
    )


def _values(name: str, state: State) -> dict[str, Any]:
    """Return the template values of a step's own page."""
    match name:
        case "people":
            return {
                "me": guard.name(),
                "lists": _lists(guard.role()),
                "people": sorted(state.people, key=lambda person: (ORDER[person.role], person.name)),
                "first": not _technicians(state),
                "pin_roles": PIN_ROLES,
            }
        case "game":
            # the one in force first
            names = sorted(profile_names(), key=lambda name: name != state.house.profile)
            return {"games": [_game(name) for name in names], "unit": money(state.house.unit)}
        case "clock":
            return {"zone": zone_now()}
        case "seats":
            seated = {seat.seat: seat.player for seat in state.house.seats}
            chairs = [(number, seated.get(number, "")) for number in SEATS]
            return {"chairs": chairs, "offers": names_to_offer(state)}
        case _:
            return {}


def _lists(role: Role) -> tuple[Role, ...]:
    """Return the roles that each role may add and remove (`firmware.access.control` judges it)."""
    return (Role.DEALER,) if role is Role.FLOOR else (Role.FLOOR, Role.DEALER, Role.AUDITOR, Role.TECHNICIAN)


ORDER: Final = {Role.TECHNICIAN: 0, Role.FLOOR: 1, Role.AUDITOR: 2, Role.DEALER: 3}


@dataclass(frozen=True)
class Game:
    """A profile to choose, in a few plain sentences."""

    name: str
    title: str
    text: tuple[str, ...]


def _game(name: str) -> Game:
    profile = load_profile(name)
    return Game(name, profile.title, in_short(profile))


def in_short(profile: Profile) -> tuple[str, ...]:
    """Describe a profile's kind of game for newcomers; this does not replace the rules."""
    scoring, naturals = profile.scoring, profile.naturals
    dealt = {
        "closed": _("Hands are set closed and shown together."),
        "face_up": _("Cards are placed face up, one after another."),
        "pineapple": _("Cards are placed face up, two of three at a time; one is discarded."),
    }[profile.deal.kind]
    rows = ngettext("%(num)s point for each row.", "%(num)s points for each row.", scoring.row)
    if scoring.outcome:
        (_two, two), (_three, three) = scoring.outcome
        rows = _("Two rows of three come to %(two)s, all three to %(three)s.", two=two, three=three)
    more = []
    if scoring.rows:
        rows = _("%(front)s, %(middle)s and %(back)s points for the rows.", **dict(scoring.rows))
    if scoring.majority:
        more.append(_("%(points)s more for two rows of three.", points=scoring.majority))
    if scoring.scoop:
        more.append(_("%(points)s more for all three.", points=scoring.scoop))
    if scoring.scoop_times or scoring.beat_all_times:
        more.append(_("Winning all three rows multiplies the points."))
    if profile.bonus.pays != "none":
        more.append(_("Strong rows win bonus points."))
    if naturals.kinds:
        best = max(entry.value for entry in naturals.kinds)
        more.append(_("Naturals win up to %(points)s points.", points=best))
    if profile.surrender.points:
        more.append(_("A player may surrender for %(points)s.", points=profile.surrender.points))
    if profile.fantasyland.entry:
        more.append(_("Fantasy Land."))
    return (dealt, rows, *more)
