"""A hand's timeline in words: each row of the record as a sentence, with its actor. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from dealer_ui.text.comparison_words import words_of_comparison
from dealer_ui.text.hand_words import kind_in_words
from dealer_ui.text.i18n import N_, ngettext
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import capital, card_name, cards_in_words, device_name, ordinal, row_name
from firmware.messages import Message
from firmware.record.hand_history import PastHand, Step, StepSequence, frame_of
from firmware.rules.recorded_settlement import read_settlement
from firmware.table import events as ev
from firmware.table.phase import Phase
from firmware.table.readings import Capture

QUIET: Final = frozenset(
    {
        "pin_tried",
        "name_tried",
        "pin_accepted",
        "wait_ended",
        "badge_listed",
        "key_announced",
        "head_signed",
        "pit_words_compared",
        "update_begun",
    }
)
"""Types of rows that tell nothing about a hand."""
LAST_MS: Final = 253_402_000_000_000  # late in December 9999

_ROLES: Final = {
    "dealer": N_("dealer"),
    "floor": N_("floor"),
    "technician": N_("technician"),
    "auditor": N_("auditor"),
    "button": N_("by push-button"),
    "pit": N_("from the pit"),
}
_WITHOUT_NAME: Final = {
    "camera": N_("camera"),
    "puck": N_("puck reader"),
    "table": N_("the table itself"),
    "console": N_("command line"),
    "dealer": N_("dealer"),
    "button": N_("by push-button"),
}
_PHASES: Final = {
    Phase.SETTING: N_("The cards are out: the players set."),
    Phase.PLACING: N_("The cards are placed face up."),
    Phase.SHOWDOWN: N_("Showdown: all cards are turned up."),
    Phase.READING: N_("The camera looks."),
    Phase.REVIEW: N_("The rows are keyed."),
}
_GOES_ON: Final = N_("The hand goes on.")


@dataclass(frozen=True)
class TimelineRow:
    """One row in words, with its pictures.

    `zone` names a picture of one zone. `frame_seq` is the row's own number if it has a picture of the whole felt.
    """

    seq: int
    time: str
    who: str
    text: str
    zone: str = ""
    frame_seq: int | None = None
    weight: str = ""
    """`end` for what opens, settles or ends a hand, `asked` for what a person decided, `fault` for what went wrong."""


def time_of(wall_ms: int) -> str:
    """Format a time to the second, in the box's own zone."""
    return _moment(wall_ms).strftime("%H:%M:%S")


def day_of(wall_ms: int) -> str:
    """Format a day in figures, the same in every language."""
    return _moment(wall_ms).strftime("%Y-%m-%d")


def _moment(wall_ms: int) -> datetime:
    return datetime.fromtimestamp(nearest_date_ms(wall_ms) / 1000, UTC).astimezone()


def nearest_date_ms(wall_ms: int) -> int:
    """Return the time itself, or the nearest one that has a date: a table's clock may be set to anything."""
    return min(max(wall_ms, 0), LAST_MS)


def who_is(actor: str) -> str:
    """Name the journal's actor: `floor:Moreno` is `Moreno (floor)`."""
    role, _colon, name = actor.partition(":")
    if name:
        return f"{name} ({_(_ROLES[role])})" if role in _ROLES else name
    return _(_WITHOUT_NAME[actor]) if actor in _WITHOUT_NAME else actor


def timeline(recalled: PastHand) -> tuple[TimelineRow, ...]:
    """Return the whole timeline: the hand, then each of its corrections."""
    steps = [step for chapter in (recalled.play, *recalled.corrections) for step in chapter.steps]
    steps += [Step(entry, recalled.last.end, recalled.last.end) for entry in recalled.marks]
    rows = (describe(step, recalled.hand) for step in sorted(steps, key=lambda step: step.entry.seq))
    return tuple(one for one in rows if one is not None)


def changes_of(chapter: StepSequence, hand: int) -> tuple[TimelineRow, ...]:
    """Return the changes of a correction, without their mere consequences."""
    shown = (ev.CardCorrected.type, ev.CardResolved.type, ev.RowKeyed.type, ev.HandVoided.type)
    return tuple(
        row
        for step in chapter.steps
        if step.entry.type in shown and (row := describe(step, hand)) is not None
    )


def describe(step: Step, hand: int) -> TimelineRow | None:
    """Describe one row; None for a row that is not about this hand."""
    entry, event = step.entry, step.entry.event
    about = getattr(event, "hand", hand)
    if entry.type in QUIET or (about != hand and not isinstance(event, ev.HandOpened)):
        return None
    words = _WORDS.get(type(event)) or say(event.title)
    text = _fill_message(words, event) if isinstance(words, str) else words(event, step)
    return TimelineRow(
        entry.seq,
        time_of(entry.wall_ms),
        who_is(entry.actor),
        text,
        zone=_zone(event),
        frame_seq=entry.seq if frame_of(entry) else None,
        weight="fault"
        if isinstance(event, ev.CardsCompared) and event.changed
        else _WEIGHTS.get(type(event), ""),
    )


def _zone(event: ev.Event) -> str:
    changed = event.changed if isinstance(event, ev.CardsCompared) else ()
    capture = changed[0].capture if changed else getattr(event, "capture", None)
    return capture.name if isinstance(capture, Capture) else ""


def spot(seat: int, row: str, index: int | None = None) -> str:
    """Describe a card's place."""
    if index is None:
        return _("seat %(seat)s, %(row)s", seat=seat, row=row_name(row))
    return _("seat %(seat)s, %(row)s, %(place)s card", seat=seat, row=row_name(row), place=ordinal(index + 1))


# ---- each event ----


def _say_opened(event: ev.HandOpened, _step: Step) -> str:
    who = _(", ").join(f"{seat.seat} {seat.player}" for seat in event.seats)
    return _("Hand %(hand)s is opened: %(who)s.", hand=f"{event.hand:,}", who=who)


def _puck(event: ev.PuckSeen, _step: Step) -> str:
    if event.seat is not None:
        return _("The puck lies at seat %(seat)s.", seat=event.seat)
    return _("The puck reader names no seat.")


def _reading(event: ev.ReadingTaken, _step: Step) -> str:
    cards = [card for row in event.rows for card in row.cards]
    unsure = sum(not card.sure for card in cards)
    statement = ngettext("%(num)s card was read", "%(num)s cards were read", len(cards))
    if not unsure:
        return _("%(cards)s, all surely.", cards=capital(statement))
    asked = ngettext("%(num)s of them not surely", "%(num)s of them not surely", unsure)
    return _("%(cards)s, %(unsure)s.", cards=capital(statement), unsure=asked)


def _say_placed(event: ev.CardPlaced, _step: Step) -> str:
    where = spot(event.seat, event.row)
    if not event.card.sure or event.card.card is None:
        return _("A card is placed at %(where)s; it could not surely be read.", where=where)
    return _("%(card)s is placed at %(where)s.", card=_card(event.card.card), where=where)


def _reread(event: ev.CardReread, _step: Step) -> str:
    where = spot(event.seat, event.row, event.index)
    return _("A later look reads %(where)s: %(card)s.", where=where, card=card_name(event.card.card or ""))


def _say_resolved(event: ev.CardResolved, step: Step) -> str:
    read = _card_before(step, event)
    guess = _(" (the camera's guess: %(card)s)", card=card_name(read)) if read else ""
    where = spot(event.seat, event.row, event.index)
    return _("Answered: %(where)s is the %(card)s", where=where, card=card_name(event.card)) + guess + "."


def _say_corrected(event: ev.CardCorrected, step: Step) -> str:
    was = event.was or _card_before(step, event)
    where = spot(event.seat, event.row, event.index)
    if not was:
        return _("Corrected: %(where)s is the %(card)s.", where=where, card=card_name(event.card))
    return _(
        "Corrected: %(where)s is the %(card)s, not the %(was)s.",
        where=where,
        card=card_name(event.card),
        was=card_name(was),
    )


def _card_before(step: Step, event: ev.CardResolved | ev.CardCorrected) -> str:
    """Return what the card was taken for before the event; "" if nobody knew."""
    seat = step.before.seat(event.seat)
    cards = seat.row(event.row) if seat else ()
    return (cards[event.index].card or "") if event.index < len(cards) else ""


def _say_keyed(event: ev.RowKeyed, _step: Step) -> str:
    return _(
        "Keyed: %(where)s: %(cards)s.", where=spot(event.seat, event.row), cards=cards_in_words(event.cards)
    )


def _say_confirmed(event: ev.NaturalConfirmed, _step: Step) -> str:
    if event.kind is None:
        return _("Confirmed: seat %(seat)s has no natural.", seat=event.seat)
    return _(
        "Confirmed: seat %(seat)s has a natural, %(kind)s.",
        seat=event.seat,
        kind=kind_in_words(event.kind),
    )


def _say_settled(event: ev.HandSettled, _step: Step) -> str:
    return ngettext(
        "Settled: %(num)s payment.",
        "Settled: %(num)s payments.",
        len(read_settlement(event.settlement).moving),
    )


def _say_paid(event: ev.PaymentMarked, _step: Step) -> str:
    between = f"{event.a}–{event.b}"
    if event.paid:
        return _("Paid: %(between)s.", between=between)
    return _("Taken back: the mark that %(between)s is paid.", between=between)


def _say_archived(event: ev.HandArchived, step: Step) -> str:
    if step.before.suspended_state is not None:
        return _("The correction is closed.")
    if not event.unmarked:
        return _("The hand is closed.")
    between = ", ".join(f"{a}–{b}" for a, b in event.unmarked)
    return _(
        "The hand is closed; not marked as paid: %(between)s. The players have settled among themselves.",
        between=between,
    )


def _say_awaited(event: ev.CardsAwaited, _step: Step) -> str:
    seats = ", ".join(map(str, event.seats))
    return _("Too few cards at %(seats)s: the camera looks again by itself.", seats=seats)


def _say_reopened(event: ev.HandReopened, _step: Step) -> str:
    if event.resumed:
        return _("The closing is taken back: the payments go on.")
    return _("Reopened: %(reason)s.", reason=say(event.reason).rstrip("."))


def _irregular(event: ev.IrregularitySeen, _step: Step) -> str:
    where = spot(event.seat, event.row, event.index)
    message = {
        "card_moved": N_("The %(card)s lies elsewhere than at %(where)s, where it was set."),
        "card_missing": N_("The %(card)s is not seen at %(where)s."),
        "card_changed": N_("Another card than the %(card)s lies at %(where)s."),
        "card_twice": N_("The %(card)s is seen twice: also at %(where)s."),
        "extra_card": N_("A card too many lies at %(where)s."),
        "face_down": N_("A card lies face down at %(where)s."),
        "out_of_turn": N_("Seat %(seat)s placed a card out of turn."),
    }[event.what]
    return _(message, card=card_name(event.card) if event.card else _("card"), where=where, seat=event.seat)


def _irregular_over(event: ev.IrregularityEnded, _step: Step) -> str:
    if event.by == "camera":
        return _("The camera sees it in order again.")
    return _("Decided: the record stands.") if event.stands == "record" else _("Decided: the table stands.")


def _card(code: str) -> str:
    return capital(card_name(code))


def _fill_message(message: str, event: ev.Event) -> str:
    """Fill a message with the event's fields; reasons and faults in the current language."""
    return _(message, **{name: _field(name, value) for name, value in vars(event).items()})


def _field(name: str, value: object) -> object:
    if name == "device":
        return capital(device_name(str(value)))
    if name in ("reason", "detail", "note"):
        assert isinstance(value, Message | str)
        translated = say(value)
        return translated if name == "detail" else translated.rstrip(".")
    return value


WITHDRAWN: Final = N_("No card of this hand was dealt: the hand before it was closed too soon.")
_WORDS: Final[Mapping[type[ev.Event], str | Callable[[Any, Step], str]]] = {
    ev.HandOpened: _say_opened,
    ev.TableStarted: N_("The table process started again."),
    ev.PuckSeen: _puck,
    ev.ButtonKeyed: N_("The puck is keyed at seat %(seat)s."),
    ev.PhaseAdvanced: lambda event, _step: _(_PHASES.get(event.to, _GOES_ON)),
    ev.NaturalDeclared: N_("Seat %(seat)s declares a natural."),
    ev.NaturalFound: N_("Seat %(seat)s's cards are a natural, which counts undeclared."),
    ev.NaturalWithdrawn: N_("Seat %(seat)s's declaration is withdrawn."),
    ev.PlayerSurrendered: N_("Seat %(seat)s surrenders."),
    ev.SurrenderWithdrawn: N_("Seat %(seat)s's surrender is withdrawn."),
    ev.CardsAwaited: _say_awaited,
    ev.CardsCompared: lambda event, _step: words_of_comparison(event),
    ev.SettingResumed: N_("The showdown came too early: back to setting."),
    ev.ReadingTaken: _reading,
    ev.ReadingFailed: N_("Nothing could be read: %(reason)s."),
    ev.LookedAgain: N_("The camera is asked to look again."),
    ev.CardPlaced: _say_placed,
    ev.CardReread: _reread,
    ev.CardResolved: _say_resolved,
    ev.CardCorrected: _say_corrected,
    ev.RowKeyed: _say_keyed,
    ev.KeyingBegun: N_("The hand is keyed: %(reason)s."),
    ev.IrregularitySeen: _irregular,
    ev.IrregularityEnded: _irregular_over,
    ev.NaturalConfirmed: _say_confirmed,
    ev.NaturalUnconfirmed: N_("Seat %(seat)s's natural is taken back."),
    ev.HandSettled: _say_settled,
    ev.PaymentMarked: _say_paid,
    ev.HandArchived: _say_archived,
    ev.HandVoided: N_("The hand is void: %(reason)s."),
    ev.HandMisdealt: N_("Misdeal: %(reason)s."),
    ev.HandWithdrawn: WITHDRAWN,
    ev.HandReopened: _say_reopened,
    ev.HandDisputed: N_("Kept as disputed: %(reason)s."),
    ev.DisputeClosed: N_("The dispute is over: %(reason)s."),
    ev.HandReviewed: lambda event, _step: (
        _("Reviewed: %(note)s.", note=event.note) if event.note else _("Reviewed.")
    ),
    ev.ImagesLost: lambda event, _step: ngettext(
        "%(num)s picture is lost: the backup that was restored did not hold it as it was stored.",
        "%(num)s pictures are lost: the backup that was restored did not hold them as they were stored.",
        len(event.missing) + len(event.changed),
    ),
    ev.ImagesDropped: N_("Its pictures are no longer kept: %(reason)s."),
    ev.DeviceFault: N_("%(device)s: %(detail)s"),
    ev.DeviceRecovered: N_("%(device)s: works again."),
    ev.LoggedOn: N_("%(person)s begins to deal."),
    ev.LoggedOff: N_("The dealer leaves."),
    ev.FloorCalled: N_("The floor is called."),
    ev.FloorCallEnded: lambda event, _step: (
        _("A floor person has come.") if event.answered else _("The call for the floor is taken back.")
    ),
}
_WEIGHTS: Final[Mapping[type[ev.Event], str]] = {
    **dict.fromkeys(
        (ev.HandSettled, ev.HandArchived, ev.HandVoided, ev.HandMisdealt, ev.HandWithdrawn, ev.HandOpened),
        "end",
    ),
    **dict.fromkeys(
        (ev.CardResolved, ev.CardCorrected, ev.RowKeyed, ev.NaturalConfirmed, ev.HandReopened), "asked"
    ),
    **dict.fromkeys((ev.DeviceFault, ev.ReadingFailed, ev.IrregularitySeen, ev.ImagesLost), "fault"),
}
