"""The source documents, sentence by sentence, with the options or rules that each sentence covers.

The documents themselves are not in this repository. For every sentence `source_texts/NAME.toml` holds its position
(heading, paragraph below it), its first words, and the rules that it covers. The references of the house-rules page and
the auditor's table of sentences come from here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FOLDER = "source_texts"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, or one line of a table."""

    heading: str
    paragraph: int
    """Number of the paragraph below its heading, from 1."""
    words: str
    """Its first words."""
    says: tuple[str, ...]
    """The options and the rules without an option that it covers."""
    beside: str
    """Why it covers none of them."""

    @property
    def place(self) -> str:
        """The position as a reference: `Foul Hand ¶ 1`."""
        return f"{self.heading} ¶ {self.paragraph}"


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

    def references(self, rules: Iterable[str], profile: str) -> str:
        """Return the document's references for any of these rules, or "": `Foul Hand ¶ 1, 2`.

        A document of several games names the game for some rules: `scoring.outcome@washington-2-4`.
        """
        rules = list(rules)
        wanted = {*rules, *(f"{rule}@{profile}" for rule in rules)}
        places: dict[str, list[int]] = {}
        for sentence in self.sentences:
            if wanted & set(sentence.says):
                found = places.setdefault(sentence.heading, [])
                if sentence.paragraph not in found:
                    found.append(sentence.paragraph)
        return "; ".join(f"{heading} ¶ {', '.join(map(str, found))}" for heading, found in places.items())


@cache
def sources() -> dict[str, Source]:
    """Return every document by its file's name."""
    found = (
        _source(path.read_text(encoding="utf-8"))
        for path in sorted(files("firmware.rules").joinpath(FOLDER).iterdir(), key=str)
        if path.name.endswith(".toml")
    )
    return {source.file: source for source in found}


def _source(text: str) -> Source:
    table = tomllib.loads(text)
    sentences = tuple(
        Sentence(
            part["heading"],
            row["at"],
            row["words"],
            tuple(row.get("says", ())),
            row.get("beside", ""),
        )
        for part in table["part"]
        for row in part["sentences"]
    )
    return Source(
        table["file"],
        table["title"],
        table["paragraphs"],
        table["sentences"],
        tuple(part["heading"] for part in table["part"]),
        sentences,
    )
