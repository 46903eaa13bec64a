"""From the cards of a photograph to a settlement, or to what has to be asked first. Pure: no picture, no terminal."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from firmware.messages import Message, all_of
from firmware.photo.grouping import CARDS_EACH, PLAYERS, Group, Grouping, Place, groupings
from firmware.rules import Hand, HandError, Profile, SeatHand, Settlement, read_hand, settle, settlement_json

ROWS = ("front", "middle", "back")
CLEARLY_THERE = 4.0
"""Nats of evidence below which nearly all is print; counted as a card only where one is lacking."""
MAX_QUESTIONS = 6
_ONE_CARD_MM = 20.0

Point = tuple[float, float]


@dataclass(frozen=True)
class PhotoCard:
    """A card as it was read.

    Attributes:
        number: its number in the picture, from the top down.
        card: its code, a guess unless `sure`.
        candidates: codes from likely to unlikely.
        evidence: nats that speak for there being a card.
        corners: four points in the picture's pixels.
        place: where it lies on the surface, mm.
    """

    number: int
    card: str
    sure: bool
    candidates: tuple[str, ...]
    evidence: float
    corners: tuple[Point, ...]
    place: Place

    @property
    def middle(self) -> Point:
        """Its middle in the picture."""
        return sum(x for x, _ in self.corners) / 4, sum(y for _, y in self.corners) / 4


@dataclass(frozen=True)
class Answers:
    """What a person said of a photograph.

    Attributes:
        cards: by number, the card that lies there; None: none does, or none of a hand.
        rows: sets of numbers that lie in one row each.
        grouping: which of the ways shown is the right one, from 1.
        missing: by seat and row, the cards that lie there and were not seen.
        button: the dealer's seat.
        declared: the seats that declared a natural; None: nobody said.
    """

    cards: Mapping[int, str | None] = field(default_factory=dict)
    rows: tuple[frozenset[int], ...] = ()
    grouping: int | None = None
    missing: Mapping[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    button: int | None = None
    declared: frozenset[int] | None = None


@dataclass(frozen=True)
class Question:
    """What a person has to say.

    Attributes:
        kind: card, missing, grouping, rows, button or declared.
        text: the question, one sentence.
        key: what it is about: a card's number; seat and row, such as "2.middle"; a seat.
        options: likely answers, the likeliest first.
    """

    kind: str
    text: Message
    key: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seat:
    """A hand in the picture; seats are numbered clockwise from the lowest one."""

    seat: int
    rows: tuple[tuple[PhotoCard, ...], ...]


@dataclass(frozen=True)
class Outcome:
    """What came of a photograph: the settlement, or what has to be asked or done first.

    Attributes:
        cards: all that are counted, as answered.
        hand: what `feltwatch settle` takes; None as long as a question is open.
        sentences: why nothing can be settled, and what else has to be known.
    """

    cards: tuple[PhotoCard, ...]
    seats: tuple[Seat, ...] = ()
    questions: tuple[Question, ...] = ()
    sentences: tuple[Message, ...] = ()
    hand: dict[str, Any] | None = None
    settlement: Settlement | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "cards": [_card_json(card) for card in self.cards],
            "seats": [
                {"seat": one.seat}
                | {name: [card.number for card in row] for name, row in zip(ROWS, one.rows, strict=True)}
                for one in self.seats
            ],
            "questions": [
                {"kind": q.kind, "key": q.key, "text": str(q.text), "options": list(q.options)}
                for q in self.questions
            ],
            "sentences": list(map(str, self.sentences)),
            "hand": self.hand,
            "settlement": settlement_json(self.settlement) if self.settlement else None,
        }


def _card_json(card: PhotoCard) -> dict[str, Any]:
    return {
        "number": card.number,
        "card": card.card,
        "sure": card.sure,
        "candidates": list(card.candidates),
        "corners": [[round(x, 1), round(y, 1)] for x, y in card.corners],
    }


def consider(read: Sequence[PhotoCard], answers: Answers, profile: str, unit: int = 1) -> Outcome:
    """Return the settlement of the cards of a photograph, or what has to be asked first.

    Raises HandError for an unknown profile or a unit that is none.
    """
    cards = _counted(read, answers)
    twice = _twice(cards, answers)
    if twice:
        return Outcome(cards, sentences=(twice,))
    unsure = [card for card in cards if not card.sure]
    players = next((n for n in PLAYERS if n * CARDS_EACH - 2 <= len(cards) <= n * CARDS_EACH), 0)
    if not players:
        sentences = [
            Message("Cards seen: %(count)s. Two, three and four hands are 26, 39 and 52.", count=len(cards))
        ]
        if len(cards) > 2 * CARDS_EACH:
            sentences.append(Message("If one belongs to no hand, answer that it is none."))
        if len(unsure) > MAX_QUESTIONS:
            sentences.append(Message("Take the picture again: nearer, sharper, in even light."))
        asked_first = tuple(_which(card) for card in unsure[:MAX_QUESTIONS])
        return Outcome(cards, questions=asked_first, sentences=tuple(sentences))
    numbers = {card.number: k for k, card in enumerate(cards)}
    given = [frozenset(numbers[n] for n in row if n in numbers) for row in answers.rows]
    ways = groupings([card.place for card in cards], [row for row in given if row])
    if not ways:
        text = Message("Which cards lie in one row? The rows of three and five are not clear.")
        about = [_which(card) for card in unsure[:MAX_QUESTIONS]]
        return Outcome(cards, questions=(*about, Question("rows", text)))
    grouping: tuple[Question, ...] = ()
    chosen = ways[0]
    if answers.grouping is not None and answers.grouping <= len(ways):
        chosen = ways[answers.grouping - 1]
    elif len(ways) > 1:
        options = tuple(_in_words(cards, way) for way in ways)
        text = Message("The rows can be seen in several ways: which is right?")
        grouping = (Question("grouping", text, options=options),)
    seats = _seated(cards, chosen.groups)
    lacking = _lacking(seats, answers)
    questions = (*grouping, *(_which(card, seats) for card in unsure), *lacking)
    if questions:
        many = (Message("Many cards are not clear: take the picture again, nearer, sharper, in even light."),)
        return Outcome(cards, seats, questions, many if len(questions) > MAX_QUESTIONS else ())
    return _settled(cards, seats, answers, profile, unit)


def _counted(read: Sequence[PhotoCard], answers: Answers) -> tuple[PhotoCard, ...]:
    """Return the cards that count, named as answered; what is hardly a card only where one is lacking."""
    kept = [card for card in read if answers.cards.get(card.number, card.card) is not None]
    kept = [card for card in kept if not any(_is_seen_twice(card, other) for other in kept)]
    clear = [card for card in kept if card.evidence >= CLEARLY_THERE or card.number in answers.cards]
    if len(clear) in {CARDS_EACH * n for n in PLAYERS}:
        kept = clear
    return tuple(
        replace(card, card=answers.cards[card.number] or "", sure=True)
        if card.number in answers.cards
        else card
        for card in kept
    )


def _is_seen_twice(card: PhotoCard, other: PhotoCard) -> bool:
    """Return whether two readings are of one card, by one index each; the first one stays, and is asked about."""
    apart = math.hypot(card.place.x - other.place.x, card.place.y - other.place.y)
    doubtful = not (card.sure or other.sure) and card.card == other.card
    return doubtful and card.number > other.number and apart < _ONE_CARD_MM


def _twice(cards: Sequence[PhotoCard], answers: Answers) -> Message | None:
    """Return a sentence about a card that lies twice; None if none does."""
    named: list[tuple[str, Message]] = [
        (card.card, Message("card %(number)s", number=card.number)) for card in cards if card.sure
    ]
    named += [
        (code, Message("%(row)s of seat %(seat)s", row=row, seat=seat))
        for (seat, row), codes in answers.missing.items()
        for code in codes
    ]
    counts = Counter(code for code, _ in named)
    for code, count in counts.items():
        if count > 1:
            return Message(
                "%(card)s lies there twice: %(where)s. One of them is another card, or two decks are mixed.",
                card=code,
                where=all_of(place for name, place in named if name == code),
            )
    return None


def _which(card: PhotoCard, seats: Sequence[Seat] = ()) -> Question:
    for one in seats:
        for name, row in zip(ROWS, one.rows, strict=True):
            if any(other.number == card.number for other in row):
                text = Message(
                    "Which card is number %(number)s (seat %(seat)s, %(row)s)?",
                    number=card.number,
                    seat=one.seat,
                    row=name,
                )
                return Question("card", text, str(card.number), card.candidates)
    text = Message("Which card is number %(number)s?", number=card.number)
    return Question("card", text, str(card.number), card.candidates)


def _in_words(cards: Sequence[PhotoCard], way: Grouping) -> str:
    return " | ".join(
        " / ".join(" ".join(cards[k].card for k in row) for row in group.rows)
        for group in sorted(way.groups, key=lambda group: group.rows)
    )


def _seated(cards: Sequence[PhotoCard], groups: Sequence[Group]) -> tuple[Seat, ...]:
    """Number the hands clockwise from the lowest one in the picture; each row is in order from its left."""
    hands = [
        tuple(_from_left([cards[k] for k in row], group, cards) for row in group.rows) for group in groups
    ]
    middles = [_mean([card.middle for row in hand for card in row]) for hand in hands]
    x, y = _mean(middles)
    lowest = max(range(len(hands)), key=lambda k: middles[k][1])

    def way(k: int) -> float:
        angles = [math.atan2(middles[n][1] - y, middles[n][0] - x) for n in (lowest, k)]
        return (angles[1] - angles[0]) % (2 * math.pi)

    order = sorted(range(len(hands)), key=lambda k: (k != lowest, round(way(k), 6), middles[k]))
    return tuple(Seat(n, hands[k]) for n, k in enumerate(order, start=1))


def _from_left(row: list[PhotoCard], group: Group, cards: Sequence[PhotoCard]) -> tuple[PhotoCard, ...]:
    """Order a row as its player, who sits behind the back row, sees it."""
    front, back = (_mean([cards[k].middle for k in one]) for one in (group.front, group.back))
    down = back[0] - front[0], back[1] - front[1]
    first, last = row[0].middle, row[-1].middle
    right = (last[0] - first[0]) * down[1] - (last[1] - first[1]) * down[0]
    return tuple(row if right >= 0 else row[::-1])


def _mean(points: Sequence[Point]) -> Point:
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def _lacking(seats: Sequence[Seat], answers: Answers) -> tuple[Question, ...]:
    """Return what is to be asked about cards that were not seen."""
    found = []
    for one in seats:
        for name, row, size in zip(ROWS, one.rows, (3, 5, 5), strict=True):
            less = size - len(row) - len(answers.missing.get((one.seat, name), ()))
            if less > 0:
                seen = " ".join(card.card for card in row)
                text = Message(
                    "Seat %(seat)s, %(row)s: these cards are seen: %(cards)s. Which is the other one?",
                    seat=one.seat,
                    row=name,
                    cards=seen,
                )
                found.append(Question("missing", text, f"{one.seat}.{name}"))
    return tuple(found)


def _settled(
    cards: tuple[PhotoCard, ...], seats: tuple[Seat, ...], answers: Answers, profile: str, unit: int
) -> Outcome:
    """Return the settlement, unless it hangs on something that no picture shows."""
    given = {
        "unit": unit,
        "button": answers.button or 1,
        "seats": [
            {"seat": one.seat}
            | {
                name: " ".join([*(card.card for card in row), *answers.missing.get((one.seat, name), ())])
                for name, row in zip(ROWS, one.rows, strict=True)
            }
            | ({"declares": True} if one.seat in (answers.declared or ()) else {})
            for one in seats
        ],
    }
    hand, rules = read_hand(given, profile)
    questions = []
    if answers.declared is None:
        questions += [
            Question(
                "declared",
                Message("Did seat %(seat)s declare its natural?", seat=one.seat),
                str(one.seat),
                ("yes", "no"),
            )
            for one in hand.seats
            if _would_count(hand, rules, one)
        ]
    if answers.button is None and _hangs_on_button(hand, rules):
        options = tuple(str(one.seat) for one in seats)
        text = Message("Which seat has the puck? The rules pay in its order.")
        questions.append(Question("button", text, options=options))
    if questions:
        return Outcome(cards, seats, tuple(questions))
    note = () if answers.button else (Message("The puck's seat makes no difference to what is paid."),)
    return Outcome(cards, seats, (), note, {"profile": profile, **given}, settle(hand, rules))


def _would_count(hand: Hand, profile: Profile, seat: SeatHand) -> bool:
    """Return whether a seat shows a natural that counts only if it was declared."""
    declaring = replace(seat, declares=True)
    changed = replace(hand, seats=tuple(declaring if one is seat else one for one in hand.seats))
    try:
        settled, as_is = settle(changed, profile), settle(hand, profile)
    except HandError:  # rules without naturals
        return False
    judged = next(one for one in settled.hands if one.seat == seat.seat)
    if judged.declaration is None or judged.declaration.verdict != "counts":
        return False
    return (settled.points, settled.paid) != (as_is.points, as_is.paid)


def _hangs_on_button(hand: Hand, profile: Profile) -> bool:
    """Return whether another dealer's seat would change what anybody gets."""
    found = [settle(replace(hand, button=one.seat), profile) for one in hand.seats]
    return any((one.points, one.paid) != (found[0].points, found[0].paid) for one in found)
