"""The option that lists the naturals: the named kinds, and a house's own by conditions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, get_args

from firmware.messages import Message
from firmware.rules.cards import RANKS
from firmware.rules.naturals.conditions import ALL_CARDS, ROW_HANDS, Conditions
from firmware.rules.naturals.entry import NaturalEntry
from firmware.rules.naturals.kinds import NATURALS, By
from firmware.rules.profiles.options import Kind, is_whole, say_rule, say_worth, text_toml, toml_lines
from firmware.rules.profiles.targets import EntriesNotAllowedError, NotAllowedError, quote
from firmware.rules.words import ROW_NAMES

LONGEST_NAME: Final = 40
_ABOUT: Final = ("kind", "value", "name")
_CONDITIONS: Final = tuple(item.name for item in fields(Conditions))
_COUNTS: Final = {
    "cards": ALL_CARDS,
    "one_suit": ALL_CARDS,
    "one_color": ALL_CARDS,
    "different_ranks": ALL_CARDS,
    "quads": ALL_CARDS // 4,
    "trips": ALL_CARDS // 3,
    "pairs": ALL_CARDS // 2,
}
"""The conditions that are numbers, and the highest of each."""
_ALLOWED: Final = Message('allowed: an array such as [{ kind = "dragon", value = 13 }], highest first')
_OWN_KIND: Final = re.compile("[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, eq=False, repr=False)
class NaturalKinds(Kind):
    """The naturals, highest first, each with its value. An array, because TOML's tables have no order."""

    def check(self, value: object) -> tuple[NaturalEntry, ...]:
        """Return the naturals from the highest to the lowest."""
        if not isinstance(value, list | tuple):
            raise NotAllowedError(_ALLOWED)
        entries: list[NaturalEntry] = []
        wrong: dict[int, NotAllowedError] = {}
        named: set[str] = set()
        for place, given in enumerate(value):
            try:
                entries.append(_entry(given, named))
            except NotAllowedError as error:
                wrong[place] = error
        if wrong:
            raise EntriesNotAllowedError(wrong)
        return tuple(entries)

    def say(self, value: Sequence[NaturalEntry]) -> Message:
        """Return the list on one line."""
        return say_worth([(entry.words, entry.value) for entry in value]) or say_rule(
            "There are no naturals."
        )

    def toml(self, value: Sequence[NaturalEntry]) -> str:
        """Return the array, an entry a line."""
        return toml_lines(
            [[(key, text_toml(one)) for key, one in entry.as_toml().items()] for entry in value]
        )


def _entry(given: object, named: set[str]) -> NaturalEntry:
    """Return one natural of the list; `named` are the kinds before it. Raises NotAllowedError."""
    if not isinstance(given, Mapping) or "kind" not in given:
        raise NotAllowedError(_ALLOWED)
    kind, points = given["kind"], given.get("value")
    if isinstance(kind, str):
        if kind in named:
            raise NotAllowedError("a kind is listed twice; allowed: each kind once")
        named.add(kind)
    if unknown := [key for key in given if key not in (*_ABOUT, *_CONDITIONS)]:
        if not given.keys() & set(_CONDITIONS):
            raise NotAllowedError(_ALLOWED)
        raise NotAllowedError(
            "%(key)s is no condition of a natural; allowed: %(allowed)s",
            key=quote(unknown[0]),
            allowed=", ".join(_CONDITIONS),
        )
    conditions = {key: given[key] for key in _CONDITIONS if key in given}
    needs = _conditions(kind, conditions) if conditions else None
    if not needs and (not isinstance(kind, str) or kind not in NATURALS):
        raise NotAllowedError(
            "%(kind)s is no natural; allowed: %(allowed)s, or a kind of the house's own with its conditions",
            kind=quote(kind),
            allowed=", ".join(NATURALS),
        )
    if points is None:
        raise NotAllowedError("%(kind)s has no value; %(allowed)s", kind=kind, allowed=_ALLOWED)
    if not is_whole(points, least=1):
        raise NotAllowedError("%(kind)s must be worth whole points, 1 or more", kind=kind)
    return NaturalEntry(kind, points, _name(kind, given.get("name", "")), needs)


def _name(kind: str, name: object) -> str:
    """Return what the house calls a natural. Raises NotAllowedError."""
    if not isinstance(name, str):
        raise NotAllowedError("%(kind)s: the name is a text", kind=kind)
    if name:
        from firmware.names import NameRefused, check_name  # slow to import, and only for a house's own

        try:
            check_name(name, LONGEST_NAME)
        except NameRefused as error:
            raise NotAllowedError("%(kind)s: %(why)s", kind=kind, why=error.sentence) from None
    return name


def _conditions(kind: object, given: Mapping[str, Any]) -> Conditions:
    """Return what a house's own natural asks of the cards. Raises NotAllowedError."""
    if not isinstance(kind, str) or not _OWN_KIND.fullmatch(kind):
        raise NotAllowedError(
            "%(kind)s is no kind for a natural of the house's own: small letters, figures and _",
            kind=quote(kind),
        )
    if kind in NATURALS:
        raise NotAllowedError(
            "%(kind)s is a named natural and takes no conditions; give a natural with conditions a kind of the "
            "house's own",
            kind=kind,
        )
    for key, value in given.items():
        if allowed := _refusal(key, value):
            raise NotAllowedError(
                "%(kind)s: %(key)s = %(value)s will not do; allowed: %(allowed)s",
                kind=kind,
                key=key,
                value=quote(value),
                allowed=allowed,
            )
    needs = Conditions(**given)
    if not (needs.given().keys() - {"cards", "quads_as_pairs", "by"}):
        raise NotAllowedError("%(kind)s asks nothing of the cards", kind=kind)
    return needs


def _refusal(key: str, value: object) -> Message | str:
    """Return "" for a value that the condition allows; for another one, what it allows."""
    if key in _COUNTS:
        most = _COUNTS[key]
        right = is_whole(value, least=1) and isinstance(value, int) and value <= most
        return "" if right else Message("a whole number, 1 to %(most)s", most=most)
    if key == "ranks":
        right = (
            isinstance(value, str)
            and bool(value)
            and set(value) <= set(RANKS)
            and len(set(value)) == len(value)
        )
        return "" if right else Message('each rank once, as in "JQKA"; the ten is T')
    if key in ROW_NAMES:
        return "" if value in ROW_HANDS else ", ".join(map(text_toml, ROW_HANDS))
    if key == "by":
        return "" if value in get_args(By) else ", ".join(map(text_toml, get_args(By)))
    return "" if isinstance(value, bool) else Message("true or false")
