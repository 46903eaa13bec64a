"""A source document as paragraphs and sentences, to compare with `firmware/rules/source_texts`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_PAGE_BREAK = re.compile(r"<\|[^>]*\|>")
_OWN_NUMBER = re.compile(r"\d+\. ")
_ITEM = re.compile(r"[•\-] ")
_ENDED = re.compile(r"[.:?!][\"'”)]*$")
_ENDS = re.compile(r"(?<=[.:?!])(?<!i\.e\.)(?<!eg\.)(?<!e\.g\.)(?<!vs\.)[\"'”)]* (?=[\"'“(]*[A-Z])")


def paragraphs(text: str, headings: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yield heading, number below it, and text on one line, of every paragraph of a document.

    A blank line ends a paragraph, and so does one with nothing but a bar. An item of a list is a paragraph, and so
    are a table's cells together. Where paragraphs have numbers of their own, only the next number begins one.
    """
    number = 0
    for heading, block in _joined(_blocks(text, headings)):
        number = 1 if not block else number + 1
        if block:
            yield heading, number - 1, block


def _joined(blocks: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Join the cells of tables: neighbours in which no sentence ends."""
    held: list[str] = []
    below = ""
    for heading, block in blocks:
        if held and (heading != below or not block or _ENDED.search(block)):
            yield below, " ".join(held)
            held = []
        below = heading
        if block and not _ENDED.search(block):
            held.append(block)
        else:
            yield heading, block
    if held:
        yield below, " ".join(held)


def _blocks(text: str, headings: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the blocks between breaks; an empty one begins a heading."""
    left = list(headings)
    heading = left.pop(0)
    lines = [line.strip() for line in _PAGE_BREAK.sub("\n", text).splitlines()]
    held: list[str] = []
    own = 0
    skip = False
    yield heading, ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        begins = bool(left) and left[0] in (line.rstrip(":"), f"{line} {after}")
        numbered = _OWN_NUMBER.match(line)
        number = bool(numbered) and line.startswith(f"{own + 1}. ")
        if begins or number or (not own and (line in ("", "|") or _ITEM.match(line))):
            if words := " ".join(held).split():
                yield heading, " ".join(words)
            held.clear()
        if begins:
            skip = left[0] != line.rstrip(":")  # the heading goes over two lines
            heading, own = left.pop(0), 0
            yield heading, ""
        elif skip:
            skip = False
        else:
            own += number
            held += line[len(numbered[0]) :].split("|") if number and numbered else line.split("|")
    if words := " ".join(held).split():
        yield heading, " ".join(words)


def plain(text: str) -> str:
    """Return a text with plain quotation marks, without the sign before a dollar, on one line."""
    for fancy, simple in (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("\\$", "$")):
        text = text.replace(fancy, simple)
    return " ".join(text.split())


def holds(text: str, words: str) -> bool:
    """Return whether a text has these words in their order; "…" stands for any words between."""
    text, at = plain(text), 0
    for part in re.split(r",? … ", plain(words)):
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def split(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph, as far as punctuation shows them."""
    return _ENDS.split(paragraph)
