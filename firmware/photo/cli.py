"""`feltwatch photo`: settles the hands in a photograph, and asks about what is not certain in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from firmware.command_options import ANY_PATH
from firmware.photo.answers import NO_CARD, add_answer, parse_declared, parse_missing, parse_named, parse_row
from firmware.photo.asking import Answers, Outcome, PhotoCard, Question, consider
from firmware.rules import load_profile
from firmware.terminal import say, say_all, say_json

if TYPE_CHECKING:
    from vision.reading.surface_reading import SurfaceReading

ASKED, UNUSABLE = 1, 2
"""Exit statuses; if both apply, the higher one counts."""

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


@click.command()
@click.argument("files", nargs=-1, required=True, type=ANY_PATH, metavar="FILE...")
@click.option("--profile", default="traditional", metavar="P", help="The rules: a name, or a .toml file.")
@click.option("--unit", default=1, type=click.IntRange(1, 10**9), help="Cents a point.")
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
    callback=_each(parse_declared),
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
    if out is not None and out.resolve() == files[0].resolve():
        raise click.UsageError("--out would replace the photograph; name another file.")
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
    from vision.reading.surface_reading import read_surface

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
        verdicts_json = {name: verdict.to_json() for name, verdict in reading.verdicts.items()}
        head = {"picture": str(file), "size": [width, height], "verdicts": verdicts_json, "ms": reading.ms}
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
        lines += [settlement_text(outcome.settlement), *map(str, outcome.sentences)]
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
        given = str(click.prompt(f"{question.text}{hint}")).strip()
        try:
            return add_answer(question, answers, given)
        except ValueError as error:
            say(str(error), err=True)


def _write(out: Path, picture: Any, outcome: Outcome) -> None:
    """Write the sheet. Raises OSError."""
    from PIL import Image

    from firmware.photo.sheet import FORMATS, sheet
    from firmware.record.journal.disk import write_whole

    photo = Image.fromarray(picture[..., ::-1])
    write_whole(out, sheet(photo, outcome, in_words(None, outcome), FORMATS[out.suffix.lower()]))
