"""The source documents, sentence by sentence: the words that decide an option, and what they leave open.

The documents themselves are not in this repository. For every sentence `source_texts/NAME.toml` holds its position
(heading, paragraph below it), its first words, and short quotations by the option or rule that they decide. The
house-rules page and the auditor's table of sentences come from here.
"""

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from firmware.rules.profiles.library import load_profile, profile_names
from firmware.rules.profiles.profile import Profile

FOLDER = "source_texts"


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a document that decide an option, or a rule without an option."""

    rule: str
    """The option or the rule; with a "." at its end all options of a section."""
    game: str
    """The packaged profile that it is about; empty: all of the document's."""
    heading: str
    paragraph: int
    words: str
    """As in the document; "…" stands for words left out."""
    against: tuple[object, ...]
    """The values that it excludes, as in TOML; empty: all but the packaged one, unless the document leaves room."""

    def is_about(self, rule: str, game: str) -> bool:
        """Return whether it decides a rule of a game."""
        named = rule.startswith(self.rule) if self.rule.endswith(".") else rule == self.rule
        return named and self.game in ("", game)


@dataclass(frozen=True, slots=True)
class OpenPoint:
    """Where a document can be read in several ways."""

    rule: str
    games: tuple[str, ...]
    """The packaged profiles that it is about; empty: all of the document's."""
    document: str
    """What the document says, with its words in “ ”."""
    others: tuple[str, ...]
    """Readings that no value of the option stands for."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, or one line of a table."""

    heading: str
    paragraph: int
    """Number of the paragraph below its heading, from 1."""
    words: str
    """Its first words."""
    quotes: tuple[Quote, ...]
    beside: str
    """Why none of its words is quoted."""

    @property
    def place(self) -> str:
        """The position as a reference: `Foul Hand ¶ 1`."""
        return f"{self.heading} ¶ {self.paragraph}"


@dataclass(frozen=True, slots=True)
class Topic:
    """What a regulation has a house's rules address: its title, and the rules of the page that do."""

    title: str
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A document."""

    file: str
    title: str
    paragraphs: int
    """Number of paragraphs in the document."""
    length: int
    """How many sentences the document has."""
    headings: tuple[str, ...]
    """In document order; text above the first heading belongs to the title."""
    sentences: tuple[Sentence, ...]
    points: tuple[OpenPoint, ...]
    absent: Mapping[str, tuple[str, ...]]
    """Words that the document would use if it had an option, and does not; the key is how the option's name begins."""
    changes: str
    """Whether a house may change a rule, as far as it is known."""
    topics: tuple[Topic, ...]

    def quotes(self, rules: Collection[str], game: str) -> tuple[Quote, ...]:
        """Return the words that decide any of these rules."""
        return tuple(
            quote
            for sentence in self.sentences
            for quote in sentence.quotes
            if any(quote.is_about(rule, game) for rule in rules)
        )

    def open_points(self, rules: Collection[str], game: str) -> tuple[OpenPoint, ...]:
        """Return what the document leaves open of these rules."""
        return tuple(
            point for point in self.points if point.rule in rules and (not point.games or game in point.games)
        )

    def excludes(self, path: str, value: object, game: str) -> tuple[Quote, ...]:
        """Return the words that exclude a value of an option, in TOML form."""
        is_open = bool(self.open_points([path], game))
        return tuple(
            quote
            for quote in self.quotes([path], game)
            if (value in quote.against if quote.against else not is_open)
        )


def cite(quotes: Iterable[Quote]) -> str:
    """Return quotations with their places, or "": `Foul Hand ¶ 1: “nine points”; ¶ 2: “one point”`."""
    places: dict[str, dict[int, dict[str, None]]] = {}
    for quote in quotes:
        words = quote.words.replace("“", "‘").replace("”", "’")
        places.setdefault(quote.heading, {}).setdefault(quote.paragraph, {})[words] = None
    return "; ".join(
        f"{heading} " + "; ".join(f"¶ {number}: {_quoted(found)}" for number, found in below.items())
        for heading, below in places.items()
    )


def _quoted(found: Collection[str]) -> str:
    """Return a paragraph's words in “ ”, without those that others of them contain."""
    return ", ".join(
        f"“{words}”" for words in found if not any(words in other and words != other for other in found)
    )


@cache
def sources() -> dict[str, Source]:
    """Return every document by its file's name."""
    found = (
        _source(path.read_text(encoding="utf-8"))
        for path in sorted(files("firmware.rules").joinpath(FOLDER).iterdir(), key=str)
        if path.name.endswith(".toml")
    )
    return {source.file: source for source in found}


def packaged_game(profile: Profile) -> Profile | None:
    """Return the packaged profile of the same document that a profile differs least from; None if there is none."""
    if profile.source not in sources():
        return None
    mine = {path: value for path, _, value in profile.options()}

    def distance(packaged: Profile) -> tuple[int, bool]:
        differing = sum(value != mine[path] for path, _, value in packaged.options())
        return differing, packaged.name not in (profile.name, profile.based_on)

    return min((game for game in _games() if game.source == profile.source), key=distance, default=None)


@cache
def _games() -> tuple[Profile, ...]:
    return tuple(map(load_profile, profile_names()))


def _source(text: str) -> Source:
    table = tomllib.loads(text)
    return Source(
        table["file"],
        table["title"],
        table["paragraphs"],
        table["sentences"],
        tuple(part["heading"] for part in table["part"]),
        tuple(_sentence(part["heading"], row) for part in table["part"] for row in part["sentences"]),
        tuple(
            OpenPoint(
                point["rule"],
                tuple(point.get("games", ())),
                point["document"],
                tuple(point.get("others", ())),
            )
            for point in table["open"]
        ),
        {prefix: tuple(words) for prefix, words in table["absent"].items()},
        table["changes"],
        tuple(Topic(topic["title"], tuple(topic["about"])) for topic in table.get("topics", ())),
    )


def _sentence(heading: str, row: Mapping[str, Any]) -> Sentence:
    quotes = tuple(_quotes(heading, row))
    return Sentence(heading, row["at"], row["words"], quotes, row.get("beside", ""))


def _quotes(heading: str, row: Mapping[str, Any]) -> Iterator[Quote]:
    for name, found in row.get("quotes", {}).items():
        rule, _at, game = name.partition("@")
        against = tuple(row.get("against", {}).get(name, ()))
        yield from (Quote(rule, game, heading, row["at"], words, against) for words in found)
