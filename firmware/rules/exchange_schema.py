"""JSON Schemas (draft 2020-12) of the hands that `feltwatch settle` reads and of the answers of --json.

Names and limits come from the code that checks them. A schema checks less than that code: not that seats differ, nor
the profile's limits. `read_hand` also refuses every hand that a schema refuses.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, get_args, get_type_hints

from firmware.rules.cards import RANKS, SUITS
from firmware.rules.exchange import LARGEST_NUMBER
from firmware.rules.foul import Fault
from firmware.rules.hand import MAX_HANDS, MIN_HANDS, SEATS
from firmware.rules.irregularities import What
from firmware.rules.judging import Declaration
from firmware.rules.lines import CLAUSES
from firmware.rules.naturals.kinds import NATURALS
from firmware.rules.profiles.dealt_cards import LAID, MAX_DEALT_CARDS
from firmware.rules.profiles.sections import OPTIONS
from firmware.rules.strength import CATEGORIES
from firmware.rules.words import ROW_NAMES

Schema = dict[str, Any]

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_CARD: Final = rf"((10|[{RANKS}])[{SUITS}]|\?\?)"


def input_schema() -> Schema:
    """Return the schema of one hand."""
    return {
        "$schema": _DRAFT,
        "title": "A hand to settle",
        "description": "All sums are whole cents.",
        **_object(
            {
                "profile": _or_null(
                    _text("The rules: the name of a profile. Without it, the one of --profile counts.")
                ),
                "options": _or_null(
                    {
                        "type": "object",
                        "description": "Options of the profile that are changed for this hand, by their path.",
                        "propertyNames": {"enum": list(OPTIONS)},
                        "default": {},
                    }
                ),
                "unit": _or_null(_whole("Cents a point.", 1)) | {"default": 1},
                "button": _seat("The seat that holds the puck, whether or not it plays."),
                "seats": {
                    "type": "array",
                    "description": "The hands, one for each seat that plays.",
                    "minItems": MIN_HANDS,
                    "maxItems": MAX_HANDS,
                    "items": _seat_schema(),
                },
            },
            required=("button", "seats"),
        ),
    }


def _seat_schema() -> Schema:
    rows = {
        name: {
            "type": "string",
            "description": f'The cards of the {name} row, such as "As 10h Td"; ?? is a card that could not be read.',
            "pattern": rf"^\s*({_CARD}(\s+{_CARD})*)?\s*$",
        }
        for name in ROW_NAMES
    }
    both = {"declares": {"const": True}, "surrenders": {"const": True}}
    return {
        **_object(
            {
                "seat": _seat("The number of the seat; no two hands have the same."),
                "player": _or_null(_text("Who plays the seat. Two seats may have the same player.")),
                **rows,
                "stack": _or_null(
                    _whole("What the player had on the table before the hand; null: no limit.", 0)
                ),
                "declares": _or_null(_flag("The seat declared a natural.")),
                "surrenders": _or_null(_flag("The seat surrendered. It may leave out its rows.")),
                "acted": _or_null(
                    _whole(
                        "Where the declaration or the surrender stands in the order of these acts.",
                        -LARGEST_NUMBER,
                    )
                ),
                "fantasyland": _or_null(_flag("The hand was played in Fantasy Land.")),
                "fantasyland_cards": _or_null(
                    _whole(
                        "The cards that the seat was dealt there, 13 of them laid; null: as many as the profile's "
                        "fantasyland.cards.",
                        LAID,
                    )
                    | {"maximum": MAX_DEALT_CARDS}
                ),
            },
            required=("seat",),
        ),
        "anyOf": [
            {"required": list(ROW_NAMES)},
            {
                "required": ["surrenders"],
                "properties": {"surrenders": {"const": True}, **dict.fromkeys(ROW_NAMES, False)},
            },
        ],
        "not": {"required": list(both), "properties": both},
    }


def output_schema() -> Schema:
    """Return the schema of one answer: a settlement, or an error."""
    return {
        "$schema": _DRAFT,
        "title": "The answer to a hand",
        "description": "All sums are whole cents.",
        "oneOf": [_settlement(), _error()],
    }


def _error() -> Schema:
    error = {
        "line": {"type": "integer", "minimum": 1, "description": "The line on which the hand begins."},
        "key": _text('What is wrong, such as "seats[0].front"; empty: the hand as a whole.'),
        "message": _text("A sentence about it."),
    }
    return {"title": "An error", **_object({"error": _object(error)})}


def _settlement() -> Schema:
    irregular = "Empty, and nothing is settled, while there are irregularities."
    by_seat = {"type": "object", "propertyNames": {"pattern": f"^[{SEATS[0]}-{SEATS[-1]}]$"}}
    return {
        "title": "A settlement",
        **_object(
            {
                "profile": _text("The name of the profile that the hand was settled by."),
                "profile_hash": _text(
                    "The SHA-256 of its text, as the record has it or `feltwatch profiles show` prints it. If the hand "
                    "names options, the SHA-256 of that, a line end, and the options as JSON with sorted keys."
                )
                | {"pattern": "^[0-9a-f]{64}$"},
                "order": _array(_seat(), "The seats by position."),
                "hands": _array(_hand(), "What each hand is, in the order in which the hands were given."),
                "pairs": _array(
                    _pair(), f"What passes between two seats, in the order of payment. {irregular}"
                ),
                "points": by_seat
                | {
                    "description": f"Points that each seat won; negative: lost. {irregular}",
                    "additionalProperties": {"type": "integer"},
                },
                "paid": by_seat
                | {
                    "description": f"Cents that each seat won; negative: lost. {irregular}",
                    "additionalProperties": {"type": "integer"},
                },
                "stacks": {
                    "type": "object",
                    "description": "Cents that each player has after the hand, by name, or by seat where there is no "
                    "name. Players without a stack are left out.",
                    "additionalProperties": {"type": "integer", "minimum": 0},
                },
                "irregularities": _array(
                    _object(
                        {
                            "seat": _seat(),
                            "row": {"enum": list(ROW_NAMES)},
                            "what": {"enum": list(get_args(What))},
                            "cards": _text("The cards concerned."),
                        }
                    ),
                    "What the dealer must resolve before the hand can be settled.",
                ),
            }
        ),
    }


def _hand() -> Schema:
    row = _object(
        {
            "cards": _text("The cards of the row."),
            "category": _or_null({"enum": list(CATEGORIES)}),
            "text": _text("The row in words; empty where it is irregular."),
            "bonus": _points("Points that the bonus table gives the row."),
        }
    )
    rows = _object(dict.fromkeys(ROW_NAMES, row), required=())
    verdicts = get_args(get_type_hints(Declaration)["verdict"])
    return _object(
        {
            "seat": _seat(),
            "rows": rows | {"description": "Empty where the seat surrendered without showing its cards."},
            "foul": _or_null(_flag("Whether the hand is a foul; null while there are irregularities.")),
            "natural": _or_null(
                _object(
                    {
                        "kind": _kind_of_natural(),
                        "value": _points("What it earns."),
                        "name": _text("What the house calls it."),
                        "conditions": {
                            "type": "object",
                            "description": "What a house's own natural asks of the cards, as in the profile.",
                        },
                    },
                    required=("kind", "value"),
                )
                | {"description": "The natural that counts."}
            ),
            "declaration": _or_null(
                {"enum": list(verdicts), "description": "What became of a declared natural."}
            ),
            "fantasyland_next": _or_null(
                _flag(
                    "Whether this hand puts its player in Fantasy Land for the next one, or keeps them there; null "
                    "while there are irregularities. Where a player has two hands, each says it for itself."
                )
            ),
            "fantasyland_cards": _whole(
                "The cards that it is dealt there; only of rules that may deal more than 13.", LAID
            )
            | {"maximum": MAX_DEALT_CARDS},
        },
        optional=("fantasyland_cards",),
    )


def _kind_of_natural() -> Schema:
    return _text(f"One of {', '.join(NATURALS)}, or of a house's own.")


def _pair() -> Schema:
    naturals = _kind_of_natural()
    args = _object(
        {
            "row": {"enum": list(ROW_NAMES)},
            "fault": {"enum": [str(fault) for fault in Fault]},
            "kind": naturals,
            "other_kind": naturals,
            "winner": _seat(),
            "loser": _seat(),
        },
        required=(),
    )
    line = _object(
        {
            "id": {"enum": list(CLAUSES), "description": "What happened."},
            "args": args | {"description": "What the sentence is made of, to say it in another language."},
            "points": _points("What a gains by this; negative: a pays."),
            "why": _text("The reason as a sentence."),
            "clause": {"enum": list(OPTIONS), "description": "The option of the profile that says so."},
        }
    )
    return _object(
        {
            "a": _seat("The seat that comes first in position."),
            "b": _seat(),
            "points": _points("What a gains from b; negative: a pays. The sum of the lines' points."),
            "owed": _points("The same in cents."),
            "paid": _points("What is paid of it, in cents: stacks may be too short."),
            "short": {"type": "integer", "minimum": 0, "description": "Cents that are owed and not paid."},
            "lines": _array(line, "Why."),
        }
    )


def _object(
    properties: Mapping[str, Schema], required: Iterable[str] | None = None, optional: Collection[str] = ()
) -> Schema:
    """Return the schema of an object without other keys; all but the optional ones, or only those of `required`."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in (properties if required is None else required) if name not in optional],
        "additionalProperties": False,
    }


def _array(items: Schema, description: str) -> Schema:
    return {"type": "array", "description": description, "items": items}


def _seat(description: str = "") -> Schema:
    about = {"description": description} if description else {}
    return {"type": "integer", "minimum": SEATS[0], "maximum": SEATS[-1], **about}


def _whole(description: str, least: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": LARGEST_NUMBER, "description": description}


def _points(description: str) -> Schema:
    return {"type": "integer", "description": description}


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _flag(description: str) -> Schema:
    return {"type": "boolean", "description": description}


def _or_null(schema: Schema) -> Schema:
    """Return the schema that also allows null."""
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]}
