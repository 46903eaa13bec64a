"""Hands and settlements as JSON objects (DESIGN §4)."""

import json
from functools import lru_cache
from typing import Any

from firmware.rules.cards import Card, cards_text, parse_cards
from firmware.rules.errors import HandError, ProfileError, UnknownCardError, UnknownProfileError
from firmware.rules.hand import Hand, SeatHand
from firmware.rules.judging import JudgedHand
from firmware.rules.naturals.entry import RankedNatural
from firmware.rules.profiles.library import load_profile, with_checked_options
from firmware.rules.profiles.profile import Profile
from firmware.rules.profiles.targets import suggestion
from firmware.rules.rows import Rows
from firmware.rules.settlement import Pair, Settlement, settle
from firmware.rules.words import ROW_NAMES

Json = dict[str, Any]

_HAND_KEYS = frozenset({"profile", "options", "unit", "button", "seats"})
_SEAT_KEYS = frozenset(
    {
        "seat",
        "player",
        *ROW_NAMES,
        "stack",
        "declares",
        "surrenders",
        "acted",
        "fantasyland",
        "fantasyland_cards",
    }
)


def settle_json(obj: object, default_profile: str | None = None) -> Json:
    """Settle one hand given as a JSON object and return the settlement as one.

    `default_profile` applies if the hand names none. Raises HandError, whose `key` is the position of the error. An
    irregular hand is not an error: its answer lists what is irregular.
    """
    return settlement_json(settle(*read_hand(obj, default_profile)))


def read_hand(obj: object, default_profile: str | None = None) -> tuple[Hand, Profile]:
    """Return the hand of a JSON object and its profile. Raises HandError."""
    data = _object(obj, "", _HAND_KEYS)
    profile = _profile(data, default_profile)
    return _hand(data), profile


def hand_from_json(obj: object) -> Hand:
    """Return the hand of a JSON object without loading its profile. Raises HandError."""
    return _hand(_object(obj, "", _HAND_KEYS))


def _hand(data: Json) -> Hand:
    seats = _require(data, "seats", "", list, "an array of seats")
    return Hand(
        seats=tuple([_seat(seat, f"seats[{index}]") for index, seat in enumerate(seats)]),
        button=_require(data, "button", "", int, "the number of the puck's seat"),
        unit=_optional(data, "unit", "", int, "whole cents a point", 1),
    )


def _seat(obj: object, key: str) -> SeatHand:
    data = _object(obj, key, _SEAT_KEYS)
    surrenders = _optional(data, "surrenders", key, bool, "true or false", False)
    seat = _require(data, "seat", key, int, "the seat's number")
    return SeatHand(
        seat=seat,
        rows=_rows(data, key, may_be_absent=surrenders),
        player=_optional(data, "player", key, str, "the player's name", ""),
        stack=_optional(data, "stack", key, int, "whole cents", None),
        declares=_optional(data, "declares", key, bool, "true or false", False),
        surrenders=surrenders,
        acted=_optional(
            data, "acted", key, int, "the place among declarations and surrenders, a whole number", None
        ),
        fantasyland=_optional(data, "fantasyland", key, bool, "true or false", False),
        fantasyland_cards=_optional(data, "fantasyland_cards", key, int, "the number of cards dealt", None),
    )


def _rows(data: Json, key: str, *, may_be_absent: bool) -> Rows | None:
    if may_be_absent and not any(name in data for name in ROW_NAMES):
        return None
    rows = []
    for name in ROW_NAMES:
        text = _require(data, name, key, str, 'cards such as "As Ah Kd"')
        try:
            rows.append(parse_cards(text))
        except UnknownCardError as error:
            where = f"seat {_quote(data.get('seat'))}, {name}"
            raise HandError(_path(key, name), f"{where}: {error}") from None
    return Rows(*rows)


def _profile(data: Json, default: str | None) -> Profile:
    name = _optional(data, "profile", "", str, "the name of a profile", default)
    if name is None:
        raise HandError("profile", "the hand names no profile; name one in it, or give --profile")
    options = _optional(data, "options", "", dict, "an object of option paths and values", {})
    try:
        return _load(name, json.dumps(options) if options else "{}")
    except RecursionError:
        raise HandError(
            "options", "options lie too deep in each other; give option paths and values"
        ) from None
    except UnknownProfileError as error:
        raise HandError("profile", str(error)) from error
    except ProfileError as error:
        option = next((path for path in options if f"{error.key}.".startswith(f"{path}.")), "")
        raise HandError(f"options.{option}" if option else "profile", str(error)) from error


@lru_cache(maxsize=64)
def _load(name: str, options: str) -> Profile:
    """Return a profile with options set; cached, because a stream of hands repeats the same few."""
    return with_checked_options(load_profile(name), json.loads(options))


def _object(value: object, key: str, known: frozenset[str]) -> Json:
    """Return a JSON object whose keys are all known. Raises HandError."""
    if not isinstance(value, dict):
        raise HandError(key, f"{key or 'a hand'} must be an object, not {_quote(value)}")
    if not known.issuperset(value):
        name = next(name for name in value if name not in known)
        raise HandError(_path(key, name), f"{_path(key, name)} is unknown{suggestion(name, known)}")
    return value


def _require(data: Json, name: str, key: str, kind: type, wanted: str) -> Any:
    """Return a required value. Raises HandError."""
    value = data.get(name)
    # A bool is an int in Python, but true is not a number of cents.
    if type(value) is not kind or (isinstance(value, int) and abs(value) > LARGEST_NUMBER):
        raise _wrong(data, name, key, wanted)
    return value


def _optional(data: Json, name: str, key: str, kind: type, wanted: str, default: Any) -> Any:
    """Return a value, or the default if it is missing or null. Raises HandError."""
    value = data.get(name)
    if value is None:
        return default
    if type(value) is not kind or (isinstance(value, int) and abs(value) > LARGEST_NUMBER):
        raise _wrong(data, name, key, wanted)
    return value


LARGEST_NUMBER = 10**15
"""The highest number in a hand: 10^13 dollars."""


def _wrong(data: Json, name: str, key: str, wanted: str) -> HandError:
    path = _path(key, name)
    value = data.get(name)
    if type(value) is int and abs(value) > LARGEST_NUMBER:
        return HandError(path, f"{path} has more than 15 digits; give {wanted}")
    found = f"is {_quote(data[name])}" if name in data else "is missing"
    return HandError(path, f"{path} {found}; give {wanted}")


def _path(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _quote(value: object) -> str:
    try:
        text = json.dumps(value)
    except (ValueError, RecursionError):
        # a number with thousands of digits, or too many nested brackets
        return "something beyond all measure"
    return text if len(text) <= 40 else f"{text[:37]}..."


def settlement_json(settlement: Settlement) -> Json:
    """Return a settlement as the JSON object that `feltwatch settle --json` prints."""
    return {
        "profile": settlement.profile.name,
        "profile_hash": settlement.profile.hash,
        "order": list(settlement.order),
        "hands": [_hand_json(judged, settlement) for judged in settlement.hands],
        "pairs": [_pair_json(pair) for pair in settlement.pairs],
        "points": {str(seat): points for seat, points in settlement.points.items()},
        "paid": {str(seat): paid for seat, paid in settlement.paid.items()},
        "stacks": dict(settlement.stacks),
        "irregularities": [
            {"seat": found.seat, "row": found.row, "what": found.what, "cards": cards_text(found.cards)}
            for found in settlement.irregularities
        ],
    }


def _hand_json(judged: JudgedHand, settlement: Settlement) -> Json:
    is_settled = not settlement.irregularities
    natural, declaration = judged.natural, judged.declaration
    cards = {"fantasyland_cards": judged.fantasyland_cards} if judged.fantasyland_cards else {}
    return {
        "seat": judged.seat,
        "rows": _rows_json(judged),
        # While a hand is irregular, it is unknown whether it is a foul.
        "foul": judged.fault is not None if is_settled else None,
        "natural": _natural_json(natural) if natural else None,
        "declaration": declaration.verdict if declaration else None,
        "fantasyland_next": judged.fantasyland_next if is_settled else None,
        **cards,  # only where Fantasy Land may be dealt more than 13
    }


def _natural_json(natural: RankedNatural) -> Json:
    found: Json = {"kind": natural.kind, "value": natural.value}
    if natural.name:
        found["name"] = natural.name
    if natural.needs:
        found["conditions"] = natural.needs.given()
    return found


def _rows_json(judged: JudgedHand) -> Json:
    if judged.rows is None:
        return {}
    rows = zip(ROW_NAMES, judged.rows, judged.strengths, judged.bonuses, strict=True)
    return {name: _row_json(cards, strength, bonus, judged) for name, cards, strength, bonus in rows}


def _row_json(cards: tuple[Card, ...], strength: int, bonus: int, judged: JudgedHand) -> Json:
    if not strength:  # an irregular row has no strength
        return {"cards": cards_text(cards), "category": None, "text": "", "bonus": 0}
    return {
        "cards": cards_text(cards),
        "category": judged.scale.kind(strength).category.label,
        "text": judged.scale.text(strength),
        "bonus": bonus,
    }


def _pair_json(pair: Pair) -> Json:
    return {
        "a": pair.a,
        "b": pair.b,
        "points": pair.points,
        "owed": pair.owed,
        "paid": pair.paid,
        "short": pair.short,
        "lines": [
            {"id": line.id, "args": line.args, "points": line.points, "why": line.why, "clause": line.clause}
            for line in pair.lines
        ],
    }
