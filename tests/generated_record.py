"""Generates long records quickly: chained rows of whole hands that verify, for the benchmarks of a long record.

A pool of hands is played once with the real commands and rules. Then their events are written repeatedly with new hand
numbers and times, through the journal's own triggers. The hands have no images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firmware.record.evidence.anchors import sign_head
from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.journal import TABLE, Entry, Journal, JournalReader
from firmware.rules import Profile, load_profile, profile_toml
from firmware.simulation.live.players import Players, SetHand
from firmware.table import Phase, State
from firmware.table import events as ev
from firmware.table.command import parse_command
from firmware.table.decide import decide, step
from firmware.table.events import Event, canonical
from firmware.table.house import House
from firmware.table.settling import pending_natural

PROFILE: Final = "washington-1-unit"
BEGINS_MS: Final = 1_600_000_000_000
HAND_MS: Final = 120_000
"""Milliseconds from one hand to the next."""
BATCH: Final = 2000
"""Hands per transaction."""
_NUMBER: Final = 900_000_000_000_001
"""Placeholder for the hand's number in the pool's texts."""


@dataclass(frozen=True)
class _Row:
    type: str
    actor: str
    payload: str
    of_hand: bool
    """Whether the payload contains the hand's number."""


def generate_record(
    folder: Path,
    hands: int,
    *,
    seed: int = 0,
    seats: int = 4,
    pool: int = 200,
    key: DeviceKey | None = None,
    on_progress: Callable[[int], None] = lambda hands: None,
) -> int:
    """Write this many archived hands at the end of the record in a folder, and return the last row's number.

    `seats`: 2 to 4; `pool`: the number of different hands; `key`: signs the head after each hand; `on_progress`
    receives the number of hands after each batch. Raises JournalError.
    """
    rules = load_profile(PROFILE)
    before, _ = JournalReader(folder).recover()
    with Journal(folder) as journal:
        house = _house(rules, journal, seats)
        played = [_texts(hand) for hand in _pool(house, seed, min(pool, hands))]
        last = JournalReader(folder).events_since(journal.seq - 1)
        writer = _Writer(journal.seq, last[-1].hash if last else "")
        if key is not None:
            journal.append([ev.KeyAnnounced(key.public.hex())], TABLE)
            writer = _Writer(*journal.head)
        for first in range(0, hands, BATCH):
            rows: list[tuple[Any, ...]] = []
            for number in range(first, min(first + BATCH, hands)):
                rows += writer.hand(played[number % len(played)], before.hand + 1 + number)
                if key is not None:
                    rows.append(writer.signed(key, before.hand + 1 + number))
            journal.append_sealed(rows)
            on_progress(min(BATCH, hands - first))
        return journal.seq


class _Writer:
    """Writes chained rows."""

    def __init__(self, seq: int, previous: str) -> None:
        self._seq, self._previous = seq, previous

    def hand(self, played: list[_Row], hand: int) -> Iterator[tuple[Any, ...]]:
        opened = False
        for place, row in enumerate(played):
            opened = opened or row.type == ev.HandOpened.type
            self._seq += 1
            payload = row.payload.replace(str(_NUMBER), str(hand)) if row.of_hand else row.payload
            at_ms = BEGINS_MS + hand * HAND_MS + place * 1000
            # as in the journal: rows before the opening belong to the last hand
            yield self._row(row.type, row.actor, payload, hand if opened else hand - 1, at_ms)

    def signed(self, key: DeviceKey, hand: int) -> tuple[Any, ...]:
        """Return the row that signs the head after a hand."""
        at_ms = BEGINS_MS + (hand + 1) * HAND_MS - 1
        event = sign_head(key, seq=self._seq, digest=self._previous, hands=hand, wall_ms=at_ms, table="")
        self._seq += 1
        return self._row(event.type, TABLE, ev.payload(event), hand, at_ms)

    def _row(self, kind: str, actor: str, payload: str, hand: int, at_ms: int) -> tuple[Any, ...]:
        entry = Entry(
            seq=self._seq,
            hand=hand,
            boot="generated",
            monotonic_ns=at_ms * 1_000_000,
            wall_ms=at_ms,
            clock="synchronised",
            actor=actor,
            command="",
            type=kind,
            payload=payload,
            previous=self._previous,
            hash="",
        )
        self._previous = entry.sealed()
        return (*entry[:-1], self._previous)


def _house(rules: Profile, journal: Journal, seats: int) -> House:
    return House(
        rules=rules,
        profile=rules.name,
        profile_hash=journal.keep("profile", profile_toml(rules).encode()),
        unit=100,
        seats=tuple(ev.SeatOpened(n + 1, f"Player {n + 1}", "ABCD"[n]) for n in range(seats)),
        software="generated",
    )


def _texts(hand: list[tuple[Event, str]]) -> list[_Row]:
    rows = []
    for event, actor in hand:
        text = ev.payload(event)
        rows.append(_Row(event.type, actor, text, str(_NUMBER) in text))
    return rows


def _pool(house: House, seed: int, count: int) -> Iterator[list[tuple[Event, str]]]:
    """Play hands until this many were settled."""
    players = Players(seed, house.rules)
    for _ in range(count):
        yield _PlayedHand(house, players.deal([seat.seat for seat in house.seats])).events


class _PlayedHand:
    """One hand from start to end, as on a table whose reader makes no errors."""

    def __init__(self, house: House, hands: dict[int, SetHand]) -> None:
        self.house, self.events = house, list[tuple[Event, str]]()
        self.state: State = State(hand=_NUMBER - 1)
        self._append(ev.PuckSeen("seat", house.seats[0].seat), "puck")
        self._do("next", "button")
        self._do("next", "button")
        for seat, played in hands.items():
            if played.surrenders or played.declares:
                self._do("surrender" if played.surrenders else "declare", "dealer", seat=seat)
        self._do("next", "button")
        self._append(ev.PhaseAdvanced(Phase.READING), TABLE)
        self._append(_reading(house, hands), "camera")
        while pending_natural(self.state, house.rules) is not None:
            self._do("confirm", "button")
        self._append(ev.HandArchived(), "button")

    def _do(self, do: str, actor: str, **fields: Any) -> None:
        command = parse_command(canonical({"do": do, **fields}))
        for event in decide(self.state, command, self.house, self.house.rules):
            self._append(event, actor)

    def _append(self, event: Event, actor: str) -> None:
        self.state, followed = step(self.state, [event], self.house.rules)
        self.events += [(event, actor), *((more, TABLE) for more in followed)]


def _reading(house: House, hands: dict[int, SetHand]) -> ev.ReadingTaken:
    corners = ((100.0, 100.0), (140.0, 100.0), (140.0, 160.0), (100.0, 160.0))
    return ev.ReadingTaken(
        tuple(
            ev.RowReading(
                seat.seat,
                row,
                seat.place,
                tuple(
                    ev.CardReading(card, 0.99, True, (card,), corners)
                    for card in hands[seat.seat].shown.get(row, [])
                ),
            )
            for seat in house.seats
            for row in ev.ROWS
        )
    )
