"""A house profile as a form, and what was typed into it as a profile. Pure.

The form is made from the options' definitions (`firmware.rules.profiles.sections`), so a new option gets its field
here. Input is checked by the same code as `feltwatch profiles check`, with the same messages.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from dealer_ui.profiles.house_rules_sentences import Values
from dealer_ui.profiles.house_rules_source import readings_of
from dealer_ui.text.hand_words import natural_words
from dealer_ui.text.i18n import gettext
from dealer_ui.text.messages import say
from dealer_ui.text.rule_words import option_says, rule_text, target_words
from dealer_ui.text.words import row_name
from firmware.names import look_alike, looks_like, normal_spelling
from firmware.rules import (
    NaturalEntry,
    Profile,
    ProfileError,
    load_profile,
    parse_profile,
    profile_names,
    profile_toml,
)
from firmware.rules.cards import RANKS
from firmware.rules.naturals.kinds import NATURALS
from firmware.rules.profiles.document import SECTION_TITLES
from firmware.rules.profiles.library import name_trouble, title_trouble
from firmware.rules.profiles.natural_kinds import NaturalKinds
from firmware.rules.profiles.options import (
    Amount,
    AtLeast,
    Bonuses,
    Choice,
    Flag,
    Kind,
    Outcomes,
    Rate,
    RowPoints,
    Schedule,
    SuitOrder,
    Text,
)
from firmware.rules.profiles.row_words import RowsCalled
from firmware.rules.profiles.sections import OPTIONS, SECTIONS, check_option
from firmware.rules.profiles.targets import Target
from firmware.rules.strength import HIGHS
from firmware.rules.words import ROW_NAMES

Control = Literal[
    "choice",
    "amount",
    "money",
    "text",
    "suits",
    "points",
    "kinds",
    "hands",
    "rates",
    "outcome",
    "rows",
    "words",
]

ABOUT: Final = ("name", "title")
"""What the form asks in addition to the options."""
RATE: Final = ("option", "limit", "fee")


class FormInput:
    """A submitted form: names and values, in the order of the page."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def one(self, name: str) -> str:
        """Return the value of a field, without surrounding spaces; "" if it was not sent."""
        return self._values.get(name, [""])[0].strip()

    def all(self, name: str) -> list[str]:
        """Return all values of a field."""
        return self._values.get(name, [])


@dataclass(frozen=True)
class Cell:
    """One control of a field: the browser sends `name` with `value`."""

    name: str
    value: str
    words: str
    chosen: bool = False
    """For a choice: whether it is selected."""


@dataclass(frozen=True)
class Field:
    """One option. `rows` groups its cells if it has several lines of them; `text` describes its current value."""

    path: str
    title: str
    control: Control
    text: str
    clause: str
    reading: str = ""
    """Where the source leaves room for another value."""
    rows: tuple[tuple[str, tuple[Cell, ...]], ...] = ()
    some: str = ""
    """For an amount: its meaning, with {} for the number; `none` is the meaning of 0."""
    none: str = ""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells."""
        return tuple(cell for _, cells in self.rows for cell in cells)


@dataclass(frozen=True)
class Section:
    """The options of a section of the house-rules page."""

    name: str
    title: str
    fields: tuple[Field, ...]


def sections(profile: Profile) -> tuple[Section, ...]:
    """Return the whole form, filled in with a profile."""
    found: dict[str, list[Field]] = {name: [] for name in SECTION_TITLES}
    rules = Values(profile)
    for path, kind, value in profile.options():
        found[path.partition(".")[0]].append(_field(path, kind, value, rules))
    return tuple(
        Section(name, rule_text(SECTION_TITLES[name]), tuple(fields)) for name, fields in found.items()
    )


def _field(path: str, kind: Kind, value: Any, rules: Values) -> Field:
    control, rows = _control(path, kind, value)
    some = none = ""
    if isinstance(kind, Amount):
        some, none = rule_text(kind.some) % {"value": "{}"}, rule_text(kind.none)
    clause, reading = rules.profile.clause.get(path, ""), readings_of(rules, path)
    text = option_says(kind, value)
    return Field(path, rule_text(kind.title), control, text, clause, reading, rows, some, none)


Rows = tuple[tuple[str, tuple[Cell, ...]], ...]


def _control(path: str, kind: Kind, value: Any) -> tuple[Control, Rows]:
    match kind:
        case Choice():
            return "choice", _one(
                Cell(path, name, rule_text(words), name == value) for name, words in kind.values.items()
            )
        case Flag():
            return "choice", _one(
                [
                    Cell(path, "true", rule_text(kind.yes), value is True),
                    Cell(path, "false", rule_text(kind.no), value is False),
                ]
            )
        case Amount():
            return "money" if kind.money else "amount", _one([Cell(path, str(value), rule_text(kind.title))])
        case Text():
            return "text", _one([Cell(path, value, rule_text(kind.title))])
        case SuitOrder():
            return "suits", _one([Cell(path, " ".join(value), rule_text(kind.title))])
        case Bonuses():
            points = dict(value)
            return "points", _one(
                Cell(f"{path}:{hand}", str(points.get(hand, "")), target_words(hand, front=kind.front))
                for hand in _hands_with(points, front=kind.front)
            )
        case Outcomes():
            points = dict(value)
            words = {"two": gettext("Exactly two rows won"), "three": gettext("All three rows won")}
            return "outcome", _one(
                Cell(f"{path}:{rows}", str(points.get(rows, "")), text) for rows, text in words.items()
            )
        case RowPoints():
            points = dict(value)
            return "rows", _one(
                Cell(f"{path}:{row}", str(points.get(row, "")), row_name(row)) for row in ROW_NAMES
            )
        case RowsCalled():
            called = dict(value)
            return "words", _one(
                Cell(f"{path}:{row}", called.get(row, ""), row_name(row)) for row in ROW_NAMES
            )
        case NaturalKinds():
            listed = {entry.kind for entry in value}
            others = [NaturalEntry(kind, 0) for kind in NATURALS if kind not in listed]
            return "kinds", _one(
                Cell(f"{path}:{entry.kind}", str(entry.value or ""), natural_words(entry))
                for entry in (*value, *others)
            )
        case AtLeast():
            return "hands", tuple(_lowest(f"{path}:{row}", row, dict(value)) for row in ROW_NAMES)
        case Schedule():
            return "rates", tuple(_rate(path, rate) for rate in value)
    raise TypeError(f"no control for {kind!r}")  # a new kind in the rules: a test finds it


def _one(cells: Iterable[Cell]) -> Rows:
    return (("", tuple(cells)),)


def _hands(*, front: bool) -> list[str]:
    """Return every hand that a bonus table may name, from low to high."""
    if not front:
        return [name for name, category in HIGHS.items() if category]
    ranks = [rank * count for count in (2, 3) for rank in RANKS]
    return ["one_pair", *ranks[: len(RANKS)], "three_of_a_kind", *ranks[len(RANKS) :]]


def _hands_with(named: Iterable[str], *, front: bool) -> list[str]:
    """Return the hands of a row's cells: every category, and the hands of one rank that its table names."""
    hands = dict.fromkeys((*_hands(front=front), *named))
    return sorted(hands, key=lambda hand: Target.parse(hand, front=front).height)


def _lowest(name: str, row: str, chosen: Mapping[str, str]) -> tuple[str, tuple[Cell, ...]]:
    hands = [
        Cell(name, hand, target_words(hand, front=row == "front"), chosen.get(row) == hand)
        for hand in _hands_with([chosen[row]] if row in chosen else [], front=row == "front")
    ]
    return row, (Cell(name, "", "", row not in chosen), *hands)


def _rate(path: str, rate: Rate | None) -> tuple[str, tuple[Cell, ...]]:
    return "", tuple(Cell(f"{path}:{name}", str(getattr(rate, name)) if rate else "", name) for name in RATE)


def blank_rate(path: str) -> tuple[Cell, ...]:
    """Return the cells of an empty rate."""
    return _rate(path, None)[1]


# ---- the submitted form ----


@dataclass(frozen=True)
class Draft:
    """The result of a submitted form: a valid profile and its text, or its errors, one sentence per field."""

    profile: Profile | None
    text: str
    errors: Mapping[str, str]


def read(typed: FormInput, base: Profile, taken: Sequence[str] = ()) -> Draft:
    """Return the submitted profile, based on `base`; `taken` are names already in use.

    An option keeps its clause only while it keeps its value: the clause does not cover a changed value.
    """
    errors: dict[str, str] = {}
    values: dict[str, Any] = {}
    before = {path: value for path, _, value in base.options()}
    for path, (_, _, kind) in OPTIONS.items():
        try:
            values[path] = check_option(path, _value_of(typed, path, kind, before[path]))
        except ProfileError as error:
            errors[path] = " ".join(name_options(say(message)) for _, _, message in error.troubles)
    name, title = (normal_spelling(typed.one(key)) for key in ABOUT)
    if why := _name_trouble(name, taken):
        errors["name"] = why
    if title_why := title_trouble(title):
        errors["title"] = say(title_why)
    if errors:
        return Draft(None, "", errors)
    try:
        text = _text(base, name, title, values)
        return Draft(parse_profile(text), text, {})
    except ProfileError as error:
        found = {_field_of(key): name_options(say(message)) for key, _, message in reversed(error.troubles)}
        return Draft(None, "", found)


def _field_of(key: str) -> str:
    """Return the field of the form that a trouble's key belongs to."""
    key = key.removeprefix("profile.")
    return key if key in OPTIONS or key in ABOUT else "name"


_PATHS: Final = re.compile(rf"(?<!\")\b({'|'.join(map(re.escape, OPTIONS))})\b", re.IGNORECASE)


def name_options(error: str, shown: str = "“{title}”") -> str:
    """Name an error's options as in the form, not by their path; `shown` may have a {path}, too."""

    def titled(found: re.Match[str]) -> str:
        path = found[0].lower()
        return shown.format(title=rule_text(OPTIONS[path][2].title), path=path)

    return _PATHS.sub(titled, error)


def _text(base: Profile, name: str, title: str, values: Mapping[str, Any]) -> str:
    made: dict[str, Any] = {
        section: kind(**{key: values[f"{section}.{key}"] for key in vars(getattr(base, section))})
        for section, kind in SECTIONS.items()
    }
    same = {path for path, _, value in base.options() if value == values[path]}
    stated = tuple(path for path in base.weaker_pays_more if path in same)
    made |= {"name": name, "title": title, "based_on": base.based_on or base.name, "weaker_pays_more": stated}
    return profile_toml(replace(base, clauses=_clauses(base, values), **made))


def _clauses(base: Profile, values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the clauses that still match the values: of this profile, or of the document that it is based on."""
    known: dict[str, str] = {}
    document = (load_profile(base.based_on),) if base.based_on in profile_names() else ()
    for source in (*document, base):
        same = {path for path, _, value in source.options() if value == values[path]}
        known.update((path, clause) for path, clause in source.clauses if path in same)
    return tuple((path, known[path]) for path in OPTIONS if path in known)


def _name_trouble(name: str, taken: Sequence[str]) -> str:
    if why := name_trouble(name):
        return say(why)
    if name in taken:
        return gettext("There is a profile %(name)s already; choose another name.", name=name)
    if (other := look_alike(name, taken)) is not None:
        return say(looks_like(name, other))
    return ""


def _value_of(typed: FormInput, path: str, kind: Kind, before: Any) -> object:
    """Return the submitted value of an option as TOML would give it; anything that is not a number stays a text."""
    match kind:
        case Flag():
            return {"true": True, "false": False}.get(typed.one(path), typed.one(path))
        case Amount():
            return _number(typed.one(path))
        case SuitOrder():
            return typed.one(path).split()
        case Bonuses():
            names = _hands_with(dict(before), front=kind.front)
            hands = {hand: _points(typed.one(f"{path}:{hand}")) for hand in names}
            listed = [hand for hand, _ in before]
            return {hand: hands[hand] for hand in dict.fromkeys((*listed, *hands))}
        case Outcomes():
            texts = {rows: typed.one(f"{path}:{rows}") for rows in ("two", "three")}
            return {rows: _number(text) for rows, text in texts.items() if text}
        case RowPoints():
            by_row = {row: typed.one(f"{path}:{row}") for row in ROW_NAMES}
            return {row: _number(text) for row, text in by_row.items() if text}
        case RowsCalled():
            words = {row: normal_spelling(typed.one(f"{path}:{row}")) for row in ROW_NAMES}
            return {row: word for row, word in words.items() if word}
        case NaturalKinds():
            named = [name.partition(":")[2] for name in typed if name.startswith(f"{path}:")]
            worth = [(name, _points(typed.one(f"{path}:{name}"))) for name in named]
            given = {entry.kind: entry.as_toml() for entry in before}
            return [
                {**given.get(name, {"kind": name}), "value": value} for name, value in worth if value != 0
            ]
        case AtLeast():
            lowest = {row: typed.one(f"{path}:{row}") for row in ROW_NAMES}
            return {row: hand for row, hand in lowest.items() if hand}
        case Schedule():
            columns = [typed.all(f"{path}:{name}") for name in RATE]
            lines = [line for line in zip(*columns, strict=False) if any(map(str.strip, line))]
            return [dict(zip(RATE, map(_number, line), strict=True)) for line in lines]
    return typed.one(path)


def _number(text: str) -> int | str:
    """Return a text's whole number; any other text unchanged, for the rules to report."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else text


def _points(text: str) -> int | str:
    return _number(text) if text else 0
