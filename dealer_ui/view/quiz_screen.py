"""What a training screen shows next to the table, as frozen data: a question, then whether the answer was right."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class QuizClause:
    """An option of the rules that an answer rests on, and the clause of the source document."""

    title: str
    rule: str
    clause: str


@dataclass(frozen=True)
class QuizVerdict:
    """What became of an answer. `given` and `right` are in words; `lines` say why."""

    is_right: bool
    given: str
    right: str
    lines: tuple[str, ...]
    clauses: tuple[QuizClause, ...]


@dataclass(frozen=True)
class Quiz:
    """The question that is open. `several`: any number of choices, also none; a figure is keyed where there are none.

    `right` of `answered` questions were right since the training began. The answer itself is never in here.
    """

    key: str
    number: int
    count: int
    text: str
    choices: tuple[tuple[str, str], ...]
    several: bool
    right: int
    answered: int
    verdict: QuizVerdict | None = None
