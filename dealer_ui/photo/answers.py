"""What a person says of a photograph on the page, and the sheet that they share."""

from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from PIL import Image

from dealer_ui.photo.view import PhotoView, sheet_text
from dealer_ui.photo.visits import Visit
from dealer_ui.text.i18n import language
from firmware.photo.answers import parse_declared, parse_missing, parse_named, parse_row
from firmware.photo.asking import Answers
from firmware.photo.reading_process import PhotoReading
from firmware.photo.sheet import sheet
from firmware.rules import load_profile, profile_names

_FONTS: Final = Path(__file__).parents[1] / "fonts"
_CHINESE: Final = {"zh_Hans": "NotoSansCJKSC-Regular.ttf", "zh_Hant": "NotoSansCJKTC-Regular.ttf"}
UNITS: Final = (1, 5, 10, 25, 50, 100, 500, 1000, 2500, 10000)
"""What a point may be worth, in cents."""


@cache
def profiles() -> tuple[tuple[str, str], ...]:
    """Return the packaged rules: name and title."""
    return tuple((name, load_profile(name).title) for name in profile_names())


def read_answers(visit: Visit, given: Any) -> tuple[Answers, str, int]:
    """Return answers, profile and unit after one more answer. Raises ValueError, KeyError, TypeError."""
    kind, key, what = given["kind"], str(given.get("key", "")), str(given.get("is", ""))
    answers, profile, unit = visit.answers, visit.profile, visit.unit
    match kind:
        case "card":
            number, code = parse_named(f"{key}={what}")
            if visit.reading is None or number not in {card.number for card in visit.reading.cards}:
                raise ValueError("no such card")
            answers = replace(answers, cards={**answers.cards, number: code})
        case "missing":
            place, codes = parse_missing(f"{key}={what}")
            answers = replace(
                answers, missing={**answers.missing, place: answers.missing.get(place, ()) + codes}
            )
        case "rows":
            answers = replace(answers, rows=(*answers.rows, parse_row(what)))
        case "grouping":
            answers = replace(answers, grouping=_among(what, range(1, 5)))
        case "button":
            answers = replace(answers, button=_among(what, range(1, 5)))
        case "declared":
            seats = (parse_declared(word) for word in what.split() or ["none"])
            answers = replace(answers, declared=frozenset(seat for seat in seats if seat is not None))
        case "profile":
            if what not in profile_names():
                raise ValueError("no such profile")
            profile = what
            answers = replace(answers, declared=None)
        case "unit":
            unit = _among(what, UNITS)
        case "again":
            answers = Answers()
        case _:
            raise ValueError("unknown kind")
    return answers, profile, unit


def _among(text: str, values: Any) -> int:
    if int(text) not in values:
        raise ValueError("out of range")
    return int(text)


def sheet_file(reading: PhotoReading, view: PhotoView, visit: Visit, kind: str) -> bytes:
    """Return the sheet to share, in the page's language; nothing but picture and words is in it."""
    own = _CHINESE.get(language())
    title = dict(profiles())[visit.profile]
    with Image.open(BytesIO(reading.jpeg)) as picture:
        return sheet(
            picture, view.outcome, sheet_text(view, title), kind.upper(), _FONTS / own if own else None
        )
