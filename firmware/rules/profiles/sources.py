"""The source documents, sentence by sentence: what each sentence says of the rules, by option or by name.

The documents themselves lie outside this repository. For every sentence `source_texts/NAME.toml` keeps its place
(heading, paragraph below it), its first words, and the rules that it speaks of. The house-rules page takes its
references from here, the auditor's table of sentences its rows.
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
    """Counted below its heading, from 1."""
    words: str
    """How it begins."""
    says: tuple[str, ...]
    """The options and the rules without an option that it speaks of."""
    beside: str
    """Why it speaks of none of them."""

    @property
    def place(self) -> str:
        """The place as a reference: `Foul Hand ¶ 1`."""
        return f"{self.heading} ¶ {self.paragraph}"


@dataclass(frozen=True, slots=True)
class Source:
    """A document."""

    file: str
    title: str
    paragraphs: int
    """How many the document has."""
    length: int
    """How many sentences the document has."""
    headings: tuple[str, ...]
    """In their order; the text above the first one of the document stands below its title."""
    sentences: tuple[Sentence, ...]

    def references(self, rules: Iterable[str], profile: str) -> str:
        """Return where the document speaks of any of these rules, or nothing: `Foul Hand ¶ 1, 2`.

        A document of several games says of some rules which game it means: `scoring.outcome@washington-2-4`.
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
