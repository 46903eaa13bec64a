"""What the page shows of a photograph: its cards over the picture, what is asked, the settlement. Pure."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dealer_ui.review.view import Net, SettlementView, exchanges, row_in_words, seat_marks
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import card_name, cards_in_words, money_with_sign, row_name, trend
from dealer_ui.view.payments import foul_reasons
from firmware.messages import Message
from firmware.photo.asking import ROWS, Answers, Outcome, PhotoCard, Question, consider
from firmware.photo.reading_process import PhotoReading
from firmware.rules import settlement_json
from firmware.rules.recorded_settlement import RecordedSettlement, read_settlement

_CARD: Final = re.compile(r"[2-9TJQKA][cdhs]")


@dataclass(frozen=True)
class CardView:
    """A card over the picture, in its pixels.

    Attributes:
        row: front, middle or back; "" if it lies in none.
        label: what is written on it.
        words: the same for who cannot see it, which begins with the label.
        letter: the height of the label.
    """

    number: int
    row: str
    sure: bool
    label: str
    words: str
    points: str
    x: int
    y: int
    letter: int
    likely: tuple[str, ...]


@dataclass(frozen=True)
class RowView:
    """A row: its cards in order, the cards that were named and not seen, and what it is worth."""

    row: str
    cards: tuple[CardView, ...]
    named: tuple[str, ...]
    text: str
    bonus: int


@dataclass(frozen=True)
class SeatView:
    """A hand; `x` and `y`: where its number stands in the picture, before its front."""

    seat: int
    rows: tuple[RowView, ...]
    marks: tuple[str, ...]
    net: str
    trend: str
    x: int
    y: int


@dataclass(frozen=True)
class QuestionView:
    """What a person has to say, in the page's language."""

    kind: str
    key: str
    text: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class PhotoView:
    """A photograph as the page shows it."""

    size: tuple[int, int]
    cards: tuple[CardView, ...]
    loose: tuple[CardView, ...]
    seats: tuple[SeatView, ...]
    questions: tuple[QuestionView, ...]
    sentences: tuple[str, ...]
    settled: SettlementView | None
    outcome: Outcome


def photo_view(reading: PhotoReading, answers: Answers, profile: str, unit: int) -> PhotoView:
    """Return what is shown of a photograph, with what was said of it. Raises HandError for what fits nothing."""
    outcome = consider(reading.cards, answers, profile, unit)
    recorded = None
    if outcome.settlement and not outcome.settlement.irregularities:
        recorded = read_settlement(settlement_json(outcome.settlement))
    placed = {
        card.number: (one.seat, row)
        for one in outcome.seats
        for row, cards in zip(ROWS, one.rows, strict=True)
        for card in cards
    }
    shown = {card.number: _card(card, *placed.get(card.number, (0, ""))) for card in outcome.cards}
    sentences = [_with_signs(text) for text in outcome.sentences]
    if not outcome.cards:
        sentences = [_("No cards are seen. Take the picture from above, nearer, in even light.")]
    if outcome.questions:
        sentences += [say(verdict) for verdict in reading.verdicts]
    if outcome.settlement and recorded is None:
        sentences.append(_("Nothing is settled."))
    return PhotoView(
        reading.size,
        tuple(shown.values()),
        tuple(card for card in shown.values() if card.number not in placed),
        tuple(_seats(outcome, answers, shown, recorded)),
        tuple(_question(one) for one in outcome.questions),
        tuple(sentences),
        _settled(recorded) if recorded else None,
        outcome,
    )


def _question(asked: Question) -> QuestionView:
    options = asked.options
    if asked.kind == "grouping":
        options = tuple(_CARD.sub(lambda code: cards_in_words((code[0],)), option) for option in options)
    return QuestionView(asked.kind, asked.key, _with_signs(asked.text), options)


def _with_signs(text: Message) -> str:
    """Say a sentence, its cards with the signs of their suits: 7♣."""
    cards = {
        name: cards_in_words(tuple(str(text.args[name]).split()))
        for name in ("card", "cards")
        if name in text.args
    }
    return say(Message(text.message, **{**text.args, **cards}))


def _card(card: PhotoCard, seat: int, row: str) -> CardView:
    (ax, ay), (bx, by), (cx, cy), _last = card.corners
    side = min(math.hypot(bx - ax, by - ay), math.hypot(cx - bx, cy - by))
    name = card_name(card.card)
    what = name if card.sure else _("%(card)s, not sure", card=name)
    where = _("seat %(seat)s, %(row)s", seat=seat, row=row_name(row)) if seat else _("in no row")
    label = cards_in_words((card.card,)) if card.sure else "?"
    words = _("Card %(number)s: %(what)s, %(where)s", number=card.number, what=what, where=where)
    x, y = card.middle
    return CardView(
        card.number,
        row,
        card.sure,
        label,
        f"{label} {words}",
        " ".join(f"{px:.0f},{py:.0f}" for px, py in card.corners),
        round(x),
        round(y),
        max(8, round(0.5 * side)),
        card.candidates,
    )


def _seats(
    outcome: Outcome, answers: Answers, shown: Mapping[int, CardView], recorded: RecordedSettlement | None
) -> Iterator[SeatView]:
    why = foul_reasons(recorded) if recorded else {}
    for one in outcome.seats:
        judged = recorded.hand(one.seat) if recorded else None
        rows = []
        for name, cards in zip(ROWS, one.rows, strict=True):
            found = judged.rows.get(name) if judged else None
            named = answers.missing.get((one.seat, name), ())
            bonus = found.bonus if found else 0
            rows.append(
                RowView(name, tuple(shown[card.number] for card in cards), named, row_in_words(found), bonus)
            )
        front, middle = (_mean(row.cards) for row in rows[:2])
        won = recorded.paid.get(one.seat, 0) if recorded else 0
        yield SeatView(
            one.seat,
            tuple(rows),
            tuple(seat_marks(judged, why=why.get(one.seat, ""))),
            money_with_sign(won) if recorded else "",
            trend(won),
            *(round(1.8 * a - 0.8 * b) for a, b in zip(front, middle, strict=True)),
        )


def _mean(cards: Sequence[CardView]) -> tuple[float, float]:
    return sum(card.x for card in cards) / len(cards), sum(card.y for card in cards) / len(cards)


def _settled(recorded: RecordedSettlement) -> SettlementView:
    nets = tuple(
        Net(seat, "", money_with_sign(won), trend(won)) for seat, won in sorted(recorded.paid.items())
    )
    return SettlementView(_("Settled"), exchanges(recorded), nets)


def sheet_text(view: PhotoView, profile: str) -> str:
    """Return what stands below the picture on the sheet to share, line by line."""
    lines = [profile, ""]
    for seat in view.seats:
        lines.append(", ".join([_("Seat %(seat)s", seat=seat.seat) + f"  {seat.net}", *seat.marks]))
        for row in seat.rows:
            codes = [*(card.label for card in row.cards), *(cards_in_words((code,)) for code in row.named)]
            lines.append(f"    {row_name(row.row)}:  {'  '.join(codes)}    {row.text}".rstrip())
    for pair in view.settled.pairs if view.settled else ():
        lines += ["", f"{pair.label}  {pair.words} {pair.amount}"]
        lines += [f"    {line.points}  {line.text}" for line in pair.lines]
    lines += ["", *view.sentences, *(question.text for question in view.questions)]
    return "\n".join(lines).rstrip()


def photo_json(view: PhotoView) -> dict[str, Any]:
    """Return the photograph's cards, rows, questions and settlement for programs, as `feltwatch photo --json` does."""
    return {"size": list(view.size), **view.outcome.to_json()}
