"""The options of a profile: their allowed values, the values in words, and their TOML form.

Every option is a dataclass field made by one of the functions at the end. The kind in the field's metadata is the
single source for validation, for `profiles show` and for the house-rules page.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from functools import reduce
from typing import Any

from firmware.messages import Message, Term, join_words
from firmware.rules.currency import money_text
from firmware.rules.profiles.targets import BEST_LOW, LONGEST_QUOTE, NotAllowedError, Target, quote
from firmware.rules.strength import CATEGORIES, LOWS
from firmware.rules.words import ROW_NAMES, SUITS, points_of

METADATA = "option"
"""The key of a field's metadata that holds its kind."""

LARGEST_NUMBER = 1_000_000_000
"""The highest number of an option: far above any house's, and sums of it can still be written."""


def is_whole(value: object, least: int = 0) -> bool:
    """Return whether a value is a whole number of at least `least`.

    Raises NotAllowedError for one above `LARGEST_NUMBER`.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    if value > LARGEST_NUMBER:
        raise NotAllowedError("no number may be higher than %(most)s", most=LARGEST_NUMBER)
    return value >= least


def short(name: str) -> str:
    """Return a name from a file as it is said in a sentence: on one line, and not too long."""
    return name if len(name) <= LONGEST_QUOTE and name.isprintable() else quote(name)


RULES = "rules"
"""The context of the rules' own texts in the catalogues: titles, meanings, irregularities, notes, readings."""


def say_rule(text: str) -> Term:
    """Return one of the rules' own texts."""
    return Term(text, context=RULES)


def text_toml(value: object) -> str:
    """Return a text, a number or an array of texts as TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


@dataclass(frozen=True, eq=False, repr=False)
class Kind(ABC):
    """A kind of option."""

    title: str
    """The subject of the option."""

    @abstractmethod
    def check(self, value: object) -> Any:
        """Return the value as stored in a profile. Raises NotAllowedError."""

    @abstractmethod
    def say(self, value: Any) -> Message:
        """Return the value as a sentence."""

    def toml(self, value: Any) -> str:
        """Return the value as TOML, whose texts, numbers and arrays are JSON's."""
        return text_toml(value)


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Kind):
    """One of a few names, each with its meaning."""

    values: Mapping[str, str]

    def check(self, value: object) -> str:
        """Return one of the names."""
        if not isinstance(value, str) or value not in self.values:
            raise NotAllowedError("allowed: %(allowed)s", allowed=", ".join(map(text_toml, self.values)))
        return value

    def say(self, value: str) -> Message:
        """Return the name's meaning."""
        return say_rule(self.values[value])


@dataclass(frozen=True, eq=False, repr=False)
class Flag(Kind):
    """True or false, each with its meaning."""

    yes: str
    no: str

    def check(self, value: object) -> bool:
        """Return true or false."""
        if not isinstance(value, bool):
            raise NotAllowedError("allowed: true or false")
        return value

    def say(self, value: bool) -> Message:
        """Return the value's meaning."""
        return say_rule(self.yes if value else self.no)


_SEVERAL = re.compile(r"%\(value\)s (point|unit|minute)s\b")


@dataclass(frozen=True, eq=False, repr=False)
class Amount(Kind):
    """A whole number, 0 or more."""

    some: str
    """The meaning of an amount, with %(value)s for the number."""
    none: str
    """The meaning of 0."""
    money: bool = False

    @property
    def one(self) -> str:
        """The meaning of 1 where that is a sentence of its own, as languages have singulars of their own; else ""."""
        singular = _SEVERAL.sub(r"1 \1", self.some).replace("1 point'", "1 point's")
        return "" if singular == self.some else singular

    def check(self, value: object) -> int:
        """Return the number."""
        if not isinstance(value, int) or not is_whole(value):
            if self.money:
                raise NotAllowedError("allowed: a whole number of cents, 0 or more")
            raise NotAllowedError("allowed: a whole number, 0 or more")
        return value

    def say(self, value: int) -> Message:
        """Return the amount's meaning."""
        if not value:
            return say_rule(self.none)
        if value == 1 and self.one:
            return say_rule(self.one)
        return Term(self.some, context=RULES, value=money_text(value) if self.money else value)


@dataclass(frozen=True, eq=False, repr=False)
class Text(Kind):
    """A text written by the house."""

    def check(self, value: object) -> str:
        """Return the text."""
        if not isinstance(value, str):
            raise NotAllowedError("allowed: a text")
        return value

    def say(self, value: str) -> Message:
        """Return the text."""
        return say_rule(value) if value else Message(value)


@dataclass(frozen=True, eq=False, repr=False)
class SuitOrder(Kind):
    """All four suits from high to low, or none."""

    effect: str
    """What the order does, with %(suits)s for it."""
    none: str
    """The meaning of no order."""

    def check(self, value: object) -> tuple[str, ...]:
        """Return the suits."""
        suits = tuple(value) if isinstance(value, list | tuple) else (None,)
        if suits and (
            not all(isinstance(suit, str) for suit in suits) or sorted(suits) != ["c", "d", "h", "s"]
        ):
            raise NotAllowedError(
                'allowed: [] or the four suits from high to low, as in ["s", "h", "c", "d"]'
            )
        return suits

    def say(self, value: Sequence[str]) -> Message:
        """Return the order's effect."""
        if not value:
            return say_rule(self.none)
        return Term(self.effect, context=RULES, suits=join_words(SUITS[suit] for suit in value))


Pairs = tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Bonuses(Kind):
    """Points for the hands of one row."""

    front: bool = False

    def check(self, value: object) -> Pairs:
        """Return (hand, points) as listed. A hand of 0 points has no bonus and is left out."""
        allowed = Message('a table of hands and whole points, as in { full_house = 2, "QQ" = 7 }')
        if not isinstance(value, Mapping):
            raise NotAllowedError("allowed: %(allowed)s", allowed=allowed)
        for hand, points in value.items():
            Target.parse(hand, front=self.front)
            if not is_whole(points):
                raise NotAllowedError(
                    "%(hand)s must have whole points, 0 or more; allowed: %(allowed)s",
                    hand=hand,
                    allowed=allowed,
                )
        return tuple((hand, points) for hand, points in value.items() if points)

    def say(self, value: Pairs) -> Message:
        """Return the table on one line."""
        hands = [(Target.parse(hand, front=self.front).words, points) for hand, points in value]
        return say_worth(hands) or say_rule("No bonuses.")

    def toml(self, value: Pairs) -> str:
        """Return the table inline."""
        return inline_toml(
            [
                (hand if hand in CATEGORIES and hand not in LOWS else text_toml(hand), points)
                for hand, points in value
            ]
        )


@dataclass(frozen=True, eq=False, repr=False)
class Outcomes(Kind):
    """Points for a pair by the number of rows won, instead of the rows' sum."""

    def check(self, value: object) -> Pairs:
        """Return (rows won, points), sorted by rows won."""
        if not isinstance(value, Mapping) or value.keys() - {"two", "three"} or len(value) == 1:
            raise NotAllowedError("allowed: {} or points for both, as in { two = 2, three = 4 }")
        if not all(is_whole(points) for points in value.values()):
            raise NotAllowedError("the points must be whole, 0 or more, as in { two = 2, three = 4 }")
        return tuple((rows, value[rows]) for rows in ("two", "three") if rows in value)

    def say(self, value: Pairs) -> Message:
        """Return the points for two and three rows won, in words."""
        if not value:
            return say_rule("The rows are summed.")
        (_, two), (_, three) = value
        return Message(
            "Who wins exactly two rows has %(two)s for them, whatever the third row is; who wins all three has "
            "%(three)s. Rows are summed only where nobody wins two.",
            two=points_of(two),
            three=points_of(three),
        )

    def toml(self, value: Pairs) -> str:
        """Return the points inline."""
        return inline_toml(value)


@dataclass(frozen=True, eq=False, repr=False)
class RowPoints(Kind):
    """Points for a row won, row by row, instead of the same for each."""

    def check(self, value: object) -> Pairs:
        """Return (row, points) in the order of the rows."""
        if not isinstance(value, Mapping) or value.keys() not in (set(), set(ROW_NAMES)):
            raise NotAllowedError(
                "allowed: {} or points for each row, as in { front = 1, middle = 2, back = 3 }"
            )
        if not all(is_whole(points) for points in value.values()):
            raise NotAllowedError(
                "the points must be whole, 0 or more, as in { front = 1, middle = 2, back = 3 }"
            )
        return tuple((row, value[row]) for row in ROW_NAMES if row in value)

    def say(self, value: Pairs) -> Message:
        """Return the points of each row, in words."""
        if not value:
            return say_rule("Each row is worth the same.")
        (_, front), (_, middle), (_, back) = value
        return Message(
            "The front is worth %(front)s, the middle %(middle)s, the back %(back)s.",
            front=points_of(front),
            middle=points_of(middle),
            back=points_of(back),
        )

    def toml(self, value: Pairs) -> str:
        """Return the points inline."""
        return inline_toml(value)


BETTER = {
    "front": Message("%(hand)s or better in the front"),
    "middle": Message("%(hand)s or better in the middle"),
    "back": Message("%(hand)s or better in the back"),
}
_BEST = Message("%(hand)s in the middle")


def enough(row: str, hand: str) -> Message:
    """Return the template that names the lowest hand that is enough in a row: nothing is better than the best."""
    return _BEST if hand == BEST_LOW else BETTER[row]


@dataclass(frozen=True, eq=False, repr=False)
class AtLeast(Kind):
    """The lowest sufficient hand in each of the rows named."""

    def check(self, value: object) -> tuple[tuple[str, str], ...]:
        """Return (row, hand) as listed."""
        if not isinstance(value, Mapping) or value.keys() - {"front", "middle", "back"}:
            raise NotAllowedError(
                'allowed: {} or the lowest hand by row, as in { front = "QQ", back = "four_of_a_kind" }'
            )
        for row, hand in value.items():
            Target.parse(hand, front=row == "front")
        return tuple(value.items())

    def say(self, value: tuple[tuple[str, str], ...]) -> Message:
        """Return the hands on one line."""
        if not value:
            return say_rule("Not offered.")
        hands = [
            Message(enough(row, hand).message, hand=Target.parse(hand, front=row == "front").words)
            for row, hand in value
        ]
        return _sentence(
            reduce(lambda one, other: Message("%(one)s, or %(other)s", one=one, other=other), hands)
        )

    def toml(self, value: tuple[tuple[str, str], ...]) -> str:
        """Return the hands inline."""
        return inline_toml([(row, text_toml(hand)) for row, hand in value])


@dataclass(frozen=True, slots=True)
class Rate:
    """One schedule of collection: a player's fee for a down at a table of this limit, in cents."""

    option: int
    limit: int
    fee: int


@dataclass(frozen=True, eq=False, repr=False)
class Schedule(Kind):
    """The collection's schedule options."""

    MAX_RATES = 5

    def check(self, value: object) -> tuple[Rate, ...]:
        """Return the rates as listed."""
        allowed = Message(
            "allowed: an array such as [{ option = 1, limit = 500, fee = 1000 }], whole cents, even fees"
        )
        if not isinstance(value, list | tuple):
            raise NotAllowedError(allowed)
        rates = []
        for entry in value:
            if not isinstance(entry, Mapping) or entry.keys() != {"option", "limit", "fee"}:
                raise NotAllowedError(allowed)
            if not all(is_whole(number, least=1) for number in entry.values()) or entry["fee"] % 2:
                raise NotAllowedError(allowed)
            rates.append(Rate(**entry))
        if len({rate.option for rate in rates}) < len(rates):
            raise NotAllowedError("an option is listed twice; allowed: each option once")
        limits = [rate.limit for rate in rates]
        if any(limits.count(limit) > self.MAX_RATES for limit in limits):
            raise NotAllowedError("allowed: at most %(most)s rates for a limit", most=self.MAX_RATES)
        return tuple(rates)

    def say(self, value: tuple[Rate, ...]) -> Message:
        """Return the schedule on one line."""
        if not value:
            return say_rule("No collection is taken by the down.")
        return _sentence(
            _together(
                Term(
                    "option %(number)s: %(fee)s at %(limit)s",
                    number=rate.option,
                    fee=money_text(rate.fee),
                    limit=money_text(rate.limit),
                )
                for rate in value
            )
        )

    def toml(self, value: tuple[Rate, ...]) -> str:
        """Return the array, a rate a line."""
        return toml_lines(
            [[("option", rate.option), ("limit", rate.limit), ("fee", rate.fee)] for rate in value]
        )


def say_worth(worth: Sequence[tuple[Message, int]]) -> Message | None:
    """Return what each is worth, as a sentence; None for nothing."""
    parts = [Message("%(hand)s %(points)s", hand=hand, points=points) for hand, points in worth]
    return _sentence(_together(parts)) if parts else None


def _together(parts: Iterable[Message]) -> Message:
    return reduce(lambda one, other: Message("%(one)s; %(other)s", one=one, other=other), parts)


def _sentence(phrase: Message) -> Message:
    """Return a phrase as a sentence: the English has a capital letter."""
    text = str(phrase)
    return Term("%(phrase)s.", english=f"{text[0].upper()}{text[1:]}.", phrase=phrase)


def inline_toml(pairs: Sequence[tuple[str, object]]) -> str:
    """Return an inline table of TOML."""
    return f"{{ {', '.join(f'{key} = {value}' for key, value in pairs)} }}" if pairs else "{}"


def toml_lines(entries: Sequence[Sequence[tuple[str, object]]]) -> str:
    """Return an array of tables, a table a line."""
    return "[\n" + "".join(f"    {inline_toml(entry)},\n" for entry in entries) + "]" if entries else "[]"


def option(kind: Kind, default: Any = MISSING) -> Any:
    """Return the dataclass field of an option of this kind.

    `default`: the behaviour of earlier releases, if the option may be missing in a profile.
    """
    return field(metadata={METADATA: kind}, default=default)


def choice(title: str, default: Any = MISSING, **values: str) -> Any:
    """Return the field of a choice: each name with its meaning."""
    return option(Choice(title, values), default)


def flag(title: str, yes: str, no: str, default: Any = MISSING) -> Any:
    """Return the field of a flag."""
    return option(Flag(title, yes, no), default)


def amount(title: str, some: str, none: str, *, money: bool = False, default: Any = MISSING) -> Any:
    """Return the field of an amount."""
    return option(Amount(title, some, none, money), default)
