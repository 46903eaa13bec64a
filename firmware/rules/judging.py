"""Evaluates each hand on its own: its strengths and bonuses, whether it is a foul, which natural counts."""

from typing import Literal, NamedTuple

from firmware.rules.fantasyland import deals_more, earns_fantasyland, next_cards, offers_fantasyland
from firmware.rules.foul import Fault, Strengths, order_fault
from firmware.rules.hand import Hand, SeatHand
from firmware.rules.naturals.entry import RankedNatural
from firmware.rules.order import banker_seat
from firmware.rules.profiles.profile import Profile
from firmware.rules.rows import Rows
from firmware.rules.strength import Scale
from firmware.rules.words import RowWords

_NOTHING = (0, 0, 0)


class Declaration(NamedTuple):
    """The result of a declared natural."""

    verdict: Literal["counts", "not_borne_out", "voided_by_foul"]
    clause: str
    """The path of the option that decides it."""


_COUNTS = Declaration("counts", "naturals.kinds")
_VOIDED = Declaration("voided_by_foul", "naturals.foul_voids")
_NOT_BORNE_OUT = Declaration("not_borne_out", "naturals.false_declaration")
_EXCUSED = Declaration("not_borne_out", "naturals.excused_by_surrender")


class JudgedHand(NamedTuple):
    """A seat's hand, evaluated: one of the subclasses below, or this class itself if the game's cards are irregular."""

    seat: int
    owner: str
    """The player's name, the key of the stacks."""
    holds_button: bool
    """The player has the puck, possibly at another of the player's seats."""
    rows: Rows | None
    scale: Scale
    """The scale of the strengths."""
    strengths: Strengths = _NOTHING
    """Of front, middle and back; 0 for a row that is irregular or missing."""
    bonuses: tuple[int, int, int] = _NOTHING
    """Each row's bonus by the profile, even if a foul or a natural cancels it."""
    holds: RankedNatural | None = None
    """The natural that the hand could claim, declared or not: not to be shown before rows are compared."""
    declaration: Declaration | None = None
    """The result of the seat's declaration; None if it declared no natural."""
    fantasyland_next: bool = False
    fault: Fault | None = None
    """Why the hand is a foul; only a `FoulHand` has one."""
    acted: int | None = None
    """When the seat declared or surrendered (`SeatHand.acted`)."""
    fantasyland_cards: int = 0
    """The cards of the next hand in Fantasy Land, in a game that may deal more than 13 there; else 0."""

    @property
    def is_foul(self) -> bool:
        """Whether the hand is a foul."""
        return self.fault is not None

    @property
    def natural(self) -> RankedNatural | None:
        """The natural that counts."""
        return None

    def words(self, row: int) -> RowWords:
        """Return a row of an evaluated hand in words: 0 is the front."""
        return self.scale.words[self.strengths[row]]


class RegularHand(JudgedHand):
    """A hand whose rows are compared."""

    __slots__ = ()


class FoulHand(JudgedHand):
    """A hand that is a foul."""

    __slots__ = ()


class NaturalHand(JudgedHand):
    """A hand with a natural that counts: the one that it holds."""

    __slots__ = ()

    @property
    def natural(self) -> RankedNatural:
        """The natural that counts."""
        assert self.holds is not None
        return self.holds


class SurrenderedHand(JudgedHand):
    """A hand that surrenders, with rows or without."""

    __slots__ = ()


class Judge:
    """Evaluates hands under one profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._scale = profile.scale
        self._bonuses = profile.bonuses
        self._find_naturals = profile.natural_finder.bits
        self._highest_of = profile.natural_ranking
        self._foul_voids = profile.naturals.foul_voids
        self._automatic = profile.naturals.declared == "automatic"
        self._false_is_foul = profile.naturals.false_declaration == "foul"
        self._has_fantasyland = offers_fantasyland(profile)
        self._deals_more = deals_more(profile)
        self._has_banker = profile.scoring.versus == "banker"

    def judge(self, hand: Hand) -> list[JudgedHand]:
        """Evaluate every seat of a regular hand."""
        holder = self.banker(hand) or button_holder(hand)
        return [
            self._judge_seat(seat, owner, owner == holder, hand)
            for seat, owner in zip(hand.seats, hand.owners, strict=True)
        ]

    def banker(self, hand: Hand) -> str | None:
        """Return the player whom all others settle with; None where everybody settles with everybody."""
        if not self._has_banker:
            return None
        number = banker_seat([seat.seat for seat in hand.seats], hand.button, self._profile)
        return next(owner for seat, owner in zip(hand.seats, hand.owners, strict=True) if seat.seat == number)

    def judge_irregular(self, hand: Hand) -> list[JudgedHand]:
        """Return the seats of an irregular hand with the strengths of their regular rows only."""
        holder = button_holder(hand)
        unsound = {(found.seat, found.row) for found in hand.irregularities}
        seats = []
        for seat, owner in zip(hand.seats, hand.owners, strict=True):
            strengths = bonuses = _NOTHING
            if seat.rows is not None:
                front, middle, back = (
                    0 if (seat.seat, name) in unsound else self._scale.of_row(row, cards)
                    for row, (name, cards, _) in enumerate(seat.rows.named())
                )
                strengths, bonuses = (front, middle, back), self._bonuses_of(front, middle, back)
            seats.append(
                JudgedHand(seat.seat, owner, owner == holder, seat.rows, self._scale, strengths, bonuses)
            )
        return seats

    def _bonuses_of(self, front: int, middle: int, back: int) -> tuple[int, int, int]:
        front_bonuses, middle_bonuses, back_bonuses = self._bonuses
        return front_bonuses[front], middle_bonuses[middle], back_bonuses[back]

    def _judge_seat(self, seat: SeatHand, owner: str, holds_button: bool, hand: Hand) -> JudgedHand:
        scale, rows = self._scale, seat.rows
        if rows is None:
            return SurrenderedHand(seat.seat, owner, holds_button, None, scale)
        front_cards, middle_cards, back_cards = rows
        strengths = front, middle, back = scale.rows(front_cards, middle_cards, back_cards)
        bonuses = self._bonuses_of(front, middle, back)
        if seat.surrenders:
            return SurrenderedHand(seat.seat, owner, holds_button, rows, scale, strengths, bonuses)
        wrong_order = holds = declaration = None
        if not front < middle < back:
            wrong_order = order_fault(strengths, rows, self._profile)
        if not wrong_order or not self._foul_voids:
            holds = self._highest_of[self._find_naturals(front_cards, middle_cards, back_cards)]
        is_natural = holds is not None and (seat.declares or self._automatic)
        fault = None if is_natural else wrong_order
        if seat.declares:
            declaration = self._declaration(seat, owner, is_natural, wrong_order is not None, hand)
            if declaration is _NOT_BORNE_OUT and self._false_is_foul:
                fault = fault or Fault.FALSE_DECLARATION
        fantasyland_next, fantasyland_cards = False, 0
        # Rows in the wrong order earn no Fantasy Land, even where a natural saves the hand from being a foul.
        if self._has_fantasyland and not (wrong_order or fault):
            fantasyland_next = earns_fantasyland(strengths, self._profile, inside=seat.fantasyland)
            if fantasyland_next and self._deals_more:
                cards = seat.fantasyland_cards or self._profile.fantasyland.cards
                fantasyland_cards = next_cards(front, self._profile, cards if seat.fantasyland else 0)
        kind = FoulHand if fault else NaturalHand if is_natural else RegularHand
        made = (
            seat.seat,
            owner,
            holds_button,
            rows,
            scale,
            strengths,
            bonuses,
            holds,
            declaration,
            fantasyland_next,
            fault,
            seat.acted,
            fantasyland_cards,
        )
        return tuple.__new__(kind, made)  # a third quicker than a call with the names of the fields

    def _declaration(
        self, seat: SeatHand, owner: str, counts: bool, wrong_order: bool, hand: Hand
    ) -> Declaration:
        """Return the result of a seat's declaration."""
        if counts:
            return _COUNTS
        if (
            wrong_order
            and self._foul_voids
            and seat.rows
            and self._highest_of[self._find_naturals(*seat.rows)]
        ):
            return _VOIDED
        naturals = self._profile.naturals
        if self._false_is_foul and naturals.excused_by_surrender:
            if_unknown = naturals.order_unknown == "excused"
            banker = self.banker(hand)
            if any(
                _surrendered_before(seat, other, if_unknown)
                for other, its_owner in zip(hand.seats, hand.owners, strict=True)
                if its_owner != owner and banker in (None, owner, its_owner)
            ):
                return _EXCUSED
        return _NOT_BORNE_OUT


def _surrendered_before(seat: SeatHand, other: SeatHand, if_unknown: bool) -> bool:
    """Return whether another seat had surrendered when a seat declared; `if_unknown` where the order is not given."""
    if not other.surrenders:
        return False
    if seat.acted is None or other.acted is None:
        return if_unknown
    return other.acted < seat.acted


def button_holder(hand: Hand) -> str | None:
    """Return the player with the puck; None if its seat is not in play."""
    for seat, owner in zip(hand.seats, hand.owners, strict=True):
        if seat.seat == hand.button:
            return owner
    return None
