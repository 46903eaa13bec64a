"""`feltwatch photo`: settles the hands in a photograph, and asks about what is not certain in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from firmware.command_options import ANY_PATH
from firmware.photo.asking import ROWS, Answers, Outcome, PhotoCard, Question, consider
from firmware.rules import UNREAD, UnknownCardError, load_profile, parse_card
from firmware.terminal import say, say_all, say_json

if TYPE_CHECKING:
    from vision.reading.anywhere import SurfaceReading

ASKED, UNUSABLE = 1, 2
"""Exit statuses; if both apply, the higher one counts."""
NO_CARD: Final = "none"

T = TypeVar("T")


def _each(parse: Callable[[str], T]) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], list[T]]:
    """Return a callback that parses each value of an option; a bad one is wrong usage."""

    def callback(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[T]:
        found = []
        for value in values:
            try:
                found.append(parse(value))
            except ValueError as error:
                raise click.BadParameter(f"{value}: {error}", ctx, param) from error
        return found

    return callback


def _code(text: str) -> str:
    """Return a card's code. Raises ValueError."""
    try:
        card = parse_card(text.strip()[:1].upper() + text.strip()[1:].lower())
    except UnknownCardError as error:
        raise ValueError(str(error)) from error
    if str(card) == str(UNREAD):
        raise ValueError("name the card, such as Qh")
    return str(card)


def parse_named(text: str) -> tuple[int, str | None]:
    """Return a card's number and code from such as "7=Qh" or "7=none". Raises ValueError."""
    number, equals, code = text.partition("=")
    if not (equals and number.strip().isdecimal()):
        raise ValueError("give a number and a card, such as 7=Qh")
    return int(number), None if code.strip().lower() == NO_CARD else _code(code)


def parse_row(text: str) -> frozenset[int]:
    """Return the numbers of a row from such as "3 7 9". Raises ValueError."""
    words = text.replace(",", " ").split()
    if not all(word.isdecimal() for word in words) or len({*words}) not in (3, 5):
        raise ValueError("give the numbers of three or five cards, such as '3 7 9'")
    return frozenset(map(int, words))


def parse_missing(text: str) -> tuple[tuple[int, str], tuple[str, ...]]:
    """Return seat, row and cards from such as "2.middle=Qh". Raises ValueError."""
    place, equals, codes = text.partition("=")
    seat, _, row = place.strip().partition(".")
    if not (equals and seat.isdecimal() and row in ROWS and codes.split()):
        raise ValueError("give a seat, a row and a card, such as 2.middle=Qh")
    return (int(seat), row), tuple(map(_code, codes.split()))


def _declared(text: str) -> int | None:
    if text == NO_CARD:
        return None
    if not text.isdecimal():
        raise ValueError(f"give a seat's number, or {NO_CARD}")
    return int(text)


@click.command()
@click.argument("files", nargs=-1, required=True, type=ANY_PATH, metavar="FILE...")
@click.option(
    "--profile",
    default="traditional",
    show_default=True,
    metavar="P",
    help="The rules: a name, or a .toml file.",
)
@click.option("--unit", default=1, type=click.IntRange(1, 10**9), show_default=True, help="Cents a point.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object a line for each photograph.")
@click.option(
    "--out", type=ANY_PATH, help="Write the photograph with its rows and the settlement: .png, .jpg or .pdf."
)
@click.option(
    "--card",
    "named",
    multiple=True,
    callback=_each(parse_named),
    metavar="N=CARD",
    help="Card number N is this one; none: it belongs to no hand.",
)
@click.option(
    "--row",
    "rows",
    multiple=True,
    callback=_each(parse_row),
    metavar="'N N N'",
    help="These cards, by number, lie in one row.",
)
@click.option("--grouping", type=click.IntRange(1, 4), help="Which of the ways to see rows is right.")
@click.option(
    "--missing",
    multiple=True,
    callback=_each(parse_missing),
    metavar="SEAT.ROW=CARD",
    help="A card that was not seen.",
)
@click.option(
    "--puck",
    "button",
    type=click.IntRange(1, 4),
    help="The seat that has the puck; seats count clockwise from the lowest hand.",
)
@click.option(
    "--declared",
    multiple=True,
    callback=_each(_declared),
    metavar="SEAT|none",
    help="A seat that declared its natural; none: nobody did.",
)
def command(
    files: tuple[Path, ...],
    profile: str,
    unit: int,
    is_json: bool,
    out: Path | None,
    named: list[tuple[int, str | None]],
    rows: list[frozenset[int]],
    grouping: int | None,
    missing: list[tuple[tuple[int, str], tuple[str, ...]]],
    button: int | None,
    declared: list[int | None],
) -> None:
    """Settle the hands in a photograph: two to four, laid in rows of 3, 5 and 5, on any surface, from any side.

    No markers are needed. What is not certain is asked: at a terminal at once; otherwise the questions are printed, and
    the options answer them. The exit status is 1 if a question is open or a hand is irregular, 2 if a file could not
    be used.
    """
    from firmware.photo.sheet import FORMATS

    load_profile(profile)
    answers = Answers(
        dict(named),
        tuple(rows),
        grouping,
        dict(missing),
        button,
        frozenset(seat for seat in declared if seat is not None) if declared else None,
    )
    if len(files) > 1 and (out is not None or answers != Answers()):
        raise click.UsageError("--out and answers are for one photograph.")
    if out is not None and out.suffix.lower() not in FORMATS:
        raise click.UsageError("--out writes a file that ends in .png, .jpg or .pdf.")
    status = 0
    reader = _reader()
    for file in files:
        status = max(status, _one(file, reader, answers, profile, unit, out, is_json=is_json))
    sys.exit(status)


def _reader() -> Any:
    from vision.reading.network import CardReader

    return CardReader(threads=2)


def _one(
    file: Path, reader: Any, answers: Answers, profile: str, unit: int, out: Path | None, *, is_json: bool
) -> int:
    """Settle one photograph, print what came of it and return the exit status."""
    from vision.base.errors import VisionError
    from vision.base.pictures import load_picture
    from vision.reading.anywhere import read_surface

    try:
        picture = load_picture(file)
        reading = read_surface(picture, reader)
    except VisionError as error:
        say(f"Error: {error}" if str(file) in str(error) else f"Error: {file}: {error}", err=True)
        if is_json:
            say_json({"picture": str(file), "error": str(error)})
        return UNUSABLE
    cards = photo_cards(reading)
    outcome = consider(cards, answers, profile, unit)
    if not is_json and sys.stdin.isatty():
        while outcome.questions:
            if out is not None:
                _write(out, picture, outcome)
            answers = _ask(outcome.questions[0], answers)
            outcome = consider(cards, answers, profile, unit)
    verdicts = [verdict for verdict in reading.verdicts.values() if not verdict.ok]
    if is_json:
        height, width = picture.shape[:2]
        told = {name: verdict.to_json() for name, verdict in reading.verdicts.items()}
        head = {"picture": str(file), "size": [width, height], "verdicts": told, "ms": reading.ms}
        say_json({**head, **outcome.to_json()})
    else:
        say_all(in_words(file, outcome, [verdict.text for verdict in verdicts] if outcome.questions else []))
    if out is not None:
        _write(out, picture, outcome)
    return 0 if outcome.settlement and not outcome.settlement.irregularities else ASKED


def photo_cards(reading: SurfaceReading) -> list[PhotoCard]:
    """Return the cards of a reading, numbered from the top of the picture down."""
    import math

    from firmware.photo.grouping import Place

    found = sorted(reading.cards, key=lambda one: tuple(one[0].corners.mean(axis=0)[::-1].tolist()))
    cards = []
    for number, (card, place) in enumerate(found, start=1):
        along = (place.corners[1] - place.corners[0]).tolist()
        x, y = place.middle.tolist()
        corners = tuple((float(a), float(b)) for a, b in card.corners)
        cards.append(
            PhotoCard(
                number,
                card.card,
                card.sure,
                card.candidates,
                card.evidence,
                corners,
                Place(x, y, math.atan2(along[1], along[0])),
            )
        )
    return cards


def in_words(file: Path | None, outcome: Outcome, verdicts: Sequence[str] = ()) -> str:
    """Return what came of a photograph as text: the settlement as `feltwatch settle` explains it, or the questions."""
    from firmware.cli.settlement_text import settlement_text
    from firmware.terminal import escape

    lines = [escape(file)] if file else []
    if outcome.settlement:
        lines += [settlement_text(outcome.settlement), *outcome.sentences]
        return "\n".join(lines)
    for one in outcome.seats:
        rows = " / ".join(
            " ".join(card.card + ("" if card.sure else "?") for card in row) for row in one.rows
        )
        lines.append(f"Seat {one.seat}: {rows}")
    if not outcome.seats and outcome.cards:
        lines.append(
            "Cards: "
            + " ".join(f"{card.number}:{card.card}{'' if card.sure else '?'}" for card in outcome.cards)
        )
    lines += [f"! {text}" for text in (*outcome.sentences, *verdicts)]
    for question in outcome.questions:
        lines.append(f"? {question.text}")
        lines += [
            f"    {k}. {option}"
            for k, option in enumerate(question.options, 1)
            if question.kind == "grouping"
        ]
        lines.append(f"    answer with {_option(question)}")
    return "\n".join(lines)


def _option(question: Question) -> str:
    """Return the option that answers a question, with the likeliest answer."""
    likely = question.options[0] if question.options else "Qh"
    return {
        "card": f"--card {question.key}={likely}  (or another card, or none)",
        "missing": f"--missing {question.key}=Qh",
        "grouping": "--grouping 1",
        "rows": "--row '3 7 9', once for each row that is not clear",
        "button": f"--puck {likely}",
        "declared": f"--declared {question.key}  (or none)",
    }[question.kind]


def _ask(question: Question, answers: Answers) -> Answers:
    """Ask at the terminal until the answer can be used."""
    for k, option in enumerate(question.options, 1):
        if question.kind == "grouping":
            say(f"  {k}. {option}")
    hint = f" [{', '.join(question.options)}; {NO_CARD}]" if question.kind == "card" else ""
    while True:
        given = str(click.prompt(question.text + hint)).strip()
        try:
            return _answered(question, answers, given)
        except ValueError as error:
            say(str(error), err=True)


def _answered(question: Question, answers: Answers, given: str) -> Answers:
    """Return the answers with one more. Raises ValueError."""
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
            raise ValueError("Say yes or no.")
        seats = answers.declared or frozenset()
        return replace(answers, declared=seats | {int(question.key)} if given.lower() == "yes" else seats)
    count = len(question.options)
    if not given.isdecimal() or not 1 <= int(given) <= count:
        raise ValueError(f"Give a number from 1 to {count}.")
    if question.kind == "button":
        return replace(answers, button=int(given))
    return replace(answers, grouping=int(given))


def _write(out: Path, picture: Any, outcome: Outcome) -> None:
    """Write the sheet. Raises OSError."""
    from firmware.photo.sheet import FORMATS, sheet

    out.write_bytes(sheet(picture, outcome, in_words(None, outcome), FORMATS[out.suffix.lower()]))
