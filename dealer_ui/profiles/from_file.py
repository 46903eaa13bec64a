"""A profile from a file: its text is checked, each mistake with its line, and written down as a version."""

import time
from dataclasses import asdict
from typing import Final

from flask import Blueprint, Response, abort, jsonify, request

from dealer_ui.profiles.form import name_options
from dealer_ui.profiles.routes import REASONS, find_all, read_order
from dealer_ui.review.stick import silent, stick_view
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.web import guard
from dealer_ui.web.answers import ProfileMistake, StickFile, StickProfiles, json_answer
from dealer_ui.web.commands import give
from dealer_ui.web.pages import page
from dealer_ui.web.services import services
from firmware.record.stick_request import Progress, read_profiles, read_progress
from firmware.rules import Profile, ProfileError, Trouble, parse_profile
from firmware.rules.profiles.library import name_trouble
from firmware.rules.profiles.toml_text import LONGEST_TEXT

blueprint = Blueprint("profile_file", __name__)

ADDRESS: Final = "/profiles/_file"
"""No profile has a name like this."""
_BOTH: Final = "“{title}” ({path})"
"""How a mistake names an option: as the page does, and as the file does."""
LONGEST_ORDER: Final = 8 * LONGEST_TEXT
"""Bytes of an order with a text in which each character is escaped."""


@blueprint.get(ADDRESS)
@guard.open_to(guard.EVERYBODY)
def from_file() -> str:
    """Show the page that takes a profile's text."""
    return page(
        "profiles/from_file.html",
        _("A game from a file"),
        reasons=REASONS,
        address=ADDRESS,
        silent=silent(),
        most=LONGEST_TEXT,
    )


@blueprint.get(f"{ADDRESS}/stick")
@guard.open_to(guard.EVERYBODY)
def on_stick() -> Response:
    """Describe how far the profiles on a stick are read, by the name of the request, and return them once they are."""
    job, path = request.args.get("job", ""), services().stick
    answer = read_progress(path)
    if answer is None or answer.id != job:
        answer = Progress(job, 0, beat_s=time.monotonic())
    if answer.step != "done":
        return json_answer(StickProfiles(**asdict(stick_view(answer))))
    files = tuple(StickFile(one.name, one.text) for one in read_profiles(path, job))
    return json_answer(StickProfiles("done", True, 100, _("Take the stick out, and choose a file."), files))


@blueprint.post(ADDRESS)
@guard.open_to(guard.EVERYBODY)
def bring() -> tuple[Response, int]:
    """Check a profile's `text` (`check`), or write it down as a version, too (`keep`).

    422 `{"mistakes": [{"line", "key", "says"}]}` with all that is wrong with it; otherwise the table's answer
    (`POST /command`), and for `check` a sentence about what the text is.
    """
    request.max_content_length = LONGEST_ORDER
    order = read_order()
    text = order.get("text")
    if order.get("do") not in ("check", "keep") or not isinstance(text, str):
        abort(400, _("The page sent something that this profile cannot do. Reload the page."))
    try:
        profile = parse_profile(text)
        if why := name_trouble(profile.name):
            raise ProfileError(why, key="profile.name")
    except ProfileError as error:
        mistakes = [_mistake(trouble) for trouble in error.troubles]
        return jsonify(ok=False, error=_("Look at what is marked."), mistakes=mistakes), 422
    if order["do"] == "check":
        return jsonify(ok=True, name=profile.name, says=_sound(profile)), 200
    signed = {key: order[key] for key in ("by", "pin") if isinstance(order.get(key), str)}
    return give({"do": "keep_profile", "text": text, "reason": str(order.get("reason", "")), **signed})


def _mistake(trouble: Trouble) -> ProfileMistake:
    key, line, message = trouble
    return ProfileMistake(line, key, name_options(say(message), _BOTH))


def _sound(profile: Profile) -> str:
    if profile.name in (one.name for one in find_all()):
        return _(
            "All is sound. There is a profile %(name)s already: this becomes its newest version.",
            name=profile.name,
        )
    return _("All is sound: %(title)s becomes the profile %(name)s.", title=profile.title, name=profile.name)
