"""Hands played in haste: double and triple presses and touches, a forgotten puck, past hands corrected beside others.

A screen paints late and acknowledges what it has painted. The stacks are compared with a sum of its own, from the
rows' JSON; each marked payment with what the screen had painted, and for how long, when the finger went down.

python -m tests.campaigns.simulation.turn_campaign               all profiles, 320 hands: docs/turn-report.md
python -m tests.campaigns.simulation.turn_campaign --hands 5     fewer of each; writes no report
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import click

from firmware.devices.panel.debounce import BOUNCE
from firmware.devices.panel.interface import ButtonName
from firmware.record.journal.journal import Entry, JournalReader
from firmware.rules import profile_names
from firmware.runtime.config import ScreenConfig
from firmware.runtime.house_config import house_rules
from firmware.simulation.evening.auditor import Auditor
from firmware.simulation.evening.faults import Faults
from firmware.simulation.evening.reader_model import ReaderErrors, ReaderModel
from firmware.simulation.evening.stepped_reader import SteppedReadings
from firmware.simulation.evening.stepped_run import SteppedRun
from firmware.simulation.evening.stepped_table import FillableJournal, SteppedTable
from firmware.simulation.habits import CLUMSY
from firmware.simulation.house import make_config
from firmware.simulation.policy import Act
from firmware.table import Phase, State
from firmware.table.phase import OPEN

REPORT: Final = Path(__file__).parents[3] / "docs/turn-report.md"
FLOOR: Final = {"by": "Moreno", "pin": "258046"}
COUNTED: Final = (
    "button_kept",
    "puck_awaited",
    "hand_opened",
    "payment_marked",
    "payback_marked",
    "hand_reopened",
)
HASTE: Final = 0.12
CORRECTED: Final = 0.03
HABITS: Final = replace(CLUMSY, puck_forgotten=0.25, counted=0.0, sits_out=0.0, keyed=0.0, mischief=0.0)
HANDS: Final = 40
"""Of each profile."""
SLOW_S: Final = 0.6
"""Seconds that the screen takes at most to paint what is new."""
ALIVE_S: Final = 0.5
"""Seconds between two acknowledgements."""
STOOD_S: Final = 0.45
"""Seconds for which a payment must have been on the screen when it is pressed for."""
PAID_S: Final = 1.2
"""The same after another was marked."""

ROUNDED_S: Final = 1e-6
PAYING: Final = (
    "settled",
    "payment_marked",
    "payback_marked",
    "hand_reopened",
    "hand_archived",
    "hand_voided",
)
"""After each of these rows another payment may be the next one."""
REPORTED: Final = {
    "hand_opened": "hands",
    "pressed": "bursts of presses",
    "touched": "bursts of touches",
    "puck_awaited": "puck awaited",
    "corrected": "corrected beside a running hand",
    "payment_marked": "payments",
    "payments compared": "compared with what was painted",
}


@dataclass(frozen=True)
class Tap:
    """A press of white or a touch: when the finger went down, and the row of the view that the screen showed then."""

    at: float
    seen: int
    by_touch: bool


class NoAudit(Auditor):
    """Follows no hand: the evening's auditor knows one hand at a time. `Sums` and `check_painted` compare instead."""

    def take(self, entry: Entry) -> None:
        """Leave the row alone."""

    def check_answers(self) -> None:
        """Compare no answer."""


class HastyTable(SteppedTable):
    """A table with a screen that paints late; keeps what was painted when, and what was pressed and touched."""

    def __init__(self, *args: Any, paints: random.Random) -> None:
        """`paints`: how late each view is painted."""
        self.painted = [(0, float("-inf"))]
        self.taps: list[Tap] = []
        self._paints, self._paints_at, self._next = paints, 0.0, 0
        self._acknowledged = float("-inf")
        super().__init__(*args)

    @property
    def shown(self) -> int:
        """The row of the view on the screen."""
        return self.painted[-1][0]

    def press(self, button: ButtonName, seconds: float = 0.15) -> None:
        """Press a button for this many seconds, and release it."""
        if button == "next":
            self.taps.append(Tap(self.now, self.shown, by_touch=False))
        super().press(button, seconds)

    def touch(self, command: dict[str, Any]) -> dict[str, Any] | None:
        """Send a command as the page does, with what was on the screen; return the answer."""
        if command["do"] in ("next", "mark_paid", "confirm"):
            self.taps.append(Tap(self.now, self.shown, by_touch=True))
            command = command | {"seen": self.shown}
        return super().touch(command)

    def _step(self) -> None:
        super()._step()
        if self.seq > self._next:
            self._next, self._paints_at = self.seq, self.now + self._paints.uniform(0.0, SLOW_S)
        if self._next > self.shown and self.now >= self._paints_at:
            self.painted.append((self._next, self.now))
            self._acknowledge()
        elif self.now >= self._acknowledged + ALIVE_S:
            self._acknowledge()

    def _acknowledge(self) -> None:
        self._acknowledged = self.now
        super().touch({"do": "painted", "seq": self.shown, "at_ms": round(time.time() * 1000)})


class HastyRun(SteppedRun):
    """Presses and touches too often, and has a floor person correct hands in the middle of others."""

    done: Counter[str]

    def _do(self, act: Act, state: State) -> None:
        rng = self._rng
        if rng.random() < HASTE:
            times, by_touch = rng.choice((2, 3)), rng.random() < 0.5
            self.done[f"{'touched' if by_touch else 'pressed'} {times} times at once"] += 1
            for _ in range(times):
                if by_touch:
                    self._table.touch(self._proposed(state))
                    self._table.pass_time(rng.uniform(0.05, 0.4), 0.05)
                else:
                    self._table.press("next", 0.06)
            state = self.look()
        if state.phase in OPEN and not state.reopened and state.hand > 2 and rng.random() < CORRECTED:
            self._correct(state, rng.randrange(1, state.hand))
        super()._do(act, self.look())

    @staticmethod
    def _proposed(state: State) -> dict[str, Any]:
        """Return what the page's large button does."""
        if state.phase is Phase.SETTLED and state.unpaid:
            a, b = state.unpaid[0]
            return {"do": "mark_paid", "a": a, "b": b, "hand": state.hand}
        return {"do": "next", "hand": state.hand}

    def _correct(self, state: State, past: int) -> None:
        answer = self.send({"do": "reopen", "past": past, "reason": "The payment is disputed", **FLOOR})
        if answer is None or not answer["ok"]:
            return
        self.done[f"corrected beside {state.phase}"] += 1
        for _ in range(3):
            self._table.press("next", 0.06)  # for the hand that waits a push-button does nothing
        now = self.look()
        assert now.reopened
        assert now.waiting is not None
        seats = [seat.seat for seat in now.seats]
        self.send({"do": "key_button", "seat": self._rng.choice(seats), "hand": past})
        now = self.look()
        if now.phase is Phase.SETTLED and self._rng.random() < 0.8:
            self.send({"do": "next", "hand": past, "phase": "settled"})
        else:
            self.send({"do": "void", "reason": "Damaged card", "hand": past})
        after = self.look()
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


def check_painted(rows: list[Entry], table: HastyTable) -> int:
    """Compare each payment that white or a touch marked with what the screen had painted; return how many.

    Raises AssertionError for a payment that a press marked before it was painted for its time, and for one that a touch
    marked on an older view or within its time.
    """
    checked = 0
    due, before = 0, ""
    for row in rows:
        if row.type == "payment_marked" and json.loads(row.payload)["paid"]:
            at = row.monotonic_ns / 1e9 + ROUNDED_S
            by_touch = not row.actor.startswith("button")
            tap = [tap for tap in table.taps if tap.at <= at and tap.by_touch is by_touch][-1]
            painted = next(since for seq, since in table.painted if seq >= due)
            stands = PAID_S if before == "payment_marked" else STOOD_S
            since = rows[due - 1].monotonic_ns / 1e9 if by_touch else painted
            assert tap.seen >= due, (row.seq, tap, due)
            # a press is dated when its contact has stopped bouncing
            assert tap.at - since >= stands - (ROUNDED_S if by_touch else BOUNCE), (
                row.seq,
                tap,
                since,
                stands,
            )
            checked += 1
        if row.type in PAYING:
            due, before = row.seq, row.type
    return checked


def campaign(data: Path, hands: int, seed: int, profile: str) -> Counter[str]:
    """Play, compare, and return what was done; raises AssertionError where stacks or payments differ."""
    config = make_config(data, profile, closed=True).model_copy(update={"screen": ScreenConfig()})
    _, rules = house_rules(config)
    faults = Faults((), random.Random(seed))
    errors = ReaderModel(ReaderErrors.load(), random.Random(f"reader {seed}"))
    readings = SteppedReadings(data, errors, faults, random.Random(f"camera {seed}"))
    auditor = NoAudit(faults, readings.given)
    table = HastyTable(
        *(config, faults, random.Random(f"table {seed}"), readings, FillableJournal),
        paints=random.Random(f"screen {seed}"),
    )
    run = HastyRun(table, data, auditor, faults, seed, rules, HABITS)
    run.done = Counter()
    for command in (
        {"do": "list_person", "person": "Ada", "role": "technician", "new_pin": "482915"},
        {"do": "list_person", "person": "Moreno", "role": "floor", "new_pin": FLOOR["pin"], "by": "Ada"}
        | {"pin": "482915"},
    ):
        answer = table.touch(command)
        assert answer is not None
        assert answer["ok"], answer
    try:
        run.play(hands)
        state = run.look()
        if state.phase is Phase.SETTLED:
            table.touch({"do": "archive"})
            state = run.look()
    finally:
        table.close()
    sums = Sums()
    rows = list(JournalReader(data).events_since(0))
    for entry in rows:
        sums.take(entry.type, json.loads(entry.payload))
        if entry.type in COUNTED:
            run.done[entry.type] += 1
    expected = sums.stacks()
    for back in state.paybacks:
        if not back.paid:
            expected[back.payer] += back.amount
            expected[back.winner] -= back.amount
    carried = {player: state.stacks[player] for player in expected}
    assert carried == expected, (carried, expected)
    assert sum(expected.values()) == sum(sums.first.values())
    assert not table.failures, table.failures
    run.done["payments compared with what was painted"] = check_painted(rows, table)
    return run.done


def report(found: dict[str, Counter[str]], seed: int) -> str:
    """Return the report: what was done under each profile."""
    total: Counter[str] = Counter()
    for done in found.values():
        total.update(done)
    return (
        "\n".join(
            [
                "# Hands played in haste",
                "",
                "    python -m tests.campaigns.simulation.turn_campaign",
                "",
                f"Seed {seed}; the product's table process on a stepped clock. White is pressed and the page's",
                "button touched two and three times at once, at any moment; a screen paints up to 0.6 s late; the puck",
                "is forgotten at every fourth move; past hands are corrected while others run. A run fails unless the",
                "stacks equal those added up from the rows' JSON by code that the table does not use. It also fails if",
                "a press marks a payment that was painted less than 0.45 s before, or less than 1.2 s if it followed",
                "another payment; or if a touch marks one on another view than its own, or so early.",
                "",
                "| profile | " + " | ".join(REPORTED.values()) + " |",
                "|---|" + "---:|" * len(REPORTED),
                *(
                    f"| {profile} | " + " | ".join(f"{_count(done, what):,}" for what in REPORTED) + " |"
                    for profile, done in [*found.items(), ("**together**", total)]
                ),
            ]
        )
        + "\n"
    )


def _count(done: Counter[str], what: str) -> int:
    return sum(times for name, times in done.items() if name.startswith(what))


@click.command()
@click.option("--hands", default=HANDS, show_default=True, help="Of each profile.")
@click.option("--seed", default=5, show_default=True)
def main(hands: int, seed: int) -> None:
    """Play hands in haste under every profile; the whole run writes docs/turn-report.md."""
    found: dict[str, Counter[str]] = {}
    for profile in profile_names():
        with tempfile.TemporaryDirectory() as folder:
            found[profile] = campaign(Path(folder), hands, seed, profile)
    written = report(found, seed)
    if hands >= HANDS:
        REPORT.write_text(written, encoding="utf-8")
    click.echo(written)


if __name__ == "__main__":
    main()
