"""A section of the house rules: its sentences and tables, from `templates/profiles/house_rules.html`."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from dealer_ui.text.hand_words import category_name, natural_words
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import ngettext
from dealer_ui.text.messages import say
from dealer_ui.text.rule_words import rule_text, target_words
from dealer_ui.text.words import capital, money, row_name, small
from firmware.rules import NaturalEntry, Profile
from firmware.rules.cards import RANKS
from firmware.rules.naturals.kinds import NATURAL_WORDS
from firmware.rules.profiles.document import DocumentTable
from firmware.rules.profiles.options import Text, enough
from firmware.rules.profiles.sections import OPTIONS
from firmware.rules.profiles.sources import OpenPoint, Quote, packaged_game, sources
from firmware.rules.profiles.targets import Target
from firmware.rules.strength import HIGHS
from firmware.rules.words import ONE, ROW_NAMES, SUITS

_IN_FRONT: Final = ("three_of_a_kind", "one_pair", "high_card")
"""The categories of three cards, the highest first."""


@dataclass(frozen=True)
class Rule:
    """A rule in words. `about`: options by path, and rules without an option by names of their own."""

    text: str
    about: tuple[str, ...]
    unsaid: tuple[str, ...] = ()
    """Options whose other values would change this rule, and of which it says nothing: those that the game has off."""


Statement = Rule | DocumentTable


class Values:
    """A profile's options by path, and the words of its document."""

    def __init__(self, profile: Profile, base: Profile | None = None) -> None:
        self.profile = profile
        self.source = sources().get(profile.source)
        self._values = {path: value for path, _, value in profile.options()}
        packaged = packaged_game(profile)
        self._game = packaged.name if packaged else ""
        bases = (other for other in (base, packaged) if other)
        self.changed = frozenset(
            path for other in bases for path, _, value in other.options() if value != self._values[path]
        )
        """The options that the house has changed: no word of the document speaks for them."""

    def __getitem__(self, path: str) -> Any:
        return self._values[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def quotes(self, about: Collection[str]) -> tuple[Quote, ...]:
        """Return the document's words that decide any of these, except for what the house has changed."""
        kept = [rule for rule in about if rule not in self.changed]
        return self.source.quotes(kept, self._game) if self.source else ()

    def open_points(self, about: Collection[str]) -> tuple[OpenPoint, ...]:
        """Return what the document leaves open of any of these, except for what the house has changed."""
        kept = [rule for rule in about if rule not in self.changed]
        return self.source.open_points(kept, self._game) if self.source else ()

    def excludes(self, path: str, value: object) -> tuple[Quote, ...]:
        """Return the document's words that exclude a value of an option, in TOML form."""
        return self.source.excludes(path, value, self._game) if self.source else ()

    def absent_words(self, about: Collection[str]) -> tuple[str, ...]:
        """Return words that are not in the document: it would use them if it spoke of any of these."""
        absent = self.source.absent if self.source else {}
        found = (words for prefix, words in absent.items() if any(path.startswith(prefix) for path in about))
        return tuple(dict.fromkeys(word for words in found for word in words))

    def speaks_of(self, rule: str) -> bool:
        """Return whether the document decides a rule."""
        return bool(self.quotes([rule]))

    @property
    def has_bonuses(self) -> bool:
        """Whether any hand earns a bonus."""
        tables = (self[f"bonus.{row}"] for row in ("front", "middle", "back"))
        return self["bonus.pays"] != "none" and any(tables)

    @property
    def has_naturals(self) -> bool:
        """Whether any hand is a natural."""
        return bool(self["naturals.kinds"])

    @property
    def outcome(self) -> dict[str, int]:
        """The points for a number of rows won, by that number; empty if the points of the rows are summed."""
        return dict(self["scoring.outcome"])

    @property
    def row_points(self) -> dict[str, int]:
        """The points for winning each row; empty if all are worth the same."""
        return dict(self["scoring.rows"])

    @property
    def rows_called(self) -> dict[str, str]:
        """The house's own words for the rows; empty if it has none."""
        return dict(self["hands.rows_called"])

    @property
    def royal_is_unnamed(self) -> bool:
        """Whether a table of bonuses has straight flushes and does not name the royal one."""
        tables = [dict(self[f"bonus.{row}"]) for row in ("middle", "back")]
        return any("straight_flush" in table and "royal_flush" not in table for table in tables)

    def lets_weaker_pay_more(self, path: str) -> bool:
        """Return whether the profile states that a weaker hand or result may have more points under this option."""
        return path in self.profile.weaker_pays_more

    @property
    def rows_where_weaker_pays_more(self) -> tuple[str, ...]:
        """The rows in which a weaker hand may earn a higher bonus."""
        return tuple(row for row in ROW_NAMES if self.lets_weaker_pay_more(f"bonus.{row}"))

    @property
    def has_own_naturals(self) -> bool:
        """Whether any natural is the house's own."""
        return any(entry.needs for entry in self["naturals.kinds"])

    @property
    def own_natural_names_rows(self) -> bool:
        """Whether any natural of the house's own asks for a straight or a flush."""
        return any(entry.needs and any(entry.needs.rows) for entry in self["naturals.kinds"])

    @property
    def has_own_pairs(self) -> bool:
        """Whether any natural of the house's own may count four of a kind as two pairs."""
        return any(
            entry.needs and entry.needs.pairs > 1 and entry.needs.quads_as_pairs
            for entry in self["naturals.kinds"]
        )

    @property
    def has_strict_pairs(self) -> bool:
        """Whether any natural of the house's own must not count four of a kind as two pairs."""
        return any(entry.needs and not entry.needs.quads_as_pairs for entry in self["naturals.kinds"])

    def has_natural(self, *kinds: str) -> bool:
        """Return whether the game has any of these naturals."""
        return any(entry.kind in kinds for entry in self["naturals.kinds"])


def sentences(name: str, rules: Values) -> list[Statement]:
    """Return a section's rules and tables in the current language: the block `name` of the template."""
    found: list[Statement] = []

    def rule(text: str, *about: str, unsaid: Iterable[str] = ()) -> str:
        found.append(Rule(text, about, tuple(unsaid)))
        return ""

    def table(one: DocumentTable) -> str:
        found.append(one)
        return ""

    template = _template()
    list(template.blocks[name](template.new_context({"rules": rules, "rule": rule, "table": table})))
    return found


@cache
def _template() -> Template:
    environment = Environment(loader=PackageLoader("dealer_ui"), undefined=StrictUndefined, autoescape=True)
    environment.globals.update(
        _=_,
        at_least=at_least,
        bonus_table=bonus_table,
        cards_by_front=cards_by_front,
        collection_table=collection_table,
        money=money,
        naturals_table=naturals_table,
        rank_of=lambda code: say(ONE[RANKS.index(code)]),
        rule_text=rule_text,
        points=points,
        ranked=lambda: format_list(category_name(name).lower() for name in reversed(HIGHS)),
        ranked_in_front=lambda: format_list(category_name(name).lower() for name in _IN_FRONT),
        suits_of=lambda order: format_list(say(SUITS[suit]) for suit in order),
        texts=lambda: [
            (path, kind.title) for path, (_s, _n, kind) in OPTIONS.items() if isinstance(kind, Text)
        ],
    )
    return environment.get_template("profiles/house_rules.html")


def points(number: int) -> str:
    """Format a number of points."""
    return ngettext("%(num)s point", "%(num)s points", number)


def format_list(parts: Iterable[str]) -> str:
    """Join parts with the language's comma."""
    return _(", ").join(parts)


def at_least(hands: Iterable[tuple[str, str]]) -> str:
    """Say the lowest hand that is enough, for each row."""
    return _(", or ").join(
        _(enough(row, hand).message, hand=small(target_words(hand, front=row == "front")))
        for row, hand in hands
    )


def cards_by_front(fronts: Iterable[tuple[str, int]]) -> str:
    """Say how many cards of Fantasy Land each front earns; a front is the lowest that is enough."""
    return format_list(
        _("%(cards)s with %(front)s or better", front=small(target_words(hand, front=True)), cards=cards)
        for hand, cards in fronts
    )


def naturals_table(rules: Values) -> DocumentTable:
    """Return the naturals, the highest first, with their points."""
    return DocumentTable(
        (_("Rank"), _("Natural"), _("Points from each opponent")),
        tuple(
            (str(place), _named(entry), str(entry.value))
            for place, entry in enumerate(rules["naturals.kinds"], start=1)
        ),
    )


def _named(entry: NaturalEntry) -> str:
    """Return a natural's name, and what it is if the house calls it otherwise."""
    words = capital(natural_words(entry))
    what = entry.needs.words if entry.needs else NATURAL_WORDS[entry.kind]
    return _("%(name)s: %(what)s", name=words, what=say(what)) if entry.name else words


def collection_table(rules: Values) -> DocumentTable:
    """Return the fees of a down by the table's limit."""
    return DocumentTable(
        (_("Option"), _("Table limit"), _("Fee of a player for a down")),
        tuple(
            (str(rate.option), money(rate.limit), money(rate.fee)) for rate in rules["collection.schedule"]
        ),
    )


def bonus_table(rules: Values) -> DocumentTable:
    """Return the bonuses, the highest hand first, with a column for each row."""
    tables = [dict(rules[f"bonus.{row}"]) for row in ROW_NAMES]
    hands = dict.fromkeys(hand for table in tables for hand in table)
    ordered = sorted(hands, key=lambda hand: Target.parse(hand, front=False).height, reverse=True)
    return DocumentTable(
        (_("Hand"), *(capital(row_name(name)) for name in ROW_NAMES)),
        tuple(
            (
                capital(target_words(hand, front=False)),
                *(str(table[hand]) if hand in table else "–" for table in tables),
            )
            for hand in ordered
        ),
    )
