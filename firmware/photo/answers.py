"""Reads what a person says of a photograph: in options of the command, or as answers to its questions. Pure."""

from dataclasses import replace
from typing import Final

from firmware.photo.asking import ROWS, Answers, Question
from firmware.rules import UNREAD, UnknownCardError, parse_card

NO_CARD: Final = "none"


class AnswerError(ValueError):
    """An answer that cannot be used."""


def card_code(text: str) -> str:
    """Return a card's code. Raises AnswerError."""
    try:
        card = parse_card(text.strip()[:1].upper() + text.strip()[1:].lower())
    except UnknownCardError as error:
        raise AnswerError(str(error)) from error
    if str(card) == str(UNREAD):
        raise AnswerError("name the card, such as Qh")
    return str(card)


def parse_named(text: str) -> tuple[int, str | None]:
    """Return a card's number and code from a text such as "7=Qh" or "7=none". Raises AnswerError."""
    number, equals, code = text.partition("=")
    if not (equals and _is_number(number)):
        raise AnswerError("give a number and a card, such as 7=Qh")
    return int(number), None if code.strip().lower() == NO_CARD else card_code(code)


def parse_row(text: str) -> frozenset[int]:
    """Return the numbers of a row from a text such as "3 7 9". Raises AnswerError."""
    words = text.replace(",", " ").split()
    if not all(map(_is_number, words)) or len({*words}) not in (3, 5):
        raise AnswerError("give the numbers of three or five cards, such as '3 7 9'")
    return frozenset(map(int, words))


def parse_missing(text: str) -> tuple[tuple[int, str], tuple[str, ...]]:
    """Return seat, row and cards from a text such as "2.middle=Qh". Raises AnswerError."""
    place, equals, codes = text.partition("=")
    seat, _, row = place.strip().partition(".")
    if not (equals and _is_number(seat) and row in ROWS and codes.split()):
        raise AnswerError("give a seat, a row and a card, such as 2.middle=Qh")
    return (int(seat), row), tuple(map(card_code, codes.split()))


def parse_declared(text: str) -> int | None:
    """Return a seat's number; None from "none". Raises AnswerError."""
    if text == NO_CARD:
        return None
    if not _is_number(text):
        raise AnswerError(f"give a seat's number, or {NO_CARD}")
    return int(text)


def _is_number(text: str) -> bool:
    return text.strip().isdecimal() and len(text) < 6


def add_answer(question: Question, answers: Answers, given: str) -> Answers:
    """Return the answers with one more. Raises AnswerError."""
    if question.kind == "card":
        number, code = parse_named(f"{question.key}={given}")
        return replace(answers, cards={**answers.cards, number: code})
    if question.kind == "missing":
        place, codes = parse_missing(f"{question.key}={given}")
        return replace(answers, missing={**answers.missing, place: answers.missing.get(place, ()) + codes})
    if question.kind == "rows":
        return replace(answers, rows=(*answers.rows, parse_row(given)))
    if question.kind == "declared":
        if given.lower() not in ("yes", "no"):
            raise AnswerError("Say yes or no.")
        seats = answers.declared or frozenset()
        return replace(answers, declared=seats | {int(question.key)} if given.lower() == "yes" else seats)
    count = len(question.options)
    if not _is_number(given) or not 1 <= int(given) <= count:
        raise AnswerError(f"Give a number from 1 to {count}.")
    if question.kind == "button":
        return replace(answers, button=int(given))
    return replace(answers, grouping=int(given))
