"""A rule profile: every option of the rules, typed and frozen, and the tables derived from them.

The options and their variants are those of the five source documents; `firmware/rules/profiles` holds one
TOML file for each of the eight profiles.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Self

from firmware.messages import Message
from firmware.rules.cards import RANKS
from firmware.rules.errors import ProfileError
from firmware.rules.lowball import low_scale
from firmware.rules.naturals.entry import NaturalRanking, finder_of
from firmware.rules.naturals.kinds import NaturalFinder
from firmware.rules.profiles.bonus import BonusTables
from firmware.rules.profiles.options import Kind
from firmware.rules.profiles.sections import (
    OPTIONS,
    Bonus,
    Collection,
    Deal,
    FantasyLand,
    Foul,
    Hands,
    Irregularities,
    Limits,
    Naturals,
    Order,
    Scoring,
    Stakes,
    Surrender,
    check_option,
)
from firmware.rules.profiles.targets import Target
from firmware.rules.profiles.writing import profile_toml
from firmware.rules.strength import LOWS, Scale, scale
from firmware.rules.words import ROW_NAMES

RANKED: Final = ("bonus.front", "bonus.middle", "bonus.back", "naturals.kinds", "scoring.outcome")
"""Options that give points by strength: the stronger has no fewer, unless the profile states it."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The rules of one game.

    >>> from firmware.rules import load_profile
    >>> load_profile("washington-2-4").scoring.majority
    0
    """

    name: str
    title: str
    source: str
    """The source of the rules."""
    based_on: str = ""
    """The name of the profile that this one extends."""
    hands: Hands
    foul: Foul
    scoring: Scoring
    bonus: Bonus
    naturals: Naturals
    surrender: Surrender
    order: Order
    stakes: Stakes
    limits: Limits
    deal: Deal
    fantasyland: FantasyLand
    collection: Collection
    irregularities: Irregularities
    clauses: tuple[tuple[str, str], ...] = ()
    """Option path and the clause of its source."""
    readings: tuple[tuple[str, str], ...] = ()
    """Option path and the ambiguity of its source, which allows other values too."""
    notes: tuple[str, ...] = ()
    """Comments on choices that are about no single option."""
    weaker_pays_more: tuple[str, ...] = ()
    """The paths among `RANKED` under which these rules do give a weaker hand or result more points."""
    stated_hash: str = field(default="", compare=False)
    """What `hash` is, if this was read from a record or has options set; empty: it follows from the profile's text."""

    def __post_init__(self) -> None:
        """Raise ProfileError if two options define the sum of a pair of hands."""
        if self.scoring.outcome and (self.scoring.majority or self.scoring.scoop):
            raise ProfileError(
                Message(
                    "scoring.outcome gives the points for two and for three rows, so scoring.majority and "
                    "scoring.scoop must be 0, also where they come from the game that the file extends; or set "
                    "scoring.outcome = {}"
                ),
                key="scoring.outcome",
            )

    @cached_property
    def scale(self) -> Scale:
        """The scale that rows are compared on."""
        if self.hands.middle == "high":
            return scale(self.hands.wheel)
        return low_scale(self.hands.wheel, self.hands.middle)

    @cached_property
    def low_floor(self) -> int:
        """The lowest strength that a lowball middle needs not to be a foul; 0 where every strength will do."""
        lowest = self.foul.low_middle
        return 0 if lowest == "any" else self.scale.at_least(LOWS[self.hands.middle], RANKS.index(lowest))

    @cached_property
    def bonuses(self) -> BonusTables:
        """The bonus points of a row by its strength."""
        tables = self.bonus.front, self.bonus.middle, self.bonus.back
        return BonusTables(self.scale, tables, royal_doubles=self.bonus.royal_doubles)

    @cached_property
    def natural_finder(self) -> NaturalFinder:
        """Finds naturals under these rules."""
        return finder_of(self.naturals.kinds, self.naturals.by, self.hands.wheel)

    @cached_property
    def natural_ranking(self) -> NaturalRanking:
        """Selects the natural that counts among those in a hand."""
        return NaturalRanking(self.naturals.kinds)

    @cached_property
    def fantasyland_floors(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The lowest strengths in front, middle and back to earn Fantasy Land, and to keep it."""
        return self._floors(self.fantasyland.entry), self._floors(self.fantasyland.stay)

    @cached_property
    def fantasyland_fronts(self) -> tuple[tuple[int, int], ...]:
        """The lowest strengths of fronts and the cards that they bring in Fantasy Land, the strongest first."""
        targets = ((Target.parse(hand, front=True), cards) for hand, cards in self.fantasyland.cards_by_front)
        floors = ((self.scale.at_least(target.category, target.rank), cards) for target, cards in targets)
        return tuple(sorted(floors, reverse=True))

    def _floors(self, hands: tuple[tuple[str, str], ...]) -> tuple[int, ...]:
        floors = dict.fromkeys(ROW_NAMES, self.scale.size + 1)
        for row, hand in hands:
            target = Target.parse(hand, front=row == "front")
            floors[row] = self.scale.at_least(target.category, target.rank)
        return tuple(floors.values())

    @cached_property
    def clause(self) -> Mapping[str, str]:
        """The clauses by option path."""
        return MappingProxyType(dict(self.clauses))

    @cached_property
    def reading(self) -> Mapping[str, str]:
        """The ambiguities of the source, by option path."""
        return MappingProxyType(dict(self.readings))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Cached, because the tables of a profile are looked up by it for every hand.
        return hash((self.name, *(value for _, _, value in self.options())))

    @cached_property
    def hash(self) -> str:
        """The SHA-256 (hex) of the profile's text: it tells apart what has the same name.

        The text is the record's, or the one that `profile_toml` writes. With options set, it is the SHA-256 of the
        profile's hash, a line end, and the options as JSON with sorted keys: it is the same in every release.
        """
        return self.stated_hash or hashlib.sha256(profile_toml(self).encode()).hexdigest()

    def options(self) -> Iterator[tuple[str, Kind, Any]]:
        """Yield every option: its path, its kind, its value."""
        for path, (section, name, kind) in OPTIONS.items():
            yield path, kind, getattr(getattr(self, section), name)

    def with_options(self, options: Mapping[str, object]) -> Self:
        """Return this profile with some options, by path, set to values in TOML or JSON form.

        Raises ProfileError for an unknown option or a value that is not allowed. Options that contradict each other
        are not refused here: hands are played and settled by `with_checked_options`.

        >>> from firmware.rules import load_profile
        >>> load_profile("california-face-up").with_options({"naturals.tie": "kind"}).naturals.tie
        'kind'
        """
        if not options:
            return self
        sections: dict[str, dict[str, object]] = {}
        for path, value in options.items():
            value = check_option(path, value)
            section, name, _ = OPTIONS[path]
            sections.setdefault(section, {})[name] = value
        changed = {section: replace(getattr(self, section), **values) for section, values in sections.items()}
        stated = tuple(path for path in self.weaker_pays_more if path not in options)
        return replace(
            self, **changed, weaker_pays_more=stated, stated_hash=hash_with_options(self.hash, options)
        )


def hash_with_options(profile_hash: str, options: Mapping[str, object]) -> str:
    """Return the hash of a profile with options set."""
    text = json.dumps(options, sort_keys=True, default=str)
    return hashlib.sha256(f"{profile_hash}\n{text}".encode()).hexdigest()
