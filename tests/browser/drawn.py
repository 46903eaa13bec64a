"""States drawn from play: what the page shows in hands that simulated people play by the real rules.

Nothing here is made by hand: cards are shuffled, set and placed by `firmware.simulation`, a simulated dealer gives the
commands of the page, and every event is judged, settled and kept in a real journal. What varies is drawn by the seed:
names as long as names are, four or five players, stacks, the point's worth, the currency, faults of devices.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware.devices.panel.interface import ButtonName
from firmware.rules import Profile
from firmware.simulation.habits import Habits
from firmware.simulation.live.players import Habits as Ways
from firmware.simulation.live.players import Players
from firmware.simulation.policy import Act, Policy
from firmware.table import CommandRefused, Phase, State
from firmware.table import events as ev
from firmware.table.dealing import right_buttons
from tests.dealer_ui.felt import Felt

PROFILES: Final = (
    *("traditional", "washington-1-unit", "washington-1-6", "washington-2-4", "poker-flush-eastern"),
    *("poker-flush-western", "california-face-up", "clean-sweep-online"),
)
NAMES: Final = (
    *("Lin", "Bo", "Maximiliane Wolkenstein-Oberhausen", "W" * 40, "José María Fernández de la Peña"),
    *("Nguyễn Thị Minh Khai", "欧阳修远", "Christopher Montgomery-Whitfield", "Okafor", "Tran"),
)
UNITS: Final = (100, 500, 2_500, 12_345)
STACKS: Final = (None, 40, 2_000, 99_999)
"""In points; None: not counted."""
SYMBOLS: Final = ("", "", "HK$", "€")
FAULTS: Final = ("puck", "buttons", "lamps", "clock", "captures", "buzzer", "disk")
TURNS: Final = 900
"""After so many acts a hand has ended, or the people have lost their way."""
HABITS: Final = Habits(puck_forgotten=0.05, looked_again=0.02, misdeclared=0.05, closed=0.3, paid=1.0)
WAYS: Final = Ways(natural_dealt=0.25, fouled=0.12, surrendered=0.06, falsely_declared=0.05)


@dataclass(frozen=True)
class DrawnState:
    """One state that a dealer saw."""

    name: str
    profile: str
    settlement: str
    """Names the settlement that it shows: evening, hand, and how often that was settled."""
    seq: int
    state: State
    rules: Profile

    @property
    def settled(self) -> bool:
        """Whether it shows a settlement's payments."""
        return self.state.phase is Phase.SETTLED


def drawn(folder: Path, profile: str, seed: int, hands: int) -> Iterator[DrawnState]:
    """Play so many hands under a profile; yields every state of them that looks unlike the one before."""
    yield from _Evening(folder, profile, seed).play(hands)


class _Evening:
    def __init__(self, folder: Path, profile: str, seed: int) -> None:
        self.rng = rng = random.Random(f"{profile} {seed}")
        self.title = f"{profile}, seed {seed}"
        unit, points = rng.choice(UNITS), rng.choice(STACKS)
        stack = points and points * unit
        felt = Felt(folder, profile=profile, unit=unit, stack=stack, options={"limits.min_points": 0})
        self.felt = felt
        names = rng.sample(NAMES, 5)
        if symbol := rng.choice(SYMBOLS):
            felt.do("set_house", reason="the house's", symbol=symbol)
        for old, new in zip(("Lin", "Moreno", "Okafor", "Tran"), names, strict=False):
            if old != new and new not in ("Lin", "Okafor", "Tran"):
                felt.do("rename_player", player=old, name=new)
        if rng.random() < 0.5:
            felt.do("seat_player", seat=5, player=f"{names[4][:34]} V.", stack=stack)
        players = Players(rng.randrange(10**9), felt.rules, backs_tried=6, habits=WAYS)
        self.policy = Policy(players, lambda _state: felt.rules, rng, HABITS)

    def play(self, hands: int) -> Iterator[DrawnState]:
        felt, turns = self.felt, 0
        shown: tuple[object, ...] | None = None
        try:
            while felt.state.hand <= hands and turns < TURNS * hands:
                turns += 1
                looks = _looks(felt.state)
                if looks != shown and felt.state.opened:
                    shown = looks
                    evening = f"{self.title}, {felt.state.hand}, {felt.state.settlements}"
                    yield DrawnState(self._name(), felt.profile, evening, felt.seq, felt.state, felt.rules)
                self._turn()
            if felt.state.hand <= hands:
                raise AssertionError(f"{self._name()}: it does not go on; {felt.state.questions}")
        finally:
            felt.journal.close()

    def _name(self) -> str:
        state = self.felt.state
        paid = f", {len(state.paid)} paid" if state.phase is Phase.SETTLED else ""
        return f"{self.title}, hand {state.hand}: {state.phase}{paid}"

    def _turn(self) -> None:
        state = self.felt.state
        act = self.policy.next(state)
        try:
            self._do(act)
        except CommandRefused:
            self.policy.done_with(act)

    def _do(self, act: Act) -> None:
        felt, state = self.felt, self.felt.state
        match act.do:
            case "wait" if state.puck_awaited:
                felt.do("open_hand")  # as the table process does once the puck has arrived
            case "wait" | "lay":
                self._devices(act)
            case "puck":
                seat = act.fields["seat"]
                # of five players one waits, by the puck
                if state.phase is Phase.DEALING and seat is not None:
                    right = right_buttons(state, felt.house)
                    seat = seat if seat in right else right[0]
                felt.say(ev.PuckSeen("seat", seat) if seat else ev.PuckSeen("none"))
            case "unlit":
                _button: ButtonName = act.fields["button"]  # it is dark, and does nothing
            case "next" if state.phase is Phase.ARCHIVED or state.phase is Phase.IDLE:
                self._between()
                felt.do("next")
            case "next":
                felt.do("next")
            case _:
                felt.do(act.do, **act.fields, **({"hand": state.hand} if act.do != "log_on" else {}))

    def _between(self) -> None:
        """A device fails, or works again."""
        felt, rng = self.felt, self.rng
        for name in felt.state.faults:
            felt.say(ev.DeviceRecovered(name))
        if rng.random() < 0.15:
            for name in rng.sample(FAULTS[:-1], rng.choice((1, 2))):
                felt.say(ev.DeviceFault(name, "It does not answer."))

    def _devices(self, act: Act) -> None:
        """The camera sees what lies there."""
        felt, state = self.felt, self.felt.state
        hand = self.policy.of(state)
        match state.phase:
            case Phase.PLACING:
                self._placed(act)
            case Phase.SHOWDOWN:
                felt.look()
            case Phase.READING if not state.awaited and self.rng.random() < 0.5:
                late = [seat.seat for seat in state.seats if not (seat.open or seat.surrenders)]
                if late:
                    late = self.rng.sample(late, self.rng.randint(1, len(late)))
                    felt.say(ev.CardsAwaited(tuple(late), tuple(late[1:]), self._shown(late[1:])))
            case Phase.READING:
                felt.say(
                    ev.ReadingTaken(
                        tuple(
                            ev.RowReading(seat.seat, row, seat.place, _read(hand.row(seat.seat, row)))
                            for seat in state.seats
                            if not (seat.open or seat.surrenders)
                            for row in ev.ROWS
                        )
                    )
                )

    def _shown(self, without: list[int]) -> tuple[ev.ShownRow, ...]:
        """Return what the camera sees while the cards of some seats are not turned up."""
        hand, seats = self.policy.hand, self.felt.state.seats
        closed = [seat.seat for seat in seats if not (seat.open or seat.surrenders or seat.seat in without)]
        return tuple(
            ev.ShownRow(
                seat, row, tuple(card if self.rng.random() < 0.97 else "??" for card in hand.row(seat, row))
            )
            for seat in closed
            for row in ev.ROWS
        )

    def _placed(self, act: Act) -> None:
        felt = self.felt
        for number in (seat.seat for seat in felt.state.seats if seat.open):
            for row, cards in (act.felt or {}).get(number, {}).items():
                seat = felt.state.seat(number)
                assert seat is not None
                for card in cards[len(seat.row(row)) :]:  # type: ignore[arg-type]
                    felt.say(ev.CardPlaced(number, row, ev.CardReading(card, 0.99, True, ())))  # type: ignore[arg-type]


def _read(cards: list[str]) -> tuple[ev.CardReading, ...]:
    return tuple(ev.CardReading(card, 0.99, True, ()) for card in cards)


def _looks(state: State) -> tuple[object, ...]:
    """Return what tells two screens apart."""
    return (
        *(state.hand, state.phase, state.paid, state.awaited, state.questions, state.settlements),
        *(state.puck.seat, state.puck_awaited),
        *(tuple((seat.declares, seat.surrenders, seat.confirmed) for seat in state.seats),),
        sum(len(seat.row(row)) for seat in state.seats for row in ev.ROWS) // 4,
    )
