"""A past hand in review: its cards, its settlement with every clause, the same under other rules to compare. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dealer_ui.review.timeline import WITHDRAWN, TimelineRow, changes_of, day_of, time_of, who_is
from dealer_ui.text.fantasyland_words import next_words
from dealer_ui.text.hand_words import natural_name, row_text
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import money, money_with_sign, trend
from dealer_ui.view.payments import foul_reasons, payments
from firmware.record.hand_history import PastHand, StepSequence
from firmware.rules import Profile, RankedNatural, chips_plan
from firmware.rules.profiles.document import option_name
from firmware.rules.recorded_settlement import (
    NOTHING_SETTLED,
    RecordedHand,
    RecordedRow,
    RecordedSettlement,
    read_settlement,
)
from firmware.table.errors import CommandRefused
from firmware.table.events import ROWS, HandReopened, HandWithdrawn, Payback
from firmware.table.settling import settlement as settle
from firmware.table.settling import undeclared_naturals
from firmware.table.state import State


@dataclass(frozen=True)
class ExchangeLine:
    """One line of an exchange: its points, and the clause of the house rules that they follow from."""

    text: str
    points: str
    clause: str
    """The option, as the index of the house-rules page names it."""
    differs: bool = False


@dataclass(frozen=True)
class PairExchange:
    """One pair's exchange; `differs`: the settlement that it is compared with has another sum or other points."""

    label: str
    words: str
    amount: str
    lines: tuple[ExchangeLine, ...]
    short: str = ""
    differs: bool = False


@dataclass(frozen=True)
class Net:
    """What a seat won in the hand."""

    seat: int
    player: str
    amount: str
    trend: str
    differs: bool = False


@dataclass(frozen=True)
class SettlementView:
    """A settlement as a page shows it; without pairs, `why` gives the reason."""

    title: str
    pairs: tuple[PairExchange, ...] = ()
    nets: tuple[Net, ...] = ()
    why: str = ""

    @property
    def differs(self) -> bool:
        """Whether anything differs from the compared settlement."""
        return any(pair.differs for pair in self.pairs) or any(net.differs for net in self.nets)


@dataclass(frozen=True)
class RowView:
    """One row of a seat: its cards' codes in order, its category in words, its bonus."""

    row: str
    cards: tuple[str, ...]
    text: str = ""
    bonus: int = 0
    by_hand: tuple[int, ...] = ()
    """The positions, from 0, of the cards that a person named."""


@dataclass(frozen=True)
class SeatView:
    """A seat of the hand."""

    seat: int
    player: str
    rows: tuple[RowView, ...]
    marks: tuple[str, ...]
    has_puck: bool
    net: str
    trend: str


@dataclass(frozen=True)
class Correction:
    """One reopening of the hand. `is_over` is False while it is still on the table."""

    when: str
    who: str
    reason: str
    changed: tuple[TimelineRow, ...]
    before: SettlementView
    after: SettlementView
    paybacks: tuple[str, ...]
    is_over: bool


@dataclass(frozen=True)
class HandView:
    """A past hand: when and under which rules it was played, its cards, its settlement and its corrections."""

    hand: int
    when: str
    profile: str
    unit: str
    dealer: str
    down: int
    void: str
    seats: tuple[SeatView, ...]
    settled: SettlementView
    corrections: tuple[Correction, ...]


def hand_view(recalled: PastHand, rules: Profile | None, paybacks: Iterable[Payback] = ()) -> HandView:
    """Return a hand's review; `rules` are those it was played under, None if they are not available.

    `paybacks` are all paybacks that the table knows; each says whether it was marked as paid.
    """
    end, settlement = recalled.last.end, _read(recalled.settlement)
    first = recalled.play.first.entry
    corrections = [chapter for chapter in recalled.corrections if not _was_closed_too_soon(chapter)]
    title = _("Settled") if not corrections else _("Settled, as corrected")
    return HandView(
        recalled.hand,
        f"{day_of(first.wall_ms)} {time_of(first.wall_ms)}",
        rules.title if rules else recalled.opened.profile,
        money(recalled.opened.unit),
        recalled.opened.dealer,
        recalled.opened.down,
        _void(recalled),
        tuple(_seats(end, settlement, _undeclared_naturals(recalled, rules))),
        settlement_view(title, settlement, end),
        tuple(_correction(chapter, recalled.hand, paybacks) for chapter in corrections),
    )


def _void(recalled: PastHand) -> str:
    if not recalled.last.is_void:
        return ""
    event = recalled.last.steps[-1].entry.event
    if isinstance(event, HandWithdrawn):
        return _(WITHDRAWN)
    reason = say(getattr(event, "reason", "")).rstrip(".")
    return _("This hand is void: %(reason)s.", reason=reason)


def _read(settlement: Mapping[str, Any] | None) -> RecordedSettlement | None:
    return read_settlement(settlement) if settlement is not None else None


# ---- cards ----


def _undeclared_naturals(recalled: PastHand, rules: Profile | None) -> Mapping[int, RankedNatural]:
    """Return the undeclared naturals by seat, once the rows were compared: only then may a natural be named."""
    if recalled.settlement is None or rules is None:
        return {}
    try:
        return undeclared_naturals(recalled.last.end, rules)
    except CommandRefused:
        return {}


def _seats(
    end: State, settlement: RecordedSettlement | None, undeclared: Mapping[int, RankedNatural]
) -> Iterable[SeatView]:
    why = foul_reasons(settlement) if settlement else {}
    for seat in end.seats:
        hand = settlement.hand(seat.seat) if settlement else None
        judged = hand.rows if hand else {}
        rows = tuple(
            RowView(
                row,
                tuple(card.card or "" for card in seat.row(row)),
                row_in_words(judged.get(row)),
                judged[row].bonus if row in judged else 0,
                tuple(i for i, card in enumerate(seat.row(row)) if card.by == "dealer"),
            )
            for row in ROWS
        )
        won = settlement.paid.get(seat.seat, 0) if settlement else 0
        yield SeatView(
            seat.seat,
            seat.player,
            rows,
            tuple(seat_marks(hand, seat.surrenders, why.get(seat.seat, ""), undeclared.get(seat.seat))),
            seat.seat == end.button,
            money_with_sign(won) if settlement else "",
            trend(won),
        )


def row_in_words(row: RecordedRow | None) -> str:
    """Return what a row is worth, in words; "" for one that was not judged."""
    return row_text(row.category, row.cards) if row and row.category else ""


def seat_marks(
    hand: RecordedHand | None,
    surrenders: bool = False,
    why: str = "",
    undeclared: RankedNatural | None = None,
) -> Iterable[str]:
    """Yield what is special about a seat's hand; `why`: what makes it a foul."""
    if surrenders:
        yield _("surrendered")
    if hand and hand.is_foul:
        yield _("foul: %(why)s", why=why) if why else _("foul")
    if hand and hand.natural:
        yield _("natural: %(kind)s", kind=natural_name(hand.natural))
    if hand and hand.declaration == "not_borne_out":
        yield _("declared a natural that the cards do not show")
    if hand and hand.declaration == "voided_by_foul":
        yield _("declared a natural that the foul voids")
    if undeclared:
        yield _("natural that was not declared: %(kind)s", kind=natural_name(undeclared))
    if hand and hand.fantasyland_next:
        yield next_words(hand.fantasyland_cards, kept=False)


# ---- settlements ----


def settlement_view(
    title: str,
    settlement: RecordedSettlement | None,
    end: State,
    other: RecordedSettlement | None = None,
    why: str = "",
) -> SettlementView:
    """Return a settlement as shown, with its differences from `other` marked; without one, `why` gives the reason."""
    if settlement is None:
        return SettlementView(title, why=why or _("Nothing is settled."))
    return SettlementView(title, exchanges(settlement, other), tuple(_nets(settlement, end, other)))


def exchanges(
    settlement: RecordedSettlement, other: RecordedSettlement | None = None
) -> tuple[PairExchange, ...]:
    """Return every pair's exchange with its reasons, the differences from `other` marked."""
    pays, _current = payments(settlement, frozenset())
    others = {pair.seats: pair for pair in other.pairs} if other else {}
    pairs = []
    for pair, pay in zip(settlement.pairs, pays, strict=True):
        counterpart = others.get(pair.seats)
        lines = tuple(
            ExchangeLine(
                payment_line.text,
                payment_line.points,
                say(option_name(line.clause)),
                counterpart is not None and line not in counterpart.lines,
            )
            for line, payment_line in zip(pair.lines, pay.lines, strict=True)
        )
        direction = (
            ""
            if pay.state == "nothing"
            else _("seat %(payer)s pays seat %(winner)s", payer=pay.payer, winner=pay.winner)
        )
        differs = counterpart is not None and (
            (counterpart.paid, counterpart.points) != (pair.paid, pair.points)
        )
        pairs.append(PairExchange(pay.label, direction, pay.amount, lines, pay.short, differs))
    return tuple(pairs)


def _nets(settlement: RecordedSettlement, end: State, other: RecordedSettlement | None) -> Iterable[Net]:
    for seat in end.seats:
        won = settlement.paid.get(seat.seat, 0)
        differs = other is not None and other.paid.get(seat.seat, 0) != won
        yield Net(seat.seat, seat.player, money_with_sign(won), trend(won), differs)


def settle_again(recalled: PastHand, rules: Profile, title: str) -> tuple[SettlementView, SettlementView]:
    """Settle a hand's cards under a profile; return the recorded and the new settlement, the differences marked."""
    end, recorded = recalled.last.end, _read(recalled.settlement)
    why = ""
    try:
        resettled = _read(settle(end, rules))
    except CommandRefused as error:
        resettled, why = None, say(error)
    if resettled is not None and resettled.is_irregular:
        resettled = None
        why = _("Under this profile the hand cannot be settled: its cards are irregular.")
    return (
        settlement_view(_("As it stands"), recorded, end, resettled),
        settlement_view(title, resettled, end, recorded, why),
    )


# ---- corrections ----


def _was_closed_too_soon(chapter: StepSequence) -> bool:
    """Return whether the hand was opened again only because it had been closed too soon: that corrects nothing."""
    event = chapter.first.entry.event
    return isinstance(event, HandReopened) and event.resumed


def _correction(chapter: StepSequence, hand: int, paybacks: Iterable[Payback]) -> Correction:
    entry = chapter.first.entry
    event = entry.event
    assert isinstance(event, HandReopened)
    end = chapter.end
    before = read_settlement(event.settlement)
    after = None if chapter.is_void else _read(end.settlement)
    why_none = (
        _("The hand was made void: all is paid back.") if chapter.is_over else _("Not settled again yet.")
    )
    return Correction(
        f"{day_of(entry.wall_ms)} {time_of(entry.wall_ms)}",
        who_is(entry.actor),
        say(event.reason).rstrip("."),
        changes_of(chapter, hand),
        settlement_view(_("Before"), before, end, NOTHING_SETTLED if chapter.is_void else after),
        settlement_view(_("After"), after, end, before, why_none),
        tuple(_paybacks(chapter, after, paybacks)),
        chapter.is_over,
    )


def _paybacks(
    chapter: StepSequence, after: RecordedSettlement | None, known: Iterable[Payback]
) -> Iterable[str]:
    """Describe each payback: payer, payee, sum, and whether the table has it marked as done."""
    state = chapter.end
    if after is None and not chapter.is_void:
        return
    marked = {(back.hand, back.payer, back.winner, back.amount): back.paid for back in known}
    event = chapter.first.entry.event
    assert isinstance(event, HandReopened)
    change = _winnings(state, after or NOTHING_SETTLED)
    for player, won in _winnings(state, read_settlement(event.settlement)).items():
        change[player] -= won
    for plan in chips_plan(change):
        words = _(
            "%(payer)s pays %(winner)s %(amount)s back",
            payer=plan.payer,
            winner=plan.winner,
            amount=money(plan.amount),
        )
        paid = marked.get((state.hand, plan.payer, plan.winner, plan.amount))
        if paid is not None:
            words += " · " + (_("done") if paid else _("still open"))
        yield words


def _winnings(state: State, settlement: RecordedSettlement) -> dict[str, int]:
    won = {seat.player: 0 for seat in state.seats}
    for seat in state.seats:
        won[seat.player] += settlement.paid.get(seat.seat, 0)
    return won
