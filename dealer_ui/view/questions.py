"""The state's open questions, as things that a dealer can look at and touch."""

from collections.abc import Iterable, Sequence
from typing import Final

from dealer_ui.text.fantasyland_words import aside_words
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import ngettext
from dealer_ui.text.messages import say
from dealer_ui.text.rule_words import rule_text
from dealer_ui.text.words import capital, card_name, ordinal, row_name
from dealer_ui.view.faults import needs_device
from dealer_ui.view.irregularities import irregularity_words, things_words
from dealer_ui.view.natural_question import look_again, natural_question
from dealer_ui.view.pictures import enlarge_card, mark_card, row_pictures
from dealer_ui.view.puck import puck_words
from dealer_ui.view.screen import Action, Card, Need, Pad, Picture, Tone
from firmware.health.picture_checks import picture_check
from firmware.messages import Message
from firmware.rules import CARDS, Profile
from firmware.table.events import ROWS, RecordDamage, Row
from firmware.table.offers import Offer, Offers
from firmware.table.phase import Phase
from firmware.table.state import Ask, Question, Seat, State

SHOWN_CANDIDATES: Final = 3
SPOILS: Final = ("light", "glare", "banding", "camera", "resolution", "sharpness", "colour", "suits")
"""What may spoil a picture so that cards are asked for, causes before effects: in the dark no edge is sharp either."""


def needs(state: State, rules: Profile, may: Offers) -> tuple[Need, ...]:
    """Return the dealer's open questions in order; naturals come in settling order."""
    found: list[Need] = [_record(state.record_fault, may)] if state.record_fault else []
    duplicates: set[str] = set()
    for question in state.questions:
        match question.what:
            case Ask.IRREGULARITY:
                found.append(_irregularity(state, rules, question, may))
            case Ask.BUTTON:
                found.append(_button(state, rules, may))
            case Ask.COUNT:
                found.append(_count(state, rules, question, may))
            case Ask.DUPLICATE if question.cards[0] not in duplicates:
                duplicates.add(question.cards[0])
                found.append(_duplicate(state, rules, question.cards[0], may))
            case Ask.CARD:
                found.append(_card(state, rules, question, may))
            case Ask.NATURAL:
                pass  # naturals are asked below, one by one in settling order, once nothing else is open
    if not found and (confirm := may.first("confirm")):
        waiting = sum(question.what is Ask.NATURAL for question in state.questions)
        seat = _seat(state, confirm.command["seat"])
        found.append(natural_question(state, rules, seat, waiting - 1, may, confirm))
    if state.phase is Phase.DEALING and not found and may.white_refused:
        found.append(_wrong_button(state, may, may.white_refused))
    found += [_camera(may) for name in state.faults if needs_device(state, name)]
    return tuple(found)


def _record(fault: RecordDamage, may: Offers) -> Need:
    """Describe what is wrong with the record: no play until a floor person has read it."""
    return Need(
        kind="record",
        title=_("The record is in doubt"),
        sentence=say(fault.sentence),
        actions=tuple(Action.of(offer, tone="warn") for offer in may.of("read_record_fault")),
    )


def _camera(may: Offers) -> Need:
    """Describe that the camera cannot see what it should read now, and how the hand goes on without it."""
    label = _("Key this hand without the camera")
    return Need(
        kind="device",
        title=_("The camera sees nothing"),
        sentence=_("Look at its cable: it goes on by itself. Or key the cards on the pad."),
        actions=tuple(Action.of(offer, label) for offer in may.of("key_hand")),
    )


def _wrong_button(state: State, may: Offers, why: Message) -> Need:
    """Ask about a button that does not match the players dealt in."""
    right = may.right_buttons
    players = {seat.seat: seat.player for seat in state.house.seats}
    first = right[0].command["seat"] if right else None
    again = (Action.of(offer, tone="warn") for offer in may.of("misdeal") if offer.also)
    return Need(
        kind="button",
        title=_("Puck should be at seat %(seat)s (%(player)s)", seat=first, player=players.get(first, "–"))
        if first
        else _("Where is the puck?"),
        sentence=say(why),
        choices=(
            *(Action.of(offer, _("It is at seat %(seat)s", seat=offer.command["seat"])) for offer in right),
            *again,
        ),
    )


def identified_cards(codes: Iterable[str | None], count: int) -> tuple[str, ...]:
    """Return a row's identified cards; none if there are too many, or one twice."""
    known = tuple(code for code in codes if code)
    return known if len(set(known)) == len(known) <= count else ()


def _irregularity(state: State, rules: Profile, question: Question, may: Offers) -> Need:
    seen = next(i for i in state.irregularities if i.number == question.number)
    seat = _seat(state, seen.seat)
    title, sentence, rule, record, table = irregularity_words(seen, rules)
    answers = [Action.of(offer, record) for offer in may.of("resolve", number=seen.number, stands="record")]
    if table:
        offered = may.of("resolve", number=seen.number, stands="table")
        answers += [Action.of(offer, table, tone="warn") for offer in offered]
    pictures = [*mark_card(seen.frame, seen.seen.corners)] if seen.frame and seen.seen else []
    if seen.capture:
        where = {"seat": seen.seat, "row": row_name(seen.row)}
        pictures.append(Picture(seen.capture.name, _("seat %(seat)s, %(row)s, as seen now", **where)))
    return Need(
        kind="irregularity",
        title=title,
        sentence=sentence,
        rule=rule,
        place=seat.place,
        row=seen.row,
        index=seen.index,
        pictures=tuple(pictures),
        actions=tuple(answers),
    )


def _button(state: State, rules: Profile, may: Offers) -> Need:
    playing = {seat.seat: seat.player for seat in state.seats}
    return Need(
        kind="button",
        title=_("Where is the puck?"),
        sentence=_("%(trouble)s Touch the seat that holds the puck.", trouble=puck_words(state)),
        rule=rule_text(rules.irregularities.button),
        choices=tuple(
            Action.of(offer, _seat_label(offer.command["seat"], playing.get(offer.command["seat"])))
            for offer in may.of("key_button")
        ),
    )


def _seat_label(seat: int, player: str | None) -> str:
    if player == f"Seat {seat}":  # as a seat's player is called whom nobody has named
        return _("Seat %(seat)s", seat=seat)
    if player:
        return _("Seat %(seat)s · %(player)s", seat=seat, player=player)
    return _("Seat %(seat)s · not playing", seat=seat)


def _count(state: State, rules: Profile, question: Question, may: Offers) -> Need:
    seat, row = _seat(state, question.seat), _row(question)
    seen, expected = len(question.cards), ROWS[row]
    where = {"seat": seat.seat, "row": row_name(row)}
    if state.reading_failure and may.white:
        title, sentence, rule = _("The cards were not read"), say(state.reading_failure), ""
    elif (state.reading_failure or state.keyed) and not seen:
        title = _("Seat %(seat)s · %(row)s: key %(count)s cards", count=expected, **where)
        sentence = _(
            "%(trouble)s Key the row, left to right as its player sees it.",
            trouble=say(state.reading_failure or ""),
        ).strip()
        rule = ""
    else:
        title = ngettext(
            "Seat %(seat)s · %(row)s: %(num)s card of %(count)s",
            "Seat %(seat)s · %(row)s: %(num)s cards of %(count)s",
            seen,
            count=expected,
            **where,
        )
        sees = ngettext(
            "The camera sees %(num)s card where %(count)s belong.",
            "The camera sees %(num)s cards where %(count)s belong.",
            seen,
            count=expected,
        )
        todo = _("Straighten the row and look again, or key it.")
        aside = aside_words(seat.seat, seat.fantasyland_cards) if seen > expected else ""
        sentence = " ".join(filter(None, (sees, aside, things_words(question.things), todo)))
        rule = rule_text(rules.irregularities.wrong_number_of_cards)
    keys = may.of("key_row", seat=seat.seat, row=row)
    sure = [code for code in question.cards if code != "??"]
    are_right = _("The %(count)s named are right", count=expected)
    ghost = (Action.of(key, are_right, {"cards": " ".join(sure)}, tone="go") for key in keys)
    folded, again = silent_surrender(may, seat), look_again(state, may)
    return Need(
        kind="count",
        title=title,
        sentence=sentence,
        rule=rule,
        place=seat.place,
        row=row,
        pictures=row_pictures(seat, row),
        follow=bool(state.reading_failure or state.keyed) and not seen,
        begins=bool(state.keyed) and not seen,
        rows=(
            tuple(Card("unread") if code == "??" else Card("up", code) for code in question.cards)
            + (Card("empty"),) * (expected - seen),
        ),
        pads=tuple(
            Pad(
                _("Key the row…"),
                {**key.command},
                expected,
                _("Seat %(seat)s · %(row)s, left to right", **where),
                identified_cards(sure, expected),
            )
            for key in keys
        ),
        actions=(*folded, *again)
        if may.white
        else (*again, *folded, *(ghost if len(sure) == expected else ())),
    )


def _duplicate(state: State, rules: Profile, code: str, may: Offers) -> Need:
    spots = [
        question
        for question in state.questions
        if question.what is Ask.DUPLICATE and question.cards[0] == code
    ]
    where = [_("seat %(seat)s, %(row)s, %(ordinal)s card", **_spot(q)) for q in spots]
    first = _seat(state, spots[0].seat)
    pictures = tuple(
        picture for question in spots for picture in row_pictures(_seat(state, question.seat), _row(question))
    )
    return Need(
        kind="duplicate",
        title=_("%(card)s: read twice", card=capital(card_name(code)))
        if len(spots) == 2
        else _("%(card)s: read %(count)s times", card=capital(card_name(code)), count=len(spots)),
        sentence=_("At %(places)s. Touch the one that is another card.", places=_("; at ").join(where)),
        rule=rule_text(rules.irregularities.card_twice),
        place=first.place,
        row=_row(spots[0]),
        index=spots[0].index,
        pictures=tuple(dict.fromkeys(pictures)),
        rows=((Card("up", code),) * len(spots),),
        pads=tuple(
            Pad(_("Seat %(seat)s · %(row)s, %(ordinal)s card", **_spot(q)), {**offer.command})
            for q in spots
            for offer in _set_card(q, may)
        ),
        actions=look_again(state, may),
    )


def _card(state: State, rules: Profile, question: Question, may: Offers) -> Need:
    seat, row, index = _seat(state, question.seat), _row(question), _index(question)
    names = _set_card(question, may)
    candidates = question.cards[:SHOWN_CANDIDATES]
    where = _("Seat %(seat)s · %(row)s, %(ordinal)s card", **_spot(question))
    lies = _("%(place)s from the left, as its player sees it.", place=where)
    return Need(
        kind="card",
        title=_("Which card is it?"),
        sentence=" ".join(filter(None, (lies, _remedy(state, seat.place, row)))),
        rule=rule_text(rules.irregularities.unread_card),
        place=seat.place,
        row=row,
        index=index,
        pictures=(*enlarge_card(state, seat, row, index), *row_pictures(seat, row)),
        candidates=tuple(
            (code, Action.of(offer, card_name(code), {"card": code}))
            for code in candidates
            for offer in names
        ),
        pads=tuple(
            Pad(
                _("Another card…") if candidates else _("Choose the card…"),
                {**offer.command},
                title=where,
                likely=likely(state, None, question.cards),
            )
            for offer in names
        ),
        actions=look_again(state, may),
    )


def _remedy(state: State, place: str, row: Row) -> str:
    """Return what is to be done about the picture before another look, if that is why a card is asked for."""
    for name in SPOILS:
        seen = state.verdicts.get(name)
        if seen and not seen["ok"] and f"{place} {row}" in (seen.get("where") or f"{place} {row}"):
            return say(picture_check(name, {**seen, "where": ""}).says)
    return ""


def silent_surrender(may: Offers, seat: Seat, label: str = "", tone: Tone = "plain") -> tuple[Action, ...]:
    """Offer to record at an empty seat that its player had surrendered before the showdown."""
    offered = (
        offer for offer in may.of("back_to_setting") if offer.also and offer.also[0]["seat"] == seat.seat
    )
    return tuple(Action.of(offer, label, tone=tone) for offer in offered)


LOOKS_LIKE: Final = {"s": "chd", "c": "shd", "h": "dsc", "d": "hsc"}
"""The other suits, the one that is most easily taken for it first."""
FEW: Final = 13
"""So few cards lie nowhere if four play."""
LIKELY: Final = 9


def likely(state: State, code: str | None, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return what a card most probably is: what the camera thought of, its rank in other suits, what lies nowhere."""
    seen = (*candidates, *filter(None, (code,)))
    twins = [one[0] + suit for one in seen[:1] for suit in LOOKS_LIKE[one[1]]]
    lying = {card.card for seat in state.seats for row in ROWS for card in seat.row(row)}
    rest = [card.code for card in CARDS if card.code not in lying]
    found = dict.fromkeys((*candidates, *twins, *(rest if len(rest) <= FEW else ())))
    return tuple(card for card in found if card != code)[:LIKELY]


def _spot(question: Question) -> dict[str, str]:
    """Describe a card's place."""
    return {
        "seat": str(question.seat),
        "row": row_name(_row(question)),
        "ordinal": ordinal(_index(question) + 1),
    }


def _set_card(question: Question, may: Offers) -> tuple[Offer, ...]:
    """Return the offer to name this card, if there is one."""
    return may.of("set_card", seat=question.seat, row=question.row, index=question.index)[:1]


def _seat(state: State, number: int | None) -> Seat:
    seat = state.seat(number) if number is not None else None
    assert seat is not None, "the state asks about seats that play"
    return seat


def _row(question: Question) -> Row:
    assert question.row is not None, "a question about cards names its row"
    return question.row


def _index(question: Question) -> int:
    assert question.index is not None, "a question about a card names its place in the row"
    return question.index
