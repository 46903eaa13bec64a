"""Has file operations fail at random under the real table process, kills it, and looks at the record.

    python -m tests.campaigns.appliance.fault_campaign --times 500 --seed 7
    python -m tests.campaigns.appliance.fault_campaign --times 60 --naive      # without the defence: it must fail

A shim under the C library (fault_shim.c, compiled here with gcc) has writes, syncs, renames, removals and truncations
answer EIO and ENOSPC, and writes write in part. A round
is a process of its own that opens the record, takes commands and dies by SIGKILL; a process without faults then looks
at what is left. Every command has an id. An acknowledged one must be in the record once, under the number that the
answer named; a refused one must not be in it; one whose answer was "not certain" is given again with the same id, as a
page does, and may be there once or not at all. The record must verify each time. Before it dies the faults end, and the
table must then write again within seconds: one that goes on refusing is a problem.
"""

from __future__ import annotations

import ctypes
import gc
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

import click

from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import TABLE, Journal, JournalReader
from firmware.runtime.config import Config, load_config
from firmware.runtime.house_config import prepare_house
from firmware.runtime.inputs import Request
from firmware.runtime.table_devices import Devices
from firmware.runtime.table_process import TableProcess
from firmware.table import Phase, State, TableError
from firmware.table import events as ev

SHIM: Final = Path(__file__).with_name("fault_shim.c")
KINDS: Final = ("write", "sync", "rename", "unlink", "truncate", "short write")
ROUNDS_A_RECORD: Final = 10
COMMANDS: Final = 30
"""Commands in one round at most."""
ONE_IN: Final = (3, 8, 20, 60)
MAX_FAILURES: Final = (1, 3, 1000)
"""Operations in which one fails, and how many fail in all; drawn for each round."""
TURNS_TO_GO_ON: Final = 20
"""Turns of the table after the faults have ended, within which it must write again."""
AGAIN: Final = 3
"""How often a command is given again whose answer was not certain."""


@dataclass
class Figures:
    """What a campaign found."""

    rounds: int = 0
    not_opened: int = 0
    acknowledged: int = 0
    refused: int = 0
    uncertain: int = 0
    """Answers of "not certain"."""
    uncertain_there: int = 0
    """Commands that stayed uncertain and are in the record."""
    repeated: int = 0
    rows: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Say it in a few lines."""
        struck = ", ".join(f"{number} × {kind}" for kind, number in sorted(self.faults.items()))
        return (
            f"{self.rounds} rounds, each ended by SIGKILL, {sum(self.faults.values())} faults ({struck}); "
            f"{self.not_opened} did not get as far as a command.\n"
            f"{self.acknowledged} acknowledged commands, each in the record once; {self.refused} refused, none in it; "
            f"{self.uncertain} answers of 'not certain', {self.repeated} commands given again, "
            f"{self.uncertain_there} never certain and there.\n"
            f"{self.rows} rows, every one chained; {len(self.problems)} problems."
        )


class NoReadings:
    """No camera."""

    def start(self, put: Callable[[Any], None]) -> None:
        """Give nothing."""

    def use(self, setup: Any) -> None:
        """Read nothing."""

    def request(self, job: Any) -> None:
        """Read nothing."""

    def close(self) -> None:
        """End nothing."""


def _table(config: Config, journal: Journal, clock: Callable[[], float] | None = None) -> TableProcess:
    ticks = count()
    return TableProcess(
        config.data,
        journal,
        prepare_house(config, journal),
        Devices(None, None, None),
        NoReadings(),
        None,
        0.0,
        clock=clock or (lambda: next(ticks) * 0.3),
    )


def _choose(rng: random.Random, state: State) -> dict[str, Any]:
    between: list[dict[str, Any]] = [
        {"do": "add_on", "player": "Ann", "amount": 100},
        {"do": "count_stack", "player": "Bao", "stack": rng.randrange(1000, 90_000), "reason": "counted"},
        {"do": "sit_out", "player": "Ann", "on": rng.random() < 0.5},
        {"do": "next"},
        {"do": "next"},
    ]
    played: list[dict[str, Any]] = [
        {"do": "key_button", "seat": rng.choice((1, 2))},
        {"do": "next"},
        {"do": "declare", "seat": 1},
        {"do": "withdraw", "seat": 1},
        {"do": "key_hand", "reason": "no camera"},
        {"do": "void", "reason": "a test"},
    ]
    idle = state.phase in (Phase.IDLE, Phase.ARCHIVED, Phase.VOID)
    return rng.choice(between if idle else played)


def _play(config: Config, seed: int, shim: ctypes.CDLL, tell: int) -> None:
    """Play one round and die. What is answered goes into the pipe before anything else is asked."""
    rng = random.Random(seed)
    at_start, after = rng.random() < 0.3, rng.randrange(1, COMMANDS)

    def arm() -> None:
        shim.fault_arm(os.fsencode(config.data), seed, rng.choice(ONE_IN), rng.choice(MAX_FAILURES))

    def say(**what: Any) -> None:
        os.write(tell, json.dumps(what).encode() + b"\n")

    if at_start:
        arm()
    try:
        table = _table(config, Journal(config.data))
        table.begin()
    except TableError as error:
        say(opened=str(error))
    else:
        if not at_start:
            arm()
        for number in range(after):
            order = {"id": f"{seed:012}-{number:04}", **_choose(rng, table.state)}
            for again in range(1 + AGAIN):
                request = Request(json.dumps(order).encode())
                table.put(request)
                table.turn_all()
                answer = request.answer.result(0)
                say(order=order, again=again, answer=answer)
                if not answer.get("uncertain"):
                    break
                for _ in range(rng.randrange(6)):
                    table.turn()
        shim.fault_disarm()
        say(goes_on=goes_on(table))
    say(faults=[shim.fault_count(kind) for kind in range(len(KINDS))])
    os.kill(os.getpid(), signal.SIGKILL)


def goes_on(table: TableProcess) -> bool:
    """Say whether a table writes again now that nothing fails any more."""
    for _ in range(TURNS_TO_GO_ON):  # what it tries by itself, once a second
        table.turn()
    return table.attempt([ev.DeviceFault("faults", "have ended")], TABLE)


def _look(config: Config, tell: int) -> None:
    """Start the table without faults, as after a power cut's end, and tell what the record holds."""
    with Journal(config.data) as journal:
        table = _table(config, journal)
        table.begin()
        fault = str(table.state.record_fault or "")
        table.end()
    found = verify(config.data)
    rows: dict[str, list[int]] = {}
    reader = JournalReader(config.data)
    for row in reader.events_since(0, 1_000_000):
        if row.command:
            rows.setdefault(row.command, []).append(row.seq)
    problems = [problem.what for problem in found.problems] + ([fault] if fault else [])
    os.write(tell, json.dumps({"rows": rows, "end": found.entries, "problems": problems}).encode() + b"\n")


def _in_a_process(work: Callable[[int], None]) -> list[dict[str, Any]]:
    """Do work in a process of its own, and return the lines that it told before it ended, however it did."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            work(writing)
            os._exit(0)
        except BaseException as error:
            os.write(writing, json.dumps({"broke": repr(error)}).encode() + b"\n")
            logging.exception("a round broke")
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as lines:
        told = [json.loads(line) for line in lines if line.endswith(b"\n")]
    os.waitpid(child, 0)
    return told


def round_of(config: Config, seed: int, shim: ctypes.CDLL, figures: Figures) -> None:
    """Play one round and judge it."""
    told = _in_a_process(lambda tell: _play(config, seed, shim, tell))
    found = _in_a_process(lambda tell: _look(config, tell))
    figures.rounds += 1
    broke = [line["broke"] for line in (*told, *found) if "broke" in line]
    if broke or not found:
        figures.problems.append(f"round {seed}: {broke or 'nothing was found'}")
        return
    rows = found[0]["rows"]
    if any(line.get("goes_on") is False for line in told):
        figures.problems.append(f"round {seed}: the table goes on refusing after the faults have ended")
    figures.problems += [f"round {seed}: {what}" for what in found[0]["problems"]]
    figures.rows = found[0]["end"]
    figures.not_opened += any("opened" in line for line in told)
    for line in told:
        for kind, number in zip(KINDS, line.get("faults", ()), strict=False):
            figures.faults[kind] += number
    last = {line["order"]["id"]: line for line in told if "order" in line}
    figures.uncertain += sum(bool(line["answer"].get("uncertain")) for line in told if "order" in line)
    figures.repeated += sum(line["again"] > 0 for line in last.values())
    for name, line in last.items():
        _judge(name, line, rows.get(name, []), figures)


def _judge(name: str, line: dict[str, Any], there: list[int], figures: Figures) -> None:
    answer, do = line["answer"], line["order"]["do"]
    once = there == list(range(there[0], there[0] + len(there))) if there else False
    if answer.get("uncertain"):
        figures.uncertain_there += bool(there)
        if there and not once:
            figures.problems.append(f"{do} {name}: never certain, and there more than once: {there}")
    elif answer["ok"]:
        figures.acknowledged += 1
        if not once or there[-1] != answer["seq"]:
            figures.problems.append(f"{do} {name}: acknowledged as row {answer['seq']}, and there at {there}")
    else:
        figures.refused += 1
        if there:
            figures.problems.append(f"{do} {name}: refused ({answer['error']}), and there at {there}")


def naive() -> None:
    """Take a failed write for one that did not happen, as it was before."""
    Journal._was_written = lambda self, error, wanted: False  # type: ignore[method-assign]


def campaign(folder: Path, times: int, seed: int, shim: ctypes.CDLL) -> Figures:
    """Play so many rounds; a fresh record after every ten."""
    figures = Figures()
    logging.disable(logging.CRITICAL)
    for number in range(times):
        data = folder / f"data-{number // ROUNDS_A_RECORD}"
        file = folder / "config.toml"
        file.write_text(
            f'data = "{data}"\nkey = "{folder / "key"}"\nin_memory = true\nprofile = "california-face-up"\n'
            + "".join(
                f'[[seats]]\nseat = {seat}\nplayer = "{name}"\nplace = "{place}"\nstack = 50000\n'
                for seat, name, place in ((1, "Ann", "A"), (2, "Bao", "B"))
            )
        )
        round_of(load_config(file), seed * 100_000 + number, shim, figures)
        if figures.rounds % 20 == 0:
            click.echo(figures.text(), err=True)
    return figures


def load_shim(folder: Path) -> Path:
    """Compile the shim and return its file."""
    out = folder / "fault_shim.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", out, SHIM, "-ldl"], check=True)
    return out


@click.command()
@click.option("--times", type=click.IntRange(1), default=500, show_default=True, help="Rounds.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option(
    "--naive", "is_naive", is_flag=True, help="Switch the defence off: the campaign must then find it."
)
def main(times: int, seed: int, is_naive: bool) -> None:
    """Have file operations fail under the table process, and look at what is left."""
    if "FAULT_SHIM" not in os.environ:
        with tempfile.TemporaryDirectory(prefix="feltwatch-shim-") as name:
            shim = str(load_shim(Path(name)))
            more = {**os.environ, "FAULT_SHIM": shim, "LD_PRELOAD": shim}
            arguments = [sys.executable, "-m", "tests.campaigns.appliance.fault_campaign", *sys.argv[1:]]
            sys.exit(subprocess.run(arguments, env=more, check=False).returncode)
    shim_library = ctypes.CDLL(os.environ["FAULT_SHIM"])
    shim_library.fault_arm.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint, ctypes.c_uint]
    if is_naive:
        naive()
    gc.freeze()
    with tempfile.TemporaryDirectory(prefix="feltwatch-faults-") as name:
        figures = campaign(Path(name), times, seed, shim_library)
    click.echo(figures.text())
    for problem in figures.problems[:10]:
        click.echo(f"  {problem}")
    sys.exit(bool(figures.problems))


if __name__ == "__main__":
    main()
