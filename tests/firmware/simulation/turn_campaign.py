"""Hands played in haste: white pressed two and three times and at the wrong moment, the puck forgotten, past hands
corrected while others are played. The stacks are compared with a sum of its own, from the rows' JSON.

python -m tests.firmware.simulation.turn_campaign --hands 300 --seed 5
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from firmware.record.journal.journal import JournalReader
from firmware.runtime.house_config import house_rules
from firmware.simulation.evening.auditor import Auditor
from firmware.simulation.evening.faults import Faults
from firmware.simulation.evening.page_reader import Page
from firmware.simulation.evening.reader_model import ReaderErrors, ReaderModel
from firmware.simulation.evening.run import BACKS_TRIED
from firmware.simulation.evening.stepped_dealer import Dealer
from firmware.simulation.evening.stepped_reader import SteppedReadings
from firmware.simulation.evening.stepped_table import SteppedTable
from firmware.simulation.habits import CLUMSY
from firmware.simulation.house import simulated_house
from firmware.simulation.live.players import Players
from firmware.simulation.policy import Act, Policy
from firmware.table import Phase, State
from firmware.table.phase import OPEN

FLOOR = {"by": "Moreno", "pin": "258046"}
COUNTED = ("button_kept", "puck_awaited", "hand_opened", "payment_marked", "payback_marked", "hand_reopened")
HASTE = 0.08
CORRECTED = 0.03
HABITS = replace(CLUMSY, puck_forgotten=0.25, counted=0.0, sits_out=0.0, keyed=0.0, mischief=0.0)


class HastyDealer(Dealer):
    """Presses white too often, and has a floor person correct hands in the middle of others."""

    done: Counter[str]

    def _do(self, act: Act, state: State) -> None:
        rng = self._rng
        if rng.random() < HASTE:
            presses = rng.choice((2, 3))
            self.done[f"white pressed {presses} times at once"] += 1
            for _ in range(presses):
                self._table.press("next", 0.06)
            state = self._look()
        if state.phase in OPEN and not state.reopened and state.hand > 2 and rng.random() < CORRECTED:
            self._correct(state, rng.randrange(1, state.hand))
        super()._do(act, self._look())

    def _correct(self, state: State, past: int) -> None:
        answer = self._send({"do": "reopen", "past": past, "reason": "The payment is disputed", **FLOOR})
        if answer is None or not answer["ok"]:
            return
        self.done[f"corrected beside {state.phase}"] += 1
        for _ in range(3):
            self._table.press("next", 0.06)  # for the hand that waits a push-button does nothing
        now = self._look()
        assert now.reopened
        assert now.waiting is not None
        seats = [seat.seat for seat in now.seats]
        self._send({"do": "key_button", "seat": self._rng.choice(seats), "hand": past})
        now = self._look()
        if now.phase is Phase.SETTLED and self._rng.random() < 0.8:
            self._send({"do": "next", "hand": past, "phase": "settled"})
        else:
            self._send({"do": "void", "reason": "Damaged card", "hand": past})
        after = self._look()
        assert (after.hand, after.phase, after.seats, after.paid) == (
            state.hand,
            state.phase,
            state.seats,
            state.paid,
        )


@dataclass
class Sums:
    """The stacks by a sum of its own: what each hand's last settlement pays, added to the first stacks."""

    first: dict[str, int] = field(default_factory=dict)
    players: dict[int, dict[int, str]] = field(default_factory=dict)
    pays: dict[int, dict[str, int]] = field(default_factory=dict)
    on_table: list[int] = field(default_factory=list)
    settled: dict[int, dict[str, int]] = field(default_factory=dict)

    def take(self, kind: str, row: dict[str, Any]) -> None:
        """Add a row."""
        match kind:
            case "hand_opened":
                self.on_table = [row["hand"]]
                self.players[row["hand"]] = {seat["seat"]: seat["player"] for seat in row["seats"]}
                for player, stack in row["stacks"].items():
                    self.first.setdefault(player, stack)
            case "hand_reopened":
                past = row["opened"]["hand"]
                self.on_table = [past] if row["resumed"] else [*self.on_table, past]
                if row["resumed"]:
                    self.pays.pop(past, None)
            case "settled":
                self.settled[self.on_table[-1]] = row["settlement"]["paid"]
            case "hand_archived":
                hand = self.on_table.pop()
                paid = self.settled[hand]
                won: Counter[str] = Counter()
                for seat, player in self.players[hand].items():
                    won[player] += paid.get(str(seat), 0)
                self.pays[hand] = dict(won)
            case "hand_voided" | "hand_misdealt":
                self.pays[self.on_table.pop()] = {}

    def stacks(self) -> dict[str, int]:
        """Return the stacks."""
        total = Counter(self.first)
        for won in self.pays.values():
            total.update(won)
        return dict(total)


def campaign(data: Path, hands: int, seed: int, profile: str) -> dict[str, Any]:
    """Play, compare, and return what was done; raises AssertionError where the stacks differ."""
    config = simulated_house(data, profile, closed=True)
    _, rules = house_rules(config)
    faults = Faults((), random.Random(seed))
    errors = ReaderModel(ReaderErrors.load(), random.Random(f"reader {seed}"))
    readings = SteppedReadings(data, errors, faults, random.Random(f"camera {seed}"))
    auditor = Auditor(faults, readings.given)
    table = SteppedTable(config, faults, random.Random(f"table {seed}"), readings)
    rng = random.Random(f"dealer {seed}")
    policy = Policy(Players(seed, rules, BACKS_TRIED), lambda state: rules, rng, HABITS)
    dealer = HastyDealer(table, Page(data, auditor), auditor, faults, policy, rng)
    dealer.done = Counter()
    for command in (
        {"do": "list_person", "person": "Ada", "role": "technician", "new_pin": "482915"},
        {"do": "list_person", "person": "Moreno", "role": "floor", "new_pin": FLOOR["pin"], "by": "Ada"}
        | {"pin": "482915"},
    ):
        answer = table.touch(command)
        assert answer is not None
        assert answer["ok"], answer
    try:
        dealer.play(hands)
        state = dealer._look()
        if state.phase is Phase.SETTLED:
            table.touch({"do": "archive"})
            state = dealer._look()
    finally:
        table.close()
    sums = Sums()
    for entry in JournalReader(data).events_since(0):
        sums.take(entry.type, json.loads(entry.payload))
        if entry.type in COUNTED:
            dealer.done[entry.type] += 1
    expected = sums.stacks()
    for back in state.paybacks:
        if not back.paid:
            expected[back.payer] += back.amount
            expected[back.winner] -= back.amount
    carried = {player: state.stacks[player] for player in expected}
    assert carried == expected, (carried, expected)
    assert sum(expected.values()) == sum(sums.first.values())
    return dict(sorted(dealer.done.items()))


@click.command()
@click.option("--hands", default=300, show_default=True)
@click.option("--seed", default=5, show_default=True)
@click.option("--profile", default="washington-1-unit", show_default=True)
def main(hands: int, seed: int, profile: str) -> None:
    """Play hands in haste, and compare the stacks."""
    with tempfile.TemporaryDirectory() as folder:
        for what, times in campaign(Path(folder), hands, seed, profile).items():
            click.echo(f"{times:6} {what}")


if __name__ == "__main__":
    main()
