"""The question of a training screen, as frozen data: the question, then whether the answer was right."""

from dataclasses import dataclass


@dataclass(frozen=True)
class QuizClause:
    """An option of the rules that an answer rests on, and the clause of the source document."""

    title: str
    rule: str
    clause: str


@dataclass(frozen=True)
class QuizVerdict:
    """The verdict on an answer. `given` and `right` are in words; `lines` give the reasons."""

    is_right: bool
    given: str
    right: str
    lines: tuple[str, ...]
    clauses: tuple[QuizClause, ...]


@dataclass(frozen=True)
class Quiz:
    """The open question. `several`: any number of choices, also none. Without choices a number is keyed.

    `right` of `answered` questions were right since the training began. The correct answer is never included.
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
