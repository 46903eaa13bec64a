"""Has the n-th allocation, thread start, open and read fail under the real programs, and looks at what is left.

    python -m tests.campaigns.appliance.failure_campaign --times 300
    python -m tests.campaigns.appliance.failure_campaign --times 300 --write docs/failure-report.md

`feltwatch run` plays a hand over its socket for each failure, under a service manager that starts it again when it ends
or its watchdog is silent. `feltwatch ui` is asked for its view. First a hand without failures counts the calls; then
each number fails, or evenly spread ones where there are more than wanted: once, and for a while. After each the program
must answer within a bound. Every acknowledged command is in the journal once, the rows are chained, and the hand
settles to what it settled to without a failure. The page shows what the record holds, says that something is wrong, or
does not answer.
"""

from __future__ import annotations

import json
import os
import platform
import random
import socket
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

import click

from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import Entry, JournalReader
from firmware.rules import CARDS
from firmware.table import Ask, Phase, State
from firmware.table.events import ROWS
from firmware.table_client import TableLink, TableUnreachable
from tests.campaigns.appliance.failing_service import ERRORS, Failure, Service, load_shim
from tests.generated_record import generate_record
from tests.waiting import SPEED

WITHIN: Final = 60.0 * SPEED
"""Seconds in which a program must answer again, with a restart, beside other programs."""
WATCHDOG_S: Final = 5.0 * SPEED
WHILE: Final = {"allocation": 2000, "thread": 40, "open": 40, "read": 40}
"""Calls that fail in a row where they fail for a while."""
SETTLES_AT_MOST: Final = 200
"""Commands that a hand may take, given again or not."""
STARTS: Final = 10
"""One failure in so many comes while the program starts."""
SHARES: Final = {"allocation": 2, "thread": 1, "open": 3, "read": 3}


@dataclass
class Figures:
    """What a campaign found."""

    cases: Counter[str] = field(default_factory=Counter)
    calls: dict[str, dict[str, int]] = field(default_factory=dict)
    struck: int = 0
    acknowledged: int = 0
    again: int = 0
    hands: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    views: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    longest_s: float = 0.0
    problems: list[str] = field(default_factory=list)


class TableCases:
    """Plays hands at a table process under which things fail."""

    def __init__(self, service: Service, data: Path, figures: Figures) -> None:
        self._service, self._data, self._figures = service, data, figures
        self._link = TableLink(data / "table.sock", timeout=15.0 * SPEED)
        self._reader = JournalReader(data)
        self._number = 0
        self._settled: dict[str, Any] | None = None
        self._acknowledged: dict[str, int] = {}
        self._last: Entry | None = None

    def answers(self) -> bool:
        """Wait until the table answers; False if it does not within the bound."""
        began = time.monotonic()
        while time.monotonic() - began < WITHIN:
            with suppress(TableUnreachable):
                self._link.send({"do": "lock"})
                self._figures.longest_s = max(self._figures.longest_s, time.monotonic() - began)
                return True
            time.sleep(0.02)
        return False

    def hand(self) -> bool:
        """Play a hand to its last payment and open the next one; False if the table no longer answers."""
        for _ in range(SETTLES_AT_MOST):
            state = self._state()
            if state.phase is Phase.SETTLED and state.is_paid:
                self._compare(state)
                self._figures.hands += 1
                kept = {"do": "keep_button", "seat": state.seats[0].seat}  # the same in every hand
                return self._command(kept) and self._command({"do": "next", "hand": state.hand})
            if not self._command(_due(state)):
                return False
        self._figures.problems.append(f"hand {state.hand} did not come to its end: {state.phase}")
        return True

    def _compare(self, state: State) -> None:
        found = {"hands": (state.settlement or {}).get("points")}
        self._settled = self._settled or found
        if found != self._settled:
            self._figures.problems.append(f"hand {state.hand} settled to {found}, not to {self._settled}")

    def _state(self) -> State:
        return self._reader.recover()[0]

    def _command(self, order: dict[str, Any]) -> bool:
        """Give a command until it is answered for certain, as a page does; False if nobody answers."""
        self._number += 1
        order = {"id": f"{self._number:016}", **order}
        for again in range(20):
            self._figures.again += again > 0
            try:
                answer = self._link.send(order)
            except TableUnreachable:
                if not self.answers():
                    return False
                continue
            if answer["ok"]:
                self._acknowledged[order["id"]] = answer["seq"]
                self._figures.acknowledged += 1
                return True
            if not answer.get("uncertain"):
                return True  # refused: the state says what is due now
            time.sleep(0.3)
        self._figures.problems.append(f"{order['do']} stayed uncertain")
        return True

    def check(self) -> list[str]:
        """Check the rows since the last look."""
        rows = self._reader.events_since(self._last.seq if self._last else 0, limit=1_000_000)
        found: dict[str, list[int]] = {}
        problems = []
        for entry in rows:
            if entry.seq != (self._last.seq + 1 if self._last else 1) or entry.previous != (
                self._last.hash if self._last else ""
            ):
                problems.append(f"row {entry.seq} does not follow the one before it")
            if entry.hash != entry.sealed():
                problems.append(f"row {entry.seq} does not verify")
            if entry.command:
                found.setdefault(entry.command, []).append(entry.seq)
            self._last = entry
        for name, seq in self._acknowledged.items():
            there = found.get(name, [])
            if not there or there[-1] != seq or there != list(range(there[0], seq + 1)):
                problems.append(f"command {name} was acknowledged as row {seq}, and is at {there}")
        self._acknowledged = {}
        self._figures.rows += len(rows)
        return problems


def _due(state: State) -> dict[str, Any]:
    """Return what a dealer does next."""
    if state.phase is Phase.DEALING and state.button is None:
        return {"do": "key_button", "seat": state.seats[0].seat}
    if state.phase is Phase.SETTING and not state.keyed:
        return {"do": "key_hand", "reason": "no camera"}
    question = next(iter(state.questions), None) if state.phase is Phase.REVIEW else None
    if question is None:
        if state.phase is Phase.SETTLED:
            for pair in (state.settlement or {}).get("pairs", []):
                if pair["paid"] and (pair["a"], pair["b"]) not in state.paid:
                    return {"do": "mark_paid", "a": pair["a"], "b": pair["b"]}
        return {"do": "next", "hand": state.hand}
    if question.what is Ask.BUTTON:
        return {"do": "key_button", "seat": state.seats[0].seat}
    if question.what is Ask.NATURAL:
        return {"do": "confirm"}
    if question.row is None or question.seat is None:
        return {"do": "void", "reason": "a test"}
    deck = [card.code for card in CARDS]
    random.Random(7).shuffle(deck)  # the same in every hand: each settles to the same
    at = [seat.seat for seat in state.seats].index(question.seat) * 13
    at += {"front": 0, "middle": 3, "back": 8}[question.row]
    return {
        "do": "key_row",
        "seat": question.seat,
        "row": question.row,
        "cards": " ".join(deck[at : at + ROWS[question.row]]),
    }


class PageCases:
    """Asks a page for its view while things fail under it. The record stands still, so the right view is known."""

    def __init__(self, service: Service, port: int, figures: Figures) -> None:
        self._service, self._address, self._figures = service, f"http://127.0.0.1:{port}/view.json", figures
        self._right: dict[str, Any] | None = None

    def _view(self) -> dict[str, Any] | None:
        """Return the view; None if the page does not answer or says that it cannot."""
        try:
            with urllib.request.urlopen(self._address, timeout=15 * SPEED) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except (OSError, ValueError, HTTPException):
            return None

    def answers(self) -> bool:
        """Wait until the page shows the right view; False if it does not within the bound."""
        began = time.monotonic()
        while time.monotonic() - began < WITHIN:
            found = self._view()
            if found is not None and self._right is None:
                self._right = _steady(found)
            if found is not None and _steady(found) == self._right:
                self._figures.longest_s = max(self._figures.longest_s, time.monotonic() - began)
                return True
            time.sleep(0.05)
        return False

    def hand(self) -> bool:
        """Look some times, as long as nothing failed yet."""
        for _ in range(8):
            found = self._view()
            if found is None:
                self._figures.views["no answer"] += 1
            elif _steady(found) == self._right:
                self._figures.views["right"] += 1
            elif found.get("trouble"):
                self._figures.views["said that something is wrong"] += 1
            else:
                self._figures.views["invented"] += 1
                self._figures.problems.append(f"the page showed {json.dumps(found)[:500]}")
        return self.answers()

    def check(self) -> list[str]:
        """Nothing more."""
        return []


def _steady(view: dict[str, Any]) -> dict[str, Any]:
    """Return a view without what differs from one page process to the next."""
    return {name: value for name, value in view.items() if name not in ("version", "boot", "page")}


Cases = TableCases | PageCases


def failures(calls: dict[str, int], times: int, kinds: Iterable[str]) -> list[Failure]:
    """Return what is to fail: every number of each kind with each error, once and for a while; or evenly spread.

    What a kind with few calls does not use goes to the next one, and at last to the allocations.
    """
    chosen: list[Failure] = []
    rest = sorted(kinds, key=lambda kind: calls.get(kind, 0))
    while rest:
        share = (times - len(chosen)) * SHARES[rest[0]] / sum(SHARES[kind] for kind in rest)
        chosen += _spread(rest[0], max(1, calls.get(rest[0], 0)), max(1, round(share)))
        del rest[0]
    return chosen


def _spread(kind: str, reached: int, most: int) -> Iterator[Failure]:
    variants = [(error, row) for row in (1, WHILE[kind]) for error in ERRORS[kind]]
    every = reached * len(variants)
    for at in range(min(every, most)):
        place = at * every // min(every, most)
        number, error, row = (
            1 + place // len(variants),
            *variants[(place if every <= most else at) % len(variants)],
        )
        yield Failure(kind, number, number + row - 1, error)


def run_cases(
    name: str, service: Service, cases: Cases, times: int, figures: Figures, say: Callable[[str], None]
) -> None:
    """Let one thing after another fail, and look after each."""
    if not cases.answers() or not cases.hand():
        figures.problems.append(f"{name}: it does not answer without any failure: {_tail(service)}")
        return
    cases.answers()
    service.arm(None)
    cases.hand()
    figures.calls[name], _ = service.disarm()
    kinds = ("allocation", "open", "read")
    during = [(failure, False) for failure in failures(figures.calls[name], times - times // STARTS, kinds)]
    starting = [
        (failure, True)
        for failure in failures(_start_calls(name, service, cases, figures), times // 4, SHARES)
    ]
    for failure, starts in during + starting:
        before = len(service.ends)
        service.arm(failure, at_start=starts)
        if starts:
            _restart(service)
        where = "start" if starts else "play"
        plays = cases.hand() if not starts else cases.answers() and cases.hand()
        _, struck = service.disarm()
        figures.struck += struck > 0 or len(service.ends) > before
        figures.cases[f"{name}, {where}: {failure.kind}"] += 1
        for end in service.ends[before + starts :]:
            figures.ends[end] += 1
        problems = cases.check() if plays and cases.answers() else [f"it answers no more: {_tail(service)}"]
        figures.problems += [f"{name}, {where}, {failure}: {problem}" for problem in problems]
        say(f"{name}, {where}, {failure}: {service.ends[before + starts :] or 'went on'} {problems or ''}")


def _restart(service: Service) -> None:
    process, ends = service.process, len(service.ends)
    if process is not None and process.poll() is None:
        process.kill()
    while len(service.ends) == ends:
        time.sleep(0.01)


def _start_calls(name: str, service: Service, cases: Cases, figures: Figures) -> dict[str, int]:
    service.arm(Failure("allocation", 0, 0, 0), at_start=True)
    _restart(service)
    cases.answers()
    found, _ = service.disarm()
    figures.calls[f"{name}'s start"] = found
    return found


def _tail(service: Service) -> str:
    return service.log.read_text(errors="replace")[-1500:]


def table_campaign(
    folder: Path, shim: Path, times: int, figures: Figures, say: Callable[[str], None]
) -> None:
    """Play hands at a table process."""
    folder.mkdir()
    data, config = folder / "data", folder / "feltwatch.toml"
    config.write_text(
        f'data = "{data}"\nin_memory = true\nkey = "{folder / "key"}"\npulse = "{folder / "pulse.json"}"\n'
        f'[camera]\nkind = "files"\ndevice = "{folder / "none"}"\n[puck]\nport = "{folder / "no-puck"}"\n'
        "[times]\nturn_up = 0.0\n"
        + "".join(
            f'[[seats]]\nseat = {seat}\nplayer = "{player}"\nplace = "{place}"\nstack = 90000000\n'
            for seat, player, place in ((1, "Ann", "A"), (2, "Bao", "B"))
        )
    )
    command = [sys.executable, "-m", "firmware.cli", "run", "--config", str(config)]
    with Service(command, folder, shim, WATCHDOG_S) as service:
        run_cases("table", service, TableCases(service, data, figures), times, figures, say)
    found = verify(data)
    figures.problems += [f"the record: {problem.what}" for problem in found.problems]


def page_campaign(folder: Path, shim: Path, times: int, figures: Figures, say: Callable[[str], None]) -> None:
    """Look at a page of a record that stands still."""
    folder.mkdir()
    data = folder / "data"
    generate_record(data, 3, seats=2)
    with socket.create_server(("127.0.0.1", 0)) as port:
        command = [sys.executable, "-m", "firmware.cli", "ui", "--data", str(data), "--port", "1"]
        with Service(command, folder, shim, WATCHDOG_S * 2, port) as service:
            cases = PageCases(service, port.getsockname()[1], figures)
            run_cases("page", service, cases, times, figures, say)


def campaign(folder: Path, times: int, figures: Figures, say: Callable[[str], None]) -> None:
    """Have so many calls fail, about: three quarters under the table process, one under the page, side by side."""
    shim = load_shim(folder)
    with ThreadPoolExecutor() as beside:
        page = beside.submit(page_campaign, folder / "p", shim, times // 4, figures, say)
        table_campaign(folder / "t", shim, times - times // 4, figures, say)
        page.result()


def report(figures: Figures, times: int, seconds: float) -> str:
    """Return the report's text."""
    total = sum(figures.cases.values())
    calls = "\n".join(
        f"| {name} | " + " | ".join(f"{counted.get(kind, 0):,}" for kind in SHARES) + " |"
        for name, counted in figures.calls.items()
    )
    cases = "\n".join(f"| {name} | {count} |" for name, count in figures.cases.items())
    ends = ", ".join(f"{count} × {end}" for end, count in sorted(figures.ends.items())) or "none"
    views = ", ".join(f"{count:,} {what}" for what, count in sorted(figures.views.items()))
    problems = "\n".join(f"- {problem}" for problem in figures.problems) or "None."
    return f"""# Failures, one after another

Written by `python -m tests.campaigns.appliance.failure_campaign --times {times} --write docs/failure-report.md`
({platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {seconds / 60:.0f} minutes).

The n-th allocation, thread start, open or read of `feltwatch run` and of `feltwatch ui` fails, once or for a while,
while a hand is played, the view is asked for, or the program starts. The kinds of failure are those of a machine that
is short of memory, of threads or of files, and of a disk that gives errors. The program runs under a service manager
that starts it again when it ends or when its watchdog is silent. The system is not short of anything in truth: a shim
before the C library says so. What the C library calls inside itself, and what SQLite maps, does not fail.

{total} failures, {figures.struck} of them met; {len(figures.problems)} problems.

- {figures.acknowledged:,} acknowledged commands, each in the journal once; {figures.again:,} times a command was given
  again with its id.
- {figures.hands:,} hands settled, each to the same. {figures.rows:,} rows, every one chained; the record verifies.
- How programs ended: {ends}.
- The longest wait for an answer, with the restart: {figures.longest_s:.1f} s.
- The page's views while things failed: {views}.

## Calls counted without a failure

| | allocations | thread starts | opens | reads |
|---|---|---|---|---|
{calls}

## Failures

| where, and what fails | times |
|---|---|
{cases}

## Problems

{problems}
"""


@click.command()
@click.option("--times", type=click.IntRange(8), default=300, show_default=True, help="Failures, about.")
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Write the report here.")
def main(times: int, write: Path | None) -> None:
    """Have calls fail under the table process and the page, and look at what is left."""
    began, figures = time.monotonic(), Figures()

    def say(what: str) -> None:
        click.echo(f"{sum(figures.cases.values())} {what}", err=True)

    with tempfile.TemporaryDirectory(prefix="feltwatch-failures-") as name:
        campaign(Path(name), times, figures, say)
    text = report(figures, times, time.monotonic() - began)
    if write is not None:
        write.write_text(text)
    click.echo(text)
    sys.exit(bool(figures.problems))


if __name__ == "__main__":
    main()
