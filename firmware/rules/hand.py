"""The input of a settlement: one hand at the table, as two to four seats set it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from firmware.rules.errors import HandError
from firmware.rules.irregularities import Irregularity, find_irregularities
from firmware.rules.profiles.dealt_cards import LAID, MAX_DEALT_CARDS
from firmware.rules.rows import Rows

MAX_SEATS = 5
SEATS = range(1, MAX_SEATS + 1)
"""The seats of a table, numbered clockwise as seen from above."""

MIN_HANDS, MAX_HANDS = 2, 4
MAX_HANDS_OF_PLAYER = 2
"""Hands in one game, and hands of one player in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatHand:
    """One seat's part of a hand."""

    seat: int
    rows: Rows | None
    """None only if the seat surrenders."""
    player: str = ""
    """The seat's player; empty: the seat itself. Two seats may share a player."""
    stack: int | None = None
    """Cents on the table when the hand began; None: not capped."""
    declares: bool = False
    """A natural was declared and confirmed."""
    surrenders: bool = False
    acted: int | None = None
    """When the seat declared or surrendered, as an index in the order of these acts; None: unknown."""
    fantasyland: bool = False
    """This hand was a fantasy-land hand."""
    fantasyland_cards: int | None = None
    """The cards that it was dealt there, 13 of them laid; None: as many as the profile says for all."""

    @property
    def owner(self) -> str:
        """The player's name, the key of the stacks."""
        return self.player or str(self.seat)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """One hand at the table. Raises HandError if it cannot be settled meaningfully."""

    seats: tuple[SeatHand, ...]
    button: int
    """The puck's seat, in play or not."""
    unit: int = 1
    """Cents per point. If it is not given, a point is one cent: money then equals points."""
    owners: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The player of each seat, by the key of the stacks."""
    stacks: Mapping[str, int | None] = field(init=False, repr=False, compare=False)
    """Each player's stack at the start of the hand; None: not capped."""
    irregularities: tuple[Irregularity, ...] = field(init=False, repr=False, compare=False)
    """What must be resolved before the hand can be settled."""

    def __post_init__(self) -> None:
        if self.button not in SEATS:
            raise HandError("button", f"the puck is at seat {self.button}; seats are 1 to {SEATS[-1]}")
        if self.unit < 1:
            raise HandError("unit", f"the unit is {self.unit}; it must be 1 cent or more")
        if not MIN_HANDS <= len(self.seats) <= MAX_HANDS:
            raise HandError("seats", f"there are {len(self.seats)} seats; two to four hands are settled")
        seen: dict[int, int] = {}
        for index, seat in enumerate(self.seats):
            self._check_seat(f"seats[{index}]", seat)
            if seat.seat in seen:
                raise HandError(f"seats[{index}].seat", f"seat {seat.seat} is there twice")
            seen[seat.seat] = index
        owners = tuple([seat.owner for seat in self.seats])
        stacks: dict[str, int | None] = {}
        for seat in self.seats:
            stacks.setdefault(seat.owner, seat.stack)
        object.__setattr__(self, "owners", owners)
        object.__setattr__(self, "stacks", MappingProxyType(stacks))
        irregularities = find_irregularities([(seat.seat, seat.rows) for seat in self.seats])
        object.__setattr__(self, "irregularities", irregularities)
        self._check_players()

    @staticmethod
    def _check_seat(key: str, seat: SeatHand) -> None:
        if seat.seat not in SEATS:
            raise HandError(f"{key}.seat", f"there is no seat {seat.seat}; seats are 1 to {SEATS[-1]}")
        if not seat.player.isprintable():
            raise HandError(
                f"{key}.player", f"the player at seat {seat.seat} has a name that cannot be printed"
            )
        if seat.stack is not None and seat.stack < 0:
            raise HandError(
                f"{key}.stack", f"seat {seat.seat} has a stack of {seat.stack}; it must be 0 or more"
            )
        if seat.declares and seat.surrenders:
            raise HandError(
                f"{key}.surrenders",
                f"seat {seat.seat} both declares a natural and surrenders; only one can be",
            )
        if seat.fantasyland_cards is not None and not (
            seat.fantasyland and LAID <= seat.fantasyland_cards <= MAX_DEALT_CARDS
        ):
            raise HandError(
                f"{key}.fantasyland_cards",
                f"seat {seat.seat} has {seat.fantasyland_cards} cards in Fantasy Land; there a seat is dealt "
                f"{LAID} to {MAX_DEALT_CARDS}, and lays {LAID}"
                if seat.fantasyland
                else f"seat {seat.seat} has cards in Fantasy Land, and is not there; say fantasyland: true",
            )
        if seat.rows is None and not seat.surrenders:
            raise HandError(
                key, f"seat {seat.seat} has no rows; only a seat that surrenders may leave them out"
            )

    def _check_players(self) -> None:
        if len(self.stacks) == len(self.seats):
            return  # no player has two hands
        owner, hands = Counter(self.owners).most_common(1)[0]
        if hands > MAX_HANDS_OF_PLAYER or len(self.stacks) < MIN_HANDS:
            raise HandError(
                "seats",
                f"player {owner} has {hands} of {len(self.seats)} hands; two at most, against another player",
            )
        numbers = {seat.owner for seat in self.seats if not seat.player}
        for index, seat in enumerate(self.seats):
            if seat.stack != self.stacks[seat.owner]:
                raise HandError(
                    f"seats[{index}].stack",
                    f"player {seat.owner} has different stacks at two seats; give the whole stack at each",
                )
            if seat.player in numbers:
                raise HandError(
                    f"seats[{index}].player",
                    f'player "{seat.player}" is also a seat without a player; name that seat\'s player too',
                )
